"""Encodes models as JSON: the fields that are set, and the unknown keys.

Guarantees: only fields that are set are encoded, and unknown keys are unchanged; a value that
JSON cannot represent is an error with its path. Thread-safe.
See also: decoding (`codec`), the fields of a class (`plan`), YAML (`yaml`).
"""

from __future__ import annotations

import base64
import enum
import functools
import math
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import msgspec

from .errors import DecodeError, InvalidArgument
from .model import IMPLIED, UNSET, ImpliedList, ImpliedMap, Kind, Model, decode_lazy
from .plan import ListOf, MapOf, Node, Object, Value, plan_of
from .quantity import Quantity
from .times import Duration, MicroTime, format_micro_time, format_time

__all__ = ["to_builtins", "to_json", "to_yaml"]


def to_builtins(model: Model) -> dict[str, Any]:
    """The JSON data of a model, which the caller may change.

    Raises:
        InvalidArgument: a field has a value that JSON cannot represent; the message has its path.
    """
    try:
        fields = _object(model)
    except _EncodeError as error:
        raise InvalidArgument(
            f"cannot encode {type(model).__name__}.{error.path}: {error}"
        ) from error
    except RecursionError as error:
        raise InvalidArgument(f"cannot encode {type(model).__name__}: nested too deeply") from error
    if not isinstance(model, Kind):
        return fields
    type_meta = {"apiVersion": model.api_version, "kind": model.kind}
    return {key: value for key, value in type_meta.items() if value} | fields


def to_json(model: Model) -> bytes:
    """The JSON text of a model. Raises `InvalidArgument` as `to_builtins` does."""
    try:
        return msgspec.json.encode(to_builtins(model))
    except UnicodeEncodeError as error:  # a lone surrogate cannot be encoded
        raise InvalidArgument(f"cannot encode {type(model).__name__}: {error}") from error


def to_yaml(model: Model) -> str:
    """The YAML document of a model."""
    from .yaml import dump_document

    return dump_document(to_builtins(model))


class _EncodeError(Exception):
    """An error whose path grows from the value to the root."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.path = ""

    def at(self, step: str) -> _EncodeError:
        self.path = f"{step}.{self.path}" if self.path and self.path[0] != "[" else step + self.path
        return self


def _object(model: Model) -> dict[str, Any]:
    encoded: dict[str, Any] = {}
    for wire, read, encode in _encoders_of(type(model)):
        value = read(model)
        if value is UNSET or value is None:
            continue
        if encode is not None:
            try:
                value = encode(value)
            except _EncodeError as error:
                raise error.at(wire) from None
            if value is UNSET:
                continue
        encoded[wire] = value
    extra = model._extra
    if extra is not UNSET and extra is not IMPLIED:
        encoded |= {key: _plain(value) for key, value in extra.items()}
    return encoded


_Encoder = Callable[[Any], Any]


@functools.cache
def _encoders_of(
    cls: type[Model],
) -> tuple[tuple[str, Callable[[Model], Any], _Encoder | None], ...]:
    return tuple(
        (field.wire, field.read, _encoder_for(field.node)) for field in plan_of(cls).values()
    )


def _encoder_for(node: Node) -> _Encoder | None:
    """The encoder of a value; None if it needs none."""
    match node:
        case Object():
            return _encode_object
        case ListOf():
            return functools.partial(_encode_list, _encoder_for(node.item))
        case MapOf() if node.hint is msgspec.Raw:
            return _encode_lazy
        case MapOf():
            return functools.partial(_encode_map, _encoder_for(node.value))
        case Value():
            return _SCALARS.get(node.hint, _plain)


def _encode_object(value: Any) -> Any:
    if not isinstance(value, Model):
        return _plain(value)  # a plain dict is accepted instead of a model
    encoded = _object(value)
    return UNSET if not encoded and value._extra is IMPLIED else encoded


def _encode_list(encode: _Encoder | None, value: Any) -> Any:
    if not isinstance(value, list | tuple):
        raise _EncodeError(f"expected a list, found {type(value).__name__}")
    if not value and type(value) is ImpliedList:
        return UNSET
    return [_element(f"[{index}]", encode, item) for index, item in enumerate(value)]


def _encode_map(encode: _Encoder | None, value: Any) -> Any:
    if not isinstance(value, Mapping):
        raise _EncodeError(f"expected a map, found {type(value).__name__}")
    if not value and type(value) is ImpliedMap:
        return UNSET
    return {str(key): _element(f"[{key}]", encode, item) for key, item in value.items()}


def _encode_lazy(value: Any) -> Any:
    if type(value) is not msgspec.Raw:
        return _encode_map(None, value)
    try:
        found = decode_lazy(value)
    except DecodeError as error:
        raise _EncodeError(str(error)) from error
    return UNSET if found is None else found


def _element(step: str, encode: _Encoder | None, value: Any) -> Any:
    try:
        encoded = encode(value) if encode else _plain(value)
    except _EncodeError as error:
        raise error.at(step) from None
    return {} if encoded is UNSET else encoded


def _plain(value: Any) -> Any:
    """Free-form data as a copy, with the models and scalar types in it encoded."""
    match value:
        case None | str() | bool() | int() if type(value) in _JSON_SCALARS:
            return value
        case float():
            return _encode_float(value)
        case Model():
            return _object(value)
        case Mapping():
            return {str(key): _element(f"[{key}]", None, item) for key, item in value.items()}
        case list() | tuple():
            return [_element(f"[{index}]", None, item) for index, item in enumerate(value)]
        case enum.Enum():
            return _plain(value.value)
    encode = _SCALARS.get(type(value))
    if encode is not None:
        return encode(value)
    try:
        return msgspec.to_builtins(value)  # a struct or dataclass of the user
    except TypeError as error:
        raise _EncodeError(f"JSON cannot represent a {type(value).__name__}") from error


def _encode_float(value: float) -> float:
    if not math.isfinite(value):
        raise _EncodeError(f"JSON has no number {value}")
    return float(value)


def _encode_time(value: Any) -> str:
    return value if isinstance(value, str) else _encode_scalar(format_time, value)


def _encode_micro_time(value: Any) -> str:
    return value if isinstance(value, str) else _encode_scalar(format_micro_time, value)


def _encode_quantity(value: Any) -> str:
    return _encode_scalar(lambda given: Quantity(given).text, value)


def _encode_bytes(value: Any) -> str:
    if not isinstance(value, bytes | bytearray | memoryview):
        found = type(value).__name__
        raise _EncodeError(
            f"expected bytes, found {found} (encode it; a Secret takes text as string_data)"
        )
    return base64.b64encode(value).decode()


def _encode_scalar(encode: Callable[[Any], str], value: Any) -> str:
    try:
        return encode(value)
    except (InvalidArgument, TypeError, AttributeError) as error:
        raise _EncodeError(str(error)) from error


_JSON_SCALARS = frozenset({type(None), str, bool, int})
_SCALARS: dict[Any, _Encoder | None] = {
    str: None,
    bool: None,
    int: None,
    datetime: _encode_time,
    MicroTime: _encode_micro_time,
    Quantity: _encode_quantity,
    Duration: str,
    bytes: _encode_bytes,
}
