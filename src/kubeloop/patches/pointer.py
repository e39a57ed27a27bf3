"""JSON pointers (RFC 6901): `/spec/containers/0/name` and back.

Guarantees: `format_pointer(parse_pointer(text)) == text` for every valid pointer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .errors import PatchError

__all__ = ["format_pointer", "parse_pointer"]

_STRAY_TILDE = re.compile("~(?![01])")


def parse_pointer(text: str) -> tuple[str, ...]:
    """The steps of a pointer, unescaped; the empty pointer, the whole document, has none.

    Raises: PatchError when `text` is no pointer.
    """
    if not text:
        return ()
    if not text.startswith("/"):
        raise PatchError(f"{text!r} is no JSON pointer: it has to start with '/'", path=text)
    if _STRAY_TILDE.search(text):
        raise PatchError(f"{text!r} is no JSON pointer: write '~' as '~0'", path=text)
    # The order matters: "~01" is the key "~1", not "/".
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in text[1:].split("/"))


def format_pointer(steps: Iterable[str | int]) -> str:
    """The pointer that leads through `steps`."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)
