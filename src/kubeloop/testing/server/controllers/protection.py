"""Removes the finalizers that protect volumes and claims from deletion while they are in use.

kube-controller-manager does this for clusters (pvc-protection and pv-protection); without it a
deleted claim would stay forever.
Guarantees: a claim is removed when no pod uses it any more, a volume when it is not bound.
See also: the finalizers are set at creation (`builtin.preparation`).
"""

from __future__ import annotations

from typing import Final, final

from ..storage.store import Change, Entry, Object, Store

__all__ = ["ProtectionController"]

_CLAIMS: Final = ("", "persistentvolumeclaims")
_VOLUMES: Final = ("", "persistentvolumes")
_PODS: Final = ("", "pods")
_FINALIZERS: Final = {
    _CLAIMS: "kubernetes.io/pvc-protection",
    _VOLUMES: "kubernetes.io/pv-protection",
}


@final
class ProtectionController:
    """Ends the protection of deleted volumes and claims."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._queue: set[tuple[tuple[str, str], str]] = set()  # storage and key

    def observe(self, change: Change) -> bool:
        """Queue a deleted volume or claim; returns whether any is queued."""
        if change.storage in _FINALIZERS:
            if change.new is not None and _is_protected(change.storage, change.new):
                self._queue.add((change.storage, change.key))
        elif change.storage == _PODS and change.new is None and change.old is not None:
            namespace = change.key.split("/", 1)[0]
            for name in _claims_of(change.old.obj):
                self._queue.add((_CLAIMS, f"{namespace}/{name}"))
        return bool(self._queue)

    @property
    def busy(self) -> bool:
        return bool(self._queue)

    def work(self) -> None:
        """Remove the finalizers of all queued objects that are not in use."""
        while self._queue:
            storage, key = self._queue.pop()
            entry = self._store.get(storage, key)
            if entry is not None and _is_protected(storage, entry) and not self._in_use(entry):
                self._release(storage, entry)

    def _in_use(self, entry: Entry) -> bool:
        if entry.obj["kind"] == "PersistentVolume":
            return (entry.obj.get("status") or {}).get("phase") == "Bound"
        meta = entry.obj["metadata"]
        return any(
            pod["metadata"].get("namespace") == meta.get("namespace")
            and meta["name"] in _claims_of(pod)
            for pod in self._store.objects(*_PODS)
        )

    def _release(self, storage: tuple[str, str], entry: Entry) -> None:
        meta = dict(entry.obj["metadata"])
        others = [each for each in meta["finalizers"] if each != _FINALIZERS[storage]]
        if others:
            self._store.write(storage, {**entry.obj, "metadata": {**meta, "finalizers": others}})
        else:
            self._store.remove(storage, entry.key)


def _is_protected(storage: tuple[str, str], entry: Entry) -> bool:
    meta = entry.obj["metadata"]
    return "deletionTimestamp" in meta and _FINALIZERS[storage] in (meta.get("finalizers") or ())


def _claims_of(pod: Object) -> set[str]:
    """The names of the claims that a pod uses, those of its ephemeral volumes included."""
    found: set[str] = set()
    for volume in (pod.get("spec") or {}).get("volumes") or ():
        if volume.get("persistentVolumeClaim"):
            found.add(volume["persistentVolumeClaim"].get("claimName") or "")
        elif volume.get("ephemeral"):
            found.add(f"{pod['metadata']['name']}-{volume.get('name')}")
    return found
