"""OpenAPI version 2 encoded as protobuf (gnostic's `openapi_v2.Document`), for kubectl.

Guarantees: includes what kubectl reads: definitions, paths, parameters, extensions. Other parts
of the document, such as security definitions, are omitted.
See also: the document itself (`openapi`).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

import msgspec

__all__ = ["MEDIA", "as_protobuf", "is_accepted"]

MEDIA: Final = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"

Encode: TypeAlias = Callable[[Any], bytes]

_VARINT, _DOUBLE, _BYTES = 0, 1, 2


def is_accepted(accept: str) -> bool:
    """Whether a client prefers protobuf: its Accept header names it first."""
    first = accept.partition(",")[0].strip()
    return first.replace("@", ".").startswith(MEDIA)


def as_protobuf(document: Mapping[str, Any]) -> bytes:
    """The document as the message `openapi.v2.Document`."""
    return _DOCUMENT(document)


# --- scalars


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def _delimited(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | _BYTES) + _varint(len(content)) + content


def _text(number: int) -> Encode:
    return lambda value: _delimited(number, value.encode())


def _texts(number: int) -> Encode:
    return lambda values: b"".join(_delimited(number, value.encode()) for value in values)


def _integer(number: int) -> Encode:
    return lambda value: _varint(number << 3 | _VARINT) + _varint(int(value))


def _double(number: int) -> Encode:
    return lambda value: _varint(number << 3 | _DOUBLE) + struct.pack("<d", value)


def _any(number: int) -> Encode:
    # The message `Any` contains YAML, and JSON is YAML.
    return lambda value: _delimited(number, _delimited(2, msgspec.json.encode(value)))


def _anys(number: int) -> Encode:
    one = _any(number)
    return lambda values: b"".join(map(one, values))


# --- messages


def _message(fields: Mapping[str, Encode], *, extensions: int = 0) -> Encode:
    """The encoder of a message: fields by their JSON names, `x-…` as vendor extensions."""

    def parts(value: Mapping[str, Any]) -> Iterator[bytes]:
        for key, content in value.items():
            if key in fields:
                yield fields[key](content)
            elif extensions and key.startswith("x-"):
                yield _delimited(extensions, _text(1)(key) + _any(2)(content))

    return lambda value: b"".join(parts(value))


def _in(number: int, content: Encode) -> Encode:
    return lambda value: _delimited(number, content(value))


def _each(number: int, content: Encode) -> Encode:
    return lambda values: b"".join(_delimited(number, content(value)) for value in values)


def _named(number: int, content: Encode) -> Encode:
    """The encoder of a JSON object as repeated pairs of name and value."""

    def entry(key: str, value: Any) -> bytes:
        return _delimited(number, _text(1)(key) + _delimited(2, content(value)))

    return lambda values: b"".join(entry(key, value) for key, value in values.items())


def _schema(value: Mapping[str, Any]) -> bytes:
    return _SCHEMA(value)  # a function, because the message is recursive


def _type(value: str | list[str]) -> bytes:
    return _texts(1)([value] if isinstance(value, str) else value)


def _additional(value: Any) -> bytes:
    return _integer(2)(value) if isinstance(value, bool) else _delimited(1, _schema(value))


def _parameter(value: Mapping[str, Any]) -> bytes:
    if "$ref" in value:
        return _delimited(2, _text(1)(value["$ref"]))
    return _delimited(1, _own_parameter(value))


def _own_parameter(value: Mapping[str, Any]) -> bytes:
    match value["in"]:
        case "body":
            return _delimited(1, _BODY(value))
        case "path":
            return _delimited(2, _delimited(4, _PATH_PARAMETER(value)))
    return _delimited(2, _delimited(3, _QUERY_PARAMETER(value)))


# The field numbers are those of OpenAPIv2.proto.
_SCHEMA: Final = _message(
    {
        "$ref": _text(1),
        "format": _text(2),
        "title": _text(3),
        "description": _text(4),
        "default": _any(5),
        "multipleOf": _double(6),
        "maximum": _double(7),
        "exclusiveMaximum": _integer(8),
        "minimum": _double(9),
        "exclusiveMinimum": _integer(10),
        "maxLength": _integer(11),
        "minLength": _integer(12),
        "pattern": _text(13),
        "maxItems": _integer(14),
        "minItems": _integer(15),
        "uniqueItems": _integer(16),
        "maxProperties": _integer(17),
        "minProperties": _integer(18),
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
    {"name": _text(2), "in": _text(3), "required": _integer(4), "schema": _in(5, _schema)},
    extensions=6,
)
_QUERY_PARAMETER: Final = _message(
    {"required": _integer(1), "in": _text(2), "name": _text(4), "type": _text(6)}, extensions=23
)
_PATH_PARAMETER: Final = _message(
    {"required": _integer(1), "in": _text(2), "name": _text(4), "type": _text(5)}, extensions=22
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
        "options": _in(6, _OPERATION),
        "head": _in(7, _OPERATION),
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
        "parameters": _in(10, _named(1, _own_parameter)),
    }
)
