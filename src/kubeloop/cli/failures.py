"""What a command ends with: its exit code, and one line when it went wrong.

Promises: every error has a code that scripts can tell apart; a line never breaks, and says
what to do where we know it. A traceback is shown to those who ask (`-v`).
Elsewhere: what the errors say themselves (`kubeloop.errors`, and each room's errors).
"""

from __future__ import annotations

import difflib
import os
import sys
import traceback
from enum import IntEnum
from typing import final

import click

from kubeloop.wire import visible
from kubeloop.wire.errors import InvalidArgument, KubeError

__all__ = [
    "EXIT_CODES",
    "CommandFailed",
    "ExitCode",
    "message",
    "report",
    "silence_output",
    "usage_line",
]


@final
class CommandFailed(KubeError):
    """What a command was asked for cannot be had."""


class ExitCode(IntEnum):
    """What scripts can rely on."""

    OK = 0
    NO = 1
    USAGE = 2
    TIMEOUT = 3
    UNREACHABLE = 4
    BUG = 70
    INTERRUPTED = 130
    PIPE_CLOSED = 141


EXIT_CODES = """\b
Exit codes:
  0    done
  1    the answer is no: not found, refused, in conflict
  2    the command line or a manifest cannot be read
  3    what was waited for did not come in time
  4    no cluster: not configured, not reachable, no valid credentials
  130  ended by Ctrl-C
"""


def report(error: Exception, *, verbose: bool) -> ExitCode:
    """Say what went wrong, on the error output, and what to end with."""
    first = _innermost(error)
    if verbose:
        traceback.print_exception(error)
    click.echo(f"error: {_line(first)}", err=True)
    return _code(first)


def usage_line(error: click.ClickException) -> str:
    """A mistake in the command line, in one line that says where to look it up."""
    said = f"error: {_flat(error.format_message())}".rstrip(".")
    context = getattr(error, "ctx", None)
    return f"{said} (see {context.command_path} --help)" if context is not None else said


def silence_output() -> None:
    """Send what is still to be written nowhere: whoever read it has gone."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _innermost(error: Exception) -> Exception:
    """The one error that matters when tasks failed together."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error


def _code(error: Exception) -> ExitCode:
    # Imported here: a mistake in the command line is told without loading a client.
    from kubeloop.clients import WaitTimeout
    from kubeloop.errors import ConfigError, ResponseTooLarge, TransportError, Unauthorized

    if isinstance(error, WaitTimeout):
        return ExitCode.TIMEOUT
    if isinstance(error, ResponseTooLarge):
        return ExitCode.NO
    if isinstance(error, ConfigError | TransportError | Unauthorized):
        return ExitCode.UNREACHABLE
    if isinstance(error, InvalidArgument):
        return ExitCode.USAGE
    return ExitCode.NO if isinstance(error, KubeError | OSError) else ExitCode.BUG


def _line(error: Exception) -> str:
    from kubeloop.config import EmptyConfig
    from kubeloop.discovery import NoResourceMatch

    if isinstance(error, NoResourceMatch):
        return _flat(f"{message(error)}{_guess(error.resource)}")
    if isinstance(error, EmptyConfig):
        return _flat(f"{message(error)}; to have a cluster here and now: kubeloop serve --simulate")
    if isinstance(error, KubeError | OSError):
        return _flat(message(error))
    what = f"{type(error).__name__}: {error}"
    return _flat(f"unexpected {what} (this is a bug: run it again with -v, and report it)")


def message(error: Exception) -> str:
    """What an error says to somebody at the command line: flags instead of Python arguments."""
    if not isinstance(error, KubeError):
        return str(error)
    hints = ", or ".join(filter(None, (error.hint, _flag_for(error))))
    return f"{error.summary} ({hints})" if hints else error.summary


def _flag_for(error: KubeError) -> str:
    """What a flag can do about it, where the error knows an argument that could."""
    from kubeloop.config import EmptyConfig
    from kubeloop.errors import Conflict

    match error:
        case EmptyConfig():
            return "pass --kubeconfig"
        case Conflict(is_ownership=True):
            return "take it with --force-conflicts"
    return ""


def _guess(word: str) -> str:
    """The built-in resource that may have been meant, as a question."""
    from kubeloop.wire import resources

    names = {name for info in resources() for name in (info.plural, info.singular)}
    close = difflib.get_close_matches(word.lower(), sorted(names), n=1)
    return f"; did you mean {close[0]}?" if close else ""


def _flat(text: str) -> str:
    return visible(" ".join(text.split()))
