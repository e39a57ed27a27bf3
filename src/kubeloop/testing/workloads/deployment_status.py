"""What a deployment says of itself: counts, and the conditions Available and Progressing.

Promises: pure; the time of a condition moves only with its status, the time of its update
with every bit of progress, so that a rollout which gets nowhere is told after its deadline.
Elsewhere: making it so (`deployments`).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from kubeloop.wire.apps.v1 import Deployment, DeploymentCondition, DeploymentStatus, ReplicaSet

from .rollout import bounds_of

__all__ = ["deadline_left", "deployment_status"]

NO_DEADLINE = 2**31 - 1


def deployment_status(
    deployment: Deployment, new: ReplicaSet | None, old: Sequence[ReplicaSet], *, now: datetime
) -> DeploymentStatus:
    """The status of a deployment, from its replica sets."""
    sets = [each for each in (new, *old) if each is not None]
    status = DeploymentStatus(
        observed_generation=deployment.metadata.generation,
        replicas=sum(each.status.replicas for each in sets) or None,
        updated_replicas=(new.status.replicas if new is not None else 0) or None,
        ready_replicas=sum(each.status.ready_replicas or 0 for each in sets) or None,
        available_replicas=sum(each.status.available_replicas or 0 for each in sets) or None,
    )
    missing = max(bounds_of(deployment).wanted, status.replicas or 0)
    status.unavailable_replicas = max(missing - (status.available_replicas or 0), 0) or None
    status.conditions = [
        _available(deployment, status, now),
        _progressing(deployment, status, new, now),
    ]
    return status


def deadline_left(
    deployment: Deployment, status: DeploymentStatus, *, now: datetime
) -> float | None:
    """Seconds until a rollout that gets nowhere has to be told; None when nothing is."""
    progress = _condition(status, "Progressing")
    if progress is None or progress.reason in {
        "NewReplicaSetAvailable",
        "ProgressDeadlineExceeded",
    }:
        return None
    left = _deadline(deployment, progress)
    return None if left is None else max((left - now).total_seconds(), 0.0) + 0.01


def _available(
    deployment: Deployment, status: DeploymentStatus, now: datetime
) -> DeploymentCondition:
    available, fewest = status.available_replicas or 0, bounds_of(deployment).fewest
    enough = available >= fewest
    new = DeploymentCondition(
        type="Available",
        status="True" if enough else "False",
        reason=f"MinimumReplicas{'Available' if enough else 'Unavailable'}",
        message=f"{available} available, {fewest} needed",
    )
    return _dated(deployment, new, now)


def _progressing(
    deployment: Deployment, status: DeploymentStatus, new: ReplicaSet | None, now: datetime
) -> DeploymentCondition:
    before = _condition(deployment.status, "Progressing")
    name = f"ReplicaSet {new.metadata.name}" if new is not None else "nothing"
    said = DeploymentCondition(type="Progressing", status="True")
    if _is_complete(deployment, status):
        said.reason, said.message = "NewReplicaSetAvailable", f"{name} is all there"
    elif before is None:
        said.reason, said.message = "NewReplicaSetCreated", f"{name} was made"
    elif _counts(status) != _counts(deployment.status):
        said.reason, said.message = "ReplicaSetUpdated", f"{name} is on its way"
    elif _is_late(deployment, before, now):
        said.status, said.reason = "False", "ProgressDeadlineExceeded"
        said.message = f"{name} has got nowhere within its deadline"
    else:
        return before
    return _dated(deployment, said, now)


def _is_complete(deployment: Deployment, status: DeploymentStatus) -> bool:
    wanted = deployment.spec.replicas or 0
    return all(
        (count or 0) == wanted
        for count in (status.updated_replicas, status.replicas, status.available_replicas)
    )


def _counts(status: DeploymentStatus) -> tuple[int | None, ...]:
    """What progress shows in; a new generation is some as well."""
    return (
        status.replicas,
        status.updated_replicas,
        status.ready_replicas,
        status.available_replicas,
        status.observed_generation,
    )


def _is_late(deployment: Deployment, progress: DeploymentCondition, now: datetime) -> bool:
    deadline = _deadline(deployment, progress)
    return deadline is not None and deadline <= now


def _deadline(deployment: Deployment, progress: DeploymentCondition) -> datetime | None:
    seconds, since = deployment.spec.progress_deadline_seconds, progress.last_update_time
    if not seconds or seconds == NO_DEADLINE or since is None:
        return None
    return since + timedelta(seconds=seconds)


def _dated(deployment: Deployment, new: DeploymentCondition, now: datetime) -> DeploymentCondition:
    """A condition with its times: when it became so, and when it was last said anew."""
    new.last_transition_time = new.last_update_time = now
    before = _condition(deployment.status, new.type or "")
    if before is not None and before.status == new.status:
        new.last_transition_time = before.last_transition_time
        # Progress says the same words again and again, and each time counts.
        if before.reason == new.reason != "ReplicaSetUpdated":
            new.last_update_time = before.last_update_time
    return new


def _condition(status: DeploymentStatus, name: str) -> DeploymentCondition | None:
    return next((each for each in status.conditions if each.type == name), None)
