"""Takes what a server sent into entries: the right kind, whole, and transformed.

Promises: an object of another kind or without a name is left out, with a line in the log
and a count; what cannot be read or transformed is an error that names the object, and never
a half-read entry.
Elsewhere: reading an object's fields (`codec`), what becomes of an error (`reflector`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Generic, TypeVar, final

import msgspec

from kubeloop.errors import DecodeError
from kubeloop.meta import ObjectKey
from kubeloop.wire import Projection, get_logger

from .codec import EntryCodec
from .entry import Entry
from .errors import UnkeyedObject
from .list_watch import RawItem

__all__ = ["INITIAL_EVENTS_END", "Bookmark", "EntryDecoder", "EntryDecoderStats", "Transform"]

T = TypeVar("T")
Transform = Callable[[T], T | None]
log = get_logger(__name__)

INITIAL_EVENTS_END = "k8s.io/initial-events-end"

# Servers write kind and apiVersion first. Where they do not, nothing is concluded: looking
# further would mean to read every object twice.
_kind = re.compile(rb'\s*\{\s*(?:"apiVersion"\s*:\s*"[^"]*"\s*,\s*)?"kind"\s*:\s*"([^"]*)"').match
_bookmarks = Projection("metadata.resourceVersion", "metadata.annotations")
_names = Projection("metadata.namespace", "metadata.name")


class Bookmark(msgspec.Struct, frozen=True):
    """What a bookmark says: the version reached, and whether the initial state is complete."""

    version: str
    ends_initial: bool


class EntryDecoderStats(msgspec.Struct, frozen=True):
    """What was left out so far."""

    foreign: int  # of another kind, or a table
    unkeyed: int  # without a name
    unreadable: int
    untransformed: int  # the transform raised or returned nothing


@final
class EntryDecoder(Generic[T]):
    """Entries of one kind; `kind` is what objects must say they are, if they say it first."""

    def __init__(
        self, codec: EntryCodec[T], *, transform: Transform[T] | None = None, kind: str = ""
    ) -> None:
        self._codec = codec
        self._transform = transform
        self._expected = kind.encode()
        self._foreign = self._unkeyed = self._unreadable = self._untransformed = 0

    def take(self, raw: RawItem) -> Entry | None:
        """The entry, not transformed yet; None for what has no place here.

        Raises:
            DecodeError: it cannot be read; the key is named where there is one.
        """
        if self._is_foreign(raw):
            return None
        try:
            return self._codec.parse(raw)
        except UnkeyedObject as error:
            self._unkeyed += 1
            log.error("left out of the cache: %s", error)
            return None
        except DecodeError:
            self._unreadable += 1
            raise

    def transformed(self, entry: Entry) -> Entry:
        """What is to be held of it. Raises `TransformFailed`."""
        if self._transform is None:
            return entry
        try:
            return self._codec.transform(entry, self._transform)
        except Exception:
            self._untransformed += 1
            raise

    def key_of(self, raw: RawItem) -> ObjectKey | None:
        """The key of an object that could not be taken, where at least that can be read."""
        try:
            namespace, name = _names.read(raw)
        except DecodeError:
            return None
        is_key = isinstance(name, str) and name and isinstance(namespace or "", str)
        return ObjectKey(namespace or "", name) if is_key else None

    def bookmark(self, raw: RawItem) -> Bookmark:
        """Raises `DecodeError`."""
        version, annotations = _bookmarks.read(raw)
        ends = annotations.get(INITIAL_EVENTS_END) if isinstance(annotations, dict) else None
        return Bookmark(version if isinstance(version, str) else "", ends == "true")

    def stats(self) -> EntryDecoderStats:
        return EntryDecoderStats(
            foreign=self._foreign,
            unkeyed=self._unkeyed,
            unreadable=self._unreadable,
            untransformed=self._untransformed,
        )

    def _is_foreign(self, raw: Any) -> bool:
        found = _kind(raw)
        if found is None:
            return False
        kind = found.group(1)
        if kind == self._expected or (not self._expected and kind != b"Table"):
            return False
        self._foreign += 1
        expected = self._expected.decode() or "an object"
        log.error("left out of the cache: expected %s, found a %s", expected, bytes(kind).decode())
        return True
