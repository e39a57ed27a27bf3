"""Decodes scalars of a body as the API server's Go types do.

Guarantees: a value of the wrong type is reported with the message of Go's encoding/json and
kept; quantities, times and durations are returned in their canonical form.
See also: objects, lists and maps (`unknown_fields`).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final, TypeAlias, final

from kubeloop.wire import Duration, InvalidArgument, Quantity
from kubeloop.wire.times import MicroTime, format_micro_time, format_time, parse_time

from .causes import quoted
from .go_json import base64_error, json_type, time_error

__all__ = [
    "Finding",
    "Findings",
    "Reader",
    "report_type",
    "value_reader",
]


@final
class Finding:
    """An unknown field or a decoding error, with its path.

    With `go_type`, `detail` is the JSON type that cannot be decoded into it. The path is
    prefixed while the readers return, so that a clean body builds no paths.
    """

    __slots__ = ("detail", "go_type", "path", "struct")

    def __init__(self, path: str, detail: str = "", *, go_type: str = "") -> None:
        self.path = path
        self.detail = detail
        self.go_type = go_type
        self.struct = ""

    def message(self) -> str:
        """The message of Go's `json.UnmarshalTypeError`, or the detail alone."""
        if not self.go_type:
            return self.detail
        if not self.struct:
            return f"json: cannot unmarshal {self.detail} into Go value of type {self.go_type}"
        return (
            f"json: cannot unmarshal {self.detail} into Go struct field "
            f"{self.struct}.{self.path} of type {self.go_type}"
        )


@final
class Findings:
    """What the readers of one body have found so far."""

    __slots__ = ("keep_empty", "problems", "unknown")

    def __init__(self, *, keep_empty: bool = False) -> None:
        self.keep_empty = keep_empty  # also what Go omits
        self.unknown: list[Finding] = []
        self.problems: list[Finding] = []

    def count(self) -> int:
        return len(self.unknown) + len(self.problems)

    def prefix(self, step: str, since: tuple[int, int], *, go_step: str, struct: str = "") -> None:
        """Put `step` before the paths found since there were so many of each.

        Paths of problems have `go_step` instead.
        """
        for finding in self.unknown[since[0] :]:
            joint = "" if not finding.path or finding.path.startswith("[") else "."
            finding.path = f"{step}{joint}{finding.path}"
        for finding in self.problems[since[1] :]:
            finding.path = f"{go_step}.{finding.path}".strip(".")
            finding.struct = finding.struct or struct


Reader: TypeAlias = Callable[[Any, Findings], Any]


def report_type(found: Findings, value: Any, go_type: str) -> Any:
    """Report that `value` cannot be decoded into a Go type; return it unchanged."""
    found.problems.append(Finding("", json_type(value), go_type=go_type))
    return value


def value_reader(go_type: str) -> Reader:
    """The reader of a type that is no struct, list or map."""
    return _SCALARS.get(go_type, _read_anything)


def _read_anything(value: Any, _: Findings) -> Any:
    return value


def _read_str(value: Any, found: Findings) -> Any:
    return value if isinstance(value, str) else report_type(found, value, "string")


def _read_bool(value: Any, found: Findings) -> Any:
    return value if isinstance(value, bool) else report_type(found, value, "bool")


def _read_float(value: Any, found: Findings) -> Any:
    good = isinstance(value, int | float) and not isinstance(value, bool)
    return value if good else report_type(found, value, "float64")


def _int_reader(bits: int) -> Reader:
    limits = range(-(2 ** (bits - 1)), 2 ** (bits - 1))

    def read(value: Any, found: Findings) -> Any:
        if type(value) is int and value in limits:
            return value
        return _report_number(found, value, f"int{bits}")

    return read


def _report_number(found: Findings, value: Any, go_type: str) -> Any:
    """Report a value that is no integer of this size; a number is part of the message."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return report_type(found, value, go_type)
    found.problems.append(Finding("", f"number {value!r}", go_type=go_type))
    return value


def _read_int_or_string(value: Any, found: Findings) -> Any:
    # `intstr.IntOrString` decodes into an int32 or a string.
    if isinstance(value, str):
        return value
    if type(value) is int and value in range(-(2**31), 2**31):
        return value
    return _report_number(found, value, "int32")


def _read_quantity(value: Any, found: Findings) -> Any:
    """A quantity in canonical form: `0.5` becomes `500m`, a number becomes a string."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return _report(found, value, _QUANTITY_FORMAT)
    try:
        text = str(Quantity(value))
    except InvalidArgument:
        has_suffix = re.fullmatch(
            r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)[eEinumkKMGTP]+[0-9]*", str(value)
        )
        return _report(found, value, _QUANTITY_SUFFIX if has_suffix else _QUANTITY_FORMAT)
    return value if text == value else text


_QUANTITY_SUFFIX: Final = "unable to parse quantity's suffix"
_QUANTITY_FORMAT: Final = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)


def _report(found: Findings, value: Any, problem: str) -> Any:
    found.problems.append(Finding("", problem))
    return value


def _time_reader(
    parse: Callable[[str], datetime], write: Callable[[Any], str], fraction: str = ""
) -> Reader:
    def read(value: Any, found: Findings) -> Any:
        if not isinstance(value, str):
            return report_type(found, value, "string")
        try:
            text = write(parse(value))
        except InvalidArgument:
            return _report(found, value, time_error(value, fraction))
        return value if text == value else text

    return read


def _read_duration(value: Any, found: Findings) -> Any:
    if not isinstance(value, str):
        return report_type(found, value, "string")
    try:
        text = str(Duration.parse(value))
    except InvalidArgument:
        return _report(found, value, f"time: invalid duration {quoted(value)}")
    return value if text == value else text


def _read_bytes(value: Any, found: Findings) -> Any:
    # Go decodes `[]byte` from base64.
    if isinstance(value, list) and value:
        return report_type(found, value[0], "uint8")
    if not isinstance(value, str):
        return report_type(found, value, "[]uint8")
    try:
        data = base64.b64decode(value.translate(_LINE_BREAKS), validate=True)
    except (binascii.Error, ValueError):
        return _report(found, value, base64_error(value))
    text = base64.b64encode(data).decode()
    return value if text == value else text


_LINE_BREAKS: Final = {ord("\r"): None, ord("\n"): None}  # Go's decoder skips them


_SCALARS: Final[dict[str, Reader]] = {
    "string": _read_str,
    "bool": _read_bool,
    "int": _int_reader(64),
    "int32": _int_reader(32),
    "int64": _int_reader(64),
    "float64": _read_float,
    "bytes": _read_bytes,
    "quantity": _read_quantity,
    "duration": _read_duration,
    "intstr": _read_int_or_string,
    "microtime": _time_reader(MicroTime.parse, format_micro_time, ".000000"),
    "time": _time_reader(parse_time, format_time),
}
