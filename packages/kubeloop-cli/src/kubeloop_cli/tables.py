"""Tables of the server as lines of text, formatted as kubectl does.

Guarantees: no I/O; the columns, texts and widths of kubectl; text in an object cannot move
the cursor or break a line.
See also: `kubeloop.clients` (reads tables), `terminal` (colors).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from kubeloop.clients import Table, TableColumn, TableRow
from kubeloop.wire import visible

__all__ = [
    "TableLayout",
    "TextTable",
    "cells_of",
    "header_of",
    "lines_of",
    "metadata_of",
    "text_table",
    "widths_of",
]

_PADDING = 3
_NARROWEST = 6  # a column with its padding


class TableLayout(msgspec.Struct, frozen=True, kw_only=True):
    """Which columns are shown; `prefix` precedes each name, such as `pod/` among several types."""

    wide: bool = False
    namespaces: bool = False
    prefix: str = ""
    label_columns: tuple[str, ...] = ()
    labels: bool = False


DEFAULT_LAYOUT = TableLayout()


class TextTable(msgspec.Struct, frozen=True):
    """Cells as text; every row has as many cells as the header."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def text_table(table: Table, layout: TableLayout = DEFAULT_LAYOUT) -> TextTable:
    """A table as text."""
    rows = tuple(cells_of(row, table.columns, layout) for row in table.rows)
    return TextTable(header_of(table.columns, layout), rows)


def header_of(
    columns: Sequence[TableColumn], layout: TableLayout = DEFAULT_LAYOUT
) -> tuple[str, ...]:
    """The names of the visible columns."""
    return (
        *(["NAMESPACE"] if layout.namespaces else []),
        *(visible(each.name.upper()) for each in columns if _is_shown(each, wide=layout.wide)),
        *(visible(key.rpartition("/")[2].upper()) for key in layout.label_columns),
        *(["LABELS"] if layout.labels else []),
    )


def cells_of(
    row: TableRow, columns: Sequence[TableColumn], layout: TableLayout = DEFAULT_LAYOUT
) -> tuple[str, ...]:
    """The visible cells of a row; a missing cell is empty."""
    cells = [*row.cells, *[""] * (len(columns) - len(row.cells))]
    shown = [
        f"{visible(layout.prefix) if column.format == 'name' else ''}{_text(cell)}"
        for cell, column in zip(cells, columns, strict=False)
        if _is_shown(column, wide=layout.wide)
    ]
    if layout.namespaces:
        shown.insert(0, _text(metadata_of(row).get("namespace") or ""))
    if layout.label_columns or layout.labels:
        labels = metadata_of(row).get("labels") or {}
        shown += [_text(labels.get(key) or "") for key in layout.label_columns]
        if layout.labels:
            pairs = ",".join(f"{key}={labels[key]}" for key in sorted(labels))
            shown.append(_text(pairs or None))
    return tuple(shown)


def metadata_of(row: TableRow) -> dict[str, Any]:
    """The metadata of the object in a row."""
    found = (row.object or {}).get("metadata")
    return found if isinstance(found, dict) else {}


def widths_of(rows: Iterable[Sequence[str]]) -> list[int]:
    """The width of each column, with padding."""
    columns = zip(*rows, strict=True)
    return [max(_NARROWEST, max(map(len, column)) + _PADDING) for column in columns]


def lines_of(rows: Iterable[Sequence[str]], widths: Sequence[int]) -> list[str]:
    """Rows as lines; a cell wider than its column shifts the rest of the line.

    The last cell is not padded, also if it is empty: kubectl leaves the spaces before it.
    """
    return ["".join((*_pad(row[:-1], widths), *row[-1:])) for row in rows]


def _pad(row: Sequence[str], widths: Sequence[int]) -> Iterable[str]:
    for cell, width in zip(row, widths, strict=False):
        yield cell.ljust(width) if len(cell) < width else f"{cell}{' ' * _PADDING}"


def _is_shown(column: TableColumn, *, wide: bool) -> bool:
    return wide or column.priority == 0


def _text(cell: Any) -> str:
    match cell:
        case None:
            return "<none>"
        case bool():
            return "true" if cell else "false"
    line, newline, _ = str(cell).partition("\n")
    return f"{visible(line)}..." if newline else visible(line)
