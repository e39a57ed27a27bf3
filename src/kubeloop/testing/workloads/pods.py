"""What the controllers of all workloads ask of pods, and do with them.

Promises: pods are counted as Kubernetes counts them: what is going or over counts no more;
a pod that is already gone, and a status that is already so, cost nothing.
Elsewhere: how a pod lives (`pod_life`), who makes which pods (the modules of the kinds).
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import msgspec

from kubeloop.errors import NotFound
from kubeloop.meta import ObjectKey, Owner, controller_ref, find_condition, is_condition_true
from kubeloop.runtime import Context, Result, update_status
from kubeloop.wire import Model, Resource
from kubeloop.wire.core.v1 import Pod, PodTemplateSpec
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop.workqueue import parallelize

__all__ = [
    "Counts",
    "available_again",
    "counted",
    "create_pods",
    "delete_pods",
    "is_active",
    "is_available",
    "is_ready",
    "owned_pods",
    "owner_uid",
    "pod_from",
    "save_status",
    "template_hash",
]

AT_ONCE = 16  # requests of one controller
# Letters and digits that make no words.
_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"


class Counts(msgspec.Struct, frozen=True):
    """How many pods there are, and how far they are."""

    all: int
    ready: int
    available: int


# --- looking at pods


def is_active(pod: Pod) -> bool:
    """Whether it runs, or will."""
    over = pod.status.phase in {"Succeeded", "Failed"}
    return pod.metadata.deletion_timestamp is None and not over


def is_ready(pod: Pod) -> bool:
    return is_condition_true(pod.status.conditions, "Ready")


def is_available(pod: Pod, min_ready: int, now: datetime) -> bool:
    """Whether it has been ready for so many seconds."""
    ready = find_condition(pod.status.conditions, "Ready")
    if ready is None or ready.status != "True":
        return False
    since = ready.last_transition_time
    return not min_ready or (since is not None and since + timedelta(seconds=min_ready) <= now)


def counted(pods: Sequence[Pod], min_ready: int | None, now: datetime) -> Counts:
    return Counts(
        all=len(pods),
        ready=sum(map(is_ready, pods)),
        available=sum(is_available(pod, min_ready or 0, now) for pod in pods),
    )


def available_again(counts: Counts, min_ready: int | None) -> Result | None:
    """When to look again: pods that are ready get available without a word."""
    if counts.ready == counts.available or not min_ready:
        return None
    return Result(requeue_after=1.0)


def owned_pods(ctx: Context, owner: Resource) -> list[Pod]:
    """The pods that an object controls, to be read only."""
    return ctx.lister(Pod).by_index("owner", str(owner.metadata.uid))


def owner_uid(obj: Resource) -> list[str]:
    """The index behind `owned_pods`: the uid of who controls an object."""
    return [str(each.uid) for each in obj.metadata.owner_references if each.controller]


# --- making and removing pods


def template_hash(template: PodTemplateSpec) -> str:
    """A short name for a template, which another template does not have."""
    content = msgspec.json.encode(template.to_dict(), order="sorted")
    digest = hashlib.sha256(content).digest()
    return "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in digest[:10])


def pod_from(
    template: PodTemplateSpec,
    owner: Owner,
    *,
    name: str = "",
    labels: Mapping[str, str] | None = None,
) -> Pod:
    """A pod as its template says; without a name, the owner's with a random end."""
    key = ObjectKey.of(owner)
    return Pod(
        metadata=ObjectMeta(
            name=name,
            generate_name="" if name else f"{key.name}-",
            namespace=key.namespace,
            labels={**template.metadata.labels, **(labels or {})},
            annotations=dict(template.metadata.annotations),
            owner_references=[controller_ref(owner)],
        ),
        spec=template.spec,
    )


async def create_pods(ctx: Context, pods: Sequence[Pod]) -> None:
    """Create them, some at a time. Cancelled, some may be there."""
    at = ctx.client.resource(Pod, namespace=ctx.key.namespace)

    async def create(number: int) -> None:
        await at.create(pods[number])

    await parallelize(create, len(pods), workers=AT_ONCE)


async def delete_pods(ctx: Context, pods: Sequence[Pod]) -> None:
    """Have them end, some at a time. Cancelled, some may be on their way."""
    at = ctx.client.resource(Pod, namespace=ctx.key.namespace)

    async def delete(number: int) -> None:
        metadata = pods[number].metadata
        await at.delete(str(metadata.name), expected_uid=str(metadata.uid), missing_ok=True)

    await parallelize(delete, len(pods), workers=AT_ONCE)


# --- status


async def save_status(ctx: Context, obj: Resource, status: Model) -> None:
    """Make the status of an object this one; nothing is sent when it is.

    No version is named: only the simulation writes these, and the next look mends the rest.
    """
    key = ObjectKey.of(obj)
    metadata = {"name": key.name, "namespace": key.namespace}
    new = type(obj).from_dict({"metadata": metadata, "status": status.to_dict()})
    with contextlib.suppress(NotFound):  # it went meanwhile
        await update_status(ctx.client, new, before=obj)
