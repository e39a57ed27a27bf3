"""Computing a strategic merge patch, from two documents or from three.

Guarantees: applied to the old document the patch of two gives exactly the new one,
lists and their order included, where a null member counts as absent and a merge
list of scalars as a set; equal documents give `{}`. The patch of three is the same
whenever nobody else has changed anything.
See also: what the patch does (`strategic`), who is in whose way (`strategic_conflicts`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import Generic, TypeVar

import msgspec

from kubeloop.wire.facts import TypeFacts

from .errors import PatchError
from .strategic import merged_object
from .strategic_conflicts import refuse_conflicts
from .strategic_lists import identities, merged_scalars, ranks
from .strategic_terms import (
    DELETE_VALUES,
    PATCH,
    RETAIN_KEYS,
    SET_ORDER,
    Place,
    are_objects,
    is_directive,
)
from .values import Json, JsonObject, copied, copied_object, equal

__all__ = ["strategic_patch_between", "three_way_strategic_patch"]

T = TypeVar("T")


class _Versions(msgspec.Struct, Generic[T], frozen=True):
    """One value three times: as last wished, as wished now, as it stands."""

    original: T
    modified: T
    current: T


def strategic_patch_between(old: JsonObject, new: JsonObject, facts: TypeFacts) -> JsonObject:
    """The patch that makes `old` into `new`, by the merge rules of their type.

    Raises: PatchError when an element of a merge list has no merge key, or a key of a
    document would be read as a directive.
    """
    before = _document(old, "the old document")
    after = _document(new, "the new document")
    return _object_patch(_Versions(before, after, before), Place(facts))


def three_way_strategic_patch(
    original: JsonObject,
    modified: JsonObject,
    current: JsonObject,
    facts: TypeFacts,
    *,
    overwrite: bool = True,
) -> JsonObject:
    """The patch that brings a wish, `modified`, into what others have changed since.

    Sets what differs between `current` and `modified`, deletes what `original` (the
    wish of last time) had and `modified` has no more, and leaves the rest alone.
    Raises: PatchError as `strategic_patch_between` does; with `overwrite` off also,
    with failure "conflict", when the patch touches what others have changed.
    """
    before = _document(original, "the original document")
    now = _document(current, "the current document")
    versions = _Versions(before, _document(modified, "the modified document"), now)
    patch = _object_patch(versions, Place(facts))
    if not overwrite:
        changed = _object_patch(_Versions(before, now, before), Place(facts))
        refuse_conflicts(patch, changed, Place(facts))
    return patch


def _document(value: object, what: str) -> JsonObject:
    document = copied_object(value, what=what)
    _refuse_directives(document, what)
    return document


def _refuse_directives(value: Json, what: str) -> None:
    match value:
        case dict():
            for key, item in value.items():
                if is_directive(key):
                    raise PatchError(
                        f"{what} has the key {key!r}, which a strategic patch reads "
                        "as a directive: use a merge patch"
                    )
                _refuse_directives(item, what)
        case list():
            for item in value:
                _refuse_directives(item, what)


def _object_patch(
    versions: _Versions[JsonObject], place: Place, *, retain: bool = False
) -> JsonObject:
    modified, current = versions.modified, versions.current
    patch: JsonObject = {key: None for key in versions.original if key not in modified}
    for field in modified:
        patch.update(_field_patch(versions, field, place))
    kept = sorted(key for key, value in modified.items() if value is not None)
    surplus = any(value is not None and key not in modified for key, value in current.items())
    if retain and kept and (patch or surplus):
        patch[RETAIN_KEYS] = kept
    return patch


def _field_patch(versions: _Versions[JsonObject], field: str, place: Place) -> JsonObject:
    """What the patch has to say about one field that is wished for."""
    before, new, now = (
        versions.original.get(field),
        versions.modified[field],
        versions.current.get(field),
    )
    match now, new:
        case dict(), dict() if not place.has(field, "replace"):
            inner = _Versions(before if isinstance(before, dict) else {}, new, now)
            retain = place.has(field, "retainKeys")
            patch = _object_patch(inner, place.inside(field), retain=retain)
            return {field: patch} if patch else {}
        case list(), list() if place.has(field, "merge"):
            lists = _Versions(before if isinstance(before, list) else [], new, now)
            return _list_patch(lists, field, place)
        case _:
            return {} if equal(now, new) else {field: new}


def _list_patch(lists: _Versions[list[Json]], field: str, place: Place) -> JsonObject:
    key, inner = place.rules(field).patch_merge_key, place.inside(field)
    if not are_objects(inner, key, lists.original, lists.modified, lists.current):
        return _scalars_patch(lists, field, inner)
    if _ambiguous(lists, key, inner):
        retain = place.has(field, "retainKeys")
        return _replacing_patch(lists, field, key, place=inner, retain=retain)
    return _elements_patch(lists, field, place)


def _scalars_patch(lists: _Versions[list[Json]], field: str, place: Place) -> JsonObject:
    wished = merged_scalars(lists.modified, [], place)
    added = _without(wished, lists.current, "", place)
    removed = _without(merged_scalars(lists.original, [], place), wished, "", place)
    patch: JsonObject = {}
    if added:
        patch[field] = added
    if removed:
        patch[DELETE_VALUES + field] = removed
    if wished and lists.current and (patch or _reordered(lists, "", place)):
        patch[SET_ORDER + field] = wished
    return patch


def _elements_patch(lists: _Versions[list[JsonObject]], field: str, place: Place) -> JsonObject:
    key, inner = place.rules(field).patch_merge_key, place.inside(field)
    retain = place.has(field, "retainKeys")
    changes = _changed_elements(lists, key, inner, retain=retain)
    gone = _without(lists.original, lists.modified, key, inner)
    changes += [{PATCH: "delete", key: element[key]} for element in gone]
    patch: JsonObject = {field: changes} if changes else {}
    if lists.modified and lists.current and (patch or _reordered(lists, key, inner)):
        patch[SET_ORDER + field] = [{key: element[key]} for element in lists.modified]
    return patch


def _changed_elements(
    lists: _Versions[list[JsonObject]], key: str, place: Place, *, retain: bool
) -> list[JsonObject]:
    """The wished elements that are new, whole, and the changes of the others."""
    before, now = _by_name(lists.original, key, place), _by_name(lists.current, key, place)
    changes: list[JsonObject] = []
    for name, element in _by_name(lists.modified, key, place).items():
        if name not in now:
            changes.append(element)
            continue
        versions = _Versions(before.get(name, {}), element, now[name])
        patch = _object_patch(versions, place, retain=retain)
        if patch:
            changes.append({key: element[key]} | patch)
    return changes


def _ambiguous(lists: _Versions[list[JsonObject]], key: str, place: Place) -> bool:
    """Whether a merge key occurs twice, as TCP and UDP on one port do."""
    return any(
        len(ranks(identities(elements, key, place))) < len(elements)
        for elements in (lists.modified, lists.current)
    )


def _replacing_patch(
    lists: _Versions[list[JsonObject]], field: str, key: str, *, place: Place, retain: bool
) -> JsonObject:
    """The whole list anew: merging by an ambiguous key would melt elements into one."""
    before, now = _by_name(lists.original, key, place), _by_name(lists.current, key, place)
    wished = _by_name(lists.modified, key, place)
    target = []
    for name, element in wished.items():
        versions = _Versions(before.get(name, {}), element, now.get(name, {}))
        patch = copied(_object_patch(versions, place, retain=retain), what="the patch")
        # What the server has added to an element stays in it.
        target.append(merged_object(copied(versions.current, what="an element"), patch, place))
    target += [item for name, item in now.items() if name not in wished and name not in before]
    return {} if equal(target, lists.current) else {field: [{PATCH: "replace"}, *target]}


def _by_name(
    elements: list[JsonObject], key: str, place: Place
) -> dict[tuple[Hashable, int], JsonObject]:
    """The elements by merge key and by which one with that key they are."""
    seen: Counter[Hashable] = Counter()
    named = {}
    for name, element in zip(identities(elements, key, place), elements, strict=True):
        named[name, seen[name]] = element
        seen[name] += 1
    return named


def _without(elements: list[Json], others: list[Json], key: str, place: Place) -> list[Json]:
    """The elements that the other list does not have."""
    known = ranks(identities(others, key, place))
    names = identities(elements, key, place)
    return [item for name, item in zip(names, elements, strict=True) if name not in known]


def _reordered(lists: _Versions[list[Json]], key: str, place: Place) -> bool:
    """Whether what stands and is wished for stands in another order than wished."""
    wished = ranks(identities(lists.modified, key, place))
    standing = ranks(identities(lists.current, key, place))
    return [n for n in wished if n in standing] != [n for n in standing if n in wished]
