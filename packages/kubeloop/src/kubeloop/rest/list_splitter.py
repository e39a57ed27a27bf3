"""Splits a list into its items while its bytes arrive, JSON or protobuf.

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
from kubeloop.wire.protobuf_messages import MAGIC

from .json_scanner import SPACE, ValueScanner

__all__ = ["ITEM_LIMIT", "ListSplitter", "ProtobufListSplitter"]

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


@final
class ProtobufListSplitter:
    """The same for a list as protobuf, whose items are messages.

    A list is an envelope (`k8s\\0`) with its type and a message; the items are field 2 of that.
    """

    def __init__(self, *, item_limit: int | None = ITEM_LIMIT) -> None:
        self._item_limit = item_limit
        self._held = bytearray()
        self._left = 0  # bytes of the message that were not split yet
        self._is_inside = False  # the message
        self._outer = bytearray()  # the envelope without the message
        self._inner = bytearray()  # the message without the items

    def feed(self, chunk: bytes) -> list[bytes]:
        """The items that are complete. Raises: DecodeError if this is not a list."""
        held = self._held
        held += chunk
        found: list[bytes] = []
        at = 0
        if not self._outer:
            if len(held) < len(MAGIC):
                return found
            if not held.startswith(MAGIC):
                raise DecodeError("the response is not protobuf of the API")
            self._outer += MAGIC
            at = len(MAGIC)
        while (end := self._take(at, found)) >= 0:
            at = end
        del held[:at]
        return found

    def close(self) -> list[bytes]:
        """Nothing more, at the end of the bytes. Raises: DecodeError for an incomplete list."""
        if self._held or self._is_inside or not self._outer:
            raise DecodeError("the list ends inside its items (the response is incomplete)")
        return []

    def rest(self) -> RawList:
        """The list without its items, after `close`. Raises: DecodeError if it is not a list."""
        from kubeloop.wire.protobuf_codec import split_protobuf_list

        return split_protobuf_list(self.text_without_items())

    def text_without_items(self) -> bytes:
        """The bytes of the list without its items."""
        return bytes(self._outer + b"\x12" + _varint_bytes(len(self._inner)) + self._inner)

    def _take(self, at: int, found: list[bytes]) -> int:
        """Take the field at `at`; returns where the next one is, or -1 if it is not complete."""
        held = self._held
        if self._is_inside and not self._left:
            self._is_inside = False
        if at >= len(held):
            return -1
        if held[at] & 7 != _LENGTH_DELIMITED or held[at] > 127:
            raise DecodeError(f"the list has a field that lists do not have, {held[at]:#x}")
        size, start = _varint(held, at + 1)
        if start < 0:
            return -1
        end = start + size
        is_items = held[at] == _FIELD_2
        if not self._is_inside and is_items:
            self._check_type()
            self._is_inside, self._left = True, size
            return start
        if self._is_inside:
            return self._take_inside(at, start, end, found)
        if size > _HEAD_LIMIT:
            raise DecodeError("the list has more than 4 MiB around its items")
        if end > len(held):
            return -1
        self._outer += held[at:end]
        return end

    def _take_inside(self, at: int, start: int, end: int, found: list[bytes]) -> int:
        limit = self._item_limit if self._held[at] == _FIELD_2 else _HEAD_LIMIT
        if end - at > self._left:
            raise DecodeError("an item ends after the list")
        if limit is not None and end - start > limit:
            raise DecodeError(
                f"an item of the list is larger than {limit} bytes, the limit for objects"
            )
        if end > len(self._held):
            return -1
        if self._held[at] == _FIELD_2:
            found.append(bytes(self._held[start:end]))
        else:
            self._inner += self._held[at:end]
        self._left -= end - at
        return end

    def _check_type(self) -> None:
        from kubeloop.wire.protobuf_codec import open_envelope

        kind = open_envelope(bytes(self._outer)).kind
        if self._inner or not kind.endswith("List"):
            raise DecodeError(f"the response is not a list, its kind is {kind[:100]}")


_LENGTH_DELIMITED = 2
_FIELD_2 = 0x12


def _varint(held: bytearray, at: int) -> tuple[int, int]:
    """A length, and the index after it; -1 if it is not complete."""
    value = shift = 0
    while at < len(held):
        byte = held[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
        if shift > 35:
            raise DecodeError("a length of the list is not a number")
    return 0, -1


def _varint_bytes(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


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
