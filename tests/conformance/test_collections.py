"""Deletions of collections in parts, and watches with short or negative timeouts."""

from __future__ import annotations

import asyncio

import pytest

from tests.conformance.raw_client import RawClient, Response

ALL = ["a", "b", "c"]


async def _create(api: RawClient) -> str:
    """Three config maps; returns the path of their collection."""
    path = api.at("configmaps")
    for name in ALL:
        await api.create(path, {"metadata": {"name": name, "labels": {"name": name}}})
    return path


async def _left(api: RawClient) -> list[str]:
    reply = await api.get(api.at("configmaps"))
    return [name for name in reply.names if name in ALL]


async def _delete(api: RawClient, **query: object) -> Response:
    return await api("DELETE", api.at("configmaps"), query=query)


async def test_a_limit_bounds_how_many_objects_are_deleted(api: RawClient) -> None:
    await _create(api)

    reply = await _delete(api, limit=2)

    assert (reply.code, reply.names) == (200, ["a", "b"])
    assert (bool(reply.meta["continue"]), reply.meta["remainingItemCount"]) == (True, 1)
    assert await _left(api) == ["c"]


async def test_a_deletion_continues_where_the_last_one_ended(api: RawClient) -> None:
    path = await _create(api)
    first = await _delete(api, limit=1)
    await api.create(path, {"metadata": {"name": "a"}})

    second = await _delete(api, limit=1, continue_=first.meta["continue"])
    rest = await _delete(api, continue_=second.meta["continue"])

    assert [first.names, second.names, rest.names] == [["a"], ["b"], ["c"]]
    assert "continue" not in rest.meta
    assert await _left(api) == ["a"]


async def test_a_limit_counts_selected_objects_only(api: RawClient) -> None:
    await _create(api)

    reply = await _delete(api, limit=1, labelSelector="name!=a")

    assert reply.names == ["b"]
    assert "remainingItemCount" not in reply.meta
    assert await _left(api) == ["a", "c"]


@pytest.mark.parametrize("limit", [0, -1])
async def test_without_a_limit_everything_is_deleted(api: RawClient, limit: int) -> None:
    await _create(api)

    reply = await _delete(api, limit=limit, labelSelector="name")

    assert (reply.names, "continue" in reply.meta) == (ALL, False)
    assert await _left(api) == []


async def test_a_dry_run_with_a_limit_deletes_nothing(api: RawClient) -> None:
    await _create(api)

    reply = await _delete(api, limit=1, dryRun="All")

    assert reply.names == ["a"]
    assert await _left(api) == ALL


async def test_preconditions_can_be_in_the_query(api: RawClient) -> None:
    await _create(api)
    version = (await api.get(api.at("configmaps", "b"))).meta["resourceVersion"]

    by_uid = await api("DELETE", api.at("configmaps", "a"), query={"uid": "1"})
    by_version = await api("DELETE", api.at("configmaps", "a"), query={"resourceVersion": version})
    collection = await _delete(api, resourceVersion="0", limit=1)
    own_version = await api("DELETE", api.at("configmaps", "b"), query={"resourceVersion": version})

    assert [each.code for each in (by_uid, by_version, collection)] == [409, 409, 409]
    assert by_uid.message.startswith(
        'Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (1) '
    )
    assert "the ResourceVersion in the precondition (0) does not match" in collection.message
    assert own_version.code == 200
    assert await _left(api) == ["a", "c"]


async def test_a_body_replaces_preconditions_in_the_query(api: RawClient) -> None:
    await _create(api)

    reply = await api("DELETE", api.at("configmaps", "a"), {}, query={"resourceVersion": "1"})

    assert reply.code == 200


@pytest.mark.parametrize("seconds", [-1, -1000])
async def test_a_watch_with_a_negative_timeout_ends_at_once(api: RawClient, seconds: int) -> None:
    version = (await api.get(api.at("configmaps"))).meta["resourceVersion"]

    async with (
        asyncio.timeout(4),
        api.watch(api.at("configmaps"), timeoutSeconds=seconds, resourceVersion=version) as watch,
    ):
        assert watch.code == 200
        assert await watch.rest() == []


@pytest.mark.parametrize("seconds", [1, 2])
async def test_a_watch_of_up_to_two_seconds_gets_no_bookmark(api: RawClient, seconds: int) -> None:
    version = (await api.get(api.at("configmaps"))).meta["resourceVersion"]
    query = {"timeoutSeconds": seconds, "resourceVersion": version, "allowWatchBookmarks": True}

    async with api.watch(api.at("configmaps"), **query) as watch:
        assert await watch.rest() == []


@pytest.mark.parametrize("has_changed", [True, False])
async def test_a_longer_watch_gets_one_before_its_end_if_anything_has_changed(
    api: RawClient, *, has_changed: bool
) -> None:
    path = api.at("configmaps")
    version = (await api.get(path)).meta["resourceVersion"]
    query = {"timeoutSeconds": 4, "resourceVersion": version, "allowWatchBookmarks": True}

    async with api.watch(path, labelSelector="name=none", **query) as watch:
        if has_changed:
            await api.create(path, {"metadata": {"name": "other"}})
        events = await watch.rest()

    assert {event["type"] for event in events} == ({"BOOKMARK"} if has_changed else set())
