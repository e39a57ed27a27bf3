"""Options of a user-defined kind: columns, scale and required fields.

See also: the CustomResourceDefinition of a kind (`kubeloop.crd`).
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
    """The paths of the fields that the scale subresource uses."""

    spec_replicas: str = ".spec.replicas"
    status_replicas: str = ".status.replicas"
    label_selector: str = ""


# Plain strings in Go: empty means absent, although the schema does not mark them as optional.
_PLAIN = frozenset({"ObjectMeta", "ListMeta"})
_ALWAYS_READABLE = frozenset({"apiVersion", "kind", "metadata", "spec", "status"})


def is_built_in(cls: type) -> bool:
    """Whether a class is generated for a built-in kind."""
    return "._generated." in cls.__module__


@functools.cache
def required_fields(cls: type[Model]) -> frozenset[str]:
    """The required fields by wire name: those without a value in the class.

    Models of built-in kinds have a value for every field; there a field is required unless it
    is a list, a map, may be None, or is marked as optional by its class.
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
