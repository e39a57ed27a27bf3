"""Makes entries of what the server sent: objects of the right kind, complete, and transformed.

Guarantees: an object of another kind or without a name is skipped, logged and counted; an
object that cannot be decoded or transformed is an error that names it, never half an entry.
See also: `codec` (reads the fields), `reflector` (what happens after an error).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Generic, TypeGuard, TypeVar, final

import msgspec

from kubeloop.errors import DecodeError
from kubeloop.meta import ObjectKey
from kubeloop.wire import (
    MessageProjection,
    Projection,
    RawEvent,
    get_logger,
    identity_in,
    open_envelope,
    split_event,
)

from .codec import EntryCodec
from .entry import Entry
from .errors import UnexpectedFormat, UnkeyedObject
from .list_watch import RawItem

__all__ = ["Bookmark", "EntryDecoder", "EntryDecoderStats", "Transform"]

T = TypeVar("T")
Transform = Callable[[T], T | None]
"""Returns the object to store, which may be the one it is given, changed; None is an error."""
log = get_logger(__name__)

_INITIAL_EVENTS_END = "k8s.io/initial-events-end"
ENVELOPE = b"k8s\x00"  # begins an object in protobuf

# Servers write kind and apiVersion first. An object that does not is accepted: looking further
# would mean to parse every object twice.
_match_kind = re.compile(
    rb'\s*\{\s*(?:"apiVersion"\s*:\s*"[^"]*"\s*,\s*)?"kind"\s*:\s*"([^"]*)"'
).match
_bookmark_fields = Projection("metadata.resourceVersion", "metadata.annotations")
_key_fields = Projection("metadata.namespace", "metadata.name")


# How a server writes an event, up to the first byte of its object.
_ADDED = b'{"type":"ADDED","object":{'
_MODIFIED = b'{"type":"MODIFIED","object":{'
_DELETED = b'{"type":"DELETED","object":{'


@functools.cache
def _bookmarks() -> MessageProjection:
    """Reads the annotation of a bookmark, whatever its kind is."""
    path = f"metadata.annotations['{_INITIAL_EVENTS_END}']"
    return MessageProjection("meta_v1.PartialObjectMetadata", (path,))


def _message_in(raw: bytes) -> bytes:
    return open_envelope(raw).message if raw.startswith(ENVELOPE) else raw


@final
class EntryEvent(RawEvent, frozen=True, gc=False):
    """An event whose object an `EntryDecoder` has decoded when it split the event."""

    entry: Entry | None = None  # always set


class Bookmark(msgspec.Struct, frozen=True):
    """The content of a bookmark: its version, and whether the initial state is complete."""

    version: str
    ends_initial: bool


class EntryDecoderStats(msgspec.Struct, frozen=True):
    """What was skipped so far."""

    foreign: int  # of another kind, or a table
    unkeyed: int  # without a name
    unreadable: int
    untransformed: int  # the transform raised or returned nothing


@final
class EntryDecoder(Generic[T]):
    """Decodes objects of one kind. `kind` is the kind they must have, if they begin with it."""

    def __init__(
        self, codec: EntryCodec[T], *, transform: Transform[T] | None = None, kind: str = ""
    ) -> None:
        self._codec = codec
        self._transform = transform
        self.has_transform = transform is not None
        messages = codec.messages
        self._reads_messages = messages is not None
        self._kind = kind or ("" if messages is None else messages.message.rpartition(".")[2])
        self._expected = kind.encode()
        # As kube-apiserver and other servers write it; never, if any kind is accepted.
        self._usual_start = (b'{"kind":"%b"' % self._expected,) if kind else ()
        self._foreign = self._unkeyed = self._unreadable = self._untransformed = 0

    def split(self, line: bytes) -> RawEvent:
        """As `wire.split_event`, and decodes the object in the same pass if it can.

        Events of a server are lines of one form, with a known prefix. If what follows it is a
        JSON object, the line is an event with that object: there is no need to parse it twice.
        """
        if line.startswith(_MODIFIED):
            kind, content = "MODIFIED", line[28:-1]
        elif line.startswith(_ADDED):
            kind, content = "ADDED", line[25:-1]
        elif line.startswith(_DELETED):
            kind, content = "DELETED", line[27:-1]
        else:
            return split_event(line)
        is_usual = content.startswith(self._usual_start) or self._foreign_kind(content) is None
        entry = self._codec.read(content) if is_usual and line.endswith(b"}}") else None
        if entry is None:
            return split_event(line)
        if self._codec.stores_bytes:
            content = entry.content  # the memory of a longer text is free for the next event
        return EntryEvent(kind, content, entry)  # type: ignore[arg-type] # bytes as well

    def decode_event(self, event: RawEvent) -> Entry | None:
        """As `decode`, for the object of an event."""
        if type(event) is EntryEvent:
            return event.entry
        raw = event.object
        if type(raw) is bytes and raw.startswith(ENVELOPE):
            return self._decode_envelope(raw)
        return self.decode(raw)

    def decode(self, raw: RawItem) -> Entry | None:
        """The entry, not transformed yet; None for an object that is skipped.

        Raises:
            DecodeError: it cannot be decoded; the error names the key if there is one.
        """
        if type(raw) is not bytes:
            raw = bytes(raw)
        if raw[:1] != b"{" and not self._is_json(raw):
            if raw.startswith(ENVELOPE):
                return self._decode_envelope(raw)
            return self._parse(self._codec.parse_message, raw)
        if not raw.startswith(self._usual_start):
            foreign = self._foreign_kind(raw)
            if foreign is not None:
                self._count_foreign(foreign)
                return None
        return self._parse(self._codec.parse, raw)

    def _foreign_kind(self, raw: bytes) -> bytes | None:
        """The kind of an object that is not expected here, and begins with its kind."""
        found = _match_kind(raw)
        if found is None or found[1] == self._expected:
            return None
        kind: bytes = found[1]
        return kind if self._expected or kind == b"Table" else None

    def _is_json(self, raw: bytes) -> bool:
        """Whether an object that does not begin as JSON is JSON after all, with spaces before it.

        Raises: UnexpectedFormat if it has to be.
        """
        if self._reads_messages:
            return False
        try:
            if isinstance(msgspec.json.decode(raw), dict):
                return True
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            pass
        raise UnexpectedFormat(
            "JSON was requested, and the server sent an object in another format"
            " (does a hook, a codec or a proxy change what is requested?)"
        )

    def _decode_envelope(self, raw: bytes) -> Entry | None:
        if not self._reads_messages:
            self._is_json(raw)  # raises
        entry = self._codec.parse_envelope(raw)
        if entry is not None:
            return entry
        found = open_envelope(raw)
        if found.kind != self._kind and (self._expected or found.kind == "Table"):
            self._count_foreign(found.kind.encode())
            return None
        return self._parse(self._codec.parse_message, found.message)

    def _parse(self, parse: Callable[[bytes], Entry], raw: bytes) -> Entry | None:
        try:
            return parse(raw)
        except UnkeyedObject as error:
            self._unkeyed += 1
            log.error("left out of the cache: %s", error)
            return None
        except DecodeError:
            self._unreadable += 1
            raise

    def transform(self, entry: Entry) -> Entry:
        """The entry as it is stored. Raises `TransformFailed`."""
        if self._transform is None:
            return entry
        try:
            return self._codec.transform(entry, self._transform)
        except Exception:
            self._untransformed += 1
            raise

    def read_key(self, raw: RawItem) -> ObjectKey | None:
        """The key of an object that could not be decoded, if at least that can be read."""
        try:
            if self._is_message(raw):
                found = identity_in(_message_in(raw))
                return ObjectKey(found.namespace, found.name) if found.name else None
            namespace, name = _key_fields.read(raw)
        except DecodeError:
            return None
        is_key = isinstance(name, str) and name and isinstance(namespace or "", str)
        return ObjectKey(namespace or "", name) if is_key else None

    def read_bookmark(self, raw: RawItem) -> Bookmark:
        """Raises `DecodeError`."""
        if self._is_message(raw):
            message = _message_in(raw)
            (ends,) = _bookmarks().values(_bookmarks().parse(message))
            return Bookmark(identity_in(message).version, ends == "true")
        version, annotations = _bookmark_fields.read(raw)
        ends = annotations.get(_INITIAL_EVENTS_END) if isinstance(annotations, dict) else None
        return Bookmark(version if isinstance(version, str) else "", ends == "true")

    def stats(self) -> EntryDecoderStats:
        return EntryDecoderStats(
            foreign=self._foreign,
            unkeyed=self._unkeyed,
            unreadable=self._unreadable,
            untransformed=self._untransformed,
        )

    def _is_message(self, raw: RawItem) -> TypeGuard[bytes]:
        return self._reads_messages and type(raw) is bytes and raw[:1] != b"{"

    def _count_foreign(self, kind: bytes) -> None:
        self._foreign += 1
        expected = self._expected.decode() or "an object"
        found = kind.decode(errors="backslashreplace")
        log.error("left out of the cache: expected %s, found a %s", expected, found)
