"""Label selectors: parsing, building and matching.

Guarantees: a selector is immutable, compile_test once, and prints in the API's canonical form,
which parses back to an equal selector (only `NOTHING` cannot be written); text that is not
in the grammar is an error that names the position, never "everything".
See also: field selectors (`fields`), valid keys and values (`kubeloop.meta`).

    parse_labels("app in (web, api), !canary")
    Label("app").in_("web", "api") & Label("canary").missing()
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NoReturn, final

import msgspec

from kubeloop.meta import check_label_key
from kubeloop.wire.errors import InvalidArgument
from kubeloop.wire.meta.v1 import LabelSelector, LabelSelectorRequirement

from .requirements import LabelOperator, Labels, Requirement, compile_test, make_requirement, never

__all__ = [
    "EVERYTHING",
    "NOTHING",
    "Label",
    "Selector",
    "as_selector",
    "parse_labels",
    "selector_from_map",
    "selector_from_wire",
    "selector_text",
]


@final
class Selector:
    """Requirements that must all hold; without any it selects everything.

    Equal to another with the same requirements, in any order.
    """

    __slots__ = ("_matches", "_nothing", "_text", "requirements")

    def __init__(self, *requirements: Requirement) -> None:
        self.requirements = tuple(sorted(requirements, key=lambda each: each.key))
        self._matches = compile_test(self.requirements)
        self._text = ",".join(map(str, self.requirements))
        self._nothing = False

    @property
    def is_everything(self) -> bool:
        return not self.requirements and not self._nothing

    @property
    def is_nothing(self) -> bool:
        """Whether it is `NOTHING`, which matches no object."""
        return self._nothing

    def matches(self, labels: Labels) -> bool:
        """Whether an object with these labels is selected."""
        return self._matches(labels)

    def exact_value(self, key: str) -> str | None:
        """The one value that the first requirement on `key` allows, or None."""
        first = next((each for each in self.requirements if each.key == key), None)
        return first.exact_value if first is not None else None

    def __and__(self, other: Selector) -> Selector:
        if self._nothing or other._nothing:
            return NOTHING
        return Selector(*self.requirements, *other.requirements)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Selector) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "NOTHING" if self._nothing else f"parse_labels({self._text!r})"

    def __reduce__(self) -> str | tuple[type[Selector], tuple[Requirement, ...]]:
        return "NOTHING" if self._nothing else (Selector, self.requirements)

    def _identity(self) -> tuple[bool, frozenset[Requirement]]:
        return self._nothing, frozenset(self.requirements)


def _nothing() -> Selector:
    selector = Selector()
    selector._nothing = True
    selector._matches = never
    return selector


@final
class Label(msgspec.Struct, frozen=True):
    """The start of a requirement: `Label("app").equals("web")`.

    Raises `InvalidArgument` for a key or a value that no label can have.
    """

    key: str

    def __post_init__(self) -> None:
        check_label_key(self.key)

    def equals(self, value: str) -> Selector:
        return self._where("=", value)

    def not_equals(self, value: str) -> Selector:
        """Also selects objects without the label."""
        return self._where("!=", value)

    def in_(self, *values: str) -> Selector:
        return self._where("in", *values)

    def not_in(self, *values: str) -> Selector:
        """Also selects objects without the label."""
        return self._where("notin", *values)

    def exists(self) -> Selector:
        return self._where("exists")

    def missing(self) -> Selector:
        return self._where("!")

    def greater(self, number: int) -> Selector:
        """Selects labels whose value is a whole number greater than `number`."""
        return self._where(">", str(number))

    def less(self, number: int) -> Selector:
        """Selects labels whose value is a whole number less than `number`."""
        return self._where("<", str(number))

    def _where(self, operator: LabelOperator, *values: str) -> Selector:
        return Selector(make_requirement(self.key, operator, values))


def selector_from_map(labels: Labels, *, validate: bool = True) -> Selector:
    """Every label of `labels`, exactly.

    Without `validate`, keys and values are not checked, as for those of an existing object.
    """
    if not validate:
        return Selector(*(Requirement(key, "=", (value,)) for key, value in labels.items()))
    for key in labels:
        check_label_key(key)
    return Selector(*(make_requirement(key, "=", (value,)) for key, value in labels.items()))


def selector_text(selector: Selector | str | Mapping[str, str]) -> str:
    """The selector as text, for a request.

    Raises:
        InvalidArgument: it selects nothing, which has no text: an empty one would select
            everything (API-6).
    """
    found = as_selector(selector)
    if found.is_nothing:
        raise InvalidArgument("labels: this selector selects nothing, and cannot be sent")
    return str(found)


def as_selector(given: Selector | str | Labels) -> Selector:
    """A label selector from a selector, from text, or from a mapping.

    Raises:
        InvalidArgument: it is none of these, or cannot be parsed.
    """
    match given:
        case Selector():
            return given
        case str():
            return parse_labels(given)
        case Mapping():
            return selector_from_map(given)
    raise InvalidArgument(
        f"label selector {given!r:.80}: expected text as kubectl takes it, a dict, or a Selector"
    )


_WIRE_OPERATORS: dict[str, LabelOperator] = {
    "In": "in",
    "NotIn": "notin",
    "Exists": "exists",
    "DoesNotExist": "!",
}


def selector_from_wire(given: LabelSelector | Mapping[str, object] | None) -> Selector:
    """The selector of a `LabelSelector` in an object; None selects nothing, an empty one all.

    Raises:
        InvalidArgument: an unknown operator, values missing or too many, an invalid label.
    """
    if given is None:
        return NOTHING
    wire = given if isinstance(given, LabelSelector) else LabelSelector.from_dict(given)
    _check_unknown_fields(wire)
    expressions = [_requirement_from_wire(each) for each in wire.match_expressions]
    return selector_from_map(wire.match_labels) & Selector(*expressions)


def _check_unknown_fields(wire: LabelSelector | LabelSelectorRequirement) -> None:
    """Raise InvalidArgument for fields of a newer API: they could narrow the selection."""
    unknown = wire.to_dict().keys() - set(wire.__struct_encode_fields__)
    if unknown:
        raise InvalidArgument(
            f"label selector: unknown field {', '.join(sorted(unknown))} (expected matchLabels,"
            " and matchExpressions of key, operator and values)"
        )


def _requirement_from_wire(wire: LabelSelectorRequirement) -> Requirement:
    _check_unknown_fields(wire)
    operator = _WIRE_OPERATORS.get(wire.operator)
    if operator is None:
        raise InvalidArgument(
            f"label selector operator {wire.operator!r} for key {wire.key!r}: "
            f"expected one of {', '.join(_WIRE_OPERATORS)}"
        )
    if operator in {"exists", "!"} and wire.values:
        raise InvalidArgument(f"label {wire.key!r}: operator {wire.operator} takes no values")
    check_label_key(wire.key)
    return make_requirement(wire.key, operator, wire.values)


_token = re.compile(r"[ \t\r\n]*(==|!=|[=!(),<>]|[^ \t\r\n=!(),<>]+|$)").match
_SYMBOLS = frozenset({"", "=", "==", "!", "!=", "(", ")", ",", "<", ">"})
_INFIX: dict[str, LabelOperator] = {
    "=": "=",
    "==": "==",
    "!=": "!=",
    "in": "in",
    "notin": "notin",
    ">": ">",
    "<": "<",
}


def parse_labels(text: str) -> Selector:
    """Parse a label selector as `kubectl -l` does; empty text selects everything.

    Raises:
        InvalidArgument: it is not in the grammar, or a key or value is not valid.
    """
    return _Reader(text).selector()


@final
class _Reader:
    """Reads one selector, looking one token ahead; the empty token is the end."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._end = 0
        self._advance()

    def selector(self) -> Selector:
        if self._next == "":
            return EVERYTHING
        requirements = [self._requirement()]
        while self._next == ",":
            self._take()
            requirements.append(self._requirement())
        if self._next != "":
            self._refuse("',' or the end")
        return Selector(*requirements)

    def _requirement(self) -> Requirement:
        if self._next == "!":
            self._take()
            return Requirement(self._key(), "!")
        if self._next in _SYMBOLS:
            self._refuse("a key or '!'")
        key = self._key()
        if self._next in {"", ","}:
            return Requirement(key, "exists")
        operator = self._operator()
        start, values = self._start, self._values(operator)
        try:
            return make_requirement(key, operator, values)
        except InvalidArgument as error:
            raise self._parse_error(f"at position {start}, {error}") from error

    def _key(self) -> str:
        if self._next in _SYMBOLS:
            self._refuse("a key")
        try:
            check_label_key(self._next)
        except InvalidArgument as error:
            raise self._parse_error(f"at position {self._start}, {error}") from error
        return self._take()

    def _operator(self) -> LabelOperator:
        operator = _INFIX.get(self._next)
        if operator is None:
            self._refuse(f"an operator ({', '.join(_INFIX)}), ',' or the end")
        self._take()
        return operator

    def _values(self, operator: LabelOperator) -> list[str]:
        if operator in {"in", "notin"}:
            return self._set()
        if self._next in {"", ","}:
            return [""]
        if self._next in _SYMBOLS:
            self._refuse("a value")
        return [self._take()]

    def _set(self) -> list[str]:
        self._expect("(", "'('")
        values = [self._element()]
        while self._next == ",":
            self._take()
            values.append(self._element())
        self._expect(")", "',' or ')'")
        return values

    def _element(self) -> str:
        """A value of a set; nothing means the empty string."""
        return "" if self._next in _SYMBOLS else self._take()

    def _expect(self, symbol: str, wanted: str) -> None:
        if self._next != symbol:
            self._refuse(wanted)
        self._take()

    def _take(self) -> str:
        taken = self._next
        self._advance()
        return taken

    def _advance(self) -> None:
        found = _token(self._text, self._end)
        assert found is not None  # some branch of the pattern matches anywhere
        self._next = found[1]
        self._start, self._end = found.span(1)

    def _refuse(self, wanted: str) -> NoReturn:
        found = repr(self._next) if self._next else "the end"
        raise self._parse_error(f"found {found} at position {self._start}, expected {wanted}")

    def _parse_error(self, problem: str) -> InvalidArgument:
        return InvalidArgument(f"label selector {self._text!r}: {problem}")


EVERYTHING = Selector()
"""Matches all objects."""
NOTHING = _nothing()
"""Matches no object."""
