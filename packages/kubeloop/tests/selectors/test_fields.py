"""Selecting objects by field."""

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
    ALL_FIELDS,
    NO_FIELDS,
    Field,
    FieldSelector,
    FieldTerm,
    as_field_selector,
    escape_field_value,
    field_selector_from_map,
    parse_fields,
    unescape_field_value,
)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        pytest.param("a==b", "a=b", id="V-4"),
        pytest.param("", "", id="API-C4 empty"),
        pytest.param(",,", "", id="API-11 only commas"),
        pytest.param("a=1,,", "a=1", id="API-11 empty terms"),
        pytest.param("b=1,a!=2", "a!=2,b=1", id="API-13 sorted"),
        pytest.param("a==z,a=b", "a=z,a=b", id="API-13 by their source"),
        pytest.param("a=", "a=", id="API-12 empty value"),
        pytest.param(r"metadata.name=a\,b", r"metadata.name=a\,b", id="API-C4 escaped comma"),
        pytest.param(r"x=a\=\=b", r"x=a\=\=b", id="API-12 escaped equals"),
        pytest.param(r"x=\\", r"x=\\", id="API-12 escaped backslash"),
        pytest.param("a!b=c", "a!b=c", id="API-11 a lone mark"),
        pytest.param("a! =c", "a! =c", id="API-11 no space is skipped"),
    ],
)
def test_a_field_selector_is_read_and_printed(text: str, canonical: str) -> None:
    selector = parse_fields(text)

    assert str(selector) == canonical
    assert parse_fields(canonical) == selector


@pytest.mark.parametrize(
    ("text", "field", "operator", "value"),
    [
        pytest.param(r"metadata.name=a\,b", "metadata.name", "=", "a,b", id="API-C4"),
        pytest.param("a!=b", "a", "!=", "b", id="API-11 !="),
        pytest.param("a==b", "a", "=", "b", id="API-11 =="),
        pytest.param("a!!=b", "a!", "!=", "b", id="API-11 leftmost"),
        pytest.param(r"a\,b=c", r"a\,b", "=", "c", id="API-12 fields are not escaped"),
    ],
)
def test_a_term_is_divided_at_its_first_operator(
    text: str, field: str, operator: str, value: str
) -> None:
    (term,) = parse_fields(text).terms

    assert (term.field, term.operator, term.value) == (field, operator, value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("a=b=c", r"write '=' as '\\='", id="API-C4 ="),
        pytest.param("x", "found 'x' at position 0, expected =, == or !=", id="API-C4 x"),
        pytest.param("a=1,bc", "found 'bc' at position 4", id="API-11"),
        pytest.param("x==a==b", r"write '='", id="API-11 =="),
        pytest.param(r"x=\a", "expected one of", id="API-12 unknown escape"),
        pytest.param("x=a\\", "expected one of", id="API-12 trailing"),
    ],
)
def test_text_outside_the_grammar_is_refused(text: str, message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        parse_fields(text)


@pytest.mark.parametrize(
    ("text", "fields", "selected"),
    [
        pytest.param("x!=a", {}, True, id="API-13 !="),
        pytest.param("x=", {}, True, id="API-13 empty"),
        pytest.param("x=a", {}, False, id="API-13 ="),
        pytest.param("x!=", {}, False, id="API-13 != empty"),
        pytest.param("x=a,y!=b", {"x": "a", "y": "c"}, True, id="API-11 both"),
        pytest.param("x=a,y!=b", {"x": "a", "y": "b"}, False, id="API-11 one"),
    ],
)
def test_a_missing_field_compares_as_empty(
    text: str, fields: Mapping[str, str], selected: bool
) -> None:
    selector = parse_fields(text)

    assert selector.matches(fields) is selected
    assert selector.matches(lambda field: fields.get(field, "")) is selected


def test_everything_and_nothing_differ_though_they_print_alike() -> None:
    assert ALL_FIELDS.matches({})
    assert ALL_FIELDS.is_everything
    assert not NO_FIELDS.matches({})
    assert NO_FIELDS.is_nothing
    assert str(NO_FIELDS) == str(ALL_FIELDS) == ""
    assert NO_FIELDS != ALL_FIELDS == parse_fields("")
    assert NO_FIELDS & Field("a").equals("b") is NO_FIELDS
    assert Field("a").equals("b") & NO_FIELDS is NO_FIELDS


def test_builders_give_the_same_selector_as_text() -> None:
    built = Field("a").equals("1,2") & Field("b").not_equals("")

    assert str(built) == r"a=1\,2,b!="
    assert built == parse_fields(str(built))
    assert field_selector_from_map({"b": "1", "a": "2"}) == parse_fields("a=2,b=1")


@pytest.mark.parametrize("path", ["", "a,b", "a=b", "a!"])
def test_a_field_that_cannot_be_written_is_refused(path: str) -> None:
    with pytest.raises(InvalidArgument, match="field"):
        Field(path)


def test_a_map_keeps_its_order_in_the_text() -> None:
    """API-13: matching of field selectors."""
    assert str(field_selector_from_map({"b": "1", "a": "2"})) == "b=1,a=2"


def test_a_field_selector_may_be_given_in_three_forms() -> None:
    selector = parse_fields("spec.nodeName=node-7")

    assert as_field_selector(selector) is selector
    assert as_field_selector("spec.nodeName=node-7") == selector
    assert as_field_selector({"spec.nodeName": "node-7"}) == selector


def test_the_one_value_a_field_may_have_is_found() -> None:
    selector = parse_fields("a!=1,a=2,b!=3")

    assert selector.exact_value("a") == "2"
    assert selector.exact_value("b") is None
    assert selector.exact_value("c") is None


@pytest.mark.parametrize("selector", [ALL_FIELDS, NO_FIELDS, parse_fields(r"a=1\,2")])
def test_field_selectors_survive_copies_and_pickles(selector: FieldSelector) -> None:
    assert copy.deepcopy(selector) == selector
    assert pickle.loads(pickle.dumps(selector)) == selector
    assert hash(selector) == hash(copy.deepcopy(selector))
    assert repr(selector).startswith(("NO_FIELDS", "parse_fields("))


# --- against a naive model --------------------------------------------------------------

paths = st.sampled_from(["a", "metadata.name", "x!y", "x y"])
values = st.text("ab\\,=!\n", max_size=4)
terms = st.builds(FieldTerm, paths, st.sampled_from(["=", "!="]), values)
selectors = st.lists(terms, max_size=4).map(lambda each: FieldSelector(*each))


@given(values)
def test_an_escaped_value_reads_back(value: str) -> None:
    """API-12: escapes in field selectors."""
    assert unescape_field_value(escape_field_value(value)) == value


@given(selectors)
def test_what_is_printed_parses_back_to_the_same_selector(selector: FieldSelector) -> None:
    """API-12, API-13: text of field selectors."""
    assert parse_fields(str(selector)) == selector


@given(selectors, st.dictionaries(paths, values))
def test_matching_agrees_with_a_naive_model(
    selector: FieldSelector, fields: dict[str, str]
) -> None:
    """API-13: matching of field selectors."""
    wanted = all(
        (fields.get(term.field, "") == term.value) == (term.operator == "=")
        for term in selector.terms
    )

    assert selector.matches(fields) is wanted
    assert parse_fields(str(selector)).matches(fields) is wanted


@given(st.text("ab\\,=!. ", max_size=12))
def test_any_text_either_parses_to_what_prints_alike_or_is_refused(text: str) -> None:
    """API-11, API-12: grammar of field selectors."""
    try:
        selector = parse_fields(text)
    except InvalidArgument:
        return
    assert parse_fields(str(selector)) == selector


@pytest.mark.parametrize("value", [None, 7, ["a=b"], False])
def test_other_types_than_field_selectors_are_rejected(value: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"field selector .*expected text"):
        as_field_selector(value)
