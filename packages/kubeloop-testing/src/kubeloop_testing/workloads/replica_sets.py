"""ReplicaSets: keep the number of pods of one template.

Guarantees: finished and terminating pods are replaced; surplus pods are deleted in the order of
Kubernetes' `ActivePods`: without a node, not running, not ready, then the youngest.
See also: who creates replica sets (`deployments`).
"""

from __future__ import annotations

from collections.abc import Sequence

from kubeloop.meta import ObjectKey
from kubeloop.runtime import Context, Result
from kubeloop.wire.apps.v1 import ReplicaSet, ReplicaSetStatus
from kubeloop.wire.core.v1 import Pod

from .pods import (
    Counts,
    count_pods,
    create_pods,
    delete_pods,
    is_active,
    is_ready,
    owned_pods,
    pod_from,
    requeue_until_available,
    save_status,
)

__all__ = ["deletion_order", "reconcile_replica_set"]


async def reconcile_replica_set(key: ObjectKey, ctx: Context) -> Result | None:
    """Reconcile one replica set. If cancelled, some pods may be created or deleted."""
    replicas = ctx.get(ReplicaSet, key)
    if replicas is None or replicas.metadata.deletion_timestamp is not None:
        return None
    pods = [pod for pod in owned_pods(ctx, replicas) if is_active(pod)]
    missing = (replicas.spec.replicas or 0) - len(pods)
    if missing > 0:
        template = replicas.spec.template
        await create_pods(ctx, [pod_from(template, replicas) for _ in range(missing)])
    elif missing < 0:
        await delete_pods(ctx, deletion_order(pods)[:-missing])
    counts = count_pods(pods, replicas.spec.min_ready_seconds, ctx.now())
    await save_status(ctx, replicas, _status(replicas, counts))
    return requeue_until_available(counts, replicas.spec.min_ready_seconds)


def deletion_order(pods: Sequence[Pod]) -> list[Pod]:
    """Pods in the order in which to delete them."""
    youngest_first = sorted(
        pods, key=lambda pod: str(pod.metadata.creation_timestamp), reverse=True
    )
    return sorted(
        youngest_first,
        key=lambda pod: (bool(pod.spec.node_name), pod.status.phase == "Running", is_ready(pod)),
    )


def _status(replicas: ReplicaSet, counts: Counts) -> ReplicaSetStatus:
    # `fullyLabeledReplicas` counts all pods: their labels come from the template.
    return ReplicaSetStatus(
        replicas=counts.all,
        fully_labeled_replicas=counts.all or None,
        ready_replicas=counts.ready or None,
        available_replicas=counts.available or None,
        observed_generation=replicas.metadata.generation,
    )
