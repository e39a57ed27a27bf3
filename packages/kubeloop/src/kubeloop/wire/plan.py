"""The fields of a model class, derived once from its annotations.

A plan is a tree of nodes, one for each JSON value. Decoding uses it to find unknown keys and
nulls, encoding to find the fields that are set, patches to find merge rules.
See also: its users (`codec`, `encoding`, `schema`).
"""

from __future__ import annotations

import functools
import types
import typing
from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec

from .model import Model, ModelMeta, hints_of, slot_reader

__all__ = [
    "FieldPlan",
    "ListOf",
    "MapOf",
    "Node",
    "Object",
    "Value",
    "View",
    "node_for",
    "plan_of",
]


class Value(msgspec.Struct, frozen=True):
    """A scalar, free-form JSON, or a type that msgspec decodes by itself."""

    hint: Any
    optional: bool


class View(Value, frozen=True):
    """A plain struct of the user, which msgspec decodes; it may contain models."""


class ListOf(msgspec.Struct, frozen=True):
    """A JSON array of one type."""

    hint: Any
    optional: bool
    item: Node


class MapOf(msgspec.Struct, frozen=True):
    """A JSON object whose keys are data."""

    hint: Any
    optional: bool
    value: Node


class Object(msgspec.Struct, frozen=True):
    """A JSON object of a model class; its fields are looked up when they are needed."""

    hint: type[Model]
    optional: bool


Node: TypeAlias = Value | ListOf | MapOf | Object


class FieldPlan(msgspec.Struct, frozen=True):
    """One field: its slot, its name in JSON, and the node of its value."""

    name: str
    wire: str
    read: Callable[[Model], Any]
    node: Node


@functools.cache
def plan_of(cls: type[msgspec.Struct]) -> dict[str, FieldPlan]:
    """The fields of a model or a view by wire name, without the slot for unknown keys."""
    hints = hints_of(cls)
    return {
        wire: FieldPlan(name, wire, slot_reader(cls, name), node_for(hints[name]))
        for name, wire in zip(cls.__struct_fields__, cls.__struct_encode_fields__, strict=True)
        if name != "_extra"
    }


@functools.cache
def node_for(hint: Any) -> Node:
    """The node of an annotation; a `Value` unless it is a model, a list or a map."""
    bare, optional = _without_none(hint)
    match typing.get_origin(bare), typing.get_args(bare):
        case (origin, (item,)) if origin is list:
            return ListOf(bare, optional, node_for(item))
        case (origin, (_, value)) if origin is dict:
            return MapOf(bare, optional, node_for(value))
    if bare is msgspec.Raw:  # a lazy field
        return MapOf(bare, optional, node_for(Any))
    if isinstance(bare, ModelMeta):
        return Object(typing.cast("type[Model]", bare), optional)
    if isinstance(bare, msgspec.StructMeta):
        return View(bare, optional)
    return Value(bare, optional or bare is Any)


def _without_none(hint: Any) -> tuple[Any, bool]:
    if typing.get_origin(hint) not in (typing.Union, types.UnionType):
        return hint, hint is types.NoneType
    rest = tuple(part for part in typing.get_args(hint) if part is not types.NoneType)
    optional = len(rest) < len(typing.get_args(hint))
    return (rest[0] if len(rest) == 1 else typing.Union[rest]), optional  # noqa: UP007
