"""Garbage: what becomes of dependents when their owners go, and of owners meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.caller import Caller
from tests.conformance.samples import config_map

Object = dict[str, Any]

MAPS = "configmaps"
NOBODY = "00000000-0000-4000-8000-000000000000"

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


async def make(api: Caller, body: Object) -> Object:
    found: Object = (await api.create(api.at(MAPS), body)).body
    return found


async def delete(api: Caller, name: str, policy: str) -> str:
    """Delete an owner; returns the version from which on to look at what follows."""
    before = (await api.get(api.at(MAPS))).meta["resourceVersion"]
    reply = await api("DELETE", api.at(MAPS, name), query={"propagationPolicy": policy})
    assert reply.code == 200, reply
    return str(before)


async def follow(api: Caller, since: str, *wanted: tuple[str, str]) -> list[tuple[str, str]]:
    """Type and name of every event up to the last that is wanted."""
    async with api.watch(api.at(MAPS), resourceVersion=since) as watch:
        events = await watch.until(*wanted)
    return [(event["type"], event["object"]["metadata"]["name"]) for event in events]


async def test_in_the_background_dependents_go_after_their_owner(owners: Caller) -> None:
    owner = await make(owners, config_map("owner"))
    await make(owners, owned("a", reference(owner)))
    await make(owners, owned("b", reference(owner, block=True)))

    since = await delete(owners, "owner", "Background")

    story = await follow(owners, since, ("DELETED", "a"), ("DELETED", "b"))
    assert story[0] == ("DELETED", "owner")
    assert (await owners.get(owners.at(MAPS))).names == []


async def test_dependents_of_dependents_go_too(owners: Caller) -> None:
    owner = await make(owners, config_map("owner"))
    child = await make(owners, owned("child", reference(owner)))
    await make(owners, owned("grandchild", reference(child)))

    since = await delete(owners, "owner", "Background")

    deleted = [("DELETED", name) for name in ("owner", "child", "grandchild")]
    assert await follow(owners, since, deleted[-1]) == deleted


async def test_a_dependent_of_another_kind_goes_too(owners: Caller) -> None:
    owner = await make(owners, config_map("owner"))
    body = {"metadata": {"name": "child", "ownerReferences": [reference(owner)]}}
    await owners.create(owners.at("secrets"), body)
    since = (await owners.get(owners.at("secrets"))).meta["resourceVersion"]

    await delete(owners, "owner", "Background")

    async with owners.watch(owners.at("secrets"), resourceVersion=since) as watch:
        await watch.until(("DELETED", "child"))


async def test_a_dependent_with_another_owner_stays_and_forgets_the_one_that_went(
    owners: Caller,
) -> None:
    first, second = [await make(owners, config_map(name)) for name in ("first", "second")]
    await make(owners, owned("shared", reference(first), reference(second)))

    since = await delete(owners, "first", "Background")

    await follow(owners, since, ("MODIFIED", "shared"))
    left = await owners.get(owners.at(MAPS, "shared"))
    assert left.meta["ownerReferences"] == [reference(second)]


async def test_a_dependent_goes_with_the_last_of_its_owners(owners: Caller) -> None:
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
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "never", "uid": NOBODY},
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "other", "uid": NOBODY},
    ],
    ids=["a name that was never taken", "a name that another object has"],
)
async def test_whose_owner_is_not_there_is_garbage_from_the_start(
    owners: Caller, absent: Object
) -> None:
    await make(owners, config_map("other"))
    since = (await owners.get(owners.at(MAPS))).meta["resourceVersion"]

    await make(owners, owned("stray", absent))

    story = await follow(owners, since, ("DELETED", "stray"))
    assert story == [("ADDED", "stray"), ("DELETED", "stray")]


async def test_an_owner_in_another_namespace_is_none(owners: Caller) -> None:
    owner = await make(owners, config_map("owner"))
    other = owners.in_namespace(f"{owners.namespace}-b")
    await other.create("/api/v1/namespaces", {"metadata": {"name": other.namespace}})
    since = (await other.get(other.at(MAPS))).meta["resourceVersion"]

    await make(other, owned("stray", reference(owner)))

    await follow(other, since, ("DELETED", "stray"))


async def test_in_the_foreground_the_owner_goes_last(owners: Caller) -> None:
    owner = await make(owners, config_map("owner"))
    for name in ("a", "b"):
        await make(owners, owned(name, reference(owner, block=True)))

    since = await delete(owners, "owner", "Foreground")

    story = await follow(owners, since, ("DELETED", "owner"))
    assert story[0] == ("MODIFIED", "owner")
    assert {("DELETED", "a"), ("DELETED", "b")} <= set(story[:-1])


async def test_in_the_foreground_a_dependent_that_is_held_holds_its_owner(owners: Caller) -> None:
    owner = await make(owners, config_map("owner"))
    await make(owners, owned("held", reference(owner, block=True), held=True))

    since = await delete(owners, "owner", "Foreground")
    await follow(owners, since, ("MODIFIED", "held"))
    waiting = await owners.get(owners.at(MAPS, "owner"))
    await owners.patch(owners.at(MAPS, "held"), {"metadata": {"finalizers": None}})

    assert waiting.meta["finalizers"] == ["foregroundDeletion"]
    story = await follow(owners, since, ("DELETED", "owner"))
    assert story.index(("DELETED", "held")) < story.index(("DELETED", "owner"))


async def test_in_the_foreground_a_dependent_that_does_not_block_holds_nobody(
    owners: Caller,
) -> None:
    owner = await make(owners, config_map("owner"))
    await make(owners, owned("held", reference(owner), held=True))

    since = await delete(owners, "owner", "Foreground")

    await follow(owners, since, ("DELETED", "owner"), ("MODIFIED", "held"))
    left = await owners.get(owners.at(MAPS, "held"))
    assert left.meta["deletionTimestamp"]
    assert left.meta["finalizers"] == ["example.com/hold"]


async def test_in_the_foreground_a_whole_family_goes_from_the_youngest(owners: Caller) -> None:
    owner = await make(owners, config_map("owner"))
    child = await make(owners, owned("child", reference(owner, block=True)))
    await make(owners, owned("grandchild", reference(child, block=True)))

    since = await delete(owners, "owner", "Foreground")

    story = await follow(owners, since, ("DELETED", "owner"))
    deleted = [name for kind, name in story if kind == "DELETED"]
    assert deleted == ["grandchild", "child", "owner"]


async def test_orphans_stay_and_lose_their_reference(owners: Caller) -> None:
    owner = await make(owners, config_map("owner"))
    await make(owners, owned("a", reference(owner)))
    await make(owners, owned("b", reference(owner, block=True)))

    since = await delete(owners, "owner", "Orphan")

    await follow(owners, since, ("DELETED", "owner"))
    left = await owners.get(owners.at(MAPS))
    assert left.names == ["a", "b"]
    assert all("ownerReferences" not in each["metadata"] for each in left.items)


async def test_an_orphan_of_one_owner_stays_with_the_other(owners: Caller) -> None:
    first, second = [await make(owners, config_map(name)) for name in ("first", "second")]
    await make(owners, owned("shared", reference(first), reference(second)))

    since = await delete(owners, "first", "Orphan")

    await follow(owners, since, ("DELETED", "first"))
    left = await owners.get(owners.at(MAPS, "shared"))
    assert left.meta["ownerReferences"] == [reference(second)]


async def test_orphans_lose_their_reference_before_their_owner_goes(owners: Caller) -> None:
    owner = await make(owners, config_map("owner"))
    await make(owners, owned("child", reference(owner)))

    since = await delete(owners, "owner", "Orphan")

    story = await follow(owners, since, ("DELETED", "owner"))
    assert story.index(("MODIFIED", "child")) < story.index(("DELETED", "owner"))


async def test_owners_deleted_as_a_collection_take_their_dependents_with_them(
    owners: Caller,
) -> None:
    for name in ("x", "y"):
        body = config_map(name, labels={"role": "owner"})
        await make(owners, owned(f"{name}-child", reference(await make(owners, body))))
    since = (await owners.get(owners.at(MAPS))).meta["resourceVersion"]

    query = {"labelSelector": "role=owner", "propagationPolicy": "Background"}
    await owners("DELETE", owners.at(MAPS), query=query)

    await follow(owners, since, ("DELETED", "x-child"), ("DELETED", "y-child"))
    assert (await owners.get(owners.at(MAPS))).names == []
