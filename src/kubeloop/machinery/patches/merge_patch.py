"""JSON merge patch (RFC 7386): objects merge, null deletes, everything else replaces.

Promises: applied to the old object a computed patch gives the new one, where a
null member counts as absent, since this kind of patch cannot set one; equal
objects give `{}`.
"""

from __future__ import annotations

from .values import Json, JsonObject, copied, copied_object, equal

__all__ = ["apply_merge_patch", "merge_patch_between", "three_way_merge_patch"]


def apply_merge_patch(document: Json, patch: Json) -> Json:
    """The document after the patch.

    Raises: PatchError when either is not JSON or nests too deep.
    """
    return _merged(copied(document, what="the document"), copied(patch, what="the merge patch"))


def merge_patch_between(old: JsonObject, new: JsonObject) -> JsonObject:
    """The patch that makes `old` into `new`.

    Raises: PatchError when either is no JSON object or nests too deep.
    """
    before = copied_object(old, what="the old document")
    return _difference(before, copied_object(new, what="the new document"), before)


def three_way_merge_patch(
    original: JsonObject, modified: JsonObject, current: JsonObject
) -> JsonObject:
    """The patch that brings a wish, `modified`, into what others have changed since.

    Sets what differs between `current` and `modified`, deletes what `original` (the
    wish of last time) had and `modified` has no more, and leaves the rest alone.
    Raises: PatchError when one is no JSON object or nests too deep.
    """
    return _difference(
        copied_object(original, what="the original document"),
        copied_object(modified, what="the modified document"),
        copied_object(current, what="the current document"),
    )


def _merged(target: Json, patch: Json) -> Json:
    if not isinstance(patch, dict):
        return patch
    result: JsonObject = target if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = _merged(result.get(key), value)
    return result


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
            # Merging into nothing leaves out the nulls that say nothing.
            patch[key] = _merged(None, value)
    return patch
