"""Apply sets: members, their parent, and what is pruned."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubeloop.clients import (
    ALL_NAMESPACES,
    AnyObject,
    APIClient,
    ApplyErrors,
    ApplySet,
    PruneFailed,
)
from kubeloop.clients.apply_set import apply_set_id
from kubeloop.errors import InvalidArgument, KubeError
from kubeloop.meta import GroupKind
from kubeloop.runtime import Client
from kubeloop.wire.core.v1 import ConfigMap, Namespace
from kubeloop_testing import SeenRequest
from kubeloop_testing.server.service import Service
from kubeloop_testing.server.statuses import forbidden
from tests.support.kubectl import Kubectl, kubectl, kubectl_cache, kubectl_program

from .conftest import CRD

__all__ = ["kubectl", "kubectl_cache", "kubectl_program"]  # fixtures

PART_OF = "applyset.kubernetes.io/part-of"
KINDS = "applyset.kubernetes.io/contains-group-kinds"
NAMESPACES = "applyset.kubernetes.io/additional-namespaces"
SITE = {"apiVersion": "example.com/v1", "kind": "Website", "metadata": {"name": "blog"}}


def a_map(name: str, namespace: str = "", **labels: str) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name, "labels": labels}
    if namespace:
        metadata["namespace"] = namespace
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


async def map_names(client: APIClient) -> list[str]:
    found = await client.core_v1.config_maps(ALL_NAMESPACES).list_all()
    return sorted(each.metadata.name for each in found)


async def parent_annotations(client: APIClient, name: str = "shop") -> dict[str, str]:
    return (await client.core_v1.secrets().get(name)).metadata.annotations


def test_the_id_of_an_apply_set_is_that_of_kubectl() -> None:
    expected = "applyset-h3x0xDZARSD6R2U53BlbhZVPT3aDtVmj0EdiujPZkL8-v1"  # of kubectl 1.37
    assert apply_set_id("myset", "shop", GroupKind("", "Secret")) == expected


async def test_what_the_manifest_does_not_have_any_more_is_deleted(client: APIClient) -> None:
    await client.apply(a_map("other"))
    first = await client.apply_set("shop", [a_map("one"), a_map("two")])
    second = await client.apply_set("shop", [ConfigMap.from_dict(a_map("two"))])

    assert await map_names(client) == ["other", "two"]
    assert first.pruned == ()
    assert list(map(str, second.pruned)) == ["configmap/one"]
    (two,) = second.applied
    assert isinstance(two, ConfigMap)
    parent = await client.core_v1.secrets().get("shop")
    assert two.metadata.labels == {PART_OF: parent.metadata.labels["applyset.kubernetes.io/id"]}


async def test_a_folder_is_applied_and_pruned(client: APIClient, tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text(json.dumps(a_map("one")))
    (tmp_path / "two.yaml").write_text(json.dumps(a_map("two")))
    await client.apply_set("shop", tmp_path)
    (tmp_path / "one.yaml").unlink()

    result = await client.apply_set("shop", tmp_path)

    assert list(map(str, result.pruned)) == ["configmap/one"]
    assert await map_names(client) == ["two"]


async def test_kinds_and_namespaces_of_earlier_manifests_are_searched(client: APIClient) -> None:
    others = [Namespace.from_dict({"metadata": {"name": name}}) for name in ("east", "west")]
    members: list[AnyObject] = [*others, a_map("one", "east"), a_map("two", "west"), CRD, SITE]
    await client.apply_set("shop", members)
    kinds = "ConfigMap,CustomResourceDefinition.apiextensions.k8s.io,Namespace,Website.example.com"
    annotations = await parent_annotations(client)
    assert annotations[KINDS] == kinds
    assert annotations[NAMESPACES] == "east,west"

    result = await client.apply_set("shop", [a_map("three")])

    pruned = [
        "configmap/one",
        "configmap/two",
        "website.example.com/blog",
        "customresourcedefinition.apiextensions.k8s.io/websites.example.com",
        "namespace/east",
        "namespace/west",
    ]
    assert list(map(str, result.pruned)) == pruned
    annotations = await parent_annotations(client)
    assert (annotations[KINDS], annotations[NAMESPACES]) == ("ConfigMap", "")


async def test_a_kind_that_is_not_served_any_more_has_no_members(client: APIClient) -> None:
    await client.apply_set("shop", [a_map("one"), CRD, SITE])
    await client.resource("apiextensions.k8s.io/v1", "CustomResourceDefinition").delete(
        "websites.example.com"
    )
    client.mapper.reset()

    await client.apply_set("shop", [a_map("one")])

    assert (await parent_annotations(client))[KINDS] == "ConfigMap"


async def test_nothing_is_deleted_if_an_object_is_rejected(client: APIClient) -> None:
    await client.apply_set("shop", [a_map("one")])
    wrong = {**a_map("two"), "data": {"not a key": "x"}}

    with pytest.raises((ApplyErrors, KubeError)):
        await client.apply_set("shop", [wrong, a_map("three")])

    assert await map_names(client) == ["one", "three"]
    result = await client.apply_set("shop", [a_map("three")])
    assert list(map(str, result.pruned)) == ["configmap/one"]


async def test_nothing_is_applied_if_a_document_cannot_be_read(client: APIClient) -> None:
    await client.apply_set("shop", [a_map("one")])

    with pytest.raises(KubeError, match="document 2"):
        await client.apply_set("shop", f"{json.dumps(a_map('two'))}\n---\nkind: ConfigMap\n")

    assert await map_names(client) == ["one"]


async def test_a_dry_run_says_what_would_be_pruned_and_changes_nothing(client: APIClient) -> None:
    await client.apply_set("shop", [a_map("one")])
    before = await parent_annotations(client)

    result = await client.apply_set("shop", [a_map("two")], dry_run=True)

    assert list(map(str, result.pruned)) == ["configmap/one"]
    assert await map_names(client) == ["one"]
    assert await parent_annotations(client) == before


async def test_a_member_of_another_set_is_an_error_unless_forced(client: APIClient) -> None:
    await client.apply_set("shop", [a_map("one")])

    with pytest.raises(InvalidArgument, match="configmap/one in default is a member of another"):
        await client.apply_set("configmaps/blog", [a_map("one")])
    await client.apply_set("configmaps/blog", [a_map("one")], force=True)
    left = await client.apply_set("shop", [a_map("two")])

    assert left.pruned == ()
    assert await map_names(client) == ["blog", "one", "two"]


async def test_a_label_of_another_set_in_the_manifest_is_an_error(client: APIClient) -> None:
    with pytest.raises(InvalidArgument, match="of another set"):
        await client.apply_set("shop", [a_map("one", **{PART_OF: "applyset-x-v1"})])


async def test_a_set_without_objects_is_an_error(client: APIClient) -> None:
    with pytest.raises(InvalidArgument, match="no objects"):
        await client.apply_set("shop", [])


async def test_a_secret_that_is_no_parent_is_not_taken_over(client: APIClient) -> None:
    await client.apply({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "shop"}})

    with pytest.raises(InvalidArgument, match="without the annotation"):
        await client.apply_set("shop", [a_map("one")])


async def test_a_parent_that_was_copied_is_an_error(client: APIClient) -> None:
    await client.apply_set("shop", [a_map("one")])
    async with client.core_v1.secrets().edit("shop") as parent:
        parent.metadata.labels["applyset.kubernetes.io/id"] = "applyset-x-v1"

    with pytest.raises(InvalidArgument, match="copied"):
        await client.apply_set("shop", [a_map("one")])


@pytest.mark.parametrize("name", ["", "/shop", "shop/", "deployments.apps/shop"])
async def test_a_name_that_cannot_be_a_parent_is_an_error(client: APIClient, name: str) -> None:
    with pytest.raises(InvalidArgument, match="apply set"):
        await client.apply_set(name, [a_map("one")])


async def test_a_custom_resource_is_a_parent_if_its_definition_says_so(client: APIClient) -> None:
    labels = {"applyset.kubernetes.io/is-parent-type": "true"}
    await client.apply({**CRD, "metadata": {**CRD["metadata"], "labels": labels}})  # type: ignore[dict-item]
    with pytest.raises(InvalidArgument, match="create it first"):
        await client.apply_set("websites.example.com/blog", [a_map("one")])
    await client.apply(SITE)

    await client.apply_set("websites.example.com/blog", [a_map("one")])

    parent = await client.resource("example.com/v1", "Website").get("blog")
    assert parent["metadata"]["annotations"][KINDS] == "ConfigMap"


async def test_what_cannot_be_deleted_is_a_member_until_the_next_apply(
    client: APIClient, server: Service
) -> None:
    await client.apply_set("shop", [a_map("one"), a_map("two"), a_map("three")])

    def deny(seen: SeenRequest) -> None:
        if seen.verb == "delete" and seen.name == "one":
            raise forbidden("", "configmaps", "one", "not now")

    server.faults.reactors.append(deny)
    with pytest.raises(PruneFailed, match="1 error, 1 deleted") as failed:
        await client.apply_set("shop", [a_map("three")])
    assert list(map(str, failed.value.pruned)) == ["configmap/two"]
    server.faults.reactors.remove(deny)

    result = await client.apply_set("shop", [a_map("three")])

    assert list(map(str, result.pruned)) == ["configmap/one"]


async def test_the_steps_of_a_set_can_be_taken_one_by_one(client: APIClient) -> None:
    await client.apply_set("shop", [a_map("one")])

    opened = await ApplySet.open(client, "shop")
    applied = [await client.apply(each) for each in await opened.prepare([a_map("two")])]
    pruned = await opened.prune(applied)

    assert list(map(str, pruned)) == ["configmap/one"]


@pytest.mark.timeout(60)  # programs are started, and machines are busy
async def test_labels_and_annotations_are_those_of_kubectl(
    kubectl: Kubectl, kube_client: Client
) -> None:
    objects = [a_map("one"), a_map("two")]
    text = "\n---\n".join(json.dumps(each) for each in objects)
    flags = ("--server-side", "--prune", "-f", "-")
    kubectl("apply", "--applyset=configmaps/theirs", *flags, stdin=text)
    theirs = await kube_client.core_v1.config_maps(kubectl.namespace).get("theirs")
    kubectl("delete", "configmaps", "--all")

    await kube_client.apply_set("configmaps/theirs", objects, namespace=kubectl.namespace)
    ours = await kube_client.core_v1.config_maps(kubectl.namespace).get("theirs")

    tooling = "applyset.kubernetes.io/tooling"
    assert theirs.metadata.annotations.pop(tooling).startswith("kubectl/v")
    assert ours.metadata.annotations.pop(tooling).startswith("kubeloop/v")
    assert ours.metadata.annotations == theirs.metadata.annotations
    assert ours.metadata.labels == theirs.metadata.labels
    refused = kubectl.refused("apply", "--applyset=configmaps/theirs", *flags, stdin=text)
    assert 'managed by tooling "kubeloop"' in refused


@pytest.mark.timeout(60)
async def test_a_set_of_kubectl_is_left_to_kubectl(kubectl: Kubectl, kube_client: Client) -> None:
    flags = ("--server-side", "--prune", "-f", "-")
    kubectl("apply", "--applyset=theirs", *flags, stdin=json.dumps(a_map("one")))

    with pytest.raises(InvalidArgument, match="managed by kubectl/v"):
        await kube_client.apply_set("theirs", [a_map("one")], namespace=kubectl.namespace)
