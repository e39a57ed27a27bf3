"""ReplicaSets: so many pods of one template, no more and no fewer.

Promises: pods that are over or going are replaced; of too many the least useful go first:
without a node, not yet running, not ready, then the youngest.
Elsewhere: which replica sets there are (`deployments`).
"""

from __future__ import annotations

from collections.abc import Sequence

from kubeloop.meta import ObjectKey
from kubeloop.runtime import Context, Result
from kubeloop.wire.apps.v1 import ReplicaSet, ReplicaSetStatus
from kubeloop.wire.core.v1 import Pod

from .pods import (
    Counts,
    available_again,
    counted,
    create_pods,
    delete_pods,
    is_active,
    is_ready,
    owned_pods,
    pod_from,
    save_status,
)

__all__ = ["least_useful", "reconcile_replica_set"]


async def reconcile_replica_set(key: ObjectKey, ctx: Context) -> Result | None:
    """One look at one replica set. Cancelled, some pods may be made or removed."""
    replicas = ctx.get(ReplicaSet, key)
    if replicas is None or replicas.metadata.deletion_timestamp is not None:
        return None
    pods = [pod for pod in owned_pods(ctx, replicas) if is_active(pod)]
    missing = (replicas.spec.replicas or 0) - len(pods)
    if missing > 0:
        template = replicas.spec.template
        await create_pods(ctx, [pod_from(template, replicas) for _ in range(missing)])
    elif missing < 0:
        await delete_pods(ctx, least_useful(pods)[:-missing])
    counts = counted(pods, replicas.spec.min_ready_seconds, ctx.now())
    await save_status(ctx, replicas, _status(replicas, counts))
    return available_again(counts, replicas.spec.min_ready_seconds)


def least_useful(pods: Sequence[Pod]) -> list[Pod]:
    """Pods in the order in which they can be done without."""
    youngest_first = sorted(
        pods, key=lambda pod: str(pod.metadata.creation_timestamp), reverse=True
    )
    return sorted(
        youngest_first,
        key=lambda pod: (bool(pod.spec.node_name), pod.status.phase == "Running", is_ready(pod)),
    )


def _status(replicas: ReplicaSet, counts: Counts) -> ReplicaSetStatus:
    return ReplicaSetStatus(
        replicas=counts.all,
        fully_labeled_replicas=counts.all or None,
        ready_replicas=counts.ready or None,
        available_replicas=counts.available or None,
        observed_generation=replicas.metadata.generation,
    )
