"""Liveness and readiness: named checks, and their reports.

Guarantees: a check that raises, or takes too long, fails with a reason; the others still run.
An informer is not ready when its attempts have failed for a minute; it is dead when nothing has
happened in it for longer than any watch lasts, or when the server has not responded for as
long.
See also: `endpoints` (serves the reports).
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeAlias, final

import msgspec

from kubeloop.cache import InformerState, SharedInformer
from kubeloop.errors import InvalidArgument, KubeError
from kubeloop.kit import Clock
from kubeloop.wire import get_logger

__all__ = [
    "CHECK_TIMEOUT",
    "DEAD_AFTER",
    "Check",
    "HealthChecks",
    "HealthReport",
    "LivenessMonitor",
    "Unhealthy",
    "current_check",
    "synced_check",
]

log = get_logger(__name__)

Check: TypeAlias = Callable[[], Awaitable[object] | object]
"""Raises, or returns False, if something is wrong; plain or async."""

CHECK_TIMEOUT = 5.0
"""Bound in seconds on one check."""
DEAD_AFTER = 900.0
"""Seconds without any activity after which an informer is dead; a watch lasts at most 630.

Also the seconds without a response of the server: a new process has new connections, DNS names
and credentials, and loses nothing that this one still has.
"""
NOT_CURRENT_AFTER = 60.0
"""Seconds of failed attempts after which a cache is out of date."""


@final
class Unhealthy(KubeError):
    """A check failed."""


class HealthReport(msgspec.Struct, frozen=True):
    """The reason why each check failed; empty for those that passed."""

    failures: dict[str, str]

    @property
    def is_healthy(self) -> bool:
        return not any(self.failures.values())

    def __str__(self) -> str:
        lines = [
            f"[-]{name} failed: {why}" if why else f"[+]{name} ok"
            for name, why in self.failures.items()
        ]
        return "\n".join([*lines, "passed" if self.is_healthy else "failed", ""])


@final
class HealthChecks:
    """Named checks of one kind: alive, or ready."""

    def __init__(self, what: str, *, clock: Clock) -> None:
        self._what = what
        self._clock = clock
        self._checks: dict[str, Check] = {}
        self._was_healthy = True

    def add(self, name: str, check: Check) -> None:
        """Raises: InvalidArgument when the name is taken."""
        if name in self._checks:
            raise InvalidArgument(f"{self._what} check {name!r}: the name is in use")
        self._checks[name] = check

    async def report(self) -> HealthReport:
        """Run all checks. Safe to cancel."""
        report = HealthReport({name: await self._run(name) for name in tuple(self._checks)})
        if report.is_healthy != self._was_healthy:
            self._was_healthy = report.is_healthy
            failed = ", ".join(f"{name}: {why}" for name, why in report.failures.items() if why)
            if failed:
                log.warning("%s checks failed: %s", self._what, failed)
            else:
                log.info("%s checks pass", self._what)
        return report

    async def _run(self, name: str) -> str:
        try:
            async with self._clock.timeout(CHECK_TIMEOUT):
                result = self._checks[name]()
                if inspect.isawaitable(result):
                    result = await result
        except TimeoutError:
            return f"timed out after {CHECK_TIMEOUT:g} s"
        except Exception as error:  # noqa: BLE001 - of any check; reported
            return str(error) or type(error).__name__
        return "returned False" if result is False else ""


@final
class LivenessMonitor:
    """Finds informers in which nothing has happened for `DEAD_AFTER` seconds."""

    def __init__(self, informers: Iterable[SharedInformer[Any]], *, clock: Clock) -> None:
        self._informers = tuple(informers)
        self._clock = clock
        # The last counters, and when they changed. By object: two caches of a kind have one name.
        self._activity: dict[SharedInformer[Any], tuple[object, float]] = {}

    def observe(self) -> None:
        """Record the activity since the last call."""
        for informer in self._informers:
            stats = informer.stats().reflector
            counters = (stats.events, stats.rounds, stats.watches, stats.lists, stats.errors)
            last = self._activity.get(informer)
            if last is None or last[0] != counters:
                self._activity[informer] = (counters, self._clock.now())

    def check(self) -> None:
        """Raises: Unhealthy, with the names of the dead informers."""
        self.observe()
        dead = [informer.name for informer in self._informers if self._is_dead(informer)]
        if dead:
            raise Unhealthy(f"no activity: {', '.join(dead)} (restart this process)")
        without_response = [
            informer
            for informer in self._informers
            if _seconds_without_response(informer) > DEAD_AFTER
        ]
        if without_response:
            raise Unhealthy(
                f"the server has not responded for {DEAD_AFTER / 60:.0f} minutes:"
                f" {', '.join(map(_reason, without_response))}"
            )

    def _is_dead(self, informer: SharedInformer[Any]) -> bool:
        if informer.state is InformerState.STOPPED:
            return True
        stats = informer.stats().reflector
        silent = self._clock.now() - self._activity[informer][1]
        if stats.event_age is not None:
            silent = min(silent, stats.event_age)
        return silent > DEAD_AFTER


def synced_check(informers: Iterable[SharedInformer[Any]]) -> Check:
    """A check that all informers have synced."""
    checked = tuple(informers)

    def check() -> None:
        missing = [informer for informer in checked if not informer.has_synced]
        if missing:
            raise Unhealthy(f"no first list yet: {', '.join(map(_reason, missing))}")

    return check


def current_check(informers: Iterable[SharedInformer[Any]]) -> Check:
    """A check that no informer has failed for longer than `NOT_CURRENT_AFTER`.

    A kind that the server no longer serves (404) does not fail it.
    """
    checked = tuple(informers)

    def check() -> None:
        behind = [informer for informer in checked if _is_behind(informer)]
        if behind:
            raise Unhealthy(f"out of date: {', '.join(map(_reason, behind))}")

    return check


def _is_behind(informer: SharedInformer[Any]) -> bool:
    outage = informer.stats().reflector.outage
    return outage is not None and outage.seconds > NOT_CURRENT_AFTER and outage.code != 404


def _seconds_without_response(informer: SharedInformer[Any]) -> float:
    outage = informer.stats().reflector.outage
    return 0.0 if outage is None else outage.without_response


def _reason(informer: SharedInformer[Any]) -> str:
    stats = informer.stats().reflector
    if stats.outage is None:
        return f"{informer.name} ({stats.last_error})" if stats.last_error else informer.name
    return f"{informer.name} (failing for {stats.outage.seconds:.0f} s: {stats.outage.error})"
