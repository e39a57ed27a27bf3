"""The lifecycle of a bound pod: creating, running, ready, finished, terminated.

Guarantees: pure; from the current status of a pod to the next one, and how long that takes.
Ephemeral containers of a ready pod start one step after they were added, and keep running.
A pod that is deleted has ended containers and is not ready before it goes, as with a kubelet.
Pods with `restartPolicy: Always` run for ever; others succeed after one step. The annotation
`kubeloop.testing/outcome`, of a pod or of its template, changes that:

| value      | what happens to the pod                                           |
|------------|-------------------------------------------------------------------|
| `fail`     | its containers exit with code 1: Failed, or CrashLoopBackOff      |
| `no-image` | its image cannot be pulled: it stays Pending with ImagePullBackOff |
| `unready`  | it runs, and never becomes ready                                  |

See also: waiting and writing (`kubelet`).
"""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Final

import msgspec

from kubeloop.meta import find_condition, is_condition_true
from kubeloop.wire.core.v1 import (
    Container,
    ContainerState,
    ContainerStateRunning,
    ContainerStateTerminated,
    ContainerStateWaiting,
    ContainerStatus,
    HostIP,
    Pod,
    PodCondition,
    PodIP,
    PodStatus,
)

from .stages import backoff_steps

__all__ = ["OUTCOME", "Step", "next_step", "terminated_status"]

OUTCOME: Final = "kubeloop.testing/outcome"
"""The annotation that decides how a pod ends; see above."""


_KILLED_BY_SIGTERM: Final = 128 + 15
_KILLED: Final = 128 + 9


class Step(msgspec.Struct, frozen=True):
    """The next status of a pod, after the current `stage` has lasted for `steps` steps."""

    stage: str
    status: PodStatus
    steps: int = 1


def next_step(pod: Pod, *, now: datetime, host_ip: str, pod_ip: str) -> Step | None:
    """The next step of a bound pod; None if its status does not change any more."""
    if pod.status.phase in {"Succeeded", "Failed"}:
        return None
    if pod.status.start_time is None:
        return Step("bound", _creating_status(pod, now, host_ip), steps=0)
    outcome = pod.metadata.annotations.get(OUTCOME, "")
    if pod.status.phase != "Running":
        return _from_creating(pod, outcome, now, pod_ip)
    if outcome == "fail":
        return _failing(pod, now)
    if pod.spec.restart_policy != "Always":
        return Step("working", _finished_status(pod, "Succeeded", now))
    return _from_running(pod, outcome, now)


def terminated_status(pod: Pod, now: datetime) -> PodStatus | None:
    """The last status of a pod that is deleted, once its containers have stopped.

    The kubelet writes it before it deletes the pod with grace period 0 (`syncTerminatingPod`).
    None if the pod never started, or has ended already.
    """
    if pod.status.phase in {"Succeeded", "Failed"} or pod.status.start_time is None:
        return None
    status = _with_state(pod, now, None, ready=False)
    for each in status.container_statuses:
        each.state = ContainerState(terminated=_last_state(pod, each, now))
        each.started = False
    for each in status.ephemeral_container_statuses:
        each.state = ContainerState(terminated=_last_state(pod, each, now))
    codes = [_exit_code(each) for each in status.container_statuses]
    # `getPhase` of the kubelet, for a pod whose containers are not restarted any more.
    _set_finished(status, "Failed" if any(codes) else "Succeeded")
    for condition in status.conditions:
        if condition.type == "PodReadyToStartContainers":
            condition.status, condition.last_transition_time = "False", now
    return status


def _last_state(pod: Pod, container: ContainerStatus, now: datetime) -> ContainerStateTerminated:
    if container.state.running is not None:
        # A server ends by itself after SIGTERM; other programs are killed by it.
        code = 0 if pod.spec.restart_policy == "Always" else _KILLED_BY_SIGTERM
        return _ended(container, code, now)
    if container.last_state.terminated is not None:
        return container.last_state.terminated
    # `convertStatusToAPIStatus` of the kubelet, for a container that it cannot find.
    return ContainerStateTerminated(
        exit_code=_KILLED,
        reason="ContainerStatusUnknown",
        message="the container had not started when the pod was deleted",
    )


def _exit_code(container: ContainerStatus) -> int:
    ended = container.state.terminated
    return 0 if ended is None else ended.exit_code


# --- the steps


def _from_creating(pod: Pod, outcome: str, now: datetime, pod_ip: str) -> Step | None:
    if outcome != "no-image":
        return Step("creating", _running_status(pod, now, pod_ip, ready=_starts_ready(pod)))
    if _waiting_for(pod) == "ImagePullBackOff":
        return None
    return Step("creating", _unready_status(pod, now, "ImagePullBackOff"))


def _from_running(pod: Pod, outcome: str, now: datetime) -> Step | None:
    is_ready = is_condition_true(pod.status.conditions, "Ready")
    if outcome == "unready":
        return Step("ready", _unready_status(pod, now, ""), steps=0) if is_ready else None
    if is_ready:
        return _debugging(pod, now)
    return Step("unready", _running_status(pod, now, pod.status.pod_ip or ""))


def _debugging(pod: Pod, now: datetime) -> Step | None:
    """Start ephemeral containers that were added to a running pod."""
    known = {each.name for each in pod.status.ephemeral_container_statuses}
    new = [each for each in pod.spec.ephemeral_containers if each.name not in known]
    if not new:
        return None
    status = PodStatus.from_dict(pod.status.to_dict())
    for each in new:
        started = ContainerStatus(
            name=each.name,
            image=each.image or "",
            image_id="",
            ready=False,
            restart_count=0,
            state=ContainerState(running=ContainerStateRunning(started_at=now)),
        )
        started.container_id = _container_id(pod, started)
        status.ephemeral_container_statuses.append(started)
    return Step(f"debugging {len(known)}", status)


def _failing(pod: Pod, now: datetime) -> Step:
    if pod.spec.restart_policy == "Never":
        return Step("working", _finished_status(pod, "Failed", now))
    restarts = max((each.restart_count for each in pod.status.container_statuses), default=0)
    if _waiting_for(pod) != "CrashLoopBackOff":
        return Step(f"failing {restarts}", _crashed_status(pod, now))
    # The kubelet doubles the delay of CrashLoopBackOff with each restart.
    status = _restarted_status(pod, now)
    return Step(f"waiting {restarts}", status, steps=backoff_steps(restarts))


def _starts_ready(pod: Pod) -> bool:
    if pod.metadata.annotations.get(OUTCOME) == "unready":
        return False
    return all(each.readiness_probe is None for each in pod.spec.containers)


def _waiting_for(pod: Pod) -> str:
    # All containers of a simulated pod have the same state.
    states = [each.state for each in pod.status.container_statuses]
    waiting = [state.waiting for state in states if state.waiting is not None]
    return (waiting[0].reason or "") if waiting else ""


# --- the statuses


def _creating_status(pod: Pod, now: datetime, host_ip: str) -> PodStatus:
    # The status that a real kubelet reports first.
    waiting = ContainerState(waiting=ContainerStateWaiting(reason="ContainerCreating"))
    return PodStatus(
        phase="Pending",
        qos_class=pod.status.qos_class,
        start_time=now,
        host_ip=host_ip,
        host_ips=[HostIP(ip=host_ip)] if host_ip else [],
        conditions=_conditions(pod, now, ready=False),
        container_statuses=[_container(each, waiting) for each in pod.spec.containers],
    )


def _running_status(pod: Pod, now: datetime, pod_ip: str, *, ready: bool = True) -> PodStatus:
    state = ContainerState(running=ContainerStateRunning(started_at=now))
    status = _with_state(pod, now, state, ready=ready)
    status.phase, status.pod_ip, status.pod_ips = "Running", pod_ip, [PodIP(ip=pod_ip)]
    for each in status.container_statuses:
        each.started = True
        each.container_id = _container_id(pod, each)
    return status


def _unready_status(pod: Pod, now: datetime, reason: str) -> PodStatus:
    """The current status, but not ready; with a `reason`, the containers are waiting."""
    state = ContainerState(waiting=ContainerStateWaiting(reason=reason)) if reason else None
    return _with_state(pod, now, state, ready=False)


def _crashed_status(pod: Pod, now: datetime) -> PodStatus:
    state = ContainerState(waiting=ContainerStateWaiting(reason="CrashLoopBackOff"))
    status = _with_state(pod, now, state, ready=False)
    for each, before in zip(status.container_statuses, pod.status.container_statuses, strict=True):
        each.last_state = ContainerState(terminated=_ended(before, 1, now))
        each.started = False
    return status


def _restarted_status(pod: Pod, now: datetime) -> PodStatus:
    """The next run of each container. It is not ready: it fails again, after one step."""
    state = ContainerState(running=ContainerStateRunning(started_at=now))
    status = _with_state(pod, now, state, ready=False)
    for each in status.container_statuses:
        each.restart_count += 1
        each.started = True
        each.container_id = _container_id(pod, each)
    return status


def _finished_status(pod: Pod, phase: str, now: datetime) -> PodStatus:
    status = _with_state(pod, now, None, ready=False)
    for each in status.container_statuses:
        each.state = ContainerState(terminated=_ended(each, int(phase == "Failed"), now))
        each.started = False
    _set_finished(status, phase)
    return status


def _set_finished(status: PodStatus, phase: str) -> None:
    # The kubelet sets these reasons when a pod completes.
    status.phase = phase
    for each in status.conditions:
        if each.type in {"Ready", "ContainersReady"}:
            each.reason = f"Pod{'Completed' if phase == 'Succeeded' else phase}"


def _ended(container: ContainerStatus, code: int, now: datetime) -> ContainerStateTerminated:
    running = container.state.running
    return ContainerStateTerminated(
        exit_code=code,
        reason="Error" if code else "Completed",
        started_at=now if running is None else running.started_at,
        finished_at=now,
        container_id=container.container_id,
    )


def _container_id(pod: Pod, container: ContainerStatus) -> str:
    """The same each time, and another one after a restart."""
    content = f"{pod.metadata.uid} {container.name} {container.restart_count}"
    return f"containerd://{hashlib.sha256(content.encode()).hexdigest()}"


def _with_state(pod: Pod, now: datetime, state: ContainerState | None, *, ready: bool) -> PodStatus:
    """The pod's status with its containers in `state`, or in their current state."""
    status = PodStatus.from_dict(pod.status.to_dict())
    status.conditions = _conditions(pod, now, ready=ready)
    for each in status.container_statuses:
        each.state, each.ready = state or each.state, ready
    return status


def _container(container: Container, state: ContainerState) -> ContainerStatus:
    return ContainerStatus(
        name=container.name,
        image=container.image or "",
        image_id="",
        ready=False,
        restart_count=0,
        started=False,
        state=state,
    )


def _conditions(pod: Pod, now: datetime, *, ready: bool) -> list[PodCondition]:
    is_ready = "True" if ready else "False"
    statuses = {
        "PodReadyToStartContainers": "True",
        "Initialized": "True",
        "Ready": is_ready,
        "ContainersReady": is_ready,
        "PodScheduled": "True",
    }
    return [_condition(pod, name, status, now) for name, status in statuses.items()]


def _condition(pod: Pod, name: str, status: str, now: datetime) -> PodCondition:
    """One condition; its transition time moves only when its status changes."""
    found = find_condition(pod.status.conditions, name)
    since = found.last_transition_time if found is not None and found.status == status else now
    return PodCondition(type=name, status=status, last_transition_time=since)
