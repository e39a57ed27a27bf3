"""`kubeloop cp`: copies files between this machine and containers.

Guarantees: those of `kubeloop.streams`: nothing is written outside of the target, and an
interrupted copy reports what is complete.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kubeloop.discovery import NoResourceMatch
from kubeloop.kit import run
from kubeloop.runtime import Client

from .completion import complete_container
from .flags import Flags, cluster_flags, connect, pass_flags
from .pods import ChosenPod, choose_container, choose_pod
from .terminal import show_progress

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubeloop.streams import CopyProgress

    from .terminal import DelayedProgress

__all__ = ["cp"]


@click.command()
@click.argument("source", metavar="SOURCE")
@click.argument("destination", metavar="DESTINATION")
@click.option(
    "-c",
    "--container",
    default="",
    help="The container; default: the default container of the pod.",
    shell_complete=complete_container,
)
@cluster_flags
@pass_flags
def cp(flags: Flags, *, source: str, destination: str, container: str) -> None:
    """Copy a file or a folder; a path in a container is POD:PATH. The container needs tar.

    The destination is the path of the copy. With a slash at its end, the copy is in that folder.

    \b
    Examples:
      kubeloop cp site web-1:/srv/www
      kubeloop cp deploy/web:/var/log/app logs -c app
      kubeloop cp shop/web-1:/etc/motd .
    """
    there, remote_source = _split(source)
    to, remote_destination = _split(destination)
    if bool(there) == bool(to):
        raise click.UsageError(
            "expected POD:PATH as the source or the destination, and a local path as the other",
            click.get_current_context(silent=True),
        )
    target = there or to

    async def main() -> None:
        async with connect(flags) as client, show_progress(f"copy {source}") as progress:
            chosen = await _choose_pod(client, target)
            pods = client.core_v1.pods(chosen.pod.metadata.namespace)
            used = container or choose_container(chosen.pod)
            report = _reporter(progress)
            if there:
                await pods.copy_from(
                    chosen.name, remote_source, destination, container=used, progress=report
                )
            else:
                await pods.copy_to(
                    chosen.name, source, remote_destination, container=used, progress=report
                )

    run(main())


async def _choose_pod(client: Client, target: str) -> ChosenPod:
    """As for other commands; `shop/web-1` is a pod in a namespace, as in `kubectl cp`."""
    try:
        return await choose_pod(client, "copy to or from", target)
    except NoResourceMatch:
        namespace, _, name = target.partition("/")
        return ChosenPod(await client.core_v1.pods(namespace).get(name))


def _split(path: str) -> tuple[str, str]:
    """The pod and the path in it; no pod for a local path."""
    pod, colon, rest = path.partition(":")
    # `./a:b` and `/a:b` are local.
    is_local = not colon or not pod or pod.startswith((".", "/", "~"))
    return ("", path) if is_local else (pod, rest)


def _reporter(progress: DelayedProgress) -> Callable[[CopyProgress], None]:
    done = 0

    def report(found: CopyProgress) -> None:
        nonlocal done
        progress.advance(found.size - done)
        done = found.size

    return report
