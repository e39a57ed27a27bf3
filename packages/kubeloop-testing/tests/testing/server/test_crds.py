"""CustomResourceDefinitions: validation, defaults, the served kind, the status."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from kubeloop_testing.server.schema.crd_status import status_of
from kubeloop_testing.server.schema.crds import (
    AGE_COLUMN,
    Column,
    CustomKind,
    Scale,
    default_crd,
    problems_of_crd,
    with_storage_version,
)
from kubeloop_testing.server.statuses import Cause, StatusError

Json = dict[str, Any]


def version(name: str = "v1", **more: Any) -> Json:
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec()}}}
    return {"name": name, "served": True, "storage": True, "schema": schema, **more}


def spec(**properties: Any) -> Json:
    return {"type": "object", "properties": properties or {"size": {"type": "integer"}}}


def crd(*versions: Json, **more: Any) -> Json:
    names = {"plural": "websites", "kind": "Website"}
    fields = {"group": "example.com", "scope": "Namespaced", "names": names, **more}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "websites.example.com"},
        "spec": {**fields, "versions": list(versions) or [version()]},
    }


def with_schema(schema: Json) -> Json:
    return crd(version(schema={"openAPIV3Schema": schema}))


def problems(definition: Json, old: Json | None = None) -> dict[str, str]:
    found = problems_of_crd(default_crd(definition), old)
    return {each.field: each.message for each in found}


# --- the served kind


def test_a_definition_becomes_a_kind_with_default_names() -> None:
    kind = CustomKind.from_crd(crd())

    assert (kind.group, kind.plural, kind.kind) == ("example.com", "websites", "Website")
    assert (kind.singular, kind.list_kind, kind.namespaced) == ("website", "WebsiteList", True)
    assert (kind.conversion, kind.storage_version) == ("None", "v1")
    assert kind.version("v2") is None


def test_a_version_has_its_columns_fields_and_subresources() -> None:
    column = {"name": "Size", "type": "integer", "jsonPath": ".spec.size", "priority": 1}
    paths = {
        "specReplicasPath": ".spec.size",
        "statusReplicasPath": ".status.size",
        "labelSelectorPath": ".status.selector",
    }
    full = version(
        additionalPrinterColumns=[column],
        selectableFields=[{"jsonPath": ".spec.size"}],
        subresources={"status": {}, "scale": paths},
    )

    found = CustomKind.from_crd(crd(full)).versions[0]

    assert found.columns == (
        Column(
            "Size",
            "integer",
            ".spec.size",
            description="Custom resource definition column (in JSONPath format): .spec.size",
            priority=1,
        ),
    )
    assert found.selectable_fields == ("spec.size",)
    assert found.has_status
    assert found.scale == Scale(".spec.size", ".status.size", ".status.selector")


def test_without_columns_the_age_is_the_column() -> None:
    assert CustomKind.from_crd(crd()).versions[0].columns == (AGE_COLUMN,)


def test_equal_definitions_make_equal_kinds() -> None:
    assert CustomKind.from_crd(crd()) == CustomKind.from_crd(copy.deepcopy(crd()))
    assert CustomKind.from_crd(crd()) != CustomKind.from_crd(crd(scope="Cluster"))


def test_an_invalid_definition_is_rejected_with_every_cause() -> None:
    with pytest.raises(StatusError) as refused:
        CustomKind.from_crd(crd(version(storage=False), group="example"))

    assert refused.value.code == 422
    assert [each["field"] for each in refused.value.status["details"]["causes"]] == [
        "metadata.name",
        "spec.group",
        "spec.versions",
        "status.storedVersions",
    ]


def test_defaulting_a_definition_is_pure_and_idempotent() -> None:
    definition = crd()
    before = copy.deepcopy(definition)

    once = default_crd(definition)

    assert definition == before
    assert default_crd(once) == once
    assert once["spec"]["conversion"] == {"strategy": "None"}
    assert once["status"]["storedVersions"] == ["v1"]


# --- validation


@pytest.mark.parametrize(
    ("definition", "field", "message"),
    [
        (crd(scope="World"), "spec.scope", "Unsupported value"),
        (crd(scope=""), "spec.scope", "Required value"),
        (crd(group="example"), "spec.group", "should be a domain with at least one dot"),
        (
            {**crd(), "metadata": {"name": "sites.example.com"}},
            "metadata.name",
            'must be spec.names.plural+"."+spec.group',
        ),
        (crd(version(), version()), "spec.versions", "must have exactly one version marked"),
        (
            crd(version(), version(storage=False)),
            "spec.versions",
            "must contain unique version names",
        ),
        (crd(version("V1")), "spec.versions[0].name", "DNS-1035"),
        (crd(version(schema=None)), "spec.versions[0].schema.openAPIV3Schema", "Required value"),
        (
            crd(names={"plural": "websites", "kind": "Website", "listKind": "Website"}),
            "spec.names.listKind",
            "kind and listKind may not be the same",
        ),
        (
            crd(version(deprecationWarning="old")),
            "spec.versions[0].deprecationWarning",
            "can only be set for deprecated versions",
        ),
        (
            crd(version(subresources={"scale": {"specReplicasPath": ".status.x"}})),
            "spec.subresources.scale.specReplicasPath",
            "should be a json path under .spec",
        ),
        (
            crd(version(additionalPrinterColumns=[{"name": "A", "type": "int"}])),
            "spec.additionalPrinterColumns[0].type",
            "must be one of boolean,date,integer,number,string",
        ),
        (
            crd(version(selectableFields=[{"jsonPath": ".spec.missing"}])),
            "spec.selectableFields[0].jsonPath",
            "is an invalid path",
        ),
        (
            crd(version(selectableFields=[{"jsonPath": ".spec"}])),
            "spec.selectableFields[0].jsonPath",
            "must point to a field of type string, boolean or integer",
        ),
        (
            crd(conversion={"strategy": "Magic"}),
            "spec.conversion.strategy",
            "Unsupported value",
        ),
        (
            crd(preserveUnknownFields=True),
            "spec.preserveUnknownFields",
            "cannot set to true",
        ),
    ],
)
def test_an_invalid_definition_is_reported(definition: Json, field: str, message: str) -> None:
    assert message in problems(definition)[field]


PLACE = "spec.validation.openAPIV3Schema"


@pytest.mark.parametrize(
    ("schema", "field", "message"),
    [
        ({}, "spec.validation.openAPIV3Schema.type", "Required value"),
        ({"properties": {}}, f"{PLACE}.type", "must not be empty at the root"),
        ({"type": "string"}, f"{PLACE}.type", "must be object at the root"),
        (spec(a={"description": "?"}), f"{PLACE}.properties[a].type", "must not be empty"),
        (spec(a={"type": "array"}), f"{PLACE}.properties[a].items", "must be specified"),
        (spec(a={"type": "text"}), f"{PLACE}.properties[a].type", "Unsupported value"),
        (
            spec(a={"type": "string", "pattern": "("}),
            f"{PLACE}.properties[a].pattern",
            "must be a valid regular expression",
        ),
        (
            spec(a={"type": "string", "anyOf": [{"type": "string"}]}),
            f"{PLACE}.properties[a].anyOf[0].type",
            "must be empty to be structural",
        ),
        (
            {**spec(a={"type": "string"}), "anyOf": [{"properties": {"b": {"minLength": 1}}}]},
            f"{PLACE}.properties[b]",
            f"because it is defined in {PLACE}.anyOf[0].properties[b]",
        ),
        (
            spec(a={"type": "string", "default": 1}),
            f"{PLACE}.properties[a].default",
            "must be of type string",
        ),
        (
            spec(a={"type": "object", "properties": {}, "default": {"x": 1}}),
            f"{PLACE}.properties[a].default",
            "must not have unknown fields",
        ),
        (
            spec(metadata={"type": "object", "properties": {"labels": {"type": "object"}}}),
            f"{PLACE}.properties[metadata]",
            "must not specify anything other than name and generateName",
        ),
        (
            spec(kind={"type": "integer"}),
            f"{PLACE}.properties[kind].type",
            "must be string",
        ),
        (
            spec(a={"type": "array", "items": {"type": "string"}, "uniqueItems": True}),
            f"{PLACE}.properties[a].uniqueItems",
            "cannot be set to true",
        ),
        (
            spec(a={"type": "string", "x-kubernetes-list-type": "set"}),
            f"{PLACE}.properties[a].type",
            "must be array if x-kubernetes-list-type is specified",
        ),
        (
            spec(
                a={
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "items": {"type": "object", "properties": {"k": {"type": "string"}}},
                }
            ),
            f"{PLACE}.properties[a].x-kubernetes-list-map-keys",
            "must not be empty if x-kubernetes-list-type is map",
        ),
        (
            spec(
                a={
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["k"],
                    "items": {"type": "object", "properties": {"k": {"type": "string"}}},
                }
            ),
            f"{PLACE}.properties[a].items.properties[k].default",
            "must have a default or be a required property",
        ),
        (
            spec(
                a={
                    "type": "object",
                    "properties": {"b": {"type": "string"}},
                    "additionalProperties": {"type": "string"},
                }
            ),
            f"{PLACE}.properties[a].additionalProperties",
            "mutual exclusive",
        ),
        (
            spec(a={"type": "object", "x-kubernetes-embedded-resource": True}),
            f"{PLACE}.properties[a].properties",
            "must not be empty if x-kubernetes-embedded-resource is true",
        ),
        (
            spec(a={"$ref": "#/definitions/X", "type": "string"}),
            f"{PLACE}.properties[a].$ref",
            "$ref is not supported",
        ),
        (
            spec(a={"type": "string", "x-kubernetes-validations": [{"rule": " "}]}),
            f"{PLACE}.properties[a].x-kubernetes-validations[0].rule",
            "rule is not specified",
        ),
    ],
)
def test_a_schema_must_be_structural(schema: Json, field: str, message: str) -> None:
    assert message in problems(with_schema(schema))[field]


def test_int_or_string_is_structural() -> None:
    either = [{"type": "integer"}, {"type": "string"}]
    first = {"x-kubernetes-int-or-string": True, "anyOf": either}
    second = {"x-kubernetes-int-or-string": True, "allOf": [{"anyOf": either}, {"pattern": "a"}]}

    assert problems(with_schema(spec(a=first, b=second))) == {}


def test_problems_of_different_versions_have_the_path_of_the_version() -> None:
    bad = version("v2", storage=False, schema={"openAPIV3Schema": spec(a={"type": "array"})})

    found = problems(crd(version(), bad))

    assert list(found) == ["spec.versions[1].schema.openAPIV3Schema.properties[a].items"]


def test_what_identifies_a_kind_cannot_change() -> None:
    old = default_crd(crd())
    old["status"] = {"conditions": [{"type": "Established", "status": "True"}]}
    names = {"plural": "websites", "kind": "Site"}

    found = problems(crd(scope="Cluster", names=names), old)

    assert set(found) == {"spec.scope", "spec.names.kind"}
    assert found["spec.scope"] == 'Invalid value: "Cluster": field is immutable'


def test_a_version_with_stored_objects_cannot_be_removed() -> None:
    new = {**crd(version("v2")), "status": {"storedVersions": ["v1", "v2"]}}

    assert "missing from spec.versions" in problems(new, crd())["status.storedVersions[0]"]


# --- status


def test_a_definition_is_accepted_and_established() -> None:
    status = status_of(default_crd(crd()), now="2024-01-02T03:04:05Z")

    states = {each["type"]: (each["status"], each["reason"]) for each in status["conditions"]}
    assert states == {
        "NamesAccepted": ("True", "NoConflicts"),
        "Established": ("True", "InitialNamesAccepted"),
    }
    assert status["acceptedNames"]["singular"] == "website"
    assert status["storedVersions"] == ["v1"]


def test_names_of_another_definition_are_not_accepted() -> None:
    first = default_crd(crd())
    first["status"] = status_of(first, now="then")
    names = {"plural": "sites", "kind": "Website"}
    second = {**crd(names=names), "metadata": {"name": "sites.example.com"}}

    status = status_of(default_crd(second), [first], now="now")

    assert [(each["status"], each["reason"]) for each in status["conditions"]] == [
        ("False", "ListKindConflict"),
        ("False", "NotAccepted"),
    ]
    assert status["acceptedNames"] == {"plural": "sites", "kind": ""}


def test_computing_the_status_again_changes_nothing() -> None:
    once = default_crd(crd())
    once["status"] = status_of(once, now="then")

    assert status_of(once, [once], now="later") == once["status"]


def test_a_new_storage_version_is_added_to_the_stored_versions() -> None:
    old = default_crd(crd())
    moved = crd(version(storage=False), version("v2"))

    updated = with_storage_version({**moved, "status": old["status"]})

    assert updated["status"]["storedVersions"] == ["v1", "v2"]


def test_every_cause_names_a_reason() -> None:
    found: list[Cause] = problems_of_crd(with_schema(spec(a={"type": "array"})))

    assert all(each.reason.startswith("FieldValue") for each in found)


def test_the_approval_of_a_protected_group_is_a_condition() -> None:
    approvals = {
        "https://github.com/kubernetes/enhancements/pull/1111": ("True", "ApprovedAnnotation"),
        "unapproved, for a test": ("False", "UnapprovedAnnotation"),
        "": ("False", "MissingAnnotation"),
        "yes": ("False", "InvalidAnnotation"),
    }
    for text, expected in approvals.items():
        definition = default_crd(crd(group="example.k8s.io"))
        definition["metadata"]["annotations"] = {"api-approved.kubernetes.io": text}

        found = status_of(definition, now="now")["conditions"][0]

        assert found["type"] == "KubernetesAPIApprovalPolicyConformant"
        assert (found["status"], found["reason"]) == expected


def test_names_that_a_definition_gives_up_are_not_accepted_any_more() -> None:
    names = {"plural": "websites", "kind": "Website", "shortNames": ["w"], "categories": ["all"]}
    old = default_crd(crd(names=names))
    old["status"] = status_of(old, now="then")
    new = default_crd({**crd(), "status": old["status"]})

    accepted = status_of(new, now="now")["acceptedNames"]

    assert "w" in old["status"]["acceptedNames"]["shortNames"]
    assert accepted.keys() == {"plural", "singular", "kind", "listKind"}
