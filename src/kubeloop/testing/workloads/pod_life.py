"""The life of a pod on its node: created, running, ready, over.

Promises: pure; from what a pod is now to what it is next, and how long that takes. Pods that
are to be restarted for ever run for ever; others do their work in one step and have
succeeded. The annotation `kubeloop.testing/outcome`, of a pod or of the template it is made
from, says otherwise:

| value      | what becomes of the pod                                          |
|------------|------------------------------------------------------------------|
| `fail`     | its containers end with exit code 1: Failed, or CrashLoopBackOff |
| `no-image` | its image cannot be pulled: it stays pending, ImagePullBackOff   |
| `unready`  | it runs, and never gets ready                                    |

Elsewhere: waiting and writing (`kubelet`).
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

__all__ = ["OUTCOME", "Step", "next_step"]

OUTCOME: Final = "kubeloop.testing/outcome"
"""The annotation that says how a pod ends; see above."""

MOST_PATIENCE = 2**8  # steps that a container which fails again and again waits at most


class Step(msgspec.Struct, frozen=True):
    """What a pod is next; `stage` names what it is now, which lasts `steps` steps."""

    stage: str
    status: PodStatus
    steps: int = 1


def next_step(pod: Pod, *, now: datetime, host_ip: str, pod_ip: str) -> Step | None:
    """What becomes of a pod that has a node; None when it is to stay as it is."""
    if pod.status.phase in {"Succeeded", "Failed"}:
        return None
    if pod.status.start_time is None:
        return Step("bound", _creating(pod, now, host_ip), steps=0)
    outcome = pod.metadata.annotations.get(OUTCOME, "")
    if pod.status.phase != "Running":
        return _from_creating(pod, outcome, now, pod_ip)
    if outcome == "fail":
        return _failing(pod, now)
    if pod.spec.restart_policy != "Always":
        return Step("working", _over(pod, "Succeeded", now))
    return _from_running(pod, outcome, now)


# --- the steps


def _from_creating(pod: Pod, outcome: str, now: datetime, pod_ip: str) -> Step | None:
    if outcome != "no-image":
        return Step("creating", _running(pod, now, pod_ip, ready=_gets_ready_at_once(pod)))
    if _waiting_for(pod) == "ImagePullBackOff":
        return None
    return Step("creating", _unready(pod, now, "ImagePullBackOff"))


def _from_running(pod: Pod, outcome: str, now: datetime) -> Step | None:
    is_ready = is_condition_true(pod.status.conditions, "Ready")
    if outcome == "unready":
        return Step("ready", _unready(pod, now, ""), steps=0) if is_ready else None
    return None if is_ready else Step("unready", _running(pod, now, pod.status.pod_ip or ""))


def _failing(pod: Pod, now: datetime) -> Step:
    if pod.spec.restart_policy == "Never":
        return Step("working", _over(pod, "Failed", now))
    restarts = max((each.restart_count for each in pod.status.container_statuses), default=0)
    steps = min(2**restarts, MOST_PATIENCE)
    return Step(f"failing {restarts}", _crashed(pod, now), steps=steps)


def _gets_ready_at_once(pod: Pod) -> bool:
    if pod.metadata.annotations.get(OUTCOME) == "unready":
        return False
    return all(each.readiness_probe is None for each in pod.spec.containers)


def _waiting_for(pod: Pod) -> str:
    states = [each.state for each in pod.status.container_statuses]
    waiting = [state.waiting for state in states if state.waiting is not None]
    return (waiting[0].reason or "") if waiting else ""


# --- the states


def _creating(pod: Pod, now: datetime, host_ip: str) -> PodStatus:
    waiting = ContainerState(waiting=ContainerStateWaiting(reason="ContainerCreating"))
    return PodStatus(
        phase="Pending",
        qos_class=pod.status.qos_class,
        start_time=now,
        host_ip=host_ip,
        host_ips=[HostIP(ip=host_ip)],
        conditions=_conditions(pod, now, ready=False),
        container_statuses=[_container(each, waiting) for each in pod.spec.containers],
    )


def _running(pod: Pod, now: datetime, pod_ip: str, *, ready: bool = True) -> PodStatus:
    state = ContainerState(running=ContainerStateRunning(started_at=now))
    status = _changed(pod, now, state, ready=ready)
    status.phase, status.pod_ip, status.pod_ips = "Running", pod_ip, [PodIP(ip=pod_ip)]
    for each in status.container_statuses:
        each.started = True
    return status


def _unready(pod: Pod, now: datetime, reason: str) -> PodStatus:
    """As it is, but not ready, and with a reason to wait where there is one."""
    state = ContainerState(waiting=ContainerStateWaiting(reason=reason)) if reason else None
    return _changed(pod, now, state, ready=False)


def _crashed(pod: Pod, now: datetime) -> PodStatus:
    state = ContainerState(waiting=ContainerStateWaiting(reason="CrashLoopBackOff"))
    status = _changed(pod, now, state, ready=False)
    for each in status.container_statuses:
        each.restart_count += 1
        each.last_state = _ended(1, now)
    return status


def _over(pod: Pod, phase: str, now: datetime) -> PodStatus:
    status = _changed(pod, now, _ended(phase == "Failed", now), ready=False)
    status.phase = phase
    for each in status.conditions:
        if each.type in {"Ready", "ContainersReady"}:
            each.reason = f"Pod{'Completed' if phase == 'Succeeded' else phase}"
    return status


def _ended(code: int, now: datetime) -> ContainerState:
    reason = "Error" if code else "Completed"
    ended = ContainerStateTerminated(
        exit_code=int(code), reason=reason, started_at=now, finished_at=now
    )
    return ContainerState(terminated=ended)


def _changed(pod: Pod, now: datetime, state: ContainerState | None, *, ready: bool) -> PodStatus:
    """The pod's status with its containers in another state, where one is given."""
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
    said = "True" if ready else "False"
    wanted = {
        "PodReadyToStartContainers": "True",
        "Initialized": "True",
        "Ready": said,
        "ContainersReady": said,
        "PodScheduled": "True",
    }
    return [_condition(pod, name, status, now) for name, status in wanted.items()]


def _condition(pod: Pod, name: str, status: str, now: datetime) -> PodCondition:
    """One condition, whose time moves only with its status."""
    found = find_condition(pod.status.conditions, name)
    since = found.last_transition_time if found is not None and found.status == status else now
    return PodCondition(type=name, status=status, last_transition_time=since)
