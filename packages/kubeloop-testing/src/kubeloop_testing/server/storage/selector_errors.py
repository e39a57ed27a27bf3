"""Why a selector cannot be parsed, in the sentences of kube-apiserver.

Guarantees: pure; only called for texts that `kubeloop.selectors` has rejected.
See also: the grammar (`kubeloop.selectors`), the selection of a request (`selection`).
"""

from __future__ import annotations

import re
from typing import Final, final

from kubeloop.meta import problems_of_label_key, problems_of_label_value

from ..statuses import Cause, joined
from ..values import causes

__all__ = ["field_selector_error", "label_selector_error", "without_bare_operators"]

# A NUL ends a word, as white space does.
_TOKEN: Final = re.compile(r"[ \t\r\n\0]*(==|!=|[=!(),<>]|[^ \t\r\n\0=!(),<>]+|$)")
_SYMBOLS: Final = frozenset({"", "=", "==", "!", "!=", "(", ")", ",", "<", ">"})
_OPERATORS: Final = frozenset({"in", "notin", "=", "==", "!=", ">", "<"})
_REQUIREMENT: Final = "unable to parse requirement: "


class _ParseError(Exception):
    """What was found, and what was expected."""


def label_selector_error(text: str) -> str:
    """The sentence for a label selector that cannot be parsed; empty if it can."""
    try:
        _Parser(text).parse()
    except _ParseError as error:
        return str(error)
    return ""


@final
class _Parser:
    """Reads requirements, looking one token ahead; the empty token is the end."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._end = 0
        self._next = ""
        self._advance()

    def parse(self) -> None:
        if self._next in _SYMBOLS - {"!"}:
            if self._next:
                raise self._error("!, identifier, or 'end of string'")
            return
        while True:
            try:
                self._requirement()
            except _ParseError as error:
                raise _ParseError(f"{_REQUIREMENT}{error}") from error
            if not self._next:
                return
            if self._next != ",":
                raise self._error("',' or 'end of string'")
            self._advance()
            if self._next in _SYMBOLS - {"!"}:
                raise self._error("identifier after ','")

    def _advance(self) -> str:
        taken = self._next
        match = _TOKEN.match(self._text, self._end)
        assert match is not None  # the pattern matches every text
        self._next, self._end = match[1], match.end()
        return taken

    def _error(self, expected: str) -> _ParseError:
        return _ParseError(f"found '{self._next}', expected: {expected}")

    def _requirement(self) -> None:
        is_negated = self._next == "!"
        if is_negated:
            self._advance()
        if self._next in _SYMBOLS:
            raise self._error("identifier")
        key = self._advance()
        _raise_for([causes.invalid("<nil>", key, each) for each in problems_of_label_key(key)])
        if is_negated or self._next in {"", ","}:
            return
        if self._next not in _OPERATORS:
            raise self._error("in, notin, =, ==, !=, gt, lt")
        operator = self._advance()
        values = sorted(self._set() if operator in {"in", "notin"} else self._value())
        _raise_for(_value_causes(key, operator, values))

    def _value(self) -> set[str]:
        if self._next in {"", ","}:
            return {""}
        if self._next in _SYMBOLS:
            raise self._error("identifier")
        return {self._advance()}

    def _set(self) -> set[str]:
        if self._next != "(":
            raise _ParseError(f"found '{self._next}' expected: '('")
        self._advance()
        if self._next == ")":
            self._advance()
            return {""}
        if self._next in _SYMBOLS - {","}:
            raise self._error("',', ')' or identifier")
        values = self._identifiers()
        if self._next != ")":
            raise _ParseError(f"found '{self._next}', expected: ')'")
        self._advance()
        return values

    def _identifiers(self) -> set[str]:
        values: set[str] = set()
        while True:
            if self._next not in _SYMBOLS:
                values.add(self._advance())
                if self._next == ")":
                    return values
                if self._next != ",":
                    raise self._error("',' or ')'")
            elif self._next == ",":
                if not values:
                    values.add("")
            else:
                raise self._error("',', or identifier")
            self._advance()
            if self._next == ",":
                values.add("")
                self._advance()
            if self._next == ")":
                values.add("")
                return values


def _value_causes(key: str, operator: str, values: list[str]) -> list[Cause]:
    rule = "for 'Gt', 'Lt' operators, the value must be an integer"
    wrong = [
        causes.invalid(f"values[{index}]", value, rule)
        for index, value in enumerate(values)
        if operator in {"<", ">"} and not re.fullmatch("[+-]?[0-9]+", value)
    ]
    return wrong + [
        causes.invalid(f"values[{index}][{key}]", value, problem)
        for index, value in enumerate(values)
        for problem in problems_of_label_value(value)
    ]


def _raise_for(found: list[Cause]) -> None:
    if found:
        raise _ParseError(joined(found))


# --- fields

_TERMS: Final = re.compile(r"(?:[^\\,]|\\.?)+", re.DOTALL)
_OPERATOR: Final = re.compile("!=|==|=")
_ESCAPES: Final = re.compile(r"\\(?:[\\,=]|(.?))|([,=])", re.DOTALL)


def field_selector_error(text: str) -> str:
    """The sentence for a field selector that cannot be parsed; empty if it can."""
    for term in sorted(_TERMS.findall(text)):
        operator = _OPERATOR.search(term)
        if operator is None:
            return f"invalid selector: '{text}'; can't understand '{term}'"
        for match in _ESCAPES.finditer(term, operator.end()):
            if match[2]:
                return f"invalid field selector: unescaped character in value: {ord(match[2])}"
            if match[1] is not None:
                return f"invalid field selector: invalid escape sequence: {match[0]}"
    return ""


def without_bare_operators(text: str) -> str:
    """A field selector without the terms that kube-apiserver ignores: an operator alone."""
    if text[:1] not in {"=", "!"} and ",=" not in text and ",!=" not in text:
        return text
    return ",".join(term for term in _TERMS.findall(text) if not _OPERATOR.fullmatch(term))
