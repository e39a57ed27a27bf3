"""A group of commands that are imported when they are called.

Guarantees: help and completion of the group import no command; an error of a command becomes
one line and an exit code; a closed pipe is not reported as an error.
See also: `program` (the list of commands), `failures` (the text of errors).
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, NoReturn, final

import click

from .failures import ExitCode, report, silence_output, usage_line
from .flags import flags_of

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = ["LazyGroup"]


@final
class LazyGroup(click.Group):
    """`lazy_commands` maps the name of a command to its module and its line in the help.

    The module defines the command under that name, with `_` for `-`. `only_kubectl` are commands
    of kubectl that are not here: an error says so.
    """

    def __init__(
        self,
        *arguments: Any,
        lazy_commands: Mapping[str, tuple[str, str]],
        only_kubectl: Collection[str] = (),
        **options: Any,
    ) -> None:
        super().__init__(*arguments, **options)
        self._lazy_commands = lazy_commands
        self._only_kubectl = only_kubectl

    # --- lookup

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(self._lazy_commands)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in self._lazy_commands:
            return None
        module = importlib.import_module(self._lazy_commands[cmd_name][0], __package__)
        command: click.Command = getattr(module, cmd_name.replace("-", "_"))
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            if args[0] in self._only_kubectl:
                text = f"{args[0]} is a command of kubectl, not of kubeloop (use kubectl {args[0]})"
                raise click.UsageError(text, ctx) from error
            import difflib

            close = difflib.get_close_matches(args[0], self._lazy_commands, n=1)
            if not close:
                raise
            text = f"{error.message.rstrip('.')}; did you mean {close[0]}?"
            raise click.UsageError(text, ctx) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in self._lazy_commands.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        names = [
            CompletionItem(name, help=line)
            for name, (_, line) in self._lazy_commands.items()
            if name.startswith(incomplete)
        ]
        return names + click.Command.shell_complete(self, ctx, incomplete)

    # --- invocation

    def invoke(self, ctx: click.Context) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()  # a closed pipe must raise here, not at interpreter exit
        except BrokenPipeError:
            silence_output()
            ctx.exit(ExitCode.PIPE_CLOSED)
        except (click.ClickException, click.Abort, click.exceptions.Exit):
            raise
        except Exception as error:  # noqa: BLE001 - the last place that can report it
            ctx.exit(report(error, verbose=bool(flags_of(ctx).verbose)))
        return result

    def main(self, *arguments: Any, **options: Any) -> NoReturn:
        if "_KUBELOOP_COMPLETE" in os.environ:
            from .completion import register_shells

            register_shells()
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
        except OSError as error:  # the help could not be written
            code = report(error, verbose=False)
        sys.exit(code if isinstance(code, int) else ExitCode.OK)
