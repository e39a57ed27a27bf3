"""The demo as a live picture: where the panels stand, and drawing them while it runs.

Promises: what there is room for is shown, first of all the story; the screen is given back
as it was, and the last words stay.
Elsewhere: the panels (`panels`), what they show (`picture`).
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from rich.console import Console, RenderableType
from rich.layout import Layout
from rich.live import Live

from kubeloop.kit import Clock, TaskOwner

from . import panels
from .picture import Gauges, Picture, pictured
from .stage import Stage
from .story import SCENES
from .transcript import print_line

__all__ = ["drawn", "shown"]

FRAME = 0.125  # seconds from one picture to the next
WIDE = 120  # columns from which the story has the numbers beside it
LOW = 20  # lines below which only the story is shown


def drawn(picture: Picture, *, width: int, height: int) -> RenderableType:
    """A picture that fills a screen of that size."""
    layout = Layout()
    rest = height - 3
    layout.split_column(
        Layout(panels.header(picture, width), size=2),
        Layout(name="body", size=rest),
        Layout(panels.footer(picture), size=1),
    )
    if height < LOW:
        layout["body"].update(panels.story(picture.lines, width=width, height=rest))
    elif width < WIDE:
        layout["body"].split_column(*_stacked(picture, width, rest))
    else:
        layout["body"].split_row(*_beside(picture, width, rest))
    return layout


def _stacked(picture: Picture, width: int, height: int) -> list[Layout]:
    tables, left = Layout(size=6), width * 11 // 20
    tables.split_row(
        Layout(panels.caches(picture.mirrors, height=6), size=left),
        Layout(panels.cluster(picture, width=width - left, height=6)),
    )
    told = panels.story(picture.lines, width=width, height=height - 11)
    work = panels.controller(picture.work, picture.candidates, width=width, height=5)
    return [Layout(told), tables, Layout(work, size=5)]


def _beside(picture: Picture, width: int, height: int) -> list[Layout]:
    left = width * 6 // 11
    right = width - left
    numbers = Layout(size=right)
    numbers.split_column(
        Layout(panels.cluster(picture, width=right, height=6), size=6),
        Layout(panels.caches(picture.mirrors, height=6), size=6),
        Layout(panels.controller(picture.work, picture.candidates, width=right, height=5), size=5),
        Layout(panels.events(picture, height=height - 17)),
    )
    return [Layout(panels.story(picture.lines, width=left, height=height), size=left), numbers]


@contextlib.asynccontextmanager
async def shown(stage: Stage, *, clock: Clock) -> AsyncIterator[None]:
    """Draw the stage while the block lasts; the last words are printed after it."""
    console = Console(highlight=False)
    gauges = Gauges()
    try:
        with Live(console=console, screen=True, auto_refresh=False) as live:

            async def draw() -> None:
                while True:
                    now = pictured(stage, gauges, scenes=len(SCENES))
                    size = console.size
                    live.update(drawn(now, width=size.width, height=size.height), refresh=True)
                    await clock.sleep(FRAME)

            async with TaskOwner() as tasks:
                tasks.spawn(draw(), name="dashboard")
                yield
    finally:
        for line in stage.narrator.last_scene():
            print_line(line)
