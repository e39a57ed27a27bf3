"""Watches: which events come, in which order, and when they end."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.conformance.raw_client import RawClient
from tests.conformance.samples import config_map, pod
from tests.conformance.widgets import WIDGETS, CustomKind

MAPS = "configmaps"
INITIAL: dict[str, Any] = {
    "sendInitialEvents": True,
    "resourceVersionMatch": "NotOlderThan",
    "allowWatchBookmarks": True,
}
END = "k8s.io/initial-events-end"


async def test_a_watch_without_a_version_begins_with_the_current_state(api: RawClient) -> None:
    """API-42: resource version semantics."""
    await api.create(api.at(MAPS), config_map("a"))
    await api.create(api.at(MAPS), config_map("b"))

    async with api.watch(api.at(MAPS)) as watch:
        assert sorted(await watch.types_and_names(2)) == [("ADDED", "a"), ("ADDED", "b")]


async def test_a_watch_from_version_zero_begins_with_the_current_state(api: RawClient) -> None:
    """API-42: resource version semantics."""
    await api.create(api.at(MAPS), config_map("a"))
    await api.get(api.at(MAPS))  # after this, the watch cache that serves version 0 has the object

    async with api.watch(api.at(MAPS), resourceVersion="0") as watch:
        assert await watch.types_and_names(1) == [("ADDED", "a")]


async def test_a_watch_reports_add_modify_and_delete(api: RawClient) -> None:
    """API-44: types of watch events."""
    start = (await api.get(api.at(MAPS))).meta["resourceVersion"]

    async with api.watch(api.at(MAPS), resourceVersion=start) as watch:
        await api.create(api.at(MAPS), config_map("a"))
        await api.patch(api.at(MAPS, "a"), {"data": {"n": "1"}})
        await api("DELETE", api.at(MAPS, "a"))

        assert await watch.types_and_names(3) == [
            ("ADDED", "a"),
            ("MODIFIED", "a"),
            ("DELETED", "a"),
        ]


async def test_a_watch_from_a_version_reports_later_changes(api: RawClient) -> None:
    """API-42: resource version semantics."""
    created = await api.create(api.at(MAPS), config_map("a"))
    await api.create(api.at(MAPS), config_map("b"))
    await api("DELETE", api.at(MAPS, "a"))

    version = created.meta["resourceVersion"]
    async with api.watch(api.at(MAPS), resourceVersion=version) as watch:
        assert await watch.types_and_names(2) == [("ADDED", "b"), ("DELETED", "a")]


async def test_the_objects_in_events_have_their_kind(api: RawClient) -> None:
    created = await api.create(api.at(MAPS), config_map("a"))

    async with api.watch(api.at(MAPS)) as watch:
        assert (await watch.next())["object"] == created.body


async def test_a_delete_event_has_the_last_state_and_the_version_of_the_deletion(
    api: RawClient,
) -> None:
    """API-44: types of watch events."""
    created = await api.create(api.at(MAPS), config_map("a", n="1"))
    version = created.meta["resourceVersion"]

    async with api.watch(api.at(MAPS), resourceVersion=version) as watch:
        await api("DELETE", api.at(MAPS, "a"))
        event = await watch.next()

    assert event["object"]["data"] == {"n": "1"}
    assert int(event["object"]["metadata"]["resourceVersion"]) > int(version)


async def test_versions_of_events_increase(api: RawClient) -> None:
    start = (await api.get(api.at(MAPS))).meta["resourceVersion"]
    for number in range(5):
        await api.create(api.at(MAPS), config_map(f"n{number}"))

    async with api.watch(api.at(MAPS), resourceVersion=start) as watch:
        events = await watch.take(5)

    versions = [int(event["object"]["metadata"]["resourceVersion"]) for event in events]
    assert versions == sorted(set(versions))


async def test_an_update_that_changes_nothing_is_not_reported(api: RawClient) -> None:
    created = await api.create(api.at(MAPS), config_map("a"))
    await api("PUT", api.at(MAPS, "a"), created.body)
    await api.create(api.at(MAPS), config_map("b"))

    async with api.watch(api.at(MAPS), resourceVersion=created.meta["resourceVersion"]) as watch:
        assert await watch.types_and_names(1) == [("ADDED", "b")]


async def test_a_watch_of_one_name_reports_that_object_only(api: RawClient) -> None:
    start = (await api.get(api.at(MAPS))).meta["resourceVersion"]
    await api.create(api.at(MAPS), config_map("a"))
    await api.create(api.at(MAPS), config_map("b"))

    query = {"fieldSelector": "metadata.name=b", "resourceVersion": start}
    async with api.watch(api.at(MAPS), **query) as watch:
        assert await watch.types_and_names(1) == [("ADDED", "b")]


async def test_a_watch_at_the_path_of_an_object_is_a_get(api: RawClient) -> None:
    created = await api.create(api.at(MAPS), config_map("a"))

    assert (await api.get(api.at(MAPS, "a"), watch=1)).body == created.body


async def test_the_legacy_watch_prefix_watches_one_object_too(api: RawClient) -> None:
    await api.create(api.at(MAPS), config_map("a"))
    await api.create(api.at(MAPS), config_map("b"))

    async with api.watch("/api/v1/watch/namespaces/{ns}/configmaps/b") as watch:
        assert await watch.types_and_names(1) == [("ADDED", "b")]


async def test_a_watch_over_all_namespaces_sees_this_one(api: RawClient) -> None:
    start = (await api.get(api.at(MAPS))).meta["resourceVersion"]
    await api.create(api.at(MAPS), config_map("a"))

    async with api.watch("/api/v1/configmaps", resourceVersion=start) as watch:
        event = await watch.next()

    assert event["object"]["metadata"]["namespace"] == api.namespace


async def test_the_legacy_watch_prefix_still_works(api: RawClient) -> None:
    await api.create(api.at(MAPS), config_map("a"))

    async with api.watch("/api/v1/watch/namespaces/{ns}/configmaps") as watch:
        assert await watch.types_and_names(1) == [("ADDED", "a")]


async def test_an_object_that_no_longer_matches_is_reported_as_deleted(api: RawClient) -> None:
    """API-45, API-C16: watches with selectors."""
    created = await api.create(api.at(MAPS), config_map("a", labels={"x": "y"}))

    query = {"labelSelector": "x=y", "resourceVersion": created.meta["resourceVersion"]}
    async with api.watch(api.at(MAPS), **query) as watch:
        await api.patch(api.at(MAPS, "a"), {"metadata": {"labels": {"x": "z"}}})
        event = await watch.next()

    assert event["type"] == "DELETED"


async def test_the_deleted_object_has_its_last_matching_labels_and_the_new_version(
    api: RawClient,
) -> None:
    """API-C16: objects that leave the selection."""
    created = await api.create(api.at(MAPS), config_map("a", labels={"x": "y"}))

    query = {"labelSelector": "x=y", "resourceVersion": created.meta["resourceVersion"]}
    async with api.watch(api.at(MAPS), **query) as watch:
        changed = await api.patch(api.at(MAPS, "a"), {"metadata": {"labels": {"x": "z"}}})
        meta = (await watch.next())["object"]["metadata"]

    assert meta["labels"] == {"x": "y"}
    assert meta["resourceVersion"] == changed.meta["resourceVersion"]


async def test_an_object_that_starts_to_match_is_reported_as_added(api: RawClient) -> None:
    """API-45: watches with selectors."""
    created = await api.create(api.at(MAPS), config_map("a", labels={"x": "z"}))

    query = {"labelSelector": "x=y", "resourceVersion": created.meta["resourceVersion"]}
    async with api.watch(api.at(MAPS), **query) as watch:
        await api.patch(api.at(MAPS, "a"), {"metadata": {"labels": {"x": "y"}}})

        assert await watch.types_and_names(1) == [("ADDED", "a")]


async def test_changes_of_objects_that_do_not_match_are_not_reported(api: RawClient) -> None:
    start = (await api.get(api.at(MAPS))).meta["resourceVersion"]
    await api.create(api.at(MAPS), config_map("a"))
    await api("DELETE", api.at(MAPS, "a"))
    await api.create(api.at(MAPS), config_map("b", labels={"x": "y"}))

    query = {"labelSelector": "x=y", "resourceVersion": start}
    async with api.watch(api.at(MAPS), **query) as watch:
        assert await watch.types_and_names(1) == [("ADDED", "b")]


async def test_a_field_selector_works_on_a_watch_like_a_label_selector(api: RawClient) -> None:
    """API-45: watches with selectors."""
    created = await api.create(api.at("pods"), pod())

    query = {
        "fieldSelector": "status.phase=Pending",
        "resourceVersion": created.meta["resourceVersion"],
    }
    async with api.watch(api.at("pods"), **query) as watch:
        await api.patch(api.at("pods", "web", "status"), {"status": {"phase": "Running"}})

        assert await watch.types_and_names(1) == [("DELETED", "web")]


async def test_a_watch_ends_after_its_timeout(api: RawClient) -> None:
    await api.create(api.at(MAPS), config_map("a"))

    async with api.watch(api.at(MAPS), timeoutSeconds=1) as watch:
        events = await watch.rest()

    assert [event["type"] for event in events] == ["ADDED"]


async def test_initial_events_end_with_an_annotated_bookmark(api: RawClient) -> None:
    """API-44: types of watch events."""
    await api.create(api.at(MAPS), config_map("a"))
    last = await api.create(api.at(MAPS), config_map("b"))

    async with api.watch(api.at(MAPS), **INITIAL) as watch:
        events = await watch.take(3)

    assert [event["type"] for event in events] == ["ADDED", "ADDED", "BOOKMARK"]
    meta = events[-1]["object"]["metadata"]
    assert meta["annotations"] == {END: "true"}
    assert int(meta["resourceVersion"]) >= int(last.meta["resourceVersion"])


async def test_a_bookmark_is_an_object_of_the_kind_with_a_version_only(api: RawClient) -> None:
    """API-44: types of watch events."""
    async with api.watch(api.at(MAPS), **INITIAL) as watch:
        bookmark = (await watch.next())["object"]

    assert (bookmark["kind"], bookmark["apiVersion"]) == ("ConfigMap", "v1")
    assert bookmark["metadata"].keys() == {"resourceVersion", "annotations"}
    assert "data" not in bookmark


async def test_initial_events_come_in_the_order_of_names(api: RawClient) -> None:
    for name in "cab":
        await api.create(api.at(MAPS), config_map(name))

    async with api.watch(api.at(MAPS), **INITIAL) as watch:
        types_and_names = await watch.types_and_names(3)

    assert types_and_names == [("ADDED", "a"), ("ADDED", "b"), ("ADDED", "c")]


async def test_changes_follow_after_the_initial_events(api: RawClient) -> None:
    async with api.watch(api.at(MAPS), **INITIAL) as watch:
        await watch.next()
        await api.create(api.at(MAPS), config_map("a"))

        assert await watch.types_and_names(1) == [("ADDED", "a")]


async def test_initial_events_respect_the_selector(api: RawClient) -> None:
    await api.create(api.at(MAPS), config_map("a", labels={"x": "y"}))
    await api.create(api.at(MAPS), config_map("b"))

    async with api.watch(api.at(MAPS), labelSelector="x=y", **INITIAL) as watch:
        events = await watch.take(2)

    assert [event["type"] for event in events] == ["ADDED", "BOOKMARK"]


async def test_initial_events_may_be_declined(api: RawClient) -> None:
    await api.create(api.at(MAPS), config_map("a"))
    version = (await api.get(api.at(MAPS))).meta["resourceVersion"]

    query = {**INITIAL, "sendInitialEvents": False, "resourceVersion": version}
    async with api.watch(api.at(MAPS), **query) as watch:
        await api.create(api.at(MAPS), config_map("b"))

        assert await watch.types_and_names(1) == [("ADDED", "b")]


async def test_without_bookmarks_nothing_marks_the_end_of_initial_events(api: RawClient) -> None:
    await api.create(api.at(MAPS), config_map("a"))

    query = {**INITIAL, "allowWatchBookmarks": False, "timeoutSeconds": 1}
    async with api.watch(api.at(MAPS), **query) as watch:
        events = await watch.rest()

    assert [event["type"] for event in events] == ["ADDED"]


async def test_a_custom_kind_is_watched_like_any_other(api: RawClient, widgets: CustomKind) -> None:
    async with api.watch(api.at(WIDGETS), **INITIAL) as watch:
        bookmark = await watch.next()
        await api.create(api.at(WIDGETS), widgets.new("a", spec={"size": 1}))
        types_and_names = await watch.types_and_names(1)

    assert (bookmark["type"], bookmark["object"]["kind"]) == ("BOOKMARK", "Widget")
    assert types_and_names == [("ADDED", "a")]


async def test_an_object_with_finalizers_is_reported_as_modified_and_then_as_deleted(
    api: RawClient,
) -> None:
    body = config_map("a")
    body["metadata"]["finalizers"] = ["example.com/hold"]
    created = await api.create(api.at(MAPS), body)

    version = created.meta["resourceVersion"]
    async with api.watch(api.at(MAPS), resourceVersion=version) as watch:
        await api("DELETE", api.at(MAPS, "a"))
        await api.patch(api.at(MAPS, "a"), {"metadata": {"finalizers": None}})

        assert await watch.types_and_names(2) == [("MODIFIED", "a"), ("DELETED", "a")]


async def test_a_watch_as_partial_metadata_has_metadata_only(api: RawClient) -> None:
    """API-47: PartialObjectMetadata."""
    await api.create(api.at(MAPS), config_map("a", n="1"))

    accept = {"Accept": "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"}
    async with api.watch(api.at(MAPS), headers=accept) as watch:
        found = (await watch.next())["object"]

    assert (found["kind"], found["apiVersion"]) == ("PartialObjectMetadata", "meta.k8s.io/v1")
    assert found["metadata"]["name"] == "a"
    assert "data" not in found


async def test_a_watch_as_a_table_describes_its_columns_once(api: RawClient) -> None:
    """API-46: Table."""
    await api.create(api.at(MAPS), config_map("a"))
    await api.create(api.at(MAPS), config_map("b"))

    accept = {"Accept": "application/json;as=Table;g=meta.k8s.io;v=v1"}
    async with api.watch(api.at(MAPS), headers=accept) as watch:
        first, second = [event["object"] for event in await watch.take(2)]

    assert [column["name"] for column in first["columnDefinitions"]] == ["Name", "Data", "Age"]
    assert not second["columnDefinitions"]
    assert sorted([first["rows"][0]["cells"][0], second["rows"][0]["cells"][0]]) == ["a", "b"]


async def test_two_watches_see_the_same_events(api: RawClient) -> None:
    start = (await api.get(api.at(MAPS))).meta["resourceVersion"]

    async with (
        api.watch(api.at(MAPS), resourceVersion=start) as one,
        api.watch(api.at(MAPS), resourceVersion=start) as two,
    ):
        await api.create(api.at(MAPS), config_map("a"))
        first, second = await asyncio.gather(one.next(), two.next())

    assert first == second


@pytest.mark.parametrize("flag", ["1", "true", "yes"])
async def test_a_watch_is_requested_by_any_value_but_false(api: RawClient, flag: str) -> None:
    await api.create(api.at(MAPS), config_map("a"))

    async with api.watch(api.at(MAPS), watch=flag) as watch:
        assert await watch.types_and_names(1) == [("ADDED", "a")]


@pytest.mark.parametrize("flag", ["0", "false"])
async def test_a_watch_that_is_declined_is_a_list(api: RawClient, flag: str) -> None:
    assert (await api.get(api.at(MAPS), watch=flag)).body["kind"] == "ConfigMapList"
