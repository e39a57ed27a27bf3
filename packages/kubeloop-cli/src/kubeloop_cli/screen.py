"""The view of `kubeloop watch` for terminals: tables that are redrawn in place.

Guarantees: a small terminal shows what fits, and how many rows do not; the cursor is always
restored.
See also: `live_table` (the rows), `watch` (the view for pipes).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from types import TracebackType
from typing import Self, final

from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from kubeloop.kit import Clock

from .live_table import LiveRow, LiveTable
from .terminal import console, styled

__all__ = ["Screen"]

_FRAME = 0.25  # seconds between two redraws
_STYLES = {"ADDED": "bold green", "MODIFIED": "bold yellow", "DELETED": "strike red"}


@final
class Screen:
    """Redraws all tables four times a second, within a `with` block."""

    def __init__(self, tables: Sequence[LiveTable], *, clock: Clock) -> None:
        self._tables = tables
        self._clock = clock
        self._interrupted: dict[str, str] = {}  # the reason by title
        self._console = console()
        self._console.soft_wrap = False  # rich can redraw in place only what it does not wrap
        self._live = Live(console=self._console, auto_refresh=False, vertical_overflow="crop")

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        is_listed = any(table.header for table in self._tables)
        self._live.transient = not is_listed  # leave nothing behind if there is no table yet
        self.draw(last=is_listed)
        self._live.stop()

    def show_changes(self, table: LiveTable, changes: Sequence[LiveRow]) -> None:  # noqa: ARG002 - drawn later
        self._interrupted.pop(table.title, None)

    def show_interruption(self, table: LiveTable, reason: str) -> None:
        self._interrupted[table.title] = reason

    async def run(self) -> None:
        """Draw until cancelled."""
        while True:
            self.draw()
            await self._clock.sleep(_FRAME)

    def draw(self, *, last: bool = False) -> None:
        """Redraw now; the last drawing stays on the screen, without a status line."""
        now, moment = self._clock.now(), datetime.now(UTC)
        left = max(1, self._console.height - 1)  # the last line is the status
        parts: list[RenderableType] = []
        for table in self._tables:
            rows = table.rows(now, moment)
            part, used = _section(table.header, rows, left)
            left -= used
            parts += part
        status = [] if last else [self._status()]
        self._live.update(Group(*parts, *status), refresh=True)

    def _status(self) -> RenderableType:
        status, style = "live · press Ctrl-C to stop", "dim"
        if self._interrupted:
            reason = next(iter(self._interrupted.values()))
            status, style = f"watch interrupted, retrying: {reason}", "bold red"
        elif not all(table.header for table in self._tables):
            status = "loading"
        return Text(status, style=style, no_wrap=True, overflow="ellipsis")


def _section(
    header: Sequence[str], rows: Sequence[LiveRow], lines: int
) -> tuple[list[RenderableType], int]:
    """A table in at most `lines` lines, and how many it needs."""
    if not header or lines < 2:
        return [], 0
    space = lines - 1
    shown = rows if len(rows) <= space else rows[: space - 1]
    drawing = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold")
    for name in header:
        drawing.add_column(Text(name), no_wrap=True, overflow="ellipsis")
    for row in shown:
        drawing.add_row(*map(styled, row.cells), style=_STYLES.get(row.event, ""))
    if len(shown) == len(rows):
        return [drawing], 1 + len(rows)
    more = Text(f"… and {len(rows) - len(shown)} more", style="dim", no_wrap=True)
    return [drawing, more], lines
