"""Writes objects with their keys in the order in which Go writes them.

Go writes the fields of a struct in the order of their declaration, and the keys of a map sorted by
their bytes. An object of a custom kind is a map, and so is everything in it.
Guarantees: only the order of keys is chosen here: an object that does not match its Go type is
written in the order that it has. In C, as every write and every response passes here.
See also: the types (`go_types`), what Go adds and leaves out (`zero_values`).
"""

from __future__ import annotations

import functools
from typing import Any, Final

import msgspec

from .go_types import alias_of, fields_of, go_type_of, is_struct

__all__ = ["encode_list_metadata", "encode_object", "encode_sorted", "spec_text"]

# "deterministic" sorts the keys of dicts, and leaves the fields of structs in their order.
_encode: Final = msgspec.json.Encoder(
    order="deterministic", enc_hook=lambda value: value.content
).encode
_encode_as_is: Final = msgspec.json.Encoder().encode


def encode_object(obj: dict[str, Any], api_version: str, kind: str) -> bytes:
    """The JSON of an object of a kind, which may lack its apiVersion and kind.

    Its `spec` may be a `msgspec.Raw`, which is written as it is (see `spec_text`).
    """
    if api_version.startswith("meta.k8s.io/"):
        api_version = "meta/v1"  # both versions have the same types
    struct = go_type_of(api_version, kind)
    return _encode_as(_class_of_object(struct), obj) if struct else encode_sorted(obj)


def spec_text(spec: Any, api_version: str, kind: str) -> bytes:
    """The JSON of the spec of an object of a kind."""
    struct = go_type_of(api_version, kind)
    return _encode_as(_spec_type(struct), spec) if struct else encode_sorted(spec)


def encode_list_metadata(metadata: Any) -> bytes:
    """The JSON of the metadata of a list of built-in kinds."""
    return _encode_as(_class("meta/v1.ListMeta"), metadata)


def encode_sorted(value: Any) -> bytes:
    """The JSON of a value in which every object is a map."""
    return _escaped(_encode(value))


def _encode_as(type_: Any, value: Any) -> bytes:
    try:
        text = _encode(msgspec.convert(value, type_, dec_hook=_convert))
    except msgspec.ValidationError:
        text = _encode_as_is(value)
    return _escaped(text)


# In JSON these only occur in strings; Go escapes them for web pages.
_ESCAPES: Final = (
    (b"<", b"\\u003c"),
    (b">", b"\\u003e"),
    (b"&", b"\\u0026"),
    (b"\xe2\x80\xa8", b"\\u2028"),
    (b"\xe2\x80\xa9", b"\\u2029"),
)


def _escaped(text: bytes) -> bytes:
    for character, escape in _ESCAPES:
        if character in text:
            text = text.replace(character, escape)
    return text


# --- types with the fields of Go's structs


class _Custom:
    """The type of a value that becomes another one for the encoder."""

    __slots__ = ("content",)
    go_type = ""

    def __init__(self, content: Any) -> None:
        self.content = content


class _Free(_Custom):
    """A value that Go keeps as the text that it came as."""


class _Schema(_Custom):
    """A schema of a definition, which contains itself."""


class _Spec(_Custom):
    """The spec of an object, which may be a text already."""


@functools.cache
def _class_of_object(struct: str) -> Any:
    spec = type("_SpecOf", (_Spec,), {"go_type": struct})
    return _struct(
        struct,
        [(f.name, spec if f.name == "spec" else _type(f.type)) for f in fields_of(struct)],
    )


@functools.cache
def _spec_type(struct: str) -> Any:
    return next((_type(field.type) for field in fields_of(struct) if field.name == "spec"), Any)


@functools.cache
def _class(struct: str) -> Any:
    return _struct(struct, [(field.name, _type(field.type)) for field in fields_of(struct)])


def _struct(struct: str, fields: list[tuple[str, Any]]) -> Any:
    return msgspec.defstruct(
        struct.rpartition(".")[2],
        [
            (f"field_{number}", type_ | msgspec.UnsetType | None, msgspec.UNSET)
            for number, (_, type_) in enumerate(fields)
        ],
        rename={f"field_{number}": name for number, (name, _) in enumerate(fields)},
        forbid_unknown_fields=True,
        kw_only=True,
        gc=False,
    )


def _type(go_type: str) -> Any:
    go_type = alias_of(go_type) or go_type
    if go_type.startswith("*"):
        return _type(go_type[1:])
    if go_type.startswith("[]"):
        return list[_type(go_type[2:]) | None]  # type: ignore[misc]  # made at run time
    if go_type.startswith("map["):
        return dict[str, _type(go_type.partition("]")[2]) | None]  # type: ignore[misc]  # as above
    if go_type in _SCHEMAS:
        return _Schema
    if go_type in {"any", "json", "raw"}:
        return _Free
    return _class(go_type) if is_struct(go_type) else _SCALARS.get(go_type, _SCALAR)


_SCALAR: Final = str | int | float | bool
_SCALARS: Final[dict[str, Any]] = {"fields": dict[str, Any]}


def _convert(type_: type[_Custom], value: Any) -> _Custom:
    if type_ is _Free:
        return type_(msgspec.Raw(_encode_as_is(value)))
    if type_ is _Schema:
        return type_(_ordered_schema(value))
    if isinstance(value, msgspec.Raw):
        return type_(value)
    return type_(msgspec.convert(value, _spec_type(type_.go_type), dec_hook=_convert))


# --- schemas of definitions

_SCHEMA: Final = "apiextensions/v1.JSONSchemaProps"
_SCHEMAS: Final = frozenset({_SCHEMA, "schemaorarray", "schemaorbool", "schemaorstrings"})


@functools.cache
def _schema_fields() -> tuple[type[Any], dict[str, tuple[str, str]]]:
    """The class of a schema; by their names, the attributes and types of its fields."""
    fields = fields_of(_SCHEMA)
    made = msgspec.defstruct(
        "Schema",
        [(f"field_{number}", Any, msgspec.UNSET) for number, _ in enumerate(fields)],
        rename={f"field_{number}": field.name for number, field in enumerate(fields)},
        kw_only=True,
    )
    return made, {each.name: (f"field_{n}", each.type) for n, each in enumerate(fields)}


def _ordered_schema(value: Any) -> Any:
    if isinstance(value, list):
        return [_ordered_schema(item) for item in value]
    if not isinstance(value, dict):
        return value
    made, fields = _schema_fields()
    if unknown := value.keys() - fields.keys():
        raise ValueError(f"unknown fields: {unknown}")
    return made(
        **{fields[key][0]: _ordered_field(item, fields[key][1]) for key, item in value.items()}
    )


def _ordered_field(value: Any, go_type: str) -> Any:
    element = go_type.rpartition("]")[2].lstrip("*")
    if element in _SCHEMAS and go_type.startswith("map[") and isinstance(value, dict):
        return {key: _ordered_schema(item) for key, item in value.items()}
    if element in _SCHEMAS:
        return _ordered_schema(value)
    return msgspec.Raw(_encode_as_is(value)) if element == "json" else value
