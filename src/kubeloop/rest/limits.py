"""Limits of one client: requests per second, and calls in flight.

Guarantees: there is no rate limit by default (the server has priority and fairness), and
always a limit of calls in flight; a call that backs off before a retry holds no slot, so that
many throttled calls do not block others; the wait for a slot is bounded, and its error names
the client's limit.
See also: `kubeloop.kit` (token bucket, semaphore).
"""

from __future__ import annotations

from types import TracebackType
from typing import Self, final

from kubeloop.errors import InFlightTimeout, TimeoutExceeded
from kubeloop.kit import Clock, ConcurrencyLimit, DeadlineTooSoon, Limiter, TokenBucket
from kubeloop.wire import get_logger

from .incoming import sooner
from .request import Request

__all__ = [
    "DEFAULT_BURST",
    "DEFAULT_QPS",
    "IN_FLIGHT",
    "InFlightSlot",
    "RequestRateLimiter",
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


@final
class InFlightSlot:
    """Permission for one call to be in flight; released while the call backs off.

    `within` bounds each wait for a slot in seconds, `deadline` is the end of the whole call.
    """

    __slots__ = ("_clock", "_gate", "_is_acquired", "_request", "_within", "deadline")

    def __init__(
        self,
        gate: ConcurrencyLimit,
        *,
        request: Request,
        clock: Clock,
        within: float | None,
        deadline: float | None,
    ) -> None:
        self._gate = gate
        self._request = request
        self._clock = clock
        self._within = within
        self.deadline = deadline
        self._is_acquired = False

    async def __aenter__(self) -> Self:
        await self.acquire()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.release()

    async def acquire(self) -> None:
        """Wait for a slot, first come, first served. Safe to cancel: none is held then.

        Raises:
            InFlightTimeout: no slot became free in time.
        """
        if self._gate.is_full:
            await self._wait()
        else:
            await self._gate.__aenter__()
        self._is_acquired = True

    async def _wait(self) -> None:
        left = None if self.deadline is None else self.deadline - self._clock.now()
        within = sooner(self._within, left)
        try:
            async with self._clock.timeout(within) as bound:
                await self._gate.__aenter__()
        except TimeoutError as error:
            if not bound.expired():
                raise
            now = self._gate.stats()
            raise InFlightTimeout(
                f"{self._request.action}: not sent: no in-flight slot of this client became free"
                f" within {max(within or 0.0, 0.0):g} s, {now.in_use} calls are in flight and"
                f" {now.waiting} more wait for a slot"
            ).with_hint(
                "make fewer calls at once, and look for calls that do not end",
                python="allow more with RESTClient(in_flight=...)",
            ) from error

    async def release(self) -> None:
        """Release the slot to the next call. Safe to repeat."""
        if self._is_acquired:
            self._is_acquired = False
            await self._gate.__aexit__(None, None, None)
