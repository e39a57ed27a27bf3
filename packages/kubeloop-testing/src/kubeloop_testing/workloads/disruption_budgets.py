"""PodDisruptionBudgets: how many pods may be evicted now.

Guarantees: counts as the disruption controller of Kubernetes: ready pods that are not terminating
are healthy, and a pod whose eviction was allowed is not counted until it is gone. The status is
written with its resource version, because an eviction writes it, too.
See also: the eviction itself (the server's `evictions`).
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from datetime import datetime, timedelta

from kubeloop.errors import Conflict, NotFound
from kubeloop.meta import ObjectKey, controller_of, find_condition
from kubeloop.runtime import Context, Result
from kubeloop.selectors import Selector, selector_from_wire
from kubeloop.wire.apps.v1 import Deployment, ReplicaSet, StatefulSet
from kubeloop.wire.core.v1 import Pod
from kubeloop.wire.meta.v1 import Condition
from kubeloop.wire.policy.v1 import (
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
)

from .pods import is_active, is_ready

__all__ = ["reconcile_budget", "selector_of"]

# An eviction that was allowed and did not delete its pod is forgotten after this time.
_DELETION_TIMEOUT = timedelta(minutes=2)
_RETRY = 0.05


async def reconcile_budget(key: ObjectKey, ctx: Context) -> Result | None:
    """Reconcile one budget. If cancelled, its status may be written."""
    budget = ctx.get(PodDisruptionBudget, key)
    if budget is None or budget.metadata.deletion_timestamp is not None:
        return None
    pods = ctx.list(Pod, selector_of(budget), namespace=key.namespace)
    scales = dict(filter(None, (_scale(ctx, pod) for pod in pods)))
    status = _status(budget, pods, sum(scales.values()), ctx.now())
    if status.to_dict() == budget.status.to_dict():
        return None
    budget.status = status
    try:
        with contextlib.suppress(NotFound):  # deleted in the meantime
            await ctx.client.policy_v1.pod_disruption_budgets(key.namespace).status.update(budget)
    except Conflict:
        return Result(requeue_after=_RETRY)  # an eviction was faster
    return None


def selector_of(budget: PodDisruptionBudget) -> Selector:
    selector = budget.spec.selector
    return selector_from_wire(selector.to_dict() if selector is not None else None)


def _scale(ctx: Context, pod: Pod) -> tuple[str, int] | None:
    """The uid and the desired replicas of the workload that a pod belongs to."""
    owner = controller_of(pod)
    if owner is None:
        return None
    key = ObjectKey(pod.metadata.namespace or "", owner.name)
    if owner.kind == "StatefulSet":
        found = ctx.get(StatefulSet, key)
        return None if found is None else (owner.uid, found.spec.replicas or 0)
    replicas = ctx.get(ReplicaSet, key) if owner.kind == "ReplicaSet" else None
    if replicas is None:
        return None
    parent = controller_of(replicas)
    if parent is not None and parent.kind == "Deployment":
        deployment = ctx.get(Deployment, ObjectKey(key.namespace, parent.name))
        return None if deployment is None else (parent.uid, deployment.spec.replicas or 0)
    return owner.uid, replicas.spec.replicas or 0


def _status(
    budget: PodDisruptionBudget, pods: Sequence[Pod], scale: int, now: datetime
) -> PodDisruptionBudgetStatus:
    active = {str(pod.metadata.name): pod for pod in pods if is_active(pod)}
    disrupted = {
        name: at
        for name, at in budget.status.disrupted_pods.items()
        if name in active and at + _DELETION_TIMEOUT > now
    }
    expected, desired = _desired(budget.spec, len(active), scale)
    healthy = sum(is_ready(pod) for name, pod in active.items() if name not in disrupted)
    allowed = max(healthy - desired, 0) if expected > 0 else 0
    return PodDisruptionBudgetStatus(
        conditions=[_condition(budget, is_allowed=allowed > 0, now=now)],
        current_healthy=healthy,
        desired_healthy=desired,
        disrupted_pods=disrupted,
        disruptions_allowed=allowed,
        expected_pods=expected,
        observed_generation=budget.metadata.generation,
    )


def _desired(spec: PodDisruptionBudgetSpec, pods: int, scale: int) -> tuple[int, int]:
    """The number of expected pods, and how many of them must be healthy."""
    if spec.max_unavailable is not None:
        return scale, max(scale - _portion(spec.max_unavailable, scale), 0)
    if isinstance(spec.min_available, str):
        return scale, _portion(spec.min_available, scale)
    return pods, spec.min_available or 0


def _portion(value: int | str, total: int) -> int:
    """A number, or a percentage of the total, rounded up as in Kubernetes."""
    return value if isinstance(value, int) else math.ceil(int(value.rstrip("%")) * total / 100)


def _condition(budget: PodDisruptionBudget, *, is_allowed: bool, now: datetime) -> Condition:
    status = "True" if is_allowed else "False"
    before = find_condition(budget.status.conditions, "DisruptionAllowed")
    is_same = before is not None and before.status == status
    return Condition(
        type="DisruptionAllowed",
        status=status,
        reason="SufficientPods" if is_allowed else "InsufficientPods",
        message="",
        observed_generation=budget.metadata.generation,
        last_transition_time=before.last_transition_time if before and is_same else now,
    )
