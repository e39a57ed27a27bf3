"""The values that travel through a cache: entries (objects as they are stored), their keys, and
deltas.

Guarantees: entries and deltas never change. A delete says whether the final state is known. A
key function (client-go: `cache.KeyFunc`) that raises, or returns something that is not a key, is
an `UnkeyedObject` that names the object and never shows its content.
See also: `codec` (encodes and decodes entries), `store` (holds them), `delta_queue` and
`delta_fifo` (carry deltas).
"""

from __future__ import annotations

import asyncio
import enum
from collections.abc import Callable, Hashable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias, TypeVar, final

import msgspec

from kubeloop.errors import InvalidArgument
from kubeloop.meta import ObjectKey

from .errors import UnkeyedObject

__all__ = [
    "Delta",
    "DeltaType",
    "Entry",
    "KeyFunc",
    "OwnerRef",
    "are_different_objects",
    "call_key_function",
    "deltas_after",
    "key_from",
    "missed_delete",
]

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

# From an object to its key. Text is a key without a namespace: `ObjectKey("", text)`.
KeyFunc: TypeAlias = Callable[[T], ObjectKey | str]


@final
class OwnerRef(msgspec.Struct, frozen=True, gc=False):
    """An owner reference of an object."""

    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool = False


@final
class Entry(msgspec.Struct, frozen=True, gc=False):
    """One object in a cache: the fields that are read without decoding, and the whole in `content`.

    `EntryCodec` makes entries and reads `content`: bytes, compressed bytes or an object.
    Entries with equal labels, owners and indexed values share them.
    """

    key: ObjectKey
    version: str
    uid: str
    content: Any
    label_map: Mapping[str, str]  # for matching; `labels` is the read-only one for callers
    owners: tuple[OwnerRef, ...] = ()
    indexed_values: tuple[tuple[str, ...], ...] = ()  # by path, in the order of EntryCodec.paths
    generation: int = 0
    deletion_timestamp: str = ""  # empty while the object is not being deleted

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels, read-only."""
        return MappingProxyType(self.label_map)

    @property
    def controller(self) -> OwnerRef | None:
        """The owner reference with `controller: true`, if any."""
        return next((owner for owner in self.owners if owner.controller), None)


def are_different_objects(old: Entry | None, new: Entry | None) -> bool:
    """Whether two entries of one key are two objects: one was deleted, the other created since.

    An entry without a uid is never another object.
    """
    return (
        old is not None
        and new is not None
        and old.uid != new.uid
        and bool(old.uid)
        and bool(new.uid)
    )


class DeltaType(enum.StrEnum):
    """What happened, in client-go's words."""

    ADDED = "Added"
    UPDATED = "Updated"
    DELETED = "Deleted"
    REPLACED = "Replaced"  # part of a list; it may be new or not
    SYNC = "Sync"  # unchanged: a resync
    # Of `RealFIFO` only, about the whole collection.
    REPLACED_ALL = "ReplacedAll"
    SYNC_ALL = "SyncAll"
    BOOKMARK = "Bookmark"


_NO_KEY = ObjectKey("", "")


@final
class Delta(msgspec.Struct, frozen=True, gc=False):
    """One change of one object, or of the whole collection.

    A `DELETED` with `last_state_known` false was not received but follows from a list
    (client-go: `DeletedFinalStateUnknown`): its entry is the last known state, if any.

    `is_recreation` marks both halves of a re-creation that follows from a new uid: a `DELETED`
    of the old object and, next for its key, a delta of the new one.
    """

    type: DeltaType
    key: ObjectKey = _NO_KEY
    entry: Entry | None = None
    last_state_known: bool = True
    entries: Sequence[Entry] = ()  # REPLACED_ALL: the whole collection, in the list's order
    version: str = ""  # REPLACED_ALL, BOOKMARK: the version of the collection
    is_recreation: bool = False


def missed_delete(key: ObjectKey, last_seen: Entry | None, *, is_recreation: bool = False) -> Delta:
    """A delete whose watch event was missed."""
    return Delta(
        DeltaType.DELETED, key, last_seen, last_state_known=False, is_recreation=is_recreation
    )


def deltas_after(last: Entry | None, delta: Delta) -> Sequence[Delta]:
    """The deltas to queue for `delta`, where `last` is the last known state of its key.

    A delta with another uid than the last one means that a delete was missed.
    """
    if not are_different_objects(last, delta.entry):
        return (delta,)
    if delta.type is DeltaType.DELETED:
        # The deleted object was never queued: the delta ends the object before it.
        return (missed_delete(delta.key, last),)
    return (
        missed_delete(delta.key, last, is_recreation=True),
        msgspec.structs.replace(delta, is_recreation=True),
    )


# --- key functions


def key_from(function: KeyFunc[T], obj: T) -> ObjectKey:
    """The key of an object. Raises `UnkeyedObject`."""
    found: object = call_key_function(function, obj)
    key = ObjectKey("", found) if isinstance(found, str) else found
    if isinstance(key, ObjectKey) and key.name:
        return key
    problem = (
        "empty" if found == "" or isinstance(found, ObjectKey) else f"of {type(found).__name__}"
    )
    raise UnkeyedObject(
        f"key of {_name_of(obj)}: the key function returned a key that is {problem} "
        "(return an ObjectKey with a name, or text that is not empty)"
    )


def call_key_function(function: Callable[[T], K], obj: T) -> K:
    """The result of a key function. Raises `UnkeyedObject` if it raises anything."""
    try:
        return function(obj)
    # Synchronous code cannot be cancelled: a CancelledError from it is an ordinary error.
    except (Exception, asyncio.CancelledError) as error:
        raise UnkeyedObject(
            f"key of {_name_of(obj)}: the key function raised {type(error).__name__}"
        ) from error


def _name_of(obj: Any) -> str:
    """Namespace and name, if the object has them, and its type; nothing of its content."""
    if isinstance(obj, Entry):
        return str(obj.key)
    kind = type(obj).__name__
    try:
        key = ObjectKey.of(obj)
    except (InvalidArgument, AttributeError, TypeError):
        return f"an object of type {kind}"
    return f"{kind} {key}"
