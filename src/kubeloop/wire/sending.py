"""Sends models as JSON: what is set, and what came without being known.

Guarantees: only what is set is sent, and keys that a class does not know go out as they came
in; what JSON cannot say is an error that names the path of the value. Any thread may send.
See also: the way in (`codec`), what a field is (`plan`), text formats (`yaml`).
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

from .errors import InvalidArgument
from .model import IMPLIED, UNSET, ImpliedList, ImpliedMap, Kind, Model
from .plan import ListOf, MapOf, Node, Object, Value, plan_of
from .quantity import Quantity
from .times import Duration, MicroTime, format_micro_time, format_time

__all__ = ["to_builtins", "to_json", "to_yaml"]


def to_builtins(model: Model) -> dict[str, Any]:
    """What would be sent, as plain data of the caller's own.

    Raises:
        InvalidArgument: a field holds something that JSON cannot say; its path is named.
    """
    try:
        fields = _object(model)
    except _Unsendable as error:
        raise InvalidArgument(
            f"cannot send {type(model).__name__}.{error.path}: {error}"
        ) from error
    except RecursionError as error:
        raise InvalidArgument(f"cannot send {type(model).__name__}: nested too deeply") from error
    if not isinstance(model, Kind):
        return fields
    said = {"apiVersion": model.api_version, "kind": model.kind}
    return {key: value for key, value in said.items() if value} | fields


def to_json(model: Model) -> bytes:
    """What would be sent, as JSON text. Raises `InvalidArgument` as `to_builtins` does."""
    try:
        return msgspec.json.encode(to_builtins(model))
    except UnicodeEncodeError as error:  # half of a surrogate pair is no text
        raise InvalidArgument(f"cannot send {type(model).__name__}: {error}") from error


def to_yaml(model: Model) -> str:
    """What would be sent, as one YAML document."""
    from .yaml import dump_document

    return dump_document(to_builtins(model))


class _Unsendable(Exception):
    """Carries the path while it grows outwards, from the value to the root."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.path = ""

    def at(self, step: str) -> _Unsendable:
        self.path = f"{step}.{self.path}" if self.path and self.path[0] != "[" else step + self.path
        return self


def _object(model: Model) -> dict[str, Any]:
    sent: dict[str, Any] = {}
    for wire, read, send in _senders(type(model)):
        value = read(model)
        if value is UNSET or value is None:
            continue
        if send is not None:
            try:
                value = send(value)
            except _Unsendable as error:
                raise error.at(wire) from None
            if value is UNSET:
                continue
        sent[wire] = value
    extra = model._extra
    if extra is not UNSET and extra is not IMPLIED:
        sent |= {key: _plain(value) for key, value in extra.items()}
    return sent


_Sender = Callable[[Any], Any]


@functools.cache
def _senders(cls: type[Model]) -> tuple[tuple[str, Callable[[Model], Any], _Sender | None], ...]:
    return tuple((field.wire, field.read, _sender(field.node)) for field in plan_of(cls).values())


def _sender(node: Node) -> _Sender | None:
    """How a value is sent; None where it goes out as it is."""
    match node:
        case Object():
            return _send_object
        case ListOf():
            return functools.partial(_send_list, _sender(node.item))
        case MapOf():
            return functools.partial(_send_map, _sender(node.value))
        case Value():
            return _SCALARS.get(node.hint, _plain)


def _send_object(value: Any) -> Any:
    if not isinstance(value, Model):
        return _plain(value)  # a plain dict in the place of a model is as good
    sent = _object(value)
    return UNSET if not sent and value._extra is IMPLIED else sent


def _send_list(send: _Sender | None, value: Any) -> Any:
    if not isinstance(value, list | tuple):
        raise _Unsendable(f"expected a list, found {type(value).__name__}")
    if not value and type(value) is ImpliedList:
        return UNSET
    return [_element(f"[{index}]", send, item) for index, item in enumerate(value)]


def _send_map(send: _Sender | None, value: Any) -> Any:
    if not isinstance(value, Mapping):
        raise _Unsendable(f"expected a map, found {type(value).__name__}")
    if not value and type(value) is ImpliedMap:
        return UNSET
    return {str(key): _element(f"[{key}]", send, item) for key, item in value.items()}


def _element(step: str, send: _Sender | None, value: Any) -> Any:
    try:
        sent = send(value) if send else _plain(value)
    except _Unsendable as error:
        raise error.at(step) from None
    return {} if sent is UNSET else sent


def _plain(value: Any) -> Any:
    """Free-form data, copied; models and scalars of ours inside it are sent as such."""
    match value:
        case None | str() | bool() | int() if type(value) in _JSON_SCALARS:
            return value
        case float():
            return _send_float(value)
        case Model():
            return _object(value)
        case Mapping():
            return {str(key): _element(f"[{key}]", None, item) for key, item in value.items()}
        case list() | tuple():
            return [_element(f"[{index}]", None, item) for index, item in enumerate(value)]
        case enum.Enum():
            return _plain(value.value)
    send = _SCALARS.get(type(value))
    if send is not None:
        return send(value)
    try:
        return msgspec.to_builtins(value)  # a struct or dataclass of the user's
    except TypeError as error:
        raise _Unsendable(f"JSON cannot say a {type(value).__name__}") from error


def _send_float(value: float) -> float:
    if not math.isfinite(value):
        raise _Unsendable(f"JSON has no number {value}")
    return float(value)


def _send_time(value: Any) -> str:
    return value if isinstance(value, str) else _checked(format_time, value)


def _send_micro_time(value: Any) -> str:
    return value if isinstance(value, str) else _checked(format_micro_time, value)


def _send_quantity(value: Any) -> str:
    return _checked(lambda given: Quantity(given).text, value)


def _send_bytes(value: Any) -> str:
    if not isinstance(value, bytes | bytearray | memoryview):
        found = type(value).__name__
        raise _Unsendable(
            f"expected bytes, found {found} (encode it; a Secret takes text as string_data)"
        )
    return base64.b64encode(value).decode()


def _checked(send: Callable[[Any], str], value: Any) -> str:
    try:
        return send(value)
    except (InvalidArgument, TypeError, AttributeError) as error:
        raise _Unsendable(str(error)) from error


_JSON_SCALARS = frozenset({type(None), str, bool, int})
_SCALARS: dict[Any, _Sender | None] = {
    str: None,
    bool: None,
    int: None,
    datetime: _send_time,
    MicroTime: _send_micro_time,
    Quantity: _send_quantity,
    Duration: str,
    bytes: _send_bytes,
}
