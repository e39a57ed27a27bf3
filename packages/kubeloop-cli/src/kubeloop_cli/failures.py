"""Exit codes, and the one line that reports an error.

Guarantees: scripts can distinguish errors by exit code; the report is one line, with a hint
where there is one. `-v` adds the traceback.
See also: `kubeloop.errors` (the errors and their messages).
"""

from __future__ import annotations

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
    """A command failed, although no request did."""


class ExitCode(IntEnum):
    """Part of the public interface of the command line."""

    OK = 0
    FAILED = 1
    USAGE = 2
    TIMEOUT = 3
    UNREACHABLE = 4
    BUG = 70
    INTERRUPTED = 130
    PIPE_CLOSED = 141


EXIT_CODES = """\b
Exit codes:
  0    success
  1    the request failed: not found, rejected, conflict
  2    invalid command line or manifest
  3    timed out waiting for a condition
  4    no cluster: not configured, not reachable, or invalid credentials
  130  interrupted by Ctrl-C
"""


def report(error: Exception, *, verbose: bool) -> ExitCode:
    """Print an error to stderr; returns the exit code for it."""
    first = _innermost(error)
    if verbose:
        traceback.print_exception(error)
    click.echo(f"error: {_line(first)}", err=True)
    return _code(first)


def usage_line(error: click.ClickException) -> str:
    """A usage error as one line that points to the help."""
    line = f"error: {_one_line(error.format_message())}".rstrip(".")
    context = getattr(error, "ctx", None)
    return f"{line} (see {context.command_path} --help)" if context is not None else line


def silence_output() -> None:
    """Redirect stdout to the null device: the reader of the pipe has closed it."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)


def _innermost(error: Exception) -> Exception:
    """The first error of a group, without the groups around it."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error


def _code(error: Exception) -> ExitCode:
    # Imported here, so that a usage error is reported without loading a client.
    from kubeloop.clients import DrainFailed, WaitTimeout
    from kubeloop.errors import ConfigError, ResponseTooLarge, TransportError, Unauthorized

    if isinstance(error, DrainFailed):
        return max(map(_code, error.errors.values()))
    if isinstance(error, WaitTimeout):
        return ExitCode.TIMEOUT
    if isinstance(error, ResponseTooLarge):
        return ExitCode.FAILED
    if isinstance(error, ConfigError | TransportError | Unauthorized):
        return ExitCode.UNREACHABLE
    if isinstance(error, InvalidArgument):
        return ExitCode.USAGE
    return ExitCode.FAILED if isinstance(error, KubeError | OSError) else ExitCode.BUG


def _line(error: Exception) -> str:
    from kubeloop.config import EmptyConfig
    from kubeloop.discovery import NoResourceMatch

    if isinstance(error, NoResourceMatch):
        return _one_line(f"{message(error)}{_suggestion(error.resource)}")
    if isinstance(error, EmptyConfig):
        return _one_line(f"{message(error)}; to start a cluster here: kubeloop serve --simulate")
    if isinstance(error, KubeError | OSError):
        return _one_line(message(error))
    what = f"{type(error).__name__}: {error}"
    return _one_line(f"unexpected {what} (this is a bug: run again with -v and report it)")


def message(error: Exception) -> str:
    """The message of an error, with hints that name flags instead of Python arguments."""
    if not isinstance(error, KubeError):
        return str(error)
    hints = ", or ".join(filter(None, (error.hint, _flag_for(error))))
    return f"{error.summary} ({hints})" if hints else error.summary


def _flag_for(error: KubeError) -> str:
    """The hint that names a flag, for errors whose Python hint names an argument."""
    from kubeloop.config import EmptyConfig
    from kubeloop.errors import Conflict

    match error:
        case EmptyConfig():
            return "pass --kubeconfig"
        case Conflict(is_ownership=True):
            return "take ownership with --force-conflicts"
    return ""


def _suggestion(word: str) -> str:
    """The built-in resource with the most similar name, as a question."""
    import difflib

    from kubeloop.wire import resources

    names = {name for info in resources() for name in (info.plural, info.singular)}
    close = difflib.get_close_matches(word.lower(), sorted(names), n=1)
    return f"; did you mean {close[0]}?" if close else ""


def _one_line(text: str) -> str:
    return visible(" ".join(text.split()))
