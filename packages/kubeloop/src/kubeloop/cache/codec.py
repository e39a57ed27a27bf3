"""Encodes objects as entries, and decodes entries. Objects are JSON, or protobuf messages.

Guarantees: encoding reads the standard fields and the index paths, and skips the rest of the
object. Values that many objects repeat (namespaces, labels, owners, indexed values) are held
once. An object without a name is rejected. A value that cannot be indexed, or a path that does
not fit an object, is counted and logged, and the object is stored all the same. Fields that are
dropped are cut out of the bytes, and are not in any object that is read.
See also: `storage` (the formats of the content), `index` (what is indexed).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar, final

import msgspec

from kubeloop.errors import DecodeError, InvalidArgument
from kubeloop.meta import ObjectKey
from kubeloop.wire import (
    FieldCutter,
    MessageProjection,
    Projection,
    Raw,
    UnknownFields,
    get_logger,
    overlaps,
    read_label,
    read_owner,
    read_time,
    type_bytes,
)

from .entry import Entry, KeyFunc, OwnerRef, key_from
from .errors import TransformFailed, UnkeyedObject
from .list_watch import MessageFormat
from .storage import ObjectType, StorageFormat, storage_for

__all__ = ["CodecStats", "EntryCodec"]

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
log = get_logger(__name__)

STANDARD = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "metadata.resourceVersion",
    "metadata.generation",
    "metadata.labels",
    "metadata.ownerReferences",
    "metadata.deletionTimestamp",
)
# A pool is for values that repeat. One that sees only new values frees its memory again.
_POOL_SIZE = 4096
_TEXT = (str, type(None))
_METADATA = "meta_v1.PartialObjectMetadata"
_standard = Projection(*STANDARD)
# How objects of a server are: then they are decoded without further checks. Labels and owners
# repeat, so that their text is looked up in a pool.
_TYPES = {
    "metadata.name": str,
    "metadata.namespace": str,
    "metadata.uid": str,
    "metadata.resourceVersion": str,
    "metadata.generation": int,
    "metadata.labels": Raw,
    "metadata.ownerReferences": Raw,
    "metadata.deletionTimestamp": str,
}
# Of other objects: they are read again with all checks, which find what is wrong.
_UNUSUAL = (DecodeError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


class CodecStats(msgspec.Struct, frozen=True):
    """What a codec has encoded so far."""

    store_as: StorageFormat
    encoded: int
    rejected: int  # not JSON, or without a name
    # Values at an index path that are not text, a number, a Boolean or a list, and paths
    # through a value that has no fields.
    unindexable: int
    label_sets: int  # different ones in the pool
    messages: int  # encoded from protobuf; the others were JSON


@final
class _Pool(dict[K, V]):
    """One value for many equal ones. A full pool starts again from empty: it only shares less."""

    __slots__ = ()

    def put(self, key: K, value: V) -> V:
        """Share `value` under `key`; returns the one to use."""
        if len(self) >= _POOL_SIZE:
            self.clear()
        return self.setdefault(key, value)


@final
class EntryCodec(Generic[T]):
    """Encodes objects of one kind as entries, and decodes them as `model`.

    `model` is a generated class, `dict`, or a struct with the fields you need. `paths` are the
    field paths whose values entries carry for indexes. `api_version` and `kind` complete the
    dicts that come from lists, whose items have neither. `drop` names fields that are not stored:
    none that the cache reads itself. `messages` is the protobuf of the kind, if objects may come
    as such (`parse_message`). `key` stores objects under another key
    than namespace and name, so that they need no name; it costs a decoding of each object.

        codec = EntryCodec(Pod, paths=("spec.nodeName",))
        entry = codec.parse(text)
        pod = codec.decode(entry)
    """

    def __init__(
        self,
        model: type[T],
        *,
        store_as: StorageFormat = "bytes",
        paths: Iterable[str] = (),
        drop: Sequence[str] = (),
        api_version: str = "",
        kind: str = "",
        messages: MessageFormat | None = None,
        key: KeyFunc[T] | None = None,
    ) -> None:
        self.model = model
        self.store_as = store_as
        self._key_function = key
        self._type_meta = (api_version, kind)
        self.messages = messages
        self._message = "" if messages is None else messages.message
        self._type_bytes = b"" if messages is None else _type_bytes(messages, api_version, kind)
        self._type = ObjectType(model, api_version=api_version, kind=kind, message=self._message)
        self._parsed_messages = 0
        self._storage = storage_for(store_as, self._type)
        self.stores_bytes = store_as == "bytes"
        self._cutter = _cutter(drop, model if self._type.is_model else None)
        self._dropped = self._cutter.paths if self._cutter is not None else ()
        self._paths: tuple[str, ...] = ()
        self._use_paths(tuple(dict.fromkeys(paths)))
        self._names: _Pool[str, str] = _Pool()
        self._labels: _Pool[tuple[Any, ...], dict[str, str]] = _Pool()
        self._owners: _Pool[tuple[OwnerRef, ...], tuple[OwnerRef, ...]] = _Pool()
        self._indexed: _Pool[tuple[Any, ...], tuple[tuple[str, ...], ...]] = _Pool()
        # By the JSON text of the field.
        self._labels_by_text: _Pool[bytes, Mapping[str, str]] = _Pool()
        self._owners_by_text: _Pool[bytes, tuple[OwnerRef, ...]] = _Pool()
        self._encoded = self._rejected = self._unindexable = 0

    @property
    def paths(self) -> tuple[str, ...]:
        """The field paths of `Entry.indexed_values`, in its order."""
        return self._paths

    @property
    def shares_objects(self) -> bool:
        """Whether `decode` returns the object that the cache holds, which must not be changed."""
        return self._storage.shares_objects

    def read(self, raw: bytes) -> Entry | None:
        """The entry of an object as servers send it; None if `parse` has to look closer."""
        if self._decode_row is None:
            return None
        try:
            name, namespace, uid, version, generation, labels, owners, deletion, *values = (
                self._values_of(self._decode_row(raw))
            )
            if not name:
                return None
            if namespace:
                namespace = self._names.get(namespace) or self._names.put(namespace, namespace)
            key = ObjectKey(namespace or "", name)
            if labels is not None:
                text = bytes(labels)
                labels = self._labels_by_text.get(text) or self._decode_labels(text, key)
            if owners is not None:
                text = bytes(owners)
                owners = self._owners_by_text.get(text) or self._decode_owners(text, key)
            if self._cutter is not None:
                count = len(self._dropped)
                raw = self._cutter.cut_found(raw, values[-count:])
                del values[-count:]
            entry = Entry(
                key,
                version or "",
                uid or "",
                raw if self.stores_bytes else self._storage.pack(raw),
                labels or _NO_LABELS,
                owners or (),
                self._indexed_values(values, key) if values else (),
                generation or 0,
                deletion or "",
            )
        except _UNUSUAL:
            return None
        self._encoded += 1
        return entry

    def parse(self, raw: bytes | Raw, *, decoded: T | None = None) -> Entry:
        """The entry of an object's JSON; `decoded` saves the key function a decoding.

        Raises:
            DecodeError: it is not an object of the API.
            UnkeyedObject: it has no name, or the key function failed.
        """
        if type(raw) is not bytes:
            raw = bytes(raw)
        if raw[:1] != b"{" and (self._message or self.store_as == "compressed"):
            raw = raw.lstrip()
        entry = self.read(raw)
        if entry is not None:
            return entry
        try:
            key = None
            if self._key_function is not None:
                value = self._type.decode(raw) if decoded is None else decoded
                key = key_from(self._key_function, value)
            entry = self._entry(raw, key)
        except DecodeError:
            self._rejected += 1
            raise
        self._encoded += 1
        return entry

    def parse_message(self, message: bytes) -> Entry:
        """The entry of an object's protobuf message, without an envelope.

        Raises as `parse` does, and `UnknownFields` if messages are checked.
        """
        projection = self._message_projection
        assert projection is not None, "the codec is for JSON"
        assert self.messages is not None, "the codec is for JSON"
        parsed = projection.parse(message)
        if self.messages.checks_fields and self._type.reader.has_unknown_fields(message):
            raise UnknownFields(
                f"a {self._message} has fields that this version of kubeloop does not know"
            )
        try:
            head = projection.head(parsed)
            values = self._message_values(parsed, message) if self._paths else ()
            entry = self._message_entry(head, values, projection.cut(parsed, message), message)
        except DecodeError:
            self._rejected += 1
            raise
        except (ValueError, OverflowError) as error:
            self._rejected += 1
            raise DecodeError(f"cannot read the metadata of a message: {error}") from error
        self._encoded += 1
        self._parsed_messages += 1
        return entry

    def parse_envelope(self, body: bytes) -> Entry | None:
        """As `parse_message`, for an object in its envelope; None if that needs a closer look.

        One parse for both: most of the time for an event is spent in crossing into upb.
        """
        projection = self._message_projection
        assert projection is not None, "the codec is for JSON"
        assert self.messages is not None, "the codec is for JSON"
        if not self._reads_envelopes or self.messages.checks_fields:
            return None
        try:
            type_, parsed = projection.parse_envelope(body)
            if type_ != self._type_bytes:
                return None
            head = projection.head(parsed)
            values = projection.values(parsed) if self._paths else ()
            entry = self._message_entry(head, values, projection.cut(parsed), b"")
        except (DecodeError, ValueError, OverflowError):
            return None
        self._encoded += 1
        self._parsed_messages += 1
        return entry

    def _message_entry(
        self, head: tuple[Any, ...], values: Iterable[Any], cut: bytes, message: bytes
    ) -> Entry:
        name, namespace, uid, version, generation, labels, owners, deletion = head
        if not (type(name) is type(namespace) is type(uid) is type(version) is str):
            raise DecodeError("name, namespace, uid and resourceVersion must be UTF-8")
        if self._key_function is not None:
            key = key_from(self._key_function, self._type.decode(message))
        elif not name:
            key = self._key(namespace, name)  # raises
        else:
            if namespace:
                namespace = self._names.get(namespace) or self._names.put(namespace, namespace)
            key = ObjectKey(namespace, name)
        if labels:
            labels = labels[:]  # a list, which is faster to iterate than what upb has
            text = b"".join(labels)
            labels = self._labels_by_text.get(text) or self._labels_by_text.put(
                text, self._label_map(dict(map(read_label, labels)), key)
            )
        if owners:
            owners = owners[:]
            text = b"".join(owners)
            owners = self._owners_by_text.get(text) or self._owners_by_text.put(
                text, self._pooled_owners(tuple(map(_owner_in, owners)))
            )
        return Entry(
            key,
            version,
            uid,
            cut if self.stores_bytes else self._storage.pack(cut),
            labels or _NO_LABELS,
            owners or (),
            self._indexed_values(values, key) if values else (),
            generation,
            read_time(deletion) if deletion else "",
        )

    def _message_values(self, parsed: Any, message: bytes) -> Iterable[Any]:
        """The values at the index paths."""
        projection = self._message_projection
        if projection is not None and projection.reads_values:
            return projection.values(parsed)
        return self._read_fields(self._type.to_json(message))[len(STANDARD) :]

    def encode(self, value: T) -> Entry:
        """The entry of an object, which stays the caller's.

        Raises as `parse` does, and `InvalidArgument` for a value that JSON cannot represent.
        """
        return self.parse(self._type.encode(value), decoded=value)

    def decode(self, entry: Entry) -> T:
        """The object: a new one, or the one that all readers share if it `shares_objects`.

        Raises:
            DecodeError: it is not valid as `model`; the error names its key.
        """
        try:
            return self._storage.unpack(entry.content)
        except UnknownFields as error:
            if self.messages is not None:
                self.messages.report(error)
            raise UnknownFields(
                f"read {entry.key} from the cache: {error}; it will be read again as JSON"
            ) from error
        except DecodeError as error:
            raise DecodeError(f"read {entry.key} from the cache: {error}") from error

    def raw(self, entry: Entry) -> bytes:
        """The object's JSON: that of the server, unless the format is `objects` or protobuf."""
        raw = self._storage.raw(entry.content)
        return self._type.to_json(raw) if self._type.is_message(raw) else raw

    def transform(self, entry: Entry, function: Callable[[T], T | None]) -> Entry:
        """The entry of what `function` returns for a copy of the object.

        Key, uid and version stay, even if it drops them: they identify the state of the object
        that the result was made from.

        Raises:
            TransformFailed: it raised, returned nothing, or returned what cannot be encoded.
        """
        try:
            changed = function(self._type.decode(self._storage.raw(entry.content)))
            if changed is None:
                raise TransformFailed(
                    f"transform {entry.key}: it returned nothing (return the object)"
                )
            made = self._entry(self._type.encode(changed), entry.key, is_cut=True)
        except (TransformFailed, UnknownFields):
            raise
        # Synchronous code cannot be cancelled: a CancelledError from it is an ordinary error.
        except (Exception, asyncio.CancelledError) as error:
            raise TransformFailed(f"transform {entry.key}: {error!r}") from error
        return msgspec.structs.replace(made, uid=entry.uid, version=entry.version)

    def with_key(self, key: KeyFunc[T]) -> EntryCodec[T]:
        """A codec like this one, with that key function."""
        api_version, kind = self._type_meta
        return EntryCodec(
            self.model,
            store_as=self.store_as,
            paths=self._paths,
            drop=self._dropped,
            api_version=api_version,
            kind=kind,
            messages=self.messages,
            key=key,
        )

    def add_paths(self, *paths: str) -> None:
        """Read these paths of every object that is encoded from now on.

        Raises:
            InvalidArgument: a path does not parse, or the kind has no such field; none is added.
        """
        all_paths = tuple(dict.fromkeys((*self._paths, *paths)))
        if all_paths != self._paths:
            self._check_late_paths()
            self._use_paths(all_paths)

    def values_at(self, path: str) -> Callable[[Entry], tuple[str, ...]]:
        """A function that returns an entry's indexed values at one of the paths.

        It reads entries again that were encoded before the path was added.
        """
        position = self._paths.index(path)

        def values_of(entry: Entry) -> tuple[str, ...]:
            values = entry.indexed_values
            if len(values) <= position:
                raw = self._storage.raw(entry.content)
                projection = self._message_projection
                if projection is not None and self._type.is_message(raw):
                    raw_values = self._message_values(projection.parse(raw), raw)
                else:
                    raw_values = self._read_fields(raw)[len(STANDARD) :]
                values = self._indexed_values(raw_values, entry.key)
            return values[position]

        return values_of

    def stats(self) -> CodecStats:
        return CodecStats(
            store_as=self.store_as,
            encoded=self._encoded,
            rejected=self._rejected,
            unindexable=self._unindexable,
            label_sets=len(self._labels),
            messages=self._parsed_messages,
        )

    def _check_late_paths(self) -> None:
        if self._encoded and self._storage.shares_objects and not self._type.is_whole:
            raise InvalidArgument(
                f"add an index of {self.model.__name__} by a field path: the cache already holds "
                "objects with only the fields of the struct (name the index when the cache is "
                'created, or use store_as="bytes")'
            )

    def _use_paths(self, paths: tuple[str, ...]) -> None:
        for path in paths:
            _check_kept(path, self._dropped, f"index by {path}")
        model = self.model if self._type.is_model else None
        read = Projection(*STANDARD, *paths, of=model).read  # type: ignore[arg-type] # a Model then
        self._read = read
        self._paths = paths
        self._single_paths = [Projection(path) for path in paths]  # for objects that do not fit
        self._message_projection = projection = self._project_messages(paths)
        self._reads_envelopes = self._key_function is None and (
            not paths or (projection is not None and projection.reads_values)
        )
        cut = {} if self._cutter is None else self._cutter.types
        typed = Projection(*STANDARD, *paths, *cut, types=_TYPES | cut)
        # None: a path is inside a field that is not decoded, or the key needs the object.
        is_usable = typed.values_of is not None and self._key_function is None
        self._decode_row = typed.decode_strictly if is_usable else None
        self._values_of: Any = typed.values_of

    def _project_messages(self, paths: tuple[str, ...]) -> MessageProjection | None:
        if not self._message:
            return None
        drop = [path for path in self._dropped if _is_in_message(self._message, path)]
        if not all(_is_in_message(self._message, path) for path in paths):
            paths = ()  # then the objects are decoded
        projection = MessageProjection(self._message, paths, drop)
        if not paths:
            projection.reads_values = False
        return projection

    def _entry(self, raw: bytes, key: ObjectKey | None, *, is_cut: bool = False) -> Entry:
        """An entry under `key`, or else under namespace and name."""
        name, namespace, uid, version, generation, labels, owners, deletion, *values = (
            self._read_fields(raw)
        )
        if key is None:
            key = self._key(namespace, name)
        if type(uid) not in _TEXT or type(version) not in _TEXT or type(deletion) not in _TEXT:
            raise DecodeError(f"{key}: uid, resourceVersion and deletionTimestamp must be text")
        if self._cutter is not None and not is_cut:
            raw = self._cutter.cut(raw)
        return Entry(
            key,
            version or "",
            uid or "",
            self._storage.pack(raw),
            self._label_map(labels, key) if labels else _NO_LABELS,
            self._owner_refs(owners, key) if owners else (),
            self._indexed_values(values, key) if values else (),
            generation if type(generation) is int else 0,
            deletion or "",
        )

    def _read_fields(self, raw: bytes) -> tuple[Any, ...]:
        """The standard fields, then those at the paths; None where a path does not fit."""
        try:
            return self._read(raw)
        except DecodeError:
            if not self._paths:
                raise
        name, namespace, *others = _standard.read(raw)
        values = [self._value_at(path, raw, f"{namespace}/{name}") for path in self._single_paths]
        return (name, namespace, *others, *values)

    def _value_at(self, path: Projection, raw: bytes, name: str) -> Any:
        try:
            return path.read(raw)[0]
        except DecodeError as error:
            self._unindexable += 1
            log.warning("%s: not indexed by a field path: %s", name, error)
            return None

    def _key(self, namespace: Any, name: Any) -> ObjectKey:
        if type(name) is not str or not name:
            where = f" in {namespace}" if namespace else ""
            raise UnkeyedObject(
                f"an object{where} without a name: found {name!r}", path="metadata.name"
            )
        if type(namespace) not in _TEXT:
            raise UnkeyedObject(f"{name}: must be text", path="metadata.namespace")
        namespace = namespace or ""
        pooled = self._names.get(namespace) or self._names.put(namespace, namespace)
        return ObjectKey(pooled, name)

    def _pooled(self, text: str) -> str:
        return self._names.get(text) or self._names.put(text, text)

    def _label_map(self, labels: Any, key: ObjectKey) -> Mapping[str, str]:
        if type(labels) is not dict:
            raise DecodeError(f"{key}: must be an object", path="metadata.labels")
        items = tuple(labels.items())
        try:
            return self._labels.get(items) or self._new_labels(items)
        except TypeError as error:  # a number, a list or an object for a value
            raise DecodeError(f"{key}: values must be text", path="metadata.labels") from error

    def _decode_labels(self, text: bytes, key: ObjectKey) -> Mapping[str, str]:
        labels = msgspec.json.decode(text)
        found = self._label_map(labels, key) if labels else _NO_LABELS
        return self._labels_by_text.put(text, found)

    def _decode_owners(self, text: bytes, key: ObjectKey) -> tuple[OwnerRef, ...]:
        owners = msgspec.json.decode(text)
        found = self._owner_refs(owners, key) if owners else ()
        return self._owners_by_text.put(text, found)

    def _new_labels(self, items: tuple[tuple[str, Any], ...]) -> dict[str, str]:
        if not all(type(value) in _TEXT for _, value in items):
            raise TypeError("the value of a label must be text")
        labels = {self._pooled(name): self._pooled(value or "") for name, value in items}
        return self._labels.put(tuple(labels.items()), labels)

    def _owner_refs(self, owners: Any, key: ObjectKey) -> tuple[OwnerRef, ...]:
        try:
            found = tuple([_owner_ref(owner) for owner in owners])
            return self._pooled_owners(found)
        except (TypeError, AttributeError, KeyError) as error:
            raise DecodeError(f"{key}: cannot be read", path="metadata.ownerReferences") from error

    def _pooled_owners(self, found: tuple[OwnerRef, ...]) -> tuple[OwnerRef, ...]:
        return self._owners.get(found) or self._owners.put(found, found)

    def _indexed_values(self, values: Iterable[Any], key: ObjectKey) -> tuple[tuple[str, ...], ...]:
        found = tuple([self._values_as_text(value, key) for value in values])
        return self._indexed.get(found) or self._indexed.put(found, found)

    def _values_as_text(self, value: Any, key: ObjectKey) -> tuple[str, ...]:
        if type(value) is str:
            return (value,)
        try:
            return _values_as_text(value)
        except TypeError as error:
            self._unindexable += 1
            log.warning("%s: not indexed by a field path: %s", key, error)
            return ()


_NO_LABELS: Mapping[str, str] = {}


def _cutter(drop: Sequence[str], model: Any) -> FieldCutter | None:
    if isinstance(drop, str):
        raise InvalidArgument(f"drop={drop!r}: give a tuple of field paths, as in ({drop!r},)")
    for needed in ("apiVersion", "kind", *STANDARD):
        _check_kept(needed, drop, f"read {needed}")
    return FieldCutter(*drop, of=model) if drop else None


def _check_kept(path: str, dropped: Iterable[str], what: str) -> None:
    for each in dropped:
        if overlaps(path, each):
            raise InvalidArgument(f"{what}: the cache drops {each} (leave it out of `drop`)")


def _owner_ref(owner: Mapping[str, Any]) -> OwnerRef:
    return OwnerRef(
        owner.get("apiVersion") or "",
        owner.get("kind") or "",
        owner.get("name") or "",
        owner.get("uid") or "",
        owner.get("controller") is True,
    )


def _owner_in(reference: bytes) -> OwnerRef:
    return OwnerRef(*read_owner(reference))


def _type_bytes(messages: MessageFormat, api_version: str, kind: str) -> bytes:
    """The type in the envelopes of objects."""
    if messages.message == _METADATA:
        return type_bytes("meta.k8s.io/v1", "PartialObjectMetadata")
    return type_bytes(api_version, kind)


def _is_in_message(message: str, path: str) -> bool:
    try:
        MessageProjection(message, (path,))
    except InvalidArgument:
        return False
    return True


def _values_as_text(value: Any) -> tuple[str, ...]:
    """The texts that a value is indexed under: its own, those of a list's items, or none."""
    match value:
        case None:
            return ()
        case bool():
            return ("true" if value else "false",)
        case str() | int() | float():
            return (str(value),)
        case list():
            return tuple(dict.fromkeys(text for item in value for text in _values_as_text(item)))
    raise TypeError(f"a map cannot be indexed (name a key of it): found {sorted(value)[:3]}")
