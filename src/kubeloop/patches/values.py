"""JSON values as Python holds them: copied, compared, described.

Guarantees: `copied` refuses whatever JSON cannot say, so that everything behind it
may recurse and compare without asking again; `true` is never the number 1.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

from .errors import PatchError

__all__ = ["MAX_DEPTH", "Json", "JsonObject", "copied", "copied_object", "described", "equal"]

# Documents are open by nature: what they hold is only known to whoever asked for them.
Json: TypeAlias = Any
JsonObject: TypeAlias = dict[str, Any]

# Deep enough for any schema of a custom resource, and far from Python's own limit
# even though a level costs up to three frames.
MAX_DEPTH = 128


def copied(value: object, *, what: str) -> Json:
    """An independent copy of `value`.

    Raises: PatchError when it nests too deep or is not JSON; `what` names it there.
    """
    return _copied(value, what, MAX_DEPTH)


def copied_object(value: object, *, what: str) -> JsonObject:
    """An independent copy of `value`, which has to be an object."""
    if not isinstance(value, dict):
        raise PatchError(f"{what} is {described(value)}: an object is needed", path="")
    copy: JsonObject = copied(value, what=what)
    return copy


def _copied(value: object, what: str, room: int) -> Json:
    match value:
        case None | str() | int():
            return value
        case float() if math.isfinite(value):
            return value
        case dict() | list() if room == 0:
            raise PatchError(
                f"{what} nests deeper than {MAX_DEPTH} levels: make it flatter", failure="limit"
            )
        case dict():
            return {_name(key, what): _copied(item, what, room - 1) for key, item in value.items()}
        case list():
            return [_copied(item, what, room - 1) for item in value]
        case _:
            raise PatchError(
                f"{what} holds a {type(value).__name__} that JSON cannot say: "
                "give plain dicts, lists, strings, finite numbers, booleans and None"
            )


def _name(key: object, what: str) -> str:
    if isinstance(key, str):
        return key
    raise PatchError(f"{what} has a {type(key).__name__} as a key: keys have to be strings")


def equal(left: Json, right: Json) -> bool:
    """Whether two JSON values are the same: 1 is 1.0, but not true."""
    match left, right:
        case dict(), dict():
            return left.keys() == right.keys() and all(
                equal(item, right[key]) for key, item in left.items()
            )
        case list(), list():
            return len(left) == len(right) and all(map(equal, left, right))
        case _:
            # Python's True == 1 is not JSON's.
            return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)


def described(value: object) -> str:
    """The kind of a value for a message, without its content."""
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return f"an object of {len(value)}"
    if value is None:
        return "null"
    return next((name for kind, name in _SCALARS if isinstance(value, kind)), repr(type(value)))


# bool first: Python takes it for an int.
_SCALARS = ((bool, "a boolean"), (int, "a number"), (float, "a number"), (str, "a string"))
