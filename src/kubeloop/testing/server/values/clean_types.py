"""The fast path of `unknown_fields`: whether a body matches its class exactly.

Guarantees: True is certain: no unknown field, every type right, every scalar in the canonical
form that the server writes, no null anywhere. False only means that the slow path must decide.
See also: the slow path, which reports what is wrong and where (`unknown_fields`).
"""

from __future__ import annotations

import functools
from datetime import datetime
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from kubeloop.wire import Duration, MicroTime, Model, Quantity
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop.wire.plan import ListOf, MapOf, Node, Object, Value, plan_of

from .scalars import INT64_FIELDS, is_int_or_string

__all__ = ["is_clean"]


def is_clean(cls: type[Model], obj: dict[str, Any]) -> bool:
    """Whether `obj` certainly needs no change and has no error; False is always safe."""
    try:
        msgspec.convert(obj, _strict_class(cls))
    except (msgspec.ValidationError, RecursionError):
        return False
    return True


# A strict class has the fields of a model and narrower types. msgspec converts into it in one
# step, in C; whatever does not match, or is rare, is an error.

_NEVER: Final = Literal["\0"]
_DATE: Final = r"^[12]\d{3}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d"
# Only quantities that are certainly canonical: 1000m, 1024Ki and the like have a shorter form.
_QUANTITY: Final = (
    r"^(0|[1-9]\d{0,2}(m|k|M|G|Ki|Mi|Gi)?|[1-9](?!000)\d{3}(m|k|M|G)?"
    r"|(?!(1024|2048|3072|4096|5120|6144|7168|8192|9216))[1-9]\d{3}(Ki|Mi|Gi))\Z"
)
_BASE64: Final = r"^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?\Z"
_SCALARS: Final[dict[Any, Any]] = {
    str: str,
    bool: bool,
    float: float,
    bytes: Annotated[str, Meta(pattern=_BASE64)],
    Quantity: Annotated[str, Meta(pattern=_QUANTITY)],
    MicroTime: Annotated[str, Meta(pattern=_DATE + r"\.\d{6}Z\Z")],
    datetime: Annotated[str, Meta(pattern=_DATE + r"Z\Z")],
    Duration: _NEVER,
}


@functools.cache
def _strict_class(cls: type[Model]) -> Any:
    if cls.__name__ == "JSONSchemaProps":
        return _NEVER  # recursive, with fields that its class types as Any
    strict_type = _non_empty if cls is ObjectMeta else _type
    fields = [
        (f"field_{number}", strict_type(each.node, wire), None)
        for number, (wire, each) in enumerate(plan_of(cls).items())
    ]
    names = {f"field_{number}": wire for number, wire in enumerate(plan_of(cls))}
    return msgspec.defstruct(
        cls.__name__, fields, rename=names, forbid_unknown_fields=True, gc=False
    )


def _type(node: Node, name: str) -> Any:
    match node:
        case Object():
            return _strict_class(node.hint)
        case ListOf():
            return list[_type(node.item, name)]  # type: ignore[misc]  # made at run time
        case MapOf():
            return dict[str, _type(node.value, name)]  # type: ignore[misc]  # as above
    return _scalar(node, name)


def _scalar(node: Value, name: str) -> Any:
    if is_int_or_string(node.hint):
        return _int(32) | str
    if node.hint is int:
        return _int(64 if name in INT64_FIELDS else 32)
    return _SCALARS.get(node.hint, Any)


def _int(bits: int) -> Any:
    return Annotated[int, Meta(ge=-(2 ** (bits - 1)), le=2 ** (bits - 1) - 1)]


def _non_empty(node: Node, name: str) -> Any:
    """The type of a metadata field; Go omits empty values there, so they do not match."""
    match node:
        case ListOf() | MapOf():
            return Annotated[_type(node, name), Meta(min_length=1)]
        case Value(hint=hint) if hint is str:
            return Annotated[str, Meta(min_length=1)]
        case Value(hint=hint) if hint is int:
            return Annotated[int, Meta(ge=1, le=2**63 - 1)]
    return _type(node, name)
