"""Draws docs/pictures/demo.svg: the demo at the moment when a watch is cut for too long.

    python tools/demo_picture.py docs/pictures/demo.svg

The demo is really played; the picture is what its dashboard shows then.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

from rich.console import Console

from kubeloop.cli.demo.dashboard import FRAME, drawn
from kubeloop.cli.demo.narrator import Mark, Narrator
from kubeloop.cli.demo.picture import Gauges, Picture, pictured
from kubeloop.cli.demo.stage import Stage, staged
from kubeloop.cli.demo.story import SCENES, tell
from kubeloop.kit import SystemClock, TaskOwner, run

WIDTH, HEIGHT = 132, 36
MOMENT = 1.0  # seconds after the objects were made that the cache does not hear of


async def play() -> Picture:
    """The demo's picture at the moment."""
    clock = SystemClock()
    narrator = Narrator(clock=clock)
    with narrator.listening():
        async with (
            staged(narrator, clock=clock, pace=1.0, port=0, inspector_port=0) as stage,
            TaskOwner() as tasks,
        ):
            tasks.spawn(tell(stage), name="story")
            return await moment(stage)


async def moment(stage: Stage) -> Picture:
    gauges = Gauges()
    since: float | None = None
    while True:
        picture = pictured(stage, gauges, scenes=len(SCENES))
        last = picture.lines[-1] if picture.lines else None
        if last is not None and last.mark is Mark.DID and "more Websites" in last.text:
            since = since or last.at
        if since is not None and picture.elapsed - since >= MOMENT:
            return picture
        await asyncio.sleep(FRAME)


def as_svg(picture: Picture) -> str:
    """The picture as an SVG that asks no other server for its letters."""
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        console = Console(
            record=True, width=WIDTH, height=HEIGHT, file=nowhere, force_terminal=True,
            color_system="truecolor", highlight=False,
        )  # fmt: skip
        console.print(drawn(picture, width=WIDTH, height=HEIGHT), height=HEIGHT)
        svg = console.export_svg(title="kubeloop demo", unique_id="demo")
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)


def main(target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(as_svg(run(play())), encoding="utf-8")
    print(f"{target}: {target.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/pictures/demo.svg"))
