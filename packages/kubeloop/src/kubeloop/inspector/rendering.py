"""Objects as YAML, and the differences of two states.

Guarantees: no I/O; secret values are masked. Managed fields are omitted; differences also omit
resource version and generation. Objects that are too large are not compared.
See also: `masking` (what is hidden), `history` (the states).
"""

from __future__ import annotations

import difflib
from typing import Any, Literal, TypeAlias, final

import msgspec

from kubeloop.cache import Scope
from kubeloop.wire import dump_yaml

from .masking import Mask, holds_secrets

__all__ = ["MAX_LINES", "MAX_LINE_LENGTH", "DiffLine", "ObjectRenderer", "difference"]

MAX_LINES = 5000
"""The number of lines that are shown or compared."""
MAX_LINE_LENGTH = 4000
"""In characters: browsers need seconds to draw a line of a megabyte."""
_CONTEXT = 2  # unchanged lines before and after a change

DiffLine: TypeAlias = tuple[Literal[" ", "+", "-", "…"], str]


@final
class ObjectRenderer:
    """Renders objects, with one mask for all of them."""

    def __init__(self) -> None:
        self._mask = Mask()

    def yaml(self, raw: bytes, scope: Scope) -> str:
        """An object as YAML."""
        lines = [_truncate(line) for line in dump_yaml(self.visible(raw, scope)).splitlines()]
        omitted = len(lines) - MAX_LINES
        if omitted > 0:
            lines[MAX_LINES:] = [f"# … {omitted} more lines"]
        return "\n".join(lines)

    def changes(self, old: bytes, new: bytes, scope: Scope) -> tuple[DiffLine, ...]:
        """The difference of two states; an empty one means that there was no object."""
        lines = difference(self._lines(old, scope), self._lines(new, scope))
        return tuple((mark, _truncate(line)) for mark, line in lines)

    def _lines(self, raw: bytes, scope: Scope) -> list[str]:
        if not raw:
            return []
        obj = self.visible(raw, scope)
        for counter in ("resourceVersion", "generation"):
            obj["metadata"].pop(counter, None)
        return dump_yaml(obj).splitlines()

    def visible(self, raw: bytes, scope: Scope) -> dict[str, Any]:
        """What is shown of an object, without secret values."""
        obj: dict[str, Any] = msgspec.json.decode(raw)
        # The items of a list have neither apiVersion nor kind.
        names = {"apiVersion": scope.api_version, "kind": scope.kind}
        obj = {key: obj.get(key) or name for key, name in names.items() if name} | obj
        masked = self._mask.masked(obj, is_secret=holds_secrets(scope))
        masked["metadata"] = {
            key: value for key, value in masked["metadata"].items() if key != "managedFields"
        }
        return masked


def difference(old: list[str], new: list[str]) -> tuple[DiffLine, ...]:
    """The removed and added lines, with unchanged lines around them."""
    if max(len(old), len(new)) > MAX_LINES:
        return (("…", f"too large to compare: {len(old)} and {len(new)} lines"),)
    lines: list[DiffLine] = []
    old, new = _changed_part(old, new)
    # autojunk: frequent lines extend matches but do not start them. Without it, thousands of
    # equal lines take minutes.
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=True)
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        if lines:
            lines.append(("…", ""))
        for tag, old_from, old_to, new_from, new_to in group:
            if tag == "equal":
                lines += [(" ", line) for line in old[old_from:old_to]]
                continue
            lines += [("-", line) for line in old[old_from:old_to]]
            lines += [("+", line) for line in new[new_from:new_to]]
    return tuple(lines)


def _truncate(line: str) -> str:
    omitted = len(line) - MAX_LINE_LENGTH
    return line if omitted <= 0 else f"{line[:MAX_LINE_LENGTH]} … {omitted} more characters"


def _changed_part(old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    """Both without the common lines at the start and the end, except for the context."""
    same = [one == other for one, other in zip(old, new, strict=False)]
    prefix = same.index(False) if False in same else len(same)
    rest = min(len(old), len(new)) - prefix
    suffix = 0
    while suffix < rest and old[-1 - suffix] == new[-1 - suffix]:
        suffix += 1
    first, last = max(0, prefix - _CONTEXT), max(0, suffix - _CONTEXT)
    return old[first : len(old) - last], new[first : len(new) - last]
