"""Dry runs pass all stages and store nothing; field validation warns or rejects."""

from __future__ import annotations

import pytest

from tests.conformance.raw_client import JSON_PATCH, RawClient
from tests.conformance.samples import config_map, deployment, pod, service
from tests.conformance.widgets import WIDGETS, CustomKind

MAPS = "configmaps"


async def test_a_dry_create_returns_the_object_and_stores_nothing(api: RawClient) -> None:
    reply = await api.create(api.at(MAPS), config_map("a"), dryRun="All")

    assert reply.meta["uid"]
    assert (await api.get(api.at(MAPS, "a"))).code == 404


async def test_a_dry_create_has_no_version(api: RawClient) -> None:
    reply = await api.create(api.at(MAPS), config_map("a"), dryRun="All")

    assert "resourceVersion" not in reply.meta


async def test_a_dry_create_generates_a_name(api: RawClient) -> None:
    body = {"metadata": {"generateName": "web-"}}

    assert (await api.create(api.at(MAPS), body, dryRun="All")).meta["name"].startswith("web-")


async def test_a_dry_create_of_an_existing_object_is_rejected(api: RawClient) -> None:
    await api.create(api.at(MAPS), config_map("a"))

    assert (await api("POST", api.at(MAPS), config_map("a"), query={"dryRun": "All"})).code == 409


async def test_a_dry_create_is_validated(api: RawClient) -> None:
    reply = await api("POST", api.at(MAPS), config_map("A"), query={"dryRun": "All"})

    assert (reply.code, reply.reason) == (422, "Invalid")


async def test_a_dry_update_returns_the_object_and_stores_nothing(api: RawClient) -> None:
    created = await api.create(api.at(MAPS), config_map("a", x="1"))

    reply = await api("PUT", api.at(MAPS, "a"), config_map("a", x="2"), query={"dryRun": "All"})

    assert reply.body["data"] == {"x": "2"}
    assert reply.meta["resourceVersion"] == created.meta["resourceVersion"]
    assert (await api.get(api.at(MAPS, "a"))).body == created.body


async def test_a_dry_patch_returns_the_object_and_stores_nothing(api: RawClient) -> None:
    created = await api.create(api.at(MAPS), config_map("a", x="1"))

    reply = await api.patch(api.at(MAPS, "a"), {"data": {"x": "2"}}, dryRun="All")

    assert reply.body["data"] == {"x": "2"}
    assert (await api.get(api.at(MAPS, "a"))).body == created.body


async def test_a_dry_apply_creates_nothing(api: RawClient) -> None:
    reply = await api.apply(api.at(MAPS, "a"), config_map("a", x="1"), dryRun="All")

    assert (reply.code, reply.body["data"]) == (201, {"x": "1"})
    assert (await api.get(api.at(MAPS, "a"))).code == 404


async def test_a_dry_delete_deletes_nothing(api: RawClient) -> None:
    await api.create(api.at(MAPS), config_map("a"))

    reply = await api("DELETE", api.at(MAPS, "a"), query={"dryRun": "All"})

    assert reply.code == 200
    assert (await api.get(api.at(MAPS, "a"))).code == 200


async def test_a_dry_delete_of_a_collection_deletes_nothing(api: RawClient) -> None:
    await api.create(api.at(MAPS), config_map("a"))

    reply = await api("DELETE", api.at(MAPS), query={"dryRun": "All"})

    assert (reply.code, reply.names) == (200, ["a"])
    assert (await api.get(api.at(MAPS))).names == ["a"]


async def test_a_dry_run_returns_the_new_generation(api: RawClient) -> None:
    await api.create(api.at("apps/v1/deployments"), deployment())

    reply = await api.patch(
        api.at("apps/v1/deployments", "web"), {"spec": {"replicas": 4}}, dryRun="All"
    )

    assert reply.meta["generation"] == 2


async def test_a_dry_run_is_not_seen_by_watches(api: RawClient) -> None:
    start = (await api.get(api.at(MAPS))).meta["resourceVersion"]
    await api.create(api.at(MAPS), config_map("a"), dryRun="All")
    await api.create(api.at(MAPS), config_map("b"))

    async with api.watch(api.at(MAPS), resourceVersion=start) as watch:
        assert await watch.types_and_names(1) == [("ADDED", "b")]


async def test_a_dry_run_of_a_custom_kind_stores_nothing(
    api: RawClient, widgets: CustomKind
) -> None:
    reply = await api.create(api.at(WIDGETS), widgets.new("a", spec={"size": 1}), dryRun="All")

    assert reply.spec["color"] == "blue"
    assert (await api.get(api.at(WIDGETS, "a"))).code == 404


async def test_a_dry_service_allocates_no_address(api: RawClient) -> None:
    reply = await api.create(api.at("services"), service(), dryRun="All")

    assert reply.code == 201
    assert (await api.get(api.at("services"))).names == []


# --- field validation


@pytest.mark.parametrize("validation", ["", "Warn"])
async def test_unknown_fields_are_dropped_with_a_warning(api: RawClient, validation: str) -> None:
    body = {**config_map("a"), "colour": "blue"}
    body["metadata"]["lables"] = {}

    reply = await api.create(api.at(MAPS), body, fieldValidation=validation)

    assert "colour" not in reply.body
    assert sorted(reply.warnings) == ['unknown field "colour"', 'unknown field "metadata.lables"']


async def test_unknown_fields_are_dropped_without_a_warning_if_ignored(api: RawClient) -> None:
    body = {**config_map("a"), "colour": "blue"}

    reply = await api.create(api.at(MAPS), body, fieldValidation="Ignore")

    assert "colour" not in reply.body
    assert reply.warnings == []


async def test_the_path_of_an_unknown_field_names_the_index(api: RawClient) -> None:
    body = deployment()
    body["spec"]["template"]["spec"]["containers"][0]["imagee"] = "x"

    reply = await api.create(api.at("apps/v1/deployments"), body)

    assert reply.warnings == ['unknown field "spec.template.spec.containers[0].imagee"']


async def test_the_last_of_duplicate_fields_wins_with_a_warning(api: RawClient) -> None:
    raw = b'{"metadata":{"name":"a"},"data":{"x":"1","x":"2"}}'

    reply = await api.create(api.at(MAPS), raw)

    assert reply.body["data"] == {"x": "2"}
    assert reply.warnings == ['duplicate field "data.x"']


async def test_strict_validation_stores_nothing(api: RawClient) -> None:
    body = {**config_map("a"), "colour": "blue"}

    reply = await api("POST", api.at(MAPS), body, query={"fieldValidation": "Strict"})

    assert (reply.code, reply.reason) == (400, "BadRequest")
    assert (await api.get(api.at(MAPS, "a"))).code == 404


async def test_field_names_are_matched_with_their_case(api: RawClient) -> None:
    """API-51: field names are case-sensitive."""
    reply = await api.create(api.at(MAPS), {"metadata": {"name": "a"}, "Data": {"x": "1"}})

    assert "data" not in reply.body
    assert reply.warnings == ['unknown field "Data"']


async def test_unknown_fields_of_a_custom_kind_are_pruned_with_a_warning(
    api: RawClient, widgets: CustomKind
) -> None:
    body = widgets.new("a", spec={"size": 1, "colour": "x"}, extra=1)

    reply = await api.create(api.at(WIDGETS), body)

    assert "colour" not in reply.spec
    assert "extra" not in reply.body
    assert sorted(reply.warnings) == ['unknown field "extra"', 'unknown field "spec.colour"']


async def test_an_update_warns_like_a_create(api: RawClient) -> None:
    await api.create(api.at(MAPS), config_map("a"))

    reply = await api("PUT", api.at(MAPS, "a"), {**config_map("a"), "colour": "blue"})

    assert reply.warnings == ['unknown field "colour"']


async def test_a_patch_warns_like_a_create(api: RawClient) -> None:
    await api.create(api.at(MAPS), config_map("a"))

    merged = await api.patch(api.at(MAPS, "a"), {"colour": "blue"})
    stepped = await api.patch(
        api.at(MAPS, "a"), [{"op": "add", "path": "/colour", "value": 1}], JSON_PATCH
    )

    assert merged.warnings == stepped.warnings == ['unknown field "colour"']


async def test_duplicate_fields_of_a_merge_patch_are_reported(api: RawClient) -> None:
    await api.create(api.at(MAPS), config_map("a"))

    reply = await api.patch(api.at(MAPS, "a"), b'{"data":{"x":"1","x":"2"}}')

    assert reply.body["data"] == {"x": "2"}
    assert reply.warnings == ['duplicate field "data.x"']


async def test_a_dry_deletion_returns_the_object_with_its_deletion_timestamp(
    api: RawClient,
) -> None:
    await api.create(api.at("pods"), pod())

    reply = await api("DELETE", api.at("pods", "web"), query={"dryRun": "All"})

    assert "deletionTimestamp" in reply.meta
    assert "deletionTimestamp" not in (await api.get(api.at("pods", "web"))).meta
