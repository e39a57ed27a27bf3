"""The state of a rollout, from the object and its pods.

Guarantees: pure. A rollout is complete when `kubectl rollout status` says so, in its words, and
the pods of the new template are available: a stateful set with `minReadySeconds` is complete
later than for kubectl, which counts ready pods.
See also: `rollout` (waits, restarts, restores revisions).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

from kubeloop.errors import InvalidArgument
from kubeloop.kit import whole_number
from kubeloop.meta import find_condition

if TYPE_CHECKING:
    from kubeloop.wire.apps.v1 import DaemonSet, Deployment, DeploymentCondition, StatefulSet
    from kubeloop.wire.core.v1 import ContainerStatus, Pod

__all__ = [
    "REVISION",
    "RolloutProblem",
    "RolloutState",
    "RolloutStatus",
    "Workload",
    "pod_problems",
    "revision_number",
    "rollout_status",
]

Workload: TypeAlias = "Deployment | StatefulSet | DaemonSet"
RolloutState = Literal["waiting", "complete", "failed"]

REVISION = "deployment.kubernetes.io/revision"

# Why a container waits while everything is normal.
_NORMAL = frozenset({"", "ContainerCreating", "PodInitializing"})
_SHOWN = 3  # problems in a text


class RolloutProblem(msgspec.Struct, frozen=True):
    """Why a pod does not start, such as `ImagePullBackOff`; without a pod, why there is none."""

    reason: str
    message: str = ""
    pod: str = ""
    container: str = ""

    def __str__(self) -> str:
        parts = (self.pod and f"pod {self.pod}", self.container, self.reason, self.message)
        return ": ".join(part for part in parts if part)


class RolloutStatus(msgspec.Struct, frozen=True, kw_only=True):
    """How far a rollout is.

    `message` is the line of `kubectl rollout status`. `replicas` are all pods, `updated` those of
    the new template, `available` those that have been ready long enough, of any template.
    `revision` is the number of a deployment's revision, 0 if it is unknown. `problems` are those
    of the new pods.
    """

    kind: str
    name: str
    state: RolloutState
    message: str
    desired: int
    replicas: int
    updated: int
    ready: int
    available: int
    observed: bool  # whether the controller has seen the last change of the spec
    paused: bool = False
    revision: int = 0
    problems: tuple[RolloutProblem, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether all pods are of the new template and available, and no others are left."""
        return self.state == "complete"

    def __str__(self) -> str:
        """The message with the first problems."""
        shown = [str(each) for each in self.problems[:_SHOWN]]
        if len(self.problems) > _SHOWN:
            shown.append(f"{len(self.problems) - _SHOWN} more")
        return "; ".join([self.message, *shown])


def rollout_status(obj: Workload, problems: Iterable[RolloutProblem] = ()) -> RolloutStatus:
    """The status of a deployment, a stateful set or a daemon set, as its controller reports it.

    Raises: InvalidArgument for another kind, and for an update strategy other than
    `RollingUpdate`, of which no controller reports progress.
    """
    match obj.kind:
        case "Deployment":
            found = _of_deployment(obj)  # type: ignore[arg-type] # by its kind
        case "StatefulSet":
            found = _of_stateful_set(obj)  # type: ignore[arg-type] # by its kind
        case "DaemonSet":
            found = _of_daemon_set(obj)  # type: ignore[arg-type] # by its kind
        case other:
            raise InvalidArgument(
                f"rollout of {other} {obj.metadata.name}: expected a Deployment, StatefulSet or"
                " DaemonSet"
            )
    extra = tuple(problems)
    return msgspec.structs.replace(found, problems=found.problems + extra) if extra else found


def revision_number(annotations: dict[str, str]) -> int:
    """The revision in the annotations of a deployment or replica set; 0 if there is none."""
    return whole_number(annotations.get(REVISION, "")) or 0


# --- the kinds, in the order of kubectl's checks


def _of_deployment(obj: Deployment) -> RolloutStatus:
    spec, status, name = obj.spec, obj.status, obj.metadata.name
    desired = 1 if spec.replicas is None else spec.replicas  # the default of the API
    replicas, updated = status.replicas or 0, status.updated_replicas or 0
    available = status.available_replicas or 0
    observed = _is_observed(obj)
    progressing = _condition(obj, "Progressing")
    state: RolloutState = "waiting"
    waiting = f'Waiting for deployment "{name}" rollout to finish:'
    if not observed:
        message = "Waiting for deployment spec update to be observed..."
    elif progressing is not None and progressing.reason == "ProgressDeadlineExceeded":
        state, message = "failed", f'deployment "{name}" exceeded its progress deadline'
    elif updated < desired:
        message = f"{waiting} {updated} out of {desired} new replicas have been updated..."
    elif replicas > updated:
        message = f"{waiting} {replicas - updated} old replicas are pending termination..."
    elif available < updated:
        message = f"{waiting} {available} of {updated} updated replicas are available..."
    else:
        state, message = "complete", f'deployment "{name}" successfully rolled out'
    problems = []
    if spec.paused and state != "complete":
        problems.append(RolloutProblem("Paused", "resume it to continue the rollout"))
    failure = _condition(obj, "ReplicaFailure")
    if failure is not None and failure.status == "True" and state != "complete":
        problems.append(RolloutProblem(failure.reason or "ReplicaFailure", failure.message or ""))
    return RolloutStatus(
        kind="Deployment",
        name=name,
        state=state,
        message=message,
        desired=desired,
        replicas=replicas,
        updated=updated,
        ready=status.ready_replicas or 0,
        available=available,
        observed=observed,
        paused=bool(spec.paused),
        revision=revision_number(obj.metadata.annotations),
        problems=tuple(problems),
    )


def _of_stateful_set(obj: StatefulSet) -> RolloutStatus:
    spec, status = obj.spec, obj.status
    _check_strategy(obj, spec.update_strategy.type)
    desired = 1 if spec.replicas is None else spec.replicas  # the default of the API
    ready, updated = status.ready_replicas or 0, status.updated_replicas or 0
    available = status.available_replicas or 0
    observed = bool(status.observed_generation) and _is_observed(obj)
    rolling = spec.update_strategy.rolling_update
    expected = desired - ((rolling.partition or 0) if rolling is not None else 0)
    state: RolloutState = "waiting"
    if not observed:
        message = "Waiting for statefulset spec update to be observed..."
    elif ready < desired:
        message = f"Waiting for {desired - ready} pods to be ready..."
    elif rolling is not None and updated < expected:
        message = (
            f"Waiting for partitioned roll out to finish: {updated} out of {expected} new pods"
            " have been updated..."
        )
    elif rolling is None and status.update_revision != status.current_revision:
        message = (
            f"waiting for statefulset rolling update to complete {updated} pods at revision"
            f" {status.update_revision or ''}..."
        )
    elif spec.min_ready_seconds and available < desired:
        message = f"Waiting for {desired - available} pods to be available..."
    elif rolling is not None:
        state = "complete"
        message = f"partitioned roll out complete: {updated} new pods have been updated..."
    else:
        state = "complete"
        message = (
            f"statefulset rolling update complete {status.current_replicas or 0} pods at revision"
            f" {status.current_revision or ''}..."
        )
    return RolloutStatus(
        kind="StatefulSet",
        name=obj.metadata.name,
        state=state,
        message=message,
        desired=desired,
        replicas=status.replicas or 0,
        updated=updated,
        ready=ready,
        available=available,
        observed=observed,
    )


def _of_daemon_set(obj: DaemonSet) -> RolloutStatus:
    status, name = obj.status, obj.metadata.name
    _check_strategy(obj, obj.spec.update_strategy.type)
    desired = status.desired_number_scheduled or 0
    updated = status.updated_number_scheduled or 0
    available = status.number_available or 0
    observed = _is_observed(obj)
    state: RolloutState = "waiting"
    waiting = f'Waiting for daemon set "{name}" rollout to finish:'
    if not observed:
        message = "Waiting for daemon set spec update to be observed..."
    elif updated < desired:
        message = f"{waiting} {updated} out of {desired} new pods have been updated..."
    elif available < desired:
        message = f"{waiting} {available} of {desired} updated pods are available..."
    else:
        state, message = "complete", f'daemon set "{name}" successfully rolled out'
    return RolloutStatus(
        kind="DaemonSet",
        name=name,
        state=state,
        message=message,
        desired=desired,
        replicas=status.current_number_scheduled or 0,
        updated=updated,
        ready=status.number_ready or 0,
        available=available,
        observed=observed,
    )


def _condition(obj: Deployment, name: str) -> DeploymentCondition | None:
    return next((each for each in obj.status.conditions if each.type == name), None)


def _is_observed(obj: Workload) -> bool:
    return (obj.metadata.generation or 0) <= (obj.status.observed_generation or 0)


def _check_strategy(obj: Workload, strategy: str | None) -> None:
    if (strategy or "RollingUpdate") != "RollingUpdate":
        raise InvalidArgument(
            f"rollout of {obj.kind} {obj.metadata.name}: rollout status is only available for"
            f" RollingUpdate strategy type, this one has {strategy} (delete its old pods, and"
            " wait for the new ones)"
        )


# --- pods


def pod_problems(pod: Pod) -> tuple[RolloutProblem, ...]:
    """Why a pod has not started, or has ended; nothing for a pod that is being deleted."""
    name, status = pod.metadata.name, pod.status
    if pod.metadata.deletion_timestamp is not None:
        return ()
    found = []
    if status.phase == "Failed" and status.reason:  # such as Evicted
        found.append(RolloutProblem(status.reason, status.message or "", name))
    scheduled = find_condition(status.conditions, "PodScheduled")
    if scheduled is not None and scheduled.status == "False" and scheduled.reason:
        # A pod with a scheduling gate waits on purpose, and for someone.
        found.append(RolloutProblem(scheduled.reason, scheduled.message or "", name))
    containers: Sequence[ContainerStatus] = (
        *status.init_container_statuses,
        *status.container_statuses,
    )
    return (*found, *(problem for each in containers for problem in _container_problem(name, each)))


def _container_problem(pod: str, container: ContainerStatus) -> Iterable[RolloutProblem]:
    waiting, ended = container.state.waiting, container.state.terminated
    if waiting is not None and (waiting.reason or "") not in _NORMAL:
        yield RolloutProblem(waiting.reason or "", waiting.message or "", pod, container.name)
    elif ended is not None and ended.exit_code:
        message = ended.message or f"exit code {ended.exit_code}"
        yield RolloutProblem(ended.reason or "Error", message, pod, container.name)
