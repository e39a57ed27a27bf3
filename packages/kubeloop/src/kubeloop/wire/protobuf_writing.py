"""Writes the JSON data of objects as protobuf, as Go writes it; in pure Python.

Guarantees: what Go holds by value is written although it is empty, fields come in the order of
their numbers, and keys of maps are sorted: equal objects are equal bytes. The data must have the
types of its kind, as an object that a server has stored does.
See also: the fields (`protobuf_messages`), reading (`protobuf`, `protobuf_codec`).
"""

from __future__ import annotations

import base64
import functools
import struct
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import msgspec

from .json_values import JsonObject
from .protobuf_messages import LIST_HEAD, MAGIC, SCHEMAS, MessageField, message_fields, message_of
from .times import parse_time

__all__ = [
    "envelope",
    "list_item",
    "list_start",
    "message_bytes",
    "to_protobuf",
    "watch_frame",
]

_Write: TypeAlias = Callable[[Any], bytes]  # a value as the content of its field


def to_protobuf(obj: JsonObject) -> bytes:
    """An object with apiVersion and kind, in its envelope.

    Raises:
        DecodeError: it is not of a built-in kind.
    """
    api_version, kind = str(obj.get("apiVersion") or ""), str(obj.get("kind") or "")
    return envelope(api_version, kind, message_bytes(message_of(api_version, kind), obj))


def envelope(api_version: str, kind: str, message: bytes) -> bytes:
    """A message with the type of its object: `k8s\\0` and a runtime.Unknown."""
    type_meta = _field(1, api_version.encode()) + _field(2, kind.encode())
    parts = (_field(1, type_meta), _field(2, message), _field(3, b""), _field(4, b""))
    return MAGIC + b"".join(parts)


def message_bytes(message: str, data: JsonObject) -> bytes:
    """The fields of an object, such as a `core_v1.Pod`, without an envelope."""
    return _message_writer(message)(data)


def list_start(metadata: JsonObject) -> bytes:
    """The message of a list, before its items."""
    return _field(1, message_bytes(LIST_HEAD, metadata))


def list_item(message: bytes) -> bytes:
    """An item of a list, to be appended to `list_start`."""
    return _field(2, message)


def watch_frame(type_: str, obj: bytes) -> bytes:
    """An event of a watch with its object, which has an envelope; the length comes first."""
    event = _field(1, type_.encode()) + _field(2, _field(1, obj))
    return len(event).to_bytes(4, "big") + event


def _number(value: int) -> bytes:
    if 0 <= value < 0x80:
        return _SMALL[value]
    value &= 0xFFFF_FFFF_FFFF_FFFF  # a negative number has ten bytes
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


_SMALL: Final = [bytes((number,)) for number in range(0x80)]


def _field(number: int, content: bytes) -> bytes:
    """A field of bytes, text or a message."""
    return _number(number << 3 | 2) + _number(len(content)) + content


# --- the writer of a message


@functools.cache
def _message_writer(message: str) -> Callable[[JsonObject], bytes]:
    fields: list[tuple[str, bytes, Callable[[Any], bytes]]] = []

    def write(data: JsonObject) -> bytes:
        if not fields:  # not earlier: messages refer to each other in cycles
            fields.extend(_prepare(field) for field in message_fields(message))
        out = []
        for wire, empty, put in fields:
            value = data.get(wire) if wire else data
            if value is not None:
                out.append(put(value))
            elif empty:
                out.append(empty)
        return b"".join(out)

    return write


def _prepare(field: MessageField) -> tuple[str, bytes, Callable[[Any], bytes]]:
    """The JSON name, the bytes without a value, and the function for a value."""
    write = _value_writer(field.type)
    tag = _number(field.number << 3 | _wire_type(field.type))
    sized = _wire_type(field.type) == 2

    def put(value: Any) -> bytes:
        content = write(value)
        return tag + _number(len(content)) + content if sized else tag + content

    if field.how == "list":
        return field.wire, b"", lambda items: b"".join([put(item) for item in items])
    if field.how == "map":
        return field.wire, b"", _map_writer(field)
    if field.how == "inline":
        return "", b"", put
    empty = b""
    if field.presence == "n":
        empty = tag + b"\x00"
    elif field.presence != "p" and field.type != "bytes":
        empty = put(_ZEROS.get(field.type, _EMPTY))
    return field.wire, empty, put


_EMPTY: Final[JsonObject] = {}
_ZEROS: Final[dict[str, Any]] = {
    "string": "",
    "bool": False,
    "int32": 0,
    "int64": 0,
    "double": 0.0,
    "Quantity": "0",
    "IntOrString": 0,
}


def _map_writer(field: MessageField) -> Callable[[dict[str, Any]], bytes]:
    put = _prepare(MessageField(2, "value", "", field.type, "p"))[2]
    number = field.number

    def write(value: dict[str, Any]) -> bytes:
        return b"".join(
            [_field(number, _field(1, key.encode()) + put(value[key])) for key in sorted(value)]
        )

    return write


def _wire_type(type_: str) -> int:
    if type_ in {"bool", "int32", "int64"}:
        return 0
    return 1 if type_ == "double" else 2


def _value_writer(type_: str) -> _Write:
    if type_ in SCHEMAS:
        return functools.partial(_schema, type_)
    found = _WRITERS.get(type_)
    return _message_writer(type_) if found is None else found


def _quantity(value: object) -> bytes:
    return _field(1, str(value).encode())


def _int_or_string(value: int | str) -> bytes:
    if isinstance(value, str):
        return b"\x08\x01\x10\x00" + _field(3, value.encode())
    return b"\x08\x00\x10" + _number(value) + b"\x1a\x00"


def _time(value: str) -> bytes:
    seconds = int(parse_time(value).timestamp())
    return b"\x08" + _number(seconds) + b"\x10\x00"  # JSON has whole seconds only


def _micro_time(value: str) -> bytes:
    time = parse_time(value)
    seconds = int(time.replace(microsecond=0).timestamp())
    return b"\x08" + _number(seconds) + b"\x10" + _number(time.microsecond * 1000)


def _raw(value: Any) -> bytes:
    return b"" if value is None else _field(1, msgspec.json.encode(value))


def _strings(value: list[str]) -> bytes:
    return b"".join([_field(1, item.encode()) for item in value])


_WRITERS: Final[dict[str, _Write]] = {
    "string": str.encode,
    "bytes": base64.b64decode,
    "bool": lambda value: b"\x01" if value else b"\x00",
    "int32": _number,
    "int64": _number,
    "double": struct.Struct("<d").pack,
    "Quantity": _quantity,
    "IntOrString": _int_or_string,
    "Time": _time,
    "MicroTime": _micro_time,
    "Raw": _raw,
    "strings": _strings,
}


def _schema(type_: str, value: Any) -> bytes:
    """A value of one of two types in the schema of a CRD."""
    write = _message_writer("apiextensions_v1.JSONSchemaProps")
    if type_ == "SchemaOrBool":
        if isinstance(value, dict):
            return b"\x08\x01" + _field(2, write(value))
        return b"\x08\x01" if value else b"\x08\x00"
    if isinstance(value, dict):
        return _field(1, write(value))
    items = [item.encode() if isinstance(item, str) else write(item) for item in value]
    return b"".join([_field(2, item) for item in items])
