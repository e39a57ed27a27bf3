"""The demo as plain lines, for pipes, files and terminals too small for a picture.

Elsewhere: what is said (`narrator`), the picture (`dashboard`).
"""

from __future__ import annotations

import click

from .narrator import Line, Mark

__all__ = ["line_text", "print_line"]

_MARKS = {
    Mark.DID: "do",
    Mark.BROKE: "break",
    Mark.SAW: "see",
    Mark.WHY: "why",
    Mark.LOG: "log",
}


def line_text(line: Line) -> str:
    """A line as it stands in the transcript."""
    if line.mark is Mark.SCENE:
        return f"\n{line.text}"
    return f"{line.at:6.1f} s  {_MARKS[line.mark]:>5}  {line.text}"


def print_line(line: Line) -> None:
    """Print it at once, also into a pipe."""
    click.echo(line_text(line))
