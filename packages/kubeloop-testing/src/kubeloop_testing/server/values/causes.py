"""Field errors in the words of kube-apiserver, one function for each `field.ErrorType`.

Guarantees: reason, message and the printed value of a cause have the format of apimachinery's
`field.Error`: `Invalid value: "x": must be …`.
See also: the `Status` that carries the causes (`statuses`), the rules that find them
(`schemas`, `crds`, `kinds`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from ..statuses import Cause, quoted

__all__ = [
    "IMMUTABLE",
    "Printed",
    "as_json",
    "declared",
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

# Go's encoding/json escapes these by default.
_HTML: Final = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


class Printed(str):
    """A value as it is printed: a Go struct, or a number that is no string (`go_values`)."""

    __slots__ = ()


def declared(cause: Cause) -> Cause:
    """A cause of kube-apiserver's declarative validation: it comes after all others."""
    return msgspec.structs.replace(cause, declared=True)


def required(field: str, detail: str = "") -> Cause:
    return Cause(field, "FieldValueRequired", _join("Required value", detail))


def forbidden(field: str, detail: str) -> Cause:
    return Cause(field, "FieldValueForbidden", _join("Forbidden", detail))


def invalid(field: str, value: Any, detail: str) -> Cause:
    return Cause(field, "FieldValueInvalid", _with_value("Invalid value", value, detail))


def type_invalid(field: str, value: Any, detail: str) -> Cause:
    """A value of the wrong JSON type: another reason, the same message as `invalid`."""
    return Cause(field, "FieldValueTypeInvalid", _with_value("Invalid value", value, detail))


def not_supported(field: str, value: Any, supported: Iterable[str]) -> Cause:
    detail = "supported values: " + ", ".join(quoted(each) for each in supported)
    return Cause(field, "FieldValueNotSupported", _with_value("Unsupported value", value, detail))


def not_found(field: str, value: Any, detail: str = "") -> Cause:
    return Cause(field, "FieldValueNotFound", _with_value("Not found", value, detail))


def duplicate(field: str, value: Any, detail: str = "") -> Cause:
    return Cause(field, "FieldValueDuplicate", _with_value("Duplicate value", value, detail))


def too_long(field: str, limit: int, *, unit: str = "byte") -> Cause:
    """Longer than `limit`; the message omits the value, which may be huge."""
    units = unit if limit == 1 else f"{unit}s"
    return Cause(field, "FieldValueTooLong", f"Too long: may not be more than {limit} {units}")


def too_many(field: str, found: int, limit: int) -> Cause:
    items = "item" if limit == 1 else "items"
    message = f"Too many: {found}: must have at most {limit} {items}"
    return Cause(field, "FieldValueTooMany", message)


def go_number(number: float) -> str:
    """A number as Go prints it: `1.5`, `3` for 3.0, `1e+21`."""
    # Go switches to an exponent at 1e21.
    if isinstance(number, bool):
        return "true" if number else "false"
    if isinstance(number, int):
        return str(number)
    text = repr(number)
    if number.is_integer() and abs(number) < 1e21:
        return str(int(number))
    return text


def as_json(value: Any, *, sort: bool = True) -> str:
    """Compact JSON with sorted keys and with the HTML escapes of Go's encoding/json."""
    text = json.dumps(value, separators=(",", ":"), sort_keys=sort, ensure_ascii=False)
    return "".join(_HTML.get(each, each) for each in text)


def _with_value(message: str, value: Any, detail: str) -> str:
    return _join(f"{message}: {_format(value)}", detail)


def _join(message: str, detail: str) -> str:
    return f"{message}: {detail}" if detail else message


def _format(value: Any) -> str:
    # `field.Error` prints other values as JSON.
    if isinstance(value, Printed):
        return str(value)
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, int | float):
        return go_number(value)
    return as_json(value)
