"""OpenAPI version 2 as protobuf: the form in which kubectl reads it.

Promises: what kubectl looks at is there (definitions, paths, parameters, extensions); the
rest of the document, such as who may come in, is left out.
Elsewhere: the document itself (`openapi`).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

import msgspec

__all__ = ["MEDIA", "as_protobuf", "is_wanted"]

MEDIA: Final = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"

Encode: TypeAlias = Callable[[Any], bytes]

_VARINT, _DOUBLE, _BYTES = 0, 1, 2


def is_wanted(accept: str) -> bool:
    """Whether a client prefers this form: it is the first that it names."""
    first = accept.partition(",")[0].strip()
    return first.replace("@", ".").startswith(MEDIA)


def as_protobuf(document: Mapping[str, Any]) -> bytes:
    """The document as the message that its own description calls `Document`."""
    return _DOCUMENT(document)


# --- scalars


def _varint(value: int) -> bytes:
    said = bytearray()
    while value > 0x7F:
        said.append(value & 0x7F | 0x80)
        value >>= 7
    said.append(value)
    return bytes(said)


def _sized(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | _BYTES) + _varint(len(content)) + content


def _text(number: int) -> Encode:
    return lambda value: _sized(number, value.encode())


def _texts(number: int) -> Encode:
    return lambda values: b"".join(_sized(number, value.encode()) for value in values)


def _whole(number: int) -> Encode:
    return lambda value: _varint(number << 3 | _VARINT) + _varint(int(value))


def _double(number: int) -> Encode:
    return lambda value: _varint(number << 3 | _DOUBLE) + struct.pack("<d", value)


def _any(number: int) -> Encode:
    # A value of any kind travels as YAML, and JSON is YAML.
    return lambda value: _sized(number, _sized(2, msgspec.json.encode(value)))


def _anys(number: int) -> Encode:
    one = _any(number)
    return lambda values: b"".join(map(one, values))


# --- messages


def _message(fields: Mapping[str, Encode], *, extensions: int = 0) -> Encode:
    """A message from a JSON object: fields by their names, `x-…` as its extensions."""

    def parts(value: Mapping[str, Any]) -> Iterator[bytes]:
        for key, content in value.items():
            if key in fields:
                yield fields[key](content)
            elif extensions and key.startswith("x-"):
                yield _sized(extensions, _text(1)(key) + _any(2)(content))

    return lambda value: b"".join(parts(value))


def _in(number: int, content: Encode) -> Encode:
    return lambda value: _sized(number, content(value))


def _each(number: int, content: Encode) -> Encode:
    return lambda values: b"".join(_sized(number, content(value)) for value in values)


def _named(number: int, content: Encode) -> Encode:
    """A JSON object as a list of names and values."""

    def entry(key: str, value: Any) -> bytes:
        return _sized(number, _text(1)(key) + _sized(2, content(value)))

    return lambda values: b"".join(entry(key, value) for key, value in values.items())


def _schema(value: Mapping[str, Any]) -> bytes:
    return _SCHEMA(value)  # it holds schemas itself


def _type(value: str | list[str]) -> bytes:
    return _texts(1)([value] if isinstance(value, str) else value)


def _additional(value: Any) -> bytes:
    return _whole(2)(value) if isinstance(value, bool) else _sized(1, _schema(value))


def _parameter(value: Mapping[str, Any]) -> bytes:
    match value["in"]:
        case "body":
            content = _sized(1, _BODY(value))
        case "path":
            content = _sized(2, _sized(4, _PATH_PARAMETER(value)))
        case _:
            content = _sized(2, _sized(3, _QUERY_PARAMETER(value)))
    return _sized(1, content)


_SCHEMA: Final = _message(
    {
        "$ref": _text(1),
        "format": _text(2),
        "title": _text(3),
        "description": _text(4),
        "default": _any(5),
        "multipleOf": _double(6),
        "maximum": _double(7),
        "exclusiveMaximum": _whole(8),
        "minimum": _double(9),
        "exclusiveMinimum": _whole(10),
        "maxLength": _whole(11),
        "minLength": _whole(12),
        "pattern": _text(13),
        "maxItems": _whole(14),
        "minItems": _whole(15),
        "uniqueItems": _whole(16),
        "maxProperties": _whole(17),
        "minProperties": _whole(18),
        "required": _texts(19),
        "enum": _anys(20),
        "additionalProperties": _in(21, _additional),
        "type": _in(22, _type),
        "items": _in(23, _in(1, _schema)),
        "allOf": _each(24, _schema),
        "properties": _in(25, _named(1, _schema)),
    },
    extensions=31,
)
_BODY: Final = _message(
    {"name": _text(2), "in": _text(3), "required": _whole(4), "schema": _in(5, _schema)},
    extensions=6,
)
_QUERY_PARAMETER: Final = _message(
    {"required": _whole(1), "in": _text(2), "name": _text(4), "type": _text(6)}, extensions=23
)
_PATH_PARAMETER: Final = _message(
    {"required": _whole(1), "in": _text(2), "name": _text(4), "type": _text(5)}, extensions=22
)
_RESPONSE: Final = _message(
    {"description": _text(1), "schema": _in(2, _in(1, _schema))}, extensions=5
)
_OPERATION: Final = _message(
    {
        "tags": _texts(1),
        "description": _text(3),
        "operationId": _text(5),
        "produces": _texts(6),
        "consumes": _texts(7),
        "parameters": _each(8, _parameter),
        "responses": _in(9, _named(1, _in(1, _RESPONSE))),
    },
    extensions=13,
)
_PATH: Final = _message(
    {
        "get": _in(2, _OPERATION),
        "put": _in(3, _OPERATION),
        "post": _in(4, _OPERATION),
        "delete": _in(5, _OPERATION),
        "patch": _in(8, _OPERATION),
        "parameters": _each(9, _parameter),
    },
    extensions=10,
)
_DOCUMENT: Final = _message(
    {
        "swagger": _text(1),
        "info": _in(2, _message({"title": _text(1), "version": _text(2)})),
        "paths": _in(8, _named(2, _PATH)),
        "definitions": _in(9, _named(1, _schema)),
    }
)
