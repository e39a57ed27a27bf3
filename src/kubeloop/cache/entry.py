"""The values that travel through a cache: what is held of an object, and what happened to it.

Promises: an entry and a delta never change; an entry holds nothing that was only half read.
A delete says whether the last state is known, and is never anything but a delete.
Elsewhere: how an entry is made and read back (`keeping`), who holds them (`store`), who
carries them (`deltas`, `in_order`).
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, final

import msgspec

from kubeloop.meta import ObjectKey

__all__ = [
    "Delta",
    "DeltaType",
    "Entry",
    "OwnerRef",
    "added",
    "are_different_objects",
    "bookmark",
    "deleted",
    "missed_delete",
    "replaced",
    "replaced_all",
    "sync",
    "sync_all",
    "updated",
]


@final
class OwnerRef(msgspec.Struct, frozen=True, gc=False):
    """An owner of an object, as far as the machinery asks."""

    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool = False


@final
class Entry(msgspec.Struct, frozen=True, gc=False):
    """One object as a cache holds it: its projection, and the whole of it in `kept`.

    Made by `Keeper.take`; `Keeper.give` and `Keeper.raw` read `kept`. Nobody else does: it
    is bytes, compressed bytes or an object, as the keeper was told.
    Labels, owners and row are shared between entries that have equal ones.
    """

    key: ObjectKey
    version: str
    uid: str
    kept: Any
    label_map: Mapping[str, str]  # for matching; never handed out, `labels` is
    owners: tuple[OwnerRef, ...] = ()
    row: tuple[tuple[str, ...], ...] = ()  # index values by path, in the order of Keeper.paths
    generation: int = 0
    deletion: str = ""  # the deletion timestamp; empty while nobody has asked for deletion

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels, to read only."""
        return MappingProxyType(self.label_map)

    @property
    def controller(self) -> OwnerRef | None:
        """The owner that manages the object, where there is one."""
        return next((owner for owner in self.owners if owner.controller), None)


def are_different_objects(old: Entry | None, new: Entry | None) -> bool:
    """Whether two entries of one key are two objects: one was deleted, the other created since.

    An entry without a uid says nothing about identity, so nothing is concluded from it.
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
    REPLACED = "Replaced"  # a list had it; it may be new or not
    SYNC = "Sync"  # nothing happened: it is told again
    # Only in the in-order queue; they are about the whole collection, not about one key.
    REPLACED_ALL = "ReplacedAll"
    SYNC_ALL = "SyncAll"
    BOOKMARK = "Bookmark"


_NO_KEY = ObjectKey("", "")


@final
class Delta(msgspec.Struct, frozen=True, gc=False):
    """One thing that happened to one object, or to the whole collection.

    A `DELETED` with `last_state_known` false was not seen but concluded from a list: its
    entry is the last state that anybody saw, None where nobody did.

    `is_recreation` marks both halves of a re-creation that was concluded from a uid: a
    `DELETED` of the old object and, next for its key, a delta of the new one.
    """

    type: DeltaType
    key: ObjectKey = _NO_KEY
    entry: Entry | None = None
    last_state_known: bool = True
    entries: Sequence[Entry] = ()  # REPLACED_ALL: the whole collection, in the list's order
    version: str = ""  # REPLACED_ALL, BOOKMARK: the version that the collection is at
    is_recreation: bool = False


def added(entry: Entry) -> Delta:
    return Delta(DeltaType.ADDED, entry.key, entry)


def updated(entry: Entry) -> Delta:
    return Delta(DeltaType.UPDATED, entry.key, entry)


def replaced(entry: Entry) -> Delta:
    return Delta(DeltaType.REPLACED, entry.key, entry)


def sync(entry: Entry) -> Delta:
    return Delta(DeltaType.SYNC, entry.key, entry)


def deleted(entry: Entry) -> Delta:
    """The server said so, and `entry` is the final state it sent."""
    return Delta(DeltaType.DELETED, entry.key, entry)


def missed_delete(key: ObjectKey, last_seen: Entry | None, *, is_recreation: bool = False) -> Delta:
    """A delete that nobody saw: client-go's DeletedFinalStateUnknown."""
    return Delta(
        DeltaType.DELETED, key, last_seen, last_state_known=False, is_recreation=is_recreation
    )


def replaced_all(entries: Sequence[Entry], version: str) -> Delta:
    return Delta(DeltaType.REPLACED_ALL, entries=entries, version=version)


def sync_all() -> Delta:
    return Delta(DeltaType.SYNC_ALL)


def bookmark(version: str) -> Delta:
    return Delta(DeltaType.BOOKMARK, version=version)
