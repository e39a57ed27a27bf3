"""Lists a collection, page by page, into entries.

Promises: a state is whole and of one version, or an error; each page is let go as it is
taken; the event loop goes on meanwhile. An object that cannot be read is left out with a
line in the log, unless an older state of it is known: that one stays.
Elsewhere: when to list, and from which version (`reflector`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, final

import msgspec

from kubeloop.errors import DecodeError
from kubeloop.kit import Clock, Yielder
from kubeloop.meta import ObjectKey, PageProgress
from kubeloop.wire import get_logger

from .entry import Entry
from .intake import EntryDecoder
from .list_watch import ListWatch, PageHead, RawItem, RawPage
from .metrics import Meter
from .verdicts import is_expired

__all__ = ["PAGE_SIZE", "Fetching", "State"]

log = get_logger(__name__)

PAGE_SIZE = 500
LONG = 10.0  # seconds; a list that takes longer is worth a line in the log


class State(msgspec.Struct, frozen=True):
    """A collection as it was at a version."""

    entries: list[Entry]
    version: str
    in_pages: bool = False


@final
class Fetching:
    """Lists for a reflector; remembers what lists are like here."""

    def __init__(
        self,
        source: ListWatch,
        intake: EntryDecoder[Any],
        *,
        known: Callable[[ObjectKey], Entry | None] | None,
        page_size: int,
        clock: Clock,
        meter: Meter,
    ) -> None:
        self._source = source
        self._intake = intake
        self._known = known
        self._page_size = page_size
        self._clock = clock
        self._meter = meter
        self._comes_in_pages = False  # the first list did, although any version would have done
        self._limit = PAGE_SIZE
        self._first: Hashable = None  # the key of the page's first item, even if left out
        self.lists = 0
        self.unreadable: set[ObjectKey] = set()  # what the last list could not tell us either

    async def fetch(self, version: str) -> State:
        """The state, not older than `version`."""
        self._limit = self._limit_for(version)
        state = await self._whole(version)
        if version == "0" and state.in_pages:
            self._comes_in_pages = True
        return state

    async def fetch_again(self, version: str) -> State:
        """The same from another version, in pages as before."""
        return await self._whole(version)

    async def fetch_exactly(self, version: str) -> State:
        """The state at `version`, in one page."""
        entries: list[Entry] = []
        head = await self._page(entries, version=version, version_match="Exact", limit=0)
        return State(entries, head.version)

    async def newest_version(self) -> str:
        """The version that the server is at."""
        return (await self._page([], limit=1)).version

    def _limit_for(self, version: str) -> int:
        """Without a limit a server can answer from its memory, unless it wants pages anyway."""
        if self._page_size:
            return self._page_size
        if self._comes_in_pages or version in {"", "0"}:
            return PAGE_SIZE
        return 0

    async def _whole(self, version: str) -> State:
        began = self._clock.now()
        self.unreadable.clear()
        state = await self._all_pages(version)
        took = self._clock.now() - began
        self._meter.observe_list(took, len(state.entries))
        if took > LONG:
            count = len(state.entries)
            log.info("%s: a list of %d took %.1f s", self._source.scope, count, took)
        return state

    async def _all_pages(self, version: str) -> State:
        entries: list[Entry] = []
        head = first = await self._page(entries, version=version, limit=self._limit)
        progress = PageProgress(f"list {self._source.scope}")
        while head.next_page:
            progress.check(head.next_page, self._first)
            try:
                head = await self._page(entries, limit=self._limit, page=head.next_page)
            except Exception as error:
                if not is_expired(error):
                    raise
                entries.clear()  # the pages belong to a version that is gone: all at once, then
                first = await self._page(entries, version=version, limit=0)
                return State(entries, first.version, in_pages=True)
        return State(entries, first.version, in_pages=head is not first)

    async def _page(
        self,
        entries: list[Entry],
        *,
        limit: int,
        version: str = "",
        version_match: str = "",
        page: str = "",
    ) -> PageHead:
        self.lists += 1
        self._first = None
        found = await self._source.list(
            resource_version=version, resource_version_match=version_match, limit=limit, page=page
        )
        yielder = Yielder()
        if isinstance(found, RawPage):
            await self._take(found.items, entries, yielder)
            return self._checked(found)
        try:
            while batch := await found.batch():
                await self._take(batch, entries, yielder)
            return self._checked(found.rest())
        finally:
            await found.aclose()

    def _checked(self, head: PageHead) -> PageHead:
        if head.kind == "Table":
            raise DecodeError(
                f"list {self._source.scope}: found a Table (ask for objects, not for columns)"
            )
        expected = self._list_kind()
        if expected and head.kind and head.kind != expected:
            # It may have no items, and then nothing else would tell that they are not ours.
            raise DecodeError(
                f"list {self._source.scope}: found a {head.kind[:100]} in place of a {expected}"
                " (does something between us and the server answer for it?)"
            )
        return head

    def _list_kind(self) -> str:
        """What a list must say it is; empty where it may be anything.

        Only a CRD can name its list otherwise, and its group always has a dot.
        """
        scope = self._source.scope
        is_custom = not scope.api_version or "." in scope.api_version
        return "" if is_custom or not scope.kind else f"{scope.kind}List"

    async def _take(self, items: Iterable[RawItem], entries: list[Entry], yielder: Yielder) -> None:
        for raw in items:
            if self._first is None:
                self._first = self._intake.key_of(raw) or bytes(raw)
            entry = self._entry(raw)
            if entry is not None:
                entries.append(entry)
            if yielder.is_due():
                await yielder.yield_to_loop()

    def _entry(self, raw: RawItem) -> Entry | None:
        """Raises `TransformFailed`: a list of which a part is missing is none."""
        try:
            entry = self._intake.take(raw)
        except DecodeError as error:
            return self.instead_of(raw, error)
        return entry and self._intake.transformed(entry)

    def instead_of(self, raw: RawItem, error: DecodeError) -> Entry | None:
        """What to hold of an object that cannot be read: the last state of it that could be."""
        key = self._intake.key_of(raw)
        held = self._known(key) if self._known is not None and key is not None else None
        what = "its last readable state stays" if held else "left out of the cache"
        log.error("%s: %s: %s: %s", self._source.scope, key or "an object", what, error)
        if key is not None:
            self.unreadable.add(key)
        return held
