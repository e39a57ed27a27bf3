"""A table that is followed: listed, then kept up to date, whatever becomes of the server.

Promises: once the first list has come it never ends by itself: what breaks is told as `Lost`
and tried again, for as long as the caller listens; after each loss all rows come anew, so
that no change is missed.
Elsewhere: what the rows become (`live`), the same for caches (`kubeloop.cache`).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import msgspec

from kubeloop.clients import ACCEPT_TABLE, ResourceClient, Table, TableRow, WatchOptions
from kubeloop.errors import ApiError, TransportError
from kubeloop.kit import Backoff
from kubeloop.rest import RequestSender
from kubeloop.wire import decode

from .failures import message

__all__ = ["Changed", "Listed", "Lost", "follow"]

_RETRY = Backoff(duration=0.5, factor=2.0, jitter=0.2, steps=5, cap=8.0)


class Listed(msgspec.Struct, frozen=True):
    """All rows that there are now."""

    table: Table


class Changed(msgspec.Struct, frozen=True):
    """One row that came, changed or went; `type` is the watch's word for it."""

    type: str
    row: TableRow


class Lost(msgspec.Struct, frozen=True):
    """The server cannot be asked now; it will be again."""

    reason: str


class _Rows(msgspec.Struct):
    rows: list[TableRow] | None = None


async def follow(
    rest: RequestSender,
    collection: ResourceClient[dict[str, Any]],
    *,
    labels: str = "",
    fields: str = "",
) -> AsyncGenerator[Listed | Changed | Lost, None]:
    """Follow the table of a collection. Close it when you leave early.

    Raises: ApiError, TransportError when there is not even a first list.
    """
    delays, is_known = _RETRY.delays(), False
    while True:
        try:
            table = await collection.table(selector=labels, field_selector=fields)
            yield Listed(table)
            is_known = True
            options = WatchOptions.of(
                selector=labels,
                field_selector=fields,
                resource_version=table.version,
                bookmarks=False,
            )
            async with aclosing(_changes(rest, collection, options)) as changes:
                async for change in changes:
                    delays.reset()
                    yield change
        except (ApiError, TransportError) as error:
            if not is_known:
                raise
            yield Lost(message(error))
        # A watch that ends is begun from a new list: simpler than resuming, and rare.
        await rest.clock.sleep(delays.next())


async def _changes(
    rest: RequestSender, collection: ResourceClient[dict[str, Any]], options: WatchOptions
) -> AsyncGenerator[Changed, None]:
    """One watch, whose events are tables of one row."""
    request = await collection.raw.watch_request(options)
    asked = request.with_params({"includeObject": "Metadata"}).replace(accept=ACCEPT_TABLE)
    async with rest.watch(asked) as events:
        async for event in events:
            for row in decode(_Rows, event.object).rows or ():
                yield Changed(event.type, row)
