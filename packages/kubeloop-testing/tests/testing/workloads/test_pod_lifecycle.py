"""The lifecycle of a pod, step by step, without a server."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from kubeloop.meta import is_condition_true
from kubeloop.wire.core.v1 import EphemeralContainer, Pod
from kubeloop_testing.workloads.pod_lifecycle import OUTCOME, next_step, terminated_status

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def a_pod(*, outcome: str = "", restart: str = "Always", probe: bool = False) -> Pod:
    container: dict[str, Any] = {"name": "main", "image": "app:1"}
    if probe:
        container["readinessProbe"] = {"tcpSocket": {"port": 80}}
    return Pod.from_dict(
        {
            "metadata": {"name": "web", "annotations": {OUTCOME: outcome} if outcome else {}},
            "spec": {"nodeName": "node-1", "restartPolicy": restart, "containers": [container]},
            "status": {"phase": "Pending"},
        }
    )


def advance(pod: Pod, steps: int) -> list[str]:
    """Take a pod through at most `steps` steps; return its stages."""
    stages: list[str] = []
    for _ in range(steps):
        step = next_step(pod, now=NOW, host_ip="192.168.0.1", pod_ip="10.64.0.1")
        if step is None:
            break
        stages.append(step.stage)
        pod.status = step.status
    return stages


def state_of(pod: Pod) -> dict[str, Any]:
    (container,) = pod.status.container_statuses
    return container.state.to_dict()


def test_a_pod_is_created_and_runs_for_ever() -> None:
    pod = a_pod()

    assert advance(pod, 9) == ["bound", "creating"]
    assert (pod.status.phase, pod.status.pod_ip) == ("Running", "10.64.0.1")
    assert is_condition_true(pod.status.conditions, "Ready")


def test_a_pod_with_a_readiness_probe_becomes_ready_a_step_later() -> None:
    pod = a_pod(probe=True)

    assert advance(pod, 2) == ["bound", "creating"]
    assert not is_condition_true(pod.status.conditions, "Ready")
    assert advance(pod, 9) == ["unready"]
    assert is_condition_true(pod.status.conditions, "Ready")


@pytest.mark.parametrize("restart", ["Never", "OnFailure"])
def test_a_pod_with_another_restart_policy_succeeds(restart: str) -> None:
    pod = a_pod(restart=restart)

    assert advance(pod, 9) == ["bound", "creating", "working"]
    assert pod.status.phase == "Succeeded"
    assert state_of(pod)["terminated"]["exitCode"] == 0


def test_a_failing_pod_without_restarts_is_failed() -> None:
    pod = a_pod(outcome="fail", restart="Never")

    advance(pod, 9)

    assert pod.status.phase == "Failed"
    assert state_of(pod)["terminated"]["exitCode"] == 1


def test_a_crashing_pod_backs_off() -> None:
    pod = a_pod(outcome="fail")

    stages = advance(pod, 7)

    assert stages[2:] == ["failing 0", "waiting 0", "failing 1", "waiting 1", "failing 2"]
    assert state_of(pod)["waiting"]["reason"] == "CrashLoopBackOff"
    assert pod.status.container_statuses[0].restart_count == 2
    step = next_step(pod, now=NOW, host_ip="", pod_ip="")
    assert step is not None
    assert step.steps == 4


def test_a_pod_recovers_when_its_outcome_is_removed() -> None:
    pod = a_pod(outcome="fail")
    advance(pod, 4)

    pod.metadata.annotations = {}
    advance(pod, 9)

    assert is_condition_true(pod.status.conditions, "Ready")
    assert "running" in state_of(pod)


def test_a_missing_image_keeps_the_pod_pending() -> None:
    pod = a_pod(outcome="no-image")

    assert advance(pod, 9) == ["bound", "creating"]
    assert pod.status.phase == "Pending"
    assert state_of(pod)["waiting"]["reason"] == "ImagePullBackOff"


def test_a_running_pod_can_be_made_unready() -> None:
    pod = a_pod()
    advance(pod, 9)

    pod.metadata.annotations = {OUTCOME: "unready"}
    advance(pod, 9)

    assert pod.status.phase == "Running"
    assert not is_condition_true(pod.status.conditions, "Ready")


def test_an_ephemeral_container_starts_in_a_ready_pod_and_ends_with_it() -> None:
    pod = a_pod()
    advance(pod, 9)
    pod.spec.ephemeral_containers = [EphemeralContainer(name="tools", image="busybox")]

    stages = advance(pod, 9)
    ended = terminated_status(pod, NOW)

    (tools,) = pod.status.ephemeral_container_statuses
    assert stages == ["debugging 0"]
    assert (tools.name, tools.state.running is not None) == ("tools", True)
    assert tools.container_id != pod.status.container_statuses[0].container_id
    assert ended is not None
    assert ended.ephemeral_container_statuses[0].state.terminated is not None


def test_a_deleted_pod_ends_before_it_goes() -> None:
    pod = a_pod()
    advance(pod, 9)

    status = terminated_status(pod, NOW)

    assert status is not None
    assert status.phase == "Succeeded"
    ends = {each.type: (each.status, each.reason) for each in status.conditions}
    assert ends["Ready"] == ends["ContainersReady"] == ("False", "PodCompleted")
    assert ends["PodReadyToStartContainers"][0] == "False"
    (container,) = status.container_statuses
    assert container.state.terminated is not None
    assert container.state.terminated.container_id == container.container_id != ""
    assert (container.ready, container.started) == (False, False)


@pytest.mark.parametrize(
    ("outcome", "restart", "steps", "code", "reason"),
    [
        ("", "Never", 2, 143, "Error"),
        ("fail", "Always", 3, 1, "Error"),
        ("no-image", "Always", 2, 137, "ContainerStatusUnknown"),
    ],
)
def test_a_deleted_pod_that_does_not_serve_has_failed(
    outcome: str, restart: str, steps: int, code: int, reason: str
) -> None:
    pod = a_pod(outcome=outcome, restart=restart)
    advance(pod, steps)

    status = terminated_status(pod, NOW)

    assert status is not None
    assert status.phase == "Failed"
    state = status.container_statuses[0].state
    assert state.terminated is not None
    assert (state.terminated.exit_code, state.terminated.reason) == (code, reason)


def test_a_pod_that_has_ended_or_never_started_keeps_its_status() -> None:
    ended = a_pod(restart="Never")
    advance(ended, 9)

    assert terminated_status(ended, NOW) is None
    assert terminated_status(a_pod(), NOW) is None
