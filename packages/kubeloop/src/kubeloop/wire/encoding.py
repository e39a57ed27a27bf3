"""Encodes models as JSON: the fields that are set, and the unknown keys.

Guarantees: only fields that are set are encoded, and unknown keys are unchanged; a value that
JSON cannot represent is an error with its path. Thread-safe.
See also: decoding (`codec`), the fields of a class (`plan`), YAML (`yaml`).
"""

from __future__ import annotations

import enum
import functools
import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from .errors import DecodeError, InvalidArgument
from .model import (
    IMPLIED,
    UNSET,
    ImpliedList,
    ImpliedMap,
    Kind,
    Model,
    api_version_of,
    api_version_slot,
    decode_lazy,
    kind_of,
    kind_slot,
)
from .plan import ListOf, MapOf, Node, Object, Value, plan_of
from .quantity import Quantity
from .times import Duration, MicroTime, format_micro_time, format_time

__all__ = ["to_builtins", "to_data", "to_json", "to_yaml"]


def to_builtins(model: Model) -> dict[str, Any]:
    """The JSON data of a model, which the caller may change.

    Raises:
        InvalidArgument: a field has a value that JSON cannot represent; the message has its path.
    """
    try:
        plain: dict[str, Any] = msgspec.to_builtins(to_data(model), enc_hook=_to_plain)
    except (TypeError, DecodeError, RecursionError) as error:
        raise _not_encodable(model, error) from error
    return plain


def to_json(model: Model) -> bytes:
    """The JSON text of a model. Raises `InvalidArgument` as `to_builtins` does."""
    try:
        return msgspec.json.encode(to_data(model))
    except (TypeError, UnicodeEncodeError, RecursionError) as error:  # such as a lone surrogate
        raise _not_encodable(model, error) from error


def to_data(model: Model) -> dict[str, Any]:
    """As `to_builtins`, for data that is encoded at once.

    What msgspec encodes by itself stays as it is: times in UTC, bytes, the JSON of lazy fields.
    """
    encoded: dict[str, Any] = {}
    if isinstance(model, Kind):
        api_version, kind = api_version_slot(model), kind_slot(model)
        if api_version is UNSET:
            api_version = api_version_of(type(model))
        if kind is UNSET:
            kind = kind_of(type(model))
        if api_version:
            encoded["apiVersion"] = api_version
        if kind:
            encoded["kind"] = kind
    try:
        return _encode_fields(model, encoded)
    except _EncodeError as error:
        raise InvalidArgument(
            f"cannot encode {type(model).__name__}.{error.path}: {error}"
        ) from error
    except RecursionError as error:
        raise _not_encodable(model, error) from error


def _not_encodable(model: Model, error: Exception) -> InvalidArgument:
    why = "nested too deeply" if isinstance(error, RecursionError) else error
    return InvalidArgument(f"cannot encode {type(model).__name__}: {why}")


def _to_plain(value: Any) -> Any:
    if type(value) is msgspec.Raw:
        return decode_lazy(value)
    for scalar in (str, int, float):  # a subclass
        if isinstance(value, scalar):
            return scalar(value)
    raise TypeError(f"JSON cannot represent a {type(value).__name__}")


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


def _encode_fields(model: Model, encoded: dict[str, Any]) -> dict[str, Any]:
    """`encoded` with the fields of a model that are set, and its unknown keys."""
    encoders = _encoders_of(type(model))
    for index, value in enumerate(msgspec.structs.astuple(model)):
        if value is UNSET or value is None:
            continue
        wire, encode = encoders[index]
        if encode is not None:
            try:
                value = encode(value)  # noqa: PLW2901 - the same value, encoded
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
def _encoders_of(cls: type[Model]) -> tuple[tuple[str, _Encoder | None], ...]:
    """The name in JSON and the encoder of every slot; unknown keys are encoded separately."""
    plan = plan_of(cls)
    return tuple(
        (wire, _encoder_for(plan[wire].node) if wire in plan else lambda _: UNSET)
        for wire in cls.__struct_encode_fields__
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
    encoded = _encode_fields(value, {})
    return UNSET if not encoded and value._extra is IMPLIED else encoded


def _encode_list(encode: _Encoder | None, value: Any) -> Any:
    if type(value) is not list:
        if not isinstance(value, list | tuple):
            raise _EncodeError(f"expected a list, found {type(value).__name__}")
        if not value and type(value) is ImpliedList:
            return UNSET
    if encode is None:
        scalars = [item for item in value if type(item) in _JSON_SCALARS]
        if len(scalars) == len(value):
            return scalars
    else:
        try:
            return [{} if (found := encode(item)) is UNSET else found for item in value]
        except _EncodeError:
            pass  # encoded again below, to name the index
    return [_element(index, encode, item) for index, item in enumerate(value)]


def _encode_map(encode: _Encoder | None, value: Any) -> Any:
    if type(value) is not dict:
        if not isinstance(value, Mapping):
            raise _EncodeError(f"expected a map, found {type(value).__name__}")
        if not value and type(value) is ImpliedMap:
            return UNSET
    if encode is None:
        texts = {key: item for key, item in value.items() if type(item) is type(key) is str}
        if len(texts) == len(value):
            return texts
    return {str(key): _element(key, encode, item) for key, item in value.items()}


def _encode_lazy(value: Any) -> Any:
    if type(value) is not msgspec.Raw:
        return _encode_map(None, value)
    return UNSET if value == _NULL else value


_NULL = msgspec.Raw(b"null")


def _element(step: object, encode: _Encoder | None, value: Any) -> Any:
    try:
        encoded = encode(value) if encode else _plain(value)
    except _EncodeError as error:
        raise error.at(f"[{step}]") from None
    return {} if encoded is UNSET else encoded


def _plain(value: Any) -> Any:
    """Free-form data as a copy, with the models and scalar types in it encoded."""
    match value:
        case None | str() | bool() | int() if type(value) in _JSON_SCALARS:
            return value
        case float():
            return _encode_float(value)
        case Model():
            return _encode_fields(value, {})
        case Mapping():
            return {str(key): _element(key, None, item) for key, item in value.items()}
        case list() | tuple():
            return [_element(index, None, item) for index, item in enumerate(value)]
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


def _encode_time(value: Any) -> str | datetime:
    if type(value) is datetime and value.tzinfo is UTC and not value.microsecond:
        return value  # msgspec writes it as the API does
    return value if isinstance(value, str) else _encode_scalar(format_time, value)


def _encode_micro_time(value: Any) -> str:
    return value if isinstance(value, str) else _encode_scalar(format_micro_time, value)


def _encode_quantity(value: Any) -> str:
    if type(value) is Quantity:
        return value.text
    return _encode_scalar(lambda given: Quantity(given).text, value)


def _encode_bytes(value: Any) -> bytes | bytearray | memoryview:
    if not isinstance(value, bytes | bytearray | memoryview):
        found = type(value).__name__
        raise _EncodeError(
            f"expected bytes, found {found} (encode it; a Secret takes text as string_data)"
        )
    return value


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
