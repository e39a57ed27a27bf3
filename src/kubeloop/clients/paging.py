"""A collection in pages: everything at once, or item by item.

Promises: item by item, at most two pages are held, whatever the collection's size; no item
comes twice, and none is left out that was there all the time, even when the server forgets
in the middle where it was.
Elsewhere: a single page (`resource`).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Generic, TypeVar, final

import msgspec

from kubeloop.kit import cancel_and_wait
from kubeloop.machinery import Expired, InvalidValue, PageProgress, status_of_error

from .lists import ObjectList
from .options import ListOptions

__all__ = ["PAGE_SIZE", "Pager"]

T = TypeVar("T")

PAGE_SIZE = 500

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
            raise InvalidValue(f"page size {page_size} is negative (0 is one page for all)")
        self._fetch = fetch
        self._page_size = page_size
        self._full_list = full_list_if_expired

    async def list(self, options: ListOptions) -> tuple[ObjectList[T], bool]:
        """Everything, and whether more than one page was fetched. Safe to cancel.

        The result has the version of the first page.
        Raises: Expired for the first page, or for a further one without the full list;
        DecodeError when the pages have no end.
        """
        page = first = await self._fetch(self._sized(options))
        items = first.items
        progress = _progress()
        while page.next_page:
            progress.check(page.next_page, len(page.items))
            try:
                page = await self._fetch(_further(self._sized(options), page.next_page))
            except Expired:
                if not self._full_list:
                    raise
                return await self._fetch(options.replace(limit=0, next_page="")), True
            items = items + page.items
        if page is first:
            return first, False
        return msgspec.structs.replace(first, items=items, next_page="", remaining=None), True

    async def each(
        self, options: ListOptions, *, key: Callable[[T], object]
    ) -> AsyncGenerator[T, None]:
        """Every item, while the next page is fetched already. Close it when you leave early.

        When the server has forgotten a page it goes on from where it says, else from a full
        list, without the items that came before. `key` is what an item is known by.
        Raises: Expired for the first page, or when the full list is not wanted; DecodeError
        when the pages have no end.
        """
        seen: set[object] = set()
        async with aclosing(self._pages(options)) as pages:
            async for page in pages:
                for item in page:
                    known = key(item)
                    if known not in seen:
                        seen.add(known)
                        yield item

    async def _pages(self, options: ListOptions) -> AsyncGenerator[ObjectList[T], None]:
        page = await self._fetch(self._sized(options))
        progress = _progress()
        while page.next_page:
            progress.check(page.next_page, len(page.items))
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
                return await self._fetch(_further(self._sized(options), token))
            except Expired as error:
                status = status_of_error(error)
                going_on = (status.metadata.continue_ if status is not None else "") or ""
                if not going_on or going_on == token:
                    raise
                return await self._fetch(_further(self._sized(options), going_on))
        except Expired:  # where the server said to go on may be forgotten as well
            if not self._full_list:
                raise
            return await self._fetch(options.replace(limit=0, next_page=""))

    def _sized(self, options: ListOptions) -> ListOptions:
        return options if options.limit else options.replace(limit=self._page_size)


def _progress() -> PageProgress:
    return PageProgress("list in pages")


def _further(options: ListOptions, token: str) -> ListOptions:
    """The options of a further page: the token alone says which version it is of."""
    return options.replace(next_page=token, version="", version_match=None)
