"""Objects as text, and their differences."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.cache import Scope
from kubeloop.inspector.showing import LONGEST_LINE, MOST_LINES, Showing, difference

SCOPE = Scope("configmaps", kind="ConfigMap", api_version="v1")


def raw(data: dict[str, Any], **metadata: Any) -> bytes:
    return msgspec.json.encode({"metadata": {"name": "a", **metadata}, "data": data})


def test_an_object_from_a_list_is_told_what_it_is() -> None:
    text = Showing().yaml(raw({"colour": "blue"}), SCOPE)

    assert text.splitlines()[:2] == ["apiVersion: v1", "kind: ConfigMap"]
    assert "colour: blue" in text


def test_managed_fields_are_left_out() -> None:
    assert "managedFields" not in Showing().yaml(raw({}, managedFields=[{}]), SCOPE)


def test_a_long_object_is_cut_and_says_so() -> None:
    text = Showing().yaml(raw({f"key-{at}": "x" for at in range(MOST_LINES)}), SCOPE)

    assert len(text.splitlines()) == MOST_LINES + 1
    assert text.splitlines()[-1].endswith("more lines")


def test_a_long_line_is_cut_and_says_so_also_where_it_changed() -> None:
    old, new = raw({"text": "x" * 2 * LONGEST_LINE}), raw({"text": "x" * 2 * LONGEST_LINE + "y"})

    shown = Showing().yaml(old, SCOPE).splitlines()
    changed = Showing().changes(old, new, SCOPE)

    assert max(map(len, shown)) < 1.1 * LONGEST_LINE
    assert [line[-22:] for mark, line in changed if mark in "+-"] == [
        "… 4008 more characters",
        "… 4009 more characters",
    ]


def test_a_difference_has_what_changed_and_not_the_version() -> None:
    old = raw({"colour": "blue"}, resourceVersion="1", generation=1)
    new = raw({"colour": "red"}, resourceVersion="2", generation=2)

    lines = Showing().changes(old, new, SCOPE)

    assert [line for line in lines if line[0] in "+-"] == [
        ("-", "  colour: blue"),
        ("+", "  colour: red"),
    ]


def test_what_is_made_is_all_new_and_what_is_gone_is_all_old() -> None:
    showing = Showing()

    assert {mark for mark, _ in showing.changes(b"", raw({}), SCOPE)} == {"+"}
    assert {mark for mark, _ in showing.changes(raw({}), b"", SCOPE)} == {"-"}


def test_the_values_of_a_secret_are_hidden_in_differences() -> None:
    scope = Scope("secrets", kind="Secret", api_version="v1")

    lines = Showing().changes(raw({"password": "swordfish"}), raw({"password": "trout"}), scope)

    assert {mark for mark, _ in lines} >= {"+", "-"}
    assert not any("swordfish" in text or "trout" in text for _, text in lines)


def test_what_is_too_large_to_compare_is_said_to_be_so() -> None:
    (line,) = difference([""] * (MOST_LINES + 1), [])

    assert line[0] == "…"
    assert "too large" in line[1]


@given(
    st.lists(st.sampled_from("abcd"), max_size=30), st.lists(st.sampled_from("abcd"), max_size=30)
)
def test_a_difference_holds_every_line_that_went_or_came(old: list[str], new: list[str]) -> None:
    lines = difference(old, new)

    went = [text for mark, text in lines if mark == "-"]
    came = [text for mark, text in lines if mark == "+"]
    assert len(old) - len(went) == len(new) - len(came)
    assert (old == new) == (lines == ())


def test_long_lists_of_few_words_are_compared_too() -> None:
    # Each line compared with each of its equals would take minutes: the test's limit is the proof.
    old = [f"- {at % 3}" for at in range(MOST_LINES)]
    new = [f"- {(at * 7 + at // 5) % 3}" for at in range(MOST_LINES)]

    assert {"-", "+"} <= {mark for mark, _ in difference(old, new)}


def test_one_change_among_equal_lines_is_one_change() -> None:
    equal = ["- a"] * (MOST_LINES // 2)

    lines = difference([*equal, *equal], [*equal, "- b", *equal[1:]])

    assert sorted(line for line in lines if line[0] != " ") == [("+", "- b"), ("-", "- a")]
    assert len(lines) == 6
