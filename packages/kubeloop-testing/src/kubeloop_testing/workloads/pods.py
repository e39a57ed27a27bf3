"""Operations on pods that the controllers of all workloads share.

Guarantees: pods are counted as in Kubernetes: terminating and finished ones do not count;
deleting a missing pod and saving an unchanged status do nothing.
See also: the lifecycle of a pod (`pod_lifecycle`), the controllers (the modules of the kinds).
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
    "count_pods",
    "create_pods",
    "delete_pods",
    "is_active",
    "is_available",
    "is_ready",
    "owned_pods",
    "owner_uid",
    "pod_from",
    "requeue_until_available",
    "save_status",
    "template_hash",
]

PARALLEL_REQUESTS = 16  # of one reconcile
# Without vowels, so that no hash spells a word, as `rand.SafeEncodeString` of apimachinery.
_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"


class Counts(msgspec.Struct, frozen=True):
    """How many pods exist, are ready, and are available."""

    all: int
    ready: int
    available: int


# --- reading pods


def is_active(pod: Pod) -> bool:
    """Whether it is neither finished nor terminating, as `IsPodActive` of Kubernetes."""
    is_finished = pod.status.phase in {"Succeeded", "Failed"}
    return pod.metadata.deletion_timestamp is None and not is_finished


def is_ready(pod: Pod) -> bool:
    return is_condition_true(pod.status.conditions, "Ready")


def is_available(pod: Pod, min_ready: int, now: datetime) -> bool:
    """Whether it has been ready for at least `min_ready` seconds."""
    ready = find_condition(pod.status.conditions, "Ready")
    if ready is None or ready.status != "True":
        return False
    since = ready.last_transition_time
    return not min_ready or (since is not None and since + timedelta(seconds=min_ready) <= now)


def count_pods(pods: Sequence[Pod], min_ready: int | None, now: datetime) -> Counts:
    return Counts(
        all=len(pods),
        ready=sum(map(is_ready, pods)),
        available=sum(is_available(pod, min_ready or 0, now) for pod in pods),
    )


def requeue_until_available(counts: Counts, min_ready: int | None) -> Result | None:
    """Requeue while ready pods are not yet available: no watch event will report that."""
    if counts.ready == counts.available or not min_ready:
        return None
    return Result(requeue_after=1.0)


def owned_pods(ctx: Context, owner: Resource) -> list[Pod]:
    """The pods that an object controls; do not modify them."""
    return ctx.lister(Pod).by_index("owner", str(owner.metadata.uid))


def owner_uid(obj: Resource) -> list[str]:
    """The index function of `owned_pods`: the uid of the controller reference."""
    return [str(each.uid) for each in obj.metadata.owner_references if each.controller]


# --- creating and deleting pods


def template_hash(template: PodTemplateSpec) -> str:
    """A short hash of a template, for names and labels."""
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
    """A new pod from a template; without `name`, with the owner's name and a random suffix."""
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
    """Create pods in parallel. If cancelled, some may be created."""
    at = ctx.client.resource(Pod, namespace=ctx.key.namespace)

    async def create(number: int) -> None:
        await at.create(pods[number])

    await parallelize(create, len(pods), workers=PARALLEL_REQUESTS)


async def delete_pods(ctx: Context, pods: Sequence[Pod]) -> None:
    """Delete pods in parallel. If cancelled, some may be deleted."""
    at = ctx.client.resource(Pod, namespace=ctx.key.namespace)

    async def delete(number: int) -> None:
        metadata = pods[number].metadata
        await at.delete(str(metadata.name), expected_uid=str(metadata.uid), missing_ok=True)

    await parallelize(delete, len(pods), workers=PARALLEL_REQUESTS)


# --- status


async def save_status(ctx: Context, obj: Resource, status: Model) -> None:
    """Write the status of an object, unless it is unchanged.

    Without a resource version: only the simulation writes these, and the next reconcile corrects
    a status that was computed from a stale object.
    """
    key = ObjectKey.of(obj)
    metadata = {"name": key.name, "namespace": key.namespace}
    new = type(obj).from_dict({"metadata": metadata, "status": status.to_dict()})
    with contextlib.suppress(NotFound):  # deleted in the meantime
        await update_status(ctx.client, new, before=obj)
