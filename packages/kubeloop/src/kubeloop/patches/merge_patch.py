"""JSON merge patch (RFC 7386): objects merge, null deletes, everything else replaces.

Like kube-apiserver, it also drops null members of objects in a list, unless the list replaces
an object.
Guarantees: a computed patch, applied to the old object, gives the new one; null members count
as absent, because a merge patch cannot set them. Equal objects give `{}`.
"""

from __future__ import annotations

from .values import Json, JsonObject, copied, copied_object, equal

__all__ = ["apply_merge_patch", "merge_patch_between", "three_way_merge_patch"]


def apply_merge_patch(document: Json, patch: Json) -> Json:
    """The document after the patch.

    Raises: PatchError if either is not JSON or is nested too deeply.
    """
    target = copied(document, what="the document")
    change = copied(patch, what="the merge patch")
    if isinstance(target, dict) and isinstance(change, dict):
        return _merge(target, change)
    return _without_nulls(change)


def merge_patch_between(old: JsonObject, new: JsonObject) -> JsonObject:
    """The patch that turns `old` into `new`.

    Raises: PatchError if either is not a JSON object or is nested too deeply.
    """
    before = copied_object(old, what="the old document")
    return _difference(before, copied_object(new, what="the new document"), before)


def three_way_merge_patch(
    original: JsonObject, modified: JsonObject, current: JsonObject
) -> JsonObject:
    """The patch that applies `modified` to `current`, which others may have changed.

    It sets the fields that differ between `current` and `modified`, deletes those that
    `original` (what was last applied) has and `modified` does not, and keeps all others.
    Raises: PatchError if one is not a JSON object or is nested too deeply.
    """
    return _difference(
        copied_object(original, what="the original document"),
        copied_object(modified, what="the modified document"),
        copied_object(current, what="the current document"),
    )


def _merge(target: JsonObject, patch: JsonObject) -> JsonObject:
    for key, value in patch.items():
        before = target.get(key)
        if value is None:
            target.pop(key, None)
        elif not isinstance(before, dict):
            target[key] = _without_nulls(value)
        else:
            target[key] = _merge(before, value) if isinstance(value, dict) else value
    return target


def _without_nulls(value: Json) -> Json:
    """The value without null members of objects; null elements of lists stay."""
    match value:
        case dict():
            return {key: _without_nulls(each) for key, each in value.items() if each is not None}
        case list():
            return [_without_nulls(each) for each in value]
    return value


def _difference(original: JsonObject, modified: JsonObject, current: JsonObject) -> JsonObject:
    patch: JsonObject = {key: None for key in original if key not in modified}
    for key, value in modified.items():
        now = current.get(key)
        if isinstance(value, dict) and isinstance(now, dict):
            before = original.get(key)
            inner = _difference(before if isinstance(before, dict) else {}, value, now)
            if inner:
                patch[key] = inner
        elif not equal(now, value):
            # In a new object a null member would delete nothing.
            patch[key] = _without_nulls(value) if isinstance(value, dict) else value
    return patch
