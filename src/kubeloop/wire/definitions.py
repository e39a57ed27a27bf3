"""What a user's kind says besides its fields: columns, scale, and which fields must be there.

See also: the CustomResourceDefinition that is made of it (`kubeloop.crd`).
"""

from __future__ import annotations

import functools
from typing import Literal

import msgspec

from .model import UNSET, Model
from .plan import Object, Value, plan_of

__all__ = ["Column", "ScalePaths", "is_built_in", "required_fields"]


class Column(msgspec.Struct, frozen=True):
    """One column of a printed table: `Column("Ready", ".status.ready", type="boolean")`."""

    name: str
    path: str  # simple JSONPath from the object's root, with the leading dot
    type: Literal["string", "integer", "number", "boolean", "date"] = "string"
    priority: int = 0  # above zero: shown by wide output only
    description: str = ""
    format: str = ""


class ScalePaths(msgspec.Struct, frozen=True):
    """Where a kind keeps what the scale subresource speaks of."""

    spec_replicas: str = ".spec.replicas"
    status_replicas: str = ".status.replicas"
    label_selector: str = ""


# Strings that Go has plain: empty means absent, though nothing says that they are optional.
_PLAIN = frozenset({"ObjectMeta", "ListMeta"})
_ALWAYS_READABLE = frozenset({"apiVersion", "kind", "metadata", "spec", "status"})


def is_built_in(cls: type) -> bool:
    """Whether a class is of the API's own, generated from its description."""
    return "._generated." in cls.__module__


@functools.cache
def required_fields(cls: type[Model]) -> frozenset[str]:
    """The fields, by wire name, that an object must have: those its class gives no value.

    The models of built-in kinds give every field a value; of theirs, what is neither a
    list nor a map nor may be None is required, save the parts that their class calls optional.
    """
    if is_built_in(cls):
        return frozenset() if cls.__name__ in _PLAIN else _required_of_built_in(cls)
    names = zip(cls.__struct_fields__, cls.__struct_encode_fields__, strict=True)
    return frozenset(wire for name, wire in names if name in cls.__required__)


def _required_of_built_in(cls: type[Model]) -> frozenset[str]:
    empty = cls()
    is_whole = bool(cls.__kind_options__)
    return frozenset(
        field.wire
        for field in plan_of(cls).values()
        if isinstance(field.node, Value | Object)
        and not field.node.optional
        and field.read(empty) is UNSET
        and field.name not in cls.__optional__
        and not (is_whole and field.wire in _ALWAYS_READABLE)
    )
