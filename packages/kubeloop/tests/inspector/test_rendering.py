"""Objects as text, and their differences."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.cache import Scope
from kubeloop.inspector.rendering import (
    MAX_LINE_LENGTH,
    MAX_LINES,
    ObjectRenderer,
    difference,
)

SCOPE = Scope("configmaps", kind="ConfigMap", api_version="v1")


def raw(data: dict[str, Any], **metadata: Any) -> bytes:
    return msgspec.json.encode({"metadata": {"name": "a", **metadata}, "data": data})


def test_an_item_of_a_list_gets_its_kind() -> None:
    text = ObjectRenderer().yaml(raw({"colour": "blue"}), SCOPE)

    assert text.splitlines()[:2] == ["apiVersion: v1", "kind: ConfigMap"]
    assert "colour: blue" in text


def test_managed_fields_are_omitted() -> None:
    assert "managedFields" not in ObjectRenderer().yaml(raw({}, managedFields=[{}]), SCOPE)


def test_a_long_object_is_truncated_with_a_note() -> None:
    text = ObjectRenderer().yaml(raw({f"key-{at}": "x" for at in range(MAX_LINES)}), SCOPE)

    assert len(text.splitlines()) == MAX_LINES + 1
    assert text.splitlines()[-1].endswith("more lines")


def test_a_long_line_is_truncated_with_a_note_also_in_differences() -> None:
    old, new = (
        raw({"text": "x" * 2 * MAX_LINE_LENGTH}),
        raw({"text": "x" * 2 * MAX_LINE_LENGTH + "y"}),
    )

    shown = ObjectRenderer().yaml(old, SCOPE).splitlines()
    changed = ObjectRenderer().changes(old, new, SCOPE)

    assert max(map(len, shown)) < 1.1 * MAX_LINE_LENGTH
    assert [line[-22:] for mark, line in changed if mark in "+-"] == [
        "… 4008 more characters",
        "… 4009 more characters",
    ]


def test_a_difference_omits_the_version() -> None:
    old = raw({"colour": "blue"}, resourceVersion="1", generation=1)
    new = raw({"colour": "red"}, resourceVersion="2", generation=2)

    lines = ObjectRenderer().changes(old, new, SCOPE)

    assert [line for line in lines if line[0] in "+-"] == [
        ("-", "  colour: blue"),
        ("+", "  colour: red"),
    ]


def test_a_created_object_is_all_added_and_a_deleted_one_all_removed() -> None:
    renderer = ObjectRenderer()

    assert {mark for mark, _ in renderer.changes(b"", raw({}), SCOPE)} == {"+"}
    assert {mark for mark, _ in renderer.changes(raw({}), b"", SCOPE)} == {"-"}


def test_the_values_of_a_secret_are_hidden_in_differences() -> None:
    scope = Scope("secrets", kind="Secret", api_version="v1")

    lines = ObjectRenderer().changes(
        raw({"password": "swordfish"}), raw({"password": "trout"}), scope
    )

    assert {mark for mark, _ in lines} >= {"+", "-"}
    assert not any("swordfish" in text or "trout" in text for _, text in lines)


def test_objects_too_large_to_compare_are_reported() -> None:
    (line,) = difference([""] * (MAX_LINES + 1), [])

    assert line[0] == "…"
    assert "too large" in line[1]


@given(
    st.lists(st.sampled_from("abcd"), max_size=30), st.lists(st.sampled_from("abcd"), max_size=30)
)
def test_a_difference_has_every_removed_and_added_line(old: list[str], new: list[str]) -> None:
    lines = difference(old, new)

    removed = [text for mark, text in lines if mark == "-"]
    added = [text for mark, text in lines if mark == "+"]
    assert len(old) - len(removed) == len(new) - len(added)
    assert (old == new) == (lines == ())


def test_long_lists_with_few_distinct_lines_are_compared_fast() -> None:
    # A quadratic comparison would take minutes, and exceed the time limit of the test.
    old = [f"- {at % 3}" for at in range(MAX_LINES)]
    new = [f"- {(at * 7 + at // 5) % 3}" for at in range(MAX_LINES)]

    assert {"-", "+"} <= {mark for mark, _ in difference(old, new)}


def test_one_change_among_equal_lines_is_one_change() -> None:
    equal = ["- a"] * (MAX_LINES // 2)

    lines = difference([*equal, *equal], [*equal, "- b", *equal[1:]])

    assert sorted(line for line in lines if line[0] != " ") == [("+", "- b"), ("-", "- a")]
    assert len(lines) == 6
