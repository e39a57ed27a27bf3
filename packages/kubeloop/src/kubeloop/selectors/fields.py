"""Field selectors: the few fields by which a server can select.

Guarantees: a selector is immutable and prints as text that parses back to an equal one;
a field that an object does not have compares as the empty string; text outside the
grammar is an error, never "everything".
See also: selecting by label (`labels`); the server decides which fields it supports.

    parse_fields("status.phase!=Running,spec.nodeName=node-7")
    Field("status.phase").not_equals("Running") & Field("spec.nodeName").equals("node-7")
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Literal, TypeAlias, final

import msgspec

from kubeloop.wire.errors import InvalidArgument

__all__ = [
    "ALL_FIELDS",
    "NO_FIELDS",
    "Field",
    "FieldSelector",
    "FieldTerm",
    "FieldValues",
    "as_field_selector",
    "escape_field_value",
    "field_selector_from_map",
    "field_selector_text",
    "parse_fields",
    "unescape_field_value",
]

# The fields of one object: a map, or a function that looks one up ("" if it is missing).
FieldValues: TypeAlias = Mapping[str, str] | Callable[[str], str]

_special = re.compile(r"[\\,=]")
_terms = re.compile(r"(?:[^\\,]|\\.?)+", re.DOTALL)
_operator = re.compile("!=|==|=")
_escapes = re.compile(r"\\(.?)|[,=]", re.DOTALL)


@final
class FieldTerm(msgspec.Struct, frozen=True):
    """One field compared with one value; `Field` makes valid ones."""

    field: str
    operator: Literal["=", "!="]
    value: str

    def __str__(self) -> str:
        return f"{self.field}{self.operator}{escape_field_value(self.value)}"


@final
class FieldSelector:
    """Terms that must all hold; without any it selects everything.

    Equal to another with the same terms, in any order.
    """

    __slots__ = ("_nothing", "_tests", "terms")

    def __init__(self, *terms: FieldTerm) -> None:
        self.terms = terms
        self._tests = tuple((term.field, term.operator == "=", term.value) for term in terms)
        self._nothing = False

    @property
    def is_everything(self) -> bool:
        return not self.terms and not self._nothing

    @property
    def is_nothing(self) -> bool:
        """Whether it is `NO_FIELDS`, which matches no object."""
        return self._nothing

    def matches(self, fields: FieldValues) -> bool:
        """Whether an object with these fields is selected."""
        read = fields if callable(fields) else _reader(fields)
        for field, equal, value in self._tests:
            if (read(field) == value) is not equal:
                return False
        return not self._nothing

    def exact_value(self, field: str) -> str | None:
        """The one value that the selector allows for `field`, or None."""
        exact = (term.value for term in self.terms if (term.field, term.operator) == (field, "="))
        return next(exact, None)

    def __and__(self, other: FieldSelector) -> FieldSelector:
        if self._nothing or other._nothing:
            return NO_FIELDS
        return FieldSelector(*self.terms, *other.terms)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FieldSelector) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __str__(self) -> str:
        return ",".join(map(str, self.terms))

    def __repr__(self) -> str:
        return "NO_FIELDS" if self._nothing else f"parse_fields({str(self)!r})"

    def __reduce__(self) -> str | tuple[type[FieldSelector], tuple[FieldTerm, ...]]:
        return "NO_FIELDS" if self._nothing else (FieldSelector, self.terms)

    def _identity(self) -> tuple[bool, frozenset[FieldTerm]]:
        return self._nothing, frozenset(self.terms)


def _reader(fields: Mapping[str, str]) -> Callable[[str], str]:
    return lambda field: fields.get(field, "")


def _nothing() -> FieldSelector:
    selector = FieldSelector()
    selector._nothing = True
    return selector


@final
class Field(msgspec.Struct, frozen=True):
    """The start of a term: `Field("spec.nodeName").equals("node-7")`.

    Raises `InvalidArgument` for a field that the text of a selector cannot name.
    """

    path: str

    def __post_init__(self) -> None:
        # Values have an escape, fields have none.
        if not self.path or "," in self.path or "=" in self.path or self.path.endswith("!"):
            raise InvalidArgument(
                f"field {self.path!r}: may not be empty, hold ',' or '=', or end in '!'"
            )

    def equals(self, value: str) -> FieldSelector:
        return FieldSelector(FieldTerm(self.path, "=", value))

    def not_equals(self, value: str) -> FieldSelector:
        """Also selects objects without the field, unless `value` is empty."""
        return FieldSelector(FieldTerm(self.path, "!=", value))


def field_selector_from_map(fields: Mapping[str, str]) -> FieldSelector:
    """Every field of `fields`, exactly, in their order. Raises as `Field` does."""
    return FieldSelector(
        *(term for field, value in fields.items() for term in Field(field).equals(value).terms)
    )


def field_selector_text(selector: FieldSelector | str | Mapping[str, str]) -> str:
    """The selector as text, for a request.

    Raises:
        InvalidArgument: it selects nothing, which has no text (empty text selects everything).
    """
    found = as_field_selector(selector)
    if found.is_nothing:
        raise InvalidArgument("fields: this selector selects nothing, and cannot be sent")
    return str(found)


def as_field_selector(given: FieldSelector | str | Mapping[str, str]) -> FieldSelector:
    """A field selector from a selector, from text, or from a mapping.

    Raises:
        InvalidArgument: it is none of these, or cannot be parsed.
    """
    match given:
        case FieldSelector():
            return given
        case str():
            return parse_fields(given)
        case Mapping():
            return field_selector_from_map(given)
    raise InvalidArgument(
        f"field selector {given!r:.80}: expected text as kubectl takes it, a dict, or a"
        " FieldSelector"
    )


def parse_fields(text: str) -> FieldSelector:
    """Parse a field selector as `kubectl --field-selector` does; empty text selects everything.

    Raises:
        InvalidArgument: a term has no operator, or a value is not escaped.
    """
    return FieldSelector(*_read_terms(text))


def _read_terms(text: str) -> Iterator[FieldTerm]:
    parts = [(found[0], found.start()) for found in _terms.finditer(text)]
    for part, start in sorted(parts):
        operator = _operator.search(part)
        if operator is None:
            raise _parse_error(
                text, f"found {part!r} at position {start}, expected =, == or != in it"
            )
        try:
            value = unescape_field_value(part[operator.end() :])
        except InvalidArgument as error:
            raise _parse_error(text, f"in the term at position {start}, {error}") from error
        field = part[: operator.start()]
        if not field and not value:
            # client-go selects everything here: a mistake could delete a whole collection.
            raise _parse_error(text, f"the term at position {start} has neither field nor value")
        yield FieldTerm(field, "!=" if operator[0] == "!=" else "=", value)


def _parse_error(text: str, problem: str) -> InvalidArgument:
    return InvalidArgument(f"field selector {text!r}: {problem}")


def escape_field_value(value: str) -> str:
    r"""Escape a value for a selector: `\`, `,` and `=` after a backslash."""
    return _special.sub(r"\\\g<0>", value)


def unescape_field_value(text: str) -> str:
    r"""Unescape a value of a selector.

    Raises:
        InvalidArgument: a bare `,` or `=`, an unknown escape, or a backslash at the end.
    """
    return _escapes.sub(lambda found: _unescaped(text, found), text)


def _unescaped(text: str, found: re.Match[str]) -> str:
    escaped = found[1]
    if escaped is None:
        raise InvalidArgument(f"value {text!r}: write {found[0]!r} as '\\{found[0]}'")
    if not _special.fullmatch(escaped):
        raise InvalidArgument(
            f"value {text!r}: found {found[0]!r}, expected one of '\\\\', '\\,' and '\\='"
        )
    return escaped


ALL_FIELDS = FieldSelector()
NO_FIELDS = _nothing()
