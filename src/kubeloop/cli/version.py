"""`kubeloop version`: which versions are at work."""

from __future__ import annotations

import platform

import click

from kubeloop import __version__
from kubeloop.config import EmptyConfig
from kubeloop.kit import run

from .flags import Flags, cluster_flags, connected, pass_flags
from .terminal import patience, print_line

__all__ = ["version"]


@click.command()
@click.option("--client", "client_only", is_flag=True, help="Do not ask the server.")
@cluster_flags
@pass_flags
def version(flags: Flags, *, client_only: bool) -> None:
    """The versions of kubeloop, of Python, and of the server if there is one.

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
        click.echo("server: none is configured")


async def _server_version(flags: Flags) -> str:
    async with connected(flags) as client, patience("asking the server"):
        return (await client.version()).git_version
