"""Builds definitions of model classes from a structural schema.

Guarantees: annotations express types, enums, bounds, defaults and merge rules; the rest of a
schema is kept as data (`extra_json_schema`), so that `structural_schema` returns it. A pattern
is kept as data too: the server's syntax of regular expressions is not Python's, and a hostile
pattern must not block a client.
See also: the Python text of the definitions (`class_text`), their module (`classes_from_crd`).
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, final

import msgspec

from kubeloop.wire import InvalidArgument
from kubeloop.wire.naming import attribute, camel, class_name

from .class_text import (
    ClassDefinition,
    FieldDefinition,
    annotated,
    call,
    docstring,
    generic,
    literal,
    name,
    optional,
)
from .structural_schema import INT_OR_STRING, PRESERVE, QUANTITY

__all__ = ["ClassBuilder"]

_Raw = Mapping[str, Any]

_MAX_DEPTH = 50  # levels of a schema; the server's limit is lower
# Names that generated modules use: a class or a field with such a name would shadow them.
_RESERVED_CLASSES = frozenset(
    {
        "Annotated", "Any", "Column", "FieldFacts", "IntOrString", "Literal", "Model",
        "Quantity", "Resource", "ScalePaths", "Time", "UNSET", "None", "True", "False",
    }
)  # fmt: skip
_RESERVED_FIELDS = frozenset({"msgspec"})
# msgspec compares the raw text of keys with field names, so escaped characters never match.
_INVALID_IN_KEYS = frozenset('"\\') | frozenset(map(chr, range(0x20)))
_INT64 = 2**63


class _TypeHint(msgspec.Struct, frozen=True):
    """The type hint for one schema, and which keywords of the schema it covers."""

    hint: ast.expr
    covered: frozenset[str]  # keywords that the hint expresses
    meta: _Raw = {}  # arguments of msgspec.Meta
    accepts_default: Callable[[Any], bool] = lambda _: (
        False
    )  # whether it can be a default in Python
    empty_if_absent: bool = False  # an absent field reads as an empty list, map or object
    free_form: bool = False  # None is a value like any other


@final
class ClassBuilder:
    """Builds the classes of one module, inner ones first."""

    def __init__(self, *, timestamps_as_text: bool = False) -> None:
        self.classes: list[ClassDefinition] = []
        self._names: set[str] = set(_RESERVED_CLASSES)
        self._class_names: dict[str, str] = {}  # by content: equal classes are written once
        self._timestamps_as_text = timestamps_as_text

    def reserve(self, preferred: str) -> str:
        """A unique class name: `preferred`, or one derived from it."""
        found = _unused(class_name(preferred), self._names)
        self._names.add(found)
        return found

    def fields(
        self, schema: _Raw, owner: str, path: str, *, skip: Iterable[str] = (), depth: int = 0
    ) -> tuple[FieldDefinition, ...]:
        """The fields of an object schema; `skip` names those of its base class."""
        properties = _mapping(schema.get("properties", {}), f"{path}.properties")
        required = _texts(schema.get("required", []), f"{path}.required")
        taken = {attribute(wire) for wire in skip}
        found = []
        for wire, inner in properties.items():
            if wire in skip:
                continue
            at = f"{path}.properties[{wire}]"
            if wire == "$extra" or _INVALID_IN_KEYS & set(wire):
                raise InvalidArgument(
                    f"{at}: a class cannot have a field with the name {wire!r:.80}"
                )
            field = _unused(_attribute(wire), taken)
            taken.add(field)
            found.append(
                self._field(
                    _mapping(inner, at),
                    (field, wire, f"{owner}.{class_name(wire)}", at),
                    required=wire in required,
                    depth=depth,
                )
            )
        return tuple(found)

    def _field(
        self, schema: _Raw, names: tuple[str, str, str, str], *, required: bool, depth: int
    ) -> FieldDefinition:
        field, wire, part, path = names
        found = self._type_hint(schema, part, path, depth + 1)
        rules = _merge_rules(schema)
        rest = _rest(schema, found, covered=rules)
        default, nullable = schema.get("default"), schema.get("nullable") is True
        if default is not None and found.accepts_default(default):
            rest.pop("default", None)
            value: ast.expr | None = literal(default)
        elif required and default is None:
            value = None
        elif found.empty_if_absent and not nullable:
            value = name("UNSET")
        else:
            value = literal(None)
        absent = isinstance(value, ast.Constant) and value.value is None
        if nullable and (absent or found.free_form):
            rest["nullable"] = True  # `| None` alone only means that the field may be absent
        hint = annotated(found.hint, *_meta(found, rest))
        if (nullable or absent) and not found.free_form:
            hint = optional(hint)
        if rules:
            hint = annotated(hint, call("FieldFacts", **_facts_arguments(rules)))
        return FieldDefinition(field, hint, _value(field, wire, value))

    def _hint(self, schema: Any, part: str, path: str, depth: int) -> ast.expr:
        """The annotation of an item of a list or a value of a map."""
        schema = _mapping(schema, path)
        found = self._type_hint(schema, part, path, depth)
        rest = _rest(schema, found, covered=())
        if schema.get("nullable") is True and found.free_form:
            rest["nullable"] = True
        hint = annotated(found.hint, *_meta(found, rest))
        return optional(hint) if schema.get("nullable") is True and not found.free_form else hint

    def _type_hint(self, schema: _Raw, part: str, path: str, depth: int) -> _TypeHint:
        if depth > _MAX_DEPTH:
            raise InvalidArgument(f"{path:.200}…: nested more than {_MAX_DEPTH} levels deep")
        if "$ref" in schema:
            raise InvalidArgument(f"{path}: $ref is not allowed in a CustomResourceDefinition")
        if schema.get("x-kubernetes-int-or-string") is True and not schema.get("type"):
            return _int_or_string(schema)
        match schema.get("type"):
            case "string":
                return self._string(schema)
            case "integer" | "number" | "boolean" as kind:
                return _scalar(schema, kind)
            case "array":
                item = schema.get("items", {})
                inner = self._hint(item, f"{part}Item", f"{path}.items", depth + 1)
                hint, keys = generic("list", inner), {"minItems", "maxItems"}
                return _with_bounds(
                    schema, _TypeHint(hint, frozenset({"items"}), empty_if_absent=True), keys
                )
            case "object":
                return self._object(schema, part, path, depth)
            case None | "":
                return _TypeHint(name("Any"), frozenset({PRESERVE}), free_form=True)
        raise InvalidArgument(f"{path}: not a type of a schema: {schema['type']!r:.80}")

    def _string(self, schema: _Raw) -> _TypeHint:
        match schema.get("format"):
            case "date-time" if "enum" not in schema and not self._timestamps_as_text:
                return _TypeHint(name("Time"), frozenset({"format"}))
            case "byte" if "enum" not in schema:
                return _TypeHint(name("bytes"), frozenset({"format"}))
        return _scalar(schema, "string")

    def _object(self, schema: _Raw, part: str, path: str, depth: int) -> _TypeHint:
        values = schema.get("additionalProperties")
        keys = {"minProperties", "maxProperties"}
        if not schema.get("properties") and isinstance(values, Mapping):
            inner = self._hint(values, f"{part}Value", f"{path}.additionalProperties", depth + 1)
            hint = generic("dict", name("str"), inner)
            found = _TypeHint(
                hint, frozenset({"properties", "additionalProperties"}), empty_if_absent=True
            )
            return _with_bounds(schema, found, keys)
        if not schema.get("properties") and (values is True or schema.get(PRESERVE) is True):
            hint = generic("dict", name("str"), name("Any"))
            covered = frozenset({"properties", "additionalProperties", PRESERVE})
            return _with_bounds(schema, _TypeHint(hint, covered, empty_if_absent=True), keys)
        return self._class(schema, part, path, depth)

    def _class(self, schema: _Raw, part: str, path: str, depth: int) -> _TypeHint:
        fields = self.fields(schema, part, path, depth=depth)
        text = schema.get("description")
        doc = docstring(text) if isinstance(text, str) and text else None
        own = self._class_for(part, doc or "", fields)
        covered = {"properties"} | ({"description"} if doc else set())
        # A required name that is not a field stays in the data.
        if set(schema.get("required", [])) <= set(schema.get("properties", {})):
            covered.add("required")
        # An absent spec or status reads as an empty object, as in built-in kinds.
        return _TypeHint(name(own), frozenset(covered), empty_if_absent=depth == 1)

    def _class_for(self, part: str, doc: str, fields: tuple[FieldDefinition, ...]) -> str:
        """The name of the class with these fields; equal classes of one name are shared."""
        last = part.rpartition(".")[2]
        key = ast.dump(ast.Tuple([literal([last, doc]), *_expressions(fields)], ast.Load()))
        if key not in self._class_names:
            self._class_names[key] = self.reserve(part)
            self.classes.append(ClassDefinition(self._class_names[key], "Model", {}, doc, fields))
        return self._class_names[key]


def _expressions(fields: Iterable[FieldDefinition]) -> Iterator[ast.expr]:
    for each in fields:
        yield from (literal(each.name), each.hint, each.value or ast.Name("", ast.Load()))


# --- scalars


def _int_or_string(schema: _Raw) -> _TypeHint:
    if all(schema.get(key) == value for key, value in QUANTITY.items()):
        return _TypeHint(name("Quantity"), frozenset(QUANTITY))
    covered = {"x-kubernetes-int-or-string"}
    if schema.get("anyOf") == INT_OR_STRING["anyOf"]:
        covered.add("anyOf")
    return _TypeHint(
        name("IntOrString"),
        frozenset(covered),
        accepts_default=lambda value: type(value) in (int, str),
    )


_PYTHON = {"string": str, "integer": int, "number": float, "boolean": bool}
_BOUNDS = {
    "string": {"minLength", "maxLength"},
    "integer": {"minimum", "maximum", "multipleOf"},
    "number": {"minimum", "maximum"},
    "boolean": set[str](),
}


def _scalar(schema: _Raw, kind: str) -> _TypeHint:
    python = _PYTHON[kind]
    choices = schema.get("enum")
    if isinstance(choices, list) and _is_literal(choices, python):
        hint = generic("Literal", *(literal(each) for each in choices))
        return _TypeHint(
            hint, frozenset({"enum"}), accepts_default=lambda value: _is_one_of(value, choices)
        )
    types = (int, float) if python is float else (python,)
    found = _TypeHint(
        name(python.__name__), frozenset(), accepts_default=lambda value: type(value) in types
    )
    return _with_bounds(schema, found, _BOUNDS[kind], whole=kind == "integer")


def _is_literal(choices: list[Any], python: type) -> bool:
    """Whether `Literal` can express an enum and msgspec can decode it."""
    return (
        bool(choices)
        and python in (str, int)
        and all(type(each) is python for each in choices)
        and len(set(choices)) == len(choices)
        and (python is str or all(-_INT64 <= each < _INT64 for each in choices))
    )


def _is_one_of(value: Any, choices: list[Any]) -> bool:
    return any(type(value) is type(each) and value == each for each in choices)


def _with_bounds(
    schema: _Raw, found: _TypeHint, keys: set[str], *, whole: bool = True
) -> _TypeHint:
    meta, covered = _bounds_of(schema, keys, whole=whole)
    return msgspec.structs.replace(found, covered=found.covered | covered, meta=meta)


# --- metadata and values


def _rest(schema: _Raw, found: _TypeHint, *, covered: Iterable[str]) -> dict[str, Any]:
    """The keywords of a schema that neither the hint, its bounds nor its merge rules cover."""
    known = {"type", "nullable", *found.covered, *covered}
    return {
        key: value
        for key, value in schema.items()
        if key not in known and not (key == "default" and value is None)
    }


def _meta(found: _TypeHint, rest: dict[str, Any]) -> list[ast.expr]:
    """`msgspec.Meta` with bounds, description and the rest; an empty list without any."""
    meta = dict(found.meta)
    text = rest.get("description")
    if isinstance(text, str):
        del rest["description"]
        meta |= {"description": text} if text else {}
    if rest:
        meta["extra_json_schema"] = rest
    arguments = {key: literal(value) for key, value in meta.items()}
    return [call("msgspec.Meta", **arguments)] if arguments else []


def _value(field: str, wire: str, value: ast.expr | None) -> ast.expr | None:
    """The right side of the assignment: a value, a name on the wire, both or none."""
    if camel(field) == wire:
        return value
    default = {} if value is None else {"default": value}
    return call("msgspec.field", **default, name=literal(wire))


# --- bounds and merge rules


_META_ARGUMENTS = {
    "minLength": "min_length",
    "maxLength": "max_length",
    "minItems": "min_length",
    "maxItems": "max_length",
    "minProperties": "min_length",
    "maxProperties": "max_length",
    "multipleOf": "multiple_of",
}
_LOWEST = {"minimum": -math.inf, "maximum": -math.inf, "multipleOf": 1}  # zero for all others


def _bounds_of(
    schema: _Raw, keys: Iterable[str], *, whole: bool
) -> tuple[dict[str, float], set[str]]:
    """The bounds in `keys` that msgspec can check: arguments of Meta, and their keywords.

    With `whole` only integers are accepted.
    """
    meta: dict[str, float] = {}
    covered: set[str] = set()
    for key in sorted(schema.keys() & set(keys), reverse=True):  # the lower bound first
        value = _bound(schema[key], whole=whole)
        if value is None or value < _LOWEST.get(key, 0):
            continue
        exclusive = f"exclusive{key.title()}"
        meta[_name_of(key, strict=schema.get(exclusive) is True)] = value
        covered |= {key, exclusive}
    return meta, covered


def _name_of(key: str, *, strict: bool) -> str:
    match key:
        case "minimum":
            return "gt" if strict else "ge"
        case "maximum":
            return "lt" if strict else "le"
    return _META_ARGUMENTS[key]


def _bound(value: Any, *, whole: bool) -> float | None:
    """A bound that msgspec accepts; None for others."""
    if type(value) not in (int, float) or not abs(value) < _INT64 - 1:
        return None
    if value == int(value):
        return int(value)  # models hold the bounds of a schema as floats
    return None if whole else value


# Merge rules of lists and maps; they are kept as data unless they belong to a field.
_MERGE_KEYWORDS = {
    "x-kubernetes-list-type": "list_type",
    "x-kubernetes-list-map-keys": "list_map_keys",
    "x-kubernetes-map-type": "map_type",
}
_MERGE_VALUES = {
    "x-kubernetes-list-type": ("atomic", "set", "map"),
    "x-kubernetes-map-type": ("atomic", "granular"),
}


def _merge_rules(schema: _Raw) -> dict[str, Any]:
    """The merge rules of a schema; empty if FieldFacts cannot express one of them."""
    rules = {key: schema[key] for key in _MERGE_KEYWORDS if key in schema}
    sound = all(rules.get(key, words[0]) in words for key, words in _MERGE_VALUES.items())
    keys = rules.get("x-kubernetes-list-map-keys", [])
    kinds = {"x-kubernetes-map-type": "object"}
    fitting = all(schema.get("type") == kinds.get(key, "array") for key in rules)
    is_map = rules.get("x-kubernetes-list-type") == "map"
    known = _properties_of_items(schema)
    named = isinstance(keys, list) and all(isinstance(key, str) and key in known for key in keys)
    return rules if sound and fitting and named and is_map == bool(keys) else {}


def _properties_of_items(schema: _Raw) -> set[str]:
    """The fields that every item of a list has and that can be keys."""
    item = schema.get("items")
    if not isinstance(item, Mapping) or not isinstance(item.get("properties"), Mapping):
        return set()
    required = item.get("required")
    required = required if isinstance(required, list) else []
    return {
        key
        for key, inner in item["properties"].items()
        if key in required or (isinstance(inner, Mapping) and inner.get("default") is not None)
    }


def _facts_arguments(rules: _Raw) -> dict[str, ast.expr]:
    """Merge rules as arguments of FieldFacts."""
    return {
        _MERGE_KEYWORDS[key]: literal(tuple(value) if isinstance(value, list) else value)
        for key, value in rules.items()
    }


# --- names and checks


def _attribute(wire: str) -> str:
    field = attribute(wire)
    return f"{field}_" if field in _RESERVED_FIELDS else field


def _unused(preferred: str, taken: set[str]) -> str:
    found, number = preferred, 2
    while found in taken:
        found, number = f"{preferred}_{number}", number + 1
    return found


def _mapping(value: Any, path: str) -> _Raw:
    if not isinstance(value, Mapping):
        raise InvalidArgument(f"{path}: expected an object, found {value!r:.80}")
    return value


def _texts(value: Any, path: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise InvalidArgument(f"{path}: expected a list of names, found {value!r:.80}")
    return value
