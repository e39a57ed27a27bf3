"""DaemonSets: a pod on every node that may have one.

Guarantees: an update replaces at most `maxUnavailable` pods at a time.
Not simulated: `maxSurge` and controller revisions.
See also: the nodes (`nodes`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from kubeloop.meta import ObjectKey
from kubeloop.runtime import Context, Result
from kubeloop.wire import scaled_value
from kubeloop.wire.apps.v1 import DaemonSet, DaemonSetStatus
from kubeloop.wire.core.v1 import Node, Pod

from .nodes import fits
from .pods import (
    count_pods,
    create_pods,
    delete_pods,
    is_active,
    is_ready,
    owned_pods,
    pod_from,
    requeue_until_available,
    save_status,
    template_hash,
)

__all__ = ["reconcile_daemon_set"]

REVISION: Final = "controller-revision-hash"


async def reconcile_daemon_set(key: ObjectKey, ctx: Context) -> Result | None:
    """Reconcile one daemon set. If cancelled, some pods may be created or deleted."""
    daemons = ctx.get(DaemonSet, key)
    if daemons is None or daemons.metadata.deletion_timestamp is not None:
        return None
    pods = owned_pods(ctx, daemons)
    nodes = {node.metadata.name for node in ctx.list(Node) if _may_run_on(daemons, node)}
    # A terminating pod still occupies its node: its successor is created when it is gone.
    occupied = {str(pod.spec.node_name) for pod in pods}
    active = [pod for pod in pods if is_active(pod)]
    by_node = {str(pod.spec.node_name): pod for pod in active}
    await create_pods(ctx, [_pod(daemons, node) for node in sorted(nodes - occupied)])
    await delete_pods(ctx, _superfluous(pods, nodes) + _outdated(daemons, by_node))
    await save_status(ctx, daemons, _status(daemons, by_node, nodes, ctx.now()))
    counts = count_pods(active, daemons.spec.min_ready_seconds, ctx.now())
    return requeue_until_available(counts, daemons.spec.min_ready_seconds)


def _may_run_on(daemons: DaemonSet, node: Node) -> bool:
    # Daemon pods tolerate the taint of a cordoned node, so `unschedulable` is left out.
    open_node = Node.from_dict({"metadata": node.metadata.to_dict()})
    return fits(daemons.spec.template.spec, open_node)


def _superfluous(pods: Sequence[Pod], nodes: set[str]) -> list[Pod]:
    """Pods on nodes that are no longer eligible, and pods that have finished."""
    present = [pod for pod in pods if pod.metadata.deletion_timestamp is None]
    return [pod for pod in present if not is_active(pod) or pod.spec.node_name not in nodes]


def _outdated(daemons: DaemonSet, by_node: Mapping[str, Pod]) -> list[Pod]:
    """Pods of an old template to replace now, at most `maxUnavailable`; unready ones first."""
    strategy = daemons.spec.update_strategy
    if strategy.type != "RollingUpdate":
        return []
    rolling = strategy.rolling_update
    max_unavailable = (rolling.max_unavailable if rolling is not None else None) or 1
    desired = daemons.status.desired_number_scheduled
    old = [pod for pod in by_node.values() if not _is_new(daemons, pod)]
    unavailable = max(desired - sum(map(is_ready, by_node.values())), 0)
    allowed = max(scaled_value(max_unavailable, desired, round_up=True), 1)
    unready = [pod for pod in old if not is_ready(pod)]
    ready = sorted((pod for pod in old if is_ready(pod)), key=lambda pod: pod.metadata.name)
    return unready + ready[: max(allowed - unavailable, 0)]


def _is_new(daemons: DaemonSet, pod: Pod) -> bool:
    return pod.metadata.labels.get(REVISION) == template_hash(daemons.spec.template)


def _pod(daemons: DaemonSet, node: str) -> Pod:
    labels = {
        REVISION: template_hash(daemons.spec.template),
        "pod-template-generation": str(daemons.metadata.generation),
    }
    pod = pod_from(daemons.spec.template, daemons, labels=labels)
    pod.spec = type(pod.spec).from_dict({**pod.spec.to_dict(), "nodeName": node})
    return pod


def _status(
    daemons: DaemonSet, by_node: Mapping[str, Pod], nodes: set[str], now: datetime
) -> DaemonSetStatus:
    scheduled = [pod for node, pod in by_node.items() if node in nodes]
    counts = count_pods(scheduled, daemons.spec.min_ready_seconds, now)
    return DaemonSetStatus(
        desired_number_scheduled=len(nodes),
        current_number_scheduled=counts.all,
        number_misscheduled=len(by_node) - counts.all,
        number_ready=counts.ready,
        number_available=counts.available or None,
        number_unavailable=len(nodes) - counts.available or None,
        updated_number_scheduled=sum(_is_new(daemons, pod) for pod in scheduled) or None,
        observed_generation=daemons.metadata.generation,
    )
