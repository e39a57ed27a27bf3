"""kube-controller-manager, with all of its controllers, against the embedded server.

With `--kube envtest` the same tests use the one that runs beside kube-apiserver.
"""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kubeloop.clients import DrainFailed
from kubeloop.config import ClusterConfig
from kubeloop.runtime import Client
from kubeloop.wire.apps.v1 import DaemonSet, StatefulSet
from kubeloop_testing import APIServer, ControlPlane
from kubeloop_testing.control_plane import CONTROLLER_MANAGER, cached_assets
from kubeloop_testing.server.access.certs import write_key
from kubeloop_testing.server.access.signing import SigningKey
from tests.support.clocks import FastClock
from tests.support.kubectl import Kubectl

# Errors that it also logs with kube-apiserver, often or at times.
EXPECTED = (
    "The manifest file is empty",
    "the object has been modified",
    "not as new as written version",  # it reads its own write later, and retries
    '\\" not found"',  # deleted while it was processed
    "requeue it",  # another controller was faster: it tries again
    # After a conflict it may send an update with the empty object of the failed response.
    "resource name may not be empty",
    "remain in namespace",  # pods of an earlier test that no kubelet ends: it retries
    # A controller that works on a namespace while it is deleted.
    "because it is being terminated",
)
# The garbage collector still watches a custom kind whose definition another test deleted.
DELETED_KIND = re.compile("could not find the requested resource.*PartialObjectMetadata")
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: nginx, image: "nginx:1"}]}
"""
SERVICE = """
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
"""
JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: once}
spec:
  template:
    spec: {restartPolicy: Never, containers: [{name: main, image: busybox}]}
"""
TOKEN = """
apiVersion: v1
kind: Secret
metadata: {name: token, annotations: {kubernetes.io/service-account.name: default}}
type: kubernetes.io/service-account-token
"""


@pytest.fixture(scope="module", autouse=True)
def log(
    kube_session_server: object, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[], str]]:
    """Run kube-controller-manager; the value reads its log."""
    if isinstance(kube_session_server, ControlPlane):  # runs one already
        yield lambda: kube_session_server.log(CONTROLLER_MANAGER)
        return
    program = Path(os.environ.get("KUBEBUILDER_ASSETS") or cached_assets(), CONTROLLER_MANAGER)
    if not os.access(program, os.X_OK):
        pytest.skip(f"no {CONTROLLER_MANAGER} in KUBEBUILDER_ASSETS or from `make assets`")
    assert isinstance(kube_session_server, APIServer)
    folder = tmp_path_factory.mktemp("controller-manager")
    with (folder / "log").open("wb") as output:
        process = subprocess.Popen(
            _command(program, kube_session_server, folder), stdout=output, stderr=output
        )
        try:
            yield (folder / "log").read_text
        finally:
            process.terminate()
            process.wait()


def _command(program: Path, server: APIServer, folder: Path) -> list[str]:
    (folder / "kubeconfig").touch(mode=0o600)
    (folder / "kubeconfig").write_text(server.kubeconfig(), encoding="utf-8")
    write_key(folder / "service-accounts.key", SigningKey().pem)
    (folder / "ca.crt").write_bytes(server.service.ca or b"")
    return [
        str(program),
        f"--kubeconfig={folder / 'kubeconfig'}",
        "--controllers=*",
        f"--service-account-private-key-file={folder / 'service-accounts.key'}",
        f"--root-ca-file={folder / 'ca.crt'}",
        "--secure-port=0",  # it serves nothing
        f"--cert-dir={folder}",
        "--leader-elect=false",
        "--use-service-account-credentials=false",
    ]


def wait(kubectl: Kubectl, *what: str) -> None:
    kubectl("wait", *what, "--timeout=30s")


def items(kubectl: Kubectl, *what: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(kubectl("get", *what, "--output=json"))["items"]
    return found


def set_status(kubectl: Kubectl, name: str, **status: object) -> None:
    patch = json.dumps({"status": status})
    kubectl("patch", "pod", name, "--subresource=status", "--type=merge", f"--patch={patch}")


def test_a_deployment_rolls_out_in_revisions(kubectl: Kubectl) -> None:
    kubectl("apply", "--filename=-", stdin=DEPLOYMENT)
    wait(kubectl, "deployment/web", "--for=jsonpath={.status.updatedReplicas}=2")
    assert len(items(kubectl, "pods")) == 2

    kubectl("set", "image", "deployment/web", "nginx=nginx:2")
    wait(kubectl, "deployment/web", "--for=jsonpath={.status.updatedReplicas}=1")

    revision = "deployment.kubernetes.io/revision"
    (deployment,) = items(kubectl, "deployments")
    assert deployment["metadata"]["annotations"][revision] == "2"
    sets = items(kubectl, "replicasets")
    assert sorted(each["metadata"]["annotations"][revision] for each in sets) == ["1", "2"]


@pytest.mark.parametrize("kind", ["StatefulSet", "DaemonSet"])
async def test_an_undo_restores_a_revision_of_the_controller(
    kubectl: Kubectl, kube_client: Client, kind: str
) -> None:
    sets: Any = kube_client.resource(
        {"StatefulSet": StatefulSet, "DaemonSet": DaemonSet}[kind], namespace=kubectl.namespace
    )
    kubectl("apply", "--filename=-", stdin=DEPLOYMENT.replace("Deployment", kind).replace(
        "  replicas: 2\n", "  replicas: 0\n" if kind == "StatefulSet" else ""
    ))  # fmt: skip
    await sets.wait_for("web", jsonpath="{.status.observedGeneration}=1")
    kubectl("set", "image", f"{kind}/web", "nginx=nginx:2")
    kubectl("annotate", f"{kind}/web", "kubernetes.io/change-cause=new image")
    await sets.wait_for("web", jsonpath="{.status.observedGeneration}=2")
    web = sets.rollout("web")

    before = [(each.number, each.images, each.is_current) for each in await web.history()]
    restored = await web.undo()
    await sets.wait_for("web", jsonpath="{.status.observedGeneration}=3")

    assert before == [(1, ("nginx:1",), False), (2, ("nginx:2",), True)]
    assert restored is not None
    assert (await sets.get("web")).spec.template.spec.containers[0].image == "nginx:1"
    history = await web.history()
    assert [(each.number, each.images) for each in history] == [
        (2, ("nginx:2",)),
        (3, ("nginx:1",)),
    ]
    shown = kubectl("rollout", "history", f"{kind}/web").splitlines()[2:]
    assert [line.split()[0] for line in shown] == [str(each.number) for each in history]
    assert await web.undo(to_revision=3) is None


def test_what_a_deployment_owns_is_deleted_with_it(kubectl: Kubectl) -> None:
    kubectl("apply", "--filename=-", stdin=DEPLOYMENT)
    wait(kubectl, "deployment/web", "--for=jsonpath={.status.updatedReplicas}=2")

    kubectl("delete", "deployment", "web", "--cascade=foreground", "--timeout=30s")

    assert items(kubectl, "replicasets,pods") == []


def test_a_job_completes_with_its_pod(kubectl: Kubectl) -> None:
    kubectl("apply", "--filename=-", stdin=JOB)
    wait(kubectl, "job/once", "--for=jsonpath={.status.active}=1")
    (pod,) = items(kubectl, "pods")

    set_status(kubectl, pod["metadata"]["name"], phase="Succeeded")

    wait(kubectl, "job/once", "--for=condition=Complete")


@pytest.fixture
def node(kubectl: Kubectl) -> Iterator[str]:
    name = kubectl.namespace  # as unique
    kubectl(
        "apply", "--filename=-", stdin=f"{{apiVersion: v1, kind: Node, metadata: {{name: {name}}}}}"
    )
    yield name
    kubectl("delete", "node", name)


def test_an_endpoint_slice_has_the_addresses_of_ready_pods(kubectl: Kubectl, node: str) -> None:
    # Pods without a grace period are deleted without a kubelet.
    bound = f"spec: {{nodeName: {node}, terminationGracePeriodSeconds: 0, containers"
    kubectl("apply", "--filename=-", stdin=DEPLOYMENT.replace("spec: {containers", bound))
    kubectl("apply", "--filename=-", stdin=SERVICE)
    wait(kubectl, "deployment/web", "--for=jsonpath={.status.updatedReplicas}=2")
    ready = {"type": "Ready", "status": "True"}

    for number, pod in enumerate(items(kubectl, "pods")):
        address = f"10.0.0.{number + 1}"
        set_status(
            kubectl,
            pod["metadata"]["name"],
            phase="Running",
            podIP=address,
            podIPs=[{"ip": address}],
            conditions=[ready],
        )

    wait(kubectl, "deployment/web", "--for=condition=Available")
    wait(kubectl, "endpointslices", "--all", "--for=jsonpath={.endpoints[1].conditions.ready}=true")
    (found,) = items(kubectl, "endpointslices")
    assert sorted(each["addresses"] for each in found["endpoints"]) == [["10.0.0.1"], ["10.0.0.2"]]


BUDGET = """
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {minAvailable: 2, selector: {matchLabels: {app: web}}}
"""


async def test_a_drain_waits_for_the_budget_that_the_controller_computes(
    kubectl: Kubectl, kube_config: ClusterConfig, node: str
) -> None:
    bound = f"spec: {{nodeName: {node}, terminationGracePeriodSeconds: 0, containers"
    kubectl("apply", "--filename=-", stdin=DEPLOYMENT.replace("spec: {containers", bound))
    kubectl("apply", "--filename=-", stdin=BUDGET)
    wait(kubectl, "deployment/web", "--for=jsonpath={.status.updatedReplicas}=2")
    ready = {"type": "Ready", "status": "True"}
    for pod in items(kubectl, "pods"):
        set_status(kubectl, pod["metadata"]["name"], phase="Running", conditions=[ready])
    wait(kubectl, "pdb/web", "--for=jsonpath={.status.currentHealthy}=2")
    async with Client(kube_config, clock=FastClock()) as client:
        nodes = client.core_v1.nodes()
        kept = {pod["metadata"]["uid"] for pod in items(kubectl, "pods")}

        with pytest.raises(DrainFailed, match="2 pods are left"):
            await nodes.drain(node, timeout=1)
        assert {pod["metadata"]["uid"] for pod in items(kubectl, "pods")} == kept
        kubectl("delete", "pdb", "web")
        plan = await nodes.drain(node, timeout=30)

        assert {str(pod.metadata.uid) for pod in plan.evict} == kept
        assert not kept & {pod["metadata"]["uid"] for pod in items(kubectl, "pods")}
        assert await nodes.uncordon(node)


def test_every_namespace_has_an_account_and_the_certificates(kubectl: Kubectl) -> None:
    wait(kubectl, "serviceaccount/default", "--for=create")
    wait(kubectl, "configmap/kube-root-ca.crt", "--for=create")


def test_a_secret_gets_the_token_of_its_account(kubectl: Kubectl) -> None:
    wait(kubectl, "serviceaccount/default", "--for=create")

    kubectl("apply", "--filename=-", stdin=TOKEN)

    wait(kubectl, "secret/token", "--for=jsonpath={.data.token}")
    (secret,) = items(kubectl, "secrets")
    assert base64.b64decode(secret["data"]["namespace"]).decode() == kubectl.namespace


def test_a_namespace_is_deleted_with_all_that_is_in_it(kubectl: Kubectl) -> None:
    kubectl("apply", "--filename=-", stdin=DEPLOYMENT)
    wait(kubectl, "deployment/web", "--for=jsonpath={.status.updatedReplicas}=2")

    kubectl("delete", "namespace", kubectl.namespace, "--timeout=30s")

    kubectl.refused("get", "namespace", kubectl.namespace)
    assert items(kubectl, "deployments,replicasets,pods") == []


def test_no_controller_logs_an_error_that_it_would_not_log_with_kube_apiserver(
    kubectl: Kubectl, log: Callable[[], str]
) -> None:
    """The last of this module: the log is that of all tests."""
    wait(kubectl, "serviceaccount/default", "--for=create")  # the controllers run

    errors = [line for line in log().splitlines() if re.match(r"[EF]\d{4} ", line)]

    errors = [line for line in errors if not DELETED_KIND.search(line)]
    assert [line for line in errors if not any(text in line for text in EXPECTED)] == []
