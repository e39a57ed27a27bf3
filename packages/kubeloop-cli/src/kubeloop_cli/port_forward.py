"""`kubeloop port-forward`: local ports that lead to a pod.

Guarantees: the ports are printed when they can be used; Ctrl-C ends all connections.
"""

from __future__ import annotations

import asyncio

import click

from kubeloop.kit import run

from .completion import complete_pod
from .flags import Flags, cluster_flags, connect, pass_flags
from .terminal import print_line

__all__ = ["port_forward"]


@click.command("port-forward")
@click.argument("target", metavar="POD|KIND/NAME", shell_complete=complete_pod)
@click.argument("ports", metavar="[LOCAL:]PORT…", nargs=-1, required=True)
@click.option(
    "--address",
    "addresses",
    multiple=True,
    default=("localhost",),
    show_default=True,
    help="Where to listen: localhost or an IP address; can be repeated.",
)
@click.option(
    "--reconnect", is_flag=True, help="Follow a pod that is replaced, and survive lost connections."
)
@cluster_flags
@pass_flags
def port_forward(
    flags: Flags,
    *,
    target: str,
    ports: tuple[str, ...],
    addresses: tuple[str, ...],
    reconnect: bool,
) -> None:
    """Forward local ports to ports of a pod, until Ctrl-C.

    The ports of a service are mapped to those of one of its pods.

    \b
    Examples:
      kubeloop port-forward web-1 8080
      kubeloop port-forward svc/web 8888:80 --reconnect
      kubeloop port-forward deploy/web :8080
    """

    async def main() -> None:
        async with (
            connect(flags) as client,
            client.core_v1.pods().port_forward(
                target, *ports, addresses=addresses, reconnect=reconnect
            ) as forward,
        ):
            for address, port in forward.listeners:
                host = f"[{address}]" if ":" in address else address
                print_line(f"Forwarding from {host}:{port.local} -> {port.remote}")
            await asyncio.Event().wait()

    run(main())
