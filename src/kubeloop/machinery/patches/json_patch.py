"""JSON patch (RFC 6902): a list of operations, one after the other.

Promises: all operations are read before the first is carried out, and one that
fails fails them all. At most 10000 operations, as the API server has it, and
`copy` may not multiply a document beyond 3 MiB.
Elsewhere: how a patch is computed (`json_diff`), paths (`pointer`).
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from .errors import PatchError, PatchFailure
from .pointer import format_pointer, list_index, parse_pointer
from .values import Json, JsonObject, copied, described, equal

__all__ = ["MAX_OPERATIONS", "apply_json_patch"]

MAX_OPERATIONS = 10_000
# Thirty doublings would otherwise fill any memory.
_MAX_COPIED = 3 * 1024 * 1024

# The document hangs under this key of a holder, so that the root is a place like any other.
_ROOT = ""


class _Operation(msgspec.Struct, frozen=True):
    name: str
    path: tuple[str, ...]  # from the holder, so never empty
    value: Json = None
    source: tuple[str, ...] = (_ROOT,)


def apply_json_patch(document: Json, operations: list[JsonObject]) -> Json:
    """The document after all operations.

    Raises: PatchError with the index of the operation that failed; its `failure`
    is "test" when a `test` operation found something else than it asked for.
    """
    holder: JsonObject = {_ROOT: copied(document, what="the document")}
    budget = _MAX_COPIED
    for number, operation in enumerate(_read_all(operations)):
        try:
            if operation.name == "copy":
                budget = _paid(budget, _found(holder, operation.source))
            _ACTIONS[operation.name](holder, operation)
        except PatchError as error:
            raise error.within(_title(number, operation), operation=number) from None
    # Nesting grows by `add`, `copy` and `move`, so it is judged at the end.
    return copied(holder[_ROOT], what="the patched document")


def _title(number: int, operation: _Operation) -> str:
    return f"JSON patch operation {number} ({operation.name} {_pointer(operation.path)!r})"


def _pointer(path: tuple[str, ...]) -> str:
    return format_pointer(path[1:])


def _read_all(operations: object) -> list[_Operation]:
    if not isinstance(operations, list):
        raise PatchError(f"a JSON patch is a list of operations, not {described(operations)}")
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
        raise error.within(f"JSON patch operation {number}", operation=number) from None


def _operation(given: object) -> _Operation:
    if not isinstance(given, dict):
        raise PatchError(f"an operation is an object, not {described(given)}")
    name = given.get("op")
    if not isinstance(name, str) or name not in _ACTIONS:
        found = repr(name) if isinstance(name, str) else described(name)
        raise PatchError(f"'op' is {found}: use one of {', '.join(_ACTIONS)}")
    path = _steps(given, "path")
    if name in {"move", "copy"}:
        return _Operation(name, path, source=_steps(given, "from"))
    if name == "remove":
        return _Operation(name, path)
    if "value" not in given:
        raise PatchError(f"{name} without 'value': null has to be written out")
    return _Operation(name, path, value=copied(given["value"], what="'value'"))


def _steps(given: JsonObject, member: str) -> tuple[str, ...]:
    text = given.get(member)
    if not isinstance(text, str):
        raise PatchError(f"'{member}' is {described(text)}: a JSON pointer is needed")
    return (_ROOT, *parse_pointer(text))


def _add(holder: JsonObject, operation: _Operation) -> None:
    _put(holder, operation.path, operation.value)


def _remove(holder: JsonObject, operation: _Operation) -> None:
    _take(holder, operation.path)


def _replace(holder: JsonObject, operation: _Operation) -> None:
    parent, step = _parent(holder, operation.path), operation.path[-1]
    _child(parent, step, operation.path)
    parent[_key(parent, step)] = operation.value


def _move(holder: JsonObject, operation: _Operation) -> None:
    source, path = operation.source, operation.path
    if source == path:
        _found(holder, source)
        return
    if path[: len(source)] == source:
        raise _failure("malformed", source, "cannot be moved into itself")
    _put(holder, path, _take(holder, source))


def _copy(holder: JsonObject, operation: _Operation) -> None:
    value = copied(_found(holder, operation.source), what="the copied value")
    _put(holder, operation.path, value)


def _test(holder: JsonObject, operation: _Operation) -> None:
    found = _found(holder, operation.path)
    if not equal(found, operation.value):
        raise _failure(
            "test",
            operation.path,
            f"is {described(found)} and not the value asked for, which is "
            f"{described(operation.value)}: read the object again and redo the change",
        )


_ACTIONS: dict[str, Callable[[JsonObject, _Operation], None]] = {
    "add": _add,
    "remove": _remove,
    "replace": _replace,
    "move": _move,
    "copy": _copy,
    "test": _test,
}


def _put(holder: JsonObject, path: tuple[str, ...], value: Json) -> None:
    parent, step = _parent(holder, path), path[-1]
    if isinstance(parent, dict):
        parent[step] = value
        return
    index = len(parent) if step == "-" else list_index(step)
    if index is None:
        raise _failure("malformed", path, "names no position in a list: use an index or '-'")
    if index > len(parent):
        raise _failure("missing", path, f"is beyond the end of a list of {len(parent)}")
    parent.insert(index, value)


def _take(holder: JsonObject, path: tuple[str, ...]) -> Json:
    if path == (_ROOT,):
        raise _failure("malformed", path, "is the whole document and cannot be removed")
    parent = _parent(holder, path)
    value = _child(parent, path[-1], path)
    del parent[_key(parent, path[-1])]
    return value


def _found(holder: JsonObject, path: tuple[str, ...]) -> Json:
    return _child(_parent(holder, path), path[-1], path)


def _parent(holder: JsonObject, path: tuple[str, ...]) -> Json:
    """The object or list that holds, or would hold, the last step."""
    value: Json = holder
    for end, step in enumerate(path[:-1], start=1):
        value = _child(value, step, path[:end])
    if not isinstance(value, (dict, list)):
        raise _failure("missing", path, f"lies inside {described(value)}, which holds nothing")
    return value


def _child(parent: Json, step: str, path: tuple[str, ...]) -> Json:
    match parent:
        case dict() if step in parent:
            return parent[step]
        case list():
            index = list_index(step)
            if index is not None and index < len(parent):
                return parent[index]
    raise _failure("missing", path, f"does not exist in {described(parent)}")


def _key(parent: Json, step: str) -> str | int:
    """What Python calls a step that `_child` has found."""
    return step if isinstance(parent, dict) else int(step)


def _failure(failure: PatchFailure, path: tuple[str, ...], message: str) -> PatchError:
    pointer = _pointer(path)
    return PatchError(f"{pointer!r} {message}", failure=failure, path=pointer)


def _paid(budget: int, value: Json) -> int:
    left = budget - _weight(value)
    if left < 0:
        raise PatchError(
            f"the copies of this patch exceed {_MAX_COPIED} bytes: add the values instead",
            failure="limit",
        )
    return left


def _weight(value: Json) -> int:
    """About the bytes of a value when written; does not recurse, so any depth will do."""
    total, rest = 0, [value]
    while rest:
        total += 4
        match rest.pop():
            case str() as text:
                total += len(text)
            case list() as items:
                rest.extend(items)
            case dict() as members:
                rest.extend(members.keys())
                rest.extend(members.values())
    return total
