"""The merge schema of a value: what server-side apply knows about a field.

A shape says whether an object or list is atomic, what the keys of list elements are, which
fields a type declares, and of which JSON type a value is. It does not check values.
Guarantees: shapes are immutable; without a schema a shape is `DEDUCED` (objects have an owner
for each field, lists are atomic), as `DeducedParseableType` of structured-merge-diff.
See also: the merge rules themselves (`kubeloop.wire.facts`), field sets by shape
(`object_fields`), merging by shape (`merging`).
"""

# ruff: noqa: ARG002  # some shapes are the same for every name

from __future__ import annotations

import functools
from typing import Any, Final, Literal, TypeAlias, cast, final

from kubeloop.wire import FieldFacts, Model, TypeFacts, class_for, facts_of
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop.wire.plan import ListOf, MapOf, Node, Object, Value, plan_of

from ..schema import schema_nodes
from ..schema.schemas import SchemaFacts

__all__ = ["ABSENT", "DEDUCED", "Shape", "shape_of"]

ListType: TypeAlias = Literal["atomic", "set", "map"]
ValueType: TypeAlias = Literal["any", "boolean", "list", "map", "numeric", "string"]


@final
class _Absent:
    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()  # no value at all; None is the value null


class Shape:
    """The merge schema of one value. The defaults are those of a value without a schema."""

    atomic_map: bool = False  # an object has a single owner
    list_type: ListType = "atomic"
    list_keys: tuple[str, ...] = ()
    closed: bool = False  # an undeclared field is an error
    null_is_absent: bool = False
    value_type: ValueType = "any"

    def field(self, name: str) -> Shape:
        """The shape of a field's value, or of a key's value in a map."""
        return DEDUCED

    def declares(self, name: str) -> bool:
        """Whether `name` is a declared field, and not a map key."""
        return False

    def item(self) -> Shape:
        """The shape of a list's elements."""
        return DEDUCED

    def key_default(self, name: str) -> Any:
        """The default of the key field `name` of a list element, or ABSENT."""
        return ABSENT


DEDUCED: Final = Shape()


def shape_of(facts: TypeFacts | None, *, api_version: str, kind: str) -> Shape:
    """The shape of a whole object with these merge rules; None is a type without a schema.

    The class of a built-in kind is looked up by name, because it distinguishes maps from
    objects and has the defaults of keys. Facts of another class are used alone.
    """
    cls = _built_in(api_version, kind)
    if cls is not None and facts is facts_of(cls):
        return _class_shape(cls, atomic=False)
    return _schema_shape(facts) if isinstance(facts, SchemaFacts) else _Root(facts)


@functools.lru_cache(maxsize=1024)
def _built_in(api_version: str, kind: str) -> type[Model] | None:
    # Cached by name: a request looks it up for every object.
    group, _, version = api_version.rpartition("/")
    return class_for(group, version, kind)


# --- shapes of the wire's classes

# Types with `+structType=atomic`, which are atomic as list elements too.
_ATOMIC_ITEMS: Final = frozenset(
    {"EvictionResponder", "LocalObjectReference", "ObjectReference", "OwnerReference", "Variable"}
)
# The default of a missing key field: its zero value, with exceptions.
_ZEROS: Final = {str: "", int: 0}
_KEY_DEFAULTS: Final[dict[tuple[str, str], Any]] = {
    ("ContainerPort", "protocol"): "TCP",
    ("ServicePort", "protocol"): "TCP",
    ("AllocatedDeviceStatus", "shareID"): ABSENT,
    ("FlowSchemaCondition", "type"): ABSENT,
    ("ObjectReference", "name"): ABSENT,
    ("PriorityLevelConfigurationCondition", "type"): ABSENT,
    ("ServerStorageVersion", "apiServerID"): ABSENT,
}


@functools.cache
def _class_shape(cls: type[Model], *, atomic: bool) -> Shape:
    return _ClassShape(cls, atomic=atomic)


@final
class _ClassShape(Shape):
    """An object of one of the wire's classes."""

    closed = True
    null_is_absent = True
    value_type = "map"

    def __init__(self, cls: type[Model], *, atomic: bool) -> None:
        self._cls = cls
        self._fields: dict[str, Shape] = {}
        self.atomic_map = atomic

    def field(self, name: str) -> Shape:
        found = self._fields.get(name)
        return found if found is not None else self._look_up(name)

    def _look_up(self, name: str) -> Shape:
        declared = plan_of(self._cls).get(name)
        if declared is None:
            return DEDUCED  # not cached: the name comes from a client
        shape = _node_shape(declared.node, facts_of(self._cls).field(name))
        self._fields[name] = shape
        return shape

    def declares(self, name: str) -> bool:
        return name in plan_of(self._cls)

    def key_default(self, name: str) -> Any:
        default = _KEY_DEFAULTS.get((self._cls.__name__, name))
        if default is not None:
            return default
        declared = plan_of(self._cls).get(name)
        node = declared.node if declared is not None else None
        return _ZEROS.get(node.hint, ABSENT) if isinstance(node, Value) else ABSENT


def _node_shape(node: Node, rules: FieldFacts) -> Shape:
    match node:
        case Object():
            return _class_shape(node.hint, atomic=rules.map_type == "atomic")
        case MapOf():
            # A free-form value (RawExtension) is atomic, and need not be an object.
            is_free = node.hint == dict[str, Any]
            atomic = rules.map_type == "atomic" or is_free
            return _Map(
                _node_shape(node.value, FieldFacts()),
                atomic=atomic,
                value_type="any" if is_free else "map",
            )
        case ListOf():
            return _List(rules, _item_shape(node.item))
        case Value():
            # Quantities, times and numbers or strings are untyped in the merge schema.
            return _SCALARS.get(node.hint, DEDUCED)


def _item_shape(node: Node) -> Shape:
    if isinstance(node, Object):
        return _class_shape(node.hint, atomic=node.hint.__name__ in _ATOMIC_ITEMS)
    return _node_shape(node, FieldFacts())


@final
class _Scalar(Shape):
    """A scalar of one type."""

    def __init__(self, value_type: ValueType) -> None:
        self.value_type = value_type


_SCALARS: Final[dict[Any, Shape]] = {
    bool: _Scalar("boolean"),
    bytes: _Scalar("string"),
    float: _Scalar("numeric"),
    int: _Scalar("numeric"),
    str: _Scalar("string"),
}


@final
class _Map(Shape):
    """A map: an object whose keys are data."""

    def __init__(self, values: Shape, *, atomic: bool, value_type: ValueType = "map") -> None:
        self._values = values
        self.atomic_map = atomic
        self.value_type = value_type

    def field(self, name: str) -> Shape:
        return self._values


@final
class _List(Shape):
    """A list with the list type and keys of its rules."""

    value_type = "list"

    def __init__(self, rules: FieldFacts, item: Shape) -> None:
        self.list_type, self.list_keys = _list_rules(rules)
        self._item = item

    def item(self) -> Shape:
        return self._item


def _list_rules(rules: FieldFacts) -> tuple[ListType, tuple[str, ...]]:
    """The list type and keys; types without list type fall back to the patch strategy."""
    if rules.list_type:
        return rules.list_type, rules.list_map_keys
    if "merge" not in rules.patch_strategies:
        return "atomic", ()
    return ("map", (rules.patch_merge_key,)) if rules.patch_merge_key else ("set", ())


# --- shapes of custom kinds


_SCHEMA_TYPES: Final[dict[str, ValueType]] = {
    "array": "list",
    "boolean": "boolean",
    "integer": "numeric",
    "number": "numeric",
    "object": "map",
    "string": "string",
}


@functools.lru_cache(maxsize=256)
def _schema_shape(facts: SchemaFacts) -> Shape:
    # Bounded, because a changed definition has new facts.
    return _SchemaShape(facts._node)


@final
class _SchemaShape(Shape):
    """A value under a node of a structural schema."""

    def __init__(self, node: schema_nodes.Node) -> None:
        self._node = node
        self._fields: dict[str, Shape] = {}
        self.list_type = cast("ListType", node.list_type or "atomic")
        self.list_keys = node.list_map_keys
        self.atomic_map = node.map_type == "atomic"
        self.closed = bool(node.properties) and node.additional is None and not node.preserve
        self.value_type = _SCHEMA_TYPES.get(node.type, "any")

    def field(self, name: str) -> Shape:
        if name == "metadata" and self._node.embedded:
            return _class_shape(ObjectMeta, atomic=False)
        found = self._fields.get(name)
        return found if found is not None else self._look_up(name)

    def _look_up(self, name: str) -> Shape:
        own = self._node.properties.get(name)
        if own is None:
            return self._values
        self._fields[name] = _SchemaShape(own)
        return self._fields[name]

    @functools.cached_property
    def _values(self) -> Shape:
        node = self._node.additional
        return DEDUCED if node is None else _SchemaShape(node)

    def declares(self, name: str) -> bool:
        if name in self._node.properties:
            return True
        return self._node.embedded and name in schema_nodes.META_FIELDS

    @functools.cached_property
    def _item(self) -> Shape:
        node = self._node.items
        return DEDUCED if node is None else _SchemaShape(node)

    def item(self) -> Shape:
        return self._item

    def key_default(self, name: str) -> Any:
        declared = self._node.properties.get(name)
        found = schema_nodes.ABSENT if declared is None else declared.default
        return ABSENT if found is schema_nodes.ABSENT else found


# --- shapes of types with facts only


@final
class _FactsShape(Shape):
    """A value of a field with merge rules but without a class or schema."""

    def __init__(self, rules: FieldFacts, inside: TypeFacts | None) -> None:
        self.list_type, self.list_keys = _list_rules(rules)
        self.atomic_map = rules.map_type == "atomic"
        self._inside = inside

    def field(self, name: str) -> Shape:
        inside = self._inside
        if inside is None:
            return DEDUCED
        return _FactsShape(inside.field(name), inside.inside(name))

    def declares(self, name: str) -> bool:
        return self._inside is not None

    def item(self) -> Shape:
        return _FactsShape(FieldFacts(), self._inside) if self._inside else DEDUCED


@final
class _Root(Shape):
    """A whole object of a custom kind; its metadata is an ObjectMeta."""

    def __init__(self, facts: TypeFacts | None) -> None:
        self._facts = facts

    def field(self, name: str) -> Shape:
        if name == "metadata":
            return _class_shape(ObjectMeta, atomic=False)
        if self._facts is None:
            return DEDUCED
        return _FactsShape(self._facts.field(name), self._facts.inside(name))

    def declares(self, name: str) -> bool:
        return self._facts is not None or name in {"apiVersion", "kind", "metadata"}
