"""An iterator over what comes from the loop: objects, events, lines.

Promises: items come in their order, then the error, if one ended it; a slow reader is waited
for, a few dozen items ahead at most; leaving early closes the connection. Ctrl-C while
waiting ends the stream and goes on when that is done.
Elsewhere: one result (`calls`).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from types import TracebackType
from typing import Generic, Self, TypeVar, final

from kubeloop.kit import cancel_and_wait

from .calls import call
from .errors import OpenedBeforeFork
from .portal import Place

__all__ = ["Stream", "awaited"]

T = TypeVar("T")

_AHEAD = 64  # items that wait for a slow reader; one trip to the loop may fetch them all


@final
class Stream(Iterator[T], Generic[T]):
    """Items as they come: `for event in pods.watch(): ...`.

    Nothing is asked for before the first item is. It is closed by its end, by `close()`, by
    the end of its `with` block, and when nobody holds it any more, as after a `break`.
    """

    def __init__(self, place: Place, source: Callable[[], AsyncIterator[T]]) -> None:
        self._portal = place.portal
        self._forks = self._portal.forks
        self._pump: _Pump[T] = _Pump(place, source)
        self._ready: deque[T] = deque()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> T:
        try:
            return self._next()
        except Exception:
            raise
        except BaseException:  # Ctrl-C: the reader is leaving, maybe between two items
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End it now; what was not read is dropped. Safe to repeat."""
        self._ready.clear()
        if self._forks == self._portal.forks:
            call(self._portal, self._pump.stop)

    def __del__(self) -> None:
        pump = getattr(self, "_pump", None)
        if pump is not None:  # not in here: whoever collects does not wait, and may be a loop
            self._portal.post_if_running(pump.stop_soon, forks=self._forks)

    def _next(self) -> T:
        while True:
            try:
                return self._ready.popleft()
            except IndexError:
                if not (batch := self._fetch()):
                    raise StopIteration from None
                self._ready.extend(batch)

    def _fetch(self) -> list[T]:
        if self._forks != self._portal.forks:
            raise OpenedBeforeFork(
                "read a stream: it was opened before the process was forked, and its connection"
                " is the parent's (open it in the child)"
            )
        return call(self._portal, self._pump.batch)


async def awaited(source: Awaitable[AsyncIterator[T]]) -> AsyncIterator[T]:
    """The items of a source that has to be awaited itself."""
    opened = await source
    try:
        async for item in opened:
            yield item
    finally:
        await _close(opened)


async def _close(source: AsyncIterator[T]) -> None:
    close: Callable[[], Awaitable[object]] | None = getattr(source, "aclose", None)
    if close is not None:
        await close()


@final
class _Pump(Generic[T]):
    """The loop's side: reads the source into a buffer. Touched by the loop's thread alone."""

    def __init__(self, place: Place, source: Callable[[], AsyncIterator[T]]) -> None:
        self._place = place
        self._source = source
        self._items: list[T] = []
        self._error: BaseException | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_closed = False
        self._news = asyncio.Event()  # items, or the end
        self._room = asyncio.Event()

    async def batch(self) -> list[T]:
        """All items that are there, waiting for the first; empty at the end.

        Raises: what ended the source, once. Safe to cancel: nothing is lost.
        """
        if self._task is None and not self._is_closed:
            self._task = self._place.spawn(self._run())
        while not self._items and not self._is_closed:
            self._news.clear()
            await self._news.wait()
        items, self._items = self._items, []
        self._room.set()
        if not items and self._error is not None:
            error, self._error = self._error, None
            raise error
        return items

    async def stop(self) -> None:
        """Close the source and drop what was not read. Safe to repeat."""
        self._items, self._error = [], None
        self._is_closed = True
        self._news.set()
        if self._task is not None and not self._task.done():
            await cancel_and_wait(self._task)

    def stop_soon(self) -> None:
        """As `stop`, for those who do not wait."""
        self._is_closed = True
        if self._task is not None and not self._task.done():
            self._task.cancel()

    async def _run(self) -> None:
        try:
            await self._read(self._source())
        except asyncio.CancelledError:
            if not self._is_closed:  # not by `stop`: somebody may still read
                self._error = self._place.why_cancelled()
            raise
        except BaseException as error:  # noqa: BLE001 - for whoever reads
            self._error = error
        finally:
            self._is_closed = True
            self._news.set()

    async def _read(self, source: AsyncIterator[T]) -> None:
        try:
            async for item in source:
                self._items.append(item)
                self._news.set()
                if len(self._items) >= _AHEAD:
                    self._room.clear()
                    await self._room.wait()
        finally:
            await _close(source)
