"""`kubeloop scale`: sets the number of replicas, and waits for them.

Guarantees: with `--current-replicas` or `--resource-version`, a change by another writer in the
meantime is an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from kubeloop.runtime import Client

from .durations import DurationType
from .failures import CommandFailed
from .flags import Flags, OptionalValueCommand, cluster_flags, pass_flags
from .outputs import Output
from .sources import ObjectRef, Outcomes, Sources, object_flags, outcome_flags, run_on_objects

__all__ = ["scale"]


@click.command(cls=OptionalValueCommand)
@object_flags("KIND NAME… | KIND/NAME…")
@click.option(
    "--replicas", type=click.IntRange(min=0), required=True, help="The new number of replicas."
)
@click.option(
    "--current-replicas", type=int, default=-1, help="Only if it has this number of replicas."
)
@click.option("--resource-version", default="", help="Only if the object has this version.")
@click.option(
    "--timeout", type=DurationType(), default="0s",
    help="Wait until the replicas are ready, at most this long; default: do not wait.",
)  # fmt: skip
@outcome_flags
@cluster_flags
@pass_flags
def scale(
    flags: Flags,
    /,
    *,
    replicas: int,
    current_replicas: int,
    resource_version: str,
    timeout: float,
    output: Output | None,
    dry_run: Any,
    **sources: Any,
) -> None:
    """Set the number of replicas of a deployment, a stateful set, or any kind with a scale.

    \b
    Examples:
      kubeloop scale deploy/web --replicas=3
      kubeloop scale deploy web --replicas=5 --current-replicas=3
      kubeloop scale statefulset -l app=db --replicas=0 --timeout=2m
    """
    outcomes = Outcomes(output=output, dry_run=dry_run)

    def check(_: Client, found: Sequence[ObjectRef]) -> None:
        if not found:
            raise CommandFailed("no objects passed to scale")

    async def process(client: Client, ref: ObjectRef) -> None:
        resource = ref.client(client)
        scales = resource.subresource("scale")
        now = await scales.get(ref.name)
        version = now.metadata.resource_version or ""
        if current_replicas >= 0 and current_replicas != (now.spec.replicas or 0):
            raise CommandFailed(
                f"{ref}: Expected replicas to be {current_replicas}, was {now.spec.replicas or 0}"
            )
        if resource_version and resource_version != version:
            raise CommandFailed(
                f"{ref}: Expected resource version to be {resource_version}, was {version}"
            )
        is_conditional = bool(resource_version) or current_replicas >= 0
        if outcomes.dry_run != "client":
            await scales.set(
                ref.name,
                replicas,
                dry_run=outcomes.is_server_dry_run,
                expected_version=version if is_conditional else "",
                wait=timeout > 0,
                timeout=timeout or None,
            )
        obj: dict[str, Any] = {"metadata": {"name": ref.name}}
        if output is not None and output.format != "name":
            obj = await resource.get(ref.name)
        outcomes.show(ref.info, obj, "scaled")

    run_on_objects(flags, "scale", Sources(**sources), process, check=check)
