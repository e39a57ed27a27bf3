"""`kubeloop serve`: a Kubernetes API server in this process.

Guarantees: the server listens on loopback only, and rejects requests of web pages; Ctrl-C,
SIGTERM and a closed terminal stop it cleanly, and remove a temporary kubeconfig.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from kubeloop.kit import open_private, run
from kubeloop.wire import InvalidArgument
from kubeloop_testing import APIServer, Process

from .failures import CommandFailed
from .flags import verbose_flag
from .signals import stop_on_signals
from .terminal import show_progress

__all__ = ["serve"]


@click.command()
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="The port to listen on; 0 is any free port.",
)
@click.option(
    "--data",
    type=click.Path(dir_okay=False),
    help="The file that stores the objects; default: memory.",
)
@click.option(
    "-f", "--filename", "manifests", metavar="FILE|DIR", multiple=True,
    type=click.Path(exists=True), help="Objects to create at the start.",
)  # fmt: skip
@click.option("--simulate", is_flag=True, help="Simulate controllers and nodes, so that pods run.")
@click.option("--tls", is_flag=True, help="Serve HTTPS with a new certificate.")
@click.option("--rbac", is_flag=True, help="Authorize requests by roles; implies --tls.")
@click.option(
    "--anonymous-auth", type=bool, metavar="BOOL",
    help="Accept requests without credentials as system:anonymous, whose roles decide; default: "
    "true. With =false they are rejected; this implies --tls.",
)  # fmt: skip
@click.option(
    "--allow-host", "allow_hosts", metavar="HOST", multiple=True,
    help="Accept requests without credentials for this host: NAME or NAME:PORT.",
)  # fmt: skip
@click.option(
    "--runtime-config", "runtime_config", metavar="KEY=BOOL,…", default="",
    help="Built-in versions to enable or disable: api/all, api/beta, api/alpha, GROUP/VERSION or "
    "GROUP/VERSION/RESOURCE, each =true or =false; default: the stable versions.",
)  # fmt: skip
@click.option("--kubeconfig", type=click.Path(dir_okay=False), help="The kubeconfig file to write.")
@verbose_flag
def serve(*, kubeconfig: str | None, simulate: bool, **settings: Any) -> None:
    """Run a Kubernetes API server in this process, for tests and experiments.

    Prints a line that sets KUBECONFIG, so that kubectl and kubeloop use the server. Press
    Ctrl-C to stop it.

    \b
    Examples:
      kubeloop serve --simulate
      kubeloop serve --port 8080 --data cluster.db -f crds/
      kubeloop serve --kubeconfig ./kubeconfig
      kubeloop serve --runtime-config api/beta=true,resource.k8s.io/v1alpha3=true
    """
    settings["tls"] = settings["tls"] or None
    try:
        with _kubeconfig_at(kubeconfig) as path:
            run(_serve(path, settings, simulate=simulate))
    except KeyboardInterrupt:
        click.echo(err=True)  # on Windows, event loops have no signal handlers


async def _serve(kubeconfig: Path, settings: dict[str, Any], *, simulate: bool) -> None:
    async with contextlib.AsyncExitStack() as stack:
        stop = stack.enter_context(stop_on_signals())
        async with show_progress("starting"):
            server = await _start(stack, settings)
            if simulate:
                from kubeloop_testing import Workloads

                _add_programs(server)
                await stack.enter_async_context(Workloads(server.config))
        _write_private(kubeconfig, server.kubeconfig())
        click.echo(f"Serving at {server.url}")
        click.echo(f"export KUBECONFIG={shlex.quote(str(kubeconfig))}")
        click.echo("Press Ctrl-C to stop", err=True)
        await stop.wait()
        if sys.stderr.isatty():
            click.echo(err=True)  # a new line after the ^C of the terminal


def _add_programs(server: APIServer) -> None:
    """Give all containers a few programs, files and a web server, to try exec, cp and ports."""
    kubelet = server.kubelet
    page = b"<h1>simulated by kubeloop</h1>\n"
    # Registered files come with `cat`, `sh`, `tar` and `test`.
    files = kubelet.files({
        "/etc/motd": "simulated by kubeloop\n",
        "/usr/share/nginx/html/index.html": page,
    })  # fmt: skip

    async def echo(process: Process) -> int:
        await process.stdout.write(f"{' '.join(process.command[1:])}\n")
        return 0

    async def hostname(process: Process) -> int:
        await process.stdout.write(f"{process.pod}\n")
        return 0

    async def date(process: Process) -> int:
        now = datetime.now(UTC).strftime("%a %b %e %H:%M:%S UTC %Y")
        await process.stdout.write(f"{now}\n")
        return 0

    async def ls(process: Process) -> int:
        folder = next((each for each in process.command[1:] if not each.startswith("-")), "/")
        if folder not in files:
            await process.stderr.write(f"ls: {folder}: No such file or directory\n")
            return 2
        names = {path.removeprefix(folder).strip("/").partition("/")[0] or folder
                 for path, _ in files.below(folder)}  # fmt: skip
        shown = sorted(names - {folder}) or [folder]
        await process.stdout.write("".join(f"{name}\n" for name in shown))
        return 0

    async def serve_page(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(page)}"
        writer.write(f"{head}\r\nConnection: close\r\n\r\n".encode() + page)
        await writer.drain()

    for program in (echo, hostname, date, ls):
        kubelet.command(program.__name__, program)
    kubelet.port(80, serve_page)


async def _start(stack: contextlib.AsyncExitStack, settings: dict[str, Any]) -> APIServer:
    try:
        return await stack.enter_async_context(APIServer(**settings))
    except OSError as error:
        # The text of asyncio repeats the address.
        why = os.strerror(error.errno) if error.errno else str(error)
        raise CommandFailed(
            f"serve at port {settings['port']}: {why} (choose another port, or omit it for any)"
        ) from error


@contextlib.contextmanager
def _kubeconfig_at(path: str | None) -> Iterator[Path]:
    """The given path, or a temporary file that is removed at the end."""
    if path is not None:
        yield Path(path).absolute()
        return
    with tempfile.TemporaryDirectory(prefix="kubeloop-") as directory:
        yield Path(directory, "kubeconfig")


def _write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read: it may contain a token."""
    try:
        with open_private(path) as file:
            file.write(text.encode())
    except OSError as error:
        raise InvalidArgument(
            f"write the kubeconfig to {path}: {error.strerror} (choose a writable path)"
        ) from error
