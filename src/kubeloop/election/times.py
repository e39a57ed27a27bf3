"""The durations of an election, and which of them make sense together."""

from __future__ import annotations

import math
from typing import Final

import msgspec

from kubeloop.errors import InvalidArgument

__all__ = ["JITTER_FACTOR", "LOCK_TYPE", "USER_AGENT_SUFFIX", "ElectionTimes", "check_lock_type"]

JITTER_FACTOR: Final = 1.2
"""A candidate waits for one retry period and up to this part of another."""
LOCK_TYPE: Final = "leases"
USER_AGENT_SUFFIX: Final = "leader-election"
"""How requests about leases name themselves, so that they can be told from others."""

_LONGEST: Final = 2**31 - 1
_FORMER_LOCKS: Final = frozenset({"endpoints", "configmaps", "endpointsleases", "configmapsleases"})


class ElectionTimes(msgspec.Struct, frozen=True, kw_only=True):
    """Durations in seconds; the defaults are those of Kubernetes' own controllers.

    A leader that could not renew for `renew_deadline` stops; the others wait for
    `lease_duration` since they last saw a change. Between the two is what the work has to
    end in, and by how much clocks may differ in rate.

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
                f"{self}: lease_duration must be longer than renew_deadline (or two could lead)"
            )
        if not deadline > JITTER_FACTOR * retry:
            raise InvalidArgument(
                f"{self}: renew_deadline must be longer than {JITTER_FACTOR} times retry_period"
                " (or one failed try would be the end)"
            )
        if not min(self._all()) > 0:
            raise InvalidArgument(f"{self}: each must be longer than zero")
        if not 1 <= lease <= _LONGEST:
            raise InvalidArgument(
                f"{self}: lease_duration must be at least 1 (the server keeps whole seconds)"
            )

    @property
    def written_duration(self) -> int:
        """The duration as the lease says it, in whole seconds, the rest cut off."""
        return int(self.lease_duration)

    @property
    def term(self) -> float:
        """How long a renewal is good for, counted from the moment it was sent.

        The renew deadline, shortened as much as the lease was by its whole seconds.
        """
        return self.renew_deadline * self.written_duration / self.lease_duration

    @property
    def request_timeout(self) -> float:
        """How long one request may take."""
        return max(1.0, self.renew_deadline / 2)

    def _all(self) -> tuple[float, float, float]:
        return (self.lease_duration, self.renew_deadline, self.retry_period)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def check_lock_type(lock: str) -> None:
    """Refuse every lock but `leases`, for configurations that still name one.

    Raises:
        InvalidArgument: it is another.
    """
    if lock == LOCK_TYPE:
        return
    if lock in _FORMER_LOCKS:
        raise InvalidArgument(
            f"lock type {lock!r}: no longer there (migrate to {LOCK_TYPE!r}; all candidates must)"
        )
    raise InvalidArgument(f"lock type {lock!r}: unknown (use {LOCK_TYPE!r})")
