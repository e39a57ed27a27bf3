"""Watches that pass their events on in callbacks of the event loop, as a transport does."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from kubeloop.cache.list_watch import as_stream
from kubeloop.wire import RawEvent
from tests.support.model_server import ModelServer

Apply = Callable[[Iterator[RawEvent]], bool]
Split = Callable[[bytes], RawEvent]


class PushedWatch:
    """A watch whose test is the network: `receive` is the callback that brought events.

    It is paused while `apply` has not taken everything, and accepts more meanwhile, as the
    buffers of a socket do.
    """

    def __init__(self) -> None:
        self.is_closed = False
        self.pauses = 0
        self._apply: Apply | None = None
        self._pieces: deque[Iterator[RawEvent]] = deque()
        self._is_paused = False
        self._end: Exception | bool = False  # True: without an error
        self._ended: asyncio.Future[None] | None = None

    # --- the network

    def receive(self, *events: RawEvent) -> None:
        self._pieces.append(iter(events))
        self._pass_on()

    def end(self, error: Exception | None = None) -> None:
        self._end = error or True
        self._pass_on()

    # --- the stream

    async def open(self) -> bool:
        return False

    async def pump(self, apply: Apply, split: Split) -> None:
        loop = asyncio.get_running_loop()
        self._apply, self._ended = apply, loop.create_future()
        loop.call_soon(self._pass_on)
        try:
            await self._ended
        finally:
            self._apply = None
            await self.aclose()

    async def aclose(self) -> None:
        self.is_closed = True

    def _pass_on(self) -> None:
        if self._apply is None or self._is_paused or self._ended is None or self._ended.done():
            return
        try:
            while self._pieces:
                if not self._apply(self._pieces[0]):
                    self._is_paused = True
                    self.pauses += 1
                    asyncio.get_running_loop().call_soon(self._resume)
                    return
                self._pieces.popleft()
        except Exception as error:  # noqa: BLE001 - of `apply`
            self._ended.set_exception(error)
            return
        if isinstance(self._end, Exception):
            self._ended.set_exception(self._end)
        elif self._end:
            self._ended.set_result(None)

    def _resume(self) -> None:
        self._is_paused = False
        self._pass_on()


class PumpedWatch:
    """The events of another watch, each passed on in a callback."""

    def __init__(self, events: AsyncIterator[RawEvent]) -> None:
        self._events = events

    async def open(self) -> bool:
        return False

    async def pump(self, apply: Apply, split: Split) -> None:
        async for event in self._events:
            watch = PushedWatch()
            watch.receive(event)
            watch.end()
            await watch.pump(apply, split)

    async def aclose(self) -> None:
        await as_stream(self._events).aclose()


class PumpingServer(ModelServer):
    """A model server whose watches are pumped."""

    def watch(
        self, *, resource_version: str, bookmarks: bool, timeout_seconds: int, initial_events: bool
    ) -> Any:  # not an iterator, as that of a model server
        return PumpedWatch(
            super().watch(
                resource_version=resource_version,
                bookmarks=bookmarks,
                timeout_seconds=timeout_seconds,
                initial_events=initial_events,
            )
        )
