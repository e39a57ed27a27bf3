"""Merges two changes of one object: a field that both sides changed is an overlap.

Guarantees: pure; whether two changes overlap does not depend on their order, nor on the values;
without an overlap the result has every field that either side changed.
A field is a member of an object, an element of a list that has merge keys (or is a set), or
a list or map that the API treats as one value.
See also: `object_patch` (what is sent), `writer` (sends it).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final, TypeAlias, final

import msgspec

from kubeloop.wire import NO_FACTS, FieldFacts, TypeFacts

__all__ = ["MergeResult", "merge_changes"]

Json: TypeAlias = Any
_Path: TypeAlias = tuple[str, ...]
_Id: TypeAlias = tuple[
    tuple[bool, str | int | float], ...
]  # with the type, since in Python True == 1

_ABSENT: Final = object()
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_-]+")
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_./:@-]+")


class MergeResult(msgspec.Struct, frozen=True):
    """Both changes in one document, and the fields that both sides changed."""

    document: dict[str, Json]  # meaningful only without overlaps
    overlaps: tuple[str, ...]  # `spec.template.spec.containers[name=web].image`


def merge_changes(
    before: dict[str, Json], mine: dict[str, Json], theirs: dict[str, Json], rules: TypeFacts | None
) -> MergeResult:
    """Merge the change from `before` to `mine` into `theirs`, which also started as `before`."""
    merge = _Merge()
    document = merge.fields(_Sides(before, mine, theirs), rules, ())
    return MergeResult(document, tuple(sorted(set(merge.overlaps))))


class _Sides(msgspec.Struct, frozen=True):
    """One value in three documents; `_ABSENT` if it is missing."""

    before: Json
    mine: Json
    theirs: Json

    def member(self, key: str) -> _Sides:
        return _Sides(*(_members(side).get(key, _ABSENT) for side in self.all))

    @property
    def all(self) -> tuple[Json, Json, Json]:
        return self.before, self.mine, self.theirs

    def are(self, kind: type) -> bool:
        """Whether both sides have a value of this type, and `before` has one or none."""
        began = self.before is _ABSENT or self.before is None or isinstance(self.before, kind)
        return began and isinstance(self.mine, kind) and isinstance(self.theirs, kind)


@final
class _Merge:
    """One traversal of three documents."""

    def __init__(self) -> None:
        self.overlaps: list[str] = []

    def fields(self, sides: _Sides, rules: TypeFacts | None, path: _Path) -> dict[str, Json]:
        """An object, field by field: first the fields of theirs, then those that mine added."""
        # Those of `before` as well: a field that both sides removed is an overlap.
        names = (
            name for side in (sides.theirs, sides.mine, sides.before) for name in _members(side)
        )
        found = {
            name: self._field(name, sides.member(name), rules, path)
            for name in dict.fromkeys(names)
        }
        return {name: value for name, value in found.items() if value is not _ABSENT}

    def _field(self, name: str, sides: _Sides, rules: TypeFacts | None, path: _Path) -> Json:
        if _same(sides.mine, sides.before):
            return sides.theirs
        if _same(sides.theirs, sides.before):
            return sides.mine
        here = (*path, _member(name, path))
        facts = NO_FACTS if rules is None else rules.field(name)
        inside = None if rules is None else rules.inside(name)
        if sides.are(dict) and _is_granular(facts, sides):
            return self.fields(sides, inside, here)
        if sides.are(list):
            elements = _elements(facts, sides)
            if elements is not None:
                return self._list(elements, inside, here)
        return self._overlap(sides, here)

    def _list(self, lists: _Elements, rules: TypeFacts | None, path: _Path) -> list[Json]:
        merged: dict[_Id, Json] = {}
        for name in dict.fromkeys((*lists.theirs, *lists.mine, *lists.before)):
            value = self._element(lists, name, rules, path)
            if value is not _ABSENT:
                merged[name] = value
        order = lists.order()
        if order is None:
            self.overlaps.append(_text(path))
            order = [*merged]
        return [merged[name] for name in order if name in merged]

    def _element(self, lists: _Elements, name: _Id, rules: TypeFacts | None, path: _Path) -> Json:
        sides = lists.element(name)
        if _same(sides.mine, sides.before):
            return sides.theirs
        if _same(sides.theirs, sides.before):
            return sides.mine
        here = (*path, lists.title(name))
        # An element that both sides added is an overlap, whatever its content.
        if sides.are(dict) and sides.before is not _ABSENT:
            return self.fields(sides, rules, here)
        return self._overlap(sides, here)

    def _overlap(self, sides: _Sides, path: _Path) -> Json:
        self.overlaps.append(_text(path))
        return sides.mine


def _is_granular(facts: FieldFacts, sides: _Sides) -> bool:
    """Whether the fields of an object can be changed one by one."""
    if facts.map_type == "atomic" or "replace" in facts.patch_strategies:
        return False
    if sides.before is not _ABSENT and sides.before is not None:
        return True
    # Both sides created the object. Each may have set another member of a union; and the
    # presence of an empty object has a meaning (`emptyDir: {}`).
    return "retainKeys" not in facts.patch_strategies and bool(sides.mine) and bool(sides.theirs)


class _Elements(msgspec.Struct, frozen=True):
    """The elements of a list in three documents, by their keys."""

    keys: tuple[str, ...]  # none for a set, whose elements are their own keys
    before: dict[_Id, Json]
    mine: dict[_Id, Json]
    theirs: dict[_Id, Json]

    def element(self, name: _Id) -> _Sides:
        return _Sides(*(side.get(name, _ABSENT) for side in (self.before, self.mine, self.theirs)))

    def title(self, name: _Id) -> str:
        """The element in a path: `[name=web]`."""
        values = [_readable(value) for _, value in name]
        if not self.keys:
            return f"[{values[0]}]"
        pairs = zip(self.keys, values, strict=True)
        return f"[{','.join(f'{key}={value}' for key, value in pairs)}]"

    def order(self) -> list[_Id] | None:
        """All elements in an order that respects both sides; None if both reordered."""
        mine, theirs = [*self.mine], [*self.theirs]
        shared = self.mine.keys() & self.theirs.keys() & self.before.keys()
        common = [name for name in self.before if name in shared]
        mine_moved = [name for name in mine if name in shared] != common
        theirs_moved = [name for name in theirs if name in shared] != common
        if mine_moved and theirs_moved:
            return None
        if mine_moved:
            return self._insert(theirs, into=mine)
        return self._insert(mine, into=theirs)

    def _insert(self, others: list[_Id], *, into: list[_Id]) -> list[_Id]:
        """Insert elements after their predecessor, and after other new elements there."""
        order = list(into)
        before: _Id | None = None
        for name in others:
            if name not in order:
                at = 0 if before is None else order.index(before) + 1
                while at < len(order) and order[at] not in self.before:
                    at += 1
                order.insert(at, name)
            before = name
        return order


def _elements(facts: FieldFacts, sides: _Sides) -> _Elements | None:
    """The elements by their keys; None for a list that is one value."""
    if not isinstance(sides.before, list) and not (sides.mine and sides.theirs):
        return None  # both created the list, and the presence of an empty list has a meaning
    lists = [side if isinstance(side, list) else [] for side in sides.all]
    for keys in _possible_keys(facts):
        found = [_by_key(each, keys) for each in lists]
        if all(side is not None for side in found):
            return _Elements(keys, *(side or {} for side in found))
    return None


def _possible_keys(facts: FieldFacts) -> Iterator[tuple[str, ...]]:
    # The merge key of patches before the keys of server-side apply: a port without `protocol`,
    # which has a default, is the same port as one with it.
    merges = "merge" in facts.patch_strategies
    if merges and facts.patch_merge_key:
        yield (facts.patch_merge_key,)
    if facts.list_type == "map" and facts.list_map_keys:
        yield facts.list_map_keys
    if facts.list_type == "set" or (merges and not facts.patch_merge_key):
        yield ()


def _by_key(elements: list[Json], keys: tuple[str, ...]) -> dict[_Id, Json] | None:
    """The elements by their keys; None if a key is missing or not unique."""
    found: dict[_Id, Json] = {}
    for element in elements:
        name = _id(element, keys)
        if name is None or name in found:
            return None
        found[name] = element
    return found


def _id(element: Json, keys: tuple[str, ...]) -> _Id | None:
    if keys and not isinstance(element, dict):
        return None
    values = [element.get(key) for key in keys] if keys else [element]
    if not all(isinstance(value, str | int | float) for value in values):
        return None
    return tuple((isinstance(value, bool), value) for value in values)


def _members(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def _same(one: Json, other: Json) -> bool:
    """Whether two values are equal: null is absent, 1 is 1.0, and true is not 1."""
    match one, other:
        case dict(), dict():
            return all(
                _same(one.get(key, _ABSENT), other.get(key, _ABSENT))
                for key in one.keys() | other.keys()
            )
        case list(), list():
            return len(one) == len(other) and all(map(_same, one, other))
        case _:
            if one is None or one is _ABSENT:
                return other is None or other is _ABSENT
            return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


# --- paths in messages


def _member(name: str, path: _Path) -> str:
    if not _PLAIN_NAME.fullmatch(name):
        return f"[{json.dumps(name)}]"
    return f".{name}" if path else name


def _text(path: _Path) -> str:
    return "".join(path)


def _readable(value: str | float) -> str:
    # Other characters are escaped: the text may come from any user.
    return value if isinstance(value, str) and _PLAIN_KEY.fullmatch(value) else json.dumps(value)
