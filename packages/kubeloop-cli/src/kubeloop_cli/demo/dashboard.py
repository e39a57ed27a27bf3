"""The live dashboard of the demo: the layout of the panels, and the redrawing.

Guarantees: a small screen shows what fits, the log first; the screen is restored at the end,
and the entries of the last scene are printed.
See also: `panels` (the panels), `snapshot` (the values).
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from rich.console import Console, RenderableType
from rich.layout import Layout
from rich.live import Live

from kubeloop.kit import Clock, TaskOwner

from . import panels
from .environment import DemoEnvironment
from .log import print_entry
from .scenes import SCENES
from .snapshot import ActivityHistory, Snapshot, take_snapshot

__all__ = ["draw_dashboard", "render"]

FRAME = 0.125  # seconds between two redraws
WIDE = 120  # columns from which the other panels are beside the log
LOW = 20  # lines below which only the log is shown


def render(snapshot: Snapshot, *, width: int, height: int) -> RenderableType:
    """A snapshot drawn for a screen of that size."""
    layout = Layout()
    rest = height - 3
    layout.split_column(
        Layout(panels.header(snapshot, width), size=2),
        Layout(name="body", size=rest),
        Layout(panels.footer(snapshot), size=1),
    )
    if height < LOW:
        layout["body"].update(panels.log(snapshot.entries, width=width, height=rest))
    elif width < WIDE:
        layout["body"].split_column(*_stacked(snapshot, width, rest))
    else:
        layout["body"].split_row(*_beside(snapshot, width, rest))
    return layout


def _stacked(snapshot: Snapshot, width: int, height: int) -> list[Layout]:
    tables, left = Layout(size=6), width * 11 // 20
    tables.split_row(
        Layout(panels.caches(snapshot.caches, height=6), size=left),
        Layout(panels.cluster(snapshot, width=width - left, height=6)),
    )
    log = panels.log(snapshot.entries, width=width, height=height - 11)
    controller = panels.controller(snapshot.controller, snapshot.candidates, width=width, height=5)
    return [Layout(log), tables, Layout(controller, size=5)]


def _beside(snapshot: Snapshot, width: int, height: int) -> list[Layout]:
    left = width * 6 // 11
    right = width - left
    values = Layout(size=right)
    values.split_column(
        Layout(panels.cluster(snapshot, width=right, height=6), size=6),
        Layout(panels.caches(snapshot.caches, height=6), size=6),
        Layout(
            panels.controller(snapshot.controller, snapshot.candidates, width=right, height=5),
            size=5,
        ),
        Layout(panels.events(snapshot, height=height - 17)),
    )
    return [Layout(panels.log(snapshot.entries, width=left, height=height), size=left), values]


@contextlib.asynccontextmanager
async def draw_dashboard(env: DemoEnvironment, *, clock: Clock) -> AsyncIterator[None]:
    """Redraw the dashboard within the block; then print the entries of the last scene."""
    console = Console(highlight=False)
    history = ActivityHistory()
    try:
        with Live(console=console, screen=True, auto_refresh=False) as live:

            async def draw() -> None:
                while True:
                    now = take_snapshot(env, history, scenes=len(SCENES))
                    size = console.size
                    live.update(render(now, width=size.width, height=size.height), refresh=True)
                    await clock.sleep(FRAME)

            async with TaskOwner() as tasks:
                tasks.spawn(draw(), name="dashboard")
                yield
    finally:
        for entry in env.log.last_scene():
            print_entry(entry)
