"""Owners, children and events of objects."""

from __future__ import annotations

from typing import Any

import pytest

from kubeloop.clients import APIClient, ObjectTree
from kubeloop.config import ClusterConfig
from kubeloop.errors import InvalidArgument
from kubeloop.meta import ObjectKey
from kubeloop.wire.apps.v1 import Deployment
from kubeloop.wire.core.v1 import ConfigMap, Event, Node
from kubeloop_testing import SeenRequest, Workloads
from kubeloop_testing.server.service import Service
from kubeloop_testing.server.statuses import forbidden

from .conftest import CRD, a_pod
from .test_rollout import workload


def a_map(name: str, *owners: dict[str, Any]) -> ConfigMap:
    references = [
        {
            "apiVersion": owner["apiVersion"],
            "kind": owner["kind"],
            "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"],
        }
        for owner in owners
    ]
    # A finalizer, because the garbage collector deletes what has no owner any more.
    metadata = {"name": name, "ownerReferences": references, "finalizers": ["example.com/keep"]}
    return ConfigMap.from_dict({"metadata": metadata})


async def test_the_tree_of_a_deployment_goes_down_to_its_pods_and_up_again(
    client: APIClient, server: Service
) -> None:
    config = ClusterConfig(server=server.url, namespace="default")
    async with Workloads(config, delay=0.005):
        await client.apps_v1.deployments().create(Deployment.from_dict(workload(replicas=2)))
        await client.apps_v1.deployments().rollout("web").wait(timeout=5)
    web = await client.apps_v1.deployments().get("web")

    down = await client.children(web)
    (pod, _) = await client.core_v1.pods().list()
    up = await client.owners(pod)

    assert [each.kind for each in down.walk()] == ["Deployment", "ReplicaSet", "Pod", "Pod"]
    assert [each.kind for each in up.walk()] == ["Pod", "ReplicaSet", "Deployment"]
    assert down.unread == ()
    lines = str(down).splitlines()
    assert lines[0] == "Deployment/web in default"
    assert lines[1].startswith("└─ ReplicaSet/web-")
    assert [line[:7] for line in lines[2:]] == ["   ├─ P", "   └─ P"]


async def test_custom_kinds_and_several_owners_are_followed(client: APIClient) -> None:
    await client.apply(CRD)
    sites = client.resource("example.com/v1", "Website")
    site = await sites.create(
        {"apiVersion": "example.com/v1", "kind": "Website", "metadata": {"name": "shop"}}
    )
    maps = client.core_v1.config_maps()
    first = await maps.create(a_map("first", site))
    both = await maps.create(a_map("both", site, first.to_dict()))

    down, up = await client.children(site), await client.owners(both)

    assert [(each.kind, each.name) for each in down.walk()] == [
        ("Website", "shop"), ("ConfigMap", "both"), ("ConfigMap", "first"), ("ConfigMap", "both"),
    ]  # fmt: skip
    assert [(each.kind, each.name) for each in up.walk()] == [
        ("ConfigMap", "both"), ("Website", "shop"), ("ConfigMap", "first"), ("Website", "shop"),
    ]  # fmt: skip


async def test_what_a_node_owns_is_found_in_all_namespaces(client: APIClient) -> None:
    node = await client.core_v1.nodes().create(Node.from_dict({"metadata": {"name": "node-1"}}))
    await client.core_v1.config_maps("kube-system").create(a_map("of-node", node.to_dict()))

    tree = await client.children(node)

    assert [(each.namespace, each.name) for each in tree.branches] == [("kube-system", "of-node")]


async def test_an_owner_that_is_gone_is_named(client: APIClient) -> None:
    maps = client.core_v1.config_maps()
    parent = await maps.create(ConfigMap.from_dict({"metadata": {"name": "parent"}}))
    child = await maps.create(a_map("child", parent.to_dict()))
    await maps.delete("parent", propagation="Orphan")
    await maps.create(ConfigMap.from_dict({"metadata": {"name": "parent"}}))  # another one

    tree = await client.owners(child)

    assert not tree.branches[0].exists
    assert str(tree).endswith("└─ ConfigMap/parent in default (does not exist)")


async def test_a_cycle_of_owners_ends(client: APIClient) -> None:
    maps = client.core_v1.config_maps()
    first = await maps.create(a_map("first"))
    second = await maps.create(a_map("second", first.to_dict()))
    first.metadata.owner_references = a_map("x", second.to_dict()).metadata.owner_references
    first = await maps.update(first)

    assert [each.name for each in (await client.owners(first)).walk()] == ["first", "second"]
    assert [each.name for each in (await client.children(first)).walk()] == ["first", "second"]


async def test_kinds_that_cannot_be_listed_are_named(client: APIClient, server: Service) -> None:
    def refuse(seen: SeenRequest) -> None:
        if (seen.verb, seen.resource) == ("list", "secrets"):
            raise forbidden("", "secrets", "", "no role")

    server.faults.reactors.append(refuse)
    pod = await client.core_v1.pods().create(a_pod())

    tree = await client.children(pod)

    assert tree.unread == ("secrets",)
    lists = [seen for seen in server.faults.requests if seen.verb == "list"]
    assert not {"events", "endpoints"} & {seen.resource for seen in lists}  # deprecated, or many
    assert all("PartialObjectMetadata" in seen.headers.get("Accept", "") for seen in lists)


async def test_an_object_that_was_not_read_has_no_tree(client: APIClient) -> None:
    with pytest.raises(InvalidArgument, match="read it from the server first"):
        await client.owners(a_pod())
    with pytest.raises(InvalidArgument, match="read it from the server first"):
        await client.children({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "web"}})


async def test_the_events_of_an_object_are_listed_oldest_first(client: APIClient) -> None:
    pod = await client.core_v1.pods().create(a_pod())
    node = await client.core_v1.nodes().create(Node.from_dict({"metadata": {"name": "node-1"}}))
    for name, about, second in (("b", pod, 2), ("a", pod, 1), ("c", node, 3)):
        reference = {
            "kind": about.kind,
            "apiVersion": "v1",
            "name": about.metadata.name,
            "namespace": ObjectKey.of(about).namespace,
            "uid": str(about.metadata.uid),
        }
        await client.core_v1.events("default").create(
            Event.from_dict(
                {
                    "metadata": {"name": name},
                    "involvedObject": reference,
                    "lastTimestamp": f"2030-01-01T00:00:0{second}Z",
                }
            )
        )

    assert [event.metadata.name for event in await client.events_of(pod)] == ["a", "b"]
    assert [event.metadata.name for event in await client.events_of(node)] == ["c"]
    assert await client.events_of(await client.resource("v1", "Pod").get("web"))


def test_a_tree_is_walked_from_its_root() -> None:
    leaf = ObjectTree(api_version="v1", kind="Pod", name="web")

    tree = ObjectTree(api_version="v1", kind="Node", name="node-1", branches=(leaf, leaf))

    assert [each.kind for each in tree.walk()] == ["Node", "Pod", "Pod"]
    assert str(tree) == "Node/node-1\n├─ Pod/web\n└─ Pod/web"
