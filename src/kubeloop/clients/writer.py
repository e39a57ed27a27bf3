"""Stores a change of one object while others change it too: read, send, back off, again.

Guarantees: every patch carries the version and uid of the object that it was computed from,
so that at most one attempt is stored, and one that was stored is never made again. Where an
answer leaves open whether the change was stored, that answer is what the caller gets.
See also: what is sent (`editing`), who calls (`verbs`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Generic, TypeVar, final

import msgspec

from kubeloop.kit import Backoff, Clock
from kubeloop.machinery import (
    ApiError,
    Conflict,
    InvalidValue,
    TimeoutExceeded,
    api_error,
    client_delay,
)

__all__ = ["ChangeWriter"]

T = TypeVar("T")

# Every conflict is another writer that got through: many at once need patience, and not to
# meet again. Four writes of 50 writers took 400 calls in 1 s with these numbers, and 670 in
# 2.6 s with a factor of 1.5 and delays that are doubled at most.
_CONTENTION = Backoff(duration=0.01, factor=2.0, jitter=3.0, steps=100, cap=0.5)


@final
class ChangeWriter(Generic[T]):
    """The attempts to store one change, within a time that begins with the first of them.

    Safe to cancel between two calls; during `send`, the change may have been stored.
    """

    def __init__(
        self, action: str, *, clock: Clock, timeout: float | None, max_retries: int
    ) -> None:
        if timeout is not None and not timeout > 0:
            raise InvalidValue(
                f"{action}: the timeout is {timeout!r} s (give more than 0, or None for no limit)"
            )
        self._action = action  # for messages: `edit configmaps/a in shop`
        self._clock = clock
        self._timeout = timeout
        self._deadline: float | None = None  # set by what is done first
        self._max_retries = max_retries
        self._delays = _CONTENTION.delays()
        self._attempts = 0
        self._conflict: Conflict | None = None
        self._doubt: ApiError | None = None  # an answer after which the change may be stored
        self._is_sending = False

    async def read(self, read: Callable[[], Awaitable[T]]) -> T:
        """Read the object. Raises: TimeoutExceeded."""
        async with self._bounded():
            return await read()

    async def send(self, send: Callable[[], Awaitable[T]]) -> T:
        """Send one patch; again as it is while the server asks to come back later.

        Raises:
            Conflict: it was not stored, because the object has changed.
            ApiError: it was refused; with code 5xx it may have been stored.
            TimeoutExceeded: the time is over.
        """
        for left in range(self._max_retries, -1, -1):
            try:
                return await self._send_once(send)
            except Conflict as error:
                if self._doubt is not None:
                    raise _unknown_outcome(self._doubt, error) from error
                raise
            except ApiError as error:
                delay = client_delay(error)
                if delay is None or not (error.code == 429 or error.code >= 500) or not left:
                    raise
                if error.code != 429:  # which is said before anything is done
                    self._doubt = error
                await self._sleep(max(float(delay), self._delays.next()))
        raise AssertionError("the last attempt returns or raises")

    async def back_off(self, conflict: Conflict) -> None:
        """Wait before the change is made again on a newer object. Raises: TimeoutExceeded."""
        self._conflict = conflict
        await self._sleep(self._delays.next())

    async def _send_once(self, send: Callable[[], Awaitable[T]]) -> T:
        self._attempts += 1
        self._is_sending = True
        async with self._bounded():
            try:
                return await send()
            except ApiError:
                self._is_sending = False
                raise

    async def _sleep(self, seconds: float) -> None:
        async with self._bounded():
            await self._clock.sleep(seconds)

    @asynccontextmanager
    async def _bounded(self) -> AsyncIterator[None]:
        try:
            async with self._clock.timeout(self._left()) as bound:
                yield
        except TimeoutError:
            if not bound.expired():
                raise  # it is the request's own
            raise self._too_late() from self._doubt or self._conflict

    def _left(self) -> float | None:
        if self._timeout is None:
            return None
        now = self._clock.now()
        if self._deadline is None:
            self._deadline = now + self._timeout
        return self._deadline - now

    def _too_late(self) -> TimeoutExceeded:
        times = "1 attempt" if self._attempts == 1 else f"{self._attempts} attempts"
        if self._is_sending or self._doubt is not None:
            why = f"{times}, of which the last may have been stored (read the object to find out)"
        elif self._conflict is not None:
            why = f"{times}, and each time another writer was faster (give more time as timeout)"
        else:
            why = f"{times}, and the server was too busy (try again later)"
        return TimeoutExceeded(f"{self._action}: not stored within {self._timeout:g} s: {why}")


def _unknown_outcome(doubt: ApiError, conflict: Conflict) -> ApiError:
    """The error for a change that was sent twice, and is there or not."""
    text = (
        f"{doubt.status.message or 'no message'}; sent again, the server answered"
        f" {conflict.code} {conflict.reason}: the change was stored the first time, or another"
        " writer was faster (read the object to find out)"
    )
    status = msgspec.structs.replace(doubt.status, message=text)
    return api_error(doubt.action, status)
