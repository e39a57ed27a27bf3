"""Custom kinds: definitions, versions, subresources, deletion."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.conformance.raw_client import RawClient, Response
from tests.conformance.widgets import (
    DEFINITIONS,
    GROUP,
    WIDGETS,
    CustomKind,
    define,
    definition,
    version,
)

Object = dict[str, Any]


async def conditions(api: RawClient, path: str) -> dict[str, str]:
    found = (await api.get(path)).body["status"]["conditions"]
    return {each["type"]: each["status"] for each in found}


async def gone(api: RawClient, path: str) -> Response:
    """The response at a path once it no longer exists."""
    while (reply := await api.get(path)).code == 200:
        await asyncio.sleep(0.02)
    return reply


async def test_a_definition_is_defaulted(api: RawClient, widgets: CustomKind) -> None:
    reply = await api.get(widgets.path)

    assert reply.spec["names"] == {
        "plural": "widgets",
        "singular": "widget",
        "kind": "Widget",
        "listKind": "WidgetList",
    }
    assert reply.spec["conversion"] == {"strategy": "None"}


async def test_a_definition_has_the_condition_established(
    api: RawClient, widgets: CustomKind
) -> None:
    found = await conditions(api, widgets.path)

    assert found == {"NamesAccepted": "True", "Established": "True"}


async def test_a_definition_has_stored_versions_and_accepted_names(
    api: RawClient, widgets: CustomKind
) -> None:
    status = (await api.get(widgets.path)).body["status"]

    assert status["storedVersions"] == ["v1"]
    assert status["acceptedNames"]["kind"] == "Widget"


async def test_an_object_is_created_with_its_defaults(api: RawClient, widgets: CustomKind) -> None:
    reply = await api.create(api.at(WIDGETS), widgets.new("a", spec={"size": 1, "inner": {}}))

    assert reply.spec == {"size": 1, "color": "blue", "inner": {"depth": 3}}
    assert reply.meta["generation"] == 1


async def test_a_null_is_replaced_by_the_default(api: RawClient, widgets: CustomKind) -> None:
    reply = await api.create(api.at(WIDGETS), widgets.new("a", spec={"size": 1, "color": None}))

    assert reply.spec["color"] == "blue"


async def test_a_null_is_kept_if_nullable(api: RawClient, widgets: CustomKind) -> None:
    reply = await api.create(api.at(WIDGETS), widgets.new("a", spec={"size": 1, "nothing": None}))

    assert reply.spec["nothing"] is None


async def test_unknown_fields_are_kept_if_the_schema_preserves_them(
    api: RawClient, widgets: CustomKind
) -> None:
    free = {"anything": {"goes": [1, "x", None, 1.5]}}

    reply = await api.create(api.at(WIDGETS), widgets.new("a", spec={"size": 1, "free": free}))

    assert reply.spec["free"] == free


@pytest.mark.parametrize("limit", [5, "50%"])
async def test_a_field_may_be_int_or_string(
    api: RawClient, widgets: CustomKind, limit: object
) -> None:
    reply = await api.create(api.at(WIDGETS), widgets.new("a", spec={"size": 1, "limit": limit}))

    assert reply.spec["limit"] == limit


@pytest.mark.parametrize(
    ("spec", "causes", "says"),
    [
        ({}, [("spec.size", "FieldValueRequired")], "spec.size: Required value"),
        (
            {"size": "x"},
            [(".spec.size", "FieldValueInvalid"), ("spec.size", "FieldValueTypeInvalid")],
            'spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"',
        ),
        (
            {"size": 11},
            [("spec.size", "FieldValueInvalid")],
            "spec.size: Invalid value: 11: spec.size in body should be less than or equal to 10",
        ),
        (
            {"size": -1},
            [(".spec.size", "FieldValueInvalid"), ("spec.size", "FieldValueInvalid")],
            "spec.size: Invalid value: -1: spec.size in body should be greater than or equal to 0",
        ),
        (
            {"size": 1, "color": "green"},
            [("spec.color", "FieldValueNotSupported")],
            'spec.color: Unsupported value: "green": supported values: "blue", "red"',
        ),
        (
            {"size": 1, "name": "A1"},
            [("spec.name", "FieldValueInvalid")],
            "spec.name: Invalid value: \"A1\": spec.name in body should match '^[a-z]+$'",
        ),
        (
            {"size": 1, "name": "abcdefghi"},
            [("spec.name", "FieldValueTooLong")],
            "spec.name: Too long: may not be more than 8 bytes",
        ),
        (
            {"size": 1, "name": "a"},
            [("spec.name", "FieldValueInvalid")],
            'spec.name: Invalid value: "a": spec.name in body should be at least 2 chars long',
        ),
        (
            {"size": 1, "tags": ["a", "b", "c", "d"]},
            [("spec.tags", "FieldValueTooMany")],
            "spec.tags: Too many: 4: must have at most 3 items",
        ),
        (
            {"size": 1, "unique": ["a", "a"]},
            [("spec.unique[1]", "FieldValueDuplicate")],
            'spec.unique[1]: Duplicate value: "a"',
        ),
        (
            {"size": 1, "ports": [{"name": "a"}, {"name": "a"}]},
            [("spec.ports[1]", "FieldValueDuplicate")],
            'spec.ports[1]: Duplicate value: {"name":"a"}',
        ),
        (
            {"size": 1, "ports": [{"port": 1}]},
            [("spec.ports[0].name", "FieldValueRequired")],
            "spec.ports[0].name: Required value",
        ),
        (
            {"size": 1, "map": {"a": "x"}},
            [("spec.map.a", "FieldValueTypeInvalid")],
            'spec.map.a: Invalid value: "string": spec.map.a in body must be of type integer',
        ),
        (
            {"size": 1, "when": "soon"},
            [("spec.when", "FieldValueTypeInvalid")],
            'spec.when: Invalid value: "soon": spec.when in body must be of type date-time: "soon"',
        ),
        (
            {"size": 1, "ratio": 0.7},
            [("spec.ratio", "FieldValueInvalid")],
            "spec.ratio: Invalid value: 0.7: spec.ratio in body should be a multiple of 0.5",
        ),
        (
            {"size": 1, "either": {}},
            [("<nil>", "FieldValueInvalid"), ("spec.either.a", "FieldValueRequired")],
            "spec.either.a: Required value",
        ),
        (
            {"size": 1, "tags": "x"},
            [("spec.tags", "FieldValueTypeInvalid")],
            'spec.tags: Invalid value: "string": spec.tags in body must be of type array: "string"',
        ),
        (
            {"size": 1, "limit": True},
            [("spec.limit", "FieldValueTypeInvalid")],
            "spec.limit",
        ),
    ],
    ids=[
        "required", "type", "maximum", "minimum", "enum", "pattern", "maxLength", "minLength",
        "maxItems", "set", "map-list", "key", "additional", "format", "multipleOf", "oneOf",
        "array", "int-or-string",
    ],
)  # fmt: skip
async def test_an_object_that_violates_its_schema_is_rejected(
    api: RawClient, widgets: CustomKind, spec: Object, causes: list[tuple[str, str]], says: str
) -> None:
    reply = await api("POST", api.at(WIDGETS), widgets.new("a", spec=spec))

    assert (reply.code, reply.reason) == (422, "Invalid")
    assert reply.message.startswith(f'Widget.{GROUP} "a" is invalid: ')
    assert (reply.details["group"], reply.details["kind"]) == (GROUP, "Widget")
    assert reply.causes == causes, reply
    assert says in reply.message


async def test_every_problem_is_reported(api: RawClient, widgets: CustomKind) -> None:
    body = widgets.new("a", spec={"size": 11, "color": "green", "name": "A1"})

    reply = await api("POST", api.at(WIDGETS), body)

    assert [field for field, _ in reply.causes] == ["spec.color", "spec.name", "spec.size"]


async def test_a_patch_is_validated_by_the_schema(api: RawClient, widgets: CustomKind) -> None:
    await api.create(api.at(WIDGETS), widgets.new("a", spec={"size": 1}))

    reply = await api.patch(api.at(WIDGETS, "a"), {"spec": {"size": 11}})

    assert (reply.code, reply.causes) == (422, [("spec.size", "FieldValueInvalid")])


async def test_a_value_that_was_invalid_before_may_stay(api: RawClient) -> None:
    loose = {"type": "object", "properties": {"size": {"type": "integer"}, "x": {"type": "string"}}}
    defined = await define(api, versions=[version(spec=loose, selectableFields=[])])
    await api.create(api.at(defined.resource), defined.new("a", spec={"size": 99}))
    tight = {
        "type": "object",
        "properties": {"size": {"type": "integer", "maximum": 10}, "x": {"type": "string"}},
    }
    changed = [version(spec=tight, selectableFields=[])]
    await api.patch(defined.path, {"spec": {"versions": changed}})
    while (
        await api(
            "POST",
            api.at(defined.resource),
            defined.new("b", spec={"size": 99}),
            query={"dryRun": "All"},
        )
    ).code != 422:
        await asyncio.sleep(0.02)

    same = await api.patch(api.at(defined.resource, "a"), {"spec": {"x": "y"}})
    worse = await api.patch(api.at(defined.resource, "a"), {"spec": {"size": 100}})

    assert (same.code, worse.code) == (200, 422)


# --- subresources


async def test_a_write_of_the_object_ignores_the_status(
    api: RawClient, widgets: CustomKind
) -> None:
    body = widgets.new("a", spec={"size": 1}, status={"note": "x"})

    assert "status" not in (await api.create(api.at(WIDGETS), body)).body


async def test_the_status_is_written_at_its_own_path(api: RawClient, widgets: CustomKind) -> None:
    await api.create(api.at(WIDGETS), widgets.new("a", spec={"size": 1}))

    reply = await api.patch(
        api.at(WIDGETS, "a", "status"), {"status": {"note": "x"}, "spec": {"size": 5}}
    )

    assert (reply.body["status"], reply.spec["size"]) == ({"note": "x"}, 1)
    assert reply.meta["generation"] == 1


async def test_a_change_of_the_spec_increments_the_generation(
    api: RawClient, widgets: CustomKind
) -> None:
    await api.create(api.at(WIDGETS), widgets.new("a", spec={"size": 1}))

    spec = await api.patch(api.at(WIDGETS, "a"), {"spec": {"size": 2}})
    label = await api.patch(api.at(WIDGETS, "a"), {"metadata": {"labels": {"x": "y"}}})

    assert (spec.meta["generation"], label.meta["generation"]) == (2, 2)


async def test_the_scale_of_a_custom_kind_is_read_from_its_paths(
    api: RawClient, widgets: CustomKind
) -> None:
    await api.create(api.at(WIDGETS), widgets.new("a", spec={"size": 3}))
    status = {"status": {"replicas": 2, "selector": "app=a"}}
    await api.patch(api.at(WIDGETS, "a", "status"), status)

    reply = await api.get(api.at(WIDGETS, "a", "scale"))

    assert (reply.body["kind"], reply.body["apiVersion"]) == ("Scale", "autoscaling/v1")
    assert reply.spec == {"replicas": 3}
    assert reply.body["status"] == {"replicas": 2, "selector": "app=a"}


async def test_the_scale_of_a_custom_kind_is_written(api: RawClient, widgets: CustomKind) -> None:
    await api.create(api.at(WIDGETS), widgets.new("a", spec={"size": 3}))

    reply = await api.patch(api.at(WIDGETS, "a", "scale"), {"spec": {"replicas": 7}})

    assert (reply.code, reply.spec) == (200, {"replicas": 7})
    assert (await api.get(api.at(WIDGETS, "a"))).spec["size"] == 7


async def test_the_scale_of_a_custom_kind_is_validated_by_the_schema(
    api: RawClient, widgets: CustomKind
) -> None:
    await api.create(api.at(WIDGETS), widgets.new("a", spec={"size": 3}))

    reply = await api.patch(api.at(WIDGETS, "a", "scale"), {"spec": {"replicas": 11}})

    assert (reply.code, reply.causes) == (422, [("spec.size", "FieldValueInvalid")])


async def test_a_kind_without_subresources_writes_its_status_with_the_object(
    api: RawClient,
) -> None:
    defined = await define(api, versions=[version(subresources={})])
    body = defined.new("a", spec={"size": 1}, status={"note": "x"})

    created = await api.create(api.at(defined.resource), body)
    part = await api.get(api.at(defined.resource, "a", "status"))

    assert created.body["status"] == {"note": "x"}
    assert part.code == 404


# --- versions, scope, deletion


async def test_an_object_can_be_read_in_every_served_version(api: RawClient) -> None:
    versions = [version("v1"), version("v2", storage=False)]
    defined = await define(api, versions=versions)
    await api.create(api.at(defined.resource), defined.new("a", spec={"size": 1}))

    reply = await api.get(api.at(f"{GROUP}/v2/{defined.plural}", "a"))

    assert (reply.code, reply.body["apiVersion"]) == (200, f"{GROUP}/v2")
    assert reply.spec["size"] == 1


async def test_each_version_prunes_by_its_own_schema(api: RawClient) -> None:
    narrow = {"type": "object", "properties": {"size": {"type": "integer"}}}
    versions = [version("v1"), version("v2", storage=False, spec=narrow, selectableFields=[])]
    defined = await define(api, versions=versions)
    await api.create(api.at(defined.resource), defined.new("a", spec={"size": 1}))

    reply = await api.get(api.at(f"{GROUP}/v2/{defined.plural}", "a"))

    assert reply.spec == {"size": 1}


async def test_a_version_that_is_not_served_is_not_found(api: RawClient) -> None:
    versions = [version("v1"), version("v2", storage=False, served=False)]
    defined = await define(api, versions=versions)

    assert (await api.get(api.at(f"{GROUP}/v2/{defined.plural}"))).code == 404


async def test_a_deprecated_version_warns(api: RawClient) -> None:
    defined = await define(
        api,
        versions=[version("v1", deprecated=True), version("v2", storage=False)],
    )

    reply = await api.get(api.at(defined.resource))

    kind = defined.kind
    assert reply.warnings == [f"{GROUP}/v1 {kind} is deprecated; use {GROUP}/v2 {kind}"]


async def test_a_deprecated_version_may_have_its_own_warning(api: RawClient) -> None:
    first = version("v1", deprecated=True, deprecationWarning="use v2")
    defined = await define(api, versions=[first, version("v2", storage=False)])

    assert (await api.get(api.at(defined.resource))).warnings == ["use v2"]


async def test_a_cluster_scoped_kind_has_no_namespace(api: RawClient) -> None:
    defined = await define(api, scope="Cluster")
    path = f"/apis/{GROUP}/v1/{defined.plural}"

    created = await api.create(path, defined.new("a", spec={"size": 1}))
    placed = await api.get(api.at(defined.resource))

    assert "namespace" not in created.meta
    assert placed.code == 404


async def test_a_kind_is_removed_with_its_definition(api: RawClient) -> None:
    defined = await define(api)
    await api.create(api.at(defined.resource), defined.new("a", spec={"size": 1}))

    deleted = await api("DELETE", defined.path)
    await gone(api, defined.path)
    response = await gone(api, api.at(defined.resource))

    assert deleted.code == 200
    assert response.code == 404


async def test_objects_do_not_come_back_with_a_new_definition(api: RawClient) -> None:
    defined = await define(api)
    await api.create(api.at(defined.resource), defined.new("a", spec={"size": 1}))
    await api("DELETE", defined.path)
    await gone(api, defined.path)
    await gone(api, api.at(defined.resource))

    body = definition(defined.plural, defined.kind)
    await api.create(DEFINITIONS, body)
    while (reply := await api.get(api.at(defined.resource))).code != 200:
        await asyncio.sleep(0.02)

    assert reply.items == []


async def test_names_in_use_are_not_accepted(api: RawClient, widgets: CustomKind) -> None:
    body = definition("others", "Other", names={"plural": "others", "kind": "Widget"})
    await api.create(DEFINITIONS, body)
    path = f"{DEFINITIONS}/others.{GROUP}"

    while not (found := (await api.get(path)).body["status"].get("conditions")):
        await asyncio.sleep(0.02)
    by_type = {each["type"]: (each["status"], each["reason"]) for each in found}
    await api("DELETE", path)

    assert by_type["NamesAccepted"] == ("False", "ListKindConflict")
    assert by_type["Established"] == ("False", "NotAccepted")


async def test_a_schema_that_preserves_unknown_fields_prunes_nothing(api: RawClient) -> None:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    defined = await define(
        api,
        versions=[
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": schema},
            }
        ],
    )

    reply = await api.create(api.at(defined.resource), defined.new("a", anything={"x": [1]}))

    assert (reply.body["anything"], reply.warnings) == ({"x": [1]}, [])


async def test_an_embedded_object_keeps_its_metadata(api: RawClient) -> None:
    embedded = {
        "type": "object",
        "x-kubernetes-embedded-resource": True,
        "x-kubernetes-preserve-unknown-fields": True,
    }
    spec = {"type": "object", "properties": {"template": embedded}}
    defined = await define(api, versions=[version(spec=spec, selectableFields=[], subresources={})])
    inner = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": {"a": "b"}}

    reply = await api.create(api.at(defined.resource), defined.new("a", spec={"template": inner}))

    assert reply.spec["template"] == inner


async def test_an_embedded_object_needs_its_kind(api: RawClient) -> None:
    embedded = {"type": "object", "x-kubernetes-embedded-resource": True}
    spec = {
        "type": "object",
        "properties": {"template": {**embedded, "x-kubernetes-preserve-unknown-fields": True}},
    }
    defined = await define(api, versions=[version(spec=spec, selectableFields=[], subresources={})])

    reply = await api(
        "POST", api.at(defined.resource), defined.new("a", spec={"template": {"metadata": {}}})
    )

    assert reply.code == 422
    assert ("spec.template.kind", "FieldValueRequired") in reply.causes
