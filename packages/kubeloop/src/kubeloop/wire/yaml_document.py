"""Builds one YAML document from the parser's events, without recursion.

Guarantees: no two parts of the value share an object; keys are text and unique; aliases and
merges are expanded, within limits that protect memory and stack.
See also: text to events (`yaml`), the values of scalars (`yaml_scalars`).
"""

from __future__ import annotations

import json
import math
from typing import Any, Final, TypeAlias, final

import yaml

from .yaml_scalars import MAX_DEPTH, SURROGATE, TAGS, key_text, resolve, resolve_tagged

__all__ = ["JSON", "Document", "Problem"]

# A dict with str keys, a list, a str, an int, a float, a bool or None.
JSON: TypeAlias = Any

Position: TypeAlias = tuple[int, int]  # line and column, from 1

# As in go-yaml, aliases may produce 99 of 100 values, or 400,000 in any case.
_FREE_VALUES: Final = 1000
_ALIASED_SHARE: Final = 0.99
_MOST_ALIASED: Final = 400_000

_MAP_TAGS: Final = frozenset({None, "!", "tag:yaml.org,2002:map"})
_LIST_TAGS: Final = frozenset({None, "!", "tag:yaml.org,2002:seq"})
_MERGE_TAGS: Final = frozenset({None, "tag:yaml.org,2002:merge"})


class Problem(Exception):
    """An error at a position in the text; the caller adds the name of the text."""

    def __init__(self, message: str, position: Position) -> None:
        super().__init__(message)
        self.position = position


class _Anchor:
    """A value that aliases may repeat after it is complete."""

    __slots__ = ("complete", "size", "value")

    def __init__(self) -> None:
        self.value: JSON = None
        self.size = 0  # the number of its values
        self.complete = False

    def finish(self, value: JSON, size: int) -> None:
        self.value, self.size, self.complete = value, size, True


class _List:
    """A list that is not complete yet."""

    __slots__ = ("anchor", "before", "position", "values")

    def __init__(self, position: Position, anchor: _Anchor, before: int) -> None:
        self.position = position
        self.anchor = anchor
        self.before = before  # the number of values in the document before it
        self.values: list[JSON] = []

    def put(self, value: JSON, position: Position) -> None:
        self.values.append(_finite(value, position))

    def finish(self) -> JSON:
        return self.values


class _Map:
    """A mapping that is not complete yet."""

    __slots__ = ("_key", "_lines", "_merged", "_merging", "anchor", "before", "position", "values")

    def __init__(self, position: Position, anchor: _Anchor, before: int) -> None:
        self.position = position
        self.anchor = anchor
        self.before = before
        self.values: dict[str, JSON] = {}
        self._lines: dict[str, int] = {}
        self._merged: dict[str, JSON] = {}
        self._key: str | None = None
        self._merging = False

    @property
    def wants_key(self) -> bool:
        return self._key is None and not self._merging

    def merge_next(self) -> None:
        self._merging = True

    def put(self, value: JSON, position: Position) -> None:
        if self._merging:
            self._merge(value, position)
            self._merging = False
        elif self._key is None:
            self._key = self._new_key(value, position)
        else:
            self.values[self._key] = _finite(value, position)
            self._key = None

    def finish(self) -> JSON:
        return {**self._merged, **self.values} if self._merged else self.values

    def _new_key(self, value: JSON, position: Position) -> str:
        key = None if isinstance(value, dict | list) else key_text(value)
        if key is None:
            found = "a null" if value is None else "a collection"
            raise Problem(f"found {found} as a key, where JSON has only text (quote it)", position)
        if key in self._lines:
            first = f"it stands in line {self._lines[key]} already"
            raise Problem(
                f"found the key {_display(key)} twice, {first} (keep one of them)", position
            )
        self._lines[key] = position[0]
        return key

    def _merge(self, value: JSON, position: Position) -> None:
        maps = value if isinstance(value, list) else [value]
        for each in reversed(maps):  # the first of them wins
            if not isinstance(each, dict):
                message = 'found a merge ("<<") of something that is no mapping'
                raise Problem(f"{message} (merge mappings, or quote the key)", position)
            self._merged.update(each)


@final
class Document:
    """One document, built event by event without recursion."""

    def __init__(self, value: JSON = None, position: Position = (1, 1)) -> None:
        self.value = value
        self.position = position  # where the value begins
        self.empty = False
        self._open: list[_List | _Map] = []
        self._anchors: dict[str, _Anchor] = {}
        self._count = 0  # all values so far, including the aliased ones below
        self._aliased = 0

    def take(self, event: yaml.Event) -> None:
        match event:
            case yaml.ScalarEvent():
                self._scalar(event)
            case yaml.MappingStartEvent():
                self._begin(_Map, event, _MAP_TAGS)
            case yaml.SequenceStartEvent():
                self._begin(_List, event, _LIST_TAGS)
            case yaml.CollectionEndEvent():
                self._end()
            case yaml.AliasEvent():
                self._alias(event)

    def _put(self, value: JSON, position: Position) -> None:
        if self._open:
            self._open[-1].put(value, position)
        else:
            self.value = _finite(value, position)
            self.position = position

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        self._count += 1
        top = self._open[-1] if self._open else None
        if isinstance(top, _Map) and top.wants_key and _is_merge(event):
            top.merge_next()
            return
        value = _scalar_value(event)
        if event.anchor:
            self._anchor(event.anchor).finish(value, 1)
        self.empty = top is None and value is None and not event.value and not event.tag
        self._put(value, _position(event))

    def _begin(
        self,
        kind: type[_List | _Map],
        event: yaml.CollectionStartEvent,
        tags: frozenset[str | None],
    ) -> None:
        if event.tag not in tags:
            raise _foreign_tag(_position(event))
        if len(self._open) >= MAX_DEPTH:
            raise _too_deep(_position(event))
        anchor = self._anchor(event.anchor) if event.anchor else _Anchor()
        self._open.append(kind(_position(event), anchor, self._count))
        self._count += 1

    def _end(self) -> None:
        done = self._open.pop()
        value = done.finish()
        done.anchor.finish(value, self._count - done.before)
        self._put(value, done.position)

    def _anchor(self, name: str) -> _Anchor:
        # An anchor's name may be reused; aliases refer to the last one.
        anchor = self._anchors[name] = _Anchor()
        return anchor

    def _alias(self, event: yaml.AliasEvent) -> None:
        position, anchor = _position(event), self._anchors.get(event.anchor or "")
        if anchor is None:
            raise Problem(
                'found an alias without an anchor (quote a text that starts with "*")', position
            )
        if not anchor.complete:
            raise Problem("found an alias inside its own anchor (write the value out)", position)
        self._count_alias(anchor.size, position)
        self._put(_copy(anchor.value, MAX_DEPTH - len(self._open), position), position)

    def _count_alias(self, size: int, position: Position) -> None:
        """Count the values of an alias before they are added."""
        self._count += size
        self._aliased += size
        most = min(max(_FREE_VALUES, self._count * _ALIASED_SHARE), _MOST_ALIASED)
        if self._aliased > most:
            raise Problem(
                "found aliases that expand to too many values (write the values out)", position
            )


def _scalar_value(event: yaml.ScalarEvent) -> JSON:
    text: str = event.value
    if SURROGATE.search(text):  # PyYAML's parser in Python accepts "\ud800"
        raise Problem("found half a surrogate pair (escape characters as \\U)", _position(event))
    if event.tag is None:
        return resolve(text) if event.implicit[0] else text
    if event.tag not in TAGS:
        raise _foreign_tag(_position(event))
    try:
        return resolve_tagged(event.tag, text)
    except ValueError as error:
        raise Problem(f"{error} (correct the tag or the text)", _position(event)) from None


def _is_merge(event: yaml.ScalarEvent) -> bool:
    plain = event.implicit[0] or event.tag is not None
    return event.value == "<<" and plain and event.tag in _MERGE_TAGS


def _finite(value: JSON, position: Position) -> JSON:
    if isinstance(value, float) and not math.isfinite(value):
        raise Problem("found .inf or .nan, which JSON cannot represent (quote it)", position)
    return value


def _copy(value: JSON, depth: int, position: Position) -> JSON:
    """A copy of an aliased value, so that no two parts of a document share an object."""
    if not isinstance(value, dict | list):
        return value
    if depth <= 0:
        raise _too_deep(position)
    if isinstance(value, dict):
        return {key: _copy(item, depth - 1, position) for key, item in value.items()}
    return [_copy(item, depth - 1, position) for item in value]


# --- positions and errors


def _position(event: yaml.Event) -> Position:
    mark = event.start_mark
    assert mark is not None  # every event has one
    return mark.line + 1, mark.column + 1


def _too_deep(position: Position) -> Problem:
    return Problem(f"found collections nested more than {MAX_DEPTH} deep (flatten them)", position)


def _foreign_tag(position: Position) -> Problem:
    # The tag is not named: it may be a password that begins with "!".
    message = "found a tag that JSON cannot represent"
    return Problem(f'{message} (remove it, or quote a text that starts with "!")', position)


def _display(key: str) -> str:
    return json.dumps(key if len(key) <= 80 else f"{key[:77]}...", ensure_ascii=False)
