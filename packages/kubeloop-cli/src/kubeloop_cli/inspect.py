"""`kubeloop inspect`: finds the inspectors of running processes; records and replays them.

Guarantees: a recording that is interrupted can be opened; no output contains a token except the
URL that was asked for.
"""

from __future__ import annotations

import asyncio
import webbrowser
from pathlib import Path

import click

from kubeloop.inspector import Replay, RunningInspector, record_url, running_inspectors
from kubeloop.kit import TaskOwner, run, whole_number
from kubeloop.wire import visible

from .failures import CommandFailed
from .flags import verbose_flag
from .signals import stop_on_signals
from .tables import TextTable
from .terminal import print_line, print_table

__all__ = ["inspect"]


@click.command()
@click.argument("process", metavar="[PID|URL]", required=False)
@click.option("--open", "in_browser", is_flag=True, help="Open the page in a browser.")
@click.option(
    "--record",
    "recording",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Record what the page shows into a file, until Ctrl-C or the end of the process.",
)
@click.option(
    "--replay",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Serve the page of a recording.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="The port for --replay; 0 is any free port.",
)
@verbose_flag
def inspect(
    *, process: str | None, in_browser: bool, recording: Path | None, replay: Path | None, port: int
) -> None:
    """List the inspectors of your running processes, record one, or replay a recording.

    With a PID, print the URL of that process's inspector, with its token if it has one. A
    recording contains what the page shows: the values of Secrets are hidden.

    \b
    Examples:
      kubeloop inspect
      kubeloop inspect 4711
      kubeloop inspect --open
      kubeloop inspect --record run.kubeloop
      kubeloop inspect --record run.kubeloop http://127.0.0.1:8090/
      kubeloop inspect --replay run.kubeloop --open
    """
    if replay is not None:
        if recording is not None or process is not None:
            raise click.UsageError("--replay takes no other process and no --record")
        run(_replay(replay, port, in_browser=in_browser))
        return
    if process is not None and "://" in process:
        found = [RunningInspector(process, 0, "")]
    else:
        found = _running(process)
    if recording is not None:
        run(_record(found[0], recording))
        size = recording.stat().st_size if recording.exists() else 0
        print_line(
            f"Recorded {size / 1000:.0f} kB (open it: kubeloop inspect --replay {recording})"
        )
    elif process is None and not in_browser:
        print_table(_table(found))
    else:
        print_line(found[0].url)
        if in_browser:
            _open(found[0].url)


def _running(process: str | None) -> list[RunningInspector]:
    pid = None if process is None else whole_number(process)
    if process is not None and pid is None:
        raise click.UsageError(f"expected a PID or a URL, found {process!r}")
    found = [each for each in running_inspectors() if pid in (None, each.pid)]
    if not found:
        raise CommandFailed(
            f"inspect {'your processes' if pid is None else f'process {pid}'}: no inspector is"
            " running (start one in the program: manager.add(Inspector(manager)))"
        )
    return found


async def _record(inspector: RunningInspector, path: Path) -> None:
    name = f"{inspector.name} (pid {inspector.pid})" if inspector.pid else "the inspector"

    async def wait_for_stop() -> None:
        await stop.wait()

    with stop_on_signals() as stop:
        async with TaskOwner() as tasks:
            recording = tasks.spawn(record_url(inspector.url, path), name="recording")
            stopped = tasks.spawn(wait_for_stop(), name="stop")
            print_line(f"Recording {visible(name)} to {path}, press Ctrl-C to stop", err=True)
            await asyncio.wait([recording, stopped], return_when=asyncio.FIRST_COMPLETED)
            for task in (recording, stopped):
                task.cancel()


async def _replay(path: Path, port: int, *, in_browser: bool) -> None:
    with stop_on_signals() as stop:
        async with Replay(path, port=port) as page:
            print_line(page.url)
            print_line(f"{page.steps} steps, press Ctrl-C to stop", err=True)
            if in_browser:
                _open(page.url)
            await stop.wait()


def _open(url: str) -> None:
    if not webbrowser.open(url):
        raise CommandFailed(f"open {url.partition('?')[0]}: no browser found (copy the URL)")


def _table(found: list[RunningInspector]) -> TextTable:
    rows = tuple((str(each.pid), visible(each.name), visible(each.address)) for each in found)
    return TextTable(("PID", "NAME", "ADDRESS"), rows)
