"""JSON patch as kube-apiserver applies it: a list of operations, applied in order.

Guarantees: all operations are parsed before the first is applied, and if one fails, none has
an effect. As in kube-apiserver, a patch has at most 10000 operations and `copy` adds at most
3 MiB to a document. A computed patch, applied to the old document, gives exactly the new one;
equal documents give no operations.

The server's library is more lenient than RFC 6902, and so is this module: a missing member
counts as null for `test` and `copy`; `replace` adds one; `add` without a value adds null; an
index may be negative (-1 is the last element, or the end for `add`), signed or have leading
zeros; text before the first slash of a path is ignored, and a tilde is literal unless 0 or 1
follows. It is stricter in one point: `add`, `remove`, `move` and `copy` cannot address the
whole document. `test` compares the JSON text: 1 is not 1.0.
See also: JSON pointers of RFC 6901 (`values`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import final

import msgspec

from .errors import PatchError, PatchFailure
from .values import Json, JsonObject, copied, equal, format_pointer, type_name

__all__ = ["MAX_OPERATIONS", "apply_json_patch", "json_patch_between"]

MAX_OPERATIONS = 10_000
# Without a limit, thirty copies that each double the document would exhaust the memory.
_MAX_COPIED = 3 * 1024 * 1024

# As Go's strconv.Atoi; the bound on the digits keeps int() cheap.
_INDEX = re.compile("[+-]?[0-9]{1,300}", re.ASCII)
_ESCAPE = re.compile("~[01]")

_Path = tuple[str | int, ...]


class _Operation(msgspec.Struct, frozen=True):
    name: str
    path: str
    value: Json = None  # null or omitted: the server does not distinguish them
    source: str = ""


def apply_json_patch(document: Json, operations: list[JsonObject]) -> Json:
    """The document, an object or a list, after all operations.

    Raises: PatchError with the index of the failed operation; its `failure` is "test" if a
    `test` operation found another value.
    """
    state = _Document(copied(document, what="the document"))
    for number, operation in enumerate(_read_all(operations)):
        try:
            _ACTIONS[operation.name](state, operation)
        except PatchError as error:
            raise error.in_operation(
                _operation_title(number, operation), operation=number
            ) from None
    # `add`, `copy` and `move` increase the nesting, so it is checked at the end.
    return copied(state.root, what="the patched document")


def _operation_title(number: int, operation: _Operation) -> str:
    return f"JSON patch operation {number} ({operation.name} {operation.path!r})"


def _read_all(operations: object) -> list[_Operation]:
    if not isinstance(operations, list):
        raise PatchError(f"a JSON patch is a list of operations, not {type_name(operations)}")
    if len(operations) > MAX_OPERATIONS:
        raise PatchError(
            f"a JSON patch of {len(operations)} operations: "
            f"at most {MAX_OPERATIONS} are allowed, send it in parts",
            failure="limit",
        )
    return [_read(number, operation) for number, operation in enumerate(operations)]


def _read(number: int, operation: object) -> _Operation:
    try:
        return _operation(operation)
    except PatchError as error:
        raise error.in_operation(f"JSON patch operation {number}", operation=number) from None


def _operation(given: object) -> _Operation:
    if not isinstance(given, dict):
        raise PatchError(f"an operation is an object, not {type_name(given)}")
    name = given.get("op")
    if not isinstance(name, str) or name not in _ACTIONS:
        found = repr(name) if isinstance(name, str) else type_name(name)
        raise PatchError(f"'op' is {found}: use one of {', '.join(_ACTIONS)}")
    path = _pointer(given, "path")
    if name in {"move", "copy"}:
        return _Operation(name, path, source=_pointer(given, "from"))
    if name == "remove":
        return _Operation(name, path)
    return _Operation(name, path, value=copied(given.get("value"), what="'value'"))


def _pointer(given: JsonObject, member: str) -> str:
    text = given.get(member)
    if not isinstance(text, str):
        raise PatchError(f"'{member}' is {type_name(text)}: a JSON pointer is needed")
    return text


@final
class _Document:
    """The document between two operations, and the bytes it may still copy."""

    def __init__(self, root: Json) -> None:
        self.root = root
        self._budget = _MAX_COPIED
        if not isinstance(root, dict | list):
            raise PatchError(f"a JSON patch is for an object or a list, not {type_name(root)}")

    def get(self, path: str) -> Json:
        """The value at a path; None for a missing member too."""
        parent, step = self._parent(path)
        if isinstance(parent, dict):
            return parent.get(step)
        return parent[_list_index(step, len(parent), path)]

    def add(self, path: str, value: Json) -> None:
        """Set a member, or insert an element."""
        parent, step = self._parent(path)
        if isinstance(parent, dict):
            parent[step] = value
        elif step == "-":
            parent.append(value)
        else:
            parent.insert(_list_index(step, len(parent) + 1, path), value)

    def set(self, path: str, value: Json) -> None:
        """Set a member, or an existing element."""
        parent, step = self._parent(path)
        if isinstance(parent, dict):
            parent[step] = value
        else:
            parent[_list_index(step, len(parent), path)] = value

    def remove(self, path: str) -> Json:
        """Remove the value at a path, and return it."""
        parent, step = self._parent(path)
        if isinstance(parent, dict) and step not in parent:
            raise _failure("missing", path, "does not exist")
        return parent.pop(
            step if isinstance(parent, dict) else _list_index(step, len(parent), path)
        )

    def count_copy(self, value: Json) -> None:
        """Count the bytes of a copy. Raises: PatchError above the limit for all copies."""
        self._budget -= len(msgspec.json.encode(value))
        if self._budget < 0:
            raise PatchError(
                f"the copies of this patch exceed {_MAX_COPIED} bytes: add the values instead",
                failure="limit",
            )

    def _parent(self, path: str) -> tuple[Json, str]:
        """The object or list that contains the last step of a path, and that step."""
        before, slash, rest = path.partition("/")
        if not slash:
            what = "names no member (begin with '/')" if before else "is the whole document"
            raise _failure("malformed", path, what)
        *steps, last = (_ESCAPE.sub(_unescape, step) for step in rest.split("/"))
        value = self.root
        for step in steps:
            if isinstance(value, list):
                value = value[_list_index(step, len(value), path)]
            else:
                value = value.get(step)
            if not isinstance(value, dict | list):
                raise _failure("missing", path, f"is inside {type_name(value)} at {step!r}")
        return value, last


def _unescape(found: re.Match[str]) -> str:
    return "/" if found[0] == "~1" else "~"


def _list_index(step: str, size: int, path: str) -> int:
    """The index that a step names in a list of `size`; counted from the end if negative."""
    if not _INDEX.fullmatch(step):
        raise _failure("malformed", path, "is not an index of a list: use a number or '-'")
    index = int(step)
    if not -size <= index < size:
        raise _failure("missing", path, f"is out of range for a list with {size} positions")
    return index + size if index < 0 else index


def _add(state: _Document, operation: _Operation) -> None:
    state.add(operation.path, operation.value)


def _remove(state: _Document, operation: _Operation) -> None:
    state.remove(operation.path)


def _replace(state: _Document, operation: _Operation) -> None:
    if operation.path:
        state.set(operation.path, operation.value)
    elif isinstance(operation.value, dict | list):
        state.root = operation.value
    else:
        found = type_name(operation.value)
        raise _failure("malformed", "", f"is the whole document and cannot be replaced by {found}")


def _move(state: _Document, operation: _Operation) -> None:
    state.add(operation.path, state.remove(operation.source))


def _copy(state: _Document, operation: _Operation) -> None:
    value = copied(state.get(operation.source), what="the copied value")
    if value is not None:
        state.count_copy(value)
    state.add(operation.path, value)


def _test(state: _Document, operation: _Operation) -> None:
    found = state.get(operation.path) if operation.path else state.root
    if not (found is None and operation.value is None) and not _matches(found, operation.value):
        raise _failure(
            "test",
            operation.path,
            f"is {type_name(found)} and not the expected value, which is "
            f"{type_name(operation.value)}: read the object again and redo the change",
        )


def _matches(found: Json, wanted: Json) -> bool:
    match found, wanted:
        case dict(), dict():
            return found.keys() == wanted.keys() and all(
                (value is None and wanted[key] is None) or _matches(value, wanted[key])
                for key, value in found.items()
            )
        case list(), list():
            # The server never matches a list that contains null.
            return len(found) == len(wanted) and all(map(_matches, found, wanted))
        case _:
            return found is not None and type(found) is type(wanted) and bool(found == wanted)


_ACTIONS: dict[str, Callable[[_Document, _Operation], None]] = {
    "add": _add,
    "remove": _remove,
    "replace": _replace,
    "move": _move,
    "copy": _copy,
    "test": _test,
}


def _failure(failure: PatchFailure, path: str, message: str) -> PatchError:
    return PatchError(f"{path!r} {message}", failure=failure, path=path)


def json_patch_between(old: Json, new: Json) -> list[JsonObject]:
    """The operations that turn `old` into `new`.

    Lists are compared by position between their common prefix and suffix, so that an inserted
    or removed element is one operation.
    Raises: PatchError if either is not JSON, is nested too deeply, or is neither an object nor
    a list.
    """
    before, after = copied(old, what="the old document"), copied(new, what="the new document")
    for document in (before, after):
        if not isinstance(document, dict | list):
            raise PatchError(
                f"a JSON patch is for an object or a list, not {type_name(document)}", path=""
            )
    operations: list[JsonObject] = []
    _compare(before, after, (), operations)
    if len(operations) > MAX_OPERATIONS:
        # The server would reject that many.
        return [_diff_operation("replace", (), after)]
    return operations


def _compare(old: Json, new: Json, path: _Path, into: list[JsonObject]) -> None:
    match old, new:
        case dict(), dict():
            _compare_objects(old, new, path, into)
        case list(), list():
            _compare_lists(old, new, path, into)
        case _ if not equal(old, new):
            into.append(_diff_operation("replace", path, new))


def _compare_objects(old: JsonObject, new: JsonObject, path: _Path, into: list[JsonObject]) -> None:
    into.extend({"op": "remove", "path": _pointer_to(path, key)} for key in old if key not in new)
    for key, value in new.items():
        if key in old:
            _compare(old[key], value, (*path, key), into)
        else:
            into.append(_diff_operation("add", (*path, key), value))


def _compare_lists(old: list[Json], new: list[Json], path: _Path, into: list[JsonObject]) -> None:
    start = _common_prefix(old, new)
    tail = _common_prefix(old[start:][::-1], new[start:][::-1])
    old_end, new_end = len(old) - tail, len(new) - tail
    both = min(old_end, new_end)
    for index in range(start, both):
        _compare(old[index], new[index], (*path, index), into)
    # Backwards, so that a removal does not shift the remaining ones.
    into.extend(
        {"op": "remove", "path": _pointer_to(path, at)} for at in range(old_end - 1, both - 1, -1)
    )
    into.extend(_diff_operation("add", (*path, at), new[at]) for at in range(both, new_end))


def _common_prefix(left: list[Json], right: list[Json]) -> int:
    """The number of equal elements at the beginning of both lists."""
    for count, (one, other) in enumerate(zip(left, right, strict=False)):
        if not equal(one, other):
            return count
    return min(len(left), len(right))


def _diff_operation(name: str, path: _Path, value: Json) -> JsonObject:
    return {"op": name, "path": format_pointer(path), "value": value}


def _pointer_to(path: _Path, step: str | int) -> str:
    return format_pointer((*path, step))
