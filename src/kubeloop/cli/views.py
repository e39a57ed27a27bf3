"""How followed tables are shown: what any view is told, and the one for pipes.

Promises: a pipe gets a line for each change, and whether the server is there on the error
output.
Elsewhere: the view for terminals (`screen`), what is shown (`live`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol, final

import click

from .live import LiveRow, LiveTable
from .tables import TextTable, lines_of, widths_of

__all__ = ["Lines", "View"]

_EVENT_WIDTH = 11  # MODIFIED, and a gap


class View(Protocol):
    """What is told of each change."""

    def tell(self, table: LiveTable, changes: Sequence[LiveRow]) -> None: ...
    def lost(self, table: LiveTable, reason: str) -> None: ...
    async def run(self) -> None: ...


@final
class Lines:
    """A line for each change, behind a header for each kind."""

    def __init__(self) -> None:
        self._widths: dict[str, list[int]] = {}  # by title: as the first list had them
        self._lost: set[str] = set()

    def tell(self, table: LiveTable, changes: Sequence[LiveRow]) -> None:
        rows = [(row.event, *row.cells) for row in changes]
        if table.title in self._lost:
            self._lost.discard(table.title)
            click.echo(f"{table.title}: the server is back", err=True)
        if table.title not in self._widths:
            header = ("EVENT", *table.header)
            widths = widths_of(TextTable(header, tuple(rows)))
            self._widths[table.title] = [max(widths[0], _EVENT_WIDTH), *widths[1:]]
            rows.insert(0, header)
        for line in lines_of(rows, self._widths[table.title]):
            click.echo(line)

    def lost(self, table: LiveTable, reason: str) -> None:
        if table.title not in self._lost:
            self._lost.add(table.title)
            click.echo(f"{table.title}: {reason}; trying again", err=True)

    async def run(self) -> None:
        """Lasts until cancelled; nothing is drawn between changes."""
        await asyncio.get_running_loop().create_future()
