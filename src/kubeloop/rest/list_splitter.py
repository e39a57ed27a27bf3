"""Splits a list into its items while its bytes arrive.

Guarantees: no I/O; the items are the bytes of the response, in order, however they are
chunked; memory holds a few items and one chunk, however long the list is.
How: the end of the first item is found by counting brackets. After that the splitter searches
for the separator, which is the end of one item and the first key of the next; msgspec confirms
that the bytes before it are one JSON value, and otherwise the brackets are counted.
See also: `kubeloop.wire.split_list` (whole lists), `streams` (the connection).
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import final

import msgspec

from kubeloop.errors import DecodeError
from kubeloop.wire import RawList, split_list

from .json_scanner import SPACE, ValueScanner

__all__ = ["ITEM_LIMIT", "ListSplitter"]

ITEM_LIMIT = 64 * 1024 * 1024  # as `ResponseLimits.object`
_HEAD_LIMIT = 4 * 1024 * 1024
# If the separator is not found within so many bytes, brackets are counted.
_SCAN_AFTER = 64 * 1024

_string = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL).match
_scalar_end = re.compile(rb"[,}\]]").search
_first_key = re.compile(rb'\{\s*"[^"\\]*"\s*:').match
# With a string value: items of one kind often have the same one, such as their apiVersion.
_first_pair = re.compile(rb'\{\s*"[^"\\]*"\s*:\s*(?:"[^"\\]*"\s*[,}])?').match
_value = msgspec.json.Decoder(msgspec.Raw)


class _Position(Enum):
    """Where in the list the next byte is."""

    BEFORE = auto()
    INSIDE = auto()
    AFTER = auto()


@final
class ListSplitter:
    """The items of one list whose bytes arrive in chunks."""

    def __init__(self, *, item_limit: int | None = ITEM_LIMIT) -> None:
        self._item_limit = item_limit
        self._held = bytearray()  # inside the items, it starts with an item or a comma
        self._rest = bytearray()  # the list without its items
        self._position = _Position.BEFORE
        self._scan = ValueScanner()  # has scanned the item at the start of `_held` up to `_seen`
        self._seen = 0
        self._gap = b","  # between the last two items
        self._separator = b""  # from an item's last byte to the next one's key; empty at first
        self._searched = 0  # `_separator` is not in `_held` before this
        self._scan_after = _SCAN_AFTER
        self._expects_item = True  # not a comma

    def feed(self, chunk: bytes) -> list[bytes]:
        """The items that are complete; `close` returns the last ones.

        Raises:
            DecodeError: this is not a list of objects.
        """
        self._held += chunk
        if self._position is _Position.BEFORE:
            self._enter()
        found: list[bytes] = []
        while self._position is _Position.INSIDE and self._take(found, last=False):
            pass
        if self._position is _Position.AFTER and len(self._held) > _HEAD_LIMIT:
            raise DecodeError("the list has more than 4 MiB after its items")
        return found

    def close(self) -> list[bytes]:
        """The last items, at the end of the bytes.

        Raises:
            DecodeError: the list is incomplete.
        """
        found: list[bytes] = []
        while self._position is _Position.INSIDE and self._take(found, last=True):
            pass
        if self._position is _Position.INSIDE:
            raise DecodeError("the list ends inside its items (the response is incomplete)")
        return found

    def rest(self) -> RawList:
        """The list without its items, after `close`.

        Raises:
            DecodeError: it is not a list.
        """
        return split_list(self.text_without_items())

    def text_without_items(self) -> bytes:
        """The bytes of the list without its items."""
        return bytes(self._rest + self._held)

    def _enter(self) -> None:
        """Find the key `items` of the outermost object."""
        start = _items_start(self._held)
        if start >= 0:
            self._rest += self._held[:start]
            del self._held[:start]
            self._position = _Position.INSIDE
        elif len(self._held) > _HEAD_LIMIT:
            raise DecodeError("the response is not a list: no items in its first 4 MiB")

    def _take(self, found: list[bytes], *, last: bool) -> bool:
        """Take the next item, and those after the same separator; returns whether to continue."""
        if not self._seen and not self._searched and not self._at_item():
            return False
        end = self._item_end(last=last)
        if end < 0:
            if self._seen:  # else `_held` may begin with several items
                self._check_size(len(self._held))
            return False
        self._check_size(end)
        item = bytes(self._held[:end])
        found.append(item)
        self._learn_separator(item)
        del self._held[: self._take_similar(found, end)]
        self._scan, self._seen, self._searched = ValueScanner(), 0, 0
        self._expects_item = False
        return True

    def _check_size(self, size: int) -> None:
        if self._item_limit is not None and size > self._item_limit:
            raise DecodeError(
                f"an item of the list is larger than {self._item_limit} bytes, the limit for an"
                " object"
            )

    def _at_item(self) -> bool:
        """Skip what is between two items; false if there is no next item, or not yet."""
        held = self._held
        at = _skip_space(held, 0)
        if not self._expects_item and held[at : at + 1] == b",":
            at = _skip_space(held, at + 1)
            if at == len(held):
                return False  # wait for all that is between the items
            self._gap = bytes(held[:at])
            self._expects_item = True
            if held[at : at + 1] == b"]":
                raise DecodeError("the list has a comma after its last item")
        del held[:at]
        if not held:
            return False
        if held[0] == 0x5D:  # "]"
            self._position = _Position.AFTER
            return False
        if held[0] != 0x7B or not self._expects_item:
            raise DecodeError(f"the list has an item that is not an object: {bytes(held[:60])!r}")
        return True

    def _item_end(self, *, last: bool) -> int:
        """The end of the item at the start of `_held`, or -1 if it is not known yet."""
        if self._separator and not self._seen:
            end = self._held.find(self._separator, self._searched)
            if end >= 0 and _is_value(bytes(self._held[: end + 1])):
                return end + 1
            if end < 0 and not last and len(self._held) < self._scan_after:
                self._searched = max(1, len(self._held) - len(self._separator))
                return -1
        end = self._scan.scan(self._held, self._seen)
        self._seen = len(self._held)
        return end

    def _learn_separator(self, item: bytes) -> None:
        self._scan_after = max(self._scan_after, 4 * len(item))
        before = b"}" + self._gap
        known = self._separator.startswith(before) and item.startswith(
            self._separator[len(before) :]
        )
        if not known:
            # Items whose first values differ are recognized by their first key alone.
            key = _first_key(item) if self._separator else _first_pair(item)
            self._separator = before + key[0] if key else b""

    def _take_similar(self, found: list[bytes], start: int) -> int:
        """Take the items that follow after the same separator; returns where the next starts."""
        held, between, gap = self._held, self._separator, len(self._gap)
        while between and held.startswith(between[1:], start):
            end = held.find(between, start + gap)
            if end < 0:
                break
            item = bytes(held[start + gap : end + 1])
            if not _is_value(item):
                break
            self._check_size(len(item))
            found.append(item)
            start = end + 1
        return start


def _items_start(held: bytearray) -> int:
    """The index after the bracket that opens the items, or -1 if it was not received yet."""
    at = _skip_space(held, 0)
    if at < len(held) and held[at] != 0x7B:
        raise DecodeError(
            f"the response is not a list: it begins with {bytes(held[at : at + 60])!r}"
        )
    at += 1
    while True:
        at = _skip_space(held, at)
        key = _string(held, at)
        if key is None:
            return -1
        at = _skip_space(held, key.end())
        if held[at : at + 1] != b":":
            return -1
        at = _skip_space(held, at + 1)
        if key[0] == b'"items"' and held[at : at + 1] == b"[":
            return at + 1
        at = _value_end(held, at)
        at = _skip_space(held, at) if at >= 0 else len(held)
        if held[at : at + 1] != b",":
            return -1
        at += 1


def _is_value(text: bytes) -> bool:
    try:
        _value.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def _skip_space(held: bytearray, at: int) -> int:
    while at < len(held) and held[at] in SPACE:
        at += 1
    return at


def _value_end(held: bytearray, at: int) -> int:
    """The index after the value that starts at `at`, or -1 if it was not received yet."""
    if held.startswith((b"{", b"["), at):
        return ValueScanner().scan(held, at)
    if held[at : at + 1] == b'"':
        text = _string(held, at)
        return text.end() if text else -1
    end = _scalar_end(held, at)
    return end.start() if end else -1
