"""Lists a collection as a table or as objects, then watches it across failures of the server.

Guarantees: after the first list it ends only when the caller closes it. An interruption is
reported as `Interrupted` and retried; after each one all rows are listed again, so that no
change is missed.
See also: `live_table` (the rows in memory), `kubeloop.cache` (the same for caches).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import msgspec

from kubeloop.clients import (
    ACCEPT_TABLE,
    IncludeObject,
    ObjectList,
    ResourceClient,
    Selectors,
    Table,
    TableRow,
    WatchOptions,
)
from kubeloop.errors import ApiError, Expired, TransportError
from kubeloop.kit import Backoff
from kubeloop.rest import RequestSender
from kubeloop.wire import decode

from .failures import message

__all__ = ["Changed", "Interrupted", "Listed", "changes_after", "watch_table"]

_RETRY = Backoff(duration=0.5, factor=2.0, jitter=0.2, steps=5, cap=8.0)


class Listed(msgspec.Struct, frozen=True):
    """All rows of the collection."""

    table: Table


class Changed(msgspec.Struct, frozen=True):
    """One row was added, modified or deleted; `type` is the type of the watch event."""

    type: str
    row: TableRow


class Interrupted(msgspec.Struct, frozen=True):
    """A request failed; it will be retried."""

    reason: str


class _Rows(msgspec.Struct):
    rows: list[TableRow] | None = None


async def watch_table(
    rest: RequestSender,
    resource: ResourceClient[dict[str, Any]],
    *,
    selector: str = "",
    field_selector: str = "",
    include_object: IncludeObject = "Metadata",
) -> AsyncGenerator[Listed | Changed | Interrupted, None]:
    """Watch the table of a collection. Close the generator if you leave it early.

    Raises: ApiError, TransportError if the first list fails.
    """
    delays, is_listed = _RETRY.delays(), False
    while True:
        try:
            table = await resource.table(
                selector=selector, field_selector=field_selector, include_object=include_object
            )
            yield Listed(table)
            is_listed = True
            options = WatchOptions.of(
                selector=selector,
                field_selector=field_selector,
                resource_version=table.version,
                bookmarks=False,
            )
            async with aclosing(_changes(rest, resource, options)) as changes:
                async for change in changes:
                    delays.reset()
                    yield change
        except (ApiError, TransportError) as error:
            if not is_listed:
                raise
            yield Interrupted(message(error))
        # A new list instead of resuming: simpler, and a watch rarely ends.
        await rest.clock.sleep(delays.next())


async def changes_after(
    listed: ObjectList[dict[str, Any]],
    resource: ResourceClient[dict[str, Any]],
    selectors: Selectors,
) -> AsyncGenerator[tuple[str, dict[str, Any]], None]:
    """The changes after a list: the type of each event, and the object.

    If the version has expired, the collection is listed again, and what has changed since is
    MODIFIED. Close the generator if you leave it early. Raises: ApiError, TransportError.
    """
    versions = {_uid(obj): _version(obj) for obj in listed}
    while True:
        changes = resource.watch(resource_version=listed.version, **selectors)
        try:
            async with aclosing(changes):
                async for change in changes:
                    versions[_uid(change.object)] = _version(change.object)
                    yield change.type, change.object
        except Expired:
            pass
        listed = await resource.list_all(**selectors)
        for obj in listed:
            if versions.get(_uid(obj)) != _version(obj):
                versions[_uid(obj)] = _version(obj)
                yield "MODIFIED", obj


def _uid(obj: dict[str, Any]) -> str:
    return str(obj["metadata"].get("uid"))


def _version(obj: dict[str, Any]) -> str:
    return str(obj["metadata"].get("resourceVersion"))


async def _changes(
    rest: RequestSender, resource: ResourceClient[dict[str, Any]], options: WatchOptions
) -> AsyncGenerator[Changed, None]:
    """The events of one watch; each carries a table of one row."""
    request = await resource.raw.watch_request(options)
    request = request.with_params({"includeObject": "Metadata"}).replace(accept=ACCEPT_TABLE)
    async with rest.watch(request) as events:
        async for event in events:
            for row in decode(_Rows, event.object).rows or ():
                yield Changed(event.type, row)
