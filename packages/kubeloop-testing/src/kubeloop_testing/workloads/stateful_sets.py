"""StatefulSets: pods with stable names, created and replaced in order.

Guarantees: a pod is created when all before it are available, and deleted when all after it are
gone, unless `podManagementPolicy` is `Parallel`; an update replaces the last pod first, down to
the partition.
Not simulated: volume claims and controller revisions, so `kubectl rollout undo` does not work.
See also: which pods are available (`pods`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from kubeloop.errors import AlreadyExists
from kubeloop.meta import ObjectKey
from kubeloop.runtime import Context, Result
from kubeloop.wire.apps.v1 import StatefulSet, StatefulSetStatus
from kubeloop.wire.core.v1 import Pod

from .pods import (
    count_pods,
    create_pods,
    delete_pods,
    is_active,
    is_available,
    owned_pods,
    pod_from,
    requeue_until_available,
    save_status,
    template_hash,
)

__all__ = ["Plan", "plan_stateful_set", "reconcile_stateful_set"]

REVISION: Final = "controller-revision-hash"


class Plan(msgspec.Struct, frozen=True):
    """The ordinals of the pods to create and to delete next."""

    create: tuple[int, ...] = ()
    delete: tuple[int, ...] = ()


async def reconcile_stateful_set(key: ObjectKey, ctx: Context) -> Result | None:
    """Reconcile one stateful set. If cancelled, some pods may be created or deleted."""
    found = ctx.get(StatefulSet, key)
    if found is None or found.metadata.deletion_timestamp is not None:
        return None
    pods = {_ordinal(pod): pod for pod in owned_pods(ctx, found)}
    min_ready = found.spec.min_ready_seconds or 0
    available = {n for n, pod in pods.items() if is_available(pod, min_ready, ctx.now())}
    plan = plan_stateful_set(found, pods, available)
    try:
        await create_pods(ctx, [_pod(found, number) for number in plan.create])
    except AlreadyExists:
        return Result(requeue_after=1.0)  # the name is taken by a pod that is not ours
    await delete_pods(ctx, [pods[number] for number in plan.delete])
    counts = count_pods([pod for pod in pods.values() if is_active(pod)], min_ready, ctx.now())
    await save_status(ctx, found, _status(found, pods, counts.ready, counts.available))
    return requeue_until_available(counts, min_ready)


def plan_stateful_set(
    found: StatefulSet, pods: Mapping[int, Pod], available: set[int] | frozenset[int]
) -> Plan:
    """The next step; `available` are the ordinals whose pods are available."""
    first = (found.spec.ordinals.start or 0) if found.spec.ordinals is not None else 0
    desired = range(first, first + (found.spec.replicas or 0))
    finished = [n for n, pod in pods.items() if pod.status.phase in {"Succeeded", "Failed"}]
    missing = [number for number in desired if number not in pods]
    surplus = sorted((n for n in pods if n not in desired), reverse=True)
    if finished:
        return Plan(delete=_not_terminating(pods, finished))
    if found.spec.pod_management_policy == "Parallel":
        if missing or surplus:
            return Plan(tuple(missing), _not_terminating(pods, surplus))
    elif missing:
        before = range(desired.start, missing[0])
        return Plan(create=(missing[0],) if available.issuperset(before) else ())
    elif surplus:
        return Plan(delete=_not_terminating(pods, surplus[:1]))
    return Plan(delete=_outdated(found, pods, available, desired))


def _outdated(
    found: StatefulSet,
    pods: Mapping[int, Pod],
    available: set[int] | frozenset[int],
    desired: range,
) -> tuple[int, ...]:
    """The next pod of an old template to replace, once all others are available."""
    strategy = found.spec.update_strategy
    if strategy.type != "RollingUpdate":
        return ()
    rolling = strategy.rolling_update
    partition = (rolling.partition or 0) if rolling is not None else 0
    old = [n for n in desired if n >= partition and _revision_of(pods[n]) != _revision(found)]
    if not old or not available.issuperset(set(desired) - {old[-1]}):
        return ()
    return _not_terminating(pods, old[-1:])


def _not_terminating(pods: Mapping[int, Pod], numbers: list[int]) -> tuple[int, ...]:
    return tuple(n for n in numbers if pods[n].metadata.deletion_timestamp is None)


def _pod(found: StatefulSet, number: int) -> Pod:
    name = f"{found.metadata.name}-{number}"
    labels = {
        "statefulset.kubernetes.io/pod-name": name,
        "apps.kubernetes.io/pod-index": str(number),
        REVISION: _revision(found),
    }
    pod = pod_from(found.spec.template, found, name=name, labels=labels)
    pod.spec = type(pod.spec).from_dict(pod.spec.to_dict())  # a copy: the template is cached
    pod.spec.hostname, pod.spec.subdomain = name, found.spec.service_name
    return pod


def _ordinal(pod: Pod) -> int:
    # The name ends in the ordinal by construction.
    return int(pod.metadata.name.rpartition("-")[2])


def _revision(found: StatefulSet) -> str:
    return f"{found.metadata.name}-{template_hash(found.spec.template)}"


def _revision_of(pod: Pod) -> str:
    return pod.metadata.labels.get(REVISION, "")


def _status(
    found: StatefulSet, pods: Mapping[int, Pod], ready: int, available: int
) -> StatefulSetStatus:
    # The current revision moves when the whole set is updated and ready.
    new = _revision(found)
    active = [pod for pod in pods.values() if is_active(pod)]
    updated = sum(_revision_of(pod) == new for pod in active)
    desired = found.spec.replicas or 0
    is_complete = updated == len(active) == ready == desired
    current = new if is_complete else found.status.current_revision or new
    return StatefulSetStatus(
        replicas=len(active),
        ready_replicas=ready or None,
        available_replicas=available or None,
        current_replicas=sum(_revision_of(pod) == current for pod in active) or None,
        updated_replicas=updated or None,
        current_revision=current,
        update_revision=new,
        observed_generation=found.metadata.generation,
    )
