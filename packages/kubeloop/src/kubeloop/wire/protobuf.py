"""Decodes protobuf bodies of the API into the JSON data of the same object, in pure Python.

Guarantees: an envelope (`k8s\\0`, a type, the raw message) comes out as plain data with
apiVersion and kind; a field that Go writes although it is empty is left out, as Go's JSON
leaves it out; whatever is not such a body raises `DecodeError`.
See also: the fields (`protobuf_messages`), the fast reader of clients, which needs an extra
(`protobuf_codec`), and the writer (`protobuf_writing`).
"""

from __future__ import annotations

import base64
import functools
import struct
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from .errors import DecodeError
from .protobuf_messages import MAGIC, PROTOBUF, SCHEMAS, MessageField, message_fields, message_of

__all__ = ["MAGIC", "PROTOBUF", "from_protobuf"]

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_DEPTH = 100  # no object of the API is nested as deeply


def from_protobuf(body: bytes) -> dict[str, Any]:
    """The object in an envelope, as plain JSON data.

    Raises:
        DecodeError: no envelope, a kind that is not built in, or a broken message.
    """
    if not body.startswith(MAGIC):
        raise DecodeError("the body is not protobuf of the API: it does not begin with k8s\\0")
    try:
        return _unwrap(body[len(MAGIC) :])
    except (
        IndexError,
        ValueError,
        TypeError,
        struct.error,
        OverflowError,
        RecursionError,
    ) as error:
        if isinstance(error, DecodeError):
            raise
        raise DecodeError(f"the body is not protobuf of the API: {error}") from error


def _unwrap(text: bytes) -> dict[str, Any]:
    parts = {number: value for number, _, value in _fields(text)}
    kind = {number: value for number, _, value in _fields(_as_bytes(parts.get(1, b"")))}
    api_version = _as_bytes(kind.get(1, b"")).decode()
    name = _as_bytes(kind.get(2, b"")).decode()
    if parts.get(3):
        raise DecodeError("the body has a content encoding, which is not supported")
    type_meta = {"apiVersion": api_version, "kind": name}
    return type_meta | _message(message_of(api_version, name), _as_bytes(parts.get(2, b"")), 0)


def _fields(text: bytes) -> Iterator[tuple[int, int, int | bytes]]:
    """The fields of a message in order: number, wire type, value."""
    at = 0
    while at < len(text):
        tag, at = _varint(text, at)
        kind = tag & 7
        if kind == _VARINT:
            value, at = _varint(text, at)
            yield tag >> 3, kind, value
            continue
        if kind == _BYTES:
            size, at = _varint(text, at)
        elif kind in (_FIXED64, _FIXED32):
            size = 8 if kind == _FIXED64 else 4
        else:
            raise ValueError(f"wire type {kind} at byte {at}")
        if at + size > len(text):
            raise ValueError(f"truncated in field {tag >> 3}")
        yield tag >> 3, kind, text[at : at + size]
        at += size


def _varint(text: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = text[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError(f"an unterminated number at byte {at}")


def _message(name: str, text: bytes, depth: int) -> dict[str, Any]:
    if depth > _DEPTH:
        raise ValueError("it is nested too deeply")
    known = _by_number(name)
    found: dict[str, Any] = {}
    for number, kind, value in _fields(text):
        field = known.get(number)
        if field is not None:
            plain = field.presence != "p"
            _put(found, (field.wire, field.how, plain), _reader(field.type, kind, depth), value)
    return found


@functools.cache
def _by_number(name: str) -> dict[int, MessageField]:
    return {field.number: field for field in message_fields(name)}


def _put(
    found: dict[str, Any],
    field: tuple[str, str, bool],
    read: Callable[[int | bytes], Any],
    value: int | bytes,
) -> None:
    wire, how, plain = field
    match how:
        case "list":
            found.setdefault(wire, []).append(read(value))
        case "map":
            key, entry = _entry(_as_bytes(value), read)
            found.setdefault(wire, {})[key] = entry
        case "inline":
            found.update(read(value))
        case _:
            decoded = read(value)
            if decoded is not None and (not plain or decoded not in _EMPTY):
                found[wire] = decoded


_EMPTY: tuple[Any, ...] = ("", 0, False, {}, 0.0)


def _entry(text: bytes, read: Callable[[int | bytes], Any]) -> tuple[str, Any]:
    parts: dict[int, int | bytes] = {1: b"", 2: b""}
    parts |= {number: value for number, _, value in _fields(text)}
    return _as_bytes(parts[1]).decode(), read(parts[2])


def _reader(type_: str, kind: int, depth: int) -> Callable[[int | bytes], Any]:
    special = _READERS.get(type_)
    if special is not None:
        return special
    if kind != _BYTES:
        raise ValueError(f"found a number, expected a {type_}")
    if type_ in SCHEMAS:
        return lambda value: _schema(type_, _as_bytes(value), depth + 1)
    return lambda value: _message(type_, _as_bytes(value), depth + 1)


def _as_bytes(value: int | bytes) -> bytes:
    if isinstance(value, int):
        raise ValueError("found a number, expected bytes")
    return value


def _as_int(value: int | bytes) -> int:
    if not isinstance(value, int):
        raise ValueError("found bytes, expected a number")
    return value - (1 << 64) if value >= 1 << 63 else value


def _text(value: int | bytes) -> str:
    return _as_bytes(value).decode()


def _double(value: int | bytes) -> float:
    (found,) = struct.unpack("<d", _as_bytes(value))
    return float(found)


def _numbers(value: int | bytes) -> dict[int, Any]:
    return {number: part for number, _, part in _fields(_as_bytes(value))}


def _timestamp(value: int | bytes) -> datetime | None:
    parts = _numbers(value)
    if not parts:
        return None  # the zero time
    seconds = timedelta(seconds=_as_int(parts.get(1, 0)))
    return datetime.fromtimestamp(0, UTC) + seconds + _micros(parts.get(2, 0))


def _micros(nanos: int | bytes) -> timedelta:
    return timedelta(microseconds=_as_int(nanos) // 1000)


def _time(value: int | bytes) -> str | None:
    timestamp = _timestamp(value)
    return timestamp.strftime("%Y-%m-%dT%H:%M:%SZ") if timestamp else None


def _micro_time(value: int | bytes) -> str | None:
    timestamp = _timestamp(value)
    return timestamp.strftime("%Y-%m-%dT%H:%M:%S.%fZ") if timestamp else None


def _int_or_string(value: int | bytes) -> int | str:
    parts = _numbers(value)
    return _text(parts.get(3, b"")) if parts.get(1) else _as_int(parts.get(2, 0))


def _raw(value: int | bytes) -> Any:
    raw = _as_bytes(_numbers(value).get(1, b""))
    try:
        return msgspec.json.decode(raw) if raw else None
    except msgspec.DecodeError as error:
        raise ValueError(f"the embedded value is not JSON: {error}") from error


_READERS: dict[str, Callable[[int | bytes], Any]] = {
    "string": _text,
    "bytes": lambda value: base64.b64encode(_as_bytes(value)).decode(),
    "bool": lambda value: bool(_as_int(value)),
    "int32": _as_int,
    "int64": _as_int,
    "double": _double,
    "Quantity": lambda value: _text(_numbers(value).get(1, b"0")) or "0",
    "IntOrString": _int_or_string,
    "Time": _time,
    "MicroTime": _micro_time,
    "Raw": _raw,
    "strings": lambda value: [_text(part) for _, _, part in _fields(_as_bytes(value))],
}


def _schema(type_: str, text: bytes, depth: int) -> Any:
    """The three fields of a CRD's schema that have one of two types."""
    parts = list(_fields(text))
    one = [value for number, _, value in parts if number == (2 if type_ == "SchemaOrBool" else 1)]
    if one and type_ != "SchemaOrBool":
        return _message("apiextensions_v1.JSONSchemaProps", _as_bytes(one[0]), depth)
    if type_ == "SchemaOrStrings":
        return [_text(value) for number, _, value in parts if number == 2]
    if type_ == "SchemaOrArray":
        return [
            _message("apiextensions_v1.JSONSchemaProps", _as_bytes(value), depth)
            for number, _, value in parts
            if number == 2
        ]
    if one:
        return _message("apiextensions_v1.JSONSchemaProps", _as_bytes(one[0]), depth)
    return any(number == 1 and value for number, _, value in parts)
