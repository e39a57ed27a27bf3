"""What server-side apply knows of the place where a value stands.

A shape says whether an object or a list there has one owner or many, what makes two
list elements the same, and which fields a type declares. The value decides the rest:
nothing here checks types.
Promises: shapes never change; a place nobody describes is `DEDUCED` (objects have an
owner for each field, lists have one).
Elsewhere: the merge rules themselves (`kubeloop.wire.facts`), the sets of fields made
with shapes (`object_fields`), merging by them (`merging`).
"""

# ruff: noqa: ARG002  # a shape that says the same of every name does not look at it

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


@final
class _Absent:
    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()  # no value at all; None is the value null


class Shape:
    """One place. What is not overridden is what holds where there is no schema."""

    whole_map: bool = False  # an object here has one owner
    list_type: ListType = "atomic"
    list_keys: tuple[str, ...] = ()
    closed: bool = False  # a field that is not declared is an error
    null_is_absent: bool = False

    def field(self, name: str) -> Shape:
        """The shape of a field's value, or of a key's value in a map."""
        return DEDUCED

    def declares(self, name: str) -> bool:
        """Whether `name` is a field of a type, and not a key that is data."""
        return False

    def item(self) -> Shape:
        """The shape of a list's elements."""
        return DEDUCED

    def key_default(self, name: str) -> Any:
        """What a list element without the key field `name` has as its key, or ABSENT."""
        return ABSENT

    def at_rest(self, name: str) -> Any:
        """What stands in a field of which nothing was said, or ABSENT.

        The API's types hold some objects and lists by value: they are never added.
        """
        return ABSENT


DEDUCED: Final = Shape()


def shape_of(facts: TypeFacts | None, *, api_version: str, kind: str) -> Shape:
    """The shape of a whole object with these merge rules; None is a type without schema.

    The class of a built-in kind is looked up by name, because it tells maps from objects
    and knows the defaults of keys; facts that are not its own are taken by themselves.
    """
    cls = _built_in(api_version, kind)
    if cls is not None and facts is facts_of(cls):
        return _class_shape(cls, whole=False)
    return _schema_shape(facts) if isinstance(facts, SchemaFacts) else _Root(facts)


@functools.lru_cache(maxsize=1024)
def _built_in(api_version: str, kind: str) -> type[Model] | None:
    group, _, version = api_version.rpartition("/")
    return class_for(group, version, kind)


# --- shapes of the wire's classes

# Types whose values have one owner also as the elements of a list.
_WHOLE_ITEMS: Final = frozenset(
    {"EvictionResponder", "LocalObjectReference", "ObjectReference", "OwnerReference", "Variable"}
)
# Fields that the API's types hold by value, so that they are there from the start.
_HELD_OBJECTS: Final = frozenset(
    {
        *("daemonEndpoints", "deprecatedSource", "devices", "involvedObject", "jobTemplate"),
        *("kubeletEndpoint", "loadBalancer", "metadata", "nodeInfo", "podSelector", "pool"),
        *("priorityLevelConfiguration", "regarding", "resource", "resources", "roleRef"),
        *("scaleTargetRef", "source", "spec", "status", "strategy", "taint", "template"),
        "updateStrategy",
    }
)
_HELD_LISTS: Final = frozenset({"containers", "drivers", "limits", "validationActions"})
_NOT_HELD: Final = frozenset(
    {
        ("ContainerStatus", "resources"),
        ("IngressBackend", "resource"),
        ("MetricSpec", "resource"),
        ("MetricStatus", "resource"),
        ("NetworkPolicyPeer", "podSelector"),
        ("PodSpec", "resources"),
        ("PodStatus", "resources"),
        ("ReplicationControllerSpec", "template"),
        ("ResourcePoolStatusRequest", "status"),
    }
)
# What a key is where an element does not have it: its zero value, with exceptions.
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
def _class_shape(cls: type[Model], *, whole: bool) -> Shape:
    return _ClassShape(cls, whole=whole)


@final
class _ClassShape(Shape):
    """An object of one of the wire's classes."""

    closed = True
    null_is_absent = True

    def __init__(self, cls: type[Model], *, whole: bool) -> None:
        self._cls = cls
        self._fields: dict[str, Shape] = {}
        self.whole_map = whole

    def field(self, name: str) -> Shape:
        found = self._fields.get(name)
        return found if found is not None else self._look_up(name)

    def _look_up(self, name: str) -> Shape:
        known = plan_of(self._cls).get(name)
        if known is None:
            return DEDUCED  # not remembered: a name from outside
        shape = _node_shape(known.node, facts_of(self._cls).field(name))
        self._fields[name] = shape
        return shape

    def declares(self, name: str) -> bool:
        return name in plan_of(self._cls)

    def key_default(self, name: str) -> Any:
        said = _KEY_DEFAULTS.get((self._cls.__name__, name))
        if said is not None:
            return said
        known = plan_of(self._cls).get(name)
        node = known.node if known is not None else None
        return _ZEROS.get(node.hint, ABSENT) if isinstance(node, Value) else ABSENT

    def at_rest(self, name: str) -> Any:
        if name in _HELD_OBJECTS:
            known = plan_of(self._cls).get(name)
            held = known is not None and isinstance(known.node, Object)
            return {} if held and (self._cls.__name__, name) not in _NOT_HELD else ABSENT
        if name in _HELD_LISTS:
            known = plan_of(self._cls).get(name)
            return None if known is not None and isinstance(known.node, ListOf) else ABSENT
        return ABSENT


def _node_shape(node: Node, rules: FieldFacts) -> Shape:
    match node:
        case Object():
            return _class_shape(node.hint, whole=rules.map_type == "atomic")
        case MapOf():
            # A free-form object (RawExtension) is one value.
            whole = rules.map_type == "atomic" or node.hint == dict[str, Any]
            return _Map(_node_shape(node.value, FieldFacts()), whole=whole)
        case ListOf():
            return _List(rules, _item_shape(node.item))
    return DEDUCED


def _item_shape(node: Node) -> Shape:
    if isinstance(node, Object):
        return _class_shape(node.hint, whole=node.hint.__name__ in _WHOLE_ITEMS)
    return _node_shape(node, FieldFacts())


@final
class _Map(Shape):
    """An object whose keys are data."""

    def __init__(self, values: Shape, *, whole: bool) -> None:
        self._values = values
        self.whole_map = whole

    def field(self, name: str) -> Shape:
        return self._values


@final
class _List(Shape):
    """A list, whose elements are told apart as the rules say."""

    def __init__(self, rules: FieldFacts, item: Shape) -> None:
        self.list_type, self.list_keys = _list_rules(rules)
        self._item = item

    def item(self) -> Shape:
        return self._item


def _list_rules(rules: FieldFacts) -> tuple[ListType, tuple[str, ...]]:
    """How elements are told apart; types older than list types only say how patches merge."""
    if rules.list_type:
        return rules.list_type, rules.list_map_keys
    if "merge" not in rules.patch_strategies:
        return "atomic", ()
    return ("map", (rules.patch_merge_key,)) if rules.patch_merge_key else ("set", ())


# --- shapes of custom kinds


@functools.lru_cache(maxsize=256)
def _schema_shape(facts: SchemaFacts) -> Shape:
    return _SchemaShape(facts._node)


@final
class _SchemaShape(Shape):
    """A value under a node of a structural schema."""

    def __init__(self, node: schema_nodes.Node) -> None:
        self._node = node
        self._fields: dict[str, Shape] = {}
        self.list_type = cast("ListType", node.list_type or "atomic")
        self.list_keys = node.list_map_keys
        self.whole_map = node.map_type == "atomic"
        self.closed = bool(node.properties) and node.additional is None and not node.preserve

    def field(self, name: str) -> Shape:
        if name == "metadata" and self._node.embedded:
            return _class_shape(ObjectMeta, whole=False)
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
        known = self._node.properties.get(name)
        found = schema_nodes.ABSENT if known is None else known.default
        return ABSENT if found is schema_nodes.ABSENT else found


# --- shapes of types that are known by their facts alone


@final
class _FactsShape(Shape):
    """A value under a field of which only the merge rules are known."""

    def __init__(self, rules: FieldFacts, inside: TypeFacts | None) -> None:
        self.list_type, self.list_keys = _list_rules(rules)
        self.whole_map = rules.map_type == "atomic"
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
    """A whole object of a custom kind: its metadata is everybody's."""

    def __init__(self, facts: TypeFacts | None) -> None:
        self._facts = facts

    def field(self, name: str) -> Shape:
        if name == "metadata":
            return _class_shape(ObjectMeta, whole=False)
        if self._facts is None:
            return DEDUCED
        return _FactsShape(self._facts.field(name), self._facts.inside(name))

    def declares(self, name: str) -> bool:
        return self._facts is not None or name in {"apiVersion", "kind", "metadata"}
