"""Reads a structural schema into sketches of the model classes that say the same.

Guarantees: what annotations can say (types, enums, bounds, defaults, merge rules) they say;
all the rest of a schema is kept as data (`extra_json_schema`), so that `structural_schema`
gives it back. A pattern is kept as data too: the server's dialect is not Python's, and a
hostile one must not keep a client busy.
See also: how sketches become text (`class_text`), what stands around them
(`classes_from_crd`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, final

import msgspec

from kubeloop.wire import InvalidArgument
from kubeloop.wire.naming import attribute, camel, class_name

from .class_notes import bounds_of, facts_arguments, merge_rules
from .class_text import (
    ClassSketch,
    FieldSketch,
    annotated,
    call,
    docstring,
    generic,
    literal,
    name,
    optional,
)
from .structural_schema import INT_OR_STRING, PRESERVE, QUANTITY

__all__ = ["Sketcher"]

_Raw = Mapping[str, Any]

_DEEPEST = 50  # levels of a schema; the server's own limit on what it compiles is lower
# Names that the text of a module uses: a class or a field of that name would hide them.
_RESERVED_CLASSES = frozenset(
    {
        "Annotated", "Any", "Column", "FieldFacts", "IntOrString", "Literal", "Model",
        "Quantity", "Resource", "ScalePaths", "Time", "UNSET", "None", "True", "False",
    }
)  # fmt: skip
_RESERVED_FIELDS = frozenset({"msgspec"})
# msgspec finds fields by the raw text of their keys, so these can be no keys of a class.
_NO_KEY = frozenset('"\\') | frozenset(map(chr, range(0x20)))
_INT64 = 2**63


class _Shape(msgspec.Struct, frozen=True):
    """What one schema is in Python: a hint, and how much of the schema it says."""

    hint: ast.expr
    said: frozenset[str]  # keywords that the hint stands for
    notes: _Raw = {}  # arguments of msgspec.Meta
    holds: Callable[[Any], bool] = lambda _: False  # whether a default can be Python's, too
    filled: bool = False  # reads as an empty list, map or object while it is absent
    free: bool = False  # free-form: None is a value like any other


@final
class Sketcher:
    """Collects the classes of one module, inner ones first."""

    def __init__(self, *, moments_as_text: bool = False) -> None:
        self.classes: list[ClassSketch] = []
        self._names: set[str] = set(_RESERVED_CLASSES)
        self._known: dict[str, str] = {}  # classes by what they say
        self._moments_as_text = moments_as_text

    def reserve(self, wanted: str) -> str:
        """A class name that nothing else has, `wanted` or close to it."""
        found = _unused(class_name(wanted), self._names)
        self._names.add(found)
        return found

    def fields(
        self, schema: _Raw, owner: str, path: str, *, skip: Iterable[str] = (), depth: int = 0
    ) -> tuple[FieldSketch, ...]:
        """The fields of an object schema; `skip` names those its base class has already."""
        properties = _mapping(schema.get("properties", {}), f"{path}.properties")
        required = _texts(schema.get("required", []), f"{path}.required")
        taken = {attribute(wire) for wire in skip}
        found = []
        for wire, inner in properties.items():
            if wire in skip:
                continue
            at = f"{path}.properties[{wire}]"
            if wire == "$extra" or _NO_KEY & set(wire):
                raise InvalidArgument(f"{at}: no field of a class can have the name {wire!r:.80}")
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
    ) -> FieldSketch:
        field, wire, part, path = names
        shape = self._shape(schema, part, path, depth + 1)
        rules = merge_rules(schema)
        rest = _rest(schema, shape, said=rules)
        default, nullable = schema.get("default"), schema.get("nullable") is True
        if default is not None and shape.holds(default):
            rest.pop("default", None)
            value: ast.expr | None = literal(default)
        elif required and default is None:
            value = None
        elif shape.filled and not nullable:
            value = name("UNSET")
        else:
            value = literal(None)
        absent = isinstance(value, ast.Constant) and value.value is None
        if nullable and (absent or shape.free):
            rest["nullable"] = True  # None alone would say no more than "not there"
        hint = annotated(shape.hint, *_meta(shape, rest))
        if (nullable or absent) and not shape.free:
            hint = optional(hint)
        if rules:
            hint = annotated(hint, call("FieldFacts", **facts_arguments(rules)))
        return FieldSketch(field, hint, _value(field, wire, value))

    def _hint(self, schema: Any, part: str, path: str, depth: int) -> ast.expr:
        """The annotation of an item of a list or a value of a map."""
        schema = _mapping(schema, path)
        shape = self._shape(schema, part, path, depth)
        rest = _rest(schema, shape, said=())
        if schema.get("nullable") is True and shape.free:
            rest["nullable"] = True
        hint = annotated(shape.hint, *_meta(shape, rest))
        return optional(hint) if schema.get("nullable") is True and not shape.free else hint

    def _shape(self, schema: _Raw, part: str, path: str, depth: int) -> _Shape:
        if depth > _DEEPEST:
            raise InvalidArgument(f"{path:.200}…: nested more than {_DEEPEST} levels deep")
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
                return _bounded(schema, _Shape(hint, frozenset({"items"}), filled=True), keys)
            case "object":
                return self._object(schema, part, path, depth)
            case None | "":
                return _Shape(name("Any"), frozenset({PRESERVE}), free=True)
        raise InvalidArgument(f"{path}: no type of a schema: {schema['type']!r:.80}")

    def _string(self, schema: _Raw) -> _Shape:
        match schema.get("format"):
            case "date-time" if "enum" not in schema and not self._moments_as_text:
                return _Shape(name("Time"), frozenset({"format"}))
            case "byte" if "enum" not in schema:
                return _Shape(name("bytes"), frozenset({"format"}))
        return _scalar(schema, "string")

    def _object(self, schema: _Raw, part: str, path: str, depth: int) -> _Shape:
        values = schema.get("additionalProperties")
        keys = {"minProperties", "maxProperties"}
        if not schema.get("properties") and isinstance(values, Mapping):
            inner = self._hint(values, f"{part}Value", f"{path}.additionalProperties", depth + 1)
            hint = generic("dict", name("str"), inner)
            shape = _Shape(hint, frozenset({"properties", "additionalProperties"}), filled=True)
            return _bounded(schema, shape, keys)
        if not schema.get("properties") and (values is True or schema.get(PRESERVE) is True):
            hint = generic("dict", name("str"), name("Any"))
            said = frozenset({"properties", "additionalProperties", PRESERVE})
            return _bounded(schema, _Shape(hint, said, filled=True), keys)
        return self._class(schema, part, path, depth)

    def _class(self, schema: _Raw, part: str, path: str, depth: int) -> _Shape:
        fields = self.fields(schema, part, path, depth=depth)
        text = schema.get("description")
        doc = docstring(text) if isinstance(text, str) and text else None
        own = self._named(part, doc or "", fields)
        said = {"properties"} | ({"description"} if doc else set())
        # A name that must be there and is none of the fields is said beside them.
        if set(schema.get("required", [])) <= set(schema.get("properties", {})):
            said.add("required")
        # Spec and status read as empty objects, as those of built-in kinds do.
        return _Shape(name(own), frozenset(said), filled=depth == 1)

    def _named(self, part: str, doc: str, fields: tuple[FieldSketch, ...]) -> str:
        """The class of these fields: one for all places of one name that say the same."""
        leaf = part.rpartition(".")[2]
        key = ast.dump(ast.Tuple([literal([leaf, doc]), *_expressions(fields)], ast.Load()))
        if key not in self._known:
            self._known[key] = self.reserve(part)
            self.classes.append(ClassSketch(self._known[key], "Model", {}, doc, fields))
        return self._known[key]


def _expressions(fields: Iterable[FieldSketch]) -> Iterator[ast.expr]:
    for each in fields:
        yield from (literal(each.name), each.hint, each.value or ast.Name("", ast.Load()))


# --- scalars


def _int_or_string(schema: _Raw) -> _Shape:
    if all(schema.get(key) == value for key, value in QUANTITY.items()):
        return _Shape(name("Quantity"), frozenset(QUANTITY))
    said = {"x-kubernetes-int-or-string"}
    if schema.get("anyOf") == INT_OR_STRING["anyOf"]:
        said.add("anyOf")
    return _Shape(
        name("IntOrString"), frozenset(said), holds=lambda value: type(value) in (int, str)
    )


_PYTHON = {"string": str, "integer": int, "number": float, "boolean": bool}
_BOUNDS = {
    "string": {"minLength", "maxLength"},
    "integer": {"minimum", "maximum", "multipleOf"},
    "number": {"minimum", "maximum"},
    "boolean": set[str](),
}


def _scalar(schema: _Raw, kind: str) -> _Shape:
    python = _PYTHON[kind]
    choices = schema.get("enum")
    if isinstance(choices, list) and _is_literal(choices, python):
        hint = generic("Literal", *(literal(each) for each in choices))
        return _Shape(hint, frozenset({"enum"}), holds=lambda value: _among(value, choices))
    held = (int, float) if python is float else (python,)
    shape = _Shape(name(python.__name__), frozenset(), holds=lambda value: type(value) in held)
    return _bounded(schema, shape, _BOUNDS[kind], whole=kind == "integer")


def _is_literal(choices: list[Any], python: type) -> bool:
    """Whether an enum is what `Literal` can say and msgspec can read."""
    return (
        bool(choices)
        and python in (str, int)
        and all(type(each) is python for each in choices)
        and len(set(choices)) == len(choices)
        and (python is str or all(-_INT64 <= each < _INT64 for each in choices))
    )


def _among(value: Any, choices: list[Any]) -> bool:
    return any(type(value) is type(each) and value == each for each in choices)


def _bounded(schema: _Raw, shape: _Shape, keys: set[str], *, whole: bool = True) -> _Shape:
    notes, said = bounds_of(schema, keys, whole=whole)
    return msgspec.structs.replace(shape, said=shape.said | said, notes=notes)


# --- what else there is to note


def _rest(schema: _Raw, shape: _Shape, *, said: Iterable[str]) -> dict[str, Any]:
    """What of a schema neither the hint nor its bounds nor its merge rules say."""
    known = {"type", "nullable", *shape.said, *said}
    return {
        key: value
        for key, value in schema.items()
        if key not in known and not (key == "default" and value is None)
    }


def _meta(shape: _Shape, rest: dict[str, Any]) -> list[ast.expr]:
    """The note that says bounds, description and the rest; none where there is nothing."""
    notes = dict(shape.notes)
    text = rest.get("description")
    if isinstance(text, str):
        del rest["description"]
        notes |= {"description": text} if text else {}
    if rest:
        notes["extra_json_schema"] = rest
    arguments = {key: literal(value) for key, value in notes.items()}
    return [call("msgspec.Meta", **arguments)] if arguments else []


def _value(field: str, wire: str, value: ast.expr | None) -> ast.expr | None:
    """What stands behind the equals sign: a value, a name on the wire, both or nothing."""
    if camel(field) == wire:
        return value
    default = {} if value is None else {"default": value}
    return call("msgspec.field", **default, name=literal(wire))


# --- names and checks


def _attribute(wire: str) -> str:
    field = attribute(wire)
    return f"{field}_" if field in _RESERVED_FIELDS else field


def _unused(wanted: str, taken: set[str]) -> str:
    found, number = wanted, 2
    while found in taken:
        found, number = f"{wanted}_{number}", number + 1
    return found


def _mapping(value: Any, path: str) -> _Raw:
    if not isinstance(value, Mapping):
        raise InvalidArgument(f"{path}: expected an object, found {value!r:.80}")
    return value


def _texts(value: Any, path: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise InvalidArgument(f"{path}: expected a list of names, found {value!r:.80}")
    return value
