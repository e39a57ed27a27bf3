"""Objects as people read them: YAML, and what one state changed in another.

Promises: pure; nothing is shown that a mask hides. What no reader looks for (managed fields)
is left out, and a comparison leaves out what counts changes (version and generation). An object too
large to compare is said to be so, and costs nothing.
Elsewhere: what is hidden (`masking`), which states there were (`history`).
"""

from __future__ import annotations

import difflib
from typing import Any, Literal, TypeAlias, final

import msgspec

from kubeloop.cache import Scope
from kubeloop.wire import dump_yaml

from .masking import Mask, is_of_secrets

__all__ = ["LONGEST_LINE", "MOST_LINES", "DiffLine", "Showing", "difference"]

MOST_LINES = 5000
"""Lines of an object that are shown or compared."""
LONGEST_LINE = 4000
"""Characters of a line that are shown: browsers draw lines of a megabyte for seconds."""
_AROUND = 2  # lines that did not change, on both sides of those that did

DiffLine: TypeAlias = tuple[Literal[" ", "+", "-", "…"], str]


@final
class Showing:
    """Makes text of objects, with one mask for all of them."""

    def __init__(self) -> None:
        self._mask = Mask()

    def yaml(self, raw: bytes, scope: Scope) -> str:
        """An object as YAML."""
        lines = [_cut(line) for line in dump_yaml(self._shown(raw, scope)).splitlines()]
        left_out = len(lines) - MOST_LINES
        if left_out > 0:
            lines[MOST_LINES:] = [f"# … {left_out} more lines"]
        return "\n".join(lines)

    def changes(self, old: bytes, new: bytes, scope: Scope) -> tuple[DiffLine, ...]:
        """What is different in `new`; either may be empty, when there was no object."""
        lines = difference(self._lines(old, scope), self._lines(new, scope))
        return tuple((mark, _cut(line)) for mark, line in lines)

    def _lines(self, raw: bytes, scope: Scope) -> list[str]:
        if not raw:
            return []
        found = self._shown(raw, scope)
        for counter in ("resourceVersion", "generation"):
            found["metadata"].pop(counter, None)
        return dump_yaml(found).splitlines()

    def _shown(self, raw: bytes, scope: Scope) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.json.decode(raw)
        # The items of a list do not say what they are.
        named = {"apiVersion": scope.api_version, "kind": scope.kind}
        found = {key: found.get(key) or name for key, name in named.items() if name} | found
        shown = self._mask.masked(found, is_secret=is_of_secrets(scope))
        shown["metadata"] = {
            key: value for key, value in shown["metadata"].items() if key != "managedFields"
        }
        return shown


def difference(old: list[str], new: list[str]) -> tuple[DiffLine, ...]:
    """The lines that are gone and those that came, with a little of what is around them."""
    if max(len(old), len(new)) > MOST_LINES:
        return (("…", f"too large to compare: {len(old)} and {len(new)} lines"),)
    lines: list[DiffLine] = []
    old, new = _around_changes(old, new)
    # Lines that stand everywhere in a long text find no matches, they only extend them:
    # comparing each with each of the others would take minutes.
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=True)
    for group in matcher.get_grouped_opcodes(_AROUND):
        if lines:
            lines.append(("…", ""))
        for tag, old_from, old_to, new_from, new_to in group:
            if tag == "equal":
                lines += [(" ", line) for line in old[old_from:old_to]]
                continue
            lines += [("-", line) for line in old[old_from:old_to]]
            lines += [("+", line) for line in new[new_from:new_to]]
    return tuple(lines)


def _cut(line: str) -> str:
    left_out = len(line) - LONGEST_LINE
    return line if left_out <= 0 else f"{line[:LONGEST_LINE]} … {left_out} more characters"


def _around_changes(old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    """Both without what is the same in front and behind, but for the lines that are shown."""
    same = [one == other for one, other in zip(old, new, strict=False)]
    ahead = same.index(False) if False in same else len(same)
    rest = min(len(old), len(new)) - ahead
    behind = 0
    while behind < rest and old[-1 - behind] == new[-1 - behind]:
        behind += 1
    first, left_off = max(0, ahead - _AROUND), max(0, behind - _AROUND)
    return old[first : len(old) - left_off], new[first : len(new) - left_off]
