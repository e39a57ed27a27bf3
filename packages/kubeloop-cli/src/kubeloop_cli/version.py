"""`kubeloop version`: prints the versions of client and server."""

from __future__ import annotations

import platform

import click

from kubeloop import __version__
from kubeloop.config import EmptyConfig
from kubeloop.kit import run

from .flags import Flags, cluster_flags, connect, pass_flags
from .terminal import print_line, show_progress

__all__ = ["version"]


@click.command()
@click.option("--client", "client_only", is_flag=True, help="Print the client version only.")
@cluster_flags
@pass_flags
def version(flags: Flags, *, client_only: bool) -> None:
    """Print the versions of kubeloop, Python, and the server if one is configured.

    \b
    Examples:
      kubeloop version
      kubeloop version --client
    """
    click.echo(f"kubeloop {__version__}")
    click.echo(f"Python {platform.python_version()}")
    if client_only:
        return
    try:
        print_line(f"server {run(_server_version(flags))}")
    except EmptyConfig:
        click.echo("server: not configured")


async def _server_version(flags: Flags) -> str:
    async with connect(flags) as client, show_progress("loading"):
        return (await client.version()).git_version
