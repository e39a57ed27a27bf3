"""A collection in pages: one page decoded, everything at once, or item by item.

Guarantees: item by item, at most two pages are held, whatever the collection's size; no item
comes twice, and none is left out that was there all the time, even when a page's token
expires on the way. Decoding a long page lets other tasks run.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncGenerator, Awaitable, Callable, Hashable, Iterator
from contextlib import aclosing, contextmanager
from typing import Generic, TypeVar, final

import msgspec

from kubeloop.errors import DecodeError, Expired, InvalidArgument, status_of_error
from kubeloop.kit import Yielder, cancel_and_wait
from kubeloop.meta import PageProgress
from kubeloop.wire import Raw, RawList, ResourceInfo, is_list_kind

from .collection import Collection, RawCollection
from .forms import ObjectCodec
from .lists import ObjectList
from .options import ListOptions

__all__ = ["PAGE_SIZE", "PageReader", "Pager", "identity_of", "key_of"]

T = TypeVar("T")

PAGE_SIZE = 500

_SLICE = 25  # objects that are decoded together
_MAX_BLOCK = 0.001  # seconds of decoding before other tasks may run

Fetch = Callable[[ListOptions], Awaitable[ObjectList[T]]]


@final
class Pager(Generic[T]):
    """Fetches pages one after the other (client-go: `tools/pager`).

    A page size of 0 asks for everything in one. `full_list_if_expired` is what happens
    when the token of a further page is too old: one list without pages, or the error.
    """

    def __init__(
        self, fetch: Fetch[T], *, page_size: int = PAGE_SIZE, full_list_if_expired: bool = True
    ) -> None:
        if page_size < 0:
            raise InvalidArgument(f"page size {page_size} is negative (0 is one page for all)")
        self._fetch = fetch
        self._page_size = page_size
        self._full_list = full_list_if_expired

    async def list(
        self, options: ListOptions, *, key: Callable[[T], Hashable] | None = None
    ) -> tuple[ObjectList[T], bool]:
        """Everything, and whether more than one page was fetched. Safe to cancel.

        The result has the version of the first page. With `key`, which is what an item is
        known by, pages that repeat are noticed as pages without end.
        Raises: Expired for the first page, or for a further one without the full list;
        DecodeError when the pages have no end.
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
        """Every item, while the next page is fetched already. Close it when you leave early.

        When the server has forgotten a page it goes on from where it says, else from a full
        list, without the items that came before. `key` is what an item is known by.
        Raises: Expired for the first page, or when the full list is not wanted; DecodeError
        when the pages have no end.
        """
        seen: set[Hashable] = set()
        async with aclosing(self._pages(options, key)) as pages:
            async for page in pages:
                for item in page:
                    known = key(item)
                    if known not in seen:
                        seen.add(known)
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
                    ahead.exception()  # looked at: whoever left early does not want it
        yield page

    async def _next(self, options: ListOptions, token: str) -> ObjectList[T]:
        try:
            try:
                return await self._fetch(_next_page_options(self._with_limit(options), token))
            except Expired as error:
                status = status_of_error(error)
                going_on = (status.metadata.continue_ if status is not None else "") or ""
                if not going_on or going_on == token:
                    raise
                return await self._fetch(_next_page_options(self._with_limit(options), going_on))
        except Expired:  # where the server said to go on may be forgotten as well
            if not self._full_list:
                raise
            return await self._fetch(options.replace(limit=0, next_page=""))

    def _with_limit(self, options: ListOptions) -> ListOptions:
        return options if options.limit else options.replace(limit=self._page_size)


def _progress() -> PageProgress:
    return PageProgress("list in pages")


def _first_key(page: ObjectList[T], key: Callable[[T], Hashable] | None) -> Hashable:
    """What tells this page from others; None for one without items."""
    if not page.items:
        return None
    # Without a key nothing says that two items are one: every page counts as new.
    return object() if key is None else key(page.items[0])


def _next_page_options(options: ListOptions, token: str) -> ListOptions:
    """The options of a further page: the token alone says which version it is of."""
    return options.replace(next_page=token, resource_version="", resource_version_match=None)


@final
class PageReader(Generic[T]):
    """Fetches one page of a collection, decoded or as bytes."""

    def __init__(self, collection: Collection, form: ObjectCodec[T]) -> None:
        self._collection = collection
        self._codec = form

    async def objects(self, options: ListOptions) -> ObjectList[T]:
        """A page of decoded objects. Raises: Expired, DecodeError. Safe to cancel."""
        found = await self._fetch(options)
        raw = found.items or []
        read = self._codec.decode_item
        items: list[T] = []
        yielder = Yielder()
        for start in range(0, len(raw), _SLICE):
            if yielder.is_due(_MAX_BLOCK):
                await yielder.yield_to_loop()
            with _without_collecting():
                items += [read(item, found) for item in raw[start : start + _SLICE]]
        return _page(found, items)

    async def raw(self, options: ListOptions) -> ObjectList[tuple[Raw, RawList]]:
        """A page of bytes, each with what its list says of all. Raises: as `objects`."""
        found = await self._fetch(options)
        head = msgspec.structs.replace(found, items=[])
        return _page(found, [(item, head) for item in found.items or []])

    async def _fetch(self, options: ListOptions) -> RawList:
        found = await RawCollection(self._collection, self._codec.accept_many).list(options)
        expected = self._codec.resource
        if expected is not None and not _is_list_of(expected, found):
            # It may have no items, and then nothing else would show that it is another list.
            kind = " ".join(filter(None, (found.api_version, found.kind)))
            raise DecodeError(
                f"list {self._collection}: found {kind}, expected"
                f" {expected.api_version} {expected.kind}List"
                " (does something between us and the server answer for it?)"
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
    """What tells one object of a page from another."""
    try:
        found = _identities.decode(entry[0]).metadata or _Identity()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return bytes(entry[0])  # not an object: decoding it raises the error
    return found.uid or (found.namespace, found.name)


def key_of(obj: object) -> Hashable:
    """Namespace and name of an object that has been read."""
    if isinstance(obj, dict):
        metadata = obj.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        return str(metadata.get("namespace")), str(metadata.get("name"))
    metadata = getattr(obj, "metadata", None)
    return str(getattr(metadata, "namespace", "")), str(getattr(metadata, "name", ""))


def _is_list_of(resource: ResourceInfo, found: RawList) -> bool:
    """Whether a list is of the expected kind and version, as far as it has them."""
    same_kind = is_list_kind(found.kind, kind=resource.kind, api_version=resource.api_version)
    return same_kind and (found.api_version or resource.api_version) == resource.api_version


def _page(found: RawList, items: list[T]) -> ObjectList[T]:
    remaining = found.metadata.remaining_item_count if found.metadata else None
    return ObjectList(items, found.version, found.next_page, remaining)


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Keep the garbage collector from walking a thousand new objects again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
