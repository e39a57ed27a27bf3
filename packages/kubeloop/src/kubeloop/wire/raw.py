"""Splits lists and watch events without decoding the objects in them.

Guarantees: the bytes of an object are unchanged; text that is not a list or an event raises
`DecodeError`. The parts are views into the text: `bytes(part)` is a copy that does not keep
the whole text alive.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec
from msgspec import Raw

from .errors import DecodeError

__all__ = ["Raw", "RawEvent", "RawList", "RawListMeta", "split_event", "split_list"]

T = TypeVar("T")


class RawListMeta(msgspec.Struct, frozen=True, rename="camel"):
    """The metadata of a list."""

    resource_version: str | None = None
    continue_: str | None = msgspec.field(default=None, name="continue")
    remaining_item_count: int | None = None


class RawList(msgspec.Struct, frozen=True, rename="camel"):
    """A list with its items as raw bytes."""

    api_version: str | None = None
    kind: str | None = None
    metadata: RawListMeta | None = None
    items: list[Raw] | None = None
    # Whether the items are protobuf messages (`protobuf_codec`) instead of JSON.
    is_protobuf: bool = False

    @property
    def version(self) -> str:
        """The resource version to watch from."""
        return (self.metadata and self.metadata.resource_version) or ""

    @property
    def next_page(self) -> str:
        """The continue token; empty on the last page."""
        return (self.metadata and self.metadata.continue_) or ""


class RawEvent(msgspec.Struct, frozen=True, gc=False):
    """A watch event with its object as raw bytes."""

    type: str
    object: Raw = Raw(b"null")


_lists = msgspec.json.Decoder(RawList)
_events = msgspec.json.Decoder(RawEvent)


def split_list(text: bytes | str) -> RawList:
    """A list with its items as raw bytes; `items: null` is an empty list.

    Raises:
        DecodeError: the text is not a JSON list of the API.
    """
    found = _split(_lists, text, "a list")
    if found.items is None:
        return msgspec.structs.replace(found, items=[])
    return found


def split_event(text: bytes | str) -> RawEvent:
    """A watch event's type and its object as raw bytes. Raises `DecodeError`."""
    return _split(_events, text, "a watch event")


def _split(decoder: msgspec.json.Decoder[T], text: bytes | str, what: str) -> T:
    try:
        return decoder.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DecodeError(f"the text is not {what}: {error}") from error
