"""Takes the items out of a list while its bytes still come.

Promises: plain code; the items are the bytes that came, in their order, wherever the
pieces were cut; what is held are a few items and one piece, however long the list is.
How: the end of the first item is found by its brackets. What stands between two items,
the end of one and the first key of the next, is then searched for as it is; msgspec
confirms that what was cut off is one whole value, and where it is not the brackets decide.
Elsewhere: whole lists at once (`kubeloop.wire.split_list`), the connection (`streams`).
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import final

import msgspec

from kubeloop.errors import DecodeError
from kubeloop.wire import RawList, split_list

from .scanning import SPACE, ValueEnd

__all__ = ["ITEM_LIMIT", "ListSplitter"]

ITEM_LIMIT = 64 * 1024 * 1024  # as `ResponseLimits.object`
_HEAD_LIMIT = 4 * 1024 * 1024
# Where the next item does not begin as expected, brackets are counted after so many bytes.
_PATIENCE = 64 * 1024

_string = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL).match
_scalar_end = re.compile(rb"[,}\]]").search
_first_key = re.compile(rb'\{\s*"[^"\\]*"\s*:').match
# With a text behind it: items of one kind often say the same there, such as their version.
_first_pair = re.compile(rb'\{\s*"[^"\\]*"\s*:\s*(?:"[^"\\]*"\s*[,}])?').match
_value = msgspec.json.Decoder(msgspec.Raw)


class _Place(Enum):
    """Where in the list the next byte stands."""

    BEFORE = auto()
    INSIDE = auto()
    BEHIND = auto()


@final
class ListSplitter:
    """The items in the bytes of one list that come in pieces."""

    def __init__(self, *, item_limit: int | None = ITEM_LIMIT) -> None:
        self._item_limit = item_limit
        self._held = bytearray()  # inside the items, it begins with an item or a separator
        self._rest = bytearray()  # all that is not an item
        self._place = _Place.BEFORE
        self._scan = ValueEnd()  # has seen the item at the start of `_held` up to `_seen`
        self._seen = 0
        self._gap = b","  # what stood between the last two items
        self._between = b""  # from one item's last byte to the next one's key; empty at first
        self._searched = 0  # `_between` is not in `_held` before this
        self._patience = _PATIENCE
        self._expects_item = True  # no comma is due

    def feed(self, chunk: bytes) -> list[bytes]:
        """The items that are known to be complete; the last ones come with `close`.

        Raises:
            DecodeError: this is no list, or not one of objects.
        """
        self._held += chunk
        if self._place is _Place.BEFORE:
            self._enter()
        found: list[bytes] = []
        while self._place is _Place.INSIDE and self._take(found, last=False):
            pass
        if self._place is _Place.BEHIND and len(self._held) > _HEAD_LIMIT:
            raise DecodeError("the list has more than 4 MiB behind its items")
        return found

    def close(self) -> list[bytes]:
        """The bytes have come to their end: the items that were still in doubt.

        Raises:
            DecodeError: the list did not come to its end.
        """
        found: list[bytes] = []
        while self._place is _Place.INSIDE and self._take(found, last=True):
            pass
        if self._place is _Place.INSIDE:
            raise DecodeError("the list ends inside its items (the answer was cut off)")
        return found

    def rest(self) -> RawList:
        """What the list says of itself, without its items; for after `close`.

        Raises:
            DecodeError: it is no list.
        """
        return split_list(self.text_around())

    def text_around(self) -> bytes:
        """The list without its items."""
        return bytes(self._rest + self._held)

    def _enter(self) -> None:
        """Look for the key `items` of the outermost object."""
        start = _items_start(self._held)
        if start >= 0:
            self._rest += self._held[:start]
            del self._held[:start]
            self._place = _Place.INSIDE
        elif len(self._held) > _HEAD_LIMIT:
            raise DecodeError("the answer is no list: no items in its first 4 MiB")

    def _take(self, found: list[bytes], *, last: bool) -> bool:
        """Take the next item, or all next ones that are alike; says whether to go on."""
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
        self._learn(item)
        del self._held[: self._take_alike(found, end)]
        self._scan, self._seen, self._searched = ValueEnd(), 0, 0
        self._expects_item = False
        return True

    def _check_size(self, size: int) -> None:
        if self._item_limit is not None and size > self._item_limit:
            raise DecodeError(
                f"an item of the list is larger than {self._item_limit} bytes, the limit for an"
                " object"
            )

    def _at_item(self) -> bool:
        """Step over what stands between items; false where there is none, or not yet."""
        held = self._held
        at = _skipped(held, 0)
        if not self._expects_item and held[at : at + 1] == b",":
            at = _skipped(held, at + 1)
            if at == len(held):
                return False  # what stands between is looked at as a whole
            self._gap = bytes(held[:at])
            self._expects_item = True
            if held[at : at + 1] == b"]":
                raise DecodeError("the list has a comma behind its last item")
        del held[:at]
        if not held:
            return False
        if held[0] == 0x5D:  # "]"
            self._place = _Place.BEHIND
            return False
        if held[0] != 0x7B or not self._expects_item:
            raise DecodeError(f"the list has an item that is no object: {bytes(held[:60])!r}")
        return True

    def _item_end(self, *, last: bool) -> int:
        """The end of the item at the start of `_held`, or -1 while it is not known."""
        if self._between and not self._seen:
            end = self._held.find(self._between, self._searched)
            if end >= 0 and _is_value(bytes(self._held[: end + 1])):
                return end + 1
            if end < 0 and not last and len(self._held) < self._patience:
                self._searched = max(1, len(self._held) - len(self._between))
                return -1
        end = self._scan.look(self._held, self._seen)
        self._seen = len(self._held)
        return end

    def _learn(self, item: bytes) -> None:
        self._patience = max(self._patience, 4 * len(item))
        before = b"}" + self._gap
        known = self._between.startswith(before) and item.startswith(self._between[len(before) :])
        if not known:
            # Items that did not begin alike are told by their key alone.
            key = _first_key(item) if self._between else _first_pair(item)
            self._between = before + key[0] if key else b""

    def _take_alike(self, found: list[bytes], start: int) -> int:
        """Take the items that follow as expected; returns where the next one begins."""
        held, between, gap = self._held, self._between, len(self._gap)
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
    """The index behind the bracket that opens the items, or -1 while it has not come."""
    at = _skipped(held, 0)
    if at < len(held) and held[at] != 0x7B:
        raise DecodeError(f"the answer is no list: it begins {bytes(held[at : at + 60])!r}")
    at += 1
    while True:
        at = _skipped(held, at)
        key = _string(held, at)
        if key is None:
            return -1
        at = _skipped(held, key.end())
        if held[at : at + 1] != b":":
            return -1
        at = _skipped(held, at + 1)
        if key[0] == b'"items"' and held[at : at + 1] == b"[":
            return at + 1
        at = _value_end(held, at)
        at = _skipped(held, at) if at >= 0 else len(held)
        if held[at : at + 1] != b",":
            return -1
        at += 1


def _is_value(text: bytes) -> bool:
    try:
        _value.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def _skipped(held: bytearray, at: int) -> int:
    while at < len(held) and held[at] in SPACE:
        at += 1
    return at


def _value_end(held: bytearray, at: int) -> int:
    """The index behind the value that begins at `at`, or -1 while it has not come."""
    if held.startswith((b"{", b"["), at):
        return ValueEnd().look(held, at)
    if held[at : at + 1] == b'"':
        text = _string(held, at)
        return text.end() if text else -1
    end = _scalar_end(held, at)
    return end.start() if end else -1
