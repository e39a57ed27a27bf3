"""The lifecycle of a bound pod: creating, running, ready, finished.

Guarantees: pure; from the current status of a pod to the next one, and how long that takes.
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

__all__ = ["OUTCOME", "Step", "next_step"]

OUTCOME: Final = "kubeloop.testing/outcome"
"""The annotation that decides how a pod ends; see above."""


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
        return None
    return Step("unready", _running_status(pod, now, pod.status.pod_ip or ""))


def _failing(pod: Pod, now: datetime) -> Step:
    if pod.spec.restart_policy == "Never":
        return Step("working", _finished_status(pod, "Failed", now))
    restarts = max((each.restart_count for each in pod.status.container_statuses), default=0)
    # The kubelet doubles the delay of CrashLoopBackOff with each restart.
    return Step(f"failing {restarts}", _crashed_status(pod, now), steps=backoff_steps(restarts))


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
    return status


def _unready_status(pod: Pod, now: datetime, reason: str) -> PodStatus:
    """The current status, but not ready; with a `reason`, the containers are waiting."""
    state = ContainerState(waiting=ContainerStateWaiting(reason=reason)) if reason else None
    return _with_state(pod, now, state, ready=False)


def _crashed_status(pod: Pod, now: datetime) -> PodStatus:
    state = ContainerState(waiting=ContainerStateWaiting(reason="CrashLoopBackOff"))
    status = _with_state(pod, now, state, ready=False)
    for each in status.container_statuses:
        each.restart_count += 1
        each.last_state = _terminated(1, now)
    return status


def _finished_status(pod: Pod, phase: str, now: datetime) -> PodStatus:
    # The kubelet sets these reasons when a pod completes.
    status = _with_state(pod, now, _terminated(phase == "Failed", now), ready=False)
    status.phase = phase
    for each in status.conditions:
        if each.type in {"Ready", "ContainersReady"}:
            each.reason = f"Pod{'Completed' if phase == 'Succeeded' else phase}"
    return status


def _terminated(code: int, now: datetime) -> ContainerState:
    reason = "Error" if code else "Completed"
    terminated = ContainerStateTerminated(
        exit_code=int(code), reason=reason, started_at=now, finished_at=now
    )
    return ContainerState(terminated=terminated)


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
