"""The garbage collector: what becomes of objects whose owners go.

Promises: an object goes when its last owner has gone, never while one is left; an owner
deleted in the foreground stays until the dependents that block it have gone; orphans lose
their references first.
Elsewhere: the finalizers that say how (`deletion`).
"""

from __future__ import annotations

from typing import Any, final

import msgspec

from ..registry import Registry, Served
from ..request.calls import Call
from ..request.options import DeleteOptions
from ..statuses import Refusal
from ..storage.store import Change, Entry, Object, Storage, Store
from ..verbs.deletion import FOREGROUND, ORPHAN, Deleter
from ..verbs.objects import is_finished

__all__ = ["GarbageCollector"]


class _Place(msgspec.Struct, frozen=True):
    storage: Storage
    key: str


@final
class GarbageCollector:
    """Follows owner references; `observe` notes, `work` acts."""

    def __init__(self, store: Store, registry: Registry, deleter: Deleter) -> None:
        self._store = store
        self._registry = registry
        self._deleter = deleter
        self._places: dict[str, _Place] = {}  # by uid, every object there is
        self._dependents: dict[str, set[_Place]] = {}  # by the uid of an owner
        self._queue: dict[_Place, None] = {}  # objects to look at, in order

    def load(self) -> None:
        """Learn what was stored before anybody listened."""
        for storage, collection in self._store.collections():
            for entry in collection.select(""):
                self._learn(_Place(storage, entry.key), None, entry)

    def observe(self, change: Change) -> None:
        """Note what a change means for owners and dependents."""
        self._learn(_Place(change.storage, change.key), change.old, change.new)

    @property
    def busy(self) -> bool:
        return bool(self._queue)

    def work(self) -> None:
        """Look at everything that was noted."""
        while self._queue:
            place = next(iter(self._queue))
            del self._queue[place]
            entry = self._store.get(place.storage, place.key)
            if entry is not None:
                self._look_at(place, entry)

    def _learn(self, place: _Place, old: Entry | None, new: Entry | None) -> None:
        before = _owners(old.obj) if old is not None else []
        after = _owners(new.obj) if new is not None else []
        if before is not after:
            for uid in {each.get("uid") for each in before}:
                self._dependents.get(str(uid), set()).discard(place)
            for uid in {each.get("uid") for each in after}:
                self._dependents.setdefault(str(uid), set()).add(place)
        if new is not None:
            self._places[new.uid] = place
            if after or _waits_for_dependents(new.obj):
                self._queue[place] = None
        elif old is not None:
            self._places.pop(old.uid, None)
            for dependent in self._dependents.pop(old.uid, ()):
                self._queue[dependent] = None
        if new is None:
            for reference in before:
                # An owner may have waited for this one to go.
                owner = self._places.get(str(reference.get("uid")))
                if owner is not None:
                    self._queue[owner] = None

    def _look_at(self, place: _Place, entry: Entry) -> None:
        if "deletionTimestamp" in entry.metadata:
            finalizers = entry.metadata.get("finalizers") or ()
            if ORPHAN in finalizers:
                self._orphan(place, entry)
            elif FOREGROUND in finalizers:
                self._delete_dependents(place, entry)
            return
        references = _owners(entry.obj)
        if references:
            self._check_owners(place, entry, references)

    # --- dependents

    def _check_owners(self, place: _Place, entry: Entry, references: list[Object]) -> None:
        alive, waiting, absent = [], [], []
        for reference in references:
            owner = self._owner(reference, entry.namespace)
            if owner is None:
                absent.append(reference)
            elif _is_foreground(owner.obj) and reference.get("blockOwnerDeletion"):
                waiting.append(reference)
            else:
                alive.append(reference)
        if alive:
            if absent or waiting:
                self._keep_owners(place, entry, alive)
        elif waiting:
            policy = "Foreground" if self._has_blocking(entry.uid) else "Background"
            self._delete(place, entry, policy)
        elif absent:
            self._delete(place, entry, _policy_of(entry.obj))

    def _owner(self, reference: Object, namespace: str) -> Entry | None:
        place = self._places.get(str(reference.get("uid")))
        if place is None:
            return None
        entry = self._store.get(place.storage, place.key)
        # An owner in another namespace is none.
        if entry is None or (entry.namespace and entry.namespace != namespace):
            return None
        same = entry.obj.get("kind") == reference.get("kind") and entry.name == reference.get(
            "name"
        )
        return entry if same else None

    def _keep_owners(self, place: _Place, entry: Entry, references: list[Object]) -> None:
        meta = {**entry.metadata, "ownerReferences": references}
        self._store.write(place.storage, {**entry.obj, "metadata": meta})

    def _delete(self, place: _Place, entry: Entry, policy: str) -> None:
        served = self._served(place.storage)
        if served is None:
            return
        call = Call(served, namespace=entry.namespace, name=entry.name)
        options = DeleteOptions(propagation=policy, uid=entry.uid)
        try:
            self._deleter.delete_nowait(call, options)
        except Refusal:
            return  # it is not what it was: the change that made it so was noted

    def _served(self, storage: Storage) -> Served | None:
        return self._registry.find_storage(*storage)

    # --- owners

    def _blocking(self, uid: str) -> list[_Place]:
        found = []
        for place in self._dependents.get(uid, ()):
            entry = self._store.get(place.storage, place.key)
            if entry is not None and any(
                each.get("uid") == uid and each.get("blockOwnerDeletion")
                for each in _owners(entry.obj)
            ):
                found.append(place)
        return found

    def _has_blocking(self, uid: str) -> bool:
        return bool(self._blocking(uid))

    def _delete_dependents(self, place: _Place, entry: Entry) -> None:
        blocking = self._blocking(entry.uid)
        for dependent in self._dependents.get(entry.uid, ()):
            found = self._store.get(dependent.storage, dependent.key)
            if found is not None and "deletionTimestamp" not in found.metadata:
                self._queue[dependent] = None
        if not blocking:
            self._drop_finalizer(place, entry, FOREGROUND)

    def _orphan(self, place: _Place, entry: Entry) -> None:
        for dependent in list(self._dependents.get(entry.uid, ())):
            found = self._store.get(dependent.storage, dependent.key)
            if found is not None:
                meta = dict(found.metadata)
                kept = [e for e in _owners(found.obj) if e.get("uid") != entry.uid]
                meta["ownerReferences"] = kept
                if not kept:
                    del meta["ownerReferences"]
                self._store.write(dependent.storage, {**found.obj, "metadata": meta})
        self._drop_finalizer(place, entry, ORPHAN)

    def _drop_finalizer(self, place: _Place, entry: Entry, finalizer: str) -> None:
        meta = dict(entry.metadata)
        kept = [each for each in meta.get("finalizers") or () if each != finalizer]
        meta["finalizers"] = kept
        if not kept:
            del meta["finalizers"]
        obj = {**entry.obj, "metadata": meta}
        if is_finished(obj):
            self._store.remove(place.storage, place.key)
        else:
            self._store.write(place.storage, obj)


def _owners(obj: Object) -> list[Object]:
    found: Any = obj["metadata"].get("ownerReferences")
    return found or _NONE


_NONE: list[Object] = []


def _is_foreground(obj: Object) -> bool:
    meta = obj["metadata"]
    return "deletionTimestamp" in meta and FOREGROUND in (meta.get("finalizers") or ())


def _waits_for_dependents(obj: Object) -> bool:
    meta = obj["metadata"]
    if "deletionTimestamp" not in meta:
        return False
    return bool({FOREGROUND, ORPHAN} & set(meta.get("finalizers") or ()))


def _policy_of(obj: Object) -> str:
    finalizers = obj["metadata"].get("finalizers") or ()
    if ORPHAN in finalizers:
        return "Orphan"
    return "Foreground" if FOREGROUND in finalizers else "Background"
