"""Custom kinds come and go with their definitions, live.

Promises: a definition that is stored is served before its creation is answered; one that
is deleted takes its objects with it, finalizers respected, and only then goes.
Elsewhere: what a definition says (`crds`), what is served (`registry`).
"""

from __future__ import annotations

from typing import final

from kubeloop.kit import Clock

from ..registry import Registry
from ..request.calls import Call
from ..request.options import DeleteOptions
from ..schema.crds import CustomKind, status_of
from ..statuses import Refusal
from ..storage.store import Change, Entry, Object, Store, timestamp
from ..verbs.deletion import CLEANUP, DEFINITIONS, Deleter
from ..watching import Hub

__all__ = ["DEFINITIONS", "Definitions"]


@final
class Definitions:
    """Follows the stored definitions and keeps the registry as they say."""

    def __init__(
        self, store: Store, registry: Registry, deleter: Deleter, hub: Hub, *, clock: Clock
    ) -> None:
        self._store = store
        self._registry = registry
        self._deleter = deleter
        self._hub = hub
        self._clock = clock
        self._changed: set[str] = set()  # names of definitions to look at

    def load(self) -> None:
        """Serve what was stored in an earlier life."""
        for entry in self._store.collection(DEFINITIONS).select(""):
            self._serve(entry)

    def observe(self, change: Change) -> None:
        """Note what a change means for the definitions."""
        if change.storage == DEFINITIONS:
            self._changed.add(change.key)
            if change.new is None and change.old is not None:
                self._withdraw(change.old)
            elif change.new is not None:
                self._serve(change.new)
        elif change.new is None and self._registry.custom(*change.storage) is not None:
            # The last object of a kind that is going away may be gone.
            group, plural = change.storage
            self._changed.add(f"{plural}.{group}")

    @property
    def busy(self) -> bool:
        return bool(self._changed)

    def work(self) -> None:
        """Bring the status of noted definitions up to date, and let go of those at their end."""
        while self._changed:
            self._look_at(self._changed.pop())

    def _look_at(self, name: str) -> None:
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
        if _is_refused(entry.obj):
            return
        try:
            kind = CustomKind.from_crd(entry.obj)
        except Refusal:
            return  # the write itself was refused with the reason
        before = self._registry.custom(kind.group, kind.plural)
        self._registry.add_custom(kind)
        if before is not None and before.versions != kind.versions:
            self._hub.end_all((kind.group, kind.plural))

    def _withdraw(self, entry: Entry) -> None:
        spec = entry.obj["spec"]
        group, plural = spec["group"], spec["names"]["plural"]
        self._registry.remove_custom(group, plural)
        self._hub.end_all((group, plural))

    def _clean_up(self, entry: Entry) -> None:
        """Delete the objects of a definition that is going away; at the end, let it go."""
        spec = entry.obj["spec"]
        storage = (spec["group"], spec["names"]["plural"])
        served = self._registry.find_storage(*storage)
        if served is not None:
            for found in self._store.collection(storage).select(""):
                if "deletionTimestamp" not in found.metadata:
                    call = Call(served, namespace=found.namespace, name=found.name)
                    self._deleter.delete_nowait(call, DeleteOptions(propagation="Background"))
        if self._store.collection(storage).entries:
            self._tell_terminating(entry)
            return
        kept = [each for each in entry.metadata.get("finalizers") or () if each != CLEANUP]
        meta = {**entry.metadata, "finalizers": kept}
        if kept:
            if kept != entry.metadata.get("finalizers"):
                self._store.write(DEFINITIONS, {**entry.obj, "metadata": meta})
            return
        del meta["finalizers"]
        self._store.remove(DEFINITIONS, entry.key, last={**entry.obj, "metadata": meta})

    def _tell_terminating(self, entry: Entry) -> None:
        status = entry.obj.get("status") or {}
        known = status.get("conditions") or []
        if any(each.get("type") == "Terminating" for each in known):
            return
        condition = {
            "type": "Terminating",
            "status": "True",
            "lastTransitionTime": self._now(),
            "reason": "InstanceDeletionInProgress",
            "message": "CustomResource deletion is in progress",
        }
        status = {**status, "conditions": [*known, condition]}
        self._store.write(DEFINITIONS, {**entry.obj, "status": status})


def _is_refused(obj: Object) -> bool:
    """Whether the names of a definition were taken by another before."""
    conditions = (obj.get("status") or {}).get("conditions") or ()
    states = {each.get("type"): each.get("status") for each in conditions}
    return states.get("NamesAccepted") == "False" and states.get("Established") != "True"
