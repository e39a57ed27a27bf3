"""`kubeloop logs`: prints the logs of containers.

Guarantees: lines are printed as they arrive; a pipe gets them unchanged, a terminal gets
colors and no other control sequences. If there are several pods or containers, one is used
and reported, unless a flag selects them all.
"""

from __future__ import annotations

import math
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import click

from kubeloop.kit import run
from kubeloop.runtime import Client
from kubeloop.streams import LogEntry, LogGap, LogLine

from .completion import complete_container, complete_pod
from .durations import DurationType
from .flags import Flags, cluster_flags, connect, pass_flags
from .pods import choose_container, choose_pod
from .terminal import print_content, print_line

__all__ = ["logs"]


@click.command()
@click.argument(
    "target",
    metavar="[POD|KIND/NAME]",
    required=False,
    default="",
    shell_complete=complete_pod,
)
@click.option(
    "-c",
    "--container",
    default="",
    help="The container; default: the default container of the pod.",
    shell_complete=complete_container,
)
@click.option("--all-containers", is_flag=True, help="All containers of each pod.")
@click.option("-l", "--selector", default="", help="All pods with these labels, such as app=web.")
@click.option("-f", "--follow", is_flag=True, help="Stream new lines as they are written.")
@click.option("--prefix", is_flag=True, help="Print the pod and the container of each line.")
@click.option(
    "--since", type=DurationType(), help="Only lines newer than this duration, such as 10m."
)
@click.option("--tail", type=click.IntRange(min=0), help="Only this number of lines from the end.")
@click.option("--timestamps", is_flag=True, help="Print the time of each line.")
@click.option(
    "-p", "--previous", is_flag=True, help="The logs of the previous instance of the container."
)
@click.option(
    "--max-log-requests",
    "max_streams",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="The number of containers that are followed at most.",
)
@cluster_flags
@pass_flags
def logs(
    flags: Flags,
    *,
    target: str,
    container: str,
    all_containers: bool,
    selector: str,
    follow: bool,
    prefix: bool,
    since: float | None,
    tail: int | None,
    timestamps: bool,
    previous: bool,
    max_streams: int,
) -> None:
    """Print the logs of a container in a pod, or of many.

    For a deployment, or another resource that selects pods, one of its pods is used. A log that
    is followed continues after lost connections and restarts; with -l also in new pods.

    \b
    Examples:
      kubeloop logs web-1
      kubeloop logs deploy/web -f --tail 10
      kubeloop logs web-1 -c sidecar --since 10m
      kubeloop logs -l app=web --all-containers --prefix -f
      kubeloop logs web-1 --previous
    """
    if bool(target) == bool(selector):
        raise click.UsageError(
            "expected either a pod or --selector", click.get_current_context(silent=True)
        )
    options: dict[str, Any] = {
        "container": container,
        "follow": follow,
        "since_seconds": math.ceil(since) if since is not None else None,
        "tail_lines": tail,
        "previous": previous,
    }
    if selector or all_containers:
        many = {"all_containers": all_containers, "max_streams": max_streams}
        run(
            _print_many(
                flags, target, selector, options | many, prefix=prefix, timestamps=timestamps
            )
        )
    else:
        run(_print_one(flags, target, options | {"timestamps": timestamps}, prefix=prefix))


async def _print_one(flags: Flags, target: str, options: dict[str, Any], *, prefix: bool) -> None:
    async with connect(flags) as client:
        chosen = await choose_pod(client, "logs of", target)
        if not options["container"]:
            options["container"] = choose_container(chosen.pod)
        start = f"[pod/{chosen.name}/{options['container']}] " if prefix else ""
        lines = client.core_v1.pods(chosen.pod.metadata.namespace).logs(chosen.name, **options)
        async with aclosing(lines) as stream:
            async for line in stream:
                print_content(f"{start}{line}\n")
                sys.stdout.flush()


async def _print_many(
    flags: Flags,
    target: str,
    selector: str,
    options: dict[str, Any],
    *,
    prefix: bool,
    timestamps: bool,
) -> None:
    async with connect(flags) as client:
        entries = await _entries(client, target, selector, options)
        async with aclosing(entries) as stream:
            async for entry in stream:
                _print_entry(entry, prefix=prefix, timestamps=timestamps)


async def _entries(
    client: Client, target: str, selector: str, options: dict[str, Any]
) -> AsyncGenerator[LogEntry, None]:
    if selector:
        return client.core_v1.pods().log_entries(selector=selector, **options)
    chosen = await choose_pod(client, "logs of", target)
    return client.core_v1.pods().log_entries(chosen.name, **options)


def _print_entry(entry: LogEntry, *, prefix: bool, timestamps: bool) -> None:
    if isinstance(entry, LogLine):
        start = f"[pod/{entry.pod}/{entry.container}] " if prefix else ""
        time = f"{entry.timestamp} " if timestamps and entry.timestamp else ""
        print_content(f"{start}{time}{entry.text}\n")
        sys.stdout.flush()
    elif isinstance(entry, LogGap):
        print_line(f"{entry.pod}/{entry.container}: lines may be missing: {entry.reason}", err=True)
    elif entry.restarts:
        print_line(f"{entry.pod}/{entry.container}: restart {entry.restarts}", err=True)
