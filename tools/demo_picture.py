"""Draws docs/pictures/demo.svg: the dashboard of the demo when a watch has expired.

    python tools/demo_picture.py docs/pictures/demo.svg

Runs the demo, and draws what its dashboard shows at that moment.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

from rich.console import Console

from kubeloop.kit import SystemClock, TaskOwner, run
from kubeloop_cli.demo.dashboard import FRAME, render
from kubeloop_cli.demo.environment import DemoEnvironment, start_environment
from kubeloop_cli.demo.log import DemoLog, EntryType
from kubeloop_cli.demo.scenes import SCENES, play_scenes
from kubeloop_cli.demo.snapshot import ActivityHistory, Snapshot, take_snapshot

WIDTH, HEIGHT = 132, 36
DELAY = 1.0  # seconds after the objects are created that the cache does not have


async def play() -> Snapshot:
    """Run the demo, and return the snapshot to draw."""
    clock = SystemClock()
    log = DemoLog(clock=clock)
    with log.capture_warnings():
        async with (
            start_environment(log, clock=clock, pace=1.0, port=0, inspector_port=0) as env,
            TaskOwner() as tasks,
        ):
            tasks.spawn(play_scenes(env), name="scenes")
            return await find_snapshot(env)


async def find_snapshot(env: DemoEnvironment) -> Snapshot:
    history = ActivityHistory()
    since: float | None = None
    while True:
        snapshot = take_snapshot(env, history, scenes=len(SCENES))
        last = snapshot.entries[-1] if snapshot.entries else None
        if last is not None and last.type is EntryType.ACTION and "more Websites" in last.text:
            since = since or last.at
        if since is not None and snapshot.elapsed - since >= DELAY:
            return snapshot
        await asyncio.sleep(FRAME)


def as_svg(snapshot: Snapshot) -> str:
    """The dashboard as an SVG without web fonts."""
    with Path(os.devnull).open("w", encoding="utf-8") as null:
        console = Console(
            record=True, width=WIDTH, height=HEIGHT, file=null, force_terminal=True,
            color_system="truecolor", highlight=False,
        )  # fmt: skip
        console.print(render(snapshot, width=WIDTH, height=HEIGHT), height=HEIGHT)
        svg = console.export_svg(title="kubeloop demo", unique_id="demo")
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)


def main(target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(as_svg(run(play())), encoding="utf-8")
    print(f"{target}: {target.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/pictures/demo.svg"))
