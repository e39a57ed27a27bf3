"""Garbage collection: dependents of deleted owners, and owners that wait for dependents."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.raw_client import RawClient
from tests.conformance.samples import config_map

Object = dict[str, Any]

MAPS = "configmaps"
NO_UID = "00000000-0000-4000-8000-000000000000"

pytestmark = pytest.mark.timeout(60)  # the controllers may only just have started


def reference(owner: Object, *, block: bool = False) -> Object:
    found = {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
    }
    return {**found, "blockOwnerDeletion": True} if block else found


def owned(name: str, *references: Object, held: bool = False) -> Object:
    body = config_map(name)
    body["metadata"]["ownerReferences"] = list(references)
    if held:
        body["metadata"]["finalizers"] = ["example.com/hold"]
    return body


async def make(api: RawClient, body: Object) -> Object:
    found: Object = (await api.create(api.at(MAPS), body)).body
    return found


async def delete(api: RawClient, name: str, policy: str) -> str:
    """Delete an owner; return the version from which to watch."""
    before = (await api.get(api.at(MAPS))).meta["resourceVersion"]
    reply = await api("DELETE", api.at(MAPS, name), query={"propagationPolicy": policy})
    assert reply.code == 200, reply
    return str(before)


async def follow(api: RawClient, since: str, *expected: tuple[str, str]) -> list[tuple[str, str]]:
    """Type and name of every event until all expected ones have come."""
    async with api.watch(api.at(MAPS), resourceVersion=since) as watch:
        events = await watch.until(*expected)
    return [(event["type"], event["object"]["metadata"]["name"]) for event in events]


async def test_in_the_background_dependents_are_deleted_after_their_owner(
    owners: RawClient,
) -> None:
    owner = await make(owners, config_map("owner"))
    await make(owners, owned("a", reference(owner)))
    await make(owners, owned("b", reference(owner, block=True)))

    since = await delete(owners, "owner", "Background")

    types_and_names = await follow(owners, since, ("DELETED", "a"), ("DELETED", "b"))
    assert types_and_names[0] == ("DELETED", "owner")
    assert (await owners.get(owners.at(MAPS))).names == []


async def test_dependents_of_dependents_are_deleted_too(owners: RawClient) -> None:
    owner = await make(owners, config_map("owner"))
    child = await make(owners, owned("child", reference(owner)))
    await make(owners, owned("grandchild", reference(child)))

    since = await delete(owners, "owner", "Background")

    deleted = [("DELETED", name) for name in ("owner", "child", "grandchild")]
    assert await follow(owners, since, deleted[-1]) == deleted


async def test_a_dependent_of_another_kind_is_deleted_too(owners: RawClient) -> None:
    owner = await make(owners, config_map("owner"))
    body = {"metadata": {"name": "child", "ownerReferences": [reference(owner)]}}
    await owners.create(owners.at("secrets"), body)
    since = (await owners.get(owners.at("secrets"))).meta["resourceVersion"]

    await delete(owners, "owner", "Background")

    async with owners.watch(owners.at("secrets"), resourceVersion=since) as watch:
        await watch.until(("DELETED", "child"))


async def test_a_dependent_with_another_owner_stays_without_the_reference(
    owners: RawClient,
) -> None:
    first, second = [await make(owners, config_map(name)) for name in ("first", "second")]
    await make(owners, owned("shared", reference(first), reference(second)))

    since = await delete(owners, "first", "Background")

    await follow(owners, since, ("MODIFIED", "shared"))
    left = await owners.get(owners.at(MAPS, "shared"))
    assert left.meta["ownerReferences"] == [reference(second)]


async def test_a_dependent_is_deleted_with_the_last_of_its_owners(owners: RawClient) -> None:
    first, second = [await make(owners, config_map(name)) for name in ("first", "second")]
    await make(owners, owned("shared", reference(first), reference(second)))
    since = await delete(owners, "first", "Background")
    await follow(owners, since, ("MODIFIED", "shared"))

    since = await delete(owners, "second", "Background")

    deleted = [("DELETED", "second"), ("DELETED", "shared")]
    assert await follow(owners, since, deleted[-1]) == deleted


@pytest.mark.parametrize(
    "absent",
    [
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "never", "uid": NO_UID},
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "other", "uid": NO_UID},
    ],
    ids=["a name that was never taken", "a name that another object has"],
)
async def test_a_dependent_of_a_missing_owner_is_collected(
    owners: RawClient, absent: Object
) -> None:
    await make(owners, config_map("other"))
    since = (await owners.get(owners.at(MAPS))).meta["resourceVersion"]

    await make(owners, owned("stray", absent))

    types_and_names = await follow(owners, since, ("DELETED", "stray"))
    assert types_and_names == [("ADDED", "stray"), ("DELETED", "stray")]


async def test_an_owner_in_another_namespace_does_not_count(owners: RawClient) -> None:
    owner = await make(owners, config_map("owner"))
    other = owners.in_namespace(f"{owners.namespace}-b")
    await other.create("/api/v1/namespaces", {"metadata": {"name": other.namespace}})
    since = (await other.get(other.at(MAPS))).meta["resourceVersion"]

    await make(other, owned("stray", reference(owner)))

    await follow(other, since, ("DELETED", "stray"))


async def test_in_the_foreground_the_owner_is_removed_last(owners: RawClient) -> None:
    owner = await make(owners, config_map("owner"))
    for name in ("a", "b"):
        await make(owners, owned(name, reference(owner, block=True)))

    since = await delete(owners, "owner", "Foreground")

    types_and_names = await follow(owners, since, ("DELETED", "owner"))
    assert types_and_names[0] == ("MODIFIED", "owner")
    assert {("DELETED", "a"), ("DELETED", "b")} <= set(types_and_names[:-1])


async def test_in_the_foreground_a_dependent_with_a_finalizer_blocks_its_owner(
    owners: RawClient,
) -> None:
    owner = await make(owners, config_map("owner"))
    await make(owners, owned("held", reference(owner, block=True), held=True))

    since = await delete(owners, "owner", "Foreground")
    await follow(owners, since, ("MODIFIED", "held"))
    waiting = await owners.get(owners.at(MAPS, "owner"))
    await owners.patch(owners.at(MAPS, "held"), {"metadata": {"finalizers": None}})

    assert waiting.meta["finalizers"] == ["foregroundDeletion"]
    types_and_names = await follow(owners, since, ("DELETED", "owner"))
    assert types_and_names.index(("DELETED", "held")) < types_and_names.index(("DELETED", "owner"))


async def test_in_the_foreground_a_dependent_that_does_not_block_is_not_waited_for(
    owners: RawClient,
) -> None:
    owner = await make(owners, config_map("owner"))
    await make(owners, owned("held", reference(owner), held=True))

    since = await delete(owners, "owner", "Foreground")

    await follow(owners, since, ("DELETED", "owner"), ("MODIFIED", "held"))
    left = await owners.get(owners.at(MAPS, "held"))
    assert left.meta["deletionTimestamp"]
    assert left.meta["finalizers"] == ["example.com/hold"]


async def test_in_the_foreground_a_whole_tree_is_removed_from_its_leaves(owners: RawClient) -> None:
    owner = await make(owners, config_map("owner"))
    child = await make(owners, owned("child", reference(owner, block=True)))
    await make(owners, owned("grandchild", reference(child, block=True)))

    since = await delete(owners, "owner", "Foreground")

    types_and_names = await follow(owners, since, ("DELETED", "owner"))
    deleted = [name for kind, name in types_and_names if kind == "DELETED"]
    assert deleted == ["grandchild", "child", "owner"]


async def test_orphans_stay_and_lose_their_reference(owners: RawClient) -> None:
    owner = await make(owners, config_map("owner"))
    await make(owners, owned("a", reference(owner)))
    await make(owners, owned("b", reference(owner, block=True)))

    since = await delete(owners, "owner", "Orphan")

    await follow(owners, since, ("DELETED", "owner"))
    left = await owners.get(owners.at(MAPS))
    assert left.names == ["a", "b"]
    assert all("ownerReferences" not in each["metadata"] for each in left.items)


async def test_an_orphan_of_one_owner_stays_with_the_other(owners: RawClient) -> None:
    first, second = [await make(owners, config_map(name)) for name in ("first", "second")]
    await make(owners, owned("shared", reference(first), reference(second)))

    since = await delete(owners, "first", "Orphan")

    await follow(owners, since, ("DELETED", "first"))
    left = await owners.get(owners.at(MAPS, "shared"))
    assert left.meta["ownerReferences"] == [reference(second)]


async def test_orphans_lose_their_reference_before_their_owner_is_removed(
    owners: RawClient,
) -> None:
    owner = await make(owners, config_map("owner"))
    await make(owners, owned("child", reference(owner)))

    since = await delete(owners, "owner", "Orphan")

    types_and_names = await follow(owners, since, ("DELETED", "owner"))
    assert types_and_names.index(("MODIFIED", "child")) < types_and_names.index(
        ("DELETED", "owner")
    )


async def test_the_dependents_of_a_deleted_collection_are_deleted(
    owners: RawClient,
) -> None:
    for name in ("x", "y"):
        body = config_map(name, labels={"role": "owner"})
        await make(owners, owned(f"{name}-child", reference(await make(owners, body))))
    since = (await owners.get(owners.at(MAPS))).meta["resourceVersion"]

    query = {"labelSelector": "role=owner", "propagationPolicy": "Background"}
    await owners("DELETE", owners.at(MAPS), query=query)

    await follow(owners, since, ("DELETED", "x-child"), ("DELETED", "y-child"))
    assert (await owners.get(owners.at(MAPS))).names == []
