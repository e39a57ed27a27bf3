"""A blocking iterator over an async iterator: objects, events, lines.

Guarantees: items are in order, followed by the error that ended the source, if any. The buffer
is bounded: a slow reader slows the source down. Leaving the loop early closes the connection;
Ctrl-C closes the stream before it propagates.
See also: `calls` (one result).
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
from .portal import TaskScope

__all__ = ["Stream", "iterate_awaited"]

T = TypeVar("T")

_BUFFER = 64  # items; one call into the loop thread may fetch them all


@final
class Stream(Iterator[T], Generic[T]):
    """Items as they arrive: `for event in pods.watch(): ...`.

    The request is sent when the first item is read. The stream is closed at its end, by
    `close()`, at the end of its `with` block, and when it is garbage-collected, as after `break`.
    """

    def __init__(self, scope: TaskScope, source: Callable[[], AsyncIterator[T]]) -> None:
        self._portal = scope.portal
        self._forks = self._portal.forks
        self._pump: _Pump[T] = _Pump(scope, source)
        self._ready: deque[T] = deque()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> T:
        try:
            return self._next()
        except Exception:
            raise
        except BaseException:  # Ctrl-C, possibly between two items
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
        """Close it now, and drop unread items. Idempotent."""
        self._ready.clear()
        if self._forks == self._portal.forks:
            call(self._portal, self._pump.stop)

    def __del__(self) -> None:
        pump = getattr(self, "_pump", None)
        if pump is not None:  # not a blocking call: the collector may run in a loop thread
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
                " belongs to the parent (open it in the child)"
            )
        return call(self._portal, self._pump.batch)


async def iterate_awaited(source: Awaitable[AsyncIterator[T]]) -> AsyncIterator[T]:
    """The items of an async iterator that has to be awaited first."""
    items = await source
    try:
        async for item in items:
            yield item
    finally:
        await _close(items)


async def _close(source: AsyncIterator[T]) -> None:
    close: Callable[[], Awaitable[object]] | None = getattr(source, "aclose", None)
    if close is not None:
        await close()


@final
class _Pump(Generic[T]):
    """Reads the source into a buffer. Used by the loop thread only."""

    def __init__(self, scope: TaskScope, source: Callable[[], AsyncIterator[T]]) -> None:
        self._scope = scope
        self._source = source
        self._items: list[T] = []
        self._error: BaseException | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_closed = False
        self._has_items = asyncio.Event()  # or the end
        self._has_capacity = asyncio.Event()

    async def batch(self) -> list[T]:
        """All buffered items; waits for the first, and is empty at the end.

        Raises: the error that ended the source, once. Safe to cancel: no item is lost.
        """
        if self._task is None and not self._is_closed:
            self._task = self._scope.spawn(self._run())
        while not self._items and not self._is_closed:
            self._has_items.clear()
            await self._has_items.wait()
        items, self._items = self._items, []
        self._has_capacity.set()
        if not items and self._error is not None:
            error, self._error = self._error, None
            raise error
        return items

    async def stop(self) -> None:
        """Close the source, and drop unread items. Idempotent."""
        self._items, self._error = [], None
        self._is_closed = True
        self._has_items.set()
        if self._task is not None and not self._task.done():
            await cancel_and_wait(self._task)

    def stop_soon(self) -> None:
        """As `stop`, without waiting."""
        self._is_closed = True
        if self._task is not None and not self._task.done():
            self._task.cancel()

    async def _run(self) -> None:
        try:
            await self._read(self._source())
        except asyncio.CancelledError:
            if not self._is_closed:  # not by `stop`: the reader must get an error
                self._error = self._scope.cancellation_error()
            raise
        except BaseException as error:  # noqa: BLE001 - raised in the reader's thread
            self._error = error
        finally:
            self._is_closed = True
            self._has_items.set()

    async def _read(self, source: AsyncIterator[T]) -> None:
        try:
            async for item in source:
                self._items.append(item)
                self._has_items.set()
                if len(self._items) >= _BUFFER:
                    self._has_capacity.clear()
                    await self._has_capacity.wait()
        finally:
            await _close(source)
