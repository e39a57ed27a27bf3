"""What this room asks of a client: one collection, listed in pages and watched.

Promises: objects cross this wall as the bytes that came; a list may be read while it comes,
and so may a watch, event by event or as many at once as there are.
Elsewhere: who lists and watches (`reflector`), clients that fit (`kubeloop.clients`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Protocol, TypeAlias, runtime_checkable

import msgspec

from kubeloop.wire import Raw, RawEvent

__all__ = ["ListWatch", "PageHead", "PageStream", "RawItem", "RawPage", "Scope", "batches_of"]

RawItem: TypeAlias = bytes | Raw


class Scope(msgspec.Struct, frozen=True):
    """Which part of the API a list or a watch is about."""

    resource: str  # `pods`, `deployments.apps`
    namespace: str = ""  # none means all
    selector: str = ""
    field_selector: str = ""
    kind: str = ""  # of the objects; none means that any kind is taken
    api_version: str = ""

    @property
    def is_filtered(self) -> bool:
        """Whether it is less than the whole collection."""
        return bool(self.namespace or self.selector or self.field_selector)

    def __str__(self) -> str:
        where = f" in {self.namespace}" if self.namespace else ""
        which = ",".join(filter(None, (self.selector, self.field_selector)))
        return f"{self.resource}{where}{f' ({which})' if which else ''}"


class RawPage(msgspec.Struct, frozen=True):
    """A page of a list that has come whole."""

    items: Sequence[RawItem]
    version: str
    next_page: str = ""  # the token of the next one; none after the last
    remaining: int | None = None
    kind: str | None = None  # of the list, where it says so


class PageHead(Protocol):
    """What a page says of itself: `kubeloop.wire.RawList` and `RawPage` fit."""

    @property
    def version(self) -> str: ...
    @property
    def next_page(self) -> str: ...
    @property
    def kind(self) -> str | None: ...


@runtime_checkable
class PageStream(Protocol):
    """A page that is read while it comes."""

    async def batch(self) -> Sequence[RawItem]:
        """All items that are there, waiting for the first; empty at the end."""
        ...

    def rest(self) -> PageHead:
        """What the page says of itself, once all items were read."""
        ...

    async def aclose(self) -> None: ...


class ListWatch(Protocol):
    """Lists and watches one collection, and no more (client-go: `ListerWatcher`).

    What goes wrong is raised as the errors of `kubeloop.errors`: `Expired`, other answers
    as `ApiError`, no answer as `TransportError`, half an answer as `DecodeError`.
    A source may have an attribute `watch_list_support`, a `WatchListSupport` that the sources
    of one server share: what one reflector learns about streams, the others know.
    """

    @property
    def scope(self) -> Scope: ...

    @property
    def streams_lists(self) -> bool:
        """Whether the initial state may be asked for as a watch (WatchList)."""
        ...

    async def list(
        self, *, resource_version: str, resource_version_match: str, limit: int, page: str
    ) -> RawPage | PageStream:
        """One page; a `limit` of 0 asks for all. `page` is the token of a further one.

        `resource_version` is "" for the newest, "0" for any version that the server has cached,
        else a minimum; with the `resource_version_match` "Exact" it is that version.
        """
        ...

    def watch(
        self, *, resource_version: str, bookmarks: bool, timeout_seconds: int, initial_events: bool
    ) -> AsyncIterator[RawEvent]:
        """Events after `resource_version`. The first `anext` sends it, `aclose`, if any, ends it.

        With `initial_events` first the state itself, not older than `resource_version`, and a
        bookmark where it ends (sendInitialEvents, resourceVersionMatch=NotOlderThan).
        An iterator that also has `batch()`, as `PageStream` does, is read in batches; one with
        `open()`, which waits until the server has accepted the watch, is known to be open then.
        """
        ...


def batches_of(
    events: AsyncIterator[RawEvent],
) -> Callable[[], Awaitable[Sequence[RawEvent]]]:
    """What gives the next events of a watch; none at its end."""
    batch: Callable[[], Awaitable[Sequence[RawEvent]]] | None = getattr(events, "batch", None)
    if batch is not None:
        return batch

    async def one() -> Sequence[RawEvent]:
        try:
            return (await anext(events),)
        except StopAsyncIteration:
            return ()

    return one
