"""`kubeloop logs`: prints the logs of a container.

Guarantees: lines are printed as they arrive; a pipe gets them unchanged, a terminal gets
colors and no other control sequences. If there are several pods or containers, one is used
and reported.
"""

from __future__ import annotations

import math
import sys
from contextlib import aclosing
from typing import Any

import click

from kubeloop.errors import InvalidArgument
from kubeloop.kit import run
from kubeloop.runtime import Client
from kubeloop.selectors import selector_from_wire
from kubeloop.wire.core.v1 import Pod

from .durations import DurationType
from .failures import CommandFailed
from .flags import Flags, cluster_flags, connect, pass_flags
from .kinds import find_kinds, parse_targets, resource_client_of
from .terminal import print_content, print_line

__all__ = ["logs"]

_DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"


@click.command()
@click.argument("target", metavar="POD|KIND/NAME", nargs=1)
@click.option(
    "-c",
    "--container",
    default="",
    help="The container; default: the default container of the pod.",
)
@click.option("-f", "--follow", is_flag=True, help="Stream new lines as they are written.")
@click.option(
    "--since", type=DurationType(), help="Only lines newer than this duration, such as 10m."
)
@click.option("--tail", type=click.IntRange(min=0), help="Only this number of lines from the end.")
@click.option("--timestamps", is_flag=True, help="Print the time of each line.")
@click.option(
    "-p", "--previous", is_flag=True, help="The logs of the previous instance of the container."
)
@cluster_flags
@pass_flags
def logs(
    flags: Flags,
    *,
    target: str,
    container: str,
    follow: bool,
    since: float | None,
    tail: int | None,
    timestamps: bool,
    previous: bool,
) -> None:
    """Print the logs of a container in a pod.

    For a deployment, or another resource that selects pods, one of its pods is used.

    \b
    Examples:
      kubeloop logs web-1
      kubeloop logs deploy/web -f --tail 10
      kubeloop logs web-1 -c sidecar --since 10m
      kubeloop logs web-1 --previous
    """
    options: dict[str, Any] = {
        "container": container,
        "follow": follow,
        "since_seconds": math.ceil(since) if since is not None else None,
        "tail_lines": tail,
        "timestamps": timestamps,
        "previous": previous,
    }
    run(_logs(flags, target, options))


async def _logs(flags: Flags, target: str, options: dict[str, Any]) -> None:
    async with connect(flags) as client:
        pod = await _pod(client, target)
        if not options["container"]:
            options["container"] = _container(pod)
        lines = client.core_v1.pods(pod.metadata.namespace).logs(pod.metadata.name or "", **options)
        async with aclosing(lines) as stream:
            async for line in stream:
                print_content(f"{line}\n")
                sys.stdout.flush()


async def _pod(client: Client, target: str) -> Pod:
    """The pod with that name, or the first one that the named object selects."""
    if "/" not in target:
        return await client.core_v1.pods().get(target)
    (parsed,) = parse_targets([target])
    (info, *_) = await find_kinds(client, parsed.kinds)
    if (info.group, info.kind) == ("", "Pod"):
        return await client.core_v1.pods().get(parsed.names[0])
    owner = await resource_client_of(client, info).get(parsed.names[0])
    pods = await client.core_v1.pods().list(selector=_selector(target, owner))
    if not pods.items:
        raise CommandFailed(f"logs of {target}: it has no pods (is it scaled to zero?)")
    chosen = pods[0]
    if len(pods) > 1:
        print_line(f"Found {len(pods)} pods, using pod/{chosen.metadata.name}", err=True)
    return chosen


def _selector(target: str, owner: dict[str, Any]) -> str:
    """The label selector of an object's pods; Services and others have a plain map of labels."""
    selector = (owner.get("spec") or {}).get("selector")
    if not isinstance(selector, dict) or not selector:
        raise InvalidArgument(f"logs of {target}: it selects no pods (name a pod)")
    if not {"matchLabels", "matchExpressions"} & selector.keys():
        selector = {"matchLabels": selector}
    return str(selector_from_wire(selector))


def _container(pod: Pod) -> str:
    """The default container of the pod, or its first."""
    names = [each.name for each in pod.spec.containers]
    default = (pod.metadata.annotations or {}).get(_DEFAULT_CONTAINER, "")
    chosen = default if default in names else next(iter(names), "")
    if len(names) > 1:
        print_line(f'Defaulted container "{chosen}" out of: {", ".join(names)}', err=True)
    return chosen or ""
