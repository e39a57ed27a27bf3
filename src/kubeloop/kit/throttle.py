"""Limits on how often, and on how many at once.

Promises: in any stretch of t seconds a bucket lets at most `burst + rate * t` pass;
whoever asked first goes first; who leaves the line takes nothing along that can still
be given back. Nothing here may be shared between event loops or threads.
Elsewhere: a delay for each failing key (`backoff`).
"""

from __future__ import annotations

import asyncio
from collections import deque
from types import TracebackType
from typing import Protocol, final

import msgspec

from .clock import Clock

__all__ = [
    "DeadlineTooSoon",
    "Gate",
    "GateStats",
    "Limiter",
    "LimiterStats",
    "TokenBucket",
    "Unlimited",
]


# Seconds times a rate are not exact: the third of three thirds must still make a token.
_SLACK = 1e-9


class DeadlineTooSoon(TimeoutError):
    """A token would come only after the caller's deadline, so nobody waited for it."""


class LimiterStats(msgspec.Struct, frozen=True):
    """What a limiter has let pass and whom it makes wait."""

    taken: int  # tokens handed out or promised, less those given back
    waiting: int  # calls of take() that wait for theirs
    tokens: float  # to be had at once; negative when more are promised than there are


class Limiter(Protocol):
    """What a caller asks before it may go on."""

    def try_take(self) -> bool:
        """Take a token if there is one now."""
        ...

    def reserve(self) -> float:
        """Take the next token that comes, and return the seconds until it does."""
        ...

    async def take(self, *, deadline: float | None = None) -> float:
        """Wait for a token; returns the seconds waited.

        `deadline` is a moment on the limiter's clock.
        Safe to cancel: the token is given back where it can be.

        Raises: DeadlineTooSoon, at once, when the token would come after `deadline`.
        """
        ...

    def stats(self) -> LimiterStats: ...


@final
class Unlimited:
    """Lets everything pass, whatever the deadline."""

    def __init__(self) -> None:
        self._taken = 0

    def try_take(self) -> bool:
        self._taken += 1
        return True

    def reserve(self) -> float:
        self._taken += 1
        return 0.0

    async def take(self, *, deadline: float | None = None) -> float:  # noqa: ARG002 - the Protocol's
        return self.reserve()

    def stats(self) -> LimiterStats:
        return LimiterStats(taken=self._taken, waiting=0, tokens=float("inf"))


class _Place:
    """One reservation that is not due yet."""

    __slots__ = ("due", "left")

    def __init__(self, due: float) -> None:
        self.due = due
        self.left = False


@final
class TokenBucket:
    """`rate` tokens a second, at most `burst` kept; full at first (client-go: `flowcontrol`).

    A caller who finds none reserves the next one and sleeps until it is due.
    """

    def __init__(self, rate: float, burst: int, *, clock: Clock) -> None:
        if not (rate > 0 and burst >= 1):
            raise ValueError(
                f"token bucket of {rate} a second, burst {burst}: the rate must be above 0"
                " and the burst at least 1 (Unlimited has no limit)"
            )
        self._rate = rate
        self._burst = burst
        self._clock = clock
        self._tokens = float(burst)  # negative: so many are promised and not yet there
        self._counted_at: float | None = None  # when _tokens was true; None before first use
        self._line: deque[_Place] = deque()  # by due; the last one has not left
        self._taken = 0
        self._waiting = 0

    def try_take(self) -> bool:
        """Take a token if there is one now (client-go: `TryAccept`)."""
        self._count(self._clock.now())
        if self._missing() > 0:
            return False
        self._spend()
        return True

    def reserve(self) -> float:
        """Take the next token that comes, and return the seconds until it does."""
        now = self._clock.now()
        return self._reserve(now).due - now

    async def take(self, *, deadline: float | None = None) -> float:
        """Wait for a token; returns the seconds waited (client-go: `Wait`).

        `deadline` is a moment on the bucket's clock.
        Safe to cancel: the token goes back if nobody still waits behind.

        Raises: DeadlineTooSoon, at once, when the token would come after `deadline`.
        """
        now = self._clock.now()
        self._refuse_late(now, deadline)
        place = self._reserve(now)
        if place.due > now:
            await self._wait_at(place, place.due - now)
        return self._clock.now() - now

    def stats(self) -> LimiterStats:
        self._count(self._clock.now())
        return LimiterStats(taken=self._taken, waiting=self._waiting, tokens=self._tokens)

    def _count(self, now: float) -> None:
        """Add the tokens that came since the last count, and forget places that are due."""
        since = now if self._counted_at is None else self._counted_at
        self._tokens = min(self._burst, self._tokens + (now - since) * self._rate)
        self._counted_at = now
        while self._line and self._line[0].due <= now:
            self._line.popleft()

    def _spend(self) -> None:
        self._tokens -= 1
        self._taken += 1

    def _due(self, now: float) -> float:
        """When a token that is asked for now comes; `_count` comes first."""
        return now + self._missing() / self._rate

    def _missing(self) -> float:
        """The part of the next token that is not there yet."""
        missing = 1 - self._tokens
        return missing if missing > _SLACK else 0.0

    def _refuse_late(self, now: float, deadline: float | None) -> None:
        self._count(now)
        due = self._due(now)
        if deadline is not None and deadline < due:
            raise DeadlineTooSoon(
                f"wait for a token: due in {due - now:.3g} s, the deadline is in"
                f" {deadline - now:.3g} s (allow more time, or a higher rate)"
            )

    def _reserve(self, now: float) -> _Place:
        self._count(now)
        place = _Place(self._due(now))
        self._spend()
        if place.due > now:
            self._line.append(place)
        return place

    async def _wait_at(self, place: _Place, seconds: float) -> None:
        self._waiting += 1
        try:
            await self._clock.sleep(seconds)
        except BaseException:
            self._leave(place)
            raise
        finally:
            self._waiting -= 1

    def _leave(self, place: _Place) -> None:
        """Undo the reservations at the end of the line whose owners are gone.

        One with somebody behind it is spent: those behind were promised their moment.
        """
        self._count(self._clock.now())
        place.left = True
        while self._line and self._line[-1].left:
            self._line.pop()
            self._tokens += 1
            self._taken -= 1


class GateStats(msgspec.Struct, frozen=True):
    """How full a gate is."""

    limit: int
    inside: int
    waiting: int
    most_inside: int  # since the beginning


@final
class Gate:
    """Lets at most `limit` callers be inside at once, in the order they came.

    Entering is safe to cancel: who gives up waiting does not count.

        async with gate:
            await send(request)
    """

    def __init__(self, limit: int) -> None:
        if limit < 1:
            raise ValueError(
                f"gate for {limit} callers: nobody could ever enter (allow at least 1)"
            )
        self._limit = limit
        self._places = asyncio.Semaphore(limit)
        self._inside = 0
        self._waiting = 0
        self._most_inside = 0

    @property
    def is_full(self) -> bool:
        """Whether entering would wait."""
        return self._places.locked()

    async def __aenter__(self) -> None:
        self._waiting += 1
        try:
            await self._places.acquire()
        finally:
            self._waiting -= 1
        self._enter()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._inside -= 1
        self._places.release()

    def stats(self) -> GateStats:
        return GateStats(self._limit, self._inside, self._waiting, self._most_inside)

    def _enter(self) -> None:
        self._inside += 1
        self._most_inside = max(self._most_inside, self._inside)
