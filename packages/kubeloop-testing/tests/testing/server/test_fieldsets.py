"""Field sets: FieldsV1, set algebra, the fields of an object, differences of objects."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.wire import FieldFacts, InvalidArgument, TypeFacts, facts_of
from kubeloop.wire.apps.v1 import Deployment
from kubeloop.wire.core.v1 import Pod
from kubeloop_testing.server.apply.fieldsets import EMPTY, FieldSet, path_text
from kubeloop_testing.server.apply.object_fields import compare, fields_of
from kubeloop_testing.server.apply.shapes import DEDUCED, Shape, shape_of
from kubeloop_testing.server.schema.schemas import Schema
from kubeloop_testing.server.values.json_values import json_equal

POD = shape_of(facts_of(Pod), api_version="v1", kind="Pod")
DEPLOYMENT = shape_of(facts_of(Deployment), api_version="apps/v1", kind="Deployment")

names = st.sampled_from(["a", "b", "c"])
elements = st.one_of(
    names.map(lambda name: f"f:{name}"),
    st.text(max_size=3).map(
        lambda text: FieldSet.of([f"v:{json.dumps(text)}"]).as_json().popitem()[0]
    ),
    st.integers(0, 300).map(lambda number: f'k:{{"port":{number}}}'),
    st.integers(0, 3).map(lambda number: f"i:{number}"),
)
paths = st.lists(elements, min_size=1, max_size=4)
sets = st.lists(paths, max_size=8).map(lambda found: FieldSet.of(*found))
values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text("xy", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=12,
)
objects = st.dictionaries(names, values, max_size=3)


def texts(fields: FieldSet) -> list[str]:
    return [path_text(path) for path in fields.paths()]


# --- FieldsV1


def test_fieldsv1_is_parsed_and_encoded_unchanged() -> None:
    """API-37: fields, keys, values, indexes, and the element itself."""
    written = {
        "f:metadata": {"f:finalizers": {".": {}, 'v:"a/b"': {}}},
        "f:spec": {
            "f:args": {"i:0": {}},
            "f:containers": {'k:{"name":"web"}': {".": {}, "f:image": {}}},
        },
    }

    assert FieldSet.parse(written).as_json() == written
    assert texts(FieldSet.parse(written)) == [
        ".metadata.finalizers",
        '.metadata.finalizers[="a/b"]',
        ".spec.args[0]",
        '.spec.containers[name="web"]',
        '.spec.containers[name="web"].image',
    ]


@given(sets)
def test_encoding_and_parsing_returns_the_same_set(fields: FieldSet) -> None:
    """API-37: path elements of FieldsV1."""
    assert FieldSet.parse(fields.as_json()) == fields


def test_elements_are_encoded_in_the_order_of_their_values() -> None:
    """API-37: numbers as numbers, so 80 comes before 443."""
    fields = FieldSet.of(['k:{"port":443}'], ['k:{"port":80}'], ["f:b"], ["f:a"])

    assert list(fields.as_json()) == ["f:a", "f:b", 'k:{"port":80}', 'k:{"port":443}']


def test_equal_elements_have_one_normal_form() -> None:
    loose = FieldSet.parse({'k:{ "b": 1.0, "a": "x" }': {}, 'v: "y<"': {}})

    assert loose == FieldSet.parse({'k:{"a":"x","b":1}': {}, 'v:"y\\u003c"': {}})
    assert list(loose.as_json()) == ['k:{"a":"x","b":1}', 'v:"y\\u003c"']


def test_an_unknown_type_of_element_is_dropped() -> None:
    assert FieldSet.parse({"z:new": {}, "f:a": {}}) == FieldSet.of(["f:a"])


@pytest.mark.parametrize(
    "broken", ["text", {"a": {}}, {"": {}}, {"k:[]": {}}, {"k:{": {}}, {"i:x": {}}, {"f:a": 1}]
)
def test_invalid_fieldsv1_is_rejected(broken: object) -> None:
    with pytest.raises(InvalidArgument, match="fieldsV1"):
        FieldSet.parse(broken)


# --- algebra


@given(sets, sets)
def test_the_algebra_is_that_of_sets_of_paths(one: FieldSet, two: FieldSet) -> None:
    mine, theirs = set(one.paths()), set(two.paths())

    assert set((one | two).paths()) == mine | theirs
    assert set((one & two).paths()) == mine & theirs
    assert set((one - two).paths()) == mine - theirs
    assert (one <= two) == (mine <= theirs)
    assert all(path in one for path in mine)
    assert not any(path in one for path in theirs - mine)
    assert bool(one) == bool(mine)


@given(sets, sets)
def test_without_removes_what_is_below_as_well(one: FieldSet, two: FieldSet) -> None:
    gone = set(two.paths())
    kept = {
        path for path in one.paths() if not any(path[: end + 1] in gone for end in range(len(path)))
    }

    assert set(one.without(two).paths()) == kept


@given(sets)
def test_leaves_have_no_path_of_the_set_below_them(fields: FieldSet) -> None:
    found = set(fields.paths())
    leaves = {
        path
        for path in found
        if not any(other != path and other[: len(path)] == path for other in found)
    }

    assert set(fields.leaves().paths()) == leaves


# --- the fields of an object


def test_the_fields_of_an_object_are_its_leaves_elements_and_map_keys() -> None:
    """API-37: path elements of FieldsV1."""
    pod = {
        "metadata": {
            "labels": {"app": "web"},
            "finalizers": ["a/b"],
            "ownerReferences": [{"uid": "1", "name": "x"}],
        },
        "spec": {
            "nodeSelector": {"disk": "ssd"},
            "containers": [
                {
                    "name": "web",
                    "args": ["x"],
                    "ports": [{"containerPort": 80}],
                    "resources": {},
                    "securityContext": {"privileged": True},
                }
            ],
        },
    }

    web = '.spec.containers[name="web"]'
    assert set(texts(fields_of(pod, POD))) == {
        ".metadata.labels.app",
        '.metadata.finalizers[="a/b"]',
        '.metadata.ownerReferences[uid="1"]',  # an owner reference is atomic
        ".spec.nodeSelector",  # an atomic map
        web,
        f"{web}.name",
        f"{web}.args",  # an atomic list
        f'{web}.ports[containerPort=80,protocol="TCP"]',  # with the key's default
        f'{web}.ports[containerPort=80,protocol="TCP"].containerPort',
        f"{web}.resources",  # empty, so it is a leaf itself
        f"{web}.securityContext.privileged",
    }


def test_without_a_schema_objects_are_granular_and_lists_are_atomic() -> None:
    fields = fields_of({"spec": {"a": {"b": 1}, "list": [{"name": "x"}]}}, DEDUCED)

    assert set(texts(fields)) == {".spec", ".spec.a", ".spec.a.b", ".spec.list"}


def test_the_fields_of_a_custom_kind_depend_on_its_schema() -> None:
    shape = custom(
        {
            "ports": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["port", "protocol"],
                "items": {
                    "type": "object",
                    "properties": {
                        "port": {"type": "integer"},
                        "protocol": {"type": "string", "default": "TCP"},
                    },
                },
            },
            "byName": {
                "type": "object",
                "additionalProperties": {
                    "type": "object",
                    "properties": {
                        "tags": {
                            "type": "array",
                            "x-kubernetes-list-type": "set",
                            "items": {"type": "string"},
                        }
                    },
                },
            },
            "ref": {
                "type": "object",
                "x-kubernetes-map-type": "atomic",
                "properties": {"name": {"type": "string"}},
            },
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        }
    )
    spec = {
        "ports": [{"port": 1}],
        "byName": {"x": {"tags": ["t"]}},
        "ref": {"name": "r"},
        "free": {"k": [1]},
    }

    fields = fields_of({"metadata": {"finalizers": ["f"]}, "spec": spec}, shape)

    assert set(texts(fields)) == {
        '.metadata.finalizers[="f"]',
        '.spec.ports[port=1,protocol="TCP"]',
        '.spec.ports[port=1,protocol="TCP"].port',
        ".spec.byName.x",
        '.spec.byName.x.tags[="t"]',
        ".spec.ref",
        ".spec.free.k",
    }


def test_facts_without_a_class_or_a_schema_are_enough_for_lists_and_maps() -> None:
    shape = shape_of(Facts(), api_version="example.com/v1", kind="Site")

    fields = fields_of({"spec": {"rules": [{"name": "a", "to": "b"}], "tags": ["t"]}}, shape)

    assert set(texts(fields)) == {
        '.spec.rules[name="a"]',
        '.spec.rules[name="a"].name',
        '.spec.rules[name="a"].to',
        '.spec.tags[="t"]',
    }


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"containers": [None]}, "null element"),
        ({"containers": ["web"]}, "non-map"),
        ({"hostAliases": [{}]}, ""),
    ],
)
def test_an_element_without_a_key_is_an_error_unless_the_key_has_a_default(
    spec: dict[str, Any], message: str
) -> None:
    if not message:
        assert '.spec.hostAliases[ip=""]' in texts(fields_of({"spec": spec}, POD))
        return
    with pytest.raises(InvalidArgument, match=message):
        fields_of({"spec": spec}, POD)


def test_elements_with_the_same_key_are_owned_together() -> None:
    two = [{"name": "a", "image": "1"}, {"name": "a", "image": "2"}]

    fields = fields_of({"spec": {"containers": two}}, POD)

    assert texts(fields) == ['.spec.containers[name="a"]']


# --- differences


def test_a_new_field_is_added_with_everything_in_it() -> None:
    before: dict[str, Any] = {
        "metadata": {},
        "spec": {"replicas": 1, "paused": True, "template": {"spec": {"containers": None}}},
    }
    after = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"replicas": 2, "template": {"spec": {"containers": [{"name": "web"}]}}},
    }

    found = compare(before, after, DEPLOYMENT)

    # Struct fields without a pointer always exist; only their content is new.
    assert set(texts(found.added)) == {
        ".metadata.labels",
        ".metadata.labels.app",
        '.spec.template.spec.containers[name="web"]',
        '.spec.template.spec.containers[name="web"].name',
    }
    assert texts(found.modified) == [".spec.replicas"]
    assert texts(found.removed) == [".spec.paused"]


def test_a_value_of_another_type_is_modified_and_its_content_is_removed() -> None:
    found = compare({"a": {"b": 1}, "c": 1}, {"a": 1, "c": {"d": 1}}, DEDUCED)

    assert texts(found.modified) == [".a", ".c"]
    assert texts(found.removed) == [".a.b"]
    assert texts(found.added) == [".c.d"]


def test_the_order_of_keyed_elements_does_not_matter() -> None:
    one = {"spec": {"containers": [{"name": "a"}, {"name": "b"}]}}
    two = {"spec": {"containers": [{"name": "b"}, {"name": "a"}]}}

    assert not compare(one, two, POD)


def test_elements_that_get_the_same_key_lose_their_fields() -> None:
    one = {"spec": {"containers": [{"name": "a", "image": "1"}]}}
    two = {"spec": {"containers": [{"name": "a", "image": "1"}, {"name": "a"}]}}

    found = compare(one, two, POD)

    assert texts(found.added) == ['.spec.containers[name="a"]']
    assert '.spec.containers[name="a"].image' in texts(found.removed)
    assert not compare(two, two, POD)


@given(objects, objects)
def test_unequal_objects_always_differ_and_equal_ones_never(
    one: dict[str, Any], two: dict[str, Any]
) -> None:
    found = compare(one, two, DEDUCED)

    assert bool(found) is not json_equal(one, two)
    back = compare(two, one, DEDUCED)
    assert (found.added, found.removed) == (back.removed, back.added)
    assert found.modified == back.modified


@given(objects)
def test_everything_in_a_new_object_is_added(value: dict[str, Any]) -> None:
    found = compare({}, value, DEDUCED)

    assert fields_of(value, DEDUCED) <= found.added
    assert found.modified == found.removed == EMPTY


@pytest.mark.parametrize(
    ("one", "two", "equal"),
    [(1, 1.0, True), (1, True, False), (0, False, False), ([1], [True], False), ({}, None, False)],
)
def test_numbers_are_equal_by_value_and_true_is_not_a_number(
    one: Any, two: Any, equal: bool
) -> None:
    assert json_equal(one, two) is equal
    assert json_equal({"a": [one]}, {"a": [two]}) is equal


# --- types of the tests


class Facts:
    """The merge rules of a small custom kind without a schema."""

    def field(self, name: str) -> FieldFacts:
        return {
            "rules": FieldFacts(list_type="map", list_map_keys=("name",)),
            "tags": FieldFacts(patch_strategies=("merge",)),
        }.get(name, FieldFacts())

    def inside(self, name: str) -> TypeFacts | None:
        return self if name in {"spec", "rules"} else None


def custom(properties: dict[str, Any]) -> Shape:
    raw = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": properties}},
    }
    return shape_of(Schema(raw).facts, api_version="example.com/v1", kind="Site")
