"""Recognizes in one step in C that an object is already what Go would make of it.

A strict class has the fields of a Go struct and narrow types. msgspec converts into it; whatever
does not match, or is rare, is an error. Most objects match, and need no walk in Python.
Guarantees: a match is certain; no match only means that the slow path must decide. Both are
compared by property tests.
See also: the slow paths (`unknown_fields`, `zero_values`), the facts (`go_types`).
"""

from __future__ import annotations

import functools
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from .go_types import GoField, alias_of, fields_of, is_collection, is_struct, zeros_of

__all__ = ["is_clean", "is_complete"]


def is_clean(go_type: str, obj: dict[str, Any]) -> bool:
    """Whether `obj` certainly has no error, and decoding it drops and changes nothing.

    No unknown field, every type right, every scalar in the canonical form that the server
    writes, no null, and nothing empty that Go omits.
    """
    return _matches(obj, _clean_class(go_type))


def is_complete(go_type: str, obj: dict[str, Any], *, stored: bool = True) -> bool:
    """Whether Go certainly writes `obj`, which is clean, as it is: nothing is missing.

    Without `stored`, a list without `omitempty` may be empty.
    """
    return _matches(obj, _complete_class(go_type, stored=stored))


def _matches(obj: dict[str, Any], strict_class: Any) -> bool:
    try:
        msgspec.convert(obj, strict_class, dec_hook=_convert_custom)
    except (msgspec.ValidationError, RecursionError):
        return False
    return True


# --- types

_NEVER: Final = Literal["\0"]
_DATE: Final = r"^[12]\d{3}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d"
# Only quantities that are certainly canonical: 1000m, 1024Ki and the like have a shorter form.
_QUANTITY: Final = (
    r"^(0|[1-9]\d{0,2}(m|k|M|G|Ki|Mi|Gi)?|[1-9](?!000)\d{3}(m|k|M|G)?"
    r"|(?!(1024|2048|3072|4096|5120|6144|7168|8192|9216))[1-9]\d{3}(Ki|Mi|Gi))\Z"
)
_BASE64: Final = (
    r"^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?\Z"
)
_INT32: Final = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
_INT64: Final = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
_SCALARS: Final[dict[str, Any]] = {
    "string": str,
    "bool": bool,
    "int": _INT64,
    "int32": _INT32,
    "int64": _INT64,
    "float64": float,
    "bytes": Annotated[str, Meta(pattern=_BASE64)],
    "quantity": Annotated[str, Meta(pattern=_QUANTITY)],
    "microtime": Annotated[str, Meta(pattern=_DATE + r"\.\d{6}Z\Z")],
    "time": Annotated[str, Meta(pattern=_DATE + r"Z\Z")],
    "intstr": _INT32 | str,
    "duration": _NEVER,
    "any": Any,
    "fields": Any,
    "json": Any,
    "raw": Any,
}


class _True:
    """The type of a boolean that Go omits if it is false."""


_TRUE: Final = _True()


def _convert_custom(_: type, value: Any) -> Any:
    if value is True:
        return _TRUE
    raise ValueError("not true")  # msgspec makes a ValidationError of it


# Scalars that Go omits if they are zero; a negative number is rare.
_NOT_ZERO: Final[dict[str, Any]] = {
    "string": Annotated[str, Meta(min_length=1)],
    "bool": _True,
    "int": Annotated[int, Meta(ge=1, le=2**63 - 1)],
    "int32": Annotated[int, Meta(ge=1, le=2**31 - 1)],
    "int64": Annotated[int, Meta(ge=1, le=2**63 - 1)],
    "float64": Annotated[float, Meta(gt=0)],
}
_SCHEMA: Final = "apiextensions/v1.JSONSchemaProps"  # contains itself


@functools.cache
def _clean_class(struct: str) -> Any:
    if struct == _SCHEMA:
        return _NEVER
    fields = fields_of(struct)
    return _strict_class(struct, [(each.name, _clean_field(each), None) for each in fields])


def _clean_field(field: GoField) -> Any:
    if not field.omits_empty:
        return _clean_type(field.type)
    if is_collection(field.type):
        return _not_empty(_clean_type(field.type), field.type)
    return _NOT_ZERO.get(field.type) or _clean_type(field.type)


def _clean_type(go_type: str) -> Any:
    go_type = alias_of(go_type) or go_type
    if go_type.startswith("*"):
        return _clean_type(go_type[1:])
    if go_type.startswith("[]"):
        return list[_clean_type(go_type[2:])]  # type: ignore[misc]  # made at run time
    if go_type.startswith("map["):
        return dict[str, _clean_type(go_type.partition("]")[2])]  # type: ignore[misc]  # as above
    return _clean_class(go_type) if is_struct(go_type) else _SCALARS.get(go_type, _NEVER)


@functools.cache
def _complete_class(struct: str, *, stored: bool) -> Any:
    if struct == _SCHEMA:
        return _NEVER
    zeros = zeros_of(struct)
    return _strict_class(
        struct,
        [
            (
                each.name,
                _complete_field(each, zeros, stored=stored),
                msgspec.NODEFAULT if each.name in zeros else None,
            )
            for each in fields_of(struct)
        ],
    )


def _complete_field(field: GoField, zeros: dict[str, Any], *, stored: bool) -> Any:
    found = _complete_type(field.type, stored=stored)
    is_nil = stored and field.type != "bytes"
    if is_collection(field.type) and (is_nil or field.omits_empty):
        found = _not_empty(found, field.type)
    elif field.omits_empty:
        found = _NOT_ZERO.get(field.type, found)
    is_nullable = field.name in zeros and zeros[field.name] is None
    return found | None if is_nullable else found


def _complete_type(go_type: str, *, stored: bool) -> Any:
    go_type = alias_of(go_type) or go_type
    if go_type.startswith("*"):
        return _complete_type(go_type[1:], stored=stored)
    if go_type.startswith("[]"):
        return list[_complete_type(go_type[2:], stored=stored)]  # type: ignore[misc]  # made at run time
    if go_type.startswith("map["):
        return dict[str, _complete_type(go_type.partition("]")[2], stored=stored)]  # type: ignore[misc]
    if is_struct(go_type):
        return _complete_class(go_type, stored=stored)
    return _NOT_NULL.get(go_type, str) if go_type in _SCALARS else _NEVER


# Scalars without the limits that only matter for decoding; the others are strings.
_NOT_NULL: Final[dict[str, Any]] = {
    "bool": bool,
    "int": int,
    "int32": int,
    "int64": int,
    "float64": float,
    "intstr": int | str,
    **dict.fromkeys(("any", "fields", "json", "raw"), dict | list | str | float | bool),
}


def _not_empty(strict_type: Any, go_type: str) -> Any:
    if go_type == "bytes":
        # Base64 of at least one byte; the pattern of the type itself allows none.
        return Annotated[strict_type, Meta(min_length=4)]
    return Annotated[strict_type, Meta(min_length=1)]


def _strict_class(struct: str, fields: list[tuple[str, Any, Any]]) -> Any:
    names = {f"field_{number}": name for number, (name, _, _) in enumerate(fields)}
    return msgspec.defstruct(
        struct.rpartition(".")[2],
        [
            (f"field_{number}", strict_type, default)
            for number, (_, strict_type, default) in enumerate(fields)
        ],
        rename=names,
        forbid_unknown_fields=True,
        kw_only=True,
        gc=False,
    )
