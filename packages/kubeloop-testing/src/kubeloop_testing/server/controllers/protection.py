"""The protection controllers: remove the finalizers that protect storage objects in use.

Guarantees: a claim that is being deleted goes when no pod uses it any more, a volume when it is
no longer bound, a class of volume attributes when no claim and no volume refers to it; as the
controllers of kube-controller-manager do it. Without them no namespace with a claim would end.
See also: who adds the finalizers (`admission.plugins.storage_object_in_use_protection`).
"""

from __future__ import annotations

from typing import Final, final

from ..storage.store import Change, Entry, Object, Store
from ..values.json_values import value_at

__all__ = ["PROTECTION", "ProtectionController"]

_PODS: Final = ("", "pods")
_CLAIMS: Final = ("", "persistentvolumeclaims")
_VOLUMES: Final = ("", "persistentvolumes")
_CLASSES: Final = ("storage.k8s.io", "volumeattributesclasses")
PROTECTION: Final = {
    _CLAIMS: "kubernetes.io/pvc-protection",
    _VOLUMES: "kubernetes.io/pv-protection",
    _CLASSES: "kubernetes.io/vac-protection",
}
_USERS: Final = frozenset({_PODS, _CLAIMS, _VOLUMES})


@final
class ProtectionController:
    """Removes finalizers of deleted storage objects that are not in use."""

    collections = _USERS | PROTECTION.keys()
    observes_deletions = False

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: dict[tuple[tuple[str, str], str], None] = {}  # deleted and still protected
        self._is_due = False

    def observe(self, change: Change) -> bool:
        """Queue a deleted object, or all that wait when one of their users changed."""
        finalizer = PROTECTION.get(change.storage)
        if finalizer is not None and _is_held(change.new, finalizer):
            self._waiting[change.storage, change.key] = None
            self._is_due = True
        elif self._waiting and change.storage in _USERS:
            self._is_due = True
        return self._is_due

    @property
    def busy(self) -> bool:
        return self._is_due

    def work(self) -> None:
        """Release everything that is no longer in use."""
        self._is_due = False
        for storage, key in list(self._waiting):
            entry = self._store.get(storage, key)
            if entry is None or not _is_held(entry, PROTECTION[storage]):
                del self._waiting[storage, key]
            elif not self._is_used(storage, entry):
                del self._waiting[storage, key]
                self._release(storage, entry)

    def _is_used(self, storage: tuple[str, str], entry: Entry) -> bool:
        if storage == _CLAIMS:
            pods = self._store.collection(_PODS).select(entry.namespace)
            return any(_uses_claim(pod.obj, entry.name) for pod in pods)
        if storage == _VOLUMES:
            return bool(value_at(entry.obj, "status", "phase") == "Bound")
        holders = (*self._store.objects(*_CLAIMS), *self._store.objects(*_VOLUMES))
        name = entry.name
        return any(value_at(e, "spec", "volumeAttributesClassName") == name for e in holders)

    def _release(self, storage: tuple[str, str], entry: Entry) -> None:
        meta = dict(entry.obj["metadata"])
        kept = [each for each in meta["finalizers"] if each != PROTECTION[storage]]
        if kept:
            obj = {**entry.obj, "metadata": {**meta, "finalizers": kept}}
            self._store.write(storage, obj)
        else:
            del meta["finalizers"]
            self._store.remove(storage, entry.key, last={**entry.obj, "metadata": meta})


def _is_held(entry: Entry | None, finalizer: str) -> bool:
    """Whether an object is being deleted and has the finalizer."""
    if entry is None or "deletionTimestamp" not in entry.metadata:
        return False
    return finalizer in (entry.metadata.get("finalizers") or ())


def _uses_claim(pod: Object, name: str) -> bool:
    # A pod that has ended on its node, or was never scheduled, still counts until it is removed.
    if value_at(pod, "status", "phase") in ("Succeeded", "Failed"):
        return False
    return any(
        value_at(volume, "persistentVolumeClaim", "claimName") == name
        for volume in value_at(pod, "spec", "volumes") or ()
    )
