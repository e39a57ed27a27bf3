"""Puts one YAML document together out of the parser's events, without recursion.

Guarantees: no two places of the value share an object; keys are text and stand once; aliases
and merges are written out, within limits that keep memory and stack.
See also: text to events (`yaml`), what a scalar means (`yaml_scalars`).
"""

from __future__ import annotations

import json
import math
from typing import Any, Final, TypeAlias, final

import yaml

from .yaml_scalars import MAX_DEPTH, SURROGATE, TAGS, key_text, resolve, tagged

__all__ = ["JSON", "Document", "Problem"]

# A dict with str keys, a list, a str, an int, a float, a bool or None.
JSON: TypeAlias = Any

Place: TypeAlias = tuple[int, int]  # line and column, from 1

# Of a hundred values 99 may come out of aliases, and 400,000 at all (as go-yaml has it).
_FREE_VALUES: Final = 1000
_ALIASED_SHARE: Final = 0.99
_MOST_ALIASED: Final = 400_000

_MAP_TAGS: Final = frozenset({None, "!", "tag:yaml.org,2002:map"})
_LIST_TAGS: Final = frozenset({None, "!", "tag:yaml.org,2002:seq"})
_MERGE_TAGS: Final = frozenset({None, "tag:yaml.org,2002:merge"})


class Problem(Exception):
    """What is wrong at a place in the text; whoever knows the text's name adds it."""

    def __init__(self, message: str, place: Place) -> None:
        super().__init__(message)
        self.place = place


class _Anchor:
    """A value that aliases may repeat, once it is complete."""

    __slots__ = ("complete", "size", "value")

    def __init__(self) -> None:
        self.value: JSON = None
        self.size = 0  # how many values it is made of
        self.complete = False

    def finish(self, value: JSON, size: int) -> None:
        self.value, self.size, self.complete = value, size, True


class _List:
    """A list whose end has not come yet."""

    __slots__ = ("anchor", "before", "place", "values")

    def __init__(self, place: Place, anchor: _Anchor, before: int) -> None:
        self.place = place
        self.anchor = anchor
        self.before = before  # how many values the document had then
        self.values: list[JSON] = []

    def put(self, value: JSON, place: Place) -> None:
        self.values.append(_finite(value, place))

    def finish(self) -> JSON:
        return self.values


class _Map:
    """A mapping whose end has not come yet."""

    __slots__ = ("_key", "_lines", "_merged", "_merging", "anchor", "before", "place", "values")

    def __init__(self, place: Place, anchor: _Anchor, before: int) -> None:
        self.place = place
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

    def put(self, value: JSON, place: Place) -> None:
        if self._merging:
            self._merge(value, place)
            self._merging = False
        elif self._key is None:
            self._key = self._new_key(value, place)
        else:
            self.values[self._key] = _finite(value, place)
            self._key = None

    def finish(self) -> JSON:
        return {**self._merged, **self.values} if self._merged else self.values

    def _new_key(self, value: JSON, place: Place) -> str:
        key = None if isinstance(value, dict | list) else key_text(value)
        if key is None:
            found = "a null" if value is None else "a collection"
            raise Problem(f"found {found} as a key, where JSON has only text (quote it)", place)
        if key in self._lines:
            first = f"it stands in line {self._lines[key]} already"
            raise Problem(f"found the key {_shown(key)} twice, {first} (keep one of them)", place)
        self._lines[key] = place[0]
        return key

    def _merge(self, value: JSON, place: Place) -> None:
        maps = value if isinstance(value, list) else [value]
        for each in reversed(maps):  # the first of them wins
            if not isinstance(each, dict):
                message = 'found a merge ("<<") of something that is no mapping'
                raise Problem(f"{message} (merge mappings, or quote the key)", place)
            self._merged.update(each)


@final
class Document:
    """One document, put together event by event without recursion."""

    def __init__(self, value: JSON = None, place: Place = (1, 1)) -> None:
        self.value = value
        self.place = place  # where the value begins
        self.empty = False
        self._open: list[_List | _Map] = []
        self._anchors: dict[str, _Anchor] = {}
        self._count = 0  # values so far; the aliased among them are counted again below
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

    def _put(self, value: JSON, place: Place) -> None:
        if self._open:
            self._open[-1].put(value, place)
        else:
            self.value = _finite(value, place)
            self.place = place

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
        self._put(value, _place(event))

    def _begin(
        self,
        kind: type[_List | _Map],
        event: yaml.CollectionStartEvent,
        tags: frozenset[str | None],
    ) -> None:
        if event.tag not in tags:
            raise _foreign_tag(_place(event))
        if len(self._open) >= MAX_DEPTH:
            raise _too_deep(_place(event))
        anchor = self._anchor(event.anchor) if event.anchor else _Anchor()
        self._open.append(kind(_place(event), anchor, self._count))
        self._count += 1

    def _end(self) -> None:
        done = self._open.pop()
        value = done.finish()
        done.anchor.finish(value, self._count - done.before)
        self._put(value, done.place)

    def _anchor(self, name: str) -> _Anchor:
        # A name may be given again; aliases then mean the latest.
        anchor = self._anchors[name] = _Anchor()
        return anchor

    def _alias(self, event: yaml.AliasEvent) -> None:
        place, anchor = _place(event), self._anchors.get(event.anchor or "")
        if anchor is None:
            raise Problem('found an alias of no anchor (quote a text that starts with "*")', place)
        if not anchor.complete:
            raise Problem("found an alias within the very value it repeats (write it out)", place)
        self._account(anchor.size, place)
        self._put(_copy(anchor.value, MAX_DEPTH - len(self._open), place), place)

    def _account(self, size: int, place: Place) -> None:
        """Count what an alias adds before it is added."""
        self._count += size
        self._aliased += size
        most = min(max(_FREE_VALUES, self._count * _ALIASED_SHARE), _MOST_ALIASED)
        if self._aliased > most:
            raise Problem("found aliases that blow the document up (write the values out)", place)


def _scalar_value(event: yaml.ScalarEvent) -> JSON:
    text: str = event.value
    if SURROGATE.search(text):  # the parser in Python lets "\ud800" pass
        raise Problem("found half a surrogate pair (escape characters as \\U)", _place(event))
    if event.tag is None:
        return resolve(text) if event.implicit[0] else text
    if event.tag not in TAGS:
        raise _foreign_tag(_place(event))
    try:
        return tagged(event.tag, text)
    except ValueError as error:
        raise Problem(f"{error} (correct the tag or the text)", _place(event)) from None


def _is_merge(event: yaml.ScalarEvent) -> bool:
    plain = event.implicit[0] or event.tag is not None
    return event.value == "<<" and plain and event.tag in _MERGE_TAGS


def _finite(value: JSON, place: Place) -> JSON:
    if isinstance(value, float) and not math.isfinite(value):
        raise Problem("found .inf or .nan, which JSON has no word for (quote it)", place)
    return value


def _copy(value: JSON, room: int, place: Place) -> JSON:
    """A copy of an aliased value, so that no two places of a document share one object."""
    if not isinstance(value, dict | list):
        return value
    if room <= 0:
        raise _too_deep(place)
    if isinstance(value, dict):
        return {key: _copy(item, room - 1, place) for key, item in value.items()}
    return [_copy(item, room - 1, place) for item in value]


# --- places, and what goes wrong there


def _place(event: yaml.Event) -> Place:
    mark = event.start_mark
    assert mark is not None  # parsers give every event one
    return mark.line + 1, mark.column + 1


def _too_deep(place: Place) -> Problem:
    return Problem(f"found collections nested more than {MAX_DEPTH} deep (flatten them)", place)


def _foreign_tag(place: Place) -> Problem:
    # The tag is not named: it may be a password that begins with "!".
    message = "found a tag that JSON has no word for"
    return Problem(f'{message} (remove it, or quote a text that starts with "!")', place)


def _shown(key: str) -> str:
    return json.dumps(key if len(key) <= 80 else f"{key[:77]}...", ensure_ascii=False)
