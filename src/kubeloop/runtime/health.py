"""Whether a process is alive, and whether it is ready: named checks, and what they found.

Promises: a check that raises, or that takes too long, has failed, and says why; the others
are asked all the same. An informer is not ready when its attempts have failed for a minute;
it is dead when nothing at all has happened in it for longer than any watch lasts, or when
its server has not answered for as long.
Elsewhere: the pages (`endpoints`).
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

__all__ = ["CHECK_TIMEOUT", "DEAD_AFTER", "Check", "Checks", "HealthReport", "Pulse", "Unhealthy"]

log = get_logger(__name__)

Check: TypeAlias = Callable[[], Awaitable[object] | object]
"""Raises, or says False, when something is wrong; plain or async."""

CHECK_TIMEOUT = 5.0
"""Seconds that one check may take."""
DEAD_AFTER = 900.0
"""Seconds without a sign of life after which a mirror counts as dead; a watch lasts 630.

Also the seconds without an answer of the server: a new process has new connections, names and
credentials, and loses nothing that this one still has.
"""
NOT_CURRENT_AFTER = 60.0
"""Seconds of failed attempts after which a cache counts as out of date."""


@final
class Unhealthy(KubeError):
    """A check found something wrong."""


class HealthReport(msgspec.Struct, frozen=True):
    """What each check found: nothing, or why it failed."""

    failures: dict[str, str]

    @property
    def is_well(self) -> bool:
        return not any(self.failures.values())

    def __str__(self) -> str:
        lines = [
            f"[-]{name} failed: {why}" if why else f"[+]{name} ok"
            for name, why in self.failures.items()
        ]
        return "\n".join([*lines, "passed" if self.is_well else "failed", ""])


@final
class Checks:
    """Named checks of one question: alive, or ready."""

    def __init__(self, what: str, *, clock: Clock) -> None:
        self._what = what
        self._clock = clock
        self._checks: dict[str, Check] = {}
        self._was_well = True

    def add(self, name: str, check: Check) -> None:
        """Raises: InvalidArgument when the name is taken."""
        if name in self._checks:
            raise InvalidArgument(f"{self._what} check {name!r}: there is one of that name already")
        self._checks[name] = check

    async def report(self) -> HealthReport:
        """Ask all of them. Safe to cancel."""
        report = HealthReport({name: await self._ask(name) for name in tuple(self._checks)})
        if report.is_well != self._was_well:
            self._was_well = report.is_well
            failed = ", ".join(f"{name}: {why}" for name, why in report.failures.items() if why)
            log.warning("%s: %s", self._what, failed) if failed else log.info("%s: yes", self._what)
        return report

    async def _ask(self, name: str) -> str:
        try:
            async with self._clock.timeout(CHECK_TIMEOUT):
                found = self._checks[name]()
                if inspect.isawaitable(found):
                    found = await found
        except TimeoutError:
            return f"no answer within {CHECK_TIMEOUT:g} s"
        except Exception as error:  # noqa: BLE001 - whatever it raises is what it found
            return str(error) or type(error).__name__
        return "it says no" if found is False else ""


@final
class Pulse:
    """Looks at informers again and again, and knows those that have stopped living."""

    def __init__(self, informers: Iterable[SharedInformer[Any]], *, clock: Clock) -> None:
        self._informers = tuple(informers)
        self._clock = clock
        # What was last seen, and since when; two caches of one kind have one name.
        self._seen: dict[SharedInformer[Any], tuple[object, float]] = {}

    def look(self) -> None:
        """Take note of what has happened since the last look."""
        for informer in self._informers:
            stats = informer.stats().reflector
            sign = (stats.events, stats.rounds, stats.watches, stats.lists, stats.errors)
            known = self._seen.get(informer)
            if known is None or known[0] != sign:
                self._seen[informer] = (sign, self._clock.now())

    def check(self) -> None:
        """Raises: Unhealthy, with the names of those that are dead."""
        self.look()
        dead = [informer.name for informer in self._informers if self._is_dead(informer)]
        if dead:
            raise Unhealthy(f"no sign of life from: {', '.join(dead)} (restart this process)")
        unanswered = [
            informer for informer in self._informers if _unanswered(informer) > DEAD_AFTER
        ]
        if unanswered:
            raise Unhealthy(
                f"the server has not answered for {DEAD_AFTER / 60:.0f} minutes:"
                f" {', '.join(map(_why, unanswered))}"
            )

    def _is_dead(self, informer: SharedInformer[Any]) -> bool:
        if informer.state is InformerState.STOPPED:
            return True
        stats = informer.stats().reflector
        silent = self._clock.now() - self._seen[informer][1]
        if stats.event_age is not None:
            silent = min(silent, stats.event_age)
        return silent > DEAD_AFTER


def synced(informers: Iterable[SharedInformer[Any]]) -> Check:
    """Whether all of them have their first list."""
    watched = tuple(informers)

    def check() -> None:
        missing = [informer for informer in watched if not informer.has_synced]
        if missing:
            raise Unhealthy(f"no first list yet: {', '.join(map(_why, missing))}")

    return check


def current(informers: Iterable[SharedInformer[Any]]) -> Check:
    """Whether all of them follow the server, or have not failed to for long.

    A kind that the server no longer has (404) is waited for, and holds up nothing else.
    """
    watched = tuple(informers)

    def check() -> None:
        behind = [informer for informer in watched if _is_behind(informer)]
        if behind:
            raise Unhealthy(f"out of date: {', '.join(map(_why, behind))}")

    return check


def _is_behind(informer: SharedInformer[Any]) -> bool:
    outage = informer.stats().reflector.outage
    return outage is not None and outage.seconds > NOT_CURRENT_AFTER and outage.code != 404


def _unanswered(informer: SharedInformer[Any]) -> float:
    outage = informer.stats().reflector.outage
    return 0.0 if outage is None else outage.unanswered


def _why(informer: SharedInformer[Any]) -> str:
    stats = informer.stats().reflector
    if stats.outage is None:
        return f"{informer.name} ({stats.last_error})" if stats.last_error else informer.name
    return f"{informer.name} (failing for {stats.outage.seconds:.0f} s: {stats.outage.error})"
