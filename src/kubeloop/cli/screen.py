"""Followed tables as a picture that stays in place, for a person at a terminal.

Promises: a screen that is too small shows what fits, and says how much does not; the
cursor is given back whatever happens.
Elsewhere: what is shown (`live`), the same for pipes (`views`).
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

from .live import LiveRow, LiveTable
from .terminal import console, styled

__all__ = ["Screen"]

_FRAME = 0.25  # seconds from one picture to the next
_STYLES = {"ADDED": "bold green", "MODIFIED": "bold yellow", "DELETED": "strike red"}


@final
class Screen:
    """A picture of all tables, four times a second, for one `with` block."""

    def __init__(self, tables: Sequence[LiveTable], *, clock: Clock) -> None:
        self._tables = tables
        self._clock = clock
        self._lost: dict[str, str] = {}
        self._console = console()
        self._console.soft_wrap = False  # a line too long is cut, or the picture would run away
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
        is_known = any(table.header for table in self._tables)
        self._live.transient = not is_known  # a picture of nothing is wiped away
        self.draw(last=is_known)
        self._live.stop()

    def tell(self, table: LiveTable, changes: Sequence[LiveRow]) -> None:  # noqa: ARG002 - drawn later
        self._lost.pop(table.title, None)

    def lost(self, table: LiveTable, reason: str) -> None:
        self._lost[table.title] = reason

    async def run(self) -> None:
        """Draw until cancelled."""
        while True:
            self.draw()
            await self._clock.sleep(_FRAME)

    def draw(self, *, last: bool = False) -> None:
        """One picture of what is known now; the last one stays, without a status."""
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
        said, style = "live · Ctrl-C ends it", "dim"
        if self._lost:
            said, style = f"lost, trying again: {next(iter(self._lost.values()))}", "bold red"
        elif not all(table.header for table in self._tables):
            said = "asking the server"
        return Text(said, style=style, no_wrap=True, overflow="ellipsis")


def _section(
    header: Sequence[str], rows: Sequence[LiveRow], lines: int
) -> tuple[list[RenderableType], int]:
    """A table in at most so many lines, and how many it took."""
    if not header or lines < 2:
        return [], 0
    room = lines - 1
    shown = rows if len(rows) <= room else rows[: room - 1]
    picture = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold")
    for name in header:
        picture.add_column(Text(name), no_wrap=True, overflow="ellipsis")
    for row in shown:
        picture.add_row(*map(styled, row.cells), style=_STYLES.get(row.event, ""))
    if len(shown) == len(rows):
        return [picture], 1 + len(rows)
    more = Text(f"… and {len(rows) - len(shown)} more", style="dim", no_wrap=True)
    return [picture, more], lines
