"""`kubeloop logs`: what a container has written.

Promises: lines are written as they come; a pipe gets them unchanged, a terminal gets colours
and no other control sequence; of several pods or containers one is chosen, and it is said which.
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
from .flags import Flags, cluster_flags, connected, pass_flags
from .kinds import collection_of, find_kinds, parse_wanted
from .terminal import print_content, print_line

__all__ = ["logs"]

_DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"


@click.command()
@click.argument("wanted", metavar="POD|KIND/NAME", nargs=1)
@click.option("-c", "--container", default="", help="Which container; else the pod's default.")
@click.option("-f", "--follow", is_flag=True, help="Go on with what is still to come.")
@click.option("--since", type=DurationType(), help="Only of so long ago until now: 10m.")
@click.option("--tail", type=click.IntRange(min=0), help="Only so many of the last lines.")
@click.option("--timestamps", is_flag=True, help="The time of each line before it.")
@click.option("-p", "--previous", is_flag=True, help="Of the container before its last restart.")
@cluster_flags
@pass_flags
def logs(
    flags: Flags,
    *,
    wanted: str,
    container: str,
    follow: bool,
    since: float | None,
    tail: int | None,
    timestamps: bool,
    previous: bool,
) -> None:
    """What a container of a pod has written.

    For a deployment, or anything else that selects pods, one of its pods is chosen.

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
    run(_logs(flags, wanted, options))


async def _logs(flags: Flags, wanted: str, options: dict[str, Any]) -> None:
    async with connected(flags) as client:
        pod = await _pod(client, wanted)
        if not options["container"]:
            options["container"] = _container(pod)
        lines = client.core_v1.pods(pod.metadata.namespace).logs(pod.metadata.name or "", **options)
        async with aclosing(lines) as written:  # type: ignore[type-var] # a generator, by its body
            async for line in written:
                print_content(f"{line}\n")
                sys.stdout.flush()


async def _pod(client: Client, wanted: str) -> Pod:
    """The pod that is meant by its own name, or by what selects it."""
    if "/" not in wanted:
        return await client.core_v1.pods().get(wanted)
    (asked,) = parse_wanted([wanted])
    (info, *_) = await find_kinds(client, asked.kinds)
    if (info.group, info.kind) == ("", "Pod"):
        return await client.core_v1.pods().get(asked.names[0])
    found = await collection_of(client, info).get(asked.names[0])
    pods = await client.core_v1.pods().list(selector=_selector(wanted, found))
    if not pods.items:
        raise CommandFailed(f"logs of {wanted}: it has no pods (is it scaled to zero?)")
    chosen = pods[0]
    if len(pods) > 1:
        print_line(f"{len(pods)} pods, taken is pod/{chosen.metadata.name}", err=True)
    return chosen


def _selector(wanted: str, found: dict[str, Any]) -> str:
    """The labels of the pods that an object selects: some kinds say it in the old form."""
    said = (found.get("spec") or {}).get("selector")
    if not isinstance(said, dict) or not said:
        raise InvalidArgument(f"logs of {wanted}: it selects no pods (name a pod)")
    structured = (
        said if {"matchLabels", "matchExpressions"} & said.keys() else {"matchLabels": said}
    )
    return str(selector_from_wire(structured))


def _container(pod: Pod) -> str:
    """The container that the pod names as its default, else its first."""
    names = [each.name for each in pod.spec.containers]
    default = (pod.metadata.annotations or {}).get(_DEFAULT_CONTAINER, "")
    chosen = default if default in names else next(iter(names), "")
    if len(names) > 1:
        print_line(f"{len(names)} containers, taken is {chosen} (-c chooses)", err=True)
    return chosen or ""
