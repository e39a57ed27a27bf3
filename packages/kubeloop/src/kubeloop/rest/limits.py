"""Limits of one client: requests per second, and calls in flight.

Guarantees: there is no rate limit by default (the server has priority and fairness), and
always a limit of calls in flight; a call that backs off before a retry holds no slot, so that
many throttled calls do not block others; the wait for a slot is bounded, and its error names
the client's limit.
See also: `kubeloop.kit` (token bucket, semaphore).
"""

from __future__ import annotations

from typing import final

from kubeloop.errors import InFlightTimeout, TimeoutExceeded
from kubeloop.kit import Clock, ConcurrencyLimit, DeadlineTooSoon, Limiter, TokenBucket
from kubeloop.wire import get_logger

from .incoming import sooner
from .request import Request

__all__ = [
    "DEFAULT_BURST",
    "DEFAULT_QPS",
    "IN_FLIGHT",
    "RequestRateLimiter",
    "acquire_slot",
    "limiter_of",
]

log = get_logger(__name__)

DEFAULT_QPS = 5.0
DEFAULT_BURST = 10
IN_FLIGHT = 64

_LOG_DEBUG_ABOVE = 0.05
_LOG_INFO_ABOVE = 1.0
_LOG_INTERVAL = 10.0


def limiter_of(qps: float, burst: int = 0, *, clock: Clock) -> Limiter | None:
    """A token bucket with client-go's defaults: zero means 5 per second and a burst of 10.

    A negative `qps` is no limiter.
    """
    if qps < 0:
        return None
    return TokenBucket(qps or DEFAULT_QPS, burst or DEFAULT_BURST, clock=clock)


@final
class RequestRateLimiter:
    """Waits for a limiter before each request, and logs long waits."""

    def __init__(self, limiter: Limiter, *, clock: Clock) -> None:
        self._limiter = limiter
        self._clock = clock
        self._logged_at: float | None = None

    async def wait(self, action: str, *, deadline: float | None) -> float:
        """Wait for a token; returns the seconds waited. Safe to cancel: no token is used.

        Raises:
            TimeoutExceeded: at once, when the token would come after `deadline`.
        """
        try:
            waited = await self._limiter.take(deadline=deadline)
        except DeadlineTooSoon as error:
            raise TimeoutExceeded(
                f"{action}: the client's rate limiter would admit it after its deadline: {error}"
            ) from error
        if waited > _LOG_DEBUG_ABOVE:
            self._log_wait(action, waited)
        return waited

    def _log_wait(self, action: str, waited: float) -> None:
        now = self._clock.now()
        quiet = self._logged_at is not None and now - self._logged_at < _LOG_INTERVAL
        if waited > _LOG_INFO_ABOVE and not quiet:
            self._logged_at = now
            log.info("%s: waited %.3g s for the client's rate limiter", action, waited)
        else:
            log.debug("%s: waited %.3g s for the client's rate limiter", action, waited)


async def acquire_slot(
    gate: ConcurrencyLimit,
    request: Request,
    *,
    clock: Clock,
    within: float | None,
    deadline: float | None,
) -> None:
    """Wait for an in-flight slot, first come, first served; the caller releases it.

    `within` bounds the wait in seconds, `deadline` is the end of the whole call. Safe to
    cancel: no slot is held then.

    Raises:
        InFlightTimeout: no slot became free in time.
    """
    left = None if deadline is None else deadline - clock.now()
    within = sooner(within, left)
    try:
        async with clock.timeout(within) as bound:
            await gate.acquire()
    except TimeoutError as error:
        if not bound.expired():
            raise
        now = gate.stats()
        raise InFlightTimeout(
            f"{request.action}: not sent: no in-flight slot of this client became free"
            f" within {max(within or 0.0, 0.0):g} s, {now.in_use} calls are in flight and"
            f" {now.waiting} more wait for a slot"
        ).with_hint(
            "make fewer calls at once, and look for calls that do not end",
            python="allow more with RESTClient(in_flight=...)",
        ) from error
