"""Reads the plain block style of YAML, in which kubectl writes kubeconfigs, without PyYAML.

Importing PyYAML takes a fifth of the time of a short command, and a kubeconfig is all the YAML
that most programs read.
Guarantees: a result is equal to that of `yaml.load_documents`; text that has anything beyond
nested maps, lists and one-line scalars in ASCII is not read at all, valid or not.
See also: all of YAML, and its errors (`yaml`).
"""

from __future__ import annotations

import re
from typing import Final

from .yaml_scalars import resolve

__all__ = ["read_block_map"]

_DEPTH: Final = 20

# Indentation, the dash of an item, a key, and a scalar: quoted without escapes, empty brackets,
# or plain without spaces and without characters that have a meaning in YAML.
_LINE: Final = re.compile(
    r"( *)(- )?(?:([A-Za-z][A-Za-z0-9_./-]*):(?: (?=[^ ])|$))?"
    r"""("[ !#-\[\]-~]*"|'[ -&(-~]*'|\[\]|\{\}"""
    r"|-{0,2}[A-Za-z0-9_./+~](?:[A-Za-z0-9_./+~=@%,-]|:(?=[^ ]))*)?"
)


class _NotPlainError(Exception):
    """The text is not in plain block style."""


def read_block_map(text: str | bytes) -> dict[str, object] | None:
    """The map that `text` is; None if it is not one in plain block style."""
    if not text.isascii():
        return None
    try:
        lines = _Lines(text if isinstance(text, str) else text.decode("ascii"))
        found = lines.read_map(0, _DEPTH)
    except _NotPlainError:
        return None
    return found if lines.is_at_end else None


class _Lines:
    """Lines as (indentation, key, scalar); the dash of an item is a line of its own."""

    def __init__(self, text: str) -> None:
        self._lines: list[tuple[int, str | None, str | None]] = []
        self._next = 0
        for line in text.split("\n"):
            if not line or line.lstrip(" ").startswith("#"):
                continue
            found = _LINE.fullmatch(line)
            if found is None:
                raise _NotPlainError
            spaces, dash, key, scalar = found.groups()
            if dash:
                self._lines.append((len(spaces), "-", None))
            if key is None and scalar is None:
                raise _NotPlainError
            self._lines.append((len(spaces) + len(dash or ""), key, scalar))

    @property
    def is_at_end(self) -> bool:
        return self._next == len(self._lines)

    def read_map(self, indent: int, depth: int) -> dict[str, object]:
        found: dict[str, object] = {}
        while not self.is_at_end and self._lines[self._next][0] == indent:
            _, key, scalar = self._lines[self._next]
            # A key that occurs twice, or that is not text, is for the complete reader.
            if key is None or key == "-" or key in found or resolve(key) != key:
                raise _NotPlainError
            self._next += 1
            found[key] = self._read_nested(indent, depth) if scalar is None else _value(scalar)
        if not found:
            raise _NotPlainError
        return found

    def _read_nested(self, indent: int, depth: int) -> object:
        """The value of a key at `indent`: the lines below it, null if there are none."""
        if self.is_at_end:
            return None
        below, key, _ = self._lines[self._next]
        if below < indent or (below == indent and key != "-"):
            return None
        if not depth:
            raise _NotPlainError
        return self._read_list(below, depth - 1) if key == "-" else self.read_map(below, depth - 1)

    def _read_list(self, indent: int, depth: int) -> list[object]:
        found: list[object] = []
        while not self.is_at_end and self._lines[self._next][:2] == (indent, "-"):
            self._next += 1
            _, key, scalar = self._lines[self._next]
            if key is None:
                self._next += 1
                found.append(_value(scalar or ""))
            else:
                found.append(self.read_map(indent + 2, depth))
        return found


def _value(scalar: str) -> object:
    if scalar[0] in "\"'":
        return scalar[1:-1]
    if scalar in ("{}", "[]"):
        return {} if scalar == "{}" else []
    value = resolve(scalar)
    # `.inf` and `.nan` are errors, with their position.
    if isinstance(value, float) and not float("-inf") < value < float("inf"):
        raise _NotPlainError
    return value
