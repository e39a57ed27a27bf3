"""What applying and computing strategic patches have in common.

The names of the directives, where one is and which merge rules hold there, and
what makes two list elements the same.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Literal

import msgspec

from kubeloop.wire.facts import NO_FACTS, FieldFacts, TypeFacts

from .errors import PatchError, PatchFailure
from .pointer import format_pointer
from .values import Json, JsonObject, described

__all__ = [
    "DELETE_VALUES",
    "PATCH",
    "RETAIN_KEYS",
    "SET_ORDER",
    "Place",
    "are_objects",
    "element_identity",
    "is_directive",
    "scalar_identity",
]

PATCH = "$patch"
RETAIN_KEYS = "$retainKeys"
DELETE_VALUES = "$deleteFromPrimitiveList/"
SET_ORDER = "$setElementOrder/"


def is_directive(key: str) -> bool:
    return key in {PATCH, RETAIN_KEYS} or key.startswith((DELETE_VALUES, SET_ORDER))


class Place(msgspec.Struct, frozen=True):
    """Where in a document one is, and the rules of the type there, if it is known."""

    facts: TypeFacts | None
    path: tuple[str | int, ...] = ()

    def rules(self, field: str) -> FieldFacts:
        return NO_FACTS if self.facts is None else self.facts.field(field)

    def has(self, field: str, strategy: Literal["merge", "replace", "retainKeys"]) -> bool:
        return strategy in self.rules(field).patch_strategies

    def inside(self, field: str) -> Place:
        facts = None if self.facts is None else self.facts.inside(field)
        return Place(facts, (*self.path, field))

    def element(self, index: int) -> Place:
        return Place(self.facts, (*self.path, index))

    def failure(self, message: str, *, failure: PatchFailure = "malformed") -> PatchError:
        pointer = format_pointer(self.path)
        return PatchError(
            f"strategic patch at {pointer!r}: {message}", failure=failure, path=pointer
        )


def are_objects(place: Place, merge_key: str, *lists: Iterable[Json]) -> bool:
    """Whether the elements of a merge list are objects; all have to be, or none.

    Raises: PatchError for a mixture, for objects without a merge key in the schema,
    and for scalars where there is one.
    """
    kinds = {isinstance(element, dict) for elements in lists for element in elements}
    if len(kinds) > 1:
        raise place.failure("a merge list of objects and other values: give one kind of element")
    if not kinds:
        return bool(merge_key)
    objects = kinds.pop()
    if objects and not merge_key:
        raise place.failure("a merge list of objects without a merge key in the schema")
    if merge_key and not objects:
        raise place.failure(f"elements without the merge key {merge_key!r}: give objects")
    return objects


def element_identity(element: JsonObject, merge_key: str, place: Place) -> Hashable:
    """What tells an object apart in its merge list."""
    value = element.get(merge_key)
    if value is None:
        raise place.failure(f"an element without the merge key {merge_key!r}: add it")
    return scalar_identity(value, place)


def scalar_identity(value: Json, place: Place) -> Hashable:
    """A scalar such that true is not 1."""
    if not isinstance(value, (str, int, float)):
        raise place.failure(f"elements are told apart by {described(value)}: give a scalar")
    return isinstance(value, bool), value
