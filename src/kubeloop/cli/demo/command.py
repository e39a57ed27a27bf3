"""The command itself: its options, and the choice between picture and transcript.

Elsewhere: everything else of the demo (this package).
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import os
import shutil
import sys

import click

from kubeloop.cli.signals import ended_by_signals
from kubeloop.kit import SystemClock, TaskOwner, run

__all__ = ["demo"]

SECONDS = 20.0  # that the story takes, of which the pauses are what can be changed
INTERRUPTED = 130  # a transcript that was broken off
SMALLEST = os.terminal_size((80, 24))


@click.command()
@click.option(
    "--seconds", type=click.FloatRange(0), default=SECONDS, show_default=True,
    help="How long the story takes, roughly; 0 is as fast as it goes.",
)  # fmt: skip
@click.option("--plain", is_flag=True, help="A transcript, also at a terminal.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Of the API server.")
@click.option(
    "--inspector-port", type=click.IntRange(0, 65535), default=0, help="Of the inspector's page."
)
@click.option("--show-code", is_flag=True, help="Print the controller of the demo, and end.")
def demo(*, seconds: float, plain: bool, port: int, inspector_port: int, show_code: bool) -> None:
    """See it work, without a cluster: a server, a controller and a broken watch.

    Everything runs in this process. At a terminal it is shown live until Ctrl-C; into a
    pipe it prints what happened and ends.

    \b
    Examples:
      kubeloop demo
      kubeloop demo --show-code
      kubeloop demo --plain --seconds 0
    """
    if show_code:
        from . import controller

        click.echo(inspect.getsource(controller), nl=False)
        return
    is_live = not plain and _can_draw()
    is_whole = False
    with contextlib.suppress(KeyboardInterrupt):  # Windows has no signal handlers of a loop
        is_whole = run(_play(seconds / SECONDS, live=is_live, ports=(port, inspector_port)))
    if not is_whole and not is_live:
        click.get_current_context().exit(INTERRUPTED)


def _can_draw() -> bool:
    """Whether there is a terminal that shows the picture's signs, and is large enough.

    One that is too small is told so.
    """
    shows_signs = sys.stdout.encoding.lower() == "utf-8" and os.environ.get("TERM") != "dumb"
    if not sys.stdout.isatty() or not shows_signs:
        return False
    size = shutil.get_terminal_size()
    if size.columns >= SMALLEST.columns and size.lines >= SMALLEST.lines:
        return True
    click.echo(
        f"this terminal has {size.columns} columns and {size.lines} lines, the live picture needs"
        f" {SMALLEST.columns} and {SMALLEST.lines}: a transcript instead",
        err=True,
    )
    return False


async def _play(pace: float, *, live: bool, ports: tuple[int, int]) -> bool:
    """The demo, until it is over or a signal comes; says whether it is over."""
    with ended_by_signals() as end:
        async with TaskOwner() as tasks:
            show = tasks.spawn(_show(pace, live=live, ports=ports), name="demo")
            ending = tasks.spawn(_ended(end), name="signals")
            await asyncio.wait({show, ending}, return_when=asyncio.FIRST_COMPLETED)
            return not end.is_set()


async def _ended(end: asyncio.Event) -> None:
    await end.wait()


async def _show(pace: float, *, live: bool, ports: tuple[int, int]) -> None:
    from .narrator import Narrator
    from .stage import staged
    from .story import tell
    from .transcript import print_line

    clock = SystemClock()
    narrator = Narrator(clock=clock) if live else Narrator(clock=clock, heard=print_line)
    with narrator.listening():
        async with staged(
            narrator, clock=clock, pace=pace, port=ports[0], inspector_port=ports[1]
        ) as stage:
            if not live:
                await tell(stage)
                return
            from .dashboard import shown

            async with shown(stage, clock=clock):
                await tell(stage)
                await asyncio.get_running_loop().create_future()  # until Ctrl-C
