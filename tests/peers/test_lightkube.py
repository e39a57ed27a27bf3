"""lightkube against the embedded server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

lightkube = pytest.importorskip("lightkube", reason="lightkube is not installed")

from lightkube.core.exceptions import ApiError  # noqa: E402
from lightkube.generic_resource import create_namespaced_resource  # noqa: E402
from lightkube.models.core_v1 import Container, PodSpec  # noqa: E402
from lightkube.models.meta_v1 import ObjectMeta  # noqa: E402
from lightkube.resources.core_v1 import ConfigMap, Pod  # noqa: E402
from lightkube.types import CascadeType  # noqa: E402


def pod(name: str) -> Any:
    spec = PodSpec(containers=[Container(name="nginx", image="nginx")])
    return Pod(metadata=ObjectMeta(name=name, labels={"app": "web"}), spec=spec)


@pytest.fixture
def client(kubeconfig_file: Path, kube_namespace: str) -> Any:
    config = lightkube.KubeConfig.from_file(kubeconfig_file)
    client = lightkube.Client(config=config, namespace=kube_namespace, field_manager="lightkube")
    yield client
    client._client._client.close()


def test_an_object_is_created_read_changed_and_deleted(client: Any) -> None:
    created = client.create(pod("web"))
    assert created.spec.restartPolicy == "Always"

    patched = client.patch(Pod, "web", {"metadata": {"labels": {"tier": "front"}}})
    assert patched.metadata.labels == {"app": "web", "tier": "front"}

    patched.metadata.annotations = {"note": "hi"}
    client.replace(patched)
    found = list(client.list(Pod, labels={"tier": "front"}, chunk_size=1))
    assert [each.metadata.annotations["note"] for each in found] == ["hi"]

    client.delete(Pod, "web", grace_period=0, cascade=CascadeType.BACKGROUND)
    with pytest.raises(ApiError) as raised:
        client.get(Pod, "web")
    assert raised.value.status.reason == "NotFound"


def test_apply_owns_fields(client: Any) -> None:
    config = ConfigMap(
        apiVersion="v1", kind="ConfigMap", metadata=ObjectMeta(name="cm"), data={"a": "b"}
    )

    client.apply(config)
    with pytest.raises(ApiError) as raised:
        client.apply(
            ConfigMap(
                apiVersion="v1", kind="ConfigMap", metadata=ObjectMeta(name="cm"), data={"a": "c"}
            ),
            field_manager="other",
        )

    assert 'conflict with "lightkube": .data.a' in raised.value.status.message
    assert client.get(ConfigMap, "cm").metadata.managedFields[0].manager == "lightkube"


def test_a_watch_tells_what_happens(client: Any) -> None:
    created = client.create(pod("web"))
    client.patch(Pod, "web", {"metadata": {"labels": {"tier": "front"}}})
    client.delete(Pod, "web", grace_period=0)

    seen = []
    for kind, found in client.watch(Pod, resource_version=created.metadata.resourceVersion):
        seen.append((kind, found.metadata.name))
        if kind == "DELETED":
            break

    assert (seen[0], seen[-1]) == (("MODIFIED", "web"), ("DELETED", "web"))


def test_kinds_without_a_class_are_read_as_dicts(client: Any) -> None:
    lease_kind = create_namespaced_resource("coordination.k8s.io", "v1", "Lease", "leases")

    client.create(lease_kind(metadata={"name": "mine"}, spec={"holderIdentity": "me"}))

    (lease,) = client.list(lease_kind)
    assert lease.spec["holderIdentity"] == "me"


async def test_the_asynchronous_client_does_the_same(
    kubeconfig_file: Path, kube_namespace: str
) -> None:
    config = lightkube.KubeConfig.from_file(kubeconfig_file)
    client = lightkube.AsyncClient(config=config, namespace=kube_namespace)

    created = await client.create(pod("web"))
    names = [each.metadata.name async for each in client.list(Pod)]
    await client.delete(Pod, "web", grace_period=0)
    async for kind, _ in client.watch(Pod, resource_version=created.metadata.resourceVersion):
        if kind == "DELETED":
            break
    await client.close()

    assert names == ["web"]
