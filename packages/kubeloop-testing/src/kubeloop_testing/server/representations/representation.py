"""The representation of objects in a response: whole, metadata only, or as a Table.

Guarantees: an object in its storage version is sent with its stored bytes; representations with
the same `cache_key` encode an object identically, so that watches can share the bytes; a state of
an object is written as protobuf once.
See also: which representation a request accepts (`negotiation`), the Table (`tables`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Final, Literal, NamedTuple, final

import msgspec

from kubeloop.wire.protobuf_messages import message_of
from kubeloop.wire.protobuf_writing import envelope, list_item, list_start, message_bytes

from ..kinds.strategies import convert
from ..registry import ServedResource
from ..storage.store import Entry, Object, encoded
from ..values.go_order import encode_list_metadata, encode_object, encode_sorted
from ..values.zero_values import complete, is_written_alike

__all__ = [
    "PARTIAL",
    "TABLE",
    "ListPart",
    "Representation",
    "head_of",
    "served_object",
    "to_served_version",
]

PARTIAL: Final = "PartialObjectMetadata"
TABLE: Final = "Table"
PART: Final = 64  # objects in one part of a large list
LARGE: Final = 1024 * 1024  # bytes of a list that is sent in parts
_META = "meta.k8s.io/v1"


def head_of(api_version: str, kind: str, *, custom: bool = False) -> bytes:
    """The start of an object's JSON, which a stored `Entry.tail` continues.

    Its length is the same for custom kinds, whose keys are sorted.
    """
    if custom:
        return b'{"apiVersion":%s,"kind":%s,' % (encoded(api_version), encoded(kind))
    return b'{"kind":%s,"apiVersion":%s,' % (encoded(kind), encoded(api_version))


def to_served_version(served: ServedResource, obj: Object) -> Object:
    """Convert a stored object to the version of `served`."""
    if _has_stored_schema(served):
        return {**obj, "kind": served.kind, "apiVersion": served.api_version}
    if served.definition is not None:
        converted: Object = served.definition.convert(obj, served.version)
        return converted
    found = convert(obj, served.group, served.kind, served.version)
    # Zero values differ between versions; what one version writes as zero, another one omits.
    return complete({**found, "kind": served.kind, "apiVersion": served.api_version})


def served_object(served: ServedResource, entry: Entry) -> Object:
    """The object of an entry in the version of `served`."""
    if served.definition is None or served.is_storage_version or entry.stored is None:
        return to_served_version(served, entry.obj)
    # Not by way of the storage version: the object may be stored in another one.
    found: Object = served.definition.read(entry.stored, served.version)
    return found


def _has_stored_schema(served: ServedResource) -> bool:
    """Whether the served version has the schema of the storage version."""
    if (served.group, served.plural) != served.storage:
        return False
    if served.version == served.storage_version:
        return True
    if served.custom is not None:
        return False
    if served.strategy.schemas_differ:
        return False
    stored = f"{served.storage[0]}/{served.storage_version}".removeprefix("/")
    return is_written_alike(served.api_version, stored, served.kind)


def _with_ordered_object(row: Object) -> Object:
    """A row of a Table whose object is written as Go writes it."""
    obj = row.get("object")
    if not isinstance(obj, dict):
        return row
    return {**row, "object": msgspec.Raw(encode_object(obj, obj["apiVersion"], obj["kind"]))}


class ListPart(NamedTuple):
    """A part of the body of a list."""

    key: Hashable  # parts of one server with the same key are equal; None if nothing is known
    encode: Callable[[], bytes]


@final
class Representation:
    """How the objects of one resource are encoded for a client."""

    def __init__(
        self,
        served: ServedResource,
        *,
        kind: Literal["", "PartialObjectMetadata", "Table"] = "",
        include: str = "Metadata",
        version: str = "v1",
        is_protobuf: bool = False,
    ) -> None:
        self.served = served
        self.is_protobuf = is_protobuf
        self.kind = kind
        self.include = include
        self._meta = f"meta.k8s.io/{version}"  # the group version of Table and metadata only
        self._uses_stored_bytes = not kind and _has_stored_schema(served)
        names = (served.group, served.version, served.plural)
        self.cache_key = (*names, kind, include, version, is_protobuf)
        own = (self._meta, PARTIAL) if kind == PARTIAL else (served.api_version, served.kind)
        self._head = head_of(*own, custom=served.custom is not None and kind != PARTIAL)
        self._own = own

    def encode_object(self, entry: Entry) -> bytes:
        """One object, as the body of a response or in a watch event."""
        if self._uses_stored_bytes and not self._has_early_keys(entry):
            return self._head + entry.tail
        return self._encode(self._represent(self._object_of(entry)))

    def _has_early_keys(self, entry: Entry) -> bool:
        """Whether keys of a custom object, which are sorted, come before its kind."""
        return self.served.custom is not None and any(
            key < "kind" and key != "apiVersion" for key in entry.obj
        )

    def _encode(self, obj: Object) -> bytes:
        return encoded(obj) if self.kind == TABLE else encode_object(obj, *self._own)

    def encode_envelope(self, entry: Entry) -> bytes:
        """The same as protobuf."""
        return envelope(*self._own, self._message(entry))

    def _message(self, entry: Entry) -> bytes:
        """The protobuf of an object, which takes a hundred times as long as to copy its JSON."""
        found = entry.messages.get(self.cache_key)
        if found is None:
            data = msgspec.json.decode(self.encode_object(entry))
            found = message_bytes(message_of(*self._own), data)
            entry.messages[self.cache_key] = found
        return found

    def encode_message_list(self, entries: list[Entry], metadata: Object) -> bytes:
        """The body of a list as protobuf."""
        items = [list_item(self._message(entry)) for entry in entries]
        kind = f"{PARTIAL}List" if self.kind == PARTIAL else self.served.list_kind
        return envelope(self._own[0], kind, b"".join([list_start(metadata), *items]))

    def _object_of(self, entry: Entry) -> Object:
        # `to_served_version` follows; it does not change an object that has its version already.
        return entry.obj if entry.stored is None else served_object(self.served, entry)

    def _represent(self, obj: Object) -> Object:
        if self.kind == PARTIAL:
            return {"kind": PARTIAL, "apiVersion": self._meta, "metadata": obj.get("metadata", {})}
        if self.kind == TABLE:
            return self.table([obj], columns=True)
        return to_served_version(self.served, obj)

    def _encode_items(self, entries: list[Entry]) -> Iterator[bytes]:
        """The content of `items` of a list, in pieces to be joined."""
        if not entries:
            return
        if self._uses_stored_bytes and self.served.custom is None:
            # As in kube-apiserver, items of built-in kinds have no kind and apiVersion.
            yield b"{"
            yield b",{".join([entry.tail for entry in entries])
        elif self._uses_stored_bytes:
            yield b",".join([self.encode_object(entry) for entry in entries])
        else:
            yield b",".join([self._encode(self._item(self._object_of(entry))) for entry in entries])

    def encode_list(self, entries: list[Entry], metadata: Object) -> bytes:
        """The body of a list."""
        if self.kind == TABLE:
            table = self.table([self._object_of(entry) for entry in entries], columns=True)
            return encoded({**table, "metadata": metadata})
        if self.kind == PARTIAL:
            kind, api_version = f"{PARTIAL}List", self._meta
        else:
            kind, api_version = self.served.list_kind, self.served.api_version
            if self.served.custom is not None:
                return self._encode_custom_list(entries, metadata)
        start = head_of(api_version, kind) + b'"metadata":' + encode_list_metadata(metadata)
        if self.kind == PARTIAL and not entries:
            return start + b',"items":null}'  # a nil slice in Go, as asPartialObjectMetadataList
        # One join: with 10,000 pods each further copy takes as long as the rest of the list.
        return b"".join([start, b',"items":[', *self._encode_items(entries), b"]}"])

    def _encode_custom_list(self, entries: list[Entry], metadata: Object) -> bytes:
        # The list of an apiextensions-apiserver is unstructured: nothing is left out, and the keys
        # are sorted.
        kind, api_version = encoded(self.served.list_kind), encoded(self.served.api_version)
        end = b'],"kind":%b,"metadata":%b}' % (kind, encode_sorted({"continue": "", **metadata}))
        start = b'{"apiVersion":%b,"items":[' % api_version
        return b"".join([start, *self._encode_items(entries), end])

    def list_parts(self, entries: list[Entry], metadata: Object) -> Iterator[ListPart]:
        """The body of a list, in parts of at most `PART` objects, with a newline at the end."""
        start, _, end = self.encode_list([], metadata).rpartition(b"]")
        yield ListPart(None, lambda: start)
        for first in range(0, len(entries), PART):
            yield self._list_part(entries[first : first + PART], is_first=not first)
        yield ListPart(None, lambda: b"]" + end + b"\n")

    def _list_part(self, entries: list[Entry], *, is_first: bool) -> ListPart:
        def encode() -> bytes:
            items = b"".join(self._encode_items(entries))
            return items if is_first else b"," + items

        if self.served.custom is not None:
            return ListPart(None, encode)  # a schema changes objects, not their versions
        versions = tuple([entry.version for entry in entries])
        return ListPart((self.cache_key, is_first, versions), encode)

    def has_large_list(self, entries: list[Entry]) -> bool:
        """Whether a list is better sent in parts than as a whole."""
        if not self._uses_stored_bytes or len(entries) <= PART:
            return False
        return sum([len(entry.tail) for entry in entries]) > LARGE

    def table(self, objs: list[Object], *, columns: bool) -> Object:
        from .tables import table

        rows = [to_served_version(self.served, obj) for obj in objs]
        found: Object = table(self.served, rows, include=self.include, columns=columns)
        found = found if self._meta == _META else self._in_own_version(found)
        return {**found, "rows": [_with_ordered_object(row) for row in found["rows"]]}

    def _in_own_version(self, found: Object) -> Object:
        """A Table of v1, with the metadata-only objects in it, in another version."""
        rows = found["rows"]
        if self.include == "Metadata":
            rows = [{**row, "object": {**row["object"], "apiVersion": self._meta}} for row in rows]
        return {**found, "apiVersion": self._meta, "rows": rows}

    def encode_bookmark(self, version: int, *, annotations: dict[str, str] | None = None) -> bytes:
        """The object of a bookmark: of the watched kind, with a resource version only."""
        meta: Object = {"resourceVersion": str(version)}
        if annotations:
            meta["annotations"] = annotations
        if self.kind == TABLE:
            return encoded({**self.table([], columns=False), "metadata": meta})
        return self._head + b'"metadata":' + encoded(meta) + b"}"

    def _item(self, obj: Object) -> Object:
        # As in `_encode_items`, only custom kinds keep kind and apiVersion.
        value = self._represent(obj)
        if self.kind or self.served.custom is not None:
            return value
        return {k: v for k, v in value.items() if k not in {"kind", "apiVersion"}}
