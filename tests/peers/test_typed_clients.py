"""Clients with typed models decode every object of a simulated cluster.

Their models reject objects without the fields that Go always writes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

official = pytest.importorskip("kubernetes", reason="the official client is not installed")
asynchronous = pytest.importorskip(
    "kubernetes_asyncio", reason="the official asynchronous client is not installed"
)
lightkube = pytest.importorskip("lightkube", reason="lightkube is not installed")

from lightkube.resources.apps_v1 import DaemonSet, Deployment, ReplicaSet  # noqa: E402
from lightkube.resources.batch_v1 import Job  # noqa: E402
from lightkube.resources.core_v1 import Namespace, Node, Pod, Service  # noqa: E402
from lightkube.resources.discovery_v1 import EndpointSlice  # noqa: E402

# Generated code causes warnings, and its sessions leave sockets to the garbage collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.usefixtures("cluster"),
]

LABELS = {"app": "web"}
POD = {"containers": [{"name": "nginx", "image": "nginx"}]}
TEMPLATE = {"metadata": {"labels": LABELS}, "spec": POD}


def named(name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": spec}


@pytest.fixture
def cluster(kubeconfig_file: Path, kube_namespace: str, kube_workloads: None) -> Iterator[None]:
    """Running workloads of several kinds."""
    api = official.config.new_client_from_config(str(kubeconfig_file))
    with api:
        apps, batch = official.client.AppsV1Api(api), official.client.BatchV1Api(api)
        core = official.client.CoreV1Api(api)
        workload = {"selector": {"matchLabels": LABELS}, "template": TEMPLATE}
        core.create_namespaced_service(
            kube_namespace, named("web", {"selector": LABELS, "ports": [{"port": 80}]})
        )
        apps.create_namespaced_deployment(kube_namespace, named("web", {**workload, "replicas": 2}))
        apps.create_namespaced_daemon_set(kube_namespace, named("agent", workload))
        job = {"template": {"spec": {**POD, "restartPolicy": "Never"}}}
        batch.create_namespaced_job(kube_namespace, named("once", job))
        changes = official.watch.Watch()
        for event in changes.stream(apps.list_namespaced_deployment, kube_namespace):
            if event["object"].status.available_replicas == 2:
                break
        yield


def test_the_official_client_decodes_them(kubeconfig_file: Path, kube_namespace: str) -> None:
    api = official.config.new_client_from_config(str(kubeconfig_file))
    with api:
        core, apps = official.client.CoreV1Api(api), official.client.AppsV1Api(api)
        nodes = core.list_node().items
        pods = core.list_namespaced_pod(kube_namespace).items

        assert nodes[0].status.node_info.operating_system is not None
        assert {status.name for pod in pods for status in pod.status.container_statuses or ()}
        assert core.list_namespace().items
        assert core.list_namespaced_service(kube_namespace).items
        assert apps.list_namespaced_replica_set(kube_namespace).items
        assert apps.list_namespaced_daemon_set(kube_namespace).items
        assert official.client.BatchV1Api(api).list_namespaced_job(kube_namespace).items
        slices = official.client.DiscoveryV1Api(api).list_namespaced_endpoint_slice(kube_namespace)
        assert slices.items


async def test_its_asynchronous_version_decodes_them(
    kubeconfig_file: Path, kube_namespace: str
) -> None:
    configuration = asynchronous.client.Configuration()
    await asynchronous.config.load_kube_config(
        str(kubeconfig_file), client_configuration=configuration
    )
    async with asynchronous.client.ApiClient(configuration) as api:
        core, apps = asynchronous.client.CoreV1Api(api), asynchronous.client.AppsV1Api(api)

        assert (await core.list_node()).items
        assert (await core.list_namespaced_pod(kube_namespace)).items
        assert (await apps.list_namespaced_deployment(kube_namespace)).items
        assert (await apps.list_namespaced_daemon_set(kube_namespace)).items


def test_lightkube_decodes_them(kubeconfig_file: Path, kube_namespace: str) -> None:
    config = lightkube.KubeConfig.from_file(kubeconfig_file)
    client = lightkube.Client(config=config, namespace=kube_namespace)
    try:
        for kind in (Node, Namespace):
            assert [each.to_dict() for each in client.list(kind)]
        for kind in (Pod, Service, Deployment, ReplicaSet, DaemonSet, Job, EndpointSlice):
            assert [each.to_dict() for each in client.list(kind)]
    finally:
        client._client._client.close()
