"""Results of reading a collection: a page of objects, a table, a watch event."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, Literal, TypeVar

import msgspec

from kubeloop.errors import DecodeError
from kubeloop.rest import Response

__all__ = [
    "ACCEPT_TABLE",
    "EventType",
    "IncludeObject",
    "ObjectList",
    "Table",
    "TableColumn",
    "TableRow",
    "WatchEvent",
    "read_table",
]

T = TypeVar("T")

EventType = Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]


class ObjectList(msgspec.Struct, Generic[T], frozen=True):
    """Objects of a collection at one `version`; iterate over it.

    `next_page` is the token of the next page, empty after the last one; `remaining` is the number
    of objects on further pages, if the server sends it.
    """

    items: list[T]
    version: str = ""
    next_page: str = ""
    remaining: int | None = None

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: int) -> T:
        return self.items[index]


class WatchEvent(msgspec.Struct, Generic[T], frozen=True):
    """One change of an object; for DELETED `object` is its last state."""

    type: EventType
    object: T


# --- tables: the output of `kubectl get`, with the server's columns

ACCEPT_TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"

IncludeObject = Literal["None", "Metadata", "Object"]


class TableColumn(msgspec.Struct, frozen=True):
    """A column; columns with a priority above 0 are for wide output."""

    name: str = ""
    type: str = ""
    format: str = ""
    description: str = ""
    priority: int = 0


class TableRow(msgspec.Struct, frozen=True):
    """A row: a cell for each column, and its object as requested by `include_object`."""

    cells: list[Any] = []
    conditions: list[dict[str, Any]] = []
    object: dict[str, Any] | None = None


class Table(msgspec.Struct, frozen=True):
    """Columns and rows, of one object or of a page of a collection."""

    columns: tuple[TableColumn, ...]
    rows: tuple[TableRow, ...]
    version: str = ""
    next_page: str = ""
    remaining: int | None = None


class _Meta(msgspec.Struct, rename="camel"):
    resource_version: str | None = None
    continue_: str | None = msgspec.field(default=None, name="continue")
    remaining_item_count: int | None = None


class _Row(msgspec.Struct):
    cells: list[Any] | None = None
    conditions: list[dict[str, Any]] | None = None
    object: dict[str, Any] | None = None


class _Column(msgspec.Struct):
    name: str | None = None
    type: str | None = None
    format: str | None = None
    description: str | None = None
    priority: int | None = None


class _Table(msgspec.Struct, rename="camel"):
    kind: str | None = None
    metadata: _Meta | None = None
    column_definitions: list[_Column] | None = None
    rows: list[_Row] | None = None


def read_table(response: Response) -> Table:
    """The table in a response. Raises: DecodeError when the server sent something else."""
    found = response.decode(_Table)
    if found.kind != "Table":
        raise DecodeError(
            f"{response.request.action}: expected a Table, got kind {found.kind!r}"
            " (the server does not support tables for this resource)"
        )
    metadata = found.metadata or _Meta()
    return Table(
        tuple(
            TableColumn(
                each.name or "",
                each.type or "",
                each.format or "",
                each.description or "",
                each.priority or 0,
            )
            for each in found.column_definitions or ()
        ),
        tuple(
            TableRow(row.cells or [], row.conditions or [], row.object) for row in found.rows or ()
        ),
        metadata.resource_version or "",
        metadata.continue_ or "",
        metadata.remaining_item_count,
    )
