"""The command: its options, and the choice between dashboard and transcript."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import os
import shutil
import sys

import click

from kubeloop.kit import SystemClock, TaskOwner, run
from kubeloop_cli.signals import stop_on_signals

__all__ = ["demo"]

SECONDS = 20.0  # the default duration; the option scales the pauses
INTERRUPTED = 130  # the exit code of an interrupted transcript
SMALLEST = os.terminal_size((80, 24))


@click.command()
@click.option(
    "--seconds", type=click.FloatRange(0), default=SECONDS, show_default=True,
    help="The approximate duration; 0 is as fast as possible.",
)  # fmt: skip
@click.option("--plain", is_flag=True, help="Print a transcript, even in a terminal.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="The port of the API server; 0 is any free port.",
)
@click.option(
    "--inspector-port",
    type=click.IntRange(0, 65535),
    default=0,
    help="The port of the inspector; 0 is any free port.",
)
@click.option("--show-code", is_flag=True, help="Print the code of the demo controller, and exit.")
def demo(*, seconds: float, plain: bool, port: int, inspector_port: int, show_code: bool) -> None:
    """Run a live demo: a server, a controller and failures, without a cluster.

    Everything runs in this process. A terminal shows a live dashboard until Ctrl-C; in a
    pipe, the demo prints a transcript and exits.

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
    is_complete = False
    with contextlib.suppress(KeyboardInterrupt):  # on Windows, event loops have no signal handlers
        is_complete = run(_play(seconds / SECONDS, live=is_live, ports=(port, inspector_port)))
    if not is_complete and not is_live:
        click.get_current_context().exit(INTERRUPTED)


def _can_draw() -> bool:
    """Whether stdout is a UTF-8 terminal that is large enough.

    Prints a message if it is too small.
    """
    is_capable = sys.stdout.encoding.lower() == "utf-8" and os.environ.get("TERM") != "dumb"
    if not sys.stdout.isatty() or not is_capable:
        return False
    size = shutil.get_terminal_size()
    if size.columns >= SMALLEST.columns and size.lines >= SMALLEST.lines:
        return True
    click.echo(
        f"this terminal has {size.columns} columns and {size.lines} lines, the dashboard needs"
        f" {SMALLEST.columns} and {SMALLEST.lines}: printing a transcript",
        err=True,
    )
    return False


async def _play(pace: float, *, live: bool, ports: tuple[int, int]) -> bool:
    """Run the demo until it ends or a signal arrives; returns whether it ended."""
    with stop_on_signals() as stop:
        async with TaskOwner() as tasks:
            scenes = tasks.spawn(_show(pace, live=live, ports=ports), name="demo")
            signals = tasks.spawn(_wait(stop), name="signals")
            await asyncio.wait({scenes, signals}, return_when=asyncio.FIRST_COMPLETED)
            return not stop.is_set()


async def _wait(stop: asyncio.Event) -> None:
    await stop.wait()


async def _show(pace: float, *, live: bool, ports: tuple[int, int]) -> None:
    from .environment import start_environment
    from .log import DemoLog, print_entry
    from .scenes import play_scenes

    clock = SystemClock()
    log = DemoLog(clock=clock) if live else DemoLog(clock=clock, on_entry=print_entry)
    with log.capture_warnings():
        async with start_environment(
            log, clock=clock, pace=pace, port=ports[0], inspector_port=ports[1]
        ) as env:
            if not live:
                await play_scenes(env)
                return
            from .dashboard import draw_dashboard

            async with draw_dashboard(env, clock=clock):
                await play_scenes(env)
                await asyncio.get_running_loop().create_future()  # until Ctrl-C
