"""Connects clients to caches: a collection of a client as the list-watch of a reflector.

See also: `kubeloop.cache` (the reflector), `kubeloop.clients` (the collection); neither
imports the other.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import cast, final

from kubeloop.cache import MessageFormat, Scope, WatchListSupport
from kubeloop.clients import ListOptions, RawCollection, VersionMatch, WatchOptions
from kubeloop.rest import ItemStream, RequestSpacing, Watch
from kubeloop.wire import RawEvent

__all__ = ["ClientListWatch", "ProtobufSource"]


@final
class ClientListWatch:
    """One collection of a client, listed and watched as bytes (a `ListWatch`)."""

    streams_lists = True

    def __init__(
        self,
        raw: RawCollection,
        scope: Scope,
        watch_list_support: WatchListSupport | None = None,
        *,
        protobuf: ProtobufSource | None = None,
    ) -> None:
        self._raw = raw
        self.scope = scope
        self._protobuf = protobuf
        self.messages = None if protobuf is None else protobuf.messages
        self.watch_list_support = watch_list_support or WatchListSupport()
        # The reflector counts its calls, and not the redirects of each.
        self._spacing = RequestSpacing()

    def __repr__(self) -> str:
        return f"ClientListWatch({self.scope})"

    async def list(
        self, *, resource_version: str, resource_version_match: str, limit: int, page: str
    ) -> ItemStream:
        """One page, read while it arrives. Safe to cancel."""
        options = ListOptions(
            selector=self.scope.selector,
            field_selector=self.scope.field_selector,
            limit=limit,
            next_page=page,
            resource_version=resource_version,
            resource_version_match=cast("VersionMatch | None", resource_version_match or None),
        )
        spacing = None if page else self._spacing  # a long list has many pages
        if self._protobuf is None or not self._protobuf.messages.is_used:
            return await self._raw.items(options, spacing=spacing)
        await self._protobuf.prepare()
        return await self._protobuf.raw.items(options, spacing=spacing)

    def watch(
        self, *, resource_version: str, bookmarks: bool, timeout_seconds: int, initial_events: bool
    ) -> CollectionWatch:
        """One watch; the request is sent when it is opened."""
        options = WatchOptions(
            selector=self.scope.selector,
            field_selector=self.scope.field_selector,
            resource_version=resource_version,
            bookmarks=bookmarks,
            timeout_seconds=timeout_seconds,
            initial_events=initial_events,
        )
        if self._protobuf is None or not self._protobuf.messages.is_used:
            return CollectionWatch(self._raw, options, self._spacing)
        return CollectionWatch(self._protobuf.raw, options, self._spacing, self._protobuf.prepare)


@final
class ProtobufSource:
    """How a collection is read as protobuf.

    `is_newer` is whether the server may have newer models; without it, all objects are checked.
    `on_json` is called when it turns out that the collection has to be read as JSON.
    """

    def __init__(
        self,
        raw: RawCollection,
        message: str,
        is_newer: Callable[[], Awaitable[bool]] | None,
        on_json: Callable[[], object] | None = None,
    ) -> None:
        self.raw = raw
        self.messages = MessageFormat(message, on_json)
        self._is_newer = is_newer

    async def prepare(self) -> None:
        """Find out whether objects may have fields that our models do not know. Safe to cancel."""
        if self._is_newer is not None:
            self.messages.checks_fields = await self._is_newer()


@final
class CollectionWatch:
    """A `WatchStream`: its request is built when it is opened, which may need discovery.

    A broken connection raises and is not retried here: the reflector counts every failed
    attempt, and has its own backoff.
    """

    def __init__(
        self,
        raw: RawCollection,
        options: WatchOptions,
        spacing: RequestSpacing,
        prepare: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._raw = raw
        self._options = options
        self._spacing = spacing
        self._prepare = prepare
        self._watch: Watch | None = None

    async def open(self) -> bool:
        """Send the request, and wait for the response. Safe to cancel: it is closed."""
        watch = self._watch or await self._create()
        await watch.open()
        if watch.failure is not None:
            raise watch.failure
        return True

    async def pump(
        self, apply: Callable[[Iterator[RawEvent]], bool], split: Callable[[bytes], RawEvent]
    ) -> None:
        """Pass all events to `apply` until the watch ends. Safe to cancel: it is closed."""
        watch = self._watch or await self._create()
        await watch.pump(apply, split)
        if watch.failure is not None:
            raise watch.failure

    async def aclose(self) -> None:
        """Close the watch. Idempotent."""
        if self._watch is not None:
            await self._watch.aclose()

    async def _create(self) -> Watch:
        if self._prepare is not None:
            await self._prepare()
        self._watch = await self._raw.watch(self._options, max_retries=0, spacing=self._spacing)
        return self._watch
