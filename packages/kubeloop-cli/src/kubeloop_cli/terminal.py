"""Output for people and for pipes: colors, escaped text, and progress.

Guarantees: a pipe gets plain text and no progress; `NO_COLOR` is obeyed; progress is drawn on
stderr, and only after a second. Lines with text of the server show hidden characters as
escapes. The content of an object or a log reaches a pipe unchanged, and a terminal without
control sequences other than colors.
See also: `tables` (the text of tables), `live_table` (rows that change).
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, final

import click

from kubeloop.kit import Clock, SystemClock, TaskOwner
from kubeloop.wire import visible

from .tables import TextTable, lines_of, widths_of

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress
    from rich.text import Text

__all__ = [
    "DelayedProgress",
    "console",
    "print_content",
    "print_line",
    "print_table",
    "show_progress",
    "styled",
]

_DELAY = 1.0  # seconds before progress is drawn

_STYLES = {
    **dict.fromkeys(("Active", "Available", "Bound", "Ready", "Running", "True"), "green"),
    **dict.fromkeys(("Completed", "Succeeded", "Terminating"), "dim"),
    **dict.fromkeys(("ContainerCreating", "Pending", "NotReady", "Unknown"), "yellow"),
    **dict.fromkeys(("CrashLoopBackOff", "Error", "Evicted", "Failed"), "red"),
    **dict.fromkeys(("ErrImagePull", "ImagePullBackOff", "OOMKilled"), "red"),
}


def console(*, err: bool = False) -> Console:
    """A console without wrapping and without automatic highlighting."""
    from rich.console import Console

    return Console(stderr=err, highlight=False, soft_wrap=True)


# What content may send to a terminal: colors, line breaks and tabs.
_HARMLESS = re.compile(r"(\x1b\[[0-9;:]*m|[\t\n])")


def print_line(text: str, *, err: bool = False) -> None:
    """Print one line, with hidden characters as escapes."""
    click.echo(visible(text), err=err)


def print_content(text: str) -> None:
    """Print the content of a log or an object, without a newline; a pipe gets it unchanged."""
    if sys.stdout.isatty():
        parts = _HARMLESS.split(text)  # every second part is a separator
        text = "".join(part if at % 2 else visible(part) for at, part in enumerate(parts))
    click.echo(text, nl=False, color=True)  # otherwise click strips colors


def print_table(table: TextTable, *, header: bool = True) -> None:
    """Print a table to stdout, with colors if that is a terminal."""
    rows = (table.header, *table.rows) if header else table.rows
    lines = lines_of(rows, widths_of(rows))
    if not sys.stdout.isatty():
        click.echo("".join(f"{line}\n" for line in lines), nl=False)
        return
    from rich.text import Text

    screen = console()
    if header:
        screen.print(Text(lines.pop(0), style="bold"))
    for line in lines:
        screen.print(styled(line))


def styled(text: str) -> Text:
    """A cell or a line with phases and conditions in color."""
    from rich.text import Text

    result = Text(text)
    for word in set(text.split()) & _STYLES.keys():
        result.highlight_words([word], _STYLES[word])
    return result


@final
class DelayedProgress:
    """A progress bar for one operation, drawn only if the operation takes long."""

    def __init__(self, what: str, total: int | None) -> None:
        self._what = what
        self._total = total
        self._done = 0
        self._bar: Progress | None = None  # None: not shown, or not yet

    def advance(self, count: int = 1, *, left: int | None = None) -> None:
        """Add to what is done; `left` updates the total, if it is known."""
        self._done += count
        self._total = self._total if left is None else self._done + left
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=self._done, total=self._total)

    async def show_late(self, clock: Clock) -> None:
        """Start to draw after a second. If cancelled earlier, nothing is drawn."""
        await clock.sleep(_DELAY)
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn())
        bar = Progress(
            *columns,
            MofNCompleteColumn(),
            console=console(err=True),
            transient=True,
            # Output to the same terminal is printed above the bar; a pipe is not touched.
            redirect_stdout=sys.stdout.isatty(),
            redirect_stderr=False,
        )
        bar.add_task(self._what, completed=self._done, total=self._total)
        self._bar = bar
        bar.start()

    def clear(self) -> None:
        """Remove the bar from the screen."""
        if self._bar is not None:
            self._bar.stop()


@contextlib.asynccontextmanager
async def show_progress(
    what: str, *, total: int | None = None, clock: Clock | None = None
) -> AsyncIterator[DelayedProgress]:
    """Show progress within the block, if it takes long and stderr is a terminal."""
    progress = DelayedProgress(what, total)
    async with TaskOwner() as tasks:
        if sys.stderr.isatty():
            tasks.spawn(progress.show_late(clock or SystemClock()), name=f"progress of {what}")
        try:
            yield progress
        finally:
            progress.clear()
