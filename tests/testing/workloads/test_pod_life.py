"""The life of a pod, step by step, without any server."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from kubeloop.meta import is_condition_true
from kubeloop.testing.workloads.pod_life import OUTCOME, next_step
from kubeloop.wire.core.v1 import Pod

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


def lived(pod: Pod, steps: int) -> list[str]:
    """The stages that a pod goes through; it is left in the last one."""
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
    assert container.state is not None
    return container.state.to_dict()


def test_a_pod_is_created_and_runs_for_ever() -> None:
    pod = a_pod()

    assert lived(pod, 9) == ["bound", "creating"]
    assert (pod.status.phase, pod.status.pod_ip) == ("Running", "10.64.0.1")
    assert is_condition_true(pod.status.conditions, "Ready")


def test_a_pod_with_a_probe_gets_ready_a_step_later() -> None:
    pod = a_pod(probe=True)

    assert lived(pod, 2) == ["bound", "creating"]
    assert not is_condition_true(pod.status.conditions, "Ready")
    assert lived(pod, 9) == ["unready"]
    assert is_condition_true(pod.status.conditions, "Ready")


@pytest.mark.parametrize("restart", ["Never", "OnFailure"])
def test_a_pod_that_is_not_restarted_for_ever_does_its_work(restart: str) -> None:
    pod = a_pod(restart=restart)

    assert lived(pod, 9) == ["bound", "creating", "working"]
    assert pod.status.phase == "Succeeded"
    assert state_of(pod)["terminated"]["exitCode"] == 0


def test_a_pod_told_to_fail_has_failed_when_it_is_never_restarted() -> None:
    pod = a_pod(outcome="fail", restart="Never")

    lived(pod, 9)

    assert pod.status.phase == "Failed"
    assert state_of(pod)["terminated"]["exitCode"] == 1


def test_a_pod_that_fails_again_and_again_waits_longer_and_longer() -> None:
    pod = a_pod(outcome="fail")

    assert lived(pod, 5) == ["bound", "creating", "failing 0", "failing 1", "failing 2"]
    assert state_of(pod)["waiting"]["reason"] == "CrashLoopBackOff"
    assert pod.status.container_statuses[0].restart_count == 3
    step = next_step(pod, now=NOW, host_ip="", pod_ip="")
    assert step is not None
    assert step.steps == 8


def test_a_pod_gets_well_when_it_is_told_to_fail_no_more() -> None:
    pod = a_pod(outcome="fail")
    lived(pod, 4)

    pod.metadata.annotations = {}
    lived(pod, 9)

    assert is_condition_true(pod.status.conditions, "Ready")
    assert "running" in state_of(pod)


def test_an_image_that_is_not_there_keeps_the_pod_pending() -> None:
    pod = a_pod(outcome="no-image")

    assert lived(pod, 9) == ["bound", "creating"]
    assert pod.status.phase == "Pending"
    assert state_of(pod)["waiting"]["reason"] == "ImagePullBackOff"


def test_a_running_pod_can_be_made_unready() -> None:
    pod = a_pod()
    lived(pod, 9)

    pod.metadata.annotations = {OUTCOME: "unready"}
    lived(pod, 9)

    assert pod.status.phase == "Running"
    assert not is_condition_true(pod.status.conditions, "Ready")
