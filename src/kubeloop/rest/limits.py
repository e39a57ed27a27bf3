"""Limits on what one client sends: how often, and how much at once.

Promises: without being asked for there is no limit on how often (the server has its own
fairness), and always one on how much at once; who only waits for the next attempt is not
counted there, so that a crowd told to come later holds nobody else up; waiting for an
in-flight slot is bounded, and the error says that it was the client's own limit.
Elsewhere: the bucket and the gate themselves (`kubeloop.kit`).
"""

from __future__ import annotations

from types import TracebackType
from typing import Self, final

from kubeloop.errors import InFlightTimeout, TimeoutExceeded
from kubeloop.kit import Clock, ConcurrencyLimit, DeadlineTooSoon, Limiter, TokenBucket
from kubeloop.wire import get_logger

from .incoming import sooner
from .request import Request

__all__ = ["DEFAULT_BURST", "DEFAULT_QPS", "IN_FLIGHT", "Place", "Throttle", "limiter_of"]

log = get_logger(__name__)

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


@final
class Place:
    """One call's place in flight; it may be left for a while and taken again.

    `within` bounds each wait for it in seconds, `deadline` is when the whole call ends.
    """

    __slots__ = ("_clock", "_gate", "_is_taken", "_request", "_within", "deadline")

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
        self._is_taken = False

    async def __aenter__(self) -> Self:
        await self.take()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.leave()

    async def take(self) -> None:
        """Wait in line for it. Safe to cancel: it is not taken then.

        Raises:
            InFlightTimeout: it did not become free in time.
        """
        if self._gate.is_full:
            await self._wait()
        else:
            await self._gate.__aenter__()
        self._is_taken = True

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
                "make fewer calls at once, look for calls that do not end",
                python="allow more with RESTClient(in_flight=...)",
            ) from error

    async def leave(self) -> None:
        """Let the next one in. Safe to repeat."""
        if self._is_taken:
            self._is_taken = False
            await self._gate.__aexit__(None, None, None)
