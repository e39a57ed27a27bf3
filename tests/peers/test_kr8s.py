"""kr8s against the embedded server."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

kr8s = pytest.importorskip("kr8s", reason="kr8s is not installed")

from kr8s.asyncio.objects import ConfigMap, Deployment, Pod  # noqa: E402

pytestmark = [
    # It warns about every Kubernetes that is newer than itself.
    pytest.mark.filterwarnings("ignore:Kubernetes version .* is not supported"),
    # It leaves connections to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

POD = {
    "metadata": {"name": "web", "labels": {"app": "web"}},
    "spec": {"containers": [{"name": "nginx", "image": "nginx"}]},
}
DEPLOYMENT = {
    "metadata": {"name": "web"},
    "spec": {
        "replicas": 1,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": POD["spec"]},
    },
}


@pytest.fixture
async def api(kubeconfig_file: Path, kube_namespace: str) -> AsyncIterator[Any]:
    api = await kr8s.asyncio.api(kubeconfig=str(kubeconfig_file), namespace=kube_namespace)
    yield api
    await api._session.aclose()
    gc.collect()  # here, where the warning is filtered


async def test_an_object_is_created_read_changed_and_deleted(api: Any, kube_namespace: str) -> None:
    pod = await Pod(POD, namespace=kube_namespace, api=api)
    await pod.create()
    assert pod.spec.restartPolicy == "Always"

    await pod.label(tier="front")
    await pod.patch({"metadata": {"annotations": {"note": "hi"}}})
    found = [each async for each in api.get("pods", label_selector={"tier": "front"})]
    assert [each.annotations.note for each in found] == ["hi"]

    await pod.delete()
    await pod.wait("delete", timeout=20)
    assert not await pod.exists()


async def test_what_is_not_there_is_not_found(api: Any, kube_namespace: str) -> None:
    with pytest.raises(kr8s.NotFoundError):
        await Pod.get("nothing", namespace=kube_namespace, api=api)


async def test_scale_and_conditions_are_seen(api: Any, kube_namespace: str) -> None:
    deployment = await Deployment(DEPLOYMENT, namespace=kube_namespace, api=api)
    await deployment.create()

    await deployment.patch({"spec": {"replicas": 3}})
    await deployment.patch({"spec": {"replicas": 2}}, subresource="scale")
    await deployment.refresh()

    assert deployment.replicas == 2


async def test_a_watch_tells_what_happens(api: Any, kube_namespace: str) -> None:
    pod = await Pod(POD, namespace=kube_namespace, api=api)
    await pod.create()

    seen = []
    async for kind, found in api.watch("pods", namespace=kube_namespace):
        seen.append((kind, found.name))
        if kind == "ADDED":
            await pod.delete()
        if kind == "DELETED":
            break

    assert (seen[0], seen[-1]) == (("ADDED", "web"), ("DELETED", "web"))


async def test_resources_are_discovered(api: Any) -> None:
    found = {(each["version"], each["kind"]) for each in await api.api_resources()}

    assert {("v1", "Pod"), ("apps/v1", "Deployment")} <= found
    assert (await api.version())["gitVersion"].startswith("v1.")


async def test_an_update_of_a_config_map_is_seen_by_the_next_read(
    api: Any, kube_namespace: str
) -> None:
    config = await ConfigMap(
        {"metadata": {"name": "cm"}, "data": {"a": "b"}}, namespace=kube_namespace, api=api
    )
    await config.create()

    await config.patch([{"op": "replace", "path": "/data/a", "value": "c"}], type="json")

    assert (await ConfigMap.get("cm", namespace=kube_namespace, api=api)).data.a == "c"
