"""Applying a strategic merge patch: a merge patch that knows lists.

Guarantees: what the directives and merge keys say is done as the API server does
it, down to the order of lists; a list without merge rules is replaced whole.
See also: how such a patch is computed (`strategic_diff`), the lists (`strategic_lists`).
"""

from __future__ import annotations

from typing import Final

from kubeloop.wire.facts import TypeFacts

from .strategic_lists import (
    arranged,
    identities,
    merged_scalars,
    ranks,
    refuse_disorder,
    split_elements,
)
from .strategic_terms import (
    DELETE_VALUES,
    PATCH,
    RETAIN_KEYS,
    SET_ORDER,
    Place,
    are_objects,
    element_identity,
    is_directive,
    scalar_identity,
)
from .values import Json, JsonObject, copied_object, described

__all__ = ["apply_strategic_patch", "merged_object"]

# What an added value leaves behind that is nothing but a directive.
_NOTHING: Final = object()


def apply_strategic_patch(document: JsonObject, patch: JsonObject, facts: TypeFacts) -> JsonObject:
    """The document after the patch, by the merge rules of its type.

    Raises: PatchError for a directive nobody knows or that contradicts the patch, and
    for an element of a merge list without its merge key.
    """
    target = copied_object(document, what="the document")
    change = copied_object(patch, what="the strategic patch")
    return merged_object(target, change, Place(facts))


def merged_object(target: JsonObject, change: JsonObject, place: Place) -> JsonObject:
    """`target` with `change` merged into it; takes both over."""
    if PATCH in change:
        return _directed_object(change, place)
    orders = _take_lists(change, SET_ORDER, place)
    deletions = _take_lists(change, DELETE_VALUES, place)
    _retain_keys(target, change, place)
    for field, order in orders.items():
        _merge_ordered(target, field, change.pop(field, []), order=order, place=place)
    for field, value in change.items():
        _merge_field(target, field, value, place=place)
    # Last, so that a value both added and deleted is gone.
    for field, values in deletions.items():
        _delete_values(target, field, values, place=place)
    return target


def _directed_object(change: JsonObject, place: Place) -> JsonObject:
    match change.pop(PATCH):
        case "replace":
            replaced: JsonObject = _undirected(change)
            return replaced
        case "delete":
            return {}
        case _:
            raise place.failure(f"{PATCH} in an object has to be 'replace' or 'delete'")


def _undirected(value: Json) -> Json:
    """What replaces an object, or is new in a list: directives in it say nothing, nulls are
    nothing, the rest stands."""
    match value:
        case dict():
            return {
                key: _undirected(item)
                for key, item in value.items()
                if item is not None and not is_directive(key)
            }
        case list():
            return [_undirected(item) for item in value]
        case _:
            return value


def _take_lists(change: JsonObject, prefix: str, place: Place) -> dict[str, list[Json]]:
    """The directives of one kind by the field they are about, removed from the patch."""
    taken = {key: change.pop(key) for key in list(change) if key.startswith(prefix)}
    for key, value in taken.items():
        if not isinstance(value, list):
            raise place.failure(f"{key} is {described(value)}: a list is needed")
    return {key.removeprefix(prefix): value for key, value in taken.items()}


def _retain_keys(target: JsonObject, change: JsonObject, place: Place) -> None:
    if RETAIN_KEYS not in change:
        return
    keys = change.pop(RETAIN_KEYS)
    if not isinstance(keys, list):
        raise place.failure(f"{RETAIN_KEYS} is {described(keys)}: a list of keys is needed")
    for key, value in change.items():
        if value is not None and key not in keys:
            raise place.failure(f"{key!r} is set but not listed in {RETAIN_KEYS}: list it")
    for key in [key for key in target if key not in keys]:
        del target[key]


def _merge_field(target: JsonObject, field: str, value: Json, *, place: Place) -> None:
    if value is None:
        target.pop(field, None)
        return
    merged = _merged_value(target.get(field), value, field=field, place=place)
    if merged is _NOTHING:
        target.pop(field, None)
    else:
        target[field] = merged


def _merged_value(old: Json, new: Json, *, field: str, place: Place) -> Json:
    match old, new:
        case dict(), dict() if PATCH in new or not place.has(field, "replace"):
            return merged_object(old, new, place.inside(field))
        case list(), list() if place.has(field, "merge"):
            return _merged_list(old, new, field=field, place=place)
        case list(), list():
            return new
        case _:
            return _added(new)


def _added(value: Json) -> Json:
    """A value that meets nothing to merge with: without nulls, directives and what
    carries `$patch`, which the server drops even when it says 'replace'."""
    match value:
        case dict() if PATCH in value:
            return _NOTHING
        case dict():
            kept = {
                key: _added(item)
                for key, item in value.items()
                if item is not None and not is_directive(key)
            }
            return {key: item for key, item in kept.items() if item is not _NOTHING}
        case list():
            return [item for item in map(_added, value) if item is not _NOTHING]
        case _:
            return value


def _merged_list(old: list[Json], new: list[Json], *, field: str, place: Place) -> list[Json]:
    key, inner = place.rules(field).patch_merge_key, place.inside(field)
    if not are_objects(inner, key, old, new):
        return arranged(merged_scalars(old, new, inner), order=new, server=old, key="", place=inner)
    merged, elements = _merged_elements(list(old), new, key, place=inner)
    return arranged(merged, order=elements, server=old, key=key, place=inner)


def _merged_elements(
    old: list[JsonObject], new: list[JsonObject], key: str, *, place: Place
) -> tuple[list[JsonObject], list[JsonObject]]:
    """The elements after the patch, unordered, and those the patch has named."""
    split = split_elements(new, key, place)
    if split.replace:
        return [_undirected(element) for element in split.plain], []
    kept = [item for item in old if element_identity(item, key, place) not in split.deleted]
    positions = ranks(identities(kept, key, place))
    for index, element in enumerate(split.plain):
        name = element_identity(element, key, place)
        if name in positions:
            at = positions[name]
            kept[at] = merged_object(kept[at], element, place.element(index))
        else:
            positions[name] = len(kept)
            kept.append(_undirected(element))
    return kept, split.plain


def _merge_ordered(
    target: JsonObject, field: str, new: Json, *, order: list[Json], place: Place
) -> None:
    """Merge a list and bring it into the order that `$setElementOrder` asks for."""
    old, inner = target.get(field), place.inside(field)
    if not place.has(field, "merge"):
        raise inner.failure(f"{SET_ORDER}{field} for a list that is not merged: leave it out")
    if not isinstance(new, list) or not isinstance(old, (list, type(None))):
        raise inner.failure(f"{SET_ORDER}{field} for something that is not a list")
    if old is None and not new:
        return
    key = place.rules(field).patch_merge_key
    objects = are_objects(inner, key, old or [], new, order)
    refuse_disorder(new, order, key=key, place=inner)
    if old is None:
        merged, server = _added(new), []
    elif objects:
        merged, _ = _merged_elements(list(old), new, key, place=inner)
        # To the server a new element has stood there, where a deleted one left room for it.
        server = merged[: len(old)]
    else:
        merged, server = merged_scalars(old, new, inner), old
    target[field] = arranged(merged, order=order, server=server, key=key, place=inner)


def _delete_values(target: JsonObject, field: str, values: list[Json], *, place: Place) -> None:
    old, inner = target.get(field), place.inside(field)
    if not isinstance(old, list):
        return
    gone = {scalar_identity(value, inner) for value in values}
    target[field] = [value for value in old if scalar_identity(value, inner) not in gone]
