"""StatefulSets: pods with names of their own, made and replaced one after the other.

Promises: a pod is made when all before it are ready, and removed when all behind it are gone,
unless the set says `Parallel`; a new template replaces the last pod first, down to the
partition.
Not simulated: volume claims and controller revisions, so there is no `kubectl rollout undo`.
Elsewhere: what is ready (`pods`).
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
    available_again,
    counted,
    create_pods,
    delete_pods,
    is_active,
    is_available,
    owned_pods,
    pod_from,
    save_status,
    template_hash,
)

__all__ = ["Todo", "reconcile_stateful_set", "stateful_todo"]

REVISION: Final = "controller-revision-hash"


class Todo(msgspec.Struct, frozen=True):
    """The ordinals of pods to make, and of pods to remove."""

    make: tuple[int, ...] = ()
    remove: tuple[int, ...] = ()


async def reconcile_stateful_set(key: ObjectKey, ctx: Context) -> Result | None:
    """One look at one set. Cancelled, some pods may be made or removed."""
    found = ctx.get(StatefulSet, key)
    if found is None or found.metadata.deletion_timestamp is not None:
        return None
    pods = {_ordinal(pod): pod for pod in owned_pods(ctx, found)}
    min_ready = found.spec.min_ready_seconds or 0
    settled = {n for n, pod in pods.items() if is_available(pod, min_ready, ctx.now())}
    todo = stateful_todo(found, pods, settled)
    try:
        await create_pods(ctx, [_pod(found, number) for number in todo.make])
    except AlreadyExists:
        return Result(requeue_after=1.0)  # somebody else's pod has the name
    await delete_pods(ctx, [pods[number] for number in todo.remove])
    counts = counted([pod for pod in pods.values() if is_active(pod)], min_ready, ctx.now())
    await save_status(ctx, found, _status(found, pods, counts.ready, counts.available))
    return available_again(counts, min_ready)


def stateful_todo(
    found: StatefulSet, pods: Mapping[int, Pod], settled: set[int] | frozenset[int]
) -> Todo:
    """What is to be done next; `settled` are the ordinals whose pods are available."""
    first = (found.spec.ordinals.start or 0) if found.spec.ordinals is not None else 0
    wanted = range(first, first + (found.spec.replicas or 0))
    over = [n for n, pod in pods.items() if pod.status.phase in {"Succeeded", "Failed"}]
    missing = [number for number in wanted if number not in pods]
    extra = sorted((n for n in pods if n not in wanted), reverse=True)
    if over:
        return Todo(remove=_still_there(pods, over))
    if found.spec.pod_management_policy == "Parallel":
        if missing or extra:
            return Todo(tuple(missing), _still_there(pods, extra))
    elif missing:
        before = range(wanted.start, missing[0])
        return Todo(make=(missing[0],) if settled.issuperset(before) else ())
    elif extra:
        return Todo(remove=_still_there(pods, extra[:1]))
    return Todo(remove=_outdated(found, pods, settled, wanted))


def _outdated(
    found: StatefulSet, pods: Mapping[int, Pod], settled: set[int] | frozenset[int], wanted: range
) -> tuple[int, ...]:
    """The next pod of an old template, once all others are well."""
    strategy = found.spec.update_strategy
    if strategy.type != "RollingUpdate":
        return ()
    rolling = strategy.rolling_update
    partition = (rolling.partition or 0) if rolling is not None else 0
    old = [n for n in wanted if n >= partition and _revision_of(pods[n]) != _revision(found)]
    if not old or not settled.issuperset(set(wanted) - {old[-1]}):
        return ()
    return _still_there(pods, old[-1:])


def _still_there(pods: Mapping[int, Pod], numbers: list[int]) -> tuple[int, ...]:
    return tuple(n for n in numbers if pods[n].metadata.deletion_timestamp is None)


def _pod(found: StatefulSet, number: int) -> Pod:
    name = f"{found.metadata.name}-{number}"
    labels = {
        "statefulset.kubernetes.io/pod-name": name,
        "apps.kubernetes.io/pod-index": str(number),
        REVISION: _revision(found),
    }
    pod = pod_from(found.spec.template, found, name=name, labels=labels)
    pod.spec = type(pod.spec).from_dict(pod.spec.to_dict())  # the template's stays as it is
    pod.spec.hostname, pod.spec.subdomain = name, found.spec.service_name
    return pod


def _ordinal(pod: Pod) -> int:
    return int(pod.metadata.name.rpartition("-")[2])


def _revision(found: StatefulSet) -> str:
    return f"{found.metadata.name}-{template_hash(found.spec.template)}"


def _revision_of(pod: Pod) -> str:
    return pod.metadata.labels.get(REVISION, "")


def _status(
    found: StatefulSet, pods: Mapping[int, Pod], ready: int, available: int
) -> StatefulSetStatus:
    new = _revision(found)
    active = [pod for pod in pods.values() if is_active(pod)]
    updated = sum(_revision_of(pod) == new for pod in active)
    wanted = found.spec.replicas or 0
    is_done = updated == len(active) == ready == wanted
    current = new if is_done else found.status.current_revision or new
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
