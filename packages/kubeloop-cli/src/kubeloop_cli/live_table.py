"""The rows of a watched table, with their latest event.

Guarantees: no I/O; rows stay in the order in which they were added; a new list is compared
with the old one row by row, so that only differences are reported.
See also: `table_watch` (where rows come from), `screen` (how they are drawn).
"""

from __future__ import annotations

from datetime import datetime
from typing import final

import msgspec

from kubeloop.clients import Table, TableColumn, TableRow
from kubeloop.wire import InvalidArgument, parse_time, visible

from .tables import TableLayout, cells_of, header_of, metadata_of

__all__ = ["LiveRow", "LiveTable", "age_text"]

_HIGHLIGHT = 3.0  # seconds for which a change is highlighted


class LiveRow(msgspec.Struct, frozen=True):
    """A row, its latest event (empty after a few seconds), and the time of the event."""

    cells: tuple[str, ...]
    event: str
    at: float
    created: str = ""
    version: str = ""


@final
class LiveTable:
    """The rows of one resource; `now` is in seconds, of the same clock in every call."""

    def __init__(self, title: str, layout: TableLayout) -> None:
        self.title = visible(title)
        self._layout = layout
        self._columns: tuple[TableColumn, ...] = ()
        self._rows: dict[str, LiveRow] = {}

    @property
    def header(self) -> tuple[str, ...]:
        """The names of the columns; empty before the first list."""
        return header_of(self._columns, self._layout)

    def replace_rows(self, table: Table, now: float) -> list[LiveRow]:
        """Replace all rows with those of a new list; returns the rows that changed."""
        is_first, self._columns = not self._columns, table.columns or self._columns
        listed = {_key(row): row for row in table.rows}
        deleted = [
            self._set_row(key, msgspec.structs.replace(row, event="DELETED", at=now))
            for key, row in self._rows.items()
            if key not in listed and row.event != "DELETED"
        ]
        changed = [
            self._set_row(
                key, self._row(row, "ADDED" if key not in self._rows else "MODIFIED", now)
            )
            for key, row in listed.items()
            if self._is_changed(key, row)
        ]
        if is_first:  # rows of the first list are not highlighted
            self._rows = {
                key: msgspec.structs.replace(row, at=now - _HIGHLIGHT)
                for key, row in self._rows.items()
            }
        return deleted + changed

    def apply_event(self, event: str, row: TableRow, now: float) -> LiveRow:
        """Apply one event of the watch; returns the row."""
        return self._set_row(_key(row), self._row(row, event, now))

    def rows(self, now: float, moment: datetime) -> list[LiveRow]:
        """The rows to show, with ages as of `moment`; drops rows deleted some seconds ago."""
        self._rows = {
            key: row
            for key, row in self._rows.items()
            if row.event != "DELETED" or now - row.at < _HIGHLIGHT
        }
        return [self._with_age(row, now, moment) for row in self._rows.values()]

    def _set_row(self, key: str, row: LiveRow) -> LiveRow:
        self._rows[key] = row
        return row

    def _is_changed(self, key: str, row: TableRow) -> bool:
        known = self._rows.get(key)
        return known is None or known.version != metadata_of(row).get("resourceVersion")

    def _row(self, row: TableRow, event: str, now: float) -> LiveRow:
        metadata = metadata_of(row)
        return LiveRow(
            cells_of(row, self._columns, self._layout),
            visible(event),
            now,
            metadata.get("creationTimestamp") or "",
            metadata.get("resourceVersion") or "",
        )

    def _with_age(self, row: LiveRow, now: float, moment: datetime) -> LiveRow:
        age = _age_at(row.created, moment)
        cells = tuple(
            age if name == "AGE" and age else cell
            for name, cell in zip(self.header, row.cells, strict=True)
        )
        event = row.event if now - row.at < _HIGHLIGHT else ""
        return msgspec.structs.replace(row, cells=cells, event=event)


def _key(row: TableRow) -> str:
    """Identifies an object; not every server sends a uid."""
    metadata = metadata_of(row)
    return str(metadata.get("uid") or f"{metadata.get('namespace')}/{metadata.get('name')}")


# --- ages

_MINUTE, _HOUR, _DAY, _YEAR = 60, 3600, 86_400, 31_536_000

# The rules of kubectl: below so many seconds, a unit, and a smaller unit for the rest (0: none).
_STEPS = (
    (2 * _MINUTE, 1, "s", 0, ""),
    (10 * _MINUTE, _MINUTE, "m", 1, "s"),
    (3 * _HOUR, _MINUTE, "m", 0, ""),
    (8 * _HOUR, _HOUR, "h", _MINUTE, "m"),
    (2 * _DAY, _HOUR, "h", 0, ""),
    (8 * _DAY, _DAY, "d", _HOUR, "h"),
    (2 * _YEAR, _DAY, "d", 0, ""),
    (8 * _YEAR, _YEAR, "y", _DAY, "d"),
    (float("inf"), _YEAR, "y", 0, ""),
)


def age_text(seconds: float) -> str:
    """`45s`, `3m20s`, `5h`, `3d4h`, `2y40d`; `0s` for a negative age."""
    whole = max(0, int(seconds))
    _, unit, letter, part, small = next(step for step in _STEPS if whole < step[0])
    rest = whole % unit // part if part else 0
    return f"{whole // unit}{letter}{f'{rest}{small}' if rest else ''}"


def _age_at(created: str, now: datetime) -> str:
    """The age for a timestamp of the API; empty if that is invalid."""
    try:
        return age_text((now - parse_time(created)).total_seconds())
    except InvalidArgument:
        return ""
