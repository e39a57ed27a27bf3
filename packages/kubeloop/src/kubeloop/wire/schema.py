"""The merge rules of a class: generated for built-in kinds, annotations in user-defined ones."""

from __future__ import annotations

import functools
import typing
from typing import Any, final

from .facts import NO_FACTS, FieldFacts, TypeFacts
from .model import Model
from .plan import ListOf, MapOf, Node, Object, plan_of

__all__ = ["ClassFacts", "facts_of"]


@final
class ClassFacts:
    """The merge rules of one model class, field by field."""

    def __init__(self, cls: type[Model]) -> None:
        self._cls = cls

    def __repr__(self) -> str:
        return f"ClassFacts({self._cls.__name__})"

    def field(self, name: str) -> FieldFacts:
        """The rules of a field by its wire name."""
        return _rules_of(self._cls).get(name, NO_FACTS)

    def inside(self, name: str) -> TypeFacts | None:
        """The rules of a field's value."""
        known = plan_of(self._cls).get(name)
        return _facts_in(known.node) if known else None


@final
class MapFacts:
    """The rules of a map: its keys are data, and all values have one type."""

    def __init__(self, values: TypeFacts | None) -> None:
        self._values = values

    def field(self, name: str) -> FieldFacts:  # noqa: ARG002 - every key is alike
        """A key of a map has no rules."""
        return NO_FACTS

    def inside(self, name: str) -> TypeFacts | None:  # noqa: ARG002 - every key is alike
        """The rules of the values."""
        return self._values


@functools.cache
def facts_of(cls: type[Model]) -> ClassFacts:
    """The merge rules of a model class."""
    return ClassFacts(cls)


def _facts_in(node: Node) -> TypeFacts | None:
    match node:
        case Object():
            return facts_of(node.hint)
        case ListOf():
            return _facts_in(node.item)
        case MapOf():
            return MapFacts(_facts_in(node.value))
    return None


@functools.cache
def _rules_of(cls: type[Model]) -> dict[str, FieldFacts]:
    generated = cls.__module__.partition("._generated.")[2]
    if generated:
        from ._generated.facts import FACTS

        rows: dict[str, tuple[Any, ...]] = dict(FACTS.get(f"{generated}.{cls.__name__}", {}))
        return {name: FieldFacts(*row) for name, row in rows.items()}
    return dict(_annotated_facts(cls))


def _annotated_facts(cls: type[Model]) -> typing.Iterator[tuple[str, FieldFacts]]:
    """The rules in the annotations of a class: `Annotated[list[Port], FieldFacts(...)]`."""
    hints = typing.get_type_hints(cls, include_extras=True)
    for name, wire in zip(cls.__struct_fields__, cls.__struct_encode_fields__, strict=True):
        for note in getattr(hints[name], "__metadata__", ()):
            if isinstance(note, FieldFacts):
                yield wire, note
