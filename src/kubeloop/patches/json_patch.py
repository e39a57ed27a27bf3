"""JSON patch as kube-apiserver applies it: a list of operations, one after the other.

Guarantees: all operations are read before the first is carried out, and one that fails
fails them all. At most 10000 operations, as the API server has it, and `copy` may not
multiply a document beyond 3 MiB.

The server's library is more lenient than RFC 6902, and so is this module: a member that is
missing counts as null for `test` and `copy`; `replace` adds one; `add` without a value adds
null; an index may be negative (-1 is the last element, or the end for `add`), signed or have
leading zeros; what stands before the first slash of a path is ignored, and a tilde stands for
itself unless 0 or 1 follows. It is stricter in one: `add`, `remove`, `move` and `copy` never
name the whole document. `test` compares as text: 1 is not 1.0.
See also: how a patch is computed (`json_diff`), RFC 6901's paths (`pointer`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import final

import msgspec

from .errors import PatchError, PatchFailure
from .values import Json, JsonObject, copied, described

__all__ = ["MAX_OPERATIONS", "apply_json_patch"]

MAX_OPERATIONS = 10_000
# Thirty doublings would otherwise fill any memory.
_MAX_COPIED = 3 * 1024 * 1024

# Go's strconv.Atoi; more digits than these make no index, however many zeros lead.
_INDEX = re.compile("[+-]?[0-9]{1,300}", re.ASCII)
_ESCAPE = re.compile("~[01]")


class _Operation(msgspec.Struct, frozen=True):
    name: str
    path: str
    value: Json = None  # which is null, or was left out: the server does not tell them apart
    source: str = ""


def apply_json_patch(document: Json, operations: list[JsonObject]) -> Json:
    """The document, an object or a list, after all operations.

    Raises: PatchError with the index of the operation that failed; its `failure`
    is "test" when a `test` operation found something else than it asked for.
    """
    state = _State(copied(document, what="the document"))
    for number, operation in enumerate(_read_all(operations)):
        try:
            _ACTIONS[operation.name](state, operation)
        except PatchError as error:
            raise error.within(_title(number, operation), operation=number) from None
    # Nesting grows by `add`, `copy` and `move`, so it is judged at the end.
    return copied(state.root, what="the patched document")


def _title(number: int, operation: _Operation) -> str:
    return f"JSON patch operation {number} ({operation.name} {operation.path!r})"


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
    path = _pointer(given, "path")
    if name in {"move", "copy"}:
        return _Operation(name, path, source=_pointer(given, "from"))
    if name == "remove":
        return _Operation(name, path)
    return _Operation(name, path, value=copied(given.get("value"), what="'value'"))


def _pointer(given: JsonObject, member: str) -> str:
    text = given.get(member)
    if not isinstance(text, str):
        raise PatchError(f"'{member}' is {described(text)}: a JSON pointer is needed")
    return text


@final
class _State:
    """The document between two operations, and how much was copied in it."""

    def __init__(self, root: Json) -> None:
        self.root = root
        self._budget = _MAX_COPIED
        if not isinstance(root, dict | list):
            raise PatchError(f"a JSON patch is for an object or a list, not {described(root)}")

    def get(self, path: str) -> Json:
        """What stands there; None also for a member that is missing."""
        parent, step = self._parent(path)
        if isinstance(parent, dict):
            return parent.get(step)
        return parent[_position(step, len(parent), path)]

    def put(self, path: str, value: Json) -> None:
        """Set a member, or insert an element."""
        parent, step = self._parent(path)
        if isinstance(parent, dict):
            parent[step] = value
        elif step == "-":
            parent.append(value)
        else:
            parent.insert(_position(step, len(parent) + 1, path), value)

    def set(self, path: str, value: Json) -> None:
        """Set a member, or an element that is there."""
        parent, step = self._parent(path)
        if isinstance(parent, dict):
            parent[step] = value
        else:
            parent[_position(step, len(parent), path)] = value

    def take(self, path: str) -> Json:
        """Remove what stands there, and return it."""
        parent, step = self._parent(path)
        if isinstance(parent, dict) and step not in parent:
            raise _failure("missing", path, "does not exist")
        return parent.pop(step if isinstance(parent, dict) else _position(step, len(parent), path))

    def pay(self, value: Json) -> None:
        """Count a copy. Raises: PatchError when all of them are too much."""
        self._budget -= len(msgspec.json.encode(value))
        if self._budget < 0:
            raise PatchError(
                f"the copies of this patch exceed {_MAX_COPIED} bytes: add the values instead",
                failure="limit",
            )

    def _parent(self, path: str) -> tuple[Json, str]:
        """The object or list that holds, or would hold, the last step, and that step."""
        before, slash, rest = path.partition("/")
        if not slash:
            what = "names no member (begin with '/')" if before else "is the whole document"
            raise _failure("malformed", path, what)
        *steps, last = (_ESCAPE.sub(_unescaped, step) for step in rest.split("/"))
        value = self.root
        for step in steps:
            if isinstance(value, list):
                value = value[_position(step, len(value), path)]
            else:
                value = value.get(step)
            if not isinstance(value, dict | list):
                raise _failure("missing", path, f"lies inside {described(value)} at {step!r}")
        return value, last


def _unescaped(found: re.Match[str]) -> str:
    return "/" if found[0] == "~1" else "~"


def _position(step: str, size: int, path: str) -> int:
    """The index that a step names among `size` places; from the end if it is negative."""
    if not _INDEX.fullmatch(step):
        raise _failure("malformed", path, "names no position in a list: use an index or '-'")
    index = int(step)
    if not -size <= index < size:
        raise _failure("missing", path, f"is none of the {size} places in a list")
    return index + size if index < 0 else index


def _add(state: _State, operation: _Operation) -> None:
    state.put(operation.path, operation.value)


def _remove(state: _State, operation: _Operation) -> None:
    state.take(operation.path)


def _replace(state: _State, operation: _Operation) -> None:
    if operation.path:
        state.set(operation.path, operation.value)
    elif isinstance(operation.value, dict | list):
        state.root = operation.value
    else:
        found = described(operation.value)
        raise _failure("malformed", "", f"is the whole document and cannot become {found}")


def _move(state: _State, operation: _Operation) -> None:
    state.put(operation.path, state.take(operation.source))


def _copy(state: _State, operation: _Operation) -> None:
    value = copied(state.get(operation.source), what="the copied value")
    if value is not None:
        state.pay(value)
    state.put(operation.path, value)


def _test(state: _State, operation: _Operation) -> None:
    found = state.get(operation.path) if operation.path else state.root
    if not (found is None and operation.value is None) and not _passes(found, operation.value):
        raise _failure(
            "test",
            operation.path,
            f"is {described(found)} and not the value asked for, which is "
            f"{described(operation.value)}: read the object again and redo the change",
        )


def _passes(found: Json, wanted: Json) -> bool:
    match found, wanted:
        case dict(), dict():
            return found.keys() == wanted.keys() and all(
                (value is None and wanted[key] is None) or _passes(value, wanted[key])
                for key, value in found.items()
            )
        case list(), list():
            # The server fails on a null in a list, so that no test of such a list passes.
            return len(found) == len(wanted) and all(map(_passes, found, wanted))
        case _:
            return found is not None and type(found) is type(wanted) and bool(found == wanted)


_ACTIONS: dict[str, Callable[[_State, _Operation], None]] = {
    "add": _add,
    "remove": _remove,
    "replace": _replace,
    "move": _move,
    "copy": _copy,
    "test": _test,
}


def _failure(failure: PatchFailure, path: str, message: str) -> PatchError:
    return PatchError(f"{path!r} {message}", failure=failure, path=path)
