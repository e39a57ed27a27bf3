"""Server-side apply and the fields that managers own."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.raw_client import RawClient, Response
from tests.conformance.samples import config_map, deployment, pod, service
from tests.conformance.widgets import WIDGETS, CustomKind

Object = dict[str, Any]


def owners(reply: Response) -> dict[tuple[str, str, str], Any]:
    """The owned fields by (manager, operation, subresource)."""
    return {
        (each["manager"], each["operation"], each.get("subresource", "")): each["fieldsV1"]
        for each in reply.meta.get("managedFields", [])
    }


async def test_applying_a_missing_object_creates_it(api: RawClient) -> None:
    """API-38: apply semantics."""
    reply = await api.apply(api.at("configmaps", "a"), config_map("a", x="1"))

    assert (reply.code, reply.body["data"]) == (201, {"x": "1"})


async def test_applying_again_is_an_update(api: RawClient) -> None:
    await api.apply(api.at("configmaps", "a"), config_map("a", x="1"))

    reply = await api.apply(api.at("configmaps", "a"), config_map("a", x="2"))

    assert (reply.code, reply.body["data"]) == (200, {"x": "2"})


async def test_applying_the_same_again_changes_nothing(api: RawClient) -> None:
    first = await api.apply(api.at("configmaps", "a"), config_map("a", x="1"))

    second = await api.apply(api.at("configmaps", "a"), config_map("a", x="1"))

    assert second.body == first.body


async def test_an_entry_of_managed_fields_has_these_fields(api: RawClient) -> None:
    """API-36, API-37: entries of managed fields."""
    reply = await api.apply(api.at("configmaps", "a"), config_map("a", x="1"))

    (entry,) = reply.meta["managedFields"]
    # Ownership is computed before the object gets its times: a second may pass in between.
    assert entry.pop("time") <= reply.meta["creationTimestamp"]
    assert entry == {
        "manager": "tester",
        "operation": "Apply",
        "apiVersion": "v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:data": {"f:x": {}}},
    }


async def test_a_create_is_owned_by_the_user_agent(api: RawClient) -> None:
    """API-36: entries of managed fields."""
    reply = await api.create(api.at("configmaps"), config_map("a", x="1"))

    assert owners(reply) == {("conformance", "Update", ""): {"f:data": {".": {}, "f:x": {}}}}


async def test_a_create_may_name_its_manager(api: RawClient) -> None:
    reply = await api.create(api.at("configmaps"), config_map("a", x="1"), fieldManager="me")

    assert list(owners(reply)) == [("me", "Update", "")]


async def test_an_update_owns_what_it_changed(api: RawClient) -> None:
    await api.create(api.at("configmaps"), config_map("a", x="1", y="1"), fieldManager="one")

    body = config_map("a", x="1", y="2")
    reply = await api("PUT", api.at("configmaps", "a"), body, query={"fieldManager": "two"})

    assert owners(reply) == {
        ("one", "Update", ""): {"f:data": {".": {}, "f:x": {}}},
        ("two", "Update", ""): {"f:data": {"f:y": {}}},
    }


async def test_a_patch_owns_what_it_changed(api: RawClient) -> None:
    await api.create(api.at("configmaps"), config_map("a", x="1"), fieldManager="one")

    reply = await api.patch(api.at("configmaps", "a"), {"data": {"y": "2"}}, fieldManager="two")

    assert owners(reply)["two", "Update", ""] == {"f:data": {"f:y": {}}}


async def test_labels_and_annotations_are_owned_one_by_one(api: RawClient) -> None:
    body = config_map("a", labels={"x": "1"})
    body["metadata"]["annotations"] = {"y": "2"}

    reply = await api.apply(api.at("configmaps", "a"), body)

    (fields,) = owners(reply).values()
    assert fields["f:metadata"] == {"f:annotations": {"f:y": {}}, "f:labels": {"f:x": {}}}


async def test_what_is_no_longer_applied_is_removed(api: RawClient) -> None:
    """API-38: apply semantics."""
    await api.apply(api.at("configmaps", "a"), config_map("a", x="1", y="1"))

    reply = await api.apply(api.at("configmaps", "a"), config_map("a", x="1"))

    assert reply.body["data"] == {"x": "1"}


async def test_what_another_manager_owns_as_well_is_kept(api: RawClient) -> None:
    """API-38: apply semantics."""
    await api.apply(api.at("configmaps", "a"), config_map("a", x="1"), "one")
    await api.apply(api.at("configmaps", "a"), config_map("a", x="1"), "two")

    reply = await api.apply(api.at("configmaps", "a"), config_map("a"), "one")

    assert reply.body["data"] == {"x": "1"}
    assert [manager for manager, _, _ in owners(reply)] == ["two"]


async def test_a_field_that_was_never_applied_is_not_removed(api: RawClient) -> None:
    await api.create(api.at("configmaps"), config_map("a", x="1"))

    reply = await api.apply(api.at("configmaps", "a"), config_map("a", y="2"))

    assert reply.body["data"] == {"x": "1", "y": "2"}


async def test_another_value_for_a_field_of_another_manager_is_a_conflict(api: RawClient) -> None:
    await api.apply(api.at("configmaps", "a"), config_map("a", x="1"), "one")

    reply = await api.apply(api.at("configmaps", "a"), config_map("a", x="2"), "two")

    assert (reply.code, reply.reason) == (409, "Conflict")
    assert reply.message == 'Apply failed with 1 conflict: conflict with "one": .data.x'
    assert reply.details["causes"] == [
        {"reason": "FieldManagerConflict", "message": 'conflict with "one"', "field": ".data.x"}
    ]


async def test_a_conflict_with_an_update_names_the_version_it_used(api: RawClient) -> None:
    await api.create(api.at("configmaps"), config_map("a", x="1"), fieldManager="one")

    reply = await api.apply(api.at("configmaps", "a"), config_map("a", x="2"), "two")

    assert reply.details["causes"][0]["message"] == 'conflict with "one" using v1'


async def test_conflicts_with_several_managers_are_all_named(api: RawClient) -> None:
    await api.apply(api.at("configmaps", "a"), config_map("a", x="1"), "one")
    await api.apply(api.at("configmaps", "a"), config_map("a", y="1"), "two")

    reply = await api.apply(api.at("configmaps", "a"), config_map("a", x="2", y="2"), "three")

    assert reply.message.startswith("Apply failed with 2 conflicts: conflicts with ")
    assert reply.causes == [
        (".data.x", "FieldManagerConflict"),
        (".data.y", "FieldManagerConflict"),
    ]


async def test_the_same_value_is_owned_together(api: RawClient) -> None:
    await api.apply(api.at("configmaps", "a"), config_map("a", x="1"), "one")

    reply = await api.apply(api.at("configmaps", "a"), config_map("a", x="1"), "two")

    assert reply.code == 200
    assert {manager for manager, _, _ in owners(reply)} == {"one", "two"}


async def test_force_takes_the_ownership_of_the_field(api: RawClient) -> None:
    await api.apply(api.at("configmaps", "a"), config_map("a", x="1"), "one")

    reply = await api.apply(api.at("configmaps", "a"), config_map("a", x="2"), "two", force=True)

    assert (reply.code, reply.body["data"]) == (200, {"x": "2"})
    assert owners(reply) == {("two", "Apply", ""): {"f:data": {"f:x": {}}}}


async def test_an_update_takes_the_ownership_without_force(api: RawClient) -> None:
    await api.apply(api.at("configmaps", "a"), config_map("a", x="1", y="1"), "one")

    reply = await api.patch(api.at("configmaps", "a"), {"data": {"x": "2"}}, fieldManager="two")

    assert owners(reply) == {
        ("one", "Apply", ""): {"f:data": {"f:y": {}}},
        ("two", "Update", ""): {"f:data": {"f:x": {}}},
    }


async def test_lists_are_owned_by_the_keys_of_their_elements(api: RawClient) -> None:
    """API-37: path elements of FieldsV1."""
    reply = await api.apply(api.at("apps/v1/deployments", "web"), deployment())

    (fields,) = owners(reply).values()
    containers = fields["f:spec"]["f:template"]["f:spec"]["f:containers"]
    assert containers == {'k:{"name":"main"}': {".": {}, "f:image": {}, "f:name": {}}}


async def test_two_managers_add_elements_to_one_list(api: RawClient) -> None:
    await api.apply(api.at("apps/v1/deployments", "web"), deployment(), "one")
    body = deployment()
    body["spec"]["template"]["spec"]["containers"] = [{"name": "side", "image": "s:1"}]
    del body["spec"]["replicas"]

    reply = await api.apply(api.at("apps/v1/deployments", "web"), body, "two")

    found = [each["name"] for each in reply.spec["template"]["spec"]["containers"]]
    assert (reply.code, found) == (200, ["main", "side"])


async def test_an_element_that_is_no_longer_applied_is_removed(api: RawClient) -> None:
    body = deployment()
    body["spec"]["template"]["spec"]["containers"].append({"name": "side", "image": "s:1"})
    await api.apply(api.at("apps/v1/deployments", "web"), body)

    reply = await api.apply(api.at("apps/v1/deployments", "web"), deployment())

    found = [each["name"] for each in reply.spec["template"]["spec"]["containers"]]
    assert found == ["main"]


async def test_ports_have_two_keys_and_one_has_a_default(api: RawClient) -> None:
    """API-37: path elements of FieldsV1."""
    reply = await api.apply(api.at("services", "web"), service())

    (fields,) = owners(reply).values()
    assert fields["f:spec"]["f:ports"] == {
        'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:port": {}}
    }


async def test_sets_are_owned_by_their_values(api: RawClient) -> None:
    """API-37: path elements of FieldsV1."""
    body = config_map("a")
    body["metadata"]["finalizers"] = ["example.com/x"]

    reply = await api.apply(api.at("configmaps", "a"), body)

    (fields,) = owners(reply).values()
    assert fields["f:metadata"]["f:finalizers"] == {'v:"example.com/x"': {}}


async def test_atomic_fields_are_owned_as_a_whole(api: RawClient) -> None:
    reply = await api.apply(api.at("apps/v1/deployments", "web"), deployment())

    (fields,) = owners(reply).values()
    assert fields["f:spec"]["f:selector"] == {}


async def test_the_status_has_separate_owners(api: RawClient) -> None:
    """API-36: entries of managed fields."""
    await api.create(api.at("pods"), pod())
    body = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web"},
        "status": {"podIP": "10.0.0.1"},
    }

    reply = await api.apply(api.at("pods", "web", "status"), body, "kubelet")

    assert reply.code == 200
    assert owners(reply)["kubelet", "Apply", "status"] == {"f:status": {"f:podIP": {}}}


async def test_an_update_of_the_status_is_owned_under_the_subresource(api: RawClient) -> None:
    await api.create(api.at("pods"), pod())

    reply = await api.patch(
        api.at("pods", "web", "status"), {"status": {"podIP": "10.0.0.1"}}, fieldManager="kubelet"
    )

    fields = owners(reply)["kubelet", "Update", "status"]
    assert fields["f:status"]["f:podIP"] == {}


@pytest.mark.parametrize("reset", [[], [{}]], ids=["empty-list", "empty-entry"])
async def test_managed_fields_are_reset_by_emptying_them(
    api: RawClient, reset: list[Object]
) -> None:
    """API-38: apply semantics."""
    await api.create(api.at("configmaps"), config_map("a", x="1"))

    reply = await api.patch(api.at("configmaps", "a"), {"metadata": {"managedFields": reset}})

    assert reply.code == 200
    assert "managedFields" not in reply.meta


async def test_defaults_are_not_owned_by_the_applier(api: RawClient) -> None:
    reply = await api.apply(api.at("apps/v1/deployments", "web"), deployment())

    (fields,) = owners(reply).values()
    assert set(fields["f:spec"]) == {"f:replicas", "f:selector", "f:template"}


async def test_a_manager_without_fields_is_removed(api: RawClient) -> None:
    await api.apply(api.at("configmaps", "a"), config_map("a", x="1"), "one")
    await api.apply(api.at("configmaps", "a"), config_map("a", y="1"), "two")

    reply = await api.apply(api.at("configmaps", "a"), config_map("a"), "one")

    assert [manager for manager, _, _ in owners(reply)] == ["two"]
    assert reply.body["data"] == {"y": "1"}


async def test_a_custom_kind_is_merged_by_its_schema(api: RawClient, widgets: CustomKind) -> None:
    one = widgets.new("a", spec={"size": 1, "ports": [{"name": "http", "port": 80}]})
    two = widgets.new("a", spec={"ports": [{"name": "https", "port": 443}]})
    await api.apply(api.at(WIDGETS, "a"), one, "one")

    reply = await api.apply(api.at(WIDGETS, "a"), two, "two")

    assert [each["name"] for each in reply.spec["ports"]] == ["http", "https"]
    assert owners(reply)["two", "Apply", ""] == {
        "f:spec": {"f:ports": {'k:{"name":"https"}': {".": {}, "f:name": {}, "f:port": {}}}}
    }


async def test_a_custom_list_without_keys_is_owned_as_a_whole(
    api: RawClient, widgets: CustomKind
) -> None:
    body = widgets.new("a", spec={"size": 1, "tags": ["x", "y"]})

    reply = await api.apply(api.at(WIDGETS, "a"), body)

    (fields,) = owners(reply).values()
    assert fields["f:spec"]["f:tags"] == {}


async def test_a_custom_set_is_owned_by_values(api: RawClient, widgets: CustomKind) -> None:
    await api.apply(
        api.at(WIDGETS, "a"), widgets.new("a", spec={"size": 1, "unique": ["x"]}), "one"
    )

    reply = await api.apply(api.at(WIDGETS, "a"), widgets.new("a", spec={"unique": ["y"]}), "two")

    assert reply.spec["unique"] == ["x", "y"]
    assert owners(reply)["two", "Apply", ""] == {"f:spec": {"f:unique": {'v:"y"': {}}}}


async def test_a_wrong_type_in_an_apply_of_a_custom_kind_is_found_before_the_schema(
    api: RawClient, widgets: CustomKind
) -> None:
    reply = await api.apply(api.at(WIDGETS, "a"), widgets.new("a", spec={"size": "x"}))

    assert (reply.code, reply.reason) == (500, "")
    assert ".spec.size: expected numeric (int or float), got string" in reply.message


async def test_an_apply_may_be_written_in_yaml(api: RawClient) -> None:
    text = b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: 'on'\n"

    reply = await api.apply(api.at("configmaps", "a"), text)

    assert reply.body["data"] == {"x": "on"}


async def test_an_apply_needs_a_name_in_its_body(api: RawClient) -> None:
    """API-38: apply semantics."""
    body = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"x": "1"}}

    reply = await api.apply(api.at("configmaps", "a"), body)

    assert (reply.code, reply.reason) == (400, "BadRequest")


async def test_an_apply_with_a_stale_version_is_a_conflict(api: RawClient) -> None:
    first = await api.apply(api.at("configmaps", "a"), config_map("a", x="1"))
    await api.apply(api.at("configmaps", "a"), config_map("a", x="2"))
    body = config_map("a", x="3")
    body["metadata"]["resourceVersion"] = first.meta["resourceVersion"]

    reply = await api.apply(api.at("configmaps", "a"), body)

    assert (reply.code, reply.reason) == (409, "Conflict")


async def test_the_scale_is_a_manager_of_replicas(api: RawClient) -> None:
    await api.apply(api.at("apps/v1/deployments", "web"), deployment(), "one")

    await api.patch(
        api.at("apps/v1/deployments", "web", "scale"), {"spec": {"replicas": 3}}, fieldManager="hpa"
    )
    reply = await api.get(api.at("apps/v1/deployments", "web"))

    assert owners(reply)["hpa", "Update", "scale"] == {"f:spec": {"f:replicas": {}}}
    assert "f:replicas" not in owners(reply)["one", "Apply", ""]["f:spec"]
