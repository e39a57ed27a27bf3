"""Derives the structural OpenAPI schema of a model class from its annotations.

Guarantees: every value has one type, as the server requires; a field without a value in its
class is required, a value is its default, a docstring is a description; what a schema cannot
express raises `InvalidArgument` with the class, the path of the field and a suggestion.
See also: the definition (`crd_from_class`), the opposite direction (`classes_from_crd`).
"""

from __future__ import annotations

import enum
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias, Union, final

import msgspec

from kubeloop.wire import (
    Duration,
    FieldFacts,
    InvalidArgument,
    MicroTime,
    Model,
    Quantity,
    facts_of,
    required_fields,
)
from kubeloop.wire.definitions import is_built_in

__all__ = ["INT_OR_STRING", "PRESERVE", "QUANTITY", "Schema", "description_of", "schema_of"]

Schema: TypeAlias = dict[str, Any]

PRESERVE = "x-kubernetes-preserve-unknown-fields"
# The schemas that built-in kinds have for int-or-string and for quantities.
INT_OR_STRING: Mapping[str, Any] = {
    "anyOf": [{"type": "integer"}, {"type": "string"}],
    "x-kubernetes-int-or-string": True,
}
_DIGITS = r"(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
QUANTITY: Mapping[str, Any] = {
    **INT_OR_STRING,
    "pattern": rf"^(\+|-)?{_DIGITS}(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?{_DIGITS}))?$",
}

_SCALARS: dict[Any, Mapping[str, Any]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bytes: {"type": "string", "format": "byte"},
    datetime: {"type": "string", "format": "date-time"},
    MicroTime: {"type": "string", "format": "date-time"},
    Duration: {"type": "string"},
    Quantity: QUANTITY,
    Any: {PRESERVE: True},
}
_UNIONS = (Union, types.UnionType)
# The default of a list map key that items of a built-in type may omit; "" for others.
_KEY_DEFAULTS = {"protocol": "TCP"}


def schema_of(cls: type[Model]) -> Schema:
    """The schema of a model's JSON objects, `type: object` at the root.

    Raises:
        InvalidArgument: an annotation that a structural schema cannot express; the message
            names the field.
    """
    return _SchemaBuilder(cls).object(cls, cls.__name__)


def description_of(cls: type) -> str:
    """The docstring of a class itself, without indentation."""
    return inspect.cleandoc(cls.__dict__.get("__doc__") or "")


@final
class _SchemaBuilder:
    """Builds the schema of a class recursively, and keeps the classes that enclose a field."""

    def __init__(self, root: type[Model]) -> None:
        self._root = root
        self._above: list[type] = []

    def object(self, cls: type[Model], path: str) -> Schema:
        """The schema of a model class at `path`."""
        if cls in self._above:
            names = " → ".join(found.__name__ for found in [*self._above, cls])
            raise InvalidArgument(
                f"{path}: {cls.__name__} contains itself ({names}), which a structural schema "
                "cannot express (annotate the inner field with dict[str, Any] or Any)"
            )
        self._above.append(cls)
        schema = _with_description({"type": "object"}, description_of(cls)) | self._fields(
            cls, path
        )
        self._above.pop()
        return schema

    def _fields(self, cls: type[Model], path: str) -> Schema:
        hints, defaults = _hints_of(cls), _defaults_of(cls, path)
        required = required_fields(cls)
        properties: Schema = {}
        for name, wire in zip(cls.__struct_fields__, cls.__struct_encode_fields__, strict=True):
            if name == "_extra":
                continue
            at = f"{path}.{wire}"
            # For a field that may be absent, None only means that it is absent.
            may_be_null = wire in required or wire in defaults
            schema = self.value(hints[name], at, nullable=may_be_null)
            schema |= {"default": defaults[wire]} if wire in defaults else {}
            schema |= _merge_rules(cls, wire, schema, at)
            properties[wire] = schema
        required_names = sorted(wire for wire in required if "default" not in properties[wire])
        return ({"properties": properties} if properties else {}) | (
            {"required": required_names} if required_names else {}
        )

    def value(self, hint: Any, path: str, *, nullable: bool = True) -> Schema:
        """The schema of an annotation at `path`."""
        bare, metas, optional = _unwrap_hint(hint)
        schema = self._type(bare, path)
        if optional and nullable:
            schema["nullable"] = True
        for meta in metas:
            schema |= _meta_keywords(meta, schema, path)
        return schema

    def _type(self, hint: Any, path: str) -> Schema:
        if hint is msgspec.Raw:  # a map that is decoded when it is read
            hint = dict[str, Any]
        match typing.get_origin(hint), typing.get_args(hint):
            case (origin, (item,)) if origin is list:
                return {"type": "array", "items": self.value(item, f"{path}[]")}
            case (origin, (key, value)) if origin is dict and key is str:
                return {"type": "object"} | self._values(value, f"{path}[]")
            case (origin, choices) if origin is Literal:
                return _one_of(choices, path)
            case (origin, choices) if origin in _UNIONS:
                return _union(set(choices), path)
        if hint in _SCALARS:
            return dict(_SCALARS[hint])
        if isinstance(hint, type) and issubclass(hint, enum.Enum):
            return _with_description(
                _one_of([each.value for each in hint], path), _enum_description(hint)
            )
        if isinstance(hint, type) and issubclass(hint, Model):
            return self.object(hint, path)
        raise InvalidArgument(
            f"{path}: a schema cannot express {_type_name(hint)} ({_suggestion(hint)})"
        )

    def _values(self, hint: Any, path: str) -> Schema:
        return {PRESERVE: True} if hint is Any else {"additionalProperties": self.value(hint, path)}


# --- annotations


def _hints_of(cls: type[Model]) -> dict[str, Any]:
    try:
        hints = typing.get_type_hints(cls, include_extras=True)
        return hints | dict.fromkeys(cls.__lazy__, dict[str, Any])
    except (NameError, TypeError, SyntaxError) as error:
        raise InvalidArgument(
            f"the annotations of {cls.__name__} cannot be read: {error} (classes that "
            "annotations name must be defined or imported at the top of a module)"
        ) from error


def _unwrap_hint(hint: Any) -> tuple[Any, list[msgspec.Meta], bool]:
    """The bare type, its `Meta` annotations from the inside out, and whether None is allowed."""
    if typing.get_origin(hint) is Annotated:
        inner, *metadata = typing.get_args(hint)
        bare, metas, optional = _unwrap_hint(inner)
        return bare, metas + [meta for meta in metadata if isinstance(meta, msgspec.Meta)], optional
    if typing.get_origin(hint) in _UNIONS and types.NoneType in typing.get_args(hint):
        rest = [part for part in typing.get_args(hint) if part is not types.NoneType]
        bare, metas, _ = _unwrap_hint(Union[tuple(rest)])  # noqa: UP007 - the parts are data
        return bare, metas, True
    if typing.get_origin(hint) is Literal and None in typing.get_args(hint):
        rest = [part for part in typing.get_args(hint) if part is not None]
        return Literal[tuple(rest)], [], True
    return hint, [], False


def _one_of(choices: typing.Iterable[Any], path: str) -> Schema:
    values = [each.value if isinstance(each, enum.Enum) else each for each in choices]
    kinds = {type(value) for value in values}
    if kinds == {str}:
        return {"type": "string", "enum": values}
    if kinds == {int}:
        return {"type": "integer", "enum": values}
    raise InvalidArgument(
        f"{path}: a schema has one type for all the values of an enum, found {values!r:.80} "
        "(use only strings or only integers)"
    )


def _union(choices: set[Any], path: str) -> Schema:
    if choices == {int, str}:
        return dict(INT_OR_STRING)
    if choices == {int, float}:
        return {"type": "number"}
    names = " | ".join(sorted(map(_type_name, choices)))
    raise InvalidArgument(
        f"{path}: a schema has one type for a value, found {names} "
        "(write one of them, IntOrString, or Any for free-form data)"
    )


def _enum_description(hint: type[enum.Enum]) -> str:
    text = description_of(hint)
    return "" if text == "An enumeration." else text  # Python's default docstring of enums


def _type_name(hint: Any) -> str:
    return str(getattr(hint, "__name__", hint)) if isinstance(hint, type) else str(hint)


def _suggestion(hint: Any) -> str:
    origin = typing.get_origin(hint) or hint
    if origin is list:
        return "write the type of its items, as in list[str]"
    if origin in (tuple, set, frozenset):
        return 'write list[…], for a set with FieldFacts(list_type="set") beside it'
    if origin is dict:
        return "write dict[str, …]: the keys of JSON are strings"
    if isinstance(origin, type) and (
        issubclass(origin, msgspec.Struct) or getattr(origin, "__annotations__", None)
    ):
        return f"derive {origin.__name__} from Model"
    return "write str, or Any for free-form data"


# --- defaults, merge rules, metadata


def _defaults_of(cls: type[Model], path: str) -> Schema:
    """The values that an object with no field set encodes, by wire name."""
    try:
        sent = cls().to_dict()
    except Exception as error:  # default factories are the user's code
        raise InvalidArgument(f"{path}: the defaults of {cls.__name__}: {error}") from error
    constant = {"apiVersion", "kind"} if cls.__kind_options__ else set()
    return {wire: value for wire, value in sent.items() if wire not in constant}


def _merge_rules(cls: type[Model], wire: str, schema: Schema, path: str) -> Schema:
    """The merge rules of a field as keywords of a schema."""
    rules = facts_of(cls).field(wire)
    keywords: Schema = {}
    if rules.list_type and schema.get("type") == "array":
        keywords |= _list_rules(rules, schema["items"], path, built_in=is_built_in(cls))
    if rules.map_type and schema.get("type") == "object":
        keywords["x-kubernetes-map-type"] = rules.map_type
    return keywords


def _list_rules(rules: FieldFacts, item: Schema, path: str, *, built_in: bool) -> Schema:
    if rules.list_type != "map":
        return {"x-kubernetes-list-type": rules.list_type}
    for key in rules.list_map_keys:
        known = item.get("properties", {}).get(key)
        if known is None:
            raise InvalidArgument(
                f"{path}: the items have no field {key}, which list_map_keys names"
            )
        # The server requires every key of a list map in every item.
        if key in item.get("required", ()) or "default" in known:
            continue
        if not built_in:
            raise InvalidArgument(
                f"{path}: the key {key} may be absent from an item (give it a default that is "
                "not None, or no default at all)"
            )
        known["default"] = _KEY_DEFAULTS.get(key, "")
    return {
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": list(rules.list_map_keys),
    }


_Bound: TypeAlias = Callable[[Any], Schema]
_NUMBERS: dict[str, _Bound] = {
    "ge": lambda value: {"minimum": value},
    "gt": lambda value: {"minimum": value, "exclusiveMinimum": True},
    "le": lambda value: {"maximum": value},
    "lt": lambda value: {"maximum": value, "exclusiveMaximum": True},
    "multiple_of": lambda value: {"multipleOf": value},
}
_BOUNDS: dict[str, dict[str, _Bound]] = {
    "integer": _NUMBERS,
    "number": _NUMBERS,
    "string": {
        "pattern": lambda value: {"pattern": value},
        "min_length": lambda value: {"minLength": value},
        "max_length": lambda value: {"maxLength": value},
    },
    "array": {
        "min_length": lambda value: {"minItems": value},
        "max_length": lambda value: {"maxItems": value},
    },
    "object": {
        "min_length": lambda value: {"minProperties": value},
        "max_length": lambda value: {"maxProperties": value},
    },
}
_ALL_BOUNDS = (*_NUMBERS, "pattern", "min_length", "max_length")


def _meta_keywords(meta: msgspec.Meta, schema: Schema, path: str) -> Schema:
    """The keywords that a `msgspec.Meta` adds to a schema."""
    known = _BOUNDS.get(schema.get("type", ""), {}) if schema.get("format") != "byte" else {}
    keywords: Schema = {}
    for bound in _ALL_BOUNDS:
        value = getattr(meta, bound)
        if value is None:
            continue
        if bound not in known:
            raise InvalidArgument(
                f"{path}: {bound} has no meaning for a {schema.get('type', 'free-form value')} "
                f"{schema.get('format', '')}".rstrip()
                + " (remove it, or put it into extra_json_schema)"
            )
        keywords |= known[bound](value)
    if meta.title is not None:
        keywords["title"] = meta.title
    if meta.examples:
        keywords["example"] = meta.examples[0]
    return _with_description(keywords, meta.description or "") | (meta.extra_json_schema or {})


def _with_description(schema: Schema, text: str) -> Schema:
    return {"description": text, **schema} if text else schema
