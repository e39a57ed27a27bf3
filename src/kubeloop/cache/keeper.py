"""Turns the bytes of objects into entries and entries into objects.

Promises: taking an object reads the standard fields and the index paths, and skips the rest
unread; what repeats from object to object (namespaces, labels, owners, index values) is held
once. An object without a name is refused; a value that cannot be an index value, or a path
that an object's shape does not fit, is counted and logged, and the object is kept all the same.
Elsewhere: the ways to keep (`keeping`), what is indexed (`index`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, TypeVar, final

import msgspec

from kubeloop.errors import DecodeError, InvalidArgument
from kubeloop.meta import ObjectKey
from kubeloop.wire import Projection, Raw, get_logger

from .entry import Entry, OwnerRef
from .errors import TransformFailed, UnkeyedObject
from .keeping import Form, Keeping, way_of
from .key_functions import KeyFunc, key_from
from .pool import Pool

__all__ = ["Keeper", "KeeperStats"]

T = TypeVar("T")
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
# Sharing is for what repeats: a pool that sees only new values gives up its memory again.
_POOLED = 4096
_TEXT = (str, type(None))
_standard = Projection(*STANDARD)


class KeeperStats(msgspec.Struct, frozen=True):
    """What a keeper has taken so far."""

    keeping: Keeping
    taken: int
    refused: int  # not JSON, or without a name
    # Values at an index path that are no text, number, truth value or list, or paths that end
    # in one before their end.
    unindexable: int
    label_sets: int  # different ones, as far as the pool remembers


@final
class Keeper(Generic[T]):
    """Takes objects of one kind and gives them as `of`: a model, `dict`, or a view.

    `paths` are the field paths whose values entries carry for indexes. `api_version` and
    `kind` complete the dicts that come from lists, whose items do not say what they are.
    `key` files objects under another key than namespace and name, so that they need none; each
    object that is taken is decoded for it.

        keeper = Keeper(Pod, paths=("spec.nodeName",))
        entry = keeper.take(text)
        pod = keeper.give(entry)
    """

    def __init__(
        self,
        of: type[T],
        *,
        keeping: Keeping = "bytes",
        paths: Iterable[str] = (),
        api_version: str = "",
        kind: str = "",
        key: KeyFunc[T] | None = None,
    ) -> None:
        self.of = of
        self.keeping = keeping
        self._key_function = key
        self._kind = (api_version, kind)
        self._form = Form(of, api_version=api_version, kind=kind)
        self._way = way_of(keeping, self._form)
        self._paths: tuple[str, ...] = ()
        self._read = self._reader(tuple(dict.fromkeys(paths)))
        self._names: Pool[str, str] = Pool(at_most=_POOLED)
        self._labels: Pool[tuple[Any, ...], dict[str, str]] = Pool(at_most=_POOLED)
        self._owners: Pool[tuple[OwnerRef, ...], tuple[OwnerRef, ...]] = Pool(at_most=_POOLED)
        self._rows: Pool[tuple[Any, ...], tuple[tuple[str, ...], ...]] = Pool(at_most=_POOLED)
        self._taken = self._refused = self._unindexable = 0

    @property
    def paths(self) -> tuple[str, ...]:
        """The field paths whose values stand in `Entry.row`, in its order."""
        return self._paths

    @property
    def shares(self) -> bool:
        """Whether `give` hands out what is held, to read only."""
        return self._way.shares

    def take(self, raw: bytes | Raw) -> Entry:
        """What to hold of an object.

        Raises:
            DecodeError: it is not an object of the API.
            UnkeyedObject: it has no name, or the key function failed.
        """
        return self._take(bytes(raw), None)

    def keep(self, given: T) -> Entry:
        """What to hold of an object that somebody made; it stays the caller's own.

        Raises as `take` does, and `InvalidArgument` for what JSON cannot say.
        """
        return self._take(self._form.encode(given), given)

    def keyed_by(self, key: KeyFunc[T]) -> Keeper[T]:
        """A keeper like this one, with that key function."""
        api_version, kind = self._kind
        return Keeper(
            self.of,
            keeping=self.keeping,
            paths=self._paths,
            api_version=api_version,
            kind=kind,
            key=key,
        )

    def give(self, entry: Entry) -> T:
        """The object: the caller's own, or the one that all read if the keeper `shares`.

        Raises:
            DecodeError: it does not read as `of`; its key is named.
        """
        try:
            return self._way.give(entry.kept)
        except DecodeError as error:
            raise DecodeError(f"read {entry.key} from the cache: {error}") from error

    def raw(self, entry: Entry) -> bytes:
        """The object's JSON text; as it came, unless objects are kept."""
        return self._way.raw(entry.kept)

    def transformed(self, entry: Entry, transform: Callable[[T], T | None]) -> Entry:
        """The entry of what `transform` makes of an object of its own.

        Key, uid and version stay, whatever it drops: they say which state of which object
        it was made of.

        Raises:
            TransformFailed: it raised, returned nothing, or returned what cannot be kept.
        """
        try:
            changed = transform(self._form.decode(self.raw(entry)))
            if changed is None:
                raise TransformFailed(
                    f"transform {entry.key}: it returned nothing (return the object)"
                )
            made = self._entry(self._form.encode(changed), entry.key)
        except TransformFailed:
            raise
        # Nobody can cancel plain code: what says so is a failure as well.
        except (Exception, asyncio.CancelledError) as error:
            raise TransformFailed(f"transform {entry.key}: {error!r}") from error
        return msgspec.structs.replace(made, uid=entry.uid, version=entry.version)

    def add_paths(self, *paths: str) -> None:
        """Read these paths of every object that is taken from now on.

        Raises:
            InvalidArgument: a path does not parse, or the kind has no such field; none is added.
        """
        wanted = tuple(dict.fromkeys((*self._paths, *paths)))
        if wanted != self._paths:
            self._check_late()
            self._read = self._reader(wanted)

    def values_at(self, path: str) -> Callable[[Entry], tuple[str, ...]]:
        """What tells the index values of an entry at one of the paths.

        Entries that were taken before the path was added are read again.
        """
        place = self._paths.index(path)

        def values_of(entry: Entry) -> tuple[str, ...]:
            row = entry.row if len(entry.row) > place else self._row_of(entry)
            return row[place]

        return values_of

    def stats(self) -> KeeperStats:
        return KeeperStats(
            keeping=self.keeping,
            taken=self._taken,
            refused=self._refused,
            unindexable=self._unindexable,
            label_sets=len(self._labels),
        )

    def _check_late(self) -> None:
        if self._taken and self._way.shares and not self._form.is_whole:
            raise InvalidArgument(
                f"index {self.of.__name__} by a field path later on: the objects kept hold only "
                "the view's fields (name the index when the cache is made, or keep bytes)"
            )

    def _reader(self, paths: tuple[str, ...]) -> Callable[[bytes], tuple[Any, ...]]:
        of = self.of if self._form.is_model else None
        read = Projection(*STANDARD, *paths, of=of).read  # type: ignore[arg-type] # a Model then
        self._paths = paths
        self._one_by_one = [Projection(path) for path in paths]  # for objects that do not fit
        return read

    def _take(self, raw: bytes, given: T | None) -> Entry:
        """An entry of `raw`; `given` is the same as an object, where the caller has one."""
        try:
            entry = self._entry(raw, self._key_by_function(raw, given))
        except DecodeError:
            self._refused += 1
            raise
        self._taken += 1
        return entry

    def _key_by_function(self, raw: bytes, given: T | None) -> ObjectKey | None:
        if self._key_function is None:
            return None
        return key_from(self._key_function, self._form.decode(raw) if given is None else given)

    def _entry(self, raw: bytes, key: ObjectKey | None) -> Entry:
        """Read and keep; `key` is for what must not be filed under another name."""
        name, namespace, uid, version, generation, labels, owners, deletion, *values = self._values(
            raw
        )
        if key is None:
            key = self._key(namespace, name)
        if type(uid) not in _TEXT or type(version) not in _TEXT or type(deletion) not in _TEXT:
            raise DecodeError(f"{key}: uid, resourceVersion and deletionTimestamp must be text")
        return Entry(
            key,
            version or "",
            uid or "",
            self._way.keep(raw),
            self._label_map(labels, key) if labels else _NO_LABELS,
            self._owner_refs(owners, key) if owners else (),
            self._row(values, key) if values else (),
            generation if type(generation) is int else 0,
            deletion or "",
        )

    def _row_of(self, entry: Entry) -> tuple[tuple[str, ...], ...]:
        return self._row(self._values(self.raw(entry))[len(STANDARD) :], entry.key)

    def _values(self, raw: bytes) -> tuple[Any, ...]:
        """The standard fields and those at the paths, also where a path does not fit."""
        try:
            return self._read(raw)
        except DecodeError:
            if not self._paths:
                raise
        name, namespace, *others = _standard.read(raw)
        values = [self._value_at(one, raw, f"{namespace}/{name}") for one in self._one_by_one]
        return (name, namespace, *others, *values)

    def _value_at(self, path: Projection, raw: bytes, what: str) -> Any:
        try:
            return path.read(raw)[0]
        except DecodeError as error:
            self._unindexable += 1
            log.warning("%s: not indexed by a field path: %s", what, error)
            return None

    def _key(self, namespace: Any, name: Any) -> ObjectKey:
        if type(name) is not str or not name:
            where = f" in {namespace}" if namespace else ""
            raise UnkeyedObject(
                f"an object{where} without a name: found {name!r}", path="metadata.name"
            )
        if type(namespace) not in _TEXT:
            raise UnkeyedObject(f"{name}: must be text", path="metadata.namespace")
        return ObjectKey(self._shared(namespace or ""), name)

    def _shared(self, text: str) -> str:
        return self._names.get(text) or self._names.put(text, text)

    def _label_map(self, labels: Any, key: ObjectKey) -> Mapping[str, str]:
        if type(labels) is not dict:
            raise DecodeError(f"{key}: must be an object", path="metadata.labels")
        said = tuple(labels.items())
        try:
            return self._labels.get(said) or self._new_labels(said)
        except TypeError as error:  # a number, a list or an object for a value
            raise DecodeError(f"{key}: values must be text", path="metadata.labels") from error

    def _new_labels(self, said: tuple[tuple[str, Any], ...]) -> dict[str, str]:
        if not all(type(value) in _TEXT for _, value in said):
            raise TypeError("a label's value is no text")
        labels = {self._shared(name): self._shared(value or "") for name, value in said}
        return self._labels.put(tuple(labels.items()), labels)

    def _owner_refs(self, owners: Any, key: ObjectKey) -> tuple[OwnerRef, ...]:
        try:
            found = tuple([_owner_ref(owner) for owner in owners])
            return self._owners.get(found) or self._owners.put(found, found)
        except (TypeError, AttributeError, KeyError) as error:
            raise DecodeError(f"{key}: cannot be read", path="metadata.ownerReferences") from error

    def _row(self, values: Iterable[Any], key: ObjectKey) -> tuple[tuple[str, ...], ...]:
        row = tuple([self._index_values(value, key) for value in values])
        return self._rows.get(row) or self._rows.put(row, row)

    def _index_values(self, value: Any, key: ObjectKey) -> tuple[str, ...]:
        if type(value) is str:
            return (value,)
        try:
            return _index_values(value)
        except TypeError as error:
            self._unindexable += 1
            log.warning("%s: not indexed by a field path: %s", key, error)
            return ()


_NO_LABELS: Mapping[str, str] = {}


def _owner_ref(owner: Mapping[str, Any]) -> OwnerRef:
    return OwnerRef(
        owner.get("apiVersion") or "",
        owner.get("kind") or "",
        owner.get("name") or "",
        owner.get("uid") or "",
        owner.get("controller") is True,
    )


def _index_values(value: Any) -> tuple[str, ...]:
    """The texts that a value is found under: its own, those of a list's items, or none."""
    match value:
        case None:
            return ()
        case bool():
            return ("true" if value else "false",)
        case str() | int() | float():
            return (str(value),)
        case list():
            return tuple(dict.fromkeys(text for item in value for text in _index_values(item)))
    raise TypeError(f"a map is no index value (name a key of it): found {sorted(value)[:3]}")
