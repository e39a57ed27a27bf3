"""Computes strategic merge patches from two or three documents.

Guarantees: the patch of two documents, applied to the old one, gives exactly the new one,
including the order of lists; a null member counts as absent and a merge list of scalars as a
set. Equal documents give `{}`. The three-way patch is the same if no one else has changed
the object. Two patches conflict if they set the same field to different values; merge lists
of scalars and orders never conflict.
See also: applying a patch (`strategic`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import Generic, TypeVar

import msgspec

from kubeloop.wire.facts import TypeFacts

from .errors import PatchError
from .strategic import merge_object
from .strategic_rules import (
    DELETE_VALUES,
    PATCH,
    RETAIN_KEYS,
    SET_ORDER,
    FieldPath,
    are_objects,
    first_positions,
    identities,
    is_directive,
    merge_scalars,
)
from .values import Json, JsonObject, copied, copied_object, equal

__all__ = ["strategic_patch_between", "three_way_strategic_patch"]

T = TypeVar("T")


class _Versions(msgspec.Struct, Generic[T], frozen=True):
    """Three versions of one value: as last applied, as desired now, as on the server."""

    original: T
    modified: T
    current: T


def strategic_patch_between(old: JsonObject, new: JsonObject, facts: TypeFacts) -> JsonObject:
    """The patch that turns `old` into `new`, by the merge rules of their type.

    Raises: PatchError if an element of a merge list has no merge key, or if a key of a
    document is the name of a directive.
    """
    before = _document(old, "the old document")
    after = _document(new, "the new document")
    return _object_patch(_Versions(before, after, before), FieldPath(facts))


def three_way_strategic_patch(
    original: JsonObject,
    modified: JsonObject,
    current: JsonObject,
    facts: TypeFacts,
    *,
    overwrite: bool = True,
) -> JsonObject:
    """The patch that applies `modified` to `current`, which others may have changed.

    It sets the fields that differ between `current` and `modified`, deletes those that
    `original` (what was last applied) has and `modified` does not, and keeps all others.
    Raises: PatchError as `strategic_patch_between` does; with `overwrite=False` also, with
    failure "conflict", if the patch changes a field that others have changed.
    """
    before = _document(original, "the original document")
    now = _document(current, "the current document")
    versions = _Versions(before, _document(modified, "the modified document"), now)
    patch = _object_patch(versions, FieldPath(facts))
    if not overwrite:
        changed = _object_patch(_Versions(before, now, before), FieldPath(facts))
        check_conflicts(patch, changed, FieldPath(facts))
    return patch


def _document(value: object, what: str) -> JsonObject:
    document = copied_object(value, what=what)
    _reject_directives(document, what)
    return document


def _reject_directives(value: Json, what: str) -> None:
    match value:
        case dict():
            for key, item in value.items():
                if key.startswith("$") and is_directive(key):
                    raise PatchError(
                        f"{what} has the key {key!r}, which a strategic patch reads "
                        "as a directive: use a merge patch"
                    )
                if isinstance(item, dict | list):
                    _reject_directives(item, what)
        case list():
            for item in value:
                _reject_directives(item, what)


def _object_patch(
    versions: _Versions[JsonObject], path: FieldPath, *, retain: bool = False
) -> JsonObject:
    modified, current = versions.modified, versions.current
    patch: JsonObject = {key: None for key in versions.original if key not in modified}
    for field, value in modified.items():
        if type(value) is str and value == current.get(field):
            continue  # unchanged, as nearly all fields are
        patch.update(_field_patch(versions, field, path))
    if retain:
        kept = sorted(key for key, value in modified.items() if value is not None)
        surplus = any(value is not None and key not in modified for key, value in current.items())
        if kept and (patch or surplus):
            patch[RETAIN_KEYS] = kept
    return patch


def _field_patch(versions: _Versions[JsonObject], field: str, path: FieldPath) -> JsonObject:
    """The part of the patch for one field of `modified`."""
    before, new, now = (
        versions.original.get(field),
        versions.modified[field],
        versions.current.get(field),
    )
    match now, new:
        case dict(), dict() if not path.has_strategy(field, "replace"):
            inner = _Versions(before if isinstance(before, dict) else {}, new, now)
            retain = path.has_strategy(field, "retainKeys")
            patch = _object_patch(inner, path.child(field), retain=retain)
            return {field: patch} if patch else {}
        case list(), list() if path.has_strategy(field, "merge"):
            lists = _Versions(before if isinstance(before, list) else [], new, now)
            return _list_patch(lists, field, path)
        case _:
            return {} if equal(now, new) else {field: new}


def _list_patch(lists: _Versions[list[Json]], field: str, path: FieldPath) -> JsonObject:
    key, inner = path.facts_of(field).patch_merge_key, path.child(field)
    if not are_objects(inner, key, lists.original, lists.modified, lists.current):
        return _scalars_patch(lists, field, inner)
    if _has_duplicate_keys(lists, key, inner):
        retain = path.has_strategy(field, "retainKeys")
        return _replacement_patch(lists, field, key, path=inner, retain=retain)
    return _elements_patch(lists, field, path)


def _scalars_patch(lists: _Versions[list[Json]], field: str, path: FieldPath) -> JsonObject:
    desired = merge_scalars(lists.modified, [], path)
    added = _missing_from(desired, lists.current, "", path)
    removed = _missing_from(merge_scalars(lists.original, [], path), desired, "", path)
    patch: JsonObject = {}
    if added:
        patch[field] = added
    if removed:
        patch[DELETE_VALUES + field] = removed
    if desired and lists.current and (patch or _order_differs(lists, "", path)):
        patch[SET_ORDER + field] = desired
    return patch


def _elements_patch(lists: _Versions[list[JsonObject]], field: str, path: FieldPath) -> JsonObject:
    key, inner = path.facts_of(field).patch_merge_key, path.child(field)
    retain = path.has_strategy(field, "retainKeys")
    changes = _changed_elements(lists, key, inner, retain=retain)
    gone = _missing_from(lists.original, lists.modified, key, inner)
    changes += [{PATCH: "delete", key: element[key]} for element in gone]
    patch: JsonObject = {field: changes} if changes else {}
    if lists.modified and lists.current and (patch or _order_differs(lists, key, inner)):
        patch[SET_ORDER + field] = [{key: element[key]} for element in lists.modified]
    return patch


def _changed_elements(
    lists: _Versions[list[JsonObject]], key: str, path: FieldPath, *, retain: bool
) -> list[JsonObject]:
    """The new elements, complete, and the patches of the existing ones."""
    before, now = _by_identity(lists.original, key, path), _by_identity(lists.current, key, path)
    changes: list[JsonObject] = []
    for name, element in _by_identity(lists.modified, key, path).items():
        if name not in now:
            changes.append(element)
            continue
        versions = _Versions(before.get(name, {}), element, now[name])
        patch = _object_patch(versions, path, retain=retain)
        if patch:
            changes.append({key: element[key]} | patch)
    return changes


def _has_duplicate_keys(lists: _Versions[list[JsonObject]], key: str, path: FieldPath) -> bool:
    """Whether a merge key occurs twice, as TCP and UDP on one port do."""
    return any(
        len(first_positions(identities(elements, key, path))) < len(elements)
        for elements in (lists.modified, lists.current)
    )


def _replacement_patch(
    lists: _Versions[list[JsonObject]], field: str, key: str, *, path: FieldPath, retain: bool
) -> JsonObject:
    """A patch that replaces the list: with duplicate keys a merge would lose elements."""
    before, now = _by_identity(lists.original, key, path), _by_identity(lists.current, key, path)
    desired = _by_identity(lists.modified, key, path)
    target = []
    for name, element in desired.items():
        versions = _Versions(before.get(name, {}), element, now.get(name, {}))
        patch = copied(_object_patch(versions, path, retain=retain), what="the patch")
        # Fields that the server has added to an element are kept.
        target.append(merge_object(copied(versions.current, what="an element"), patch, path))
    target += [item for name, item in now.items() if name not in desired and name not in before]
    return {} if equal(target, lists.current) else {field: [{PATCH: "replace"}, *target]}


def _by_identity(
    elements: list[JsonObject], key: str, path: FieldPath
) -> dict[tuple[Hashable, int], JsonObject]:
    """The elements by merge key and by their number among those with that key."""
    seen: Counter[Hashable] = Counter()
    named = {}
    for name, element in zip(identities(elements, key, path), elements, strict=True):
        named[name, seen[name]] = element
        seen[name] += 1
    return named


def _missing_from(
    elements: list[Json], others: list[Json], key: str, path: FieldPath
) -> list[Json]:
    """The elements that are not in `others`."""
    known = first_positions(identities(others, key, path))
    names = identities(elements, key, path)
    return [item for name, item in zip(names, elements, strict=True) if name not in known]


def _order_differs(lists: _Versions[list[Json]], key: str, path: FieldPath) -> bool:
    """Whether the elements in both `modified` and `current` have different orders there."""
    desired = first_positions(identities(lists.modified, key, path))
    present = first_positions(identities(lists.current, key, path))
    return [n for n in desired if n in present] != [n for n in present if n in desired]


def check_conflicts(patch: JsonObject, changed: JsonObject, path: FieldPath) -> None:
    """Raise PatchError, with failure "conflict", for the first field that both set differently.

    Both are computed patches, so each of their lists has elements of one type.
    """
    if patch.get(PATCH) != changed.get(PATCH):
        raise _conflict(path)
    for field, value in patch.items():
        if field in changed and not is_directive(field):
            _check_field(value, changed[field], field, path)


def _check_field(left: Json, right: Json, field: str, path: FieldPath) -> None:
    inner = path.child(field)
    match left, right:
        case dict(), dict() if not path.has_strategy(field, "replace"):
            check_conflicts(left, right, inner)
        case list(), list() if path.has_strategy(field, "merge"):
            _check_elements(left, right, path.facts_of(field).patch_merge_key, inner)
        case _ if not equal(left, right):
            raise _conflict(inner)


def _check_elements(left: list[Json], right: list[Json], key: str, path: FieldPath) -> None:
    if not key:
        return
    if _replaces(left) or _replaces(right):
        if not equal(left, right):
            raise _conflict(path)
        return
    others = dict(zip(identities(right, key, path), right, strict=True))
    for index, name in enumerate(identities(left, key, path)):
        if name in others:
            check_conflicts(left[index], others[name], path.element(index))


def _replaces(elements: list[Json]) -> bool:
    return any(element.get(PATCH) == "replace" for element in elements)


def _conflict(path: FieldPath) -> PatchError:
    return path.error(
        "another client has changed this field: read the object again, or overwrite it",
        failure="conflict",
    )
