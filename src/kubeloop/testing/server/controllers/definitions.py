"""The controller of CRDs: serves their kinds, sets their status, deletes their objects.

Guarantees: a CRD is served before the response to its create; a deleted CRD stays until all
its objects are removed, with respect to their finalizers.
See also: `schema.crds` (reading a CRD), `registry` (the served resources).
"""

from __future__ import annotations

from typing import final

from kubeloop.kit import Clock

from ..registry import Registry
from ..request.calls import Call
from ..request.options import DeleteOptions
from ..schema.crds import CustomKind, status_of
from ..statuses import StatusError
from ..storage.store import Change, Entry, Object, Storage, Store, timestamp
from ..verbs.deletion import CLEANUP, DEFINITIONS, Deleter
from ..watching import Hub

__all__ = ["DEFINITIONS", "DefinitionController"]


@final
class DefinitionController:
    """Keeps the registry equal to the stored CRDs."""

    def __init__(
        self, store: Store, registry: Registry, deleter: Deleter, hub: Hub, *, clock: Clock
    ) -> None:
        self._store = store
        self._registry = registry
        self._deleter = deleter
        self._hub = hub
        self._clock = clock
        self._queue: set[str] = set()  # names of CRDs

    def load(self) -> None:
        """Serve the CRDs of an earlier run."""
        for entry in self._store.collection(DEFINITIONS).select(""):
            self._serve(entry)
            kind = self._registry.custom(*_storage_of(entry))
            if kind is not None:
                self._store.collection((kind.group, kind.plural)).reread(kind.read)

    def observe(self, change: Change) -> bool:
        """Serve a changed CRD at once, and queue its status; returns whether work is queued.

        kube-apiserver is slower: there a client waits for the condition Established.
        """
        if change.storage == DEFINITIONS:
            self._queue.add(change.key)
            if change.new is None and change.old is not None:
                self._stop_serving(change.old)
            elif change.new is not None:
                self._serve(change.new)
        elif change.new is None and self._registry.custom(*change.storage) is not None:
            # It may have been the last object of a CRD that is being deleted.
            group, plural = change.storage
            self._queue.add(f"{plural}.{group}")
        return bool(self._queue)

    @property
    def busy(self) -> bool:
        return bool(self._queue)

    def work(self) -> None:
        """Update the status of queued CRDs, and remove those that are deleted."""
        while self._queue:
            self._sync(self._queue.pop())

    def _sync(self, name: str) -> None:
        entry = self._store.get(DEFINITIONS, name)
        if entry is None:
            return
        if "deletionTimestamp" in entry.obj["metadata"]:
            self._clean_up(entry)
            return
        others = self._store.objects(*DEFINITIONS)
        obj = {**entry.obj, "status": status_of(entry.obj, others, now=self._now())}
        if obj != entry.obj:
            self._store.write(DEFINITIONS, obj)

    def _now(self) -> str:
        return timestamp(self._clock.time())

    def _serve(self, entry: Entry) -> None:
        if _has_name_conflict(entry.obj):
            return
        try:
            kind = CustomKind.from_crd(entry.obj)
        except StatusError:
            return  # an invalid CRD was rejected when it was written
        before = self._registry.custom(kind.group, kind.plural)
        self._registry.add_custom(kind)
        if before is not None and before != kind:
            # Objects are read by the new schema from now on. Watches would continue with the old
            # one: apiextensions-apiserver ends them, too.
            storage = (kind.group, kind.plural)
            if before.versions != kind.versions:
                self._store.collection(storage).reread(kind.read)
            self._hub.end_all(storage)

    def _stop_serving(self, entry: Entry) -> None:
        storage = _storage_of(entry)
        self._registry.remove_custom(*storage)
        self._hub.end_all(storage)

    def _clean_up(self, entry: Entry) -> None:
        """Delete the objects of a deleted CRD; when none is left, remove its finalizer."""
        storage = _storage_of(entry)
        served = self._registry.find_storage(*storage)
        if served is not None:
            for found in self._store.collection(storage).select(""):
                if "deletionTimestamp" not in found.metadata:
                    call = Call(served, namespace=found.namespace, name=found.name)
                    self._deleter.delete_nowait(call, DeleteOptions(propagation="Background"))
        if self._store.collection(storage).entries:
            self._set_terminating(entry)
            return
        # The finalizer controller of apiextensions-apiserver: the CRD goes last.
        kept = [each for each in entry.metadata.get("finalizers") or () if each != CLEANUP]
        meta = {**entry.metadata, "finalizers": kept}
        if kept:
            if kept != entry.metadata.get("finalizers"):
                self._store.write(DEFINITIONS, {**entry.obj, "metadata": meta})
            return
        del meta["finalizers"]
        self._store.remove(DEFINITIONS, entry.key, last={**entry.obj, "metadata": meta})

    def _set_terminating(self, entry: Entry) -> None:
        status = entry.obj.get("status") or {}
        conditions = status.get("conditions") or []
        if any(each.get("type") == "Terminating" for each in conditions):
            return
        condition = {
            "type": "Terminating",
            "status": "True",
            "lastTransitionTime": self._now(),
            "reason": "InstanceDeletionInProgress",
            "message": "CustomResource deletion is in progress",
        }
        status = {**status, "conditions": [*conditions, condition]}
        self._store.write(DEFINITIONS, {**entry.obj, "status": status})


def _storage_of(entry: Entry) -> Storage:
    spec = entry.obj["spec"]
    return spec["group"], spec["names"]["plural"]


def _has_name_conflict(obj: Object) -> bool:
    """Whether another CRD has the names of this one, so that it is not served."""
    conditions = (obj.get("status") or {}).get("conditions") or ()
    states = {each.get("type"): each.get("status") for each in conditions}
    return states.get("NamesAccepted") == "False" and states.get("Established") != "True"
