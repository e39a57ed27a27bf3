"""Structural schemas: pruning, defaulting, merge rules."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.wire import NO_FACTS, FieldFacts
from kubeloop_testing.server.schema.schemas import Schema
from kubeloop_testing.server.statuses import StatusError
from tests.testing.server.schema_helpers import SPEC, Json, schema, website

# --- pruning


def test_unknown_fields_are_pruned_and_their_paths_returned() -> None:
    obj = website(size=1, extra=1, ports=[{"port": 1, "x": 2}], free={"any": {"thing": 1}})
    before = copy.deepcopy(obj)

    pruned, unknown = schema().prune(obj)

    assert pruned["spec"] == {"size": 1, "ports": [{"port": 1}], "free": {"any": {"thing": 1}}}
    assert unknown == ["spec.extra", "spec.ports[0].x"]
    assert obj == before


def test_metadata_has_the_fields_of_object_meta_only() -> None:
    obj = {**website(), "metadata": {"name": "shop", "bogus": 1, "labels": {}}}

    pruned, unknown = schema().prune(obj)

    assert pruned["metadata"] == {"name": "shop"}
    assert unknown == ["metadata.bogus"]


def test_metadata_that_cannot_be_decoded_is_a_bad_request() -> None:
    with pytest.raises(StatusError) as refused:
        schema().prune({**website(), "metadata": {"name": "shop", "labels": {"a": 1}}})

    assert refused.value.code == 400


def test_an_object_nested_too_deeply_is_a_bad_request() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]

    with pytest.raises(StatusError, match="exceeded max depth"):
        schema().prune(website(names=deep))
    with pytest.raises(StatusError, match="exceeded max depth"):
        schema().validate(website(names=[deep, deep]))


def test_preserving_unknown_fields_still_prunes_inside_known_ones() -> None:
    free = {
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": True,
        "properties": {"known": {"type": "object", "properties": {"a": {"type": "string"}}}},
    }

    pruned, unknown = schema(free).prune(website(known={"a": "b", "c": 1}, other={"c": 1}))

    assert pruned["spec"] == {"known": {"a": "b"}, "other": {"c": 1}}
    assert unknown == ["spec.known.c"]


def test_additional_properties_true_allows_any_value() -> None:
    spec = {"type": "object", "additionalProperties": True}

    pruned, _ = schema(spec).prune(website(a=1, b={"c": 1}))

    assert pruned["spec"] == {"a": 1, "b": {}}


def test_without_a_schema_everything_stays() -> None:
    obj = website(a={"b": [1]})

    assert Schema(None).prune(obj) == (obj, [])


# --- defaults


def test_defaults_are_set_at_every_depth() -> None:
    filled = schema().default(website(ports=[{"port": 1}, {"port": 2, "protocol": "UDP"}]))

    assert filled["spec"] == {
        "mode": "fast",
        "note": "hello",
        "ports": [{"port": 1, "protocol": "TCP"}, {"port": 2, "protocol": "UDP"}],
    }


def test_a_null_is_replaced_by_the_default_unless_nullable() -> None:
    found = schema()

    decoded = found.without_nulls(website(mode=None, note=None, size=None))

    assert decoded["spec"] == {"mode": None, "note": None}
    assert found.default(decoded)["spec"] == {"mode": "fast", "note": None}


def test_no_default_is_set_inside_a_missing_object() -> None:
    assert schema().default({"kind": "Website"}) == {"kind": "Website"}


# --- facts


def test_a_schema_has_merge_rules_by_field() -> None:
    """API-29, API-37: list types and keys of custom resources come from their schema."""
    facts = schema().facts
    spec = facts.inside("spec")
    assert spec is not None
    ports = spec.inside("ports")

    assert spec.field("ports") == FieldFacts(list_type="map", list_map_keys=("port",))
    assert spec.field("names").list_type == "set"
    assert spec.field("limits").map_type == "atomic"
    assert spec.field("missing") == NO_FACTS
    assert spec.inside("size") is None
    assert spec.inside("free") is None
    assert ports is not None
    assert ports.field("port") == NO_FACTS


def test_metadata_has_the_merge_rules_of_all_metadata() -> None:
    meta = schema().facts.inside("metadata")

    assert meta is not None
    assert meta.field("ownerReferences").list_map_keys == ("uid",)


def test_equal_schemas_are_equal_and_have_the_same_hash() -> None:
    assert schema() == schema()
    assert hash(schema()) == hash(schema())
    assert schema() != Schema(None)


# --- invariants

values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 15) | st.text("ab", max_size=2),
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(st.sampled_from(["size", "mode", "note", "port", "x"]), below, max_size=3)
    ),
    max_leaves=8,
)
specs = st.dictionaries(st.sampled_from([*SPEC["properties"], "unknown"]), values, max_size=5)


@given(specs)
def test_pruning_is_idempotent(spec: Json) -> None:
    once, _ = schema().prune(website(**spec))

    assert schema().prune(once) == (once, [])


@given(specs)
def test_defaulting_by_a_schema_is_idempotent(spec: Json) -> None:
    once = schema().default(website(**spec))

    assert schema().default(once) == once


@given(specs)
def test_what_was_valid_is_valid_after_pruning(spec: Json) -> None:
    obj = website(**spec)
    if not schema().validate(obj):
        assert schema().validate(schema().prune(obj)[0]) == []


@given(specs)
def test_schema_operations_do_not_change_their_arguments(spec: Json) -> None:
    obj = website(**spec)
    before = copy.deepcopy(obj)

    schema().validate(schema().default(schema().prune(obj)[0]))

    assert obj == before


@given(specs)
def test_an_unchanged_object_is_always_valid(spec: Json) -> None:
    obj = website(**spec)

    found = [each for each in schema().validate(obj, obj) if "Duplicate" not in each.reason]

    assert found == [] or all("list-type map" in each.message for each in found)
