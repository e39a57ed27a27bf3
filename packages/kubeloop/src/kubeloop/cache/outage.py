"""Attempts of a reflector, and outages: attempts that fail one after the other.

Guarantees: every failed attempt is counted. An outage begins with the first failed attempt
and ends with the first successful one; it is logged once when it has lasted for 5 seconds,
then at growing intervals, and once when it is over. `Outage` and the functions read no clock:
every time is passed in.
See also: `reflector` (what is attempted), `reflector_state` (its stats).
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
"""Seconds of an outage before the first warning: a server that restarts needs none."""
SECOND_WARNING = 60.0
LONGEST_INTERVAL = 3600.0
# Seconds after which a watch that has not failed counts as open, if its source does not report it.
ASSUMED_OPEN = 10.0


class OutageStats(msgspec.Struct, frozen=True):
    """How long all attempts have failed, and with what."""

    failures: int  # failed attempts in a row
    seconds: float  # since the first of them began
    without_response: float  # seconds since the last response, even if it was an error
    error: str  # the last one
    code: int  # the HTTP status of the last attempt; 0 if it got no response


class Outage(msgspec.Struct, frozen=True):
    """The state of an outage. Times are those of the clock."""

    since: float
    failures: int
    no_response_since: float
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
            without_response=now - self.no_response_since,
            error=self.error,
            code=self.code,
        )


def after_failure(
    outage: Outage | None, error: BaseException, *, began: float, now: float
) -> Outage:
    """The outage after one more failed attempt, which began at `began`."""
    response = find_api_error(error)
    if outage is None:
        since, failures, no_response_since = began, 0, began
        warn_at, warnings = began + WARN_AFTER, 0
    else:
        since, failures, no_response_since = outage.since, outage.failures, outage.no_response_since
        warn_at, warnings = outage.warn_at, outage.warnings
    return Outage(
        since=since,
        failures=failures + 1,
        no_response_since=no_response_since if _is_without_response(error) else now,
        error=str(error) or repr(error),
        code=0 if response is None else response.code,
        warn_at=warn_at,
        warnings=warnings,
    )


def _is_without_response(error: BaseException) -> bool:
    """Whether the server did not respond; a response that we cannot use is one as well."""
    return isinstance(error, TransportError | ConfigError) and find_api_error(error) is None


def after_warning(outage: Outage, now: float) -> Outage:
    """The outage after a warning: the next is due when the outage has lasted twice as long.

    After 5 seconds, a minute, two, four, and so on; at most an hour later.
    """
    lasted = now - outage.since
    next_at = max(SECOND_WARNING, min(2 * lasted, lasted + LONGEST_INTERVAL))
    return msgspec.structs.replace(
        outage, warn_at=outage.since + next_at, warnings=outage.warnings + 1
    )


@final
class Attempts:
    """Tracks the attempts of one reflector. `what` names the collection in log lines."""

    def __init__(self, what: str, *, clock: Clock, meter: Meter) -> None:
        self._what = what
        self._clock = clock
        self._meter = meter
        self._outage: Outage | None = None
        self._began: float | None = None  # of an attempt that has not succeeded yet
        self._assumed_at: float | None = None  # when the attempt counts as successful
        self._last_event: float | None = None
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

    def receive(self) -> None:
        """Note that a list or an event was received: the server does what is requested."""
        self._last_event = self._clock.now()
        if self._began is not None or self._outage is not None or self._assumed_at is not None:
            self.succeed()

    def event_age(self) -> float | None:
        """Seconds since something was received."""
        return None if self._last_event is None else self._clock.now() - self._last_event

    def succeed(self) -> None:
        """Note that the server does what is requested: an outage is over."""
        outage, self._outage, self._began = self._outage, None, None
        self._assumed_at = None
        if outage is None:
            return
        self._meter.set_failures(0)
        if outage.warnings:
            log.info(
                "%s: recovered after %.0f s and %d failed attempts",
                self._what,
                self._clock.now() - outage.since,
                outage.failures,
            )

    def assume_success(self) -> None:
        """Note that the attempt counts as successful unless it fails soon."""
        self._assumed_at = self._clock.now() + ASSUMED_OPEN

    def fail(self, error: Exception, *, has_alternative: bool = False) -> None:
        """Count an attempt that failed; log it if the outage has lasted for a while.

        With an alternative, an attempt of another kind follows at once, and only its failure is
        logged.
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
        """Count an error that is no failed attempt."""
        self.errors += 1
        self.last_error = str(error) or repr(error)
