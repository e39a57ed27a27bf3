"""Attempts of a reflector, and outages: attempts that fail one after the other.

Guarantees: every failed attempt is counted. An outage begins with the attempt that failed
first, and is over with the first attempt that succeeds; it is logged once when it has lasted
for 5 seconds, then at growing intervals, and once when it is over. `Outage` and the functions
are plain values and plain code: every moment is passed in.
See also: what is attempted (`reflector`), what users see of it (`mirror_stats`).
"""

from __future__ import annotations

from typing import final

import msgspec

from kubeloop.errors import ConfigError, TransportError, find_api_error
from kubeloop.kit import Clock
from kubeloop.wire import get_logger

from .metrics import Meter

__all__ = ["WARN_AFTER", "Attempts", "Outage", "OutageStats", "after_failure", "after_warning"]

log = get_logger(__name__)

WARN_AFTER = 5.0
"""Seconds of an outage before the first warning: a server that restarts is not worth one."""
SECOND_WARNING = 60.0
LONGEST_INTERVAL = 3600.0
# A watch of a source that cannot tell when it is open: it is, when it has not failed so long.
ASSUMED_OPEN = 10.0


class OutageStats(msgspec.Struct, frozen=True):
    """How long all attempts have failed, and with what."""

    failures: int  # failed attempts in a row
    seconds: float  # since the first of them began
    unanswered: float  # seconds since the server last answered, even if it refused
    error: str  # the last one
    code: int  # the HTTP status of the last answer; 0 if the last attempt got none


class Outage(msgspec.Struct, frozen=True):
    """The state of an outage. Moments are the clock's."""

    since: float
    failures: int
    unanswered_since: float
    error: str
    code: int
    warn_at: float
    warnings: int = 0

    def is_warning_due(self, now: float) -> bool:
        return now >= self.warn_at

    def stats(self, now: float) -> OutageStats:
        return OutageStats(
            failures=self.failures,
            seconds=now - self.since,
            unanswered=now - self.unanswered_since,
            error=self.error,
            code=self.code,
        )


def after_failure(
    outage: Outage | None, error: BaseException, *, began: float, now: float
) -> Outage:
    """The outage after one more failed attempt, which began at `began`."""
    answer = find_api_error(error)
    if outage is None:
        since, failures, unanswered_since = began, 0, began
        warn_at, warnings = began + WARN_AFTER, 0
    else:
        since, failures, unanswered_since = outage.since, outage.failures, outage.unanswered_since
        warn_at, warnings = outage.warn_at, outage.warnings
    return Outage(
        since=since,
        failures=failures + 1,
        unanswered_since=unanswered_since if _is_unanswered(error) else now,
        error=str(error) or repr(error),
        code=0 if answer is None else answer.code,
        warn_at=warn_at,
        warnings=warnings,
    )


def _is_unanswered(error: BaseException) -> bool:
    """Whether the server said nothing; an answer that we cannot use is one, too."""
    return isinstance(error, TransportError | ConfigError) and find_api_error(error) is None


def after_warning(outage: Outage, now: float) -> Outage:
    """The outage after a warning: the next one is due when it has lasted twice as long.

    After 5 seconds, a minute, two, four, and so on; at most an hour later.
    """
    lasted = now - outage.since
    next_at = max(SECOND_WARNING, min(2 * lasted, lasted + LONGEST_INTERVAL))
    return msgspec.structs.replace(
        outage, warn_at=outage.since + next_at, warnings=outage.warnings + 1
    )


@final
class Attempts:
    """Follows the attempts of one reflector. `what` names the collection in log lines."""

    def __init__(self, what: str, *, clock: Clock, meter: Meter) -> None:
        self._what = what
        self._clock = clock
        self._meter = meter
        self._outage: Outage | None = None
        self._began: float | None = None  # of an attempt that has not succeeded yet
        self._assumed_at: float | None = None  # when the attempt counts as successful
        self.errors = 0
        self.last_error = ""

    @property
    def outage(self) -> Outage | None:
        """The outage, if the last attempt has failed and nothing has succeeded since."""
        return None if self._has_assumed_success() else self._outage

    def stats(self) -> OutageStats | None:
        outage = self.outage
        return None if outage is None else outage.stats(self._clock.now())

    def begin(self) -> None:
        """Note that an attempt begins."""
        self._began = self._clock.now()
        self._assumed_at = None

    def succeed(self) -> None:
        """Note that the server does what it is asked for: an outage is over."""
        outage, self._outage, self._began = self._outage, None, None
        self._assumed_at = None
        if outage is None:
            return
        self._meter.set_failures(0)
        if outage.warnings:
            log.info(
                "%s: works again after %.0f s and %d failed attempts",
                self._what,
                self._clock.now() - outage.since,
                outage.failures,
            )

    def assume_success(self) -> None:
        """Note that the attempt counts as successful unless it fails soon."""
        self._assumed_at = self._clock.now() + ASSUMED_OPEN

    def fail(self, error: Exception, *, has_alternative: bool = False) -> None:
        """Count an attempt that failed; log it, if that has gone on for a while.

        With an alternative, a further attempt of another kind follows at once: only if that
        fails as well there is something to warn of.
        """
        self.count(error)
        if self._has_assumed_success():
            self.succeed()
        now = self._clock.now()
        began = now if self._began is None else self._began
        outage = after_failure(self._outage, error, began=began, now=now)
        if outage.is_warning_due(now) and not has_alternative:
            outage = after_warning(outage, now)
            log.warning(
                "%s: has failed for %.0f s (attempt %d), will retry: %s",
                self._what,
                now - outage.since,
                outage.failures,
                outage.error,
            )
        self._outage, self._began, self._assumed_at = outage, None, None
        self._meter.set_failures(outage.failures)

    def _has_assumed_success(self) -> bool:
        return self._assumed_at is not None and self._clock.now() >= self._assumed_at

    def count(self, error: Exception) -> None:
        """Count an error that says nothing about the server."""
        self.errors += 1
        self.last_error = str(error) or repr(error)
