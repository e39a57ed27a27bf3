"""A group of commands that are imported when they are called.

Promises: help and completion of the group import no command; an error of a command leaves
as one line and an exit code; a reader that has gone away is no error.
Elsewhere: which commands there are (`program`), what an error says (`failures`).
"""

from __future__ import annotations

import difflib
import importlib
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn, final

import click

from .failures import ExitCode, report, silence_output, usage_line
from .flags import flags_of

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = ["LazyGroup"]


@final
class LazyGroup(click.Group):
    """`elsewhere` maps each command's name to its module, and to its line in the help.

    A module holds the command under its own name.
    """

    def __init__(
        self, *arguments: Any, elsewhere: Mapping[str, tuple[str, str]], **options: Any
    ) -> None:
        super().__init__(*arguments, **options)
        self._elsewhere = elsewhere

    # --- finding commands

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's shape
        return list(self._elsewhere)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in self._elsewhere:
            return None
        module = importlib.import_module(self._elsewhere[cmd_name][0], __package__)
        command: click.Command = getattr(module, cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            close = difflib.get_close_matches(args[0], self._elsewhere, n=1)
            if not close:
                raise
            said = f"{error.message.rstrip('.')}; did you mean {close[0]}?"
            raise click.UsageError(said, ctx) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in self._elsewhere.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        names = [
            CompletionItem(name, help=line)
            for name, (_, line) in self._elsewhere.items()
            if name.startswith(incomplete)
        ]
        return names + click.Command.shell_complete(self, ctx, incomplete)

    # --- running them

    def invoke(self, ctx: click.Context) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()  # here, where a closed pipe can still be told apart
        except BrokenPipeError:
            silence_output()
            ctx.exit(ExitCode.PIPE_CLOSED)
        except (click.ClickException, click.Abort, click.exceptions.Exit):
            raise
        except Exception as error:  # noqa: BLE001 - the last place where it can be told
            ctx.exit(report(error, verbose=bool(flags_of(ctx).verbose)))
        return result

    def main(self, *arguments: Any, **options: Any) -> NoReturn:
        try:
            code = super().main(*arguments, **options | {"standalone_mode": False})
        except click.Abort:
            code = ExitCode.INTERRUPTED
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            code = error.exit_code
        except click.ClickException as error:
            click.echo(usage_line(error), err=True)
            code = error.exit_code
        except OSError as error:  # a help that cannot be written
            code = report(error, verbose=False)
        sys.exit(code if isinstance(code, int) else ExitCode.OK)
