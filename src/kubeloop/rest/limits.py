"""Limits on what one client sends: how often, and how much at once.

Promises: without being asked for there is no limit on how often (the server has its own
fairness), and always one on how much at once.
Elsewhere: the bucket and the gate themselves (`kubeloop.kit`).
"""

from __future__ import annotations

import logging
from typing import final

from kubeloop.kit import Clock, DeadlineTooSoon, Limiter, TokenBucket
from kubeloop.machinery import TimeoutExceeded

__all__ = ["DEFAULT_BURST", "DEFAULT_QPS", "IN_FLIGHT", "Throttle", "limiter_of"]

log = logging.getLogger(__name__)

DEFAULT_QPS = 5.0
DEFAULT_BURST = 10
IN_FLIGHT = 64

_WORTH_A_WORD = 0.05
_WORTH_A_LINE = 1.0
_BETWEEN_LINES = 10.0


def limiter_of(qps: float, burst: int = 0, *, clock: Clock) -> Limiter | None:
    """A token bucket with client-go's numbers: zero stands for 5 a second and a burst of 10.

    Less than zero is no limiter at all.
    """
    if qps < 0:
        return None
    return TokenBucket(qps or DEFAULT_QPS, burst or DEFAULT_BURST, clock=clock)


@final
class Throttle:
    """Asks a limiter before each request, and says when that took long."""

    def __init__(self, limiter: Limiter, *, clock: Clock) -> None:
        self._limiter = limiter
        self._clock = clock
        self._said_at: float | None = None

    async def wait(self, action: str, *, deadline: float | None) -> float:
        """Wait for a token; returns the seconds waited. Safe to cancel: nothing is taken.

        Raises:
            TimeoutExceeded: at once, when the token would come after `deadline`.
        """
        try:
            waited = await self._limiter.take(deadline=deadline)
        except DeadlineTooSoon as error:
            raise TimeoutExceeded(
                f"{action}: the client's own rate limiter would let it pass too late: {error}"
            ) from error
        if waited > _WORTH_A_WORD:
            self._say(action, waited)
        return waited

    def _say(self, action: str, waited: float) -> None:
        now = self._clock.now()
        quiet = self._said_at is not None and now - self._said_at < _BETWEEN_LINES
        if waited > _WORTH_A_LINE and not quiet:
            self._said_at = now
            log.info("%s: waited %.3g s for the client's own rate limiter", action, waited)
        else:
            log.debug("%s: waited %.3g s for the client's own rate limiter", action, waited)
