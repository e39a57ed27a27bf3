"""The garbage collector: deletes objects whose owners are gone.

The decisions are those of `attemptToDeleteItem` and `attemptToOrphanWorker` in
kube-controller-manager's garbage collector.

Guarantees: an object is deleted when its last owner is gone, never before; an owner that is
deleted in the foreground stays until all dependents that block it are gone; orphans lose
their owner references before the owner is removed.
See also: `verbs.deletion` (the finalizers that request each policy).
"""

from __future__ import annotations

from typing import final

import msgspec

from kubeloop.wire import Json

from ..registry import Registry, ServedResource
from ..request.calls import Call
from ..request.options import DeleteOptions
from ..statuses import StatusError
from ..storage.store import Change, Entry, Object, Storage, Store
from ..verbs.deletion import FOREGROUND, ORPHAN, Deleter
from ..verbs.objects import is_removable

__all__ = ["GarbageCollector"]

_REMEMBERED = 500  # the size of absentOwnerCache in kube-controller-manager


class _Node(msgspec.Struct, frozen=True):
    """One object in the graph of owners."""

    storage: Storage
    key: str


@final
class GarbageCollector:
    """Keeps the graph of owners and dependents, and deletes by it."""

    collections = None  # all
    observes_deletions = True

    def __init__(self, store: Store, registry: Registry, deleter: Deleter) -> None:
        self._store = store
        self._registry = registry
        self._deleter = deleter
        self._nodes: dict[str, _Node] = {}  # every stored object, by uid
        self._dependents: dict[str, dict[_Node, None]] = {}  # by the uid of an owner
        self._queue: dict[_Node, None] = {}  # objects to check, in order
        self._gone: dict[str, None] = {}  # the last owners that were removed, by uid

    def load(self) -> None:
        """Add the objects that were stored before the first `observe`."""
        for storage, collection in self._store.collections():
            for entry in collection.select(""):
                self.observe(Change(storage, entry.key, entry.version, None, entry))

    def observe(self, change: Change) -> bool:
        """Update the graph; returns whether any object is queued."""
        node, old, new = _Node(change.storage, change.key), change.old, change.new
        before = _owners(old.obj) if old is not None else _NONE
        after: list[Object] = _NONE
        if new is not None:
            after = new.obj["metadata"].get("ownerReferences") or _NONE
        if before is not after:
            for uid in {each.get("uid") for each in before}:
                self._dependents.get(str(uid), {}).pop(node, None)
            for uid in {each.get("uid") for each in after}:
                self._dependents.setdefault(str(uid), {})[node] = None
        if new is not None:
            meta = new.obj["metadata"]
            self._nodes[str(meta.get("uid", ""))] = node
            if after or ("deletionTimestamp" in meta and _waits_for_dependents(meta)):
                self._queue[node] = None
        elif old is not None:
            self._nodes.pop(old.uid, None)
            self._remember(old.uid)
            for dependent in self._dependents.pop(old.uid, ()):
                self._queue[dependent] = None
            for reference in before:
                # Its owner may wait for the last dependent (foreground deletion).
                owner = self._nodes.get(str(reference.get("uid")))
                if owner is not None:
                    self._queue[owner] = None
        return bool(self._queue)

    @property
    def busy(self) -> bool:
        return bool(self._queue)

    def work(self) -> None:
        """Check all queued objects."""
        while self._queue:
            node = next(iter(self._queue))
            del self._queue[node]
            entry = self._store.get(node.storage, node.key)
            if entry is not None:
                self._check(node, entry)

    def _check(self, node: _Node, entry: Entry) -> None:
        if "deletionTimestamp" in entry.metadata:
            finalizers = entry.metadata.get("finalizers") or ()
            if ORPHAN in finalizers:
                self._orphan(node, entry)
            elif FOREGROUND in finalizers:
                self._delete_dependents(node, entry)
            return
        references = _owners(entry.obj)
        if references:
            self._check_owners(node, entry, references)

    # --- dependents

    def _check_owners(self, node: _Node, entry: Entry, references: list[Object]) -> None:
        # classifyReferences: solid, waiting for dependents deletion, dangling.
        alive, waiting, absent = [], [], []
        for reference in references:
            owner = self._owner(reference, entry.namespace)
            if owner is None and not self._is_absent(reference, entry.namespace):
                return
            if owner is None:
                absent.append(reference)
            elif _is_foreground(owner.obj) and reference.get("blockOwnerDeletion"):
                waiting.append(reference)
            else:
                alive.append(reference)
        if alive:
            if absent or waiting:
                self._keep_owners(node, entry, alive)
        elif waiting:
            # Foreground deletion goes down the tree only along dependents that block.
            policy = "Foreground" if self._has_blocking(entry.uid) else "Background"
            self._delete(node, entry, policy)
        elif absent:
            self._delete(node, entry, _policy_of(entry.obj))

    def _owner(self, reference: Object, namespace: str) -> Entry | None:
        node = self._nodes.get(str(reference.get("uid")))
        if node is None:
            return None
        entry = self._store.get(node.storage, node.key)
        # An owner must be in the same namespace or cluster-scoped; any other counts as absent.
        if entry is None or (entry.namespace and entry.namespace != namespace):
            return None
        same = entry.obj.get("kind") == reference.get("kind") and entry.name == reference.get(
            "name"
        )
        return entry if same else None

    def _is_absent(self, reference: Object, namespace: str) -> bool:
        # isDangling: an owner that cannot be looked up is not known to be absent, and the
        # object stays: its kind is not served, or it would be in a namespace that the object
        # does not have.
        if str(reference.get("uid")) in self._gone:
            return True
        kind = (reference.get("kind"), reference.get("apiVersion"))
        served = (each for each in self._registry.all() if (each.kind, each.api_version) == kind)
        return any(bool(namespace) or not each.namespaced for each in served)

    def _remember(self, uid: str) -> None:
        self._gone[uid] = None
        if len(self._gone) > _REMEMBERED:
            del self._gone[next(iter(self._gone))]

    def _keep_owners(self, node: _Node, entry: Entry, references: list[Object]) -> None:
        meta = {**entry.metadata, "ownerReferences": references}
        self._store.write(node.storage, {**entry.obj, "metadata": meta})

    def _delete(self, node: _Node, entry: Entry, policy: str) -> None:
        served = self._served(node.storage)
        if served is None:
            return
        call = Call(served, namespace=entry.namespace, name=entry.name)
        options = DeleteOptions(propagation=policy, uid=entry.uid)
        try:
            self._deleter.delete_nowait(call, options)
        except StatusError:
            return  # it was replaced meanwhile, and that change queued it again

    def _served(self, storage: Storage) -> ServedResource | None:
        return self._registry.find_storage(*storage)

    # --- owners

    def _blocking(self, uid: str) -> list[_Node]:
        found = []
        for node in self._dependents.get(uid, ()):
            entry = self._store.get(node.storage, node.key)
            if entry is not None and any(
                each.get("uid") == uid and each.get("blockOwnerDeletion")
                for each in _owners(entry.obj)
            ):
                found.append(node)
        return found

    def _has_blocking(self, uid: str) -> bool:
        return bool(self._blocking(uid))

    def _delete_dependents(self, node: _Node, entry: Entry) -> None:
        # processDeletingDependentsItem.
        blocking = self._blocking(entry.uid)
        for dependent in self._dependents.get(entry.uid, ()):
            found = self._store.get(dependent.storage, dependent.key)
            if found is not None and "deletionTimestamp" not in found.metadata:
                self._queue[dependent] = None
        if not blocking:
            self._drop_finalizer(node, entry, FOREGROUND)

    def _orphan(self, node: _Node, entry: Entry) -> None:
        for dependent in list(self._dependents.get(entry.uid, ())):
            found = self._store.get(dependent.storage, dependent.key)
            if found is not None:
                meta = dict(found.metadata)
                kept = [e for e in _owners(found.obj) if e.get("uid") != entry.uid]
                meta["ownerReferences"] = kept
                if not kept:
                    del meta["ownerReferences"]
                self._store.write(dependent.storage, {**found.obj, "metadata": meta})
        self._drop_finalizer(node, entry, ORPHAN)

    def _drop_finalizer(self, node: _Node, entry: Entry, finalizer: str) -> None:
        meta = dict(entry.metadata)
        kept = [each for each in meta.get("finalizers") or () if each != finalizer]
        meta["finalizers"] = kept
        if not kept:
            del meta["finalizers"]
        obj = {**entry.obj, "metadata": meta}
        if is_removable(obj):
            self._store.remove(node.storage, node.key)
        else:
            self._store.write(node.storage, obj)


def _owners(obj: Object) -> list[Object]:
    found: Json = obj["metadata"].get("ownerReferences")
    return found or _NONE


_NONE: list[Object] = []


def _is_foreground(obj: Object) -> bool:
    meta = obj["metadata"]
    return "deletionTimestamp" in meta and FOREGROUND in (meta.get("finalizers") or ())


def _waits_for_dependents(meta: Object) -> bool:
    return bool({FOREGROUND, ORPHAN} & set(meta.get("finalizers") or ()))


def _policy_of(obj: Object) -> str:
    finalizers = obj["metadata"].get("finalizers") or ()
    if ORPHAN in finalizers:
        return "Orphan"
    return "Foreground" if FOREGROUND in finalizers else "Background"
