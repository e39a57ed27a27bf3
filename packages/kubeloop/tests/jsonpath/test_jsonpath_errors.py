"""JSONPath: which templates cannot be read, and where the error points."""

from __future__ import annotations

import pickle

import pytest

from kubeloop.jsonpath import JSONPath, JSONPathError
from kubeloop.wire.errors import InvalidArgument


@pytest.mark.parametrize(
    ("template", "complaint", "position"),
    [
        ("{.a", "unclosed action", 3),
        ("text {", "unclosed action", 6),
        ("{.a\n}", "unclosed action", 3),
        ("{{.a}}", "unexpected '{'", 1),
        ("{\t.a}", r"unexpected '\\t'", 1),
        ("{.a[}", "unterminated array", 3),
        ("{.a[0\n]}", "unterminated array", 3),
        ("{.a[x]}", "cannot parse the index 'x'", 4),
        ('{.a["x"]}', "cannot parse the index", 4),
        ("{.a[0,x]}", "cannot parse the index 'x'", 6),
        ("{.a[0, x]}", "cannot parse the index 'x'", 7),
        ("{.a[-]}", "the index '-' is not a number", 4),
        ("{.a[99999999999999999999]}", "is not a number", 4),
        ("{.a[1:2:3:4]}", "cannot parse the index", 4),
        ("{.a['b c']}", "unknown word 'c'", 7),
        ("{.a[?(@.b==1}", "unterminated filter", 3),
        ("{.a[?(@.b=='1)]}", "unterminated filter", 3),
        ("{.a[?(@.b==1)}", r"closed by \)\]", 13),
        ("{.a[?(@.b=1)]}", "unknown operator = ", 9),
        ("{.a[?(@.b=~/x/)]}", "unknown operator =", 9),
        ("{.a[?(@.b==)]}", "no operand after ==", 11),
        ("{.a[?(==1)]}", "unexpected '='", 6),
        ("{.a[?(@.b==x)]}", "unknown word 'x'", 11),
        ("{.a[?(@.b&&@.c)]}", "is not found", None),
        ("{.a[?(@.b==1&&@.c==2)]}", "unexpected '&'", 12),
        ("{.a[?(range==1)]}", "range must be the first word", None),
        ("{'a}", "unterminated quoted string", 1),
        ('{"a\n"}', "unterminated quoted string", 1),
        (r"{'\q'}", "unknown escape", 1),
        (r"{'\"'}", "unknown escape", 1),
        (r"{'\ud800'}", "unknown escape", 1),
        (r"{'\777'}", "unknown escape", 1),
        ("{1.2.3}", "cannot parse the number '1.2.3'", 1),
        ("{-}", "cannot parse the number '-'", 1),
        ("{\u0661}", "cannot parse the number", 1),
        ("{" + "9" * 400 + "}", "cannot parse the number", 1),
        ("{1e5}", "unknown word 'e5'", 2),
        ("{....n}", "one recursive descent cannot follow another", 3),
        ("{..*}", r"unexpected '\*'", 3),
        ("{hello}", "unknown word 'hello'", 1),
        ("{end}", "end without a range", 0),
        ("{range .a[*]}{end}{end}", "end without a range", 18),
        ("{range .a[*]}x{range .b[*]}{end}", "this range is never closed", 0),
        ("{.a range}", "must be the first word", 4),
        ("{range range .a}{end}", "must be the first word", 7),
        ("{range .a}{end .b}", "end must be alone", 10),
        ("{range @}" * 60 + "{end}" * 60, "more than 50 nested ranges", 450),
    ],
)
def test_the_error_says_what_is_wrong_and_where(
    template: str, complaint: str, position: int | None
) -> None:
    """UTL-19, UTL-18, UTL-13, V-17: `{....n}` does not parse"""
    if complaint == "is not found":  # `&&` may stand in a name, so this reads, and finds nothing
        assert JSONPath(template).values({"a": [{"b": 1}]}) == []
        return
    with pytest.raises(JSONPathError, match=complaint) as caught:
        JSONPath(template)

    assert position is None or caught.value.position == position


@pytest.mark.parametrize(
    ("template", "position"),
    [
        ("{.kind} {.nope}", 10),
        ("{.a[?(@.b>1)]}", 6),
        ("{.a[*].b.c}", 9),
        ("{.a[9]}", 4),
        ("{['x']}", 3),
    ],
)
def test_an_error_about_the_data_points_into_the_template_too(template: str, position: int) -> None:
    with pytest.raises(JSONPathError) as caught:
        JSONPath(template).find({"kind": "List", "a": [{"b": 1.5}]})

    assert caught.value.position == position
    assert caught.value.template == template


def test_the_message_has_the_template_and_the_position_from_one() -> None:
    with pytest.raises(JSONPathError) as caught:
        JSONPath("{.a")

    assert str(caught.value) == "jsonpath '{.a', character 4: unclosed action (add })"
    assert isinstance(caught.value, InvalidArgument)


def test_the_error_survives_a_pickle() -> None:
    with pytest.raises(JSONPathError) as caught:
        JSONPath("{.a")

    again = pickle.loads(pickle.dumps(caught.value))

    assert (str(again), again.position, again.template) == (str(caught.value), 3, "{.a")


@pytest.mark.parametrize(
    ("template", "text"),
    [
        (r"{'it\'s'}", "it's"),
        (r'{"\"\\\a\b\f\n\r\t\v"}', '"\\\a\b\f\n\r\t\v'),
        (r"{'\x41\101\u00e9\U0001F600'}", "AA\u00e9\U0001f600"),
        ("{'a}b'}", "a}b"),
        (r"{'\\'}", "\\"),
        ("{'\"'}", '"'),
    ],
)
def test_quoted_strings_know_the_escapes_of_go(template: str, text: str) -> None:
    """UTL-12: templates of text and actions."""
    assert JSONPath(template).render({}) == text


def test_a_template_shows_itself() -> None:
    assert repr(JSONPath("{.a}")) == "JSONPath('{.a}')"
