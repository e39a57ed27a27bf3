"""What a person at a terminal sees more than a pipe does: colours, and that something is going on.

Promises: output that is not a terminal gets plain text and no progress; `NO_COLOR` is
obeyed; progress is shown on the error output, and only after a second. Lines with text of the
server show its hidden characters as escapes; the content of an object or a log reaches a pipe
unchanged, and a terminal without control sequences other than colours.
Elsewhere: the text itself (`tables`), the live table (`live`).
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
    "Patience",
    "console",
    "patience",
    "print_content",
    "print_line",
    "print_table",
    "styled",
]

_PATIENCE = 1.0  # seconds without a word

_STYLES = {
    **dict.fromkeys(("Active", "Available", "Bound", "Ready", "Running", "True"), "green"),
    **dict.fromkeys(("Completed", "Succeeded", "Terminating"), "dim"),
    **dict.fromkeys(("ContainerCreating", "Pending", "NotReady", "Unknown"), "yellow"),
    **dict.fromkeys(("CrashLoopBackOff", "Error", "Evicted", "Failed"), "red"),
    **dict.fromkeys(("ErrImagePull", "ImagePullBackOff", "OOMKilled"), "red"),
}


def console(*, err: bool = False) -> Console:
    """A console that never wraps, nor colours by guessing."""
    from rich.console import Console

    return Console(stderr=err, highlight=False, soft_wrap=True)


# What content may do to a terminal: change colours, begin a line, move to the next tab stop.
_HARMLESS = re.compile(r"(\x1b\[[0-9;:]*m|[\t\n])")


def print_line(text: str, *, err: bool = False) -> None:
    """One line, in which hidden characters are visible."""
    click.echo(visible(text), err=err)


def print_content(text: str) -> None:
    """What a container wrote or an object holds: a pipe gets it as it is."""
    if sys.stdout.isatty():
        parts = _HARMLESS.split(text)  # every second one is a separator
        text = "".join(part if at % 2 else visible(part) for at, part in enumerate(parts))
    click.echo(text, nl=not text.endswith("\n"), color=True)  # else click strips colours


def print_table(table: TextTable) -> None:
    """A table on the standard output, coloured where a person reads it."""
    header, *lines = lines_of((table.header, *table.rows), widths_of(table))
    if not sys.stdout.isatty():
        click.echo("\n".join([header, *lines]))
        return
    from rich.text import Text

    screen = console()
    screen.print(Text(header, style="bold"))
    for line in lines:
        screen.print(styled(line))


def styled(text: str) -> Text:
    """A cell or a line with the words of the API in their colours."""
    from rich.text import Text

    found = Text(text)
    for word in set(text.split()) & _STYLES.keys():
        found.highlight_words([word], _STYLES[word])
    return found


@final
class Patience:
    """Progress of one piece of work, drawn when that has taken long enough."""

    def __init__(self, what: str, total: int | None) -> None:
        self._what = what
        self._total = total
        self._done = 0
        self._bar: Progress | None = None  # None: not shown, or not yet

    def advance(self, count: int = 1, *, left: int | None = None) -> None:
        """So much more is done; how much is `left` may have become known."""
        self._done += count
        self._total = self._total if left is None else self._done + left
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=self._done, total=self._total)

    async def show_late(self, clock: Clock) -> None:
        """Begin to draw after a second. Cancelled before, nothing was drawn."""
        await clock.sleep(_PATIENCE)
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn())
        bar = Progress(
            *columns,
            MofNCompleteColumn(),
            console=console(err=True),
            transient=True,
            # Lines for the same screen go above the bar; those for a pipe go into the pipe.
            redirect_stdout=sys.stdout.isatty(),
            redirect_stderr=False,
        )
        bar.add_task(self._what, completed=self._done, total=self._total)
        self._bar = bar
        bar.start()

    def clear(self) -> None:
        """Draw no more, and leave nothing on the screen."""
        if self._bar is not None:
            self._bar.stop()


@contextlib.asynccontextmanager
async def patience(
    what: str, *, total: int | None = None, clock: Clock | None = None
) -> AsyncIterator[Patience]:
    """Show `what` is being done while the block lasts, if it lasts and a person is there."""
    progress = Patience(what, total)
    async with TaskOwner() as tasks:
        if sys.stderr.isatty():
            tasks.spawn(progress.show_late(clock or SystemClock()), name=f"progress of {what}")
        try:
            yield progress
        finally:
            progress.clear()
