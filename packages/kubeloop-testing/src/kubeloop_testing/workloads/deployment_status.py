"""The status of a deployment: counts, and the conditions Available and Progressing.

Guarantees: pure; `lastTransitionTime` moves only when the condition's status changes,
`lastUpdateTime` with every progress, so that a stalled rollout is reported after its deadline.
See also: scaling the replica sets (`deployments`).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from kubeloop.wire.apps.v1 import Deployment, DeploymentCondition, DeploymentStatus, ReplicaSet

from .rollout import bounds_of

__all__ = ["deadline_left", "deployment_status"]

NO_DEADLINE = 2**31 - 1  # MaxInt32 disables the deadline, as in the deployment controller


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
    expected = max(bounds_of(deployment).desired, status.replicas or 0)
    status.unavailable_replicas = max(expected - (status.available_replicas or 0), 0) or None
    status.conditions = [
        _available(deployment, status, now),
        _progressing(deployment, status, new, now),
    ]
    return status


def deadline_left(
    deployment: Deployment, status: DeploymentStatus, *, now: datetime
) -> float | None:
    """Seconds until the progress deadline passes; None without a rollout that can exceed it."""
    progress = _condition(status, "Progressing")
    if progress is None or progress.reason in {
        "NewReplicaSetAvailable",
        "ProgressDeadlineExceeded",
    }:
        return None
    deadline = _deadline(deployment, progress)
    return None if deadline is None else max((deadline - now).total_seconds(), 0.0) + 0.01


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
    return _with_times(deployment, new, now)


def _progressing(
    deployment: Deployment, status: DeploymentStatus, new: ReplicaSet | None, now: datetime
) -> DeploymentCondition:
    before = _condition(deployment.status, "Progressing")
    name = f"ReplicaSet {new.metadata.name}" if new is not None else "nothing"
    new_condition = DeploymentCondition(type="Progressing", status="True")
    if _is_complete(deployment, status):
        new_condition.reason = "NewReplicaSetAvailable"
        new_condition.message = f"{name} is complete"
    elif before is None:
        new_condition.reason = "NewReplicaSetCreated"
        new_condition.message = f"{name} was created"
    elif _progress(status) != _progress(deployment.status):
        new_condition.reason = "ReplicaSetUpdated"
        new_condition.message = f"{name} is progressing"
    elif _is_late(deployment, before, now):
        new_condition.status, new_condition.reason = "False", "ProgressDeadlineExceeded"
        new_condition.message = f"{name} made no progress within the deadline"
    else:
        return before
    return _with_times(deployment, new_condition, now)


def _is_complete(deployment: Deployment, status: DeploymentStatus) -> bool:
    # `DeploymentComplete` of the deployment controller.
    desired = deployment.spec.replicas or 0
    return all(
        (count or 0) == desired
        for count in (status.updated_replicas, status.replicas, status.available_replicas)
    )


def _progress(status: DeploymentStatus) -> tuple[int | None, ...]:
    """The fields whose change is progress; a new generation counts too."""
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


def _with_times(
    deployment: Deployment, new: DeploymentCondition, now: datetime
) -> DeploymentCondition:
    """The condition with its transition time and its update time."""
    new.last_transition_time = new.last_update_time = now
    before = _condition(deployment.status, new.type or "")
    if before is not None and before.status == new.status:
        new.last_transition_time = before.last_transition_time
        # Each progress restarts the deadline, though status and reason stay the same.
        if before.reason == new.reason != "ReplicaSetUpdated":
            new.last_update_time = before.last_update_time
    return new


def _condition(status: DeploymentStatus, name: str) -> DeploymentCondition | None:
    return next((each for each in status.conditions if each.type == name), None)
