"""Deletion of a namespace: its content, its finalizers, its conditions."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.raw_client import RawClient
from tests.conformance.samples import config_map, deployment, pod

Object = dict[str, Any]

MAPS = "configmaps"
NAMESPACE = "/api/v1/namespaces/{ns}"

pytestmark = pytest.mark.timeout(60)  # the controllers may only just have started


def held(name: str) -> Object:
    body = config_map(name)
    body["metadata"]["finalizers"] = ["example.com/hold"]
    return body


async def end(api: RawClient) -> str:
    """Delete the namespace; return the version from which to watch."""
    reply = await api("DELETE", NAMESPACE)
    assert reply.code == 200, reply
    return str(reply.meta["resourceVersion"])


async def follow(api: RawClient, since: str, *expected: str) -> list[Object]:
    """Every event of the namespace itself until these types have come."""
    only: Object = {"fieldSelector": "metadata.name={ns}", "resourceVersion": since}
    async with api.watch("/api/v1/namespaces", **only) as watch:
        return await watch.until(*((kind, api.namespace) for kind in expected))


def conditions(namespace: Object) -> dict[str, tuple[str, str]]:
    found = namespace["status"].get("conditions", [])
    return {each["type"]: (each["status"], each["reason"]) for each in found}


async def waiting(api: RawClient, since: str, kind: str) -> Object:
    """The namespace once this condition is true."""
    only: Object = {"fieldSelector": "metadata.name={ns}", "resourceVersion": since}
    async with api.watch("/api/v1/namespaces", **only) as watch:
        while True:
            [*_, event] = await watch.until(("MODIFIED", api.namespace))
            found: Object = event["object"]
            if conditions(found).get(kind, ("",))[0] == "True":
                return found


async def test_an_empty_namespace_is_removed(owners: RawClient) -> None:
    since = await end(owners)

    await follow(owners, since, "DELETED")

    assert (await owners.get(NAMESPACE)).code == 404


async def test_everything_in_a_namespace_is_removed_before_it(owners: RawClient) -> None:
    await owners.create(owners.at(MAPS), config_map("a"))
    await owners.create(owners.at("secrets"), {"metadata": {"name": "b"}})
    await owners.create(owners.at("pods"), pod("c"))
    await owners.create(owners.at("apps/v1/deployments"), deployment("d"))

    since = await end(owners)

    await follow(owners, since, "DELETED")
    for resource in (MAPS, "secrets", "pods", "apps/v1/deployments"):
        assert (await owners.get(owners.at(resource))).names == []


async def test_a_watch_sees_an_object_removed_with_its_namespace(owners: RawClient) -> None:
    made = await owners.create(owners.at(MAPS), config_map("a"))

    await end(owners)

    version = made.meta["resourceVersion"]
    async with owners.watch(owners.at(MAPS), resourceVersion=version) as watch:
        await watch.until(("DELETED", "a"))


async def test_other_namespaces_keep_what_they_have(owners: RawClient) -> None:
    name = f"{owners.namespace}-b"
    await owners.create("/api/v1/namespaces", {"metadata": {"name": name}})
    await owners.create(f"/api/v1/namespaces/{name}/{MAPS}", config_map("a"))

    await follow(owners, await end(owners), "DELETED")

    assert (await owners.get(f"/api/v1/namespaces/{name}/{MAPS}/a")).code == 200


async def test_a_recreated_namespace_is_empty(owners: RawClient) -> None:
    await owners.create(owners.at(MAPS), config_map("a"))
    await follow(owners, await end(owners), "DELETED")

    reply = await owners("POST", "/api/v1/namespaces", {"metadata": {"name": owners.namespace}})

    assert (reply.code, reply.body["status"]) == (201, {"phase": "Active"})
    assert (await owners.get(owners.at(MAPS))).names == []


async def test_an_object_with_a_finalizer_blocks_its_namespace_which_reports_it(
    owners: RawClient,
) -> None:
    await owners.create(owners.at(MAPS), held("a"))
    await owners.create(owners.at(MAPS), config_map("b"))

    found = await waiting(owners, await end(owners), "NamespaceContentRemaining")

    assert found["status"]["phase"] == "Terminating"
    assert conditions(found) == {
        "NamespaceDeletionDiscoveryFailure": ("False", "ResourcesDiscovered"),
        "NamespaceDeletionGroupVersionParsingFailure": ("False", "ParsedGroupVersions"),
        "NamespaceDeletionContentFailure": ("False", "ContentDeleted"),
        "NamespaceContentRemaining": ("True", "SomeResourcesRemain"),
        "NamespaceFinalizersRemaining": ("True", "SomeFinalizersRemain"),
    }
    messages = {each["type"]: each["message"] for each in found["status"]["conditions"]}
    assert messages["NamespaceContentRemaining"] == (
        "Some resources are remaining: configmaps. has 1 resource instances"
    )
    assert messages["NamespaceFinalizersRemaining"] == (
        "Some content in the namespace has finalizers remaining: "
        "example.com/hold in 1 resource instances"
    )
    assert (await owners.get(owners.at(MAPS))).names == ["a"]


async def test_the_namespace_is_removed_with_its_last_blocked_object(owners: RawClient) -> None:
    await owners.create(owners.at(MAPS), held("a"))
    since = await end(owners)
    await waiting(owners, since, "NamespaceContentRemaining")

    await owners.patch(owners.at(MAPS, "a"), {"metadata": {"finalizers": None}})

    await follow(owners, since, "DELETED")


async def test_a_finalizer_of_the_namespace_itself_blocks_it_when_it_is_empty(
    owners: RawClient,
) -> None:
    patch = {"metadata": {"finalizers": ["example.com/hold"]}}
    await owners.patch(NAMESPACE, patch)
    await owners.create(owners.at(MAPS), config_map("a"))
    since = await end(owners)
    async with owners.watch(owners.at(MAPS), resourceVersion=since) as watch:
        await watch.until(("DELETED", "a"))

    there = await owners.get(NAMESPACE)
    await owners.patch(NAMESPACE, {"metadata": {"finalizers": None}})

    assert there.body["status"]["phase"] == "Terminating"
    await follow(owners, since, "DELETED")


async def test_a_finalizer_in_the_spec_is_removed_by_finalize(owners: RawClient) -> None:
    name = f"{owners.namespace}-b"
    spec = {"finalizers": ["example.com/hold"]}
    body = {"metadata": {"name": name}, "spec": spec}
    await owners.create("/api/v1/namespaces", body)
    other = owners.in_namespace(name)
    since = await end(other)
    only: Object = {"fieldSelector": f"metadata.name={name}", "resourceVersion": since}
    async with other.watch("/api/v1/namespaces", **only) as watch:
        found: Object = {"spec": {"finalizers": ["kubernetes"]}}
        while "kubernetes" in found["spec"]["finalizers"]:
            [*_, event] = await watch.until(("MODIFIED", name))
            found = event["object"]

    reply = await other("PUT", f"{NAMESPACE}/finalize", {**found, "spec": {"finalizers": []}})

    assert found["spec"]["finalizers"] == ["example.com/hold"]
    assert reply.code == 200
    assert (await other.get(NAMESPACE)).code == 404
