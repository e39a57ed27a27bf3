"""Reading a collection: one object, a page, everything one by one, a table.

Promises: selectors go to the server; memory for a walk over a collection does not depend
on its size; the event loop is not held while a long list is decoded.
Elsewhere: what changes later (`following`), pages (`paging`).
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from typing import Any, TypeVar

import msgspec

from kubeloop.machinery import Cause, DecodeError, NotFound, has_cause
from kubeloop.rest import query_options
from kubeloop.wire import Raw, RawList, ResourceInfo, resource_for

from .actions import ActionVerbs
from .lists import ObjectList
from .options import FieldSelection, LabelSelection, ListOptions, VersionMatch
from .paging import PAGE_SIZE, Pager
from .raw import RawCollection
from .tables import ACCEPT_TABLE, IncludeObject, Table, read_table

__all__ = ["ReadingVerbs", "is_about"]

T = TypeVar("T")

_SLICE = 100  # objects decoded before others may run


class ReadingVerbs(ActionVerbs[T]):
    """get_or_none, exists, list, list_all, each and table."""

    @property
    def raw(self) -> RawCollection:
        """Lists and watches as the bytes that come, for caches."""
        form = self._form
        return RawCollection(self._collection, form.accept_many, watch_accept=form.accept_one)

    async def info(self) -> ResourceInfo:
        """Where the collection is and what it can do. Safe to cancel.

        Raises: NoKindMatch when the server has no such kind.
        """
        return await self._collection.info()

    async def get_or_none(self, name: str, *, version: str = "") -> T | None:
        """The object, or None when there is none of this name. Safe to cancel.

        Raises: NotFound when it is the kind that the server does not have.
        """
        try:
            return await self.get(name, version=version)
        except NotFound as error:
            if is_about(error, name):
                return None
            raise

    async def exists(self, name: str) -> bool:
        """Whether there is an object of this name. Safe to cancel.

        Raises: NotFound when it is the kind that the server does not have.
        """
        try:
            await self._collection.send("get", name=name, accept=_ACCEPT_METADATA)
        except NotFound as error:
            if is_about(error, name):
                return False
            raise
        return True

    async def list(
        self,
        *,
        labels: LabelSelection | None = None,
        fields: FieldSelection | None = None,
        limit: int = 0,
        next_page: str = "",
        version: str = "",
        version_match: VersionMatch | None = None,
        timeout_seconds: int | None = None,
        shard: str = "",
    ) -> ObjectList[T]:
        """One page of the collection; without `limit`, all of it. Safe to cancel.

        Raises: Expired when `version` or `next_page` is too old.
        """
        options = ListOptions.of(
            labels=labels,
            fields=fields,
            limit=limit,
            next_page=next_page,
            version=version,
            version_match=version_match,
            timeout_seconds=timeout_seconds,
            shard=shard,
        )
        return await self._list(options)

    async def list_all(
        self,
        *,
        labels: LabelSelection | None = None,
        fields: FieldSelection | None = None,
        page_size: int = PAGE_SIZE,
        version: str = "",
        version_match: VersionMatch | None = None,
    ) -> ObjectList[T]:
        """The whole collection, fetched in pages. Safe to cancel.

        When the server forgets in the middle, it is fetched anew in one.
        """
        options = ListOptions.of(
            labels=labels, fields=fields, version=version, version_match=version_match
        )
        return (await Pager(self._list, page_size=page_size).list(options))[0]

    async def each(
        self,
        *,
        labels: LabelSelection | None = None,
        fields: FieldSelection | None = None,
        page_size: int = PAGE_SIZE,
    ) -> AsyncGenerator[T, None]:
        """Every object, one by one, fetched in pages and decoded when its turn comes.

        None comes twice. When the server forgets in the middle it goes on from where the
        server says, else from a new list.
        """
        options = ListOptions.of(labels=labels, fields=fields)
        pager = Pager(self._list_raw, page_size=page_size)
        async with aclosing(pager.each(options, key=_key_of)) as items:
            async for item, page in items:
                yield self._form.read_item(item, page)

    async def table(
        self,
        name: str = "",
        *,
        labels: LabelSelection | None = None,
        fields: FieldSelection | None = None,
        limit: int = 0,
        next_page: str = "",
        include_object: IncludeObject = "Metadata",
    ) -> Table:
        """What `kubectl get` shows, of one object or of the collection. Safe to cancel."""
        options = ListOptions.of(labels=labels, fields=fields, limit=limit, next_page=next_page)
        params = options.params() | query_options(include_object=include_object)
        verb = "get" if name else "list"
        return read_table(
            await self._collection.send(verb, name=name, params=params, accept=ACCEPT_TABLE)
        )

    # --- the steps

    async def _list(self, options: ListOptions) -> ObjectList[T]:
        found = await self._list_found(options)
        raw = found.items or []
        items: list[T] = []
        for start in range(0, len(raw), _SLICE):
            if start:
                await asyncio.sleep(0)
            with _without_collecting():
                read = self._form.read_item
                items += [read(item, found) for item in raw[start : start + _SLICE]]
        return _page(found, items)

    async def _list_raw(self, options: ListOptions) -> ObjectList[tuple[Raw, RawList]]:
        found = await self._list_found(options)
        head = msgspec.structs.replace(found, items=[])
        return _page(found, [(item, head) for item in found.items or []])

    async def _list_found(self, options: ListOptions) -> RawList:
        found = await self.raw.list(options)
        wanted = self._form.resource
        if wanted is not None and not _is_list_of(wanted, found):
            # It may have no items, and then nothing else would tell that they are not ours.
            said = " ".join(filter(None, (found.api_version, found.kind)))
            raise DecodeError(
                f"list {self._collection}: found {said}, expected"
                f" {wanted.api_version} {wanted.kind}List"
                " (does something between us and the server answer for it?)"
            )
        return found


_ACCEPT_METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"


class _Identity(msgspec.Struct):
    uid: str | None = None
    name: str | None = None
    namespace: str | None = None


class _Identified(msgspec.Struct):
    metadata: _Identity | None = None


_identities = msgspec.json.Decoder(_Identified)


def _key_of(entry: tuple[Raw, RawList]) -> object:
    """What tells one object from another."""
    try:
        found = _identities.decode(entry[0]).metadata or _Identity()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return bytes(entry[0])  # no object: whoever reads it says so
    return found.uid or (found.namespace, found.name)


def _is_list_of(resource: ResourceInfo, found: RawList) -> bool:
    """Whether a list is what it should be, as far as it says; only a CRD names it freely."""
    built_in = resource_for(resource.group, resource.version, resource.kind) is not None
    same_kind = found.kind == f"{resource.kind}List" if built_in else found.kind != "Table"
    same_version = found.api_version == resource.api_version
    return (same_kind or not found.kind) and (same_version or not found.api_version)


def _page(found: RawList, items: Any) -> ObjectList[Any]:
    remaining = found.metadata.remaining_item_count if found.metadata else None
    return ObjectList(items, found.version, found.next_page, remaining)


def is_about(error: NotFound, name: str) -> bool:
    """Whether it is the object that is missing, and not its resource or the whole API."""
    details = error.status.details
    return (
        details is not None
        and details.name == name
        and not has_cause(error, Cause.UNEXPECTED_SERVER_RESPONSE)
    )


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
