"""JSON merge patch: applied, computed from two documents, and from three."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.patches import (
    PatchError,
    apply_merge_patch,
    merge_patch_between,
    three_way_merge_patch,
)
from kubeloop.patches.values import equal

Json = Any

scalars = st.booleans() | st.integers(-3, 3) | st.text("ab", max_size=2)


def trees(leaves: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    return st.recursive(
        leaves,
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from("abcd"), inner, max_size=4)
        ),
        max_leaves=15,
    )


anything = trees(scalars | st.none())
objects = st.dictionaries(st.sampled_from("abcd"), trees(scalars), max_size=4)
objects_with_nulls = st.dictionaries(st.sampled_from("abcd"), anything, max_size=4)


@pytest.mark.parametrize(
    ("document", "patch", "expected"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        (["a", "b"], ["c", "d"], ["c", "d"]),
        ({"a": "b"}, ["c"], ["c"]),
        ({"a": "foo"}, None, None),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
        ({"a": 1}, {"a": [None, {"b": None}]}, {"a": [None, {}]}),
        ({"a": {}}, {"a": [None, {"b": None}]}, {"a": [None, {"b": None}]}),
    ],
)
def test_objects_merge_null_deletes_and_the_rest_replaces(
    document: Json, patch: Json, expected: Json
) -> None:
    """API-27, API-C11: the cases of the RFC's appendix, and kube-apiserver's rule for lists."""
    assert apply_merge_patch(document, patch) == expected


def test_a_merge_patch_drops_what_the_lists_of_the_document_held() -> None:
    """API-C9: naming one container loses its other variables and the other containers."""
    document = {"containers": [{"name": "a", "env": [{"name": "A"}]}, {"name": "b"}]}
    patch = {"containers": [{"name": "a", "env": [{"name": "B"}]}]}

    assert apply_merge_patch(document, patch) == patch


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"a": 1}, {"a": 1.0}, {}),
        ({"a": 1}, {"a": True}, {"a": True}),
        ({"a": 1, "b": 2}, {"b": 2}, {"a": None}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 3, "c": 2}}, {"a": {"b": 3}}),
        ({"a": {"b": 1}}, {"a": {}}, {"a": {"b": None}}),
        ({}, {"a": {}}, {"a": {}}),
        ({"a": [1]}, {"a": [1, 2]}, {"a": [1, 2]}),
        ({}, {"a": None, "b": {"c": None, "d": 1}}, {"b": {"d": 1}}),
        ({"a": 1}, {"a": None}, {"a": None}),
        ({"a": None}, {"a": None}, {}),
    ],
)
def test_the_difference_says_only_what_changed(old: Json, new: Json, expected: Json) -> None:
    """API-27: and a null in the wished document means absent."""
    assert merge_patch_between(old, new) == expected


def test_the_three_way_patch_keeps_the_changes_of_others() -> None:
    original = {"mine": 1, "dropped": {"x": 1}, "map": {"gone": 1, "kept": 1}}
    modified = {"mine": 2, "map": {"kept": 1}, "new": 1}
    current = {"mine": 1, "dropped": {"x": 1}, "map": {"gone": 1, "kept": 9, "theirs": 1}, "t": 1}

    patch = three_way_merge_patch(original, modified, current)

    assert patch == {"mine": 2, "dropped": None, "map": {"gone": None, "kept": 1}, "new": 1}
    assert apply_merge_patch(current, patch) == {
        "mine": 2,
        "map": {"kept": 1, "theirs": 1},
        "new": 1,
        "t": 1,
    }


@pytest.mark.parametrize("bad", [[], None, "x", 1])
def test_a_difference_needs_objects(bad: Json) -> None:
    with pytest.raises(PatchError, match="an object is needed"):
        merge_patch_between({}, bad)


def test_deep_nesting_is_a_patch_error() -> None:
    deep: Json = {}
    for _ in range(20_000):
        deep = {"a": deep}

    for attempt in (
        lambda: apply_merge_patch({}, deep),
        lambda: apply_merge_patch(deep, {}),
        lambda: merge_patch_between({}, deep),
        lambda: three_way_merge_patch({}, {}, deep),
    ):
        with pytest.raises(PatchError) as error:
            attempt()
        assert error.value.failure == "limit"


@given(objects, objects)
def test_the_difference_applied_to_the_old_gives_the_new(old: Json, new: Json) -> None:
    before = repr((old, new))

    assert equal(apply_merge_patch(old, merge_patch_between(old, new)), new)
    assert repr((old, new)) == before


@given(objects_with_nulls)
def test_an_object_does_not_differ_from_itself(document: Json) -> None:
    assert merge_patch_between(document, copy.deepcopy(document)) == {}


@given(objects_with_nulls, objects_with_nulls)
def test_without_other_changes_the_three_way_patch_is_the_two_way_patch(
    original: Json, modified: Json
) -> None:
    three = three_way_merge_patch(original, modified, copy.deepcopy(original))

    assert three == merge_patch_between(original, modified)


@given(objects, objects, objects)
def test_after_the_patch_every_modified_field_is_set(
    original: Json, modified: Json, current: Json
) -> None:
    patch = three_way_merge_patch(original, modified, current)

    result = apply_merge_patch(current, patch)

    # Wishing again for the same asks for nothing more.
    assert three_way_merge_patch(modified, modified, result) == {}


@given(anything, anything)
def test_any_patch_is_applied_and_the_inputs_are_unchanged(document: Json, patch: Json) -> None:
    before = repr((document, patch))

    result = apply_merge_patch(document, patch)
    for value in result.values() if isinstance(result, dict) else [result]:
        if isinstance(value, list):
            value.append("touched")

    assert repr((document, patch)) == before
