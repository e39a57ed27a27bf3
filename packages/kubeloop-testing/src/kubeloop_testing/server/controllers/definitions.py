"""The controller of CRDs: serves their kinds, sets their status, deletes their objects.

Guarantees: a CRD is served before the response to its create; a deleted CRD stays until all
its objects are removed, with respect to their finalizers.
See also: `schema.crds` (reading a CRD), `schema.crd_status` (its status), `registry` (the served
resources).
"""

from __future__ import annotations

from typing import final

from kubeloop.kit import Clock

from ..apply.tracking import Tracker
from ..registry import Registry
from ..request.calls import Call
from ..request.options import DeleteOptions
from ..schema.crd_status import end_deletion, mark_deleting, status_of
from ..schema.crd_validation import is_established, problems_of_crd
from ..schema.crds import CustomKind, default_crd
from ..storage.store import Change, Entry, Object, Storage, Store, timestamp
from ..verbs.deletion import CLEANUP, DEFINITIONS, Deleter
from ..watching import Hub

__all__ = ["DEFINITIONS", "DefinitionController"]

_MANAGER = "kube-apiserver"  # which runs these controllers, and so manages the status


@final
class DefinitionController:
    """Keeps the registry equal to the stored CRDs."""

    collections = frozenset({DEFINITIONS})
    observes_deletions = True  # of the last object of a CRD

    def __init__(
        self, store: Store, registry: Registry, deleter: Deleter, hub: Hub, *, clock: Clock
    ) -> None:
        self._store = store
        self._registry = registry
        self._deleter = deleter
        self._hub = hub
        self._clock = clock
        self._tracker = Tracker()
        self._queue: dict[str, None] = {}  # names of CRDs, in order
        self._specs: dict[Storage, Object] = {}  # what each served kind was made of

    def load(self) -> None:
        """Serve the CRDs of an earlier run."""
        for entry in self._store.collection(DEFINITIONS).select(""):
            # The file may be of a version of this server that accepted more.
            if problems_of_crd(default_crd(entry.obj)):
                continue
            self._serve(entry)
            kind = self._registry.custom(*_storage_of(entry))
            if kind is not None:
                self._store.collection((kind.group, kind.plural)).reread(kind.read)

    def observe(self, change: Change) -> bool:
        """Serve a changed CRD at once, and queue its status; returns whether work is queued.

        kube-apiserver is slower: there a client waits for the condition Established.
        """
        if change.storage == DEFINITIONS:
            self._queue[change.key] = None
            if change.new is None and change.old is not None:
                self._stop_serving(change.old)
                self._queue_group(change.old)  # its names are free now
            elif change.new is not None:
                self._serve(change.new)
        elif change.new is None and self._registry.custom(*change.storage) is not None:
            # It may have been the last object of a CRD that is being deleted.
            group, plural = change.storage
            self._queue[f"{plural}.{group}"] = None
        return bool(self._queue)

    @property
    def busy(self) -> bool:
        return bool(self._queue)

    def work(self) -> None:
        """Update the status of queued CRDs, and remove those that are deleted."""
        while self._queue:
            name = next(iter(self._queue))
            del self._queue[name]
            self._sync(name)

    def _sync(self, name: str) -> None:
        entry = self._store.get(DEFINITIONS, name)
        if entry is None:
            return
        if "deletionTimestamp" in entry.obj["metadata"]:
            self._clean_up(entry)
            return
        status = self._status_of(entry)
        before = (entry.obj.get("status") or {}).get("acceptedNames")
        self._write(entry, {**entry.obj, "status": status})
        if before != status["acceptedNames"]:
            self._queue_group(entry)  # others may have waited for its former names

    def _status_of(self, entry: Entry) -> Object:
        others = self._store.objects(*DEFINITIONS)
        return status_of(entry.obj, others, now=timestamp(self._clock.time()))

    def _queue_group(self, entry: Entry) -> None:
        group = entry.obj["spec"]["group"]
        for other in self._store.collection(DEFINITIONS).select(""):
            if other.key != entry.key and other.obj["spec"]["group"] == group:
                self._queue[other.key] = None

    def _write(self, entry: Entry, obj: Object) -> None:
        """Write a status that has changed, as its manager."""
        if obj == entry.obj:
            return
        served = self._registry.find_storage(*DEFINITIONS)
        assert served is not None  # it is built in
        now = timestamp(self._clock.time())
        # To Go null is an empty list, which the manager does not own by adding to it.
        before = entry.obj.get("status") or {}
        before = {**before, "conditions": before.get("conditions") or []}
        old = {**entry.obj, "status": before}
        obj = self._tracker.track(served, old, obj, manager=_MANAGER, subresource="status", now=now)
        self._store.write(DEFINITIONS, obj)

    def _serve(self, entry: Entry) -> None:
        status = self._status_of(entry)
        if not is_established({"status": status}):
            return  # another CRD has its names
        storage = _storage_of(entry)
        spec = {**entry.obj["spec"], "names": status["acceptedNames"]}
        before = self._registry.custom(*storage)
        if before is not None and spec == self._specs.get(storage):
            return
        self._specs[storage] = spec
        kind = CustomKind.from_valid(spec, spec["names"])
        self._registry.add_custom(kind)
        if before is not None:
            # Objects are read by the new schema from now on. Watches would continue with the old
            # one: apiextensions-apiserver ends them, too.
            if before.versions != kind.versions:
                self._store.collection(storage).reread(kind.read)
            self._hub.end_all(storage)

    def _stop_serving(self, entry: Entry) -> None:
        storage = _storage_of(entry)
        if self._specs.pop(storage, None) is not None:
            self._registry.remove_custom(*storage)
            self._hub.end_all(storage)

    def _clean_up(self, entry: Entry) -> None:
        """Delete the objects of a deleted CRD; when none is left, remove its finalizer."""
        if CLEANUP not in (entry.metadata.get("finalizers") or ()):
            return
        storage, now = _storage_of(entry), timestamp(self._clock.time())
        served = self._registry.find_storage(*storage)
        if served is not None:
            for found in self._store.collection(storage).select(""):
                if "deletionTimestamp" not in found.metadata:
                    call = Call(served, namespace=found.namespace, name=found.name)
                    self._deleter.delete_nowait(call, DeleteOptions(propagation="Background"))
        if served is not None and self._store.collection(storage).entries:
            self._write(entry, mark_deleting(entry.obj, now=now))
            return
        # The finalizer controller of apiextensions-apiserver: the CRD goes last.
        ended = end_deletion(entry.obj, now=now)
        kept = [each for each in entry.metadata.get("finalizers") or () if each != CLEANUP]
        meta = {**entry.metadata, "finalizers": kept}
        if kept:
            self._write(entry, {**ended, "metadata": meta})
            return
        del meta["finalizers"]
        self._store.remove(DEFINITIONS, entry.key, last={**ended, "metadata": meta})


def _storage_of(entry: Entry) -> Storage:
    spec = entry.obj["spec"]
    return spec["group"], spec["names"]["plural"]
