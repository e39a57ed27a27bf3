"""JSON patch, JSON pointers, and the JSON patch between two documents."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.patches import (
    MAX_OPERATIONS,
    PatchError,
    apply_json_patch,
    format_pointer,
    json_patch_between,
    parse_pointer,
)
from kubeloop.patches.values import equal
from kubeloop.wire.errors import InvalidArgument

Json = Any

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.floats(allow_nan=False, allow_infinity=False, width=16)
    | st.text("ab/~-0", max_size=3)
)
keys = st.text("ab/~-0", max_size=2)
documents = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=15,
)
containers = st.lists(documents, max_size=4) | st.dictionaries(keys, documents, max_size=4)
pointers = st.lists(keys, max_size=3).map(format_pointer) | st.text("ab/~0", max_size=5)
operations = st.fixed_dictionaries(
    {"op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test"])},
    optional={"path": pointers, "from": pointers, "value": documents},
)


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ({"op": "add", "path": "/b", "value": None}, {"a": [1, 2], "b": None}),
        ({"op": "add", "path": "/a", "value": 7}, {"a": 7}),
        ({"op": "add", "path": "/a/1", "value": 7}, {"a": [1, 7, 2]}),
        ({"op": "add", "path": "/a/2", "value": 7}, {"a": [1, 2, 7]}),
        ({"op": "add", "path": "/a/-", "value": 7}, {"a": [1, 2, 7]}),
        ({"op": "add", "path": "/x~1y~0z", "value": 7}, {"a": [1, 2], "x/y~z": 7}),
        ({"op": "add", "path": "/", "value": 7}, {"a": [1, 2], "": 7}),
        ({"op": "remove", "path": "/a"}, {}),
        ({"op": "remove", "path": "/a/0"}, {"a": [2]}),
        ({"op": "replace", "path": "/a/0", "value": 7}, {"a": [7, 2]}),
        ({"op": "move", "from": "/a/0", "path": "/a/1"}, {"a": [2, 1]}),
        ({"op": "move", "from": "/a/0", "path": "/b"}, {"a": [2], "b": 1}),
        ({"op": "move", "from": "/a", "path": "/a"}, {"a": [1, 2]}),
        ({"op": "copy", "from": "/a", "path": "/a/0"}, {"a": [[1, 2], 1, 2]}),
        ({"op": "test", "path": "/a/1", "value": 2}, {"a": [1, 2]}),
        ({"op": "test", "path": "", "value": {"a": [1, 2]}}, {"a": [1, 2]}),
        ({"op": "test", "path": "/a", "value": [1, 2], "note": "ignored"}, {"a": [1, 2]}),
    ],
)
def test_an_operation_does_what_it_says(operation: Json, expected: Json) -> None:
    """API-28: add, remove, replace, move, copy, test; escapes; `-` appends."""
    assert apply_json_patch({"a": [1, 2]}, [operation]) == expected


@pytest.mark.parametrize(
    ("operation", "failure"),
    [
        ({"op": "remove", "path": "/b"}, "missing"),
        ({"op": "remove", "path": "/a/2"}, "missing"),
        ({"op": "remove", "path": "/a/-"}, "malformed"),
        ({"op": "remove", "path": "/a/" + "9" * 300}, "missing"),
        ({"op": "remove", "path": "/a/" + "9" * 9000}, "malformed"),
        ({"op": "replace", "path": "", "value": 7}, "malformed"),
        ({"op": "add", "path": "", "value": [7]}, "malformed"),
        ({"op": "copy", "from": "", "path": "/b"}, "malformed"),
        ({"op": "test", "path": "/a/1", "value": 2.0}, "test"),
        ({"op": "remove", "path": ""}, "malformed"),
        ({"op": "add", "path": "/b/c", "value": 1}, "missing"),
        ({"op": "add", "path": "/a/0/c", "value": 1}, "missing"),
        ({"op": "add", "path": "/a/3", "value": 1}, "missing"),
        ({"op": "add", "path": "/a/x", "value": 1}, "malformed"),
        ({"op": "move", "from": "/a", "path": "/a/0"}, "missing"),
        ({"op": "move", "from": "/b", "path": "/b"}, "missing"),
        ({"op": "test", "path": "/a/0", "value": True}, "test"),
        ({"op": "test", "path": "/a/0", "value": "1"}, "test"),
        ({"op": "test", "path": "/a", "value": [2, 1]}, "test"),
        ({"op": "move", "path": "/b"}, "malformed"),
        ({"op": "add", "path": "b", "value": 1}, "malformed"),
        ({"op": "add", "path": 3, "value": 1}, "malformed"),
        ({"op": "merge", "path": "/b", "value": 1}, "malformed"),
        ({"op": ["add"], "path": "/b", "value": 1}, "malformed"),
        ({"path": "/b", "value": 1}, "malformed"),
        ("add", "malformed"),
        ({"op": "add", "path": "/b", "value": float("nan")}, "malformed"),
        ({"op": "add", "path": "/b", "value": {1: 2}}, "malformed"),
        ({"op": "add", "path": "/b", "value": (1, 2)}, "malformed"),
    ],
)
def test_an_operation_that_cannot_be_done_fails_the_whole_patch(
    operation: Json, failure: str
) -> None:
    """API-28: a failed test or a missing path fails the whole patch."""
    document = {"a": [1, 2]}

    with pytest.raises(PatchError) as error:
        apply_json_patch(document, [{"op": "add", "path": "/z", "value": 1}, operation])

    assert (error.value.failure, error.value.operation) == (failure, 1)
    assert document == {"a": [1, 2]}
    assert "operation 1" in str(error.value)


def test_a_failure_names_the_path_but_never_the_value() -> None:
    document = {"data": {"password": "hunter2"}}
    operation = {"op": "test", "path": "/data/password", "value": "swordfish"}

    with pytest.raises(InvalidArgument) as error:
        apply_json_patch(document, [operation])

    assert isinstance(error.value, PatchError)
    assert error.value.path == "/data/password"
    assert "hunter2" not in str(error.value)
    assert "swordfish" not in str(error.value)


def test_a_patch_has_at_most_ten_thousand_operations() -> None:
    """API-28: the server's limit."""
    operation = {"op": "test", "path": "/a", "value": 1}

    assert apply_json_patch({"a": 1}, [operation] * MAX_OPERATIONS) == {"a": 1}
    with pytest.raises(PatchError, match="at most 10000") as error:
        apply_json_patch({"a": 1}, [operation] * (MAX_OPERATIONS + 1))
    assert error.value.failure == "limit"


def test_copies_of_copies_cannot_fill_the_memory() -> None:
    double = {"op": "copy", "from": "/a", "path": "/a/-"}

    with pytest.raises(PatchError) as error:
        apply_json_patch({"a": ["x" * 1000]}, [double] * 60)

    assert error.value.failure == "limit"


def test_a_patch_without_operations_changes_nothing() -> None:
    assert apply_json_patch({"a": 1}, []) == {"a": 1}


@pytest.mark.parametrize("value", [{}, None, "x"])
def test_a_patch_that_is_not_a_list_is_rejected(value: Json) -> None:
    with pytest.raises(PatchError, match="list of operations"):
        apply_json_patch({}, value)


def nested(levels: int) -> Json:
    value: Json = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("levels", [129, 5000, 50_000])
def test_deep_nesting_is_a_patch_error(levels: int) -> None:
    deep = nested(levels)

    for attempt in (
        lambda: apply_json_patch(deep, []),
        lambda: apply_json_patch({}, [{"op": "add", "path": "/a", "value": deep}]),
        lambda: json_patch_between({}, deep),
    ):
        with pytest.raises(PatchError) as error:
            attempt()
        assert error.value.failure == "limit"


def test_operations_cannot_nest_a_document_absurdly_either() -> None:
    dig = [{"op": "add", "path": "/0" * depth, "value": nested(100)} for depth in (100, 200, 300)]
    dig += [{"op": "copy", "from": "/0", "path": "/-"}]

    with pytest.raises(PatchError) as error:
        apply_json_patch(nested(100), dig)

    assert error.value.failure == "limit"


def test_documents_as_deep_as_allowed_are_handled() -> None:
    deep, other = {"a": nested(127)}, {"a": nested(126)}

    assert apply_json_patch(deep, json_patch_between(deep, other)) == other


@pytest.mark.parametrize(
    ("text", "steps"),
    [("", ()), ("/", ("",)), ("/a/0", ("a", "0")), ("/~01/~1", ("~1", "/")), ("//", ("", ""))],
)
def test_a_pointer_is_read_and_written(text: str, steps: tuple[str, ...]) -> None:
    """API-28: `~0` is `~`, `~1` is `/`."""
    assert parse_pointer(text) == steps
    assert format_pointer(steps) == text


@given(st.lists(st.text()))
def test_a_pointer_survives_parsing_and_formatting(steps: list[str]) -> None:
    assert parse_pointer(format_pointer(steps)) == tuple(steps)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"a": 1}, {"a": 1.0}, []),
        ({"a": 1}, {"a": True}, [{"op": "replace", "path": "/a", "value": True}]),
        (
            {"a": 1},
            {"b": 1},
            [{"op": "remove", "path": "/a"}, {"op": "add", "path": "/b", "value": 1}],
        ),
        ([1, 2, 3], [1, 3], [{"op": "remove", "path": "/1"}]),
        ([1, 3], [1, 2, 3], [{"op": "add", "path": "/1", "value": 2}]),
        ([1, 1], [1], [{"op": "remove", "path": "/1"}]),
        ([{"a": 1}], [{"a": 2}], [{"op": "replace", "path": "/0/a", "value": 2}]),
        ([], {}, [{"op": "replace", "path": "", "value": {}}]),
    ],
)
def test_the_difference_is_small(old: Json, new: Json, expected: Json) -> None:
    assert json_patch_between(old, new) == expected


def test_a_difference_no_server_would_take_becomes_one_replacement() -> None:
    old, new = list(range(MAX_OPERATIONS + 1)), [-1] * (MAX_OPERATIONS + 1)

    assert json_patch_between(old, new) == [{"op": "replace", "path": "", "value": new}]


@pytest.mark.parametrize(("old", "new"), [(1, {}), ({}, None), ("a", "b")])
def test_a_document_that_no_server_patches_has_no_difference(old: Json, new: Json) -> None:
    with pytest.raises(PatchError, match="an object or a list, not"):
        json_patch_between(old, new)


@given(containers, containers)
def test_the_difference_applied_to_the_old_gives_the_new(old: Json, new: Json) -> None:
    before = copy.deepcopy((old, new))

    patch = json_patch_between(old, new)

    assert equal(apply_json_patch(old, patch), new)
    assert repr((old, new)) == repr(before)


@given(containers)
def test_a_document_does_not_differ_from_itself(document: Json) -> None:
    assert json_patch_between(document, copy.deepcopy(document)) == []


@given(documents, st.lists(operations, max_size=4) | documents)
def test_any_patch_is_applied_or_rejected_and_the_inputs_are_unchanged(
    document: Json, patch: Json
) -> None:
    before = repr((document, patch))

    try:
        result = apply_json_patch(document, patch)
    except PatchError:
        result = None
    if isinstance(result, dict):
        result["touched"] = True
    if isinstance(result, list):
        result.append("touched")

    assert repr((document, patch)) == before


def test_the_result_shares_nothing_with_document_or_patch() -> None:
    document: Json = {"a": {"b": []}}
    patch: Json = [
        {"op": "add", "path": "/c", "value": {"d": []}},
        {"op": "copy", "from": "/a", "path": "/e"},
    ]

    result = apply_json_patch(document, patch)
    result["a"]["b"].append(1)
    result["c"]["d"].append(1)

    assert result["e"] == {"b": []}
    assert document == {"a": {"b": []}}
    assert patch[0]["value"] == {"d": []}
