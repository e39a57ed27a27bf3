"""Reads a collection in pages: one page, all pages as one list, or item by item.

Guarantees: item by item, at most two pages are in memory, whatever the size of the collection;
no item is returned twice, and none is missing that existed all the time, even if a page token
expires. Decoding a long page yields to the event loop.
"""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Hashable
from contextlib import aclosing, nullcontext
from typing import Any, Generic, TypeVar, final

import msgspec

from kubeloop.errors import DecodeError, Expired, InvalidArgument, status_of_error
from kubeloop.kit import Yielder, cancel_and_wait
from kubeloop.meta import PageProgress
from kubeloop.wire import Raw, RawList, ResourceInfo, is_list_kind

from .collection import Collection
from .lists import ObjectList
from .object_codecs import ObjectReader
from .options import ListOptions

__all__ = ["PAGE_SIZE", "Pager", "identity_of", "key_of", "read_page", "read_raw_page"]

T = TypeVar("T")

PAGE_SIZE = 500

_SLICE = 25  # objects that are decoded together
_MAX_BLOCK = 0.001  # seconds of decoding before other tasks may run

Fetch = Callable[[ListOptions], Awaitable[ObjectList[T]]]


@final
class Pager(Generic[T]):
    """Reads pages one after the other (client-go: `tools/pager`).

    A page size of 0 reads everything in one page. `full_list_if_expired`: if a page token has
    expired, read the whole list in one request instead of raising.
    """

    def __init__(
        self, fetch: Fetch[T], *, page_size: int = PAGE_SIZE, full_list_if_expired: bool = True
    ) -> None:
        if page_size < 0:
            raise InvalidArgument(
                f"page size {page_size} is negative (0 reads everything in one page)"
            )
        self._fetch = fetch
        self._page_size = page_size
        self._full_list = full_list_if_expired

    async def list(
        self, options: ListOptions, *, key: Callable[[T], Hashable] | None = None
    ) -> tuple[ObjectList[T], bool]:
        """All items, and whether more than one page was read. Safe to cancel.

        The result has the version of the first page. With `key`, which identifies an item,
        repeating pages are detected.
        Raises: Expired for the first page, or for any page without `full_list_if_expired`;
        DecodeError when the pages repeat without end.
        """
        page = first = await self._fetch(self._with_limit(options))
        items = first.items
        progress = _progress()
        while page.next_page:
            progress.check(page.next_page, _first_key(page, key))
            try:
                page = await self._fetch(
                    _next_page_options(self._with_limit(options), page.next_page)
                )
            except Expired:
                if not self._full_list:
                    raise
                return await self._fetch(options.replace(limit=0, next_page="")), True
            items = items + page.items
        if page is first:
            return first, False
        return msgspec.structs.replace(first, items=items, next_page="", remaining=None), True

    async def each(
        self, options: ListOptions, *, key: Callable[[T], Hashable]
    ) -> AsyncGenerator[T, None]:
        """Every item; the next page is read ahead. Close it if you leave early.

        If a page token has expired, it continues with the server's new token, or with a full
        list without the items that were returned before. `key` identifies an item.
        Raises: Expired for the first page, or for any page without `full_list_if_expired`;
        DecodeError when the pages repeat without end.
        """
        seen: set[Hashable] = set()
        async with aclosing(self._pages(options, key)) as pages:
            async for page in pages:
                for item in page:
                    identity = key(item)
                    if identity not in seen:
                        seen.add(identity)
                        yield item

    async def _pages(
        self, options: ListOptions, key: Callable[[T], Hashable]
    ) -> AsyncGenerator[ObjectList[T], None]:
        page = await self._fetch(self._with_limit(options))
        progress = _progress()
        while page.next_page:
            progress.check(page.next_page, _first_key(page, key))
            ahead = asyncio.create_task(self._next(options, page.next_page))
            try:
                yield page
                page = await ahead
            finally:
                if not ahead.done():
                    await cancel_and_wait(ahead)
                elif not ahead.cancelled():
                    ahead.exception()  # retrieved, or asyncio would log it
        yield page

    async def _next(self, options: ListOptions, token: str) -> ObjectList[T]:
        try:
            try:
                return await self._fetch(_next_page_options(self._with_limit(options), token))
            except Expired as error:
                status = status_of_error(error)
                new_token = (status.metadata.continue_ if status is not None else "") or ""
                if not new_token or new_token == token:
                    raise
                return await self._fetch(_next_page_options(self._with_limit(options), new_token))
        except Expired:  # the new token may have expired as well
            if not self._full_list:
                raise
            return await self._fetch(options.replace(limit=0, next_page=""))

    def _with_limit(self, options: ListOptions) -> ListOptions:
        return options if options.limit else options.replace(limit=self._page_size)


def _progress() -> PageProgress:
    return PageProgress("list in pages")


def _first_key(page: ObjectList[T], key: Callable[[T], Hashable] | None) -> Hashable:
    """The identity of a page; None for one without items."""
    if not page.items:
        return None
    # Without a key every page counts as new.
    return object() if key is None else key(page.items[0])


def _next_page_options(options: ListOptions, token: str) -> ListOptions:
    """The options of the next page: the token already has the version."""
    return options.replace(next_page=token, resource_version="", resource_version_match=None)


def _accepts(collection: Collection, codec: ObjectReader[Any]) -> tuple[str, str]:
    """The `Accept` headers for protobuf and for JSON.

    Whether a kind has protobuf is found out only if it is wanted: that imports its library.
    """
    wants_protobuf = collection.formats.preference == "protobuf"
    return codec.protobuf[1] if wants_protobuf else "", codec.accept_many


async def read_page(
    collection: Collection, codec: ObjectReader[T], options: ListOptions
) -> ObjectList[T]:
    """A page of decoded objects. Raises: Expired, DecodeError. Safe to cancel."""
    return await collection.formats.read(
        collection.resource_name,
        _accepts(collection, codec),
        lambda accept: _read_objects(collection, codec, options, accept),
    )


async def _read_objects(
    collection: Collection, codec: ObjectReader[T], options: ListOptions, accept: str
) -> ObjectList[T]:
    found = await _read(collection, codec, options, accept)
    raw = found.items or []
    decode = codec.decode_item
    # Full garbage collections take more time than decoding itself: 10,000 pods in 0.65 s with
    # the collector running, 0.29 s without. It belongs to the process, so the user decides.
    # Paused for the whole page: a slice at a time would still be a fifth of a long list.
    items: list[T] = []
    yielder = Yielder()
    with _gc_pause if collection.options.tune_gc else nullcontext():
        for start in range(0, len(raw), _SLICE):
            if start and yielder.is_due(_MAX_BLOCK):
                await yielder.yield_to_loop()
            items += [decode(item, found) for item in raw[start : start + _SLICE]]
    return _page(found, items)


async def read_raw_page(
    collection: Collection, codec: ObjectReader[T], options: ListOptions
) -> ObjectList[tuple[Raw, RawList]]:
    """A page of bytes, each with its list (without items). Raises: as `read_page`."""
    found = await collection.formats.read(
        collection.resource_name,
        _accepts(collection, codec),
        lambda accept: _read(collection, codec, options, accept),
    )
    head = msgspec.structs.replace(found, items=[])
    return _page(found, [(item, head) for item in found.items or []])


async def _read(
    collection: Collection, codec: ObjectReader[T], options: ListOptions, accept: str
) -> RawList:
    response = await collection.send(
        "list",
        params=options.params(),
        accept=accept,
        timeout=float(options.timeout_seconds or 0),
    )
    found = response.split()
    expected = codec.resource
    if expected is not None and not _is_list_of(expected, found):
        # An empty list of another kind would otherwise look like an empty collection.
        kind = " ".join(filter(None, (found.api_version, found.kind)))
        raise DecodeError(
            f"list {collection}: found {kind}, expected"
            f" {expected.api_version} {expected.kind}List"
            " (does a proxy respond in place of the API server?)"
        )
    return found


class _Identity(msgspec.Struct):
    uid: str | None = None
    name: str | None = None
    namespace: str | None = None


class _Identified(msgspec.Struct):
    metadata: _Identity | None = None


_identities = msgspec.json.Decoder(_Identified)


def identity_of(entry: tuple[Raw, RawList]) -> Hashable:
    """The uid, or namespace and name, of an item."""
    if entry[1].is_protobuf:
        from kubeloop.wire.protobuf_codec import identity_in

        metadata = identity_in(entry[0])
        return metadata.uid or (metadata.namespace, metadata.name)
    try:
        found = _identities.decode(entry[0]).metadata or _Identity()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return bytes(entry[0])  # not an object: decoding it raises the error
    return found.uid or (found.namespace, found.name)


def key_of(obj: object) -> Hashable:
    """Namespace and name of a decoded object."""
    if isinstance(obj, dict):
        metadata = obj.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        return str(metadata.get("namespace")), str(metadata.get("name"))
    metadata = getattr(obj, "metadata", None)
    return str(getattr(metadata, "namespace", "")), str(getattr(metadata, "name", ""))


def _is_list_of(resource: ResourceInfo, found: RawList) -> bool:
    """Whether a list is of the expected kind and version, as far as it has them."""
    if found.kind == f"{resource.kind}List" and found.api_version == resource.api_version:
        return True
    same_kind = is_list_kind(found.kind, kind=resource.kind, api_version=resource.api_version)
    return same_kind and (found.api_version or resource.api_version) == resource.api_version


def _page(found: RawList, items: list[T]) -> ObjectList[T]:
    head = found.metadata
    if head is None:
        return ObjectList(items)
    return ObjectList(
        items, head.resource_version or "", head.continue_ or "", head.remaining_item_count
    )


@final
class _GcPause:
    """Pauses the garbage collector of the process while any block runs, in any thread.

    Then what the blocks have made counts as old. Otherwise the first collection after the pause
    would traverse all of it, which takes a sixth of the time of a long list.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._blocks = 0
        self._was_enabled = False

    def __enter__(self) -> None:
        with self._lock:
            if not self._blocks:
                self._was_enabled = gc.isenabled()
                gc.disable()
            self._blocks += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._blocks -= 1
            if not self._blocks and self._was_enabled:
                if not gc.get_freeze_count():  # what the program has frozen stays so
                    gc.freeze()  # moves all objects, and visits none
                    gc.unfreeze()  # into the oldest generation
                gc.enable()


_gc_pause = _GcPause()
