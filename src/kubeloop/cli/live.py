"""The rows of a followed table, and what has just happened to them.

Promises: pure; rows keep the order in which they came; what a new list says and what was
known before are told apart row by row, so a list that changes nothing tells nothing.
Elsewhere: where the rows come from (`following`), how they are drawn (`screen`).
"""

from __future__ import annotations

from datetime import datetime
from typing import final

import msgspec

from kubeloop.clients import Table, TableColumn, TableRow
from kubeloop.wire import visible

from .ages import since_text
from .tables import cells_of, header_of, metadata_of

__all__ = ["LiveRow", "LiveTable", "Shape"]

_NEWS = 3.0  # seconds for which a change is shown as one


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """Which columns are shown, and what stands before the names."""

    wide: bool = False
    namespaces: bool = False
    prefix: str = ""


class LiveRow(msgspec.Struct, frozen=True):
    """A row, the last that happened to it (empty: nothing lately), and when."""

    cells: tuple[str, ...]
    event: str
    at: float
    created: str = ""
    version: str = ""


@final
class LiveTable:
    """One kind; `now` is any clock's time in seconds, the same in every call."""

    def __init__(self, title: str, shape: Shape) -> None:
        self.title = visible(title)
        self._shape = shape
        self._columns: tuple[TableColumn, ...] = ()
        self._rows: dict[str, LiveRow] = {}

    @property
    def header(self) -> tuple[str, ...]:
        """The names of the columns; empty before the first list."""
        shape = self._shape
        return header_of(self._columns, wide=shape.wide, namespaces=shape.namespaces)

    def take_list(self, table: Table, now: float) -> list[LiveRow]:
        """Take over a new list, and say what changed by it."""
        is_first, self._columns = not self._columns, table.columns or self._columns
        listed = {_key(row): row for row in table.rows}
        gone = [
            self._note(key, msgspec.structs.replace(row, event="DELETED", at=now))
            for key, row in self._rows.items()
            if key not in listed and row.event != "DELETED"
        ]
        came = [
            self._note(key, self._row(row, "ADDED" if key not in self._rows else "MODIFIED", now))
            for key, row in listed.items()
            if self._is_news(key, row)
        ]
        if is_first:  # what was there already has not just come
            self._rows = {
                key: msgspec.structs.replace(row, at=now - _NEWS) for key, row in self._rows.items()
            }
        return gone + came

    def take_change(self, event: str, row: TableRow, now: float) -> LiveRow:
        """Take over one event of the watch."""
        return self._note(_key(row), self._row(row, event, now))

    def rows(self, now: float, moment: datetime) -> list[LiveRow]:
        """The rows to show: ages as of `moment`, and no event that is no news any more."""
        self._rows = {
            key: row
            for key, row in self._rows.items()
            if row.event != "DELETED" or now - row.at < _NEWS
        }
        return [self._aged(row, now, moment) for row in self._rows.values()]

    def _note(self, key: str, row: LiveRow) -> LiveRow:
        self._rows[key] = row
        return row

    def _is_news(self, key: str, row: TableRow) -> bool:
        known = self._rows.get(key)
        return known is None or known.version != metadata_of(row).get("resourceVersion")

    def _row(self, row: TableRow, event: str, now: float) -> LiveRow:
        shape, metadata = self._shape, metadata_of(row)
        cells = cells_of(
            row,
            self._columns,
            wide=shape.wide,
            namespaces=shape.namespaces,
            prefix=shape.prefix,
        )
        return LiveRow(
            cells,
            visible(event),
            now,
            metadata.get("creationTimestamp") or "",
            metadata.get("resourceVersion") or "",
        )

    def _aged(self, row: LiveRow, now: float, moment: datetime) -> LiveRow:
        age = since_text(row.created, moment)
        cells = tuple(
            age if name == "AGE" and age else cell
            for name, cell in zip(self.header, row.cells, strict=True)
        )
        event = row.event if now - row.at < _NEWS else ""
        return msgspec.structs.replace(row, cells=cells, event=event)


def _key(row: TableRow) -> str:
    """What tells one object from another; not every server sends a uid."""
    metadata = metadata_of(row)
    return str(metadata.get("uid") or f"{metadata.get('namespace')}/{metadata.get('name')}")
