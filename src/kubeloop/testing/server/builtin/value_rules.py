"""Rules that many kinds share: numbers, ports, percentages, choices, selectors, names.

Promises: each gives the causes that kube-apiserver would, under the path it is handed, and
nothing where the value is good or absent (unless absence is the rule).
Elsewhere: metadata (`metadata_validation`), the kinds (`builtin_validation`).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from kubeloop.machinery.names import problems_of_label_key, problems_of_label_value
from kubeloop.wire import InvalidValue, Quantity

from ..statuses import Cause
from ..values import causes
from ..values.json_values import json_equal

__all__ = [
    "Found",
    "amount",
    "choice",
    "int_or_percent",
    "is_zero_share",
    "labels",
    "listed",
    "name",
    "not_below",
    "not_changed",
    "port",
    "port_or_name",
    "quantity",
    "selector",
]

Found: TypeAlias = Iterator[Cause]

_PORT_NAME: Final = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?")
_OPERATORS: Final = ("DoesNotExist", "Exists", "In", "NotIn")


def listed(value: Any) -> list[tuple[int, Mapping[str, Any]]]:
    """The objects of a list with their places; none where there is no list."""
    found = value if isinstance(value, list) else []
    return [(index, item) for index, item in enumerate(found) if isinstance(item, Mapping)]


def choice(path: str, value: Any, allowed: Iterable[str], *, required: bool = False) -> Found:
    if value in (None, ""):
        if required:
            yield causes.required(path)
    elif value not in allowed:
        yield causes.not_supported(path, value, allowed)


def not_below(path: str, value: Any, lowest: int = 0) -> Found:
    if isinstance(value, int) and value < lowest:
        yield causes.invalid(path, value, f"must be greater than or equal to {lowest}")


def not_changed(path: str, value: Any, before: Any) -> Found:
    if not json_equal(value, before):
        yield causes.invalid(path, value, causes.IMMUTABLE)


def name(path: str, value: Any, rule: Callable[[str], list[str]]) -> Found:
    """`value` by a rule of `kubeloop.machinery.names`."""
    yield from (causes.invalid(path, value, problem) for problem in rule(str(value)))


def port(path: str, value: Any) -> Found:
    if not isinstance(value, int) or not 1 <= value <= 65535:
        yield causes.invalid(path, value, "must be between 1 and 65535, inclusive")


def port_or_name(path: str, value: Any) -> Found:
    if isinstance(value, str):
        yield from (causes.invalid(path, value, problem) for problem in _port_name(value))
    else:
        yield from port(path, value)


def _port_name(value: str) -> Iterator[str]:
    if len(value) > 15:
        yield "must be no more than 15 characters"
    if not _PORT_NAME.fullmatch(value):
        yield (
            "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-), and must "
            "not start or end with a hyphen"
        )
    if not re.search("[a-z]", value):
        yield "must contain at least one letter (a-z)"
    if "--" in value:
        yield "must not contain consecutive hyphens"


def int_or_percent(path: str, value: Any, *, at_most_all: bool = False) -> Found:
    """A number from 0, or a percentage; with `at_most_all` of no more than 100%."""
    if value is None:
        return
    if isinstance(value, str):
        if not re.fullmatch("[0-9]+%", value):
            yield causes.invalid(
                path,
                value,
                "a valid percent string must be a numeric string followed by an ending '%' "
                "(e.g. '1%', or '93%', regex used for validation is '[0-9]+%')",
            )
        elif at_most_all and int(value[:-1]) > 100:
            yield causes.invalid(path, value, "must not be greater than 100%")
    else:
        yield from not_below(path, value)


def is_zero_share(value: Any) -> bool:
    """Whether a number or percentage comes to nothing."""
    return value in (0, "0%", None)


def quantity(path: str, value: Any) -> Found:
    """A quantity that can be read and is not negative."""
    found = amount(value)
    if found is None:
        yield causes.invalid(path, value, "must be a quantity")
    elif found < _NOTHING:
        yield causes.invalid(path, value, "must be greater than or equal to 0")


@functools.lru_cache(4096)
def amount(value: Any) -> Quantity | None:
    """A quantity as a number to compare with; None for what is none. There are few, often."""
    try:
        return Quantity(value)
    except InvalidValue:
        return None


_NOTHING: Final = Quantity("0")


def labels(path: str, value: Any) -> Found:
    for key, said in (value or {}).items():
        if _is_good_label(key, said):
            continue
        # An empty key is told twice: it is empty, and it fits no pattern.
        found = problems_of_label_key(key) + ([] if key else problems_of_label_key("-"))
        yield from (causes.invalid(path, key, problem) for problem in found)
        yield from (
            causes.invalid(path, said, problem) for problem in problems_of_label_value(said)
        )


@functools.lru_cache(4096)
def _is_good_label(key: str, value: str) -> bool:
    """There are few, often."""
    return not problems_of_label_key(key) and not problems_of_label_value(value)


def selector(path: str, value: Any) -> Found:
    """A label selector: its labels and its expressions."""
    if not isinstance(value, Mapping):
        return
    yield from labels(f"{path}.matchLabels", value.get("matchLabels"))
    for index, term in listed(value.get("matchExpressions")):
        yield from _expression(f"{path}.matchExpressions[{index}]", term)


def _expression(path: str, term: Mapping[str, Any]) -> Found:
    operator, values = term.get("operator") or "", term.get("values")
    if operator in {"In", "NotIn"} and not values:
        rule = "must be specified when `operator` is 'In' or 'NotIn'"
        yield causes.required(f"{path}.values", rule)
    elif operator in {"Exists", "DoesNotExist"} and values:
        rule = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        yield causes.forbidden(f"{path}.values", rule)
    elif operator not in _OPERATORS:
        yield causes.invalid(f"{path}.operator", operator, "not a valid selector operator")
    yield from name(f"{path}.key", term.get("key") or "", problems_of_label_key)
