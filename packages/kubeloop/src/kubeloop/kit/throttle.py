"""Limits on rate (`TokenBucket`) and on concurrency (`ConcurrencyLimit`).

Guarantees: in any period of t seconds a bucket admits at most `burst + rate * t` calls; callers
are served in order of arrival; a cancelled caller returns its token where that is possible.
Not thread-safe, and not for use in several event loops.
See also: a delay per failing key (`backoff`).
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from types import TracebackType
from typing import Protocol, final

import msgspec

from .clock import Clock

__all__ = [
    "ConcurrencyLimit",
    "ConcurrencyLimitStats",
    "DeadlineTooSoon",
    "Limiter",
    "LimiterStats",
    "TokenBucket",
    "Unlimited",
]


# Seconds times a rate are not exact: the third of three thirds must still make a token.
_SLACK = 1e-9


class DeadlineTooSoon(TimeoutError):
    """A token would be available only after the deadline, so the call did not wait."""


class LimiterStats(msgspec.Struct, frozen=True):
    """How many tokens a limiter has given, and how many calls wait."""

    taken: int  # tokens taken or reserved, less those returned
    waiting: int  # calls of take() that wait for a token
    tokens: float  # available now; negative when more are reserved than available


class Limiter(Protocol):
    """A rate limiter."""

    def try_take(self) -> bool:
        """Take a token if one is available now."""
        ...

    def reserve(self) -> float:
        """Reserve the next token, and return the seconds until it is available."""
        ...

    async def take(self, *, deadline: float | None = None) -> float:
        """Wait for a token; returns the seconds waited.

        `deadline` is a time on the limiter's clock.
        Safe to cancel: the token is returned where that is possible.

        Raises: DeadlineTooSoon, at once, when the token would be available after `deadline`.
        """
        ...

    def stats(self) -> LimiterStats: ...


@final
class Unlimited:
    """No limit."""

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


class _Reservation:
    """A reservation that is not due yet."""

    __slots__ = ("due", "is_cancelled")

    def __init__(self, due: float) -> None:
        self.due = due
        self.is_cancelled = False


@final
class TokenBucket:
    """`rate` tokens a second, at most `burst`; full at first (client-go: `flowcontrol`).

    A caller that finds none reserves the next one and sleeps until it is due.
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
        self._tokens = float(burst)  # negative: so many are reserved ahead of time
        self._counted_at: float | None = None  # when _tokens was true; None before first use
        self._reservations: deque[_Reservation] = deque()  # by due; the last is not cancelled
        self._taken = 0
        self._waiting = 0

    def try_take(self) -> bool:
        """Take a token if one is available now (client-go: `TryAccept`)."""
        self._count(self._clock.now())
        if self._missing() > 0:
            return False
        self._spend()
        return True

    def reserve(self) -> float:
        """Reserve the next token, and return the seconds until it is available."""
        now = self._clock.now()
        return self._reserve(now).due - now

    async def take(self, *, deadline: float | None = None) -> float:
        """Wait for a token; returns the seconds waited (client-go: `Wait`).

        `deadline` is a time on the bucket's clock.
        Safe to cancel: the token is returned unless a later caller still waits.

        Raises: DeadlineTooSoon, at once, when the token would be available after `deadline`.
        """
        now = self._clock.now()
        self._check_deadline(now, deadline)
        reservation = self._reserve(now)
        if reservation.due > now:
            await self._wait_for(reservation, reservation.due - now)
        return self._clock.now() - now

    def stats(self) -> LimiterStats:
        self._count(self._clock.now())
        return LimiterStats(taken=self._taken, waiting=self._waiting, tokens=self._tokens)

    def _count(self, now: float) -> None:
        """Add the tokens since the last count, and drop reservations that are due."""
        since = now if self._counted_at is None else self._counted_at
        self._tokens = min(self._burst, self._tokens + (now - since) * self._rate)
        self._counted_at = now
        while self._reservations and self._reservations[0].due <= now:
            self._reservations.popleft()

    def _spend(self) -> None:
        self._tokens -= 1
        self._taken += 1

    def _due(self, now: float) -> float:
        """When the next token is available; call `_count` first."""
        return now + self._missing() / self._rate

    def _missing(self) -> float:
        """The missing part of the next token."""
        missing = 1 - self._tokens
        return missing if missing > _SLACK else 0.0

    def _check_deadline(self, now: float, deadline: float | None) -> None:
        self._count(now)
        due = self._due(now)
        if deadline is not None and deadline < due:
            raise DeadlineTooSoon(
                f"wait for a token: due in {due - now:.3g} s, the deadline is in"
                f" {deadline - now:.3g} s (allow more time, or a higher rate)"
            )

    def _reserve(self, now: float) -> _Reservation:
        self._count(now)
        reservation = _Reservation(self._due(now))
        self._spend()
        if reservation.due > now:
            self._reservations.append(reservation)
        return reservation

    async def _wait_for(self, reservation: _Reservation, seconds: float) -> None:
        self._waiting += 1
        try:
            await self._clock.sleep(seconds)
        except BaseException:
            self._cancel(reservation)
            raise
        finally:
            self._waiting -= 1

    def _cancel(self, reservation: _Reservation) -> None:
        """Return the tokens of cancelled reservations at the end of the queue.

        One with a caller behind it is spent: those behind keep the time they were given.
        """
        self._count(self._clock.now())
        reservation.is_cancelled = True
        while self._reservations and self._reservations[-1].is_cancelled:
            self._reservations.pop()
            self._tokens += 1
            self._taken -= 1


class ConcurrencyLimitStats(msgspec.Struct, frozen=True):
    """How many callers hold a slot or wait for one."""

    limit: int
    in_use: int
    waiting: int
    peak: int  # most in use at once, since the start


@final
class ConcurrencyLimit:
    """A semaphore with statistics: at most `limit` callers at once, in order of arrival.

    Acquiring is safe to cancel.

        async with limit:
            await send(request)
    """

    def __init__(self, limit: int) -> None:
        if limit < 1:
            raise ValueError(
                f"concurrency limit of {limit}: no caller could ever proceed (allow at least 1)"
            )
        self._limit = limit
        self._in_use = 0
        self._peak = 0
        # Callers in order of arrival. A slot passes from one to the next without becoming free.
        self._waiters: deque[asyncio.Future[None]] = deque()

    @property
    def is_full(self) -> bool:
        """Whether `acquire` would wait."""
        return self._in_use >= self._limit or bool(self._waiters)

    def try_acquire(self) -> bool:
        """Take a slot if one is free, and no other caller waits."""
        if self._in_use >= self._limit or self._waiters:
            return False
        self._in_use += 1
        self._peak = max(self._peak, self._in_use)
        return True

    async def acquire(self) -> None:
        """Wait for a free slot and take it; a cancelled call takes none."""
        if self.try_acquire():
            return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        try:
            await waiter
        except BaseException:
            if waiter.done() and not waiter.cancelled():  # it had got a slot at that moment
                self.release()
            else:
                with suppress(ValueError):  # `release` may have passed over it
                    self._waiters.remove(waiter)
            raise

    def release(self) -> None:
        """Pass the slot to the next caller, or free it."""
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return
        self._in_use -= 1

    async def __aenter__(self) -> None:
        await self.acquire()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()

    def stats(self) -> ConcurrencyLimitStats:
        return ConcurrencyLimitStats(self._limit, self._in_use, len(self._waiters), self._peak)
