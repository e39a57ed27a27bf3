"""The JSON patch between two documents.

Guarantees: applied to the old document, an object or a list, the operations give exactly the
new one; equal documents give none. What is left of two lists after their common beginning
and end is compared position by position, so one element more or less is one operation.
"""

from __future__ import annotations

from .errors import PatchError
from .json_patch import MAX_OPERATIONS
from .pointer import format_pointer
from .values import Json, JsonObject, copied, described, equal

__all__ = ["json_patch_between"]

_Path = tuple[str | int, ...]


def json_patch_between(old: Json, new: Json) -> list[JsonObject]:
    """The operations that make `old` into `new`.

    Raises: PatchError when either is not JSON, nests too deep, or is neither an object nor a
    list, which no server would patch.
    """
    before, after = copied(old, what="the old document"), copied(new, what="the new document")
    for document in (before, after):
        if not isinstance(document, dict | list):
            raise PatchError(
                f"a JSON patch is for an object or a list, not {described(document)}", path=""
            )
    operations: list[JsonObject] = []
    _compare(before, after, (), operations)
    if len(operations) > MAX_OPERATIONS:
        # No server would take them one by one.
        return [_operation("replace", (), after)]
    return operations


def _compare(old: Json, new: Json, path: _Path, into: list[JsonObject]) -> None:
    match old, new:
        case dict(), dict():
            _compare_objects(old, new, path, into)
        case list(), list():
            _compare_lists(old, new, path, into)
        case _ if not equal(old, new):
            into.append(_operation("replace", path, new))


def _compare_objects(old: JsonObject, new: JsonObject, path: _Path, into: list[JsonObject]) -> None:
    into.extend({"op": "remove", "path": _at(path, key)} for key in old if key not in new)
    for key, value in new.items():
        if key in old:
            _compare(old[key], value, (*path, key), into)
        else:
            into.append(_operation("add", (*path, key), value))


def _compare_lists(old: list[Json], new: list[Json], path: _Path, into: list[JsonObject]) -> None:
    start = _shared(old, new)
    tail = _shared(old[start:][::-1], new[start:][::-1])
    old_end, new_end = len(old) - tail, len(new) - tail
    both = min(old_end, new_end)
    for index in range(start, both):
        _compare(old[index], new[index], (*path, index), into)
    # From the back, so that no removal moves what is still to be removed.
    into.extend({"op": "remove", "path": _at(path, at)} for at in range(old_end - 1, both - 1, -1))
    into.extend(_operation("add", (*path, at), new[at]) for at in range(both, new_end))


def _shared(left: list[Json], right: list[Json]) -> int:
    """How many elements both lists begin with."""
    for count, (one, other) in enumerate(zip(left, right, strict=False)):
        if not equal(one, other):
            return count
    return min(len(left), len(right))


def _operation(name: str, path: _Path, value: Json) -> JsonObject:
    return {"op": name, "path": format_pointer(path), "value": value}


def _at(path: _Path, step: str | int) -> str:
    return format_pointer((*path, step))
