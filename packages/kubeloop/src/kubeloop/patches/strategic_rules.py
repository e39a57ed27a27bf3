"""Directives, fields and lists of strategic merge patches, for applying and computing them.

Guarantees: lists are ordered as kube-apiserver orders them. Elements that the patch names are
in the patch's order, the others in their old order; one of the others precedes a named one
only if both were on the server and it came first there. So a new element is placed before
the remaining old ones.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable
from typing import Literal

import msgspec

from kubeloop.wire.facts import NO_FACTS, FieldFacts, TypeFacts

from .errors import PatchError, PatchFailure, StrategicRule
from .values import Json, JsonObject, format_pointer, type_name

__all__ = [
    "DELETE_VALUES",
    "PATCH",
    "RETAIN_KEYS",
    "SET_ORDER",
    "FieldPath",
    "are_objects",
    "check_order",
    "element_identity",
    "first_positions",
    "identities",
    "is_directive",
    "merge_scalars",
    "ordered",
    "scalar_identity",
    "split_elements",
]

PATCH = "$patch"
RETAIN_KEYS = "$retainKeys"
DELETE_VALUES = "$deleteFromPrimitiveList/"
SET_ORDER = "$setElementOrder/"

_NO_DIRECTIVE = object()


def is_directive(key: str) -> bool:
    return key in {PATCH, RETAIN_KEYS} or key.startswith((DELETE_VALUES, SET_ORDER))


class FieldPath(msgspec.Struct, frozen=True):
    """A path in a document and the merge rules of the type there, if the type is known."""

    facts: TypeFacts | None
    steps: tuple[str | int, ...] = ()

    def facts_of(self, field: str) -> FieldFacts:
        return NO_FACTS if self.facts is None else self.facts.field(field)

    def has_strategy(self, field: str, strategy: Literal["merge", "replace", "retainKeys"]) -> bool:
        return strategy in self.facts_of(field).patch_strategies

    def child(self, field: str) -> FieldPath:
        facts = None if self.facts is None else self.facts.inside(field)
        return FieldPath(facts, (*self.steps, field))

    def element(self, index: int) -> FieldPath:
        return FieldPath(self.facts, (*self.steps, index))

    def error(
        self,
        message: str,
        *values: Json,
        failure: PatchFailure = "malformed",
        rule: StrategicRule | None = None,
    ) -> PatchError:
        pointer = format_pointer(self.steps)
        return PatchError(
            f"strategic patch at {pointer!r}: {message}",
            failure=failure,
            path=pointer,
            rule=rule,
            values=values,
        )


def are_objects(path: FieldPath, merge_key: str, *lists: Iterable[Json]) -> bool:
    """Whether the elements of a merge list are objects.

    Raises: PatchError for a mixture, for objects if the schema has no merge key, and for
    scalars if it has one.
    """
    kinds = {isinstance(element, dict) for elements in lists for element in elements}
    if len(kinds) > 1:
        message = "a merge list of objects and other values: give one kind of element"
        raise path.error(message, *map(list, lists), rule="kinds")
    if not kinds:
        return bool(merge_key)
    objects = kinds.pop()
    if objects and not merge_key:
        raise path.error("a merge list of objects without a merge key in the schema")
    if merge_key and not objects:
        raise path.error(f"elements without the merge key {merge_key!r}: give objects")
    return objects


def element_identity(element: JsonObject, merge_key: str, path: FieldPath) -> Hashable:
    """The identity of an object in its merge list: the value of its merge key."""
    value = element.get(merge_key)
    if value is None:
        message = f"an element without the merge key {merge_key!r}: add it"
        raise path.error(message, element, merge_key, rule="key")
    return scalar_identity(value, path)


def scalar_identity(value: Json, path: FieldPath) -> Hashable:
    """The identity of a scalar; unlike in Python, true is not 1."""
    if not isinstance(value, (str, int, float)):
        raise path.error(f"elements are identified by {type_name(value)}: use a scalar")
    return isinstance(value, bool), value


class _SplitElements(msgspec.Struct, frozen=True):
    """The elements of a list in a patch: those to merge, and the directives."""

    plain: list[JsonObject]
    deleted: frozenset[Hashable]
    replace: bool


def split_elements(elements: list[JsonObject], key: str, path: FieldPath) -> _SplitElements:
    """Separate the elements from the directives among them.

    Raises: PatchError for a directive that lists do not support, such as `$patch: merge`.
    """
    deleted: set[Hashable] = set()
    replace = False
    for index, element in enumerate(elements):
        match element.get(PATCH, _NO_DIRECTIVE):
            case "delete":
                deleted.add(element_identity(element, key, path.element(index)))
            case "replace":
                replace = True
            case found if found is not _NO_DIRECTIVE:
                message = f"{PATCH} in a list element has to be 'delete' or 'replace'"
                raise path.element(index).error(message, element, rule="directive")
    plain = [element for element in elements if PATCH not in element]
    return _SplitElements(plain, frozenset(deleted), replace)


def merge_scalars(old: list[Json], new: list[Json], path: FieldPath) -> list[Json]:
    """The values of both lists, without duplicates."""
    both = [*old, *new]
    return [both[rank] for rank in first_positions(identities(both, "", path)).values()]


def check_order(elements: list[Json], order: list[Json], *, key: str, path: FieldPath) -> None:
    """Raise PatchError unless the elements to merge are a subsequence of `order`."""
    named = [item for item in elements if not (key and item.get(PATCH) == "delete")]
    if not named or not order:
        return
    rest = iter(identities(order, key, path))
    # `in` on an iterator continues where the last search ended.
    if not all(name in rest for name in identities(named, key, path)):
        message = (
            "the list and its $setElementOrder disagree: name every element there, in one order"
        )
        raise path.error(message, named, order, rule="order")


def ordered(
    merged: list[Json], *, order: list[Json], server: list[Json], key: str, path: FieldPath
) -> list[Json]:
    """The merged elements, ordered by `order` and by the server's list."""
    desired = first_positions(identities(order, key, path))
    server_order = first_positions(identities(server, key, path))
    elements = list(zip(identities(merged, key, path), merged, strict=True))
    named = sorted((e for e in elements if e[0] in desired), key=lambda e: desired[e[0]])
    others = deque(e for e in elements if e[0] not in desired)
    result = []
    for name, element in named:
        while others and server_order.get(others[0][0], len(server_order)) < server_order.get(
            name, -1
        ):
            result.append(others.popleft()[1])
        result.append(element)
    return result + [element for _, element in others]


def identities(elements: list[Json], key: str, path: FieldPath) -> list[Hashable]:
    """The identities of the elements of a merge list."""
    if not key:
        return [scalar_identity(element, path) for element in elements]
    return [element_identity(element, key, path) for element in elements]


def first_positions(names: list[Hashable]) -> dict[Hashable, int]:
    """The index at which each name occurs first."""
    first_positions: dict[Hashable, int] = {}
    for rank, name in enumerate(names):
        first_positions.setdefault(name, rank)
    return first_positions
