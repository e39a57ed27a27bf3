"""One requirement of a label selector, and the function that tests an object for it.

Guarantees: the function for several requirements is built once and costs about one dictionary
lookup per requirement; only what Kubernetes parses as an integer is compared as one.
See also: selectors and their text (`labels`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Literal, TypeAlias, final

import msgspec

from kubeloop.meta import check_label_value
from kubeloop.wire.errors import InvalidArgument

__all__ = [
    "LabelOperator",
    "Labels",
    "Requirement",
    "Test",
    "compile_test",
    "make_requirement",
    "never",
]

Labels: TypeAlias = Mapping[str, str]
Test: TypeAlias = Callable[[Labels], bool]
LabelOperator: TypeAlias = Literal["=", "==", "!=", "in", "notin", "exists", "!", ">", "<"]

_EXACT = frozenset({"=", "=="})
_SETS = frozenset({"in", "notin"})
_ORDERS = frozenset({"<", ">"})
_INT64 = range(-(2**63), 2**63)
_is_integer = re.compile("[+-]?0*[0-9]{1,19}").fullmatch


@final
class Requirement(msgspec.Struct, frozen=True):
    """One condition on one label; `Label` makes valid ones. Values are sorted and unique."""

    key: str
    operator: LabelOperator
    values: tuple[str, ...] = ()

    @property
    def exact_value(self) -> str | None:
        """The only value that meets it, or None."""
        exact = self.operator in _EXACT or (self.operator == "in" and len(self.values) == 1)
        return self.values[0] if exact else None

    def __str__(self) -> str:
        match self.operator:
            case "exists":
                return self.key
            case "!":
                return f"!{self.key}"
            case "in" | "notin":
                return f"{self.key} {self.operator} ({','.join(self.values)})"
            case _:
                return f"{self.key}{self.operator}{self.values[0]}"


def _check_value(key: str, value: object) -> str:
    if not isinstance(value, str):
        found = type(value).__name__
        raise InvalidArgument(f"label {key!r}: expected text as its value, found a {found}")
    check_label_value(value)
    return value


def make_requirement(key: str, operator: LabelOperator, values: Iterable[str]) -> Requirement:
    """A requirement with checked values; the key must be valid."""
    unique = tuple(sorted({_check_value(key, value) for value in values}))
    if operator in _SETS and not unique:
        raise InvalidArgument(f"label {key!r}: operator {operator} needs at least one value")
    if operator in _ORDERS and _integer(unique[0]) is None:
        raise InvalidArgument(
            f"label {key!r}: operator {operator} needs a 64-bit integer, found {unique[0]!r}"
        )
    return Requirement(key, operator, unique)


def _integer(text: str) -> int | None:
    """The 64-bit integer that Kubernetes parses, or None; Python's int() accepts more."""
    if not _is_integer(text):
        return None
    number = int(text)
    return number if number in _INT64 else None


def compile_test(requirements: Iterable[Requirement]) -> Test:
    """One function that tests all requirements."""
    match [_test_of(each) for each in requirements]:
        case []:
            return lambda _: True
        case [only]:
            return only
        case [first, second]:
            return lambda labels: first(labels) and second(labels)
        case tests:
            return _all_of(tuple(tests))


def _all_of(tests: tuple[Test, ...]) -> Test:
    def holds(labels: Labels) -> bool:
        for test in tests:  # noqa: SIM110 - all() would build a generator for every object
            if not test(labels):
                return False
        return True

    return holds


def _test_of(requirement: Requirement) -> Test:
    key, values = requirement.key, frozenset(requirement.values)
    match requirement.operator:
        case "=" | "==" | "in":
            return lambda labels: labels.get(key) in values
        case "!=" | "notin":
            return lambda labels: labels.get(key) not in values
        case "exists":
            return lambda labels: key in labels
        case "!":
            return lambda labels: key not in labels
        case ">":
            return _compares(key, int(requirement.values[0]).__lt__)
        case "<":
            return _compares(key, int(requirement.values[0]).__gt__)


def _compares(key: str, holds: Callable[[int], bool]) -> Test:
    def test(labels: Labels) -> bool:
        number = _integer(labels.get(key, ""))
        return number is not None and holds(number)

    return test


def never(_: Labels) -> bool:
    return False
