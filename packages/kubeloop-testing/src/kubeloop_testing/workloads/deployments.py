"""Deployments: a replica set for each template, scaled by the strategy.

Guarantees: names, labels, annotations, status and conditions are those of Kubernetes, so that
`kubectl rollout status`, `history`, `undo`, `pause` and `restart` work; a template that was
used before gets its old replica set back.
See also: how the sets are scaled (`rollout`), their pods (`replica_sets`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kubeloop.errors import AlreadyExists
from kubeloop.kit import whole_number
from kubeloop.meta import ObjectKey, controller_ref
from kubeloop.runtime import Context, Result
from kubeloop.wire.apps.v1 import Deployment, ReplicaSet, ReplicaSetSpec
from kubeloop.wire.core.v1 import Pod, PodTemplateSpec
from kubeloop.wire.meta.v1 import LabelSelector, ObjectMeta

from .deployment_status import deadline_left, deployment_status
from .pods import save_status, template_hash
from .rollout import Size, bounds_of, next_sizes

__all__ = ["reconcile_deployment"]

HASH: Final = "pod-template-hash"
REVISION: Final = "deployment.kubernetes.io/revision"
_HISTORY = 10  # the default of `revisionHistoryLimit`


async def reconcile_deployment(key: ObjectKey, ctx: Context) -> Result | None:
    """Reconcile one deployment. If cancelled, some of its writes may be done."""
    deployment = ctx.get(Deployment, key)
    if deployment is None or deployment.metadata.deletion_timestamp is not None:
        return None
    sets = sorted(ctx.owned(ReplicaSet, deployment), key=_age)
    new = next((each for each in sets if _is_of(each, deployment)), None)
    old = [each for each in sets if each is not new]
    if new is None and not deployment.spec.paused:
        new = await _create(ctx, deployment, old)
    if new is not None:
        await _set_revision(ctx, deployment, new, old)
    for name, replicas in _sizes(ctx, deployment, new, old).items():
        await _scale(ctx, deployment, name, replicas)
    await _delete_history(ctx, deployment, old)
    status = deployment_status(deployment, new, old, now=ctx.now())
    await save_status(ctx, deployment, status)
    left = deadline_left(deployment, status, now=ctx.now())
    return None if left is None else Result(requeue_after=left)


# --- scaling


def _sizes(
    ctx: Context, deployment: Deployment, new: ReplicaSet | None, old: Sequence[ReplicaSet]
) -> dict[str, int]:
    """The new sizes of the replica sets that have to be scaled."""
    desired = deployment.spec.replicas or 0
    sets = [each for each in (*old, new) if each is not None]
    if deployment.spec.paused or new is None:
        # As the deployment controller's `scale`: only a single active set is scaled.
        active = [each for each in sets if each.spec.replicas]
        sizes = {active[0].metadata.name: desired} if len(active) == 1 else {}
    elif deployment.spec.strategy.type == "Recreate":
        sizes = {each.metadata.name: 0 for each in old}
        # No new pod starts before the last old one is gone, not even a terminating one.
        sizes[new.metadata.name] = 0 if _has_pods(ctx, old) else desired
    else:
        sizes = next_sizes(bounds_of(deployment), _size(new), [_size(each) for each in old])
    current = {each.metadata.name: each.spec.replicas or 0 for each in sets}
    return {name: size for name, size in sizes.items() if current[name] != size}


def _size(replicas: ReplicaSet) -> Size:
    return Size(
        name=replicas.metadata.name,
        replicas=replicas.spec.replicas or 0,
        available=replicas.status.available_replicas or 0,
    )


def _has_pods(ctx: Context, sets: Sequence[ReplicaSet]) -> bool:
    """Whether these sets have pods, terminating ones included."""
    pods = ctx.lister(Pod)
    return any(pods.keys_by_index("owner", str(each.metadata.uid)) for each in sets)


async def _scale(ctx: Context, deployment: Deployment, name: str, replicas: int) -> None:
    # A merge patch without a version: only this controller scales the set.
    at = ctx.client.resource(ReplicaSet, namespace=deployment.metadata.namespace)
    await at.patch(name, {"spec": {"replicas": replicas}}, type="merge")
    ctx.recorder.event(
        deployment, "Normal", "ScalingReplicaSet", "scaled to %d: %s", replicas, name
    )


# --- replica sets


def _is_of(replicas: ReplicaSet, deployment: Deployment) -> bool:
    # The name contains the hash of the template.
    return replicas.metadata.name == _name(deployment)


def _name(deployment: Deployment) -> str:
    return f"{deployment.metadata.name}-{template_hash(deployment.spec.template)}"


def _age(replicas: ReplicaSet) -> tuple[str, int]:
    return str(replicas.metadata.creation_timestamp), _revision(replicas)


def _revision(obj: ReplicaSet | Deployment) -> int:
    return whole_number(obj.metadata.annotations.get(REVISION, "")) or 0


async def _create(ctx: Context, deployment: Deployment, old: Sequence[ReplicaSet]) -> ReplicaSet:
    new = _replica_set(deployment)
    # It starts with no replicas; `_sizes` scales it up as far as the strategy allows.
    new.metadata.annotations = {REVISION: str(max(map(_revision, old), default=0) + 1)}
    at = ctx.client.resource(ReplicaSet, namespace=deployment.metadata.namespace)
    try:
        return await at.create(new)
    except AlreadyExists:  # created by a reconcile whose result the cache does not have yet
        return await at.get(new.metadata.name)


def _replica_set(deployment: Deployment) -> ReplicaSet:
    label = {HASH: template_hash(deployment.spec.template)}
    template = PodTemplateSpec.from_dict(deployment.spec.template.to_dict())
    template.metadata.labels = {**template.metadata.labels, **label}
    selector = LabelSelector.from_dict(deployment.spec.selector.to_dict())
    selector.match_labels = {**selector.match_labels, **label}
    return ReplicaSet(
        metadata=ObjectMeta(
            name=_name(deployment),
            labels=dict(template.metadata.labels),
            owner_references=[controller_ref(deployment)],
        ),
        spec=ReplicaSetSpec(
            replicas=0,
            min_ready_seconds=deployment.spec.min_ready_seconds,
            selector=selector,
            template=template,
        ),
    )


async def _set_revision(
    ctx: Context, deployment: Deployment, new: ReplicaSet, old: Sequence[ReplicaSet]
) -> None:
    """Give the current template the highest revision, also after an undo."""
    revision = max(_revision(new), max(map(_revision, old), default=0) + 1)
    for obj in (new, deployment):
        if _revision(obj) != revision:
            at = ctx.client.resource(type(obj), namespace=obj.metadata.namespace)
            change = {"metadata": {"annotations": {REVISION: str(revision)}}}
            await at.patch(obj.metadata.name, change, type="merge")


async def _delete_history(ctx: Context, deployment: Deployment, old: Sequence[ReplicaSet]) -> None:
    limit = deployment.spec.revision_history_limit
    empty = [each for each in old if not each.spec.replicas and not each.status.replicas]
    by_revision = sorted(empty, key=_revision)
    at = ctx.client.resource(ReplicaSet, namespace=deployment.metadata.namespace)
    for each in by_revision[: max(0, len(empty) - (_HISTORY if limit is None else limit))]:
        await at.delete(each.metadata.name, expected_uid=each.metadata.uid, missing_ok=True)
