"""What the cache needs from a client: one collection, listed in pages and watched.

Guarantees: objects arrive as the bytes that the server sent; a list and a watch can be read
while they arrive, item by item or in batches.
See also: `reflector` (lists and watches), `kubeloop.runtime` (makes clients fit).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias, final, runtime_checkable

import msgspec

from kubeloop.wire import Raw, RawEvent, split_event

if TYPE_CHECKING:
    from .watch_list import WatchListSupport

__all__ = [
    "OBJECT_EVENTS",
    "ApplyEvents",
    "ListWatch",
    "MessageFormat",
    "OpenWatch",
    "PageHead",
    "PageStream",
    "RawEvent",
    "RawItem",
    "RawPage",
    "Scope",
    "SplitEvent",
    "WatchStream",
    "as_stream",
]

RawItem: TypeAlias = bytes | Raw

# Takes the events of a watch. False: call it again with the same iterator when the loop has run.
ApplyEvents: TypeAlias = Callable[[Iterator[RawEvent]], bool]
# As `kubeloop.wire.split_event`.
SplitEvent: TypeAlias = Callable[[bytes], RawEvent]

OBJECT_EVENTS = frozenset({"ADDED", "MODIFIED", "DELETED"})


class Scope(msgspec.Struct, frozen=True):
    """Which part of the API a list or a watch is about."""

    resource: str  # `pods`, `deployments.apps`
    namespace: str = ""  # empty: all namespaces
    selector: str = ""
    field_selector: str = ""
    kind: str = ""  # of the objects; empty: any kind is accepted
    api_version: str = ""

    @property
    def is_filtered(self) -> bool:
        """Whether it is less than the whole collection."""
        return bool(self.namespace or self.selector or self.field_selector)

    def __str__(self) -> str:
        namespace = f" in {self.namespace}" if self.namespace else ""
        selectors = ",".join(filter(None, (self.selector, self.field_selector)))
        return f"{self.resource}{namespace}{f' ({selectors})' if selectors else ''}"


class RawPage(msgspec.Struct, frozen=True):
    """A complete page of a list."""

    items: Sequence[RawItem]
    version: str
    next_page: str = ""  # the continue token; empty on the last page
    remaining: int | None = None
    kind: str | None = None  # of the list, if it has one


class PageHead(Protocol):
    """The metadata of a page: `kubeloop.wire.RawList` and `RawPage` fit."""

    @property
    def version(self) -> str: ...
    @property
    def next_page(self) -> str: ...
    @property
    def kind(self) -> str | None: ...


@runtime_checkable
class PageStream(Protocol):
    """A page that is read while it arrives."""

    async def batch(self) -> Sequence[RawItem]:
        """All items that have arrived, waiting for the first; empty at the end."""
        ...

    def rest(self) -> PageHead:
        """The metadata of the page, after its last item."""
        ...

    async def aclose(self) -> None: ...


@final
class MessageFormat:
    """That the objects of a source may come as protobuf: as `message`, such as `core_v1.Pod`.

    The source, the codec and the reflector of an informer share it. Fields that our models do not
    know are in JSON only: when one is found, `report` ends the use of protobuf. `on_json` is called
    once, by any thread, when it ends.
    """

    def __init__(self, message: str, on_json: Callable[[], object] | None = None) -> None:
        self.message = message
        self._on_json = on_json
        self.is_used = True  # by the next request
        # Whether objects are searched for unknown fields when they arrive, which costs more than
        # all the rest: not needed if the server is not newer than our models. An object that is
        # decoded is always searched.
        self.checks_fields = True
        self.on_report: Callable[[Exception], object] | None = None  # called by any thread

    def report(self, error: Exception) -> None:
        """Protobuf cannot represent an object, or the server refuses it. Thread-safe."""
        self.switch_to_json()
        if self.on_report is not None:
            self.on_report(error)

    def switch_to_json(self) -> None:
        """Request JSON from now on. Thread-safe."""
        was_used, self.is_used = self.is_used, False
        if was_used and self._on_json is not None:
            self._on_json()


class WatchStream(Protocol):
    """A watch that passes its events on. It has no `__anext__`: an iterator is read instead."""

    async def open(self) -> bool:
        """Wait until the server has accepted the watch. False: it cannot say when that is."""
        ...

    async def pump(self, apply: ApplyEvents, split: SplitEvent) -> None:
        """Pass all events to `apply`, in order; returns when the watch has ended.

        `apply` is plain code, and is best called in the callback that received the events. If it
        returns False, nothing more is received until it has taken the rest. Raises what it raises,
        and what the watch raises. Safe to cancel: `aclose` follows. A stream of JSON may use
        `split` for the text of an event; it can save work for `apply`.
        """
        ...

    async def aclose(self) -> None:
        """End the watch. Idempotent."""
        ...


class ListWatch(Protocol):
    """Lists and watches one collection, and no more (client-go: `ListerWatcher`).

    Failures are raised as the errors of `kubeloop.errors`: `Expired` and other responses as
    `ApiError`, no response as `TransportError`, half a response as `DecodeError`.
    A class that inherits from it may leave out `watch_list_support` and `messages`.
    """

    @property
    def scope(self) -> Scope: ...

    @property
    def streams_lists(self) -> bool:
        """Whether the initial state may be requested as a watch (WatchList)."""
        ...

    @property
    def watch_list_support(self) -> WatchListSupport | None:
        """What all reflectors of one server know about streaming lists, if they share it."""
        return None

    @property
    def messages(self) -> MessageFormat | None:
        """Set if objects may be protobuf messages, and those of events be in an envelope."""
        return None

    async def list(
        self, *, resource_version: str, resource_version_match: str, limit: int, page: str
    ) -> RawPage | PageStream:
        """One page; a `limit` of 0 requests everything. `page` is the token of a further one.

        `resource_version` is "" for the newest, "0" for any that the server has in its watch cache,
        else at least that one, or exactly that one with the `resource_version_match` "Exact".
        """
        ...

    def watch(
        self, *, resource_version: str, bookmarks: bool, timeout_seconds: int, initial_events: bool
    ) -> AsyncIterator[RawEvent] | WatchStream:
        """Events after `resource_version`; nothing is sent before it is read or opened.

        With `initial_events` the state comes first, not older than `resource_version`, and a
        bookmark at its end (sendInitialEvents, resourceVersionMatch=NotOlderThan).
        An iterator, such as an async generator, is read event by event, and ended by `aclose`, if
        it has one; its other methods are not used. Anything else has to be a `WatchStream`.
        """
        ...


def as_stream(watch: AsyncIterator[RawEvent] | WatchStream) -> WatchStream:
    """The result of `ListWatch.watch` as a stream."""
    return _IteratorStream(watch) if isinstance(watch, AsyncIterator) else watch


@runtime_checkable
class _Closeable(Protocol):
    """An iterator that can be closed, as a generator can."""

    async def aclose(self) -> None: ...


@final
class _IteratorStream:
    """An iterator as a stream: it is read event by event, and closed if it can be."""

    def __init__(self, events: AsyncIterator[RawEvent]) -> None:
        self._events = events

    async def open(self) -> bool:
        return False  # the first `anext` sends the request, and waits for an event

    async def pump(self, apply: ApplyEvents, split: SplitEvent) -> None:
        del split  # its events are split
        async for event in self._events:
            events = iter((event,))
            while not apply(events):  # noqa: ASYNC110 - an event would have to be set for it
                await asyncio.sleep(0)

    async def aclose(self) -> None:
        if isinstance(self._events, _Closeable):
            await self._events.aclose()


@final
class OpenWatch:
    """One watch of a reflector. Closing it twice is harmless."""

    def __init__(
        self, stream: WatchStream, *, since: str, seconds: int, has_state: bool, started: float
    ) -> None:
        self.since = since
        self.seconds = seconds  # the timeout that the server was given
        self.has_state = has_state  # it begins with the initial state
        self.started = started  # when it was opened, or when the initial state was complete
        # Opened at no version, a watch begins with the state in no order (CCH-58).
        self.is_ordered = has_state or since not in {"", "0"}
        self._stream: WatchStream | None = stream

    async def open(self) -> bool:
        """As `WatchStream.open`."""
        return await self._open_stream().open()

    async def pump(self, apply: ApplyEvents, split: SplitEvent = split_event) -> None:
        """As `WatchStream.pump`."""
        await self._open_stream().pump(apply, split)

    def _open_stream(self) -> WatchStream:
        assert self._stream is not None, "the watch is closed"
        return self._stream

    async def aclose(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None:
            await stream.aclose()
