"""JSON values and JSON pointers (RFC 6901).

Guarantees: `copied` rejects values that JSON cannot represent and deep nesting, so that other
functions can recurse without checks; `true` never equals 1; for every valid pointer
`format_pointer(parse_pointer(text)) == text`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

import msgspec

from kubeloop.wire import Json, JsonObject

from .errors import PatchError

__all__ = [
    "MAX_DEPTH",
    "Json",
    "JsonObject",
    "copied",
    "copied_object",
    "equal",
    "format_pointer",
    "parse_pointer",
    "type_name",
]

# Deep enough for any schema of a custom resource, and far from Python's recursion limit,
# although a level needs up to three frames.
MAX_DEPTH = 128

_STRAY_TILDE = re.compile("~(?![01])")


def copied(value: object, *, what: str) -> Json:
    """An independent copy of `value`.

    Raises: PatchError if it is not JSON or is nested too deeply; `what` names it in the message.
    """
    return _copied(value, what, MAX_DEPTH)


def copied_object(value: object, *, what: str) -> JsonObject:
    """An independent copy of `value`, which has to be an object."""
    if not isinstance(value, dict):
        raise PatchError(f"{what} is {type_name(value)}: an object is needed", path="")
    copy: JsonObject = copied(value, what=what)
    return copy


def _copied(value: object, what: str, depth: int) -> Json:
    match value:
        case None | str() | int() | msgspec.Raw():  # JSON that no one needs to decode
            return value
        case float() if math.isfinite(value):
            return value
        case dict() | list() if depth == 0:
            raise PatchError(
                f"{what} is nested deeper than {MAX_DEPTH} levels: flatten it", failure="limit"
            )
        case dict():
            # A string needs no call: most keys and values are strings.
            return {
                key if type(key) is str else _name(key, what): (
                    item if type(item) is str else _copied(item, what, depth - 1)
                )
                for key, item in value.items()
            }
        case list():
            return [_copied(item, what, depth - 1) for item in value]
        case _:
            raise PatchError(
                f"{what} holds a {type(value).__name__} that JSON cannot represent: "
                "give plain dicts, lists, strings, finite numbers, booleans and None"
            )


def _name(key: object, what: str) -> str:
    if isinstance(key, str):
        return key
    raise PatchError(f"{what} has a {type(key).__name__} as a key: keys have to be strings")


def equal(left: Json, right: Json) -> bool:
    """Whether two JSON values are equal: 1 is 1.0, but not true."""
    match left, right:
        case dict(), dict():
            return left.keys() == right.keys() and all(
                equal(item, right[key]) for key, item in left.items()
            )
        case list(), list():
            return len(left) == len(right) and all(map(equal, left, right))
        case _:
            # In Python True == 1, in JSON not.
            return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)


def type_name(value: object) -> str:
    """The type of a value for a message, without its content."""
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return f"an object of {len(value)}"
    if value is None:
        return "null"
    return next((name for kind, name in _SCALARS if isinstance(value, kind)), repr(type(value)))


# bool first: it is a subclass of int.
_SCALARS = ((bool, "a boolean"), (int, "a number"), (float, "a number"), (str, "a string"))


def parse_pointer(text: str) -> tuple[str, ...]:
    """The steps of a pointer, unescaped; the empty pointer (the whole document) has none.

    Raises: PatchError if `text` is not a pointer.
    """
    if not text:
        return ()
    if not text.startswith("/"):
        raise PatchError(f"{text!r} is not a JSON pointer: it has to start with '/'", path=text)
    if _STRAY_TILDE.search(text):
        raise PatchError(f"{text!r} is not a JSON pointer: write '~' as '~0'", path=text)
    # The order matters: "~01" is the key "~1", not "/".
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in text[1:].split("/"))


def format_pointer(steps: Iterable[str | int]) -> str:
    """The pointer with these steps."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)
