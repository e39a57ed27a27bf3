"""Selecting objects by their labels."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.errors import InvalidArgument
from kubeloop.selectors import (
    EVERYTHING,
    NOTHING,
    Label,
    LabelOperator,
    Requirement,
    Selector,
    as_selector,
    parse_labels,
    selector_from_map,
    selector_from_wire,
    selector_text,
)
from kubeloop.wire.meta.v1 import LabelSelector, LabelSelectorRequirement


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        pytest.param("d,b!=c,a in (y,x),!e", "a in (x,y),b!=c,d,!e", id="V-4"),
        pytest.param("x in (a,,)", "x in (,a)", id="V-4 empty"),
        pytest.param("in", "in", id="V-4 word"),
        pytest.param("x notin (, a)", "x notin (,a)", id="API-C1 notin"),
        pytest.param("a in (x,y,notin, z,in)", "a in (in,notin,x,y,z)", id="API-C1 words"),
        pytest.param("\rx", "x", id="API-C1 carriage return"),
        pytest.param("x= ,z= ", "x=,z=", id="API-C1 empty values"),
        pytest.param("", "", id="API-6"),
        pytest.param(" \t\r\n", "", id="API-1 only space"),
        pytest.param("a=1", "a=1", id="API-7 ="),
        pytest.param("a == 1", "a==1", id="API-7 =="),
        pytest.param("a!=", "a!=", id="API-3 !="),
        pytest.param("a in ()", "a in ()", id="API-3 ()"),
        pytest.param("a in (,)", "a in ()", id="API-3 (,)"),
        pytest.param("a in (b,b , b)", "a in (b)", id="API-3 collapse"),
        pytest.param("a>1,b < 007", "a>1,b<007", id="API-4"),
        pytest.param("in in (in)", "in in (in)", id="API-2 key"),
        pytest.param("notin=notin", "notin=notin", id="API-2 value"),
        pytest.param("!notin", "!notin", id="API-2 missing"),
        pytest.param("a\tin\n(x)\r,\n! b", "a in (x),!b", id="API-1 space"),
        pytest.param("example.com/app=web", "example.com/app=web", id="API-8"),
        pytest.param("b,a=1,a!=2", "a=1,a!=2,b", id="API-7 same key"),
    ],
)
def test_a_selector_is_read_and_printed_in_its_canonical_form(text: str, canonical: str) -> None:
    selector = parse_labels(text)

    assert str(selector) == canonical
    assert parse_labels(canonical) == selector


@pytest.mark.parametrize(
    "text",
    [
        "x,,y",
        ",x,y",
        "x,",
        ",",
        "a in (xyz),",
        "a in (xyz)b notin ()",
        "a in (xyz abc)",
        "a notin(",
        "a in",
        "a in x",
        "a in (x",
        "a in (x=y)",
        "(",
        "x nott in (y)",
        "x IN (y)",
        "x=a||y=b",
        "x==a==b",
        "x===a",
        "!x=a",
        "!",
        "!!x",
        "x!",
        "x y",
        "x<a",
        "x>",
        "x>1,y>=2",
        "x<9223372036854775808",
        "x>-1",
        "x=-",
        "-x",
        "x=" + "v" * 64,
        "a/b/c=d",
        "x\x00",
    ],
)
def test_text_outside_the_grammar_is_refused(text: str) -> None:
    """API-C1, API-2, API-4, API-8: grammar of label selectors."""
    with pytest.raises(InvalidArgument):
        parse_labels(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,,y", "found ',' at position 2, expected a key or '!'"),
        ("a in (xyz abc)", "found 'abc' at position 10, expected ',' or '\\)'"),
        ("a in", "found the end at position 4, expected '\\('"),
        ("x nott in (y)", "found 'nott' at position 2, expected an operator"),
        ("!x=a", "found '=' at position 2, expected ',' or the end"),
        ("a,b = c d", "found 'd' at position 8, expected ',' or the end"),
        ("a,b = c||d", "at position 6, label value 'c||d'".replace("|", "\\|")),
        ("a, -b", "at position 3, label key '-b'"),
        ("a > b", "at position 4, label 'a': operator > needs a 64-bit integer, found 'b'"),
        ("x=(", "found '\\(' at position 2, expected a value"),
    ],
)
def test_the_error_names_the_position_and_what_was_expected(text: str, message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        parse_labels(text)


@pytest.mark.parametrize(
    ("text", "labels", "selected"),
    [
        pytest.param("env!=prod", {}, True, id="API-C2 !="),
        pytest.param("env notin (prod)", {}, True, id="API-C2 notin"),
        pytest.param("env in ()", {}, False, id="API-C2 in ()"),
        pytest.param("env in ()", {"env": ""}, True, id="API-C2 in () empty"),
        pytest.param("env in ()", {"env": "prod"}, False, id="API-C2 in () other"),
        pytest.param("env=", {}, False, id="API-5 = needs the key"),
        pytest.param("env!=", {}, True, id="API-5 != does not"),
        pytest.param("env=prod", {"env": "prod"}, True, id="API-5 ="),
        pytest.param("env==prod", {"env": "test"}, False, id="API-5 =="),
        pytest.param("env!=prod", {"env": "prod"}, False, id="API-5 !="),
        pytest.param("env notin (prod)", {"env": "prod"}, False, id="API-5 notin"),
        pytest.param("env", {"env": ""}, True, id="API-5 exists"),
        pytest.param("env", {}, False, id="API-5 exists not"),
        pytest.param("!env", {}, True, id="API-5 missing"),
        pytest.param("!env", {"env": ""}, False, id="API-5 missing not"),
        pytest.param("n>5", {"n": "6"}, True, id="API-4 >"),
        pytest.param("n>5", {"n": "5"}, False, id="API-4 > equal"),
        pytest.param("n<5", {"n": "-7"}, True, id="API-4 <"),
        pytest.param("n<5", {"n": "5"}, False, id="API-4 < equal"),
        pytest.param("n<5", {}, False, id="API-4 missing"),
        pytest.param("n>5", {"n": "six"}, False, id="API-4 no integer"),
        pytest.param("n>5", {"n": "1_0"}, False, id="API-4 no integer to Go"),
        pytest.param("n>5", {"n": "9223372036854775808"}, False, id="API-4 over 64 bits"),
        pytest.param("n>5", {"n": "9223372036854775807"}, True, id="API-4 just 64 bits"),
        pytest.param("n>5", {"n": "7" * 5000}, False, id="API-4 endless"),
        pytest.param("a=1,b", {"a": "1"}, False, id="API-1 all must hold"),
        pytest.param("a=1,a=2", {"a": "1"}, False, id="API-1 contradiction"),
        pytest.param("a=1,b=2,!c", {"a": "1", "b": "2"}, True, id="API-1 three"),
        pytest.param("a=1,b=2,!c", {"a": "1", "b": "2", "c": ""}, False, id="API-1 last fails"),
    ],
)
def test_labels_match_by_the_rules_of_the_api(
    text: str, labels: Mapping[str, str], selected: bool
) -> None:
    assert parse_labels(text).matches(labels) is selected


def test_an_empty_selector_matches_everything_and_nothing_matches_nothing() -> None:
    """API-6: empty selectors and Nothing."""
    assert EVERYTHING.matches({})
    assert EVERYTHING.is_everything
    assert not NOTHING.matches({})
    assert NOTHING.is_nothing
    assert str(NOTHING) == str(EVERYTHING) == ""
    assert NOTHING != EVERYTHING == parse_labels("")
    assert not NOTHING.is_everything
    assert not EVERYTHING.is_nothing


def test_nothing_stays_nothing_with_any_requirement() -> None:
    """API-6: empty selectors and Nothing."""
    assert NOTHING & Label("a").exists() is NOTHING
    assert Label("a").exists() & NOTHING is NOTHING


def test_builders_give_the_same_selector_as_text() -> None:
    built = (
        Label("a").equals("1")
        & Label("b").not_equals("2")
        & Label("c").in_("y", "x", "x")
        & Label("d").not_in("z")
        & Label("e").exists()
        & Label("f").missing()
        & Label("g").greater(7)
        & Label("h").less(9)
    )

    assert str(built) == "a=1,b!=2,c in (x,y),d notin (z),e,!f,g>7,h<9"
    assert built == parse_labels(str(built))
    assert hash(built) == hash(parse_labels(str(built)))


def test_builders_refuse_what_no_label_can_have() -> None:
    """API-8, API-4: validation of requirements."""
    with pytest.raises(InvalidArgument, match="label key"):
        Label("a b")
    with pytest.raises(InvalidArgument, match="label value"):
        Label("a").equals("b c")
    with pytest.raises(InvalidArgument, match="at least one value"):
        Label("a").in_()
    with pytest.raises(InvalidArgument):
        Label("a").greater(-1)


def test_the_order_of_requirements_makes_no_difference() -> None:
    assert parse_labels("a=1,a!=2") == parse_labels("a!=2,a=1")
    assert parse_labels("a=1") != parse_labels("a==1")
    assert parse_labels("a=1") != "a=1"


def test_a_map_is_validated_unless_that_is_declined() -> None:
    """API-8: label keys and values."""
    with pytest.raises(InvalidArgument):
        selector_from_map({"a b": "c"})
    with pytest.raises(InvalidArgument):
        selector_from_map({"a": "b c"})

    trusting = selector_from_map({"b": "x y", "a b": "c"}, validate=False)

    assert str(trusting) == "a b=c,b=x y"
    assert trusting.matches({"a b": "c", "b": "x y"})


def test_a_selector_may_be_given_in_three_forms() -> None:
    selector = parse_labels("app=web")

    assert as_selector(selector) is selector
    assert as_selector("app=web") == as_selector({"app": "web"}) == selector


def test_no_label_selector_selects_nothing_and_an_empty_one_everything() -> None:
    """API-9, API-C3: LabelSelector objects."""
    assert selector_from_wire(None) is NOTHING
    assert selector_from_wire(LabelSelector()) == EVERYTHING
    assert selector_from_wire({}) == EVERYTHING


def test_match_labels_and_match_expressions_are_joined() -> None:
    """API-9: for the model and the dict alike."""
    as_dict = {
        "matchLabels": {"app": "web"},
        "matchExpressions": [
            {"key": "env", "operator": "In", "values": ["b", "a"]},
            {"key": "env", "operator": "NotIn", "values": ["c"]},
            {"key": "x", "operator": "Exists"},
            {"key": "y", "operator": "DoesNotExist", "values": []},
        ],
    }

    selector = selector_from_wire(as_dict)

    assert str(selector) == "app=web,env in (a,b),env notin (c),x,!y"
    assert selector_from_wire(LabelSelector.from_dict(as_dict)) == selector


@pytest.mark.parametrize(
    ("operator", "values"),
    [("In", []), ("NotIn", []), ("Exists", ["a"]), ("DoesNotExist", ["a"]), ("in", ["a"])],
)
def test_a_label_selector_that_makes_no_sense_is_refused(operator: str, values: list[str]) -> None:
    """API-9: LabelSelector objects."""
    wire = LabelSelector(
        match_expressions=[LabelSelectorRequirement(key="k", operator=operator, values=values)]
    )

    with pytest.raises(InvalidArgument, match="'k'"):
        selector_from_wire(wire)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a=1", "1"),
        ("a==1", "1"),
        ("a in (1)", "1"),
        ("a in (1,2)", None),
        ("a!=1", None),
        ("a", None),
        ("b=1", None),
        ("a!=2,a=1", None),
        ("a=1,a!=2", "1"),
        ("a>1", None),
    ],
)
def test_the_first_requirement_on_a_key_may_allow_one_value_only(
    text: str, value: str | None
) -> None:
    """API-10: RequiresExactMatch."""
    assert parse_labels(text).exact_value("a") == value


def test_an_object_relabelled_out_of_the_selector_is_no_longer_selected() -> None:
    """API-C16, the part that needs no server."""
    selector = parse_labels("app=web")

    before, after = selector.matches({"app": "web"}), selector.matches({"app": "old"})

    assert (before, after) == (True, False)


@pytest.mark.parametrize("selector", [EVERYTHING, NOTHING, parse_labels("a=1,b")])
def test_selectors_survive_copies_and_pickles(selector: Selector) -> None:
    assert copy.deepcopy(selector) == selector
    assert pickle.loads(pickle.dumps(selector)) == selector
    assert repr(selector) == ("NOTHING" if selector.is_nothing else f"parse_labels('{selector}')")


# --- against a naive model --------------------------------------------------------------

keys = st.sampled_from(["a", "b", "in", "example.com/c"])
values = st.sampled_from(["", "1", "2", "10", "x", "notin"])
label_maps = st.dictionaries(keys, st.one_of(values, st.sampled_from(["-5", "x y", "+3"])))


@st.composite
def requirements(draw: st.DrawFn) -> Requirement:
    operators: list[LabelOperator] = ["=", "==", "!=", "in", "notin", "exists", "!", ">", "<"]
    operator = draw(st.sampled_from(operators))
    match operator:
        case "exists" | "!":
            chosen: set[str] = set()
        case "in" | "notin":
            chosen = draw(st.sets(values, min_size=1))
        case ">" | "<":
            chosen = {draw(st.sampled_from(["0", "1", "007", "9223372036854775807"]))}
        case _:
            chosen = {draw(values)}
    return Requirement(draw(keys), operator, tuple(sorted(chosen)))


selectors = st.lists(requirements(), max_size=5).map(lambda each: Selector(*each))


def matches_naively(requirement: Requirement, labels: Mapping[str, str]) -> bool:
    there, value = requirement.key in labels, labels.get(requirement.key, "")
    wanted = list(requirement.values)
    match requirement.operator:
        case "=" | "==" | "in":
            return there and value in wanted
        case "!=" | "notin":
            return not there or value not in wanted
        case "exists":
            return there
        case "!":
            return not there
    digits = value.lstrip("+-")
    if not there or not digits.isdigit():
        return False
    number, limit = int(value), int(wanted[0])
    return number > limit if requirement.operator == ">" else number < limit


@given(selectors)
def test_what_is_printed_parses_back_to_the_same_selector(selector: Selector) -> None:
    """API-7: canonical text of selectors."""
    again = parse_labels(str(selector))

    assert again == selector
    assert str(again) == str(selector)
    assert hash(again) == hash(selector)


@given(selectors, label_maps)
def test_matching_agrees_with_a_naive_model(selector: Selector, labels: dict[str, str]) -> None:
    """API-4, API-5: matching of label selectors."""
    wanted = all(matches_naively(each, labels) for each in selector.requirements)

    assert selector.matches(labels) is wanted
    assert parse_labels(str(selector)).matches(labels) is wanted


@given(selectors, selectors, label_maps)
def test_a_joined_selector_matches_what_both_match(
    left: Selector, right: Selector, labels: dict[str, str]
) -> None:
    assert (left & right).matches(labels) == (left.matches(labels) and right.matches(labels))


@given(st.text("ab=!<>(), in\t\r\nnot/.-1", max_size=20))
def test_any_text_either_parses_to_what_prints_alike_or_is_refused(text: str) -> None:
    """API-7: canonical text is stable."""
    try:
        selector = parse_labels(text)
    except InvalidArgument:
        return
    assert parse_labels(str(selector)) == selector


@pytest.mark.parametrize("value", [None, 7, ["a"], False])
def test_other_types_than_selectors_are_rejected(value: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"label selector .*expected text"):
        as_selector(value)


@pytest.mark.parametrize(
    "value",
    [
        {"matchLabel": {"app": "web"}},
        {"matchLabels": {"app": "web"}, "matchFields": []},
        {"matchExpressions": [{"key": "a", "operator": "Exists", "value": ["x"]}]},
    ],
)
def test_a_selector_with_an_unknown_field_is_rejected(value: Any) -> None:
    """API-9: leaving it out would select more than was meant."""
    with pytest.raises(InvalidArgument, match=r"unknown field (match|value)"):
        selector_from_wire(value)


def test_a_selector_that_selects_nothing_is_never_sent_as_everything() -> None:
    """API-6: its text is empty, and an empty text selects everything."""
    with pytest.raises(InvalidArgument, match="selects nothing"):
        selector_text(NOTHING)
    assert selector_text({"app": "web"}) == "app=web"
    assert selector_text(EVERYTHING) == ""
