"""`kubeloop serve`: a Kubernetes API server in this process.

Promises: it listens on this machine alone, and no web page can use it; Ctrl-C, SIGTERM and a
closed terminal end it cleanly, and a kubeconfig that nobody asked for goes with it.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from kubeloop.kit import run
from kubeloop.testing import APIServer
from kubeloop.wire import InvalidArgument

from .failures import CommandFailed
from .flags import verbose_flag
from .signals import ended_by_signals
from .terminal import patience

__all__ = ["serve"]


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Where; 0 is any free one.")
@click.option(
    "--data", type=click.Path(dir_okay=False), help="A file in which everything survives."
)
@click.option(
    "-f", "--filename", "manifests", metavar="FILE|DIR", multiple=True,
    type=click.Path(exists=True), help="What is there from the start.",
)  # fmt: skip
@click.option("--simulate", is_flag=True, help="Let deployments, jobs and pods come to life.")
@click.option("--tls", is_flag=True, help="HTTPS, with a certificate made on the spot.")
@click.option("--rbac", is_flag=True, help="Rights decided by roles; implies --tls.")
@click.option(
    "--allow-host", "allow_hosts", metavar="HOST", multiple=True,
    help="Another name that the server answers to without credentials: NAME or NAME:PORT.",
)  # fmt: skip
@click.option(
    "--kubeconfig", type=click.Path(dir_okay=False), help="Where to write the kubeconfig."
)
@verbose_flag
def serve(*, kubeconfig: str | None, simulate: bool, **settings: Any) -> None:
    """A Kubernetes API server in this process, for trying things out.

    It answers as a real one does, and prints the line that makes kubectl and this
    program use it. Ctrl-C ends it.

    \b
    Examples:
      kubeloop serve --simulate
      kubeloop serve --port 8080 --data cluster.db -f crds/
      kubeloop serve --kubeconfig ./kubeconfig
    """
    settings["tls"] = settings["tls"] or None
    try:
        with _kubeconfig_at(kubeconfig) as path:
            run(_serve(path, settings, simulate=simulate))
    except KeyboardInterrupt:
        click.echo(err=True)  # Windows has no signal handlers of a loop


async def _serve(kubeconfig: Path, settings: dict[str, Any], *, simulate: bool) -> None:
    async with contextlib.AsyncExitStack() as stack:
        end = stack.enter_context(ended_by_signals())
        async with patience("starting"):
            server = await _started(stack, settings)
            if simulate:
                from kubeloop.testing import Workloads

                await stack.enter_async_context(Workloads(server.config))
        _write_private(kubeconfig, server.kubeconfig())
        click.echo(f"serving at {server.url}")
        click.echo(f"export KUBECONFIG={shlex.quote(str(kubeconfig))}")
        click.echo("Ctrl-C ends it", err=True)
        await end.wait()
        if sys.stderr.isatty():
            click.echo(err=True)  # behind the ^C that the terminal has written


async def _started(stack: contextlib.AsyncExitStack, settings: dict[str, Any]) -> APIServer:
    try:
        return await stack.enter_async_context(APIServer(**settings))
    except OSError as error:
        # The loop's own text names the address once more.
        why = os.strerror(error.errno) if error.errno else str(error)
        raise CommandFailed(
            f"serve at port {settings['port']}: {why} (choose another one, or leave it out for any)"
        ) from error


@contextlib.contextmanager
def _kubeconfig_at(path: str | None) -> Iterator[Path]:
    """Where the kubeconfig goes: as it was said, else a file that goes with us."""
    if path is not None:
        yield Path(path).absolute()
        return
    with tempfile.TemporaryDirectory(prefix="kubeloop-") as folder:
        yield Path(folder, "kubeconfig")


def _write_private(path: Path, text: str) -> None:
    """Write what only its owner may read: it may hold a token. Raises: InvalidArgument."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise InvalidArgument(
            f"write the kubeconfig to {path}: {error.strerror} (name a file in a folder of yours)"
        ) from error
