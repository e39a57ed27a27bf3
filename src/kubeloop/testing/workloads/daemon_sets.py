"""DaemonSets: a pod on every node that may have one.

Promises: a new template replaces as many pods at a time as `maxUnavailable` allows.
Not simulated: `maxSurge` and controller revisions.
Elsewhere: which nodes there are (`nodes`).
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
    available_again,
    counted,
    create_pods,
    delete_pods,
    is_active,
    is_ready,
    owned_pods,
    pod_from,
    save_status,
    template_hash,
)

__all__ = ["reconcile_daemon_set"]

REVISION: Final = "controller-revision-hash"


async def reconcile_daemon_set(key: ObjectKey, ctx: Context) -> Result | None:
    """One look at one set. Cancelled, some pods may be made or removed."""
    found = ctx.get(DaemonSet, key)
    if found is None or found.metadata.deletion_timestamp is not None:
        return None
    mine = owned_pods(ctx, found)
    wanted = {node.metadata.name for node in ctx.list(Node) if _may_run_on(found, node)}
    # A pod that is going still has its place: the next one comes when it is gone.
    taken = {str(pod.spec.node_name) for pod in mine}
    active = [pod for pod in mine if is_active(pod)]
    placed = {str(pod.spec.node_name): pod for pod in active}
    await create_pods(ctx, [_pod(found, node) for node in sorted(wanted - taken)])
    await delete_pods(ctx, _unwanted(mine, wanted) + _outdated(found, placed))
    await save_status(ctx, found, _status(found, placed, wanted, ctx.now()))
    counts = counted(active, found.spec.min_ready_seconds, ctx.now())
    return available_again(counts, found.spec.min_ready_seconds)


def _may_run_on(found: DaemonSet, node: Node) -> bool:
    """As other pods, but on nodes that are cordoned as well."""
    open_node = Node.from_dict({"metadata": node.metadata.to_dict()})
    return fits(found.spec.template.spec, open_node)


def _unwanted(mine: Sequence[Pod], wanted: set[str]) -> list[Pod]:
    """Pods on nodes that are none of ours any more, and pods that are over."""
    there = [pod for pod in mine if pod.metadata.deletion_timestamp is None]
    return [pod for pod in there if not is_active(pod) or pod.spec.node_name not in wanted]


def _outdated(found: DaemonSet, placed: Mapping[str, Pod]) -> list[Pod]:
    """Pods of an old template, as many as may be missing; those that do not work first."""
    strategy = found.spec.update_strategy
    if strategy.type != "RollingUpdate":
        return []
    rolling = strategy.rolling_update
    said = (rolling.max_unavailable if rolling is not None else None) or 1
    old = [pod for pod in placed.values() if not _is_new(found, pod)]
    missing = max(found.status.desired_number_scheduled - sum(map(is_ready, placed.values())), 0)
    most = max(scaled_value(said, found.status.desired_number_scheduled, round_up=True), 1)
    broken = [pod for pod in old if not is_ready(pod)]
    well = sorted((pod for pod in old if is_ready(pod)), key=lambda pod: pod.metadata.name)
    return broken + well[: max(most - missing, 0)]


def _is_new(found: DaemonSet, pod: Pod) -> bool:
    return pod.metadata.labels.get(REVISION) == template_hash(found.spec.template)


def _pod(found: DaemonSet, node: str) -> Pod:
    mark = {
        REVISION: template_hash(found.spec.template),
        "pod-template-generation": str(found.metadata.generation),
    }
    pod = pod_from(found.spec.template, found, labels=mark)
    pod.spec = type(pod.spec).from_dict({**pod.spec.to_dict(), "nodeName": node})
    return pod


def _status(
    found: DaemonSet, placed: Mapping[str, Pod], wanted: set[str], now: datetime
) -> DaemonSetStatus:
    right = [pod for node, pod in placed.items() if node in wanted]
    counts = counted(right, found.spec.min_ready_seconds, now)
    return DaemonSetStatus(
        desired_number_scheduled=len(wanted),
        current_number_scheduled=counts.all,
        number_misscheduled=len(placed) - counts.all,
        number_ready=counts.ready,
        number_available=counts.available or None,
        number_unavailable=len(wanted) - counts.available or None,
        updated_number_scheduled=sum(_is_new(found, pod) for pod in right) or None,
        observed_generation=found.metadata.generation,
    )
