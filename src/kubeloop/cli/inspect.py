"""`kubeloop inspect`: finds the inspectors of running processes."""

from __future__ import annotations

import webbrowser

import click

from kubeloop.inspector import RunningInspector, running_inspectors
from kubeloop.wire import visible

from .failures import CommandFailed
from .flags import verbose_flag
from .tables import TextTable
from .terminal import print_line, print_table

__all__ = ["inspect"]


@click.command()
@click.argument("pid", type=click.IntRange(min=1), required=False)
@click.option("--open", "in_browser", is_flag=True, help="Open the page in a browser.")
@verbose_flag
def inspect(*, pid: int | None, in_browser: bool) -> None:
    """List the inspectors of your running processes.

    With a PID, print the URL of that process's inspector, with its token if it has one.

    \b
    Examples:
      kubeloop inspect
      kubeloop inspect 4711
      kubeloop inspect --open
    """
    found = [each for each in running_inspectors() if pid in (None, each.pid)]
    if not found:
        raise CommandFailed(
            f"inspect {'your processes' if pid is None else f'process {pid}'}: no inspector is"
            " running (start one in the program: manager.add(Inspector(manager)))"
        )
    if pid is None and not in_browser:
        print_table(_table(found))
        return
    print_line(found[0].url)
    if in_browser and not webbrowser.open(found[0].url):
        raise CommandFailed(f"open {found[0].address}: no browser found (copy the URL)")


def _table(found: list[RunningInspector]) -> TextTable:
    rows = tuple((str(each.pid), visible(each.name), visible(each.address)) for each in found)
    return TextTable(("PID", "NAME", "ADDRESS"), rows)
