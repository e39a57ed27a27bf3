"""The three durations of an election, and how they must relate.

See also: `elector` (what happens at each of them).
"""

from __future__ import annotations

import math
from typing import Final

import msgspec

from kubeloop.errors import InvalidArgument

__all__ = ["JITTER_FACTOR", "LOCK_TYPE", "USER_AGENT_SUFFIX", "ElectionTimes", "check_lock_type"]

JITTER_FACTOR: Final = 1.2
"""A candidate waits for one retry period, and at most this many more (client-go's factor)."""
LOCK_TYPE: Final = "leases"
USER_AGENT_SUFFIX: Final = "leader-election"
"""Ends the user agent of requests for leases, so that audit logs tell them apart."""

_MAX_LEASE: Final = 2**31 - 1
_REMOVED_LOCKS: Final = frozenset(
    {"endpoints", "configmaps", "endpointsleases", "configmapsleases"}
)


class ElectionTimes(msgspec.Struct, frozen=True, kw_only=True):
    """Durations in seconds; the defaults are those of Kubernetes' own controllers.

    A leader that could not renew its lease for `renew_deadline` stops; other candidates
    acquire the lease `lease_duration` after they last observed a change. The work has to end
    in the time between the two, which also allows for clocks of different rates.

    Raises:
        InvalidArgument: they contradict each other.
    """

    lease_duration: float = 15.0
    renew_deadline: float = 10.0
    retry_period: float = 2.0

    def __post_init__(self) -> None:
        lease, deadline, retry = self.lease_duration, self.renew_deadline, self.retry_period
        if not all(map(_is_number, self._all())):
            raise InvalidArgument(f"{self}: each must be a number of seconds")
        if not lease > deadline:
            raise InvalidArgument(
                f"{self}: lease_duration must be longer than renew_deadline"
                " (otherwise two candidates could lead)"
            )
        if not deadline > JITTER_FACTOR * retry:
            raise InvalidArgument(
                f"{self}: renew_deadline must be longer than {JITTER_FACTOR} times retry_period"
                " (otherwise one failed attempt would end the term)"
            )
        if not min(self._all()) > 0:
            raise InvalidArgument(f"{self}: each must be longer than zero")
        if not 1 <= lease <= _MAX_LEASE:
            raise InvalidArgument(
                f"{self}: lease_duration must be at least 1 (a lease has whole seconds)"
            )

    @property
    def written_duration(self) -> int:
        """The lease duration that is written: whole seconds, rounded down."""
        return int(self.lease_duration)

    @property
    def term(self) -> float:
        """How long a renewal is valid, counted from when it was sent.

        The renew deadline, shortened in proportion as rounding shortened the lease.
        """
        return self.renew_deadline * self.written_duration / self.lease_duration

    @property
    def request_timeout(self) -> float:
        """The bound on one request."""
        return max(1.0, self.renew_deadline / 2)

    def _all(self) -> tuple[float, float, float]:
        return (self.lease_duration, self.renew_deadline, self.retry_period)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def check_lock_type(lock: str) -> None:
    """Check the lock type that a configuration names; only `leases` exists.

    Raises:
        InvalidArgument: it is another type.
    """
    if lock == LOCK_TYPE:
        return
    if lock in _REMOVED_LOCKS:
        raise InvalidArgument(
            f"lock type {lock!r}: removed, as in client-go"
            f" (migrate all candidates to {LOCK_TYPE!r})"
        )
    raise InvalidArgument(f"lock type {lock!r}: unknown (use {LOCK_TYPE!r})")
