"""`kubeloop completion`: prints the completion script for a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from .flags import verbose_flag

__all__ = ["completion"]


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@verbose_flag
@click.pass_context
def completion(ctx: click.Context, *, shell: str) -> None:
    """Print the script that completes commands, flags, resource types and contexts.

    \b
    Examples:
      source <(kubeloop completion bash)
      kubeloop completion zsh > "${fpath[1]}/_kubeloop"
      kubeloop completion fish > ~/.config/fish/completions/kubeloop.fish
    """
    script = get_completion_class(shell)
    assert script is not None, "click supports the shells in the list"
    program = ctx.find_root().command
    click.echo(script(program, {}, "kubeloop", "_KUBELOOP_COMPLETE").source())
