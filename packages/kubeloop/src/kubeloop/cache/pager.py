"""Lists a collection, page by page, as entries.

Guarantees: a list is complete and of one version, or an error; no page is held after it was
decoded; the event loop is not blocked. An object that cannot be decoded is logged and left
out, unless an older state of it is cached: then that one stays.
See also: `reflector_state` (when to list, and at which version).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, final

import msgspec

from kubeloop.errors import DecodeError
from kubeloop.kit import Clock, Yielder
from kubeloop.meta import ObjectKey, PageProgress
from kubeloop.wire import RawEvent, UnknownFields, get_logger, is_list_kind

from .entry import Entry
from .entry_decoder import EntryDecoder
from .errors import UnexpectedFormat
from .list_watch import ListWatch, PageHead, RawItem, RawPage
from .metrics import Meter
from .reflector_errors import UnreadableEvent, is_expired

__all__ = ["ListPager", "ListResult"]

log = get_logger(__name__)

PAGE_SIZE = 500
LONG = 10.0  # seconds; a list that takes longer is logged


class ListResult(msgspec.Struct, frozen=True):
    """A collection as it was at a version."""

    entries: list[Entry]
    version: str
    in_pages: bool = False


@final
class ListPager:
    """Lists for one reflector (client-go: `pager.ListPager`).

    `known` is the cached entry of an object, if there is one.
    """

    def __init__(
        self,
        source: ListWatch,
        decoder: EntryDecoder[Any],
        *,
        known: Callable[[ObjectKey], Entry | None] | None,
        page_size: int,
        clock: Clock,
        meter: Meter,
    ) -> None:
        self._source = source
        self._decoder = decoder
        self._known = known
        self._page_size = page_size
        self._clock = clock
        self._meter = meter
        # The first list came in pages, although any version would have done: this server does
        # not list from its watch cache, so later lists are limited as well.
        self._comes_in_pages = False
        self._limit = PAGE_SIZE
        self._first_key: Hashable = None  # of the current page, even if the item is left out
        self.lists = 0
        self.unreadable: set[ObjectKey] = set()  # objects that the last list could not decode

    async def list_all(self, version: str, *, is_retry: bool = False) -> ListResult:
        """The collection, not older than `version`; a retry keeps the limit of the page size."""
        if not is_retry:
            self._limit = self._limit_for(version)
        started = self._clock.now()
        self.unreadable.clear()
        result = await self._list_pages(version)
        if version == "0" and result.in_pages and not is_retry:
            self._comes_in_pages = True
        count, seconds = len(result.entries), self._clock.now() - started
        self._meter.observe_list(seconds, count)
        if seconds > LONG:
            log.info("%s: listing %d objects took %.1f s", self._source.scope, count, seconds)
        return result

    async def list_exactly(self, version: str) -> ListResult:
        """The collection at `version`, in one page."""
        entries: list[Entry] = []
        head = await self._read_page(entries, version=version, version_match="Exact", limit=0)
        return ListResult(entries, head.version)

    async def newest_version(self) -> str:
        """The version that the server is at."""
        return (await self._read_page([], limit=1)).version

    def keep_known(self, raw: RawItem, error: DecodeError) -> Entry | None:
        """The cached entry of an object that cannot be decoded; None: it is left out."""
        key = self._decoder.read_key(raw)
        known = self._known(key) if self._known is not None and key is not None else None
        result = "its last readable state stays" if known else "left out of the cache"
        log.error("%s: %s: %s: %s", self._source.scope, key or "an object", result, error)
        if key is not None:
            self.unreadable.add(key)
        return known

    def check_listed(self, event: RawEvent, error: DecodeError) -> None:
        """Accept an unreadable event of an object that the last list could not decode either.

        Another list would not help. It does help after a delete: the object is not in it.
        Raises `UnreadableEvent` otherwise.
        """
        key = self._decoder.read_key(event.object)
        if event.type == "DELETED" or key not in self.unreadable:
            raise UnreadableEvent(
                f"watch {self._source.scope}: {event.type} of {key or 'an object'}: {error}"
            ) from error

    def _limit_for(self, version: str) -> int:
        """Without a limit, the server can list from its watch cache at a version (client-go)."""
        if self._page_size:
            return self._page_size
        if self._comes_in_pages or version in {"", "0"}:
            return PAGE_SIZE
        return 0

    async def _list_pages(self, version: str) -> ListResult:
        entries: list[Entry] = []
        head = first = await self._read_page(entries, version=version, limit=self._limit)
        progress = PageProgress(f"list {self._source.scope}")
        while head.next_page:
            progress.check(head.next_page, self._first_key)
            try:
                head = await self._read_page(entries, limit=self._limit, page=head.next_page)
            except Exception as error:
                if not is_expired(error):
                    raise
                # The pages belong to a version that is gone: read everything in one response.
                entries.clear()
                first = await self._read_page(entries, version=version, limit=0)
                return ListResult(entries, first.version, in_pages=True)
        return ListResult(entries, first.version, in_pages=head is not first)

    async def _read_page(
        self,
        entries: list[Entry],
        *,
        limit: int,
        version: str = "",
        version_match: str = "",
        page: str = "",
    ) -> PageHead:
        self.lists += 1
        self._first_key = None
        found = await self._source.list(
            resource_version=version, resource_version_match=version_match, limit=limit, page=page
        )
        yielder = Yielder()
        if isinstance(found, RawPage):
            await self._decode_items(found.items, entries, yielder)
            self._check_kind(found)
            return found
        try:
            while batch := await found.batch():
                await self._decode_items(batch, entries, yielder)
            head = found.rest()
            self._check_kind(head)
            return head
        finally:
            await found.aclose()

    def _check_kind(self, head: PageHead) -> None:
        """Check the kind of a list: without items, nothing else shows that it is the wrong one."""
        scope = self._source.scope
        if is_list_kind(head.kind, kind=scope.kind, api_version=scope.api_version):
            return
        if head.kind == "Table":
            raise DecodeError(f"list {scope}: found a Table (request objects, not columns)")
        raise DecodeError(
            f"list {scope}: found a {(head.kind or '')[:100]}, expected a {scope.kind}List"
            " (does a proxy respond in place of the server?)"
        )

    async def _decode_items(
        self, items: Iterable[RawItem], entries: list[Entry], yielder: Yielder
    ) -> None:
        for raw in items:
            if self._first_key is None:
                self._first_key = self._decoder.read_key(raw) or bytes(raw)
            try:
                entry = self._decoder.decode(raw)
                # A list must be complete: TransformFailed is raised.
                entry = entry and self._decoder.transform(entry)
            except (UnknownFields, UnexpectedFormat):
                raise  # JSON has them: the list is read again
            except DecodeError as error:
                entry = self.keep_known(raw, error)
            if entry is not None:
                entries.append(entry)
            if yielder.is_due():
                await yielder.yield_to_loop()
