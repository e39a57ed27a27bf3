"""Validation of objects by a schema, with kube-apiserver's messages."""

from __future__ import annotations

from typing import Any

import pytest

from kubeloop_testing.server.schema.schemas import Schema
from tests.testing.server.schema_helpers import SPEC, Json, messages, schema, website


@pytest.mark.parametrize(
    ("rules", "value", "message"),
    [
        ({"type": "integer"}, "x", 'must be of type integer: "string"'),
        ({"type": "integer"}, True, 'must be of type integer: "boolean"'),
        ({"type": "integer"}, 1.5, 'must be of type integer: "number"'),
        ({"type": "string"}, None, 'must be of type string: "null"'),
        ({"type": "array", "items": {"type": "string"}}, {}, 'must be of type array: "object"'),
        (
            {"x-kubernetes-int-or-string": True},
            1.5,
            'must be of type integer,string: "number"',
        ),
        ({"type": "string", "format": "ipv4"}, "1.2.3", 'must be of type ipv4: "1.2.3"'),
        ({"type": "string", "format": "date-time"}, "now", 'must be of type date-time: "now"'),
    ],
)
def test_a_wrong_type_is_reported(rules: Json, value: Any, message: str) -> None:
    found = schema({"type": "object", "properties": {"a": rules}}).validate(website(a=value))

    # An integer with a fraction is also out of the range of integers, which belongs to no field.
    assert [each.reason for each in found if each.field != "<nil>"] == ["FieldValueTypeInvalid"]
    assert found[0].field == "spec.a"
    assert found[0].message.endswith(f": spec.a in body {message}")


@pytest.mark.parametrize(
    ("rules", "value", "message"),
    [
        (
            {"type": "integer", "minimum": 3},
            2,
            "Invalid value: 2: spec.a in body should be greater than or equal to 3",
        ),
        (
            {"type": "integer", "minimum": 3, "exclusiveMinimum": True},
            3,
            "Invalid value: 3: spec.a in body should be greater than 3",
        ),
        (
            {"type": "number", "maximum": 1.5},
            2.5,
            "Invalid value: 2.5: spec.a in body should be less than or equal to 1.5",
        ),
        (
            {"type": "integer", "multipleOf": 4},
            6,
            "Invalid value: 6: spec.a in body should be a multiple of 4",
        ),
        (
            {"type": "string", "minLength": 2},
            "a",
            'Invalid value: "a": spec.a in body should be at least 2 chars long',
        ),
        ({"type": "string", "maxLength": 2}, "abc", "Too long: may not be more than 2 bytes"),
        (
            {"type": "string", "pattern": "^[a-z]+$"},
            "A1",
            "Invalid value: \"A1\": spec.a in body should match '^[a-z]+$'",
        ),
        (
            {"type": "array", "minItems": 2, "items": {"type": "string"}},
            ["a"],
            "Invalid value: 1: spec.a in body should have at least 2 items",
        ),
        (
            {"type": "array", "maxItems": 1, "items": {"type": "string"}},
            ["a", "b"],
            "Too many: 2: must have at most 1 item",
        ),
        (
            {"type": "object", "minProperties": 1, "additionalProperties": {"type": "string"}},
            {},
            "Invalid value: 0: spec.a in body should have at least 1 properties",
        ),
        (
            {"type": "object", "maxProperties": 0, "additionalProperties": {"type": "string"}},
            {"k": "v"},
            "Too many: 1: must have at most 0 items",
        ),
        (
            {"type": "string", "enum": ["x", "y"]},
            "z",
            'Unsupported value: "z": supported values: "x", "y"',
        ),
    ],
)
def test_a_limit_is_reported_with_the_servers_message(
    rules: Json, value: Any, message: str
) -> None:
    found = schema({"type": "object", "properties": {"a": rules}}).validate(website(a=value))

    assert messages(found) == [("spec.a", message)]


def test_a_missing_field_is_reported_at_its_path() -> None:
    spec = {"type": "object", "required": ["size"], "properties": {"size": {"type": "integer"}}}

    assert messages(schema(spec).validate(website())) == [("spec.size", "Required value")]
    assert messages(schema(spec, required=["spec"]).validate({"kind": "Website"})) == [
        ("spec", "Required value")
    ]


def test_elements_and_map_values_have_their_own_paths() -> None:
    found = schema().validate(website(ports=[{"port": "x"}], limits={"cpu": {"max": "much"}}))

    assert {each.field for each in found} == {"spec.ports[0].port", "spec.limits.cpu.max"}


@pytest.mark.parametrize(
    ("rules", "first"),
    [
        (
            {"anyOf": [{"minimum": 5}, {"maximum": 1}]},
            '"spec.a" must validate at least one schema (anyOf)',
        ),
        (
            {"oneOf": [{"minimum": 1}, {"maximum": 9}]},
            '"spec.a" must validate one and only one schema (oneOf). Found 2 valid alternatives',
        ),
        (
            {"oneOf": [{"minimum": 5}, {"maximum": 1}]},
            '"spec.a" must validate one and only one schema (oneOf). Found none valid',
        ),
        ({"not": {"minimum": 1}}, '"spec.a" must not validate the schema (not)'),
    ],
)
def test_alternatives_belong_to_no_field(rules: Json, first: str) -> None:
    spec = {"type": "object", "properties": {"a": {"type": "integer", **rules}}}

    found = schema(spec).validate(website(a=3))

    assert (found[0].field, found[0].message) == ("<nil>", f'Invalid value: "": {first}')


def test_all_of_reports_the_problems_before_the_summary() -> None:
    rules = {"type": "integer", "allOf": [{"minimum": 5}, {"maximum": 9}]}

    found = schema({"type": "object", "properties": {"a": rules}}).validate(website(a=3))

    assert [each.field for each in found] == ["spec.a", "<nil>"]
    assert found[1].message == 'Invalid value: "": "spec.a" must validate all the schemas (allOf)'


def test_sets_and_maps_have_no_duplicates() -> None:
    found = schema().validate(
        website(names=["a", "b", "a", "a"], ports=[{"port": 1}, {"port": 1, "protocol": "UDP"}])
    )

    assert messages(found) == [
        ("spec.names[2]", 'Duplicate value: "a"'),
        ("spec.ports[1]", 'Duplicate value: {"port":1}'),
    ]


def test_true_is_not_one_in_a_set() -> None:
    spec = {
        "type": "object",
        "properties": {
            "a": {
                "type": "array",
                "x-kubernetes-list-type": "set",
                "items": {"x-kubernetes-preserve-unknown-fields": True},
            }
        },
    }

    assert schema(spec).validate(website(a=[1, True])) == []


def test_unchanged_values_are_not_validated_again() -> None:
    old = website(size=99, mode="fast", ports=[{"port": 1, "protocol": 7}])
    new = website(size=99, mode="slow", ports=[{"port": 2}, {"port": 1, "protocol": 7}])

    assert schema().validate(new, old) == []
    assert [each.field for each in schema().validate(website(size=98), old)] == ["spec.size"]


def test_a_write_to_the_status_validates_the_status_only() -> None:
    status = {"type": "object", "properties": {"ready": {"type": "integer"}}}
    whole = Schema({"type": "object", "properties": {"spec": SPEC, "status": status}})
    obj = {**website(size="x"), "status": {"ready": "y"}}

    found = whole.validate(obj, website(size="x"), subresource="status")

    assert messages(found) == [
        (
            "status.ready",
            'Invalid value: "string": ready in body must be of type integer: "string"',
        )
    ]


def test_cel_rules_are_reported_as_unchecked_after_other_problems() -> None:
    spec = {**SPEC, "x-kubernetes-validations": [{"rule": "self.size == 3"}]}

    assert schema(spec).validate(website(size=4)) == []
    assert schema(spec).validate(website(size="x"))[-1].message == (
        "Invalid value: null: some validation rules were not checked because the object was "
        "invalid; correct the existing errors to complete validation"
    )


def test_an_embedded_resource_requires_kind_and_version() -> None:
    embedded = {
        "type": "object",
        "x-kubernetes-embedded-resource": True,
        "x-kubernetes-preserve-unknown-fields": True,
    }
    spec = {"type": "object", "properties": {"template": embedded}}

    found = schema(spec).validate(website(template={"kind": "No Kind"}))

    assert [(each.field, each.reason) for each in found] == [
        ("spec.template.apiVersion", "FieldValueRequired"),
        ("spec.template.kind", "FieldValueInvalid"),
    ]
