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


class TextTable(msgspec.Struct, frozen=True):
    """Cells as text; every row has as many cells as the header."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def text_table(
    table: Table, *, wide: bool = False, namespaces: bool = False, prefix: str = ""
) -> TextTable:
    """A table as text; `prefix` precedes each name, such as `pod/` among several types."""
    return TextTable(
        header_of(table.columns, wide=wide, namespaces=namespaces),
        tuple(
            cells_of(row, table.columns, wide=wide, namespaces=namespaces, prefix=prefix)
            for row in table.rows
        ),
    )


def header_of(
    columns: Sequence[TableColumn], *, wide: bool = False, namespaces: bool = False
) -> tuple[str, ...]:
    """The names of the visible columns."""
    shown = (column.name.upper() for column in columns if _is_shown(column, wide=wide))
    names = tuple(map(visible, shown))
    return ("NAMESPACE", *names) if namespaces else names


def cells_of(
    row: TableRow,
    columns: Sequence[TableColumn],
    *,
    wide: bool = False,
    namespaces: bool = False,
    prefix: str = "",
) -> tuple[str, ...]:
    """The visible cells of a row; a missing cell is empty."""
    cells = [*row.cells, *[""] * (len(columns) - len(row.cells))]
    shown = [
        f"{visible(prefix) if column.format == 'name' else ''}{_text(cell)}"
        for cell, column in zip(cells, columns, strict=False)
        if _is_shown(column, wide=wide)
    ]
    first = [_text(metadata_of(row).get("namespace") or "")] if namespaces else []
    return (*first, *shown)


def metadata_of(row: TableRow) -> dict[str, Any]:
    """The metadata of the object in a row."""
    found = (row.object or {}).get("metadata")
    return found if isinstance(found, dict) else {}


def widths_of(table: TextTable) -> list[int]:
    """The width of each column, with padding."""
    columns = zip(table.header, *table.rows, strict=True)
    return [max(_NARROWEST, max(map(len, column)) + _PADDING) for column in columns]


def lines_of(rows: Iterable[Sequence[str]], widths: Sequence[int]) -> list[str]:
    """Rows as lines; a cell wider than its column shifts the rest of the line."""
    return ["".join(_pad(row, widths)).rstrip() for row in rows]


def _pad(row: Sequence[str], widths: Sequence[int]) -> Iterable[str]:
    for cell, width in zip(row, widths, strict=True):
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
