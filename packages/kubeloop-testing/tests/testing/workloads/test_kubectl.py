"""kubectl follows rollouts of the simulation as it follows real ones."""

from __future__ import annotations

import pytest

from tests.support.kubectl import Kubectl, kubectl, kubectl_cache, kubectl_program

__all__ = ["kubectl", "kubectl_cache", "kubectl_program"]  # fixtures

pytestmark = pytest.mark.usefixtures("kube_workloads")

SETS = """
apiVersion: apps/v1
kind: {kind}
metadata: {{name: web}}
spec:
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec: {{containers: [{{name: main, image: "app:1"}}]}}
"""


def test_rollout_status_follows_an_update_and_its_undo(kubectl: Kubectl) -> None:
    kubectl("apply", "-f-", stdin=SETS.format(kind="Deployment"))
    kubectl("scale", "deployment/web", "--replicas=3")
    assert "successfully rolled out" in kubectl("rollout", "status", "deployment/web")

    kubectl("set", "image", "deployment/web", "main=app:2")
    assert "successfully rolled out" in kubectl("rollout", "status", "deployment/web")
    kubectl("rollout", "undo", "deployment/web")
    assert "successfully rolled out" in kubectl("rollout", "status", "deployment/web")

    pods = kubectl("get", "pods", "-l", "app=web", "--no-headers").splitlines()
    running = [line for line in pods if "Running" in line and "1/1" in line]
    assert len(running) == 3
    assert kubectl("rollout", "history", "deployment/web").split()[-4:] == [
        "2",
        "<none>",
        "3",
        "<none>",
    ]
    image = "{.spec.template.spec.containers[0].image}"
    assert kubectl("get", "deployment", "web", f"-ojsonpath={image}") == "app:1"


@pytest.mark.parametrize("kind", ["StatefulSet", "DaemonSet"])
def test_rollout_status_follows_other_sets(kind: str, kubectl: Kubectl) -> None:
    kubectl("apply", "-f-", stdin=SETS.format(kind=kind))
    kubectl("rollout", "status", f"{kind}/web")

    kubectl("rollout", "restart", f"{kind}/web")
    output = kubectl("rollout", "status", f"{kind}/web")

    assert "roll" in output.splitlines()[-1]


def test_waiting_for_a_job_ends(kubectl: Kubectl) -> None:
    kubectl("create", "job", "once", "--image=app:1")

    output = kubectl("wait", "job/once", "--for=condition=Complete", "--timeout=30s")

    assert output == "job.batch/once condition met"


def test_nodes_are_ready(kubectl: Kubectl) -> None:
    kubectl("wait", "node", "--all", "--for=condition=Ready", "--timeout=30s")

    assert len(kubectl("get", "nodes", "--no-headers").splitlines()) == 3
