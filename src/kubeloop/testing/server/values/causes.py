"""What is wrong with a field, said the way kube-apiserver says it.

Promises: a cause's reason, its message and how the offending value is printed have the shape
of kube-apiserver's field errors: `Invalid value: "x": must be …`.
Elsewhere: the answer that carries the causes (`statuses`), the rules that find them
(`schemas`, `crds`, `builtin_validation`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

from ..statuses import Cause

__all__ = [
    "IMMUTABLE",
    "as_json",
    "duplicate",
    "forbidden",
    "go_number",
    "invalid",
    "not_found",
    "not_supported",
    "quoted",
    "required",
    "too_long",
    "too_many",
    "type_invalid",
]

IMMUTABLE: Final = "field is immutable"

_ESCAPES: Final = {
    '"': '\\"',
    "\\": "\\\\",
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
}
_HTML: Final = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def required(field: str, detail: str = "") -> Cause:
    return Cause(field, "FieldValueRequired", _joined("Required value", detail))


def forbidden(field: str, detail: str) -> Cause:
    return Cause(field, "FieldValueForbidden", _joined("Forbidden", detail))


def invalid(field: str, value: Any, detail: str) -> Cause:
    return Cause(field, "FieldValueInvalid", _with_value("Invalid value", value, detail))


def type_invalid(field: str, value: Any, detail: str) -> Cause:
    """A value of the wrong JSON type: another reason, the same words."""
    return Cause(field, "FieldValueTypeInvalid", _with_value("Invalid value", value, detail))


def not_supported(field: str, value: Any, supported: Iterable[str]) -> Cause:
    detail = "supported values: " + ", ".join(quoted(each) for each in supported)
    return Cause(field, "FieldValueNotSupported", _with_value("Unsupported value", value, detail))


def not_found(field: str, value: Any) -> Cause:
    return Cause(field, "FieldValueNotFound", _with_value("Not found", value, ""))


def duplicate(field: str, value: Any) -> Cause:
    return Cause(field, "FieldValueDuplicate", _with_value("Duplicate value", value, ""))


def too_long(field: str, limit: int, *, unit: str = "byte") -> Cause:
    """Longer than `limit`; the value itself is left out of the message."""
    some = unit if limit == 1 else f"{unit}s"
    return Cause(field, "FieldValueTooLong", f"Too long: may not be more than {limit} {some}")


def too_many(field: str, found: int, limit: int) -> Cause:
    some = "item" if limit == 1 else "items"
    return Cause(field, "FieldValueTooMany", f"Too many: {found}: must have at most {limit} {some}")


def quoted(text: str) -> str:
    """`text` as a Go string literal, the way the server prints strings."""
    return f'"{"".join(map(_in_quotes, text))}"'


def go_number(number: float) -> str:
    """A number as the server prints it: `1.5`, `3` for 3.0, `1e+21`."""
    if isinstance(number, bool):
        return "true" if number else "false"
    if isinstance(number, int):
        return str(number)
    text = repr(number)
    if number.is_integer() and abs(number) < 1e21:
        return str(int(number))
    return text


def as_json(value: Any) -> str:
    """Compact JSON with sorted keys, and with the characters escaped that HTML minds."""
    text = json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
    return "".join(_HTML.get(each, each) for each in text)


def _with_value(what: str, value: Any, detail: str) -> str:
    return _joined(f"{what}: {_shown(value)}", detail)


def _joined(said: str, detail: str) -> str:
    return f"{said}: {detail}" if detail else said


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, int | float):
        return go_number(value)
    return as_json(value)


def _in_quotes(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    return character if character.isprintable() else _unprintable(ord(character))


def _unprintable(point: int) -> str:
    if point < 0x80:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"
