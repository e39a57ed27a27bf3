"""Applies strategic merge patches: merge patches that merge lists by key.

Guarantees: directives and merge keys have the effect they have in kube-apiserver, including
the order of lists; a list without a merge strategy is replaced.
See also: computing a patch (`strategic_diff`), directives and lists (`strategic_rules`).
"""

from __future__ import annotations

from typing import Final

from kubeloop.wire.facts import TypeFacts

from .strategic_rules import (
    DELETE_VALUES,
    PATCH,
    RETAIN_KEYS,
    SET_ORDER,
    FieldPath,
    are_objects,
    check_order,
    element_identity,
    first_positions,
    identities,
    is_directive,
    merge_scalars,
    ordered,
    scalar_identity,
    split_elements,
)
from .values import Json, JsonObject, copied_object, type_name

__all__ = ["apply_strategic_patch", "merge_object"]

# The result for a new value that is only a directive.
_NOTHING: Final = object()


def apply_strategic_patch(document: JsonObject, patch: JsonObject, facts: TypeFacts) -> JsonObject:
    """The document after the patch, by the merge rules of its type.

    Raises: PatchError for a directive that is unknown or contradicts the patch, and for an
    element of a merge list without its merge key.
    """
    target = copied_object(document, what="the document")
    change = copied_object(patch, what="the strategic patch")
    return merge_object(target, change, FieldPath(facts))


def merge_object(target: JsonObject, change: JsonObject, path: FieldPath) -> JsonObject:
    """Merge `change` into `target`; both may be modified. Returns the result."""
    if PATCH in change:
        return _apply_directive(change, path)
    orders = _take_lists(change, SET_ORDER, path)
    # As in kube-apiserver: a text is no error if there is no list to delete from.
    for key in [key for key in change if key.startswith(DELETE_VALUES)]:
        if isinstance(change[key], str) and not target.get(key.removeprefix(DELETE_VALUES)):
            del change[key]
    deletions = _take_lists(change, DELETE_VALUES, path)
    _retain_keys(target, change, path)
    for field, order in orders.items():
        _merge_ordered(target, field, change.pop(field, []), order=order, path=path)
    for field, value in change.items():
        _merge_field(target, field, value, path=path)
    # Last, so that a value that is both added and deleted is deleted.
    for field, values in deletions.items():
        _delete_values(target, field, values, path=path)
    return target


def _apply_directive(change: JsonObject, path: FieldPath) -> JsonObject:
    match change.get(PATCH):
        case "replace":
            replaced: JsonObject = _without_directives(change)
            return replaced
        case "delete":
            return {}
        case _:
            message = f"{PATCH} in an object has to be 'replace' or 'delete'"
            raise path.error(message, change, rule="directive")


def _without_directives(value: Json) -> Json:
    """A value that replaces an object or is new in a list: directives and nulls are dropped."""
    match value:
        case dict():
            return {
                key: _without_directives(item)
                for key, item in value.items()
                if item is not None and not is_directive(key)
            }
        case list():
            return [_without_directives(item) for item in value]
        case _:
            return value


def _take_lists(change: JsonObject, prefix: str, path: FieldPath) -> dict[str, list[Json]]:
    """Remove the directives of one kind from the patch; returns them by field."""
    taken = {key: change.pop(key) for key in list(change) if key.startswith(prefix)}
    for key, value in taken.items():
        if not isinstance(value, list):
            message = f"{key} is {type_name(value)}: a list is needed"
            raise path.error(message, value, rule="list")
    return {key.removeprefix(prefix): value for key, value in taken.items()}


def _retain_keys(target: JsonObject, change: JsonObject, path: FieldPath) -> None:
    if RETAIN_KEYS not in change:
        return
    keys = change.pop(RETAIN_KEYS)
    if not isinstance(keys, list):
        message = f"{RETAIN_KEYS} is {type_name(keys)}: a list of keys is needed"
        raise path.error(message, rule="retain")
    for key, value in change.items():
        if value is not None and key not in keys:
            message = f"{key!r} is set but not listed in {RETAIN_KEYS}: list it"
            raise path.error(message, rule="retain")
    for key in [key for key in target if key not in keys]:
        del target[key]


def _merge_field(target: JsonObject, field: str, value: Json, *, path: FieldPath) -> None:
    if value is None:
        target.pop(field, None)
        return
    merged = _merge_value(target.get(field), value, field=field, path=path)
    if merged is _NOTHING:
        target.pop(field, None)
    else:
        target[field] = merged


def _merge_value(old: Json, new: Json, *, field: str, path: FieldPath) -> Json:
    match old, new:
        case dict(), dict() if PATCH in new or not path.has_strategy(field, "replace"):
            return merge_object(old, new, path.child(field))
        case list(), list() if path.has_strategy(field, "merge"):
            return _merge_list(old, new, field=field, path=path)
        case list(), list():
            return new
        case _:
            return _new_value(new)


def _new_value(value: Json) -> Json:
    """A value with no counterpart to merge with: nulls, directives and objects with `$patch`
    are dropped. kube-apiserver drops the latter even for `$patch: replace`."""
    match value:
        case dict() if PATCH in value:
            return _NOTHING
        case dict():
            kept = {
                key: _new_value(item)
                for key, item in value.items()
                if item is not None and not is_directive(key)
            }
            return {key: item for key, item in kept.items() if item is not _NOTHING}
        case list():
            return [item for item in map(_new_value, value) if item is not _NOTHING]
        case _:
            return value


def _merge_list(old: list[Json], new: list[Json], *, field: str, path: FieldPath) -> list[Json]:
    key, inner = path.facts_of(field).patch_merge_key, path.child(field)
    if not are_objects(inner, key, old, new):
        return ordered(merge_scalars(old, new, inner), order=new, server=old, key="", path=inner)
    merged, elements = _merge_elements(list(old), new, key, path=inner)
    return ordered(merged, order=elements, server=old, key=key, path=inner)


def _merge_elements(
    old: list[JsonObject], new: list[JsonObject], key: str, *, path: FieldPath
) -> tuple[list[JsonObject], list[JsonObject]]:
    """The elements after the patch, not yet ordered, and those that the patch names."""
    split = split_elements(new, key, path)
    if split.replace:
        return [_without_directives(element) for element in split.plain], []
    kept = [item for item in old if element_identity(item, key, path) not in split.deleted]
    positions = first_positions(identities(kept, key, path))
    for index, element in enumerate(split.plain):
        name = element_identity(element, key, path)
        if name in positions:
            at = positions[name]
            kept[at] = merge_object(kept[at], element, path.element(index))
        else:
            positions[name] = len(kept)
            kept.append(_without_directives(element))
    return kept, split.plain


def _merge_ordered(
    target: JsonObject, field: str, new: Json, *, order: list[Json], path: FieldPath
) -> None:
    """Merge a list and order it by `$setElementOrder`."""
    old, inner = target.get(field), path.child(field)
    if not path.has_strategy(field, "merge"):
        raise inner.error(f"{SET_ORDER}{field} for a list that is not merged: leave it out")
    if not isinstance(new, list) or not isinstance(old, (list, type(None))):
        raise inner.error(f"{SET_ORDER}{field} for something that is not a list")
    if old is None and not new:
        return
    key = path.facts_of(field).patch_merge_key
    objects = are_objects(inner, key, old or [], new, order)
    check_order(new, order, key=key, path=inner)
    if old is None:
        merged, server = _new_value(new), []
    elif objects:
        merged, _ = _merge_elements(list(old), new, key, path=inner)
        # kube-apiserver orders a new element that takes the index of a deleted one as if it
        # had been in the list before.
        server = merged[: len(old)]
    else:
        merged, server = merge_scalars(old, new, inner), old
    target[field] = ordered(merged, order=order, server=server, key=key, path=inner)


def _delete_values(target: JsonObject, field: str, values: list[Json], *, path: FieldPath) -> None:
    old, inner = target.get(field), path.child(field)
    if not isinstance(old, list):
        return
    gone = {scalar_identity(value, inner) for value in values}
    target[field] = [value for value in old if scalar_identity(value, inner) not in gone]
