"""`kubeloop exec`, `attach` and `debug`: programs in containers, in this terminal.

Guarantees: the exit code is that of the program; bytes are passed on unchanged. With -t the
terminal is in raw mode, so that keys such as Ctrl-C go to the program; at the end it is always
restored.
See also: `raw_terminal` (keys and sizes), `kubeloop.streams` (the connection).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from kubeloop.kit import TaskOwner, run

from .completion import complete_container, complete_pod
from .flags import Flags, cluster_flags, connect, pass_flags
from .pods import choose_container, choose_pod
from .raw_terminal import InputReader, OutputWriter, RawTerminal
from .terminal import print_line

if TYPE_CHECKING:
    from kubeloop.streams import Process, ProcessOutput, RemoteCommand

__all__ = ["attach", "debug", "exec"]

_stdin_flag = click.option("-i", "--stdin", is_flag=True, help="Pass stdin to the program.")
_tty_flag = click.option("-t", "--tty", is_flag=True, help="Give the program a terminal.")
_container_flag = click.option(
    "-c",
    "--container",
    default="",
    help="The container; default: the default container of the pod.",
    shell_complete=complete_container,
)


@click.command()
@click.argument("target", metavar="POD|KIND/NAME", shell_complete=complete_pod)
@click.argument("command", metavar="-- COMMAND…", nargs=-1, required=True, type=click.UNPROCESSED)
@_container_flag
@_stdin_flag
@_tty_flag
@cluster_flags
@pass_flags
def exec(  # noqa: A001 - the name of the command
    flags: Flags, *, target: str, command: tuple[str, ...], container: str, stdin: bool, tty: bool
) -> None:
    """Run a program in a container. The exit code is that of the program.

    For a deployment, or another resource that selects pods, one of its pods is used.

    \b
    Examples:
      kubeloop exec web-1 -- ls /
      kubeloop exec -it deploy/web -- sh
      tar cf - site | kubeloop exec -i web-1 -- tar xf - -C /srv
    """

    async def main() -> int:
        async with connect(flags) as client:
            chosen = await choose_pod(client, "exec in", target)
            pods = client.core_v1.pods(chosen.pod.metadata.namespace)
            used = container or choose_container(chosen.pod)
            call = pods.exec(chosen.name, command, container=used, stdin=stdin, tty=tty)
            return await _talk(call, stdin=stdin, tty=tty)

    _exit_with(run(main()))


@click.command()
@click.argument("target", metavar="POD|KIND/NAME", shell_complete=complete_pod)
@_container_flag
@_stdin_flag
@_tty_flag
@cluster_flags
@pass_flags
def attach(flags: Flags, *, target: str, container: str, stdin: bool, tty: bool) -> None:
    """Connect to the program that a container runs.

    \b
    Examples:
      kubeloop attach web-1
      kubeloop attach -it web-1 -c shell
    """

    async def main() -> int:
        async with connect(flags) as client:
            chosen = await choose_pod(client, "attach to", target)
            pods = client.core_v1.pods(chosen.pod.metadata.namespace)
            used = container or choose_container(chosen.pod)
            call = pods.attach(chosen.name, container=used, stdin=stdin, tty=tty)
            return await _talk(call, stdin=stdin, tty=tty)

    _exit_with(run(main()))


@click.command()
@click.argument("target", metavar="POD|KIND/NAME", shell_complete=complete_pod)
@click.argument("command", metavar="[-- COMMAND…]", nargs=-1, type=click.UNPROCESSED)
@click.option("--image", required=True, help="The image of the container, such as busybox.")
@click.option("--target", "target_container", default="", help="Share the processes of this one.")
@click.option("-c", "--container", default="", help="The name of the new container.")
@_stdin_flag
@_tty_flag
@cluster_flags
@pass_flags
def debug(
    flags: Flags,
    *,
    target: str,
    command: tuple[str, ...],
    image: str,
    target_container: str,
    container: str,
    stdin: bool,
    tty: bool,
) -> None:
    """Add an ephemeral container to a running pod, and attach to it.

    \b
    Examples:
      kubeloop debug web-1 --image busybox -it
      kubeloop debug web-1 --image busybox --target app -it -- sh
    """

    async def main() -> int:
        async with connect(flags) as client:
            chosen = await choose_pod(client, "debug", target)
            call = client.core_v1.pods(chosen.pod.metadata.namespace).debug(
                chosen.name,
                image=image,
                command=command,
                name=container,
                target_container=target_container,
                stdin=stdin,
                tty=tty,
            )
            return await _talk(call, stdin=stdin, tty=tty)

    _exit_with(run(main()))


def _exit_with(code: int) -> None:
    if code:
        print_line(f"command terminated with exit code {code}", err=True)
        raise click.exceptions.Exit(code)


async def _talk(call: RemoteCommand, *, stdin: bool, tty: bool) -> int:
    """Connect a program with this terminal or its pipes; returns the exit code."""
    if tty and not (stdin and sys.stdin.isatty()):
        print_line("Unable to use a TTY: the input is not a terminal", err=True)
    is_raw = tty and stdin and sys.stdin.isatty()
    async with call as process, TaskOwner() as tasks:
        outputs = [
            tasks.spawn(_copy(process.stdout, sys.stdout.fileno()), name="stdout"),
            tasks.spawn(_copy(process.stderr, sys.stderr.fileno()), name="stderr"),
        ]
        with RawTerminal(enabled=is_raw) as terminal:
            if is_raw:
                tasks.spawn(_resize(process, terminal), name="terminal size")
            if stdin:
                tasks.spawn(_send(process), name="stdin")
            for output in outputs:
                await output
            return await process.wait()


async def _copy(output: ProcessOutput, fd: int) -> None:
    writer = OutputWriter(fd)
    async with TaskOwner() as tasks:
        writing = tasks.spawn(writer.run(), name=f"output to {fd}")
        async for chunk in output:
            await writer.write(chunk)
        writer.end()
        await writing


async def _send(process: Process) -> None:
    from kubeloop.errors import TransportError
    from kubeloop.streams import UnsupportedByServer

    reader = InputReader(sys.stdin.fileno())
    try:
        while chunk := await reader.read():
            await process.stdin.write(chunk)
        await process.stdin.close()
    except UnsupportedByServer as error:
        print_line(f"warning: {error}", err=True)
    except TransportError:
        return  # the outputs report it


async def _resize(process: Process, terminal: RawTerminal) -> None:
    from kubeloop.errors import TransportError

    try:
        while True:
            await process.resize(*terminal.size())
            await terminal.resized()
    except TransportError:
        return  # the program may have ended already; else the outputs report it
