"""The official Python client, blocking and asynchronous, against the embedded server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

official = pytest.importorskip("kubernetes", reason="the official client is not installed")
asynchronous = pytest.importorskip(
    "kubernetes_asyncio", reason="the official asynchronous client is not installed"
)

# Its generated code causes warnings, and its sessions leave sockets to the garbage collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "labels": {"app": "web"}},
    "spec": {"containers": [{"name": "nginx", "image": "nginx"}]},
}


@pytest.fixture
def core(kubeconfig_file: Path) -> Any:
    client = official.config.new_client_from_config(str(kubeconfig_file))
    with client:
        yield official.client.CoreV1Api(client)


def test_an_object_is_created_read_changed_and_deleted(core: Any, kube_namespace: str) -> None:
    created = core.create_namespaced_pod(kube_namespace, POD)
    assert created.metadata.uid
    assert created.spec.restart_policy == "Always"

    patch = {"metadata": {"labels": {"tier": "front"}}}
    patched = core.patch_namespaced_pod("web", kube_namespace, patch)
    assert patched.metadata.labels == {"app": "web", "tier": "front"}

    patched.metadata.annotations = {"note": "hi"}
    core.replace_namespaced_pod("web", kube_namespace, patched)
    listed = core.list_namespaced_pod(kube_namespace, label_selector="tier=front")
    assert [pod.metadata.annotations["note"] for pod in listed.items] == ["hi"]

    core.delete_namespaced_pod("web", kube_namespace, grace_period_seconds=0)
    with pytest.raises(official.client.ApiException) as raised:
        core.read_namespaced_pod("web", kube_namespace)
    assert (raised.value.status, raised.value.reason) == (404, "Not Found")


def test_a_stale_write_is_a_conflict(core: Any, kube_namespace: str) -> None:
    stale = core.create_namespaced_pod(kube_namespace, POD)
    core.patch_namespaced_pod("web", kube_namespace, {"metadata": {"labels": {"a": "b"}}})

    with pytest.raises(official.client.ApiException) as raised:
        core.replace_namespaced_pod("web", kube_namespace, stale)

    assert raised.value.status == 409


def test_a_list_comes_in_pages(core: Any, kube_namespace: str) -> None:
    for name in "abc":
        core.create_namespaced_secret(kube_namespace, {"metadata": {"name": name}})

    names, token = [], None
    while token != "":
        page = core.list_namespaced_secret(kube_namespace, limit=2, _continue=token)
        names += [secret.metadata.name for secret in page.items]
        token = page.metadata._continue or ""

    assert names == ["a", "b", "c"]


def test_a_watch_sends_the_changes_since_its_version(core: Any, kube_namespace: str) -> None:
    created = core.create_namespaced_pod(kube_namespace, POD)
    core.patch_namespaced_pod("web", kube_namespace, {"metadata": {"labels": {"a": "b"}}})
    core.delete_namespaced_pod("web", kube_namespace, grace_period_seconds=0)

    watch = official.watch.Watch()
    seen = []
    for event in watch.stream(
        core.list_namespaced_pod,
        kube_namespace,
        resource_version=created.metadata.resource_version,
    ):
        seen.append((event["type"], event["object"].metadata.name))
        if event["type"] == "DELETED":
            watch.stop()

    assert (seen[0], seen[-1]) == (("MODIFIED", "web"), ("DELETED", "web"))


def test_kinds_are_discovered_and_applied(core: Any, kube_namespace: str) -> None:
    dynamic = official.dynamic.DynamicClient(core.api_client)
    deployments = dynamic.resources.get(api_version="apps/v1", kind="Deployment")
    assert deployments.namespaced
    body = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "cm"},
        "data": {"a": "b"},
    }

    maps = dynamic.resources.get(api_version="v1", kind="ConfigMap")
    applied = maps.server_side_apply(
        body=body, namespace=kube_namespace, field_manager="official", force_conflicts=True
    )

    assert applied.metadata.managedFields[0].manager == "official"
    assert applied.data.a == "b"


async def test_the_asynchronous_client_creates_lists_watches_patches_and_deletes(
    kubeconfig_file: Path, kube_namespace: str
) -> None:
    client = await asynchronous.config.new_client_from_config(str(kubeconfig_file))
    async with client:
        core = asynchronous.client.CoreV1Api(client)
        await core.create_namespaced_pod(kube_namespace, POD)
        listed = await core.list_namespaced_pod(kube_namespace)
        version = listed.metadata.resource_version
        assert [pod.metadata.name for pod in listed.items] == ["web"]

        await core.patch_namespaced_pod("web", kube_namespace, {"metadata": {"labels": {"a": "b"}}})
        await core.delete_namespaced_pod("web", kube_namespace, grace_period_seconds=0)
        seen = []
        watch = asynchronous.watch.Watch()
        async with watch.stream(
            core.list_namespaced_pod, kube_namespace, resource_version=version
        ) as events:
            async for event in events:
                seen.append(event["type"])
                if event["type"] == "DELETED":
                    break

    assert (seen[0], seen[-1]) == ("MODIFIED", "DELETED")
