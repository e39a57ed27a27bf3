"""Scalars in a body, read the way the API server's Go types read them.

Promises: a value of the wrong type is reported in Go's words and kept as it was; quantities,
times and durations come back the one way the server writes them.
Elsewhere: objects, lists and maps (`unknown_fields`).
"""

from __future__ import annotations

import base64
import binascii
import re
import typing
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final, TypeAlias, final

from kubeloop.wire import Duration, InvalidArgument, MicroTime, Quantity
from kubeloop.wire.plan import Value
from kubeloop.wire.times import format_micro_time, format_time, parse_micro_time, parse_time

from .causes import quoted

__all__ = [
    "INT64_FIELDS",
    "Findings",
    "Place",
    "Reader",
    "is_int_or_string",
    "value_reader",
    "wrong_type",
]


@final
class Place:
    """Something found at a path that grows from the inside out."""

    __slots__ = ("path", "struct", "wanted", "what")

    def __init__(self, path: str, what: str = "", *, wanted: str = "") -> None:
        self.path = path
        self.what = what
        self.wanted = wanted
        self.struct = ""

    def told(self) -> str:
        if not self.wanted:
            return self.what
        if not self.struct:
            return f"json: cannot unmarshal {self.what} into Go value of type {self.wanted}"
        path = re.sub(r"\[[0-9]+\]", "", self.path)
        return (
            f"json: cannot unmarshal {self.what} into Go struct field "
            f"{self.struct}.{path} of type {self.wanted}"
        )


@final
class Findings:
    __slots__ = ("problems", "unknown")

    def __init__(self) -> None:
        self.unknown: list[Place] = []
        self.problems: list[Place] = []

    def count(self) -> int:
        return len(self.unknown) + len(self.problems)

    def prefix(self, step: str, marks: tuple[int, int], *, struct: str = "") -> None:
        """Put `step` before the paths of what was found since `marks`."""
        for place in (*self.unknown[marks[0] :], *self.problems[marks[1] :]):
            joint = "" if not place.path or place.path.startswith("[") else "."
            place.path = f"{step}{joint}{place.path}"
            place.struct = place.struct or struct

    def marks(self) -> tuple[int, int]:
        return len(self.unknown), len(self.problems)


Reader: TypeAlias = Callable[[Any, Findings], Any]


def wrong_type(found: Findings, value: Any, wanted: str) -> Any:
    found.problems.append(Place("", _go_json(value), wanted=wanted))
    return value


def _go_json(value: Any) -> str:
    """What Go calls the JSON it met."""
    match value:
        case bool():
            return "bool"
        case str():
            return "string"
        case list():
            return "array"
        case dict():
            return "object"
        case float():
            return f"number {value!r}"
    return "number"


def value_reader(node: Value, name: str) -> Reader:
    if is_int_or_string(node.hint):
        return _read_int_or_string
    if node.hint is int:
        return _int_reader(name)
    return _SCALARS.get(node.hint, _read_anything)


def is_int_or_string(hint: Any) -> bool:
    return set(typing.get_args(hint)) == {int, str}


def _read_anything(value: Any, _: Findings) -> Any:
    return value


def _read_str(value: Any, found: Findings) -> Any:
    return value if isinstance(value, str) else wrong_type(found, value, "string")


def _read_bool(value: Any, found: Findings) -> Any:
    return value if isinstance(value, bool) else wrong_type(found, value, "bool")


def _read_float(value: Any, found: Findings) -> Any:
    good = isinstance(value, int | float) and not isinstance(value, bool)
    return value if good else wrong_type(found, value, "float64")


def _int_reader(name: str) -> Reader:
    bits = 64 if name in INT64_FIELDS else 32
    limits = range(-(2 ** (bits - 1)), 2 ** (bits - 1))

    def read(value: Any, found: Findings) -> Any:
        if type(value) is int and value in limits:
            return value
        if type(value) is int:
            found.problems.append(Place("", f"number {value}", wanted=f"int{bits}"))
            return value
        # A number without a fraction may be written as one: 3.0 is 3.
        if isinstance(value, float) and value.is_integer() and int(value) in limits:
            return int(value)
        return wrong_type(found, value, f"int{bits}")

    return read


# Which integers are wider than 32 bits; the classes only say `int`.
INT64_FIELDS: Final = frozenset(
    [
        "activeDeadlineSeconds",
        "capacity",
        "count",
        "defaultUser",
        "deletionGracePeriodSeconds",
        "expirationSeconds",
        "fsGroup",
        "generation",
        "gid",
        "gracePeriodSeconds",
        "int",
        "ints",
        "maxItems",
        "maxLength",
        "maxProperties",
        "minItems",
        "minLength",
        "minProperties",
        "nodeAllocatableUpdatePeriodSeconds",
        "observedGeneration",
        "remainingItemCount",
        "resourceSliceCount",
        "revision",
        "runAsGroup",
        "runAsUser",
        "seconds",
        "sizeBytes",
        "startingDeadlineSeconds",
        "supplementalGroups",
        "terminationGracePeriodSeconds",
        "tolerationSeconds",
        "uid",
        "user",
    ]
)


def _read_int_or_string(value: Any, found: Findings) -> Any:
    if isinstance(value, str):
        return value
    if type(value) is int and value in range(-(2**31), 2**31):
        return value
    return wrong_type(found, value, "int32")


def _read_quantity(value: Any, found: Findings) -> Any:
    """A quantity as the server writes it: `0.5` becomes `500m`, a number becomes a string."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return _said(found, value, _NO_QUANTITY)
    try:
        text = str(Quantity(value))
    except InvalidArgument:
        return _said(found, value, _NO_QUANTITY)
    return value if text == value else text


_NO_QUANTITY: Final = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)


def _said(found: Findings, value: Any, problem: str) -> Any:
    found.problems.append(Place("", problem))
    return value


def _time_reader(parse: Callable[[str], datetime], write: Callable[[Any], str]) -> Reader:
    def read(value: Any, found: Findings) -> Any:
        if not isinstance(value, str):
            return wrong_type(found, value, "string")
        try:
            text = write(parse(value))
        except InvalidArgument:
            layout = "2006-01-02T15:04:05Z07:00"
            return _said(found, value, f"parsing time {quoted(value)} as {quoted(layout)}")
        return value if text == value else text

    return read


def _read_duration(value: Any, found: Findings) -> Any:
    if not isinstance(value, str):
        return wrong_type(found, value, "string")
    try:
        text = str(Duration.parse(value))
    except InvalidArgument:
        return _said(found, value, f"time: invalid duration {quoted(value)}")
    return value if text == value else text


def _read_bytes(value: Any, found: Findings) -> Any:
    if not isinstance(value, str):
        return wrong_type(found, value, "[]uint8")
    try:
        base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return _said(found, value, f"illegal base64 data at input byte {_first_bad(value)}")
    return value


def _first_bad(text: str) -> int:
    bad = re.search(r"[^A-Za-z0-9+/=]", text)
    return bad.start() if bad else len(text) - len(text) % 4


_SCALARS: Final[dict[Any, Reader]] = {
    str: _read_str,
    bool: _read_bool,
    float: _read_float,
    bytes: _read_bytes,
    Quantity: _read_quantity,
    Duration: _read_duration,
    MicroTime: _time_reader(parse_micro_time, format_micro_time),
    datetime: _time_reader(parse_time, format_time),
}
