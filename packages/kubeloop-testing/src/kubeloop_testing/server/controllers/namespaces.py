"""The namespace controller: deletes the content of a namespace that is being deleted.

Guarantees: a terminating namespace is removed after the last object in it, with respect to
finalizers.
See also: `admission.plugins.namespace_lifecycle` (rejects creates in such a namespace),
`verbs.deletion`, `gc` (dependents).
"""

from __future__ import annotations

from collections import Counter
from typing import Final, final

from ..registry import Registry, ServedResource
from ..request.calls import Call
from ..request.options import DeleteOptions
from ..storage.store import Change, Entry, Object, Store
from ..values.zero_values import complete
from ..verbs.deletion import Deleter

__all__ = ["NAMESPACES", "SYSTEM_NAMESPACES", "NamespaceController"]

NAMESPACES = ("", "namespaces")
SYSTEM_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")


@final
class NamespaceController:
    """Deletes the content of terminating namespaces, then the namespaces."""

    collections = frozenset({NAMESPACES})
    observes_deletions = True  # of the last object of a namespace

    def __init__(self, store: Store, registry: Registry, deleter: Deleter) -> None:
        self._store = store
        self._registry = registry
        self._deleter = deleter
        self._queue: dict[str, None] = {}  # names of terminating namespaces, in order

    def observe(self, change: Change) -> bool:
        """Queue a namespace that may be empty now; returns whether any is queued."""
        if change.storage == NAMESPACES:
            if change.new is not None and "deletionTimestamp" in change.new.obj["metadata"]:
                self._queue[change.new.name] = None
        elif change.new is None and "/" in change.key:
            namespace = change.key.split("/", 1)[0]
            found = self._store.get(NAMESPACES, namespace)
            if found is not None and "deletionTimestamp" in found.obj["metadata"]:
                self._queue[namespace] = None
        return bool(self._queue)

    @property
    def busy(self) -> bool:
        return bool(self._queue)

    def work(self) -> None:
        """Delete the content of all queued namespaces."""
        while self._queue:
            name = next(iter(self._queue))
            del self._queue[name]
            self._sync(name)

    def _sync(self, namespace: str) -> None:
        found = self._store.get(NAMESPACES, namespace)
        if found is None or "deletionTimestamp" not in found.obj["metadata"]:
            return
        # namespacedResourcesDeleter: all resources at once, then finalizers decide.
        for served in self._namespaced():
            self._delete_in(served, namespace)
        remaining = self._remaining(namespace)
        if remaining:
            self._set_conditions(namespace, remaining)
        else:
            self._finalize(namespace)

    def _namespaced(self) -> list[ServedResource]:
        return [each for each in self._registry.storage_resources() if each.namespaced]

    def _delete_in(self, served: ServedResource, namespace: str) -> None:
        for entry in self._store.collection(served.storage).select(namespace):
            if "deletionTimestamp" not in entry.obj["metadata"]:
                call = Call(served, namespace=namespace, name=entry.name)
                self._deleter.delete_nowait(call, DeleteOptions(propagation="Background"))

    def _remaining(self, namespace: str) -> list[tuple[ServedResource, list[Entry]]]:
        """The remaining objects, by resource."""
        found = (
            (each, self._store.collection(each.storage).select(namespace))
            for each in self._namespaced()
        )
        return [(served, entries) for served, entries in found if entries]

    def _set_conditions(
        self, namespace: str, remaining: list[tuple[ServedResource, list[Entry]]]
    ) -> None:
        found = self._store.get(NAMESPACES, namespace)
        assert found is not None  # no other task runs in between
        since = found.obj["metadata"]["deletionTimestamp"]
        conditions = [{**each, "lastTransitionTime": since} for each in _conditions(remaining)]
        status = {**(found.obj.get("status") or {}), "conditions": conditions}
        if status != found.obj.get("status"):
            self._store.write(NAMESPACES, {**found.obj, "status": status})

    def _finalize(self, namespace: str) -> None:
        """Remove the finalizer `kubernetes`, and the namespace if that was the last one."""
        found = self._store.get(NAMESPACES, namespace)
        assert found is not None  # no other task runs in between
        spec = found.obj.get("spec") or {}
        kept = [each for each in spec.get("finalizers") or () if each != "kubernetes"]
        obj = complete({**found.obj, "spec": {**spec, "finalizers": kept}})
        if kept or found.obj["metadata"].get("finalizers"):
            if kept != (spec.get("finalizers") or []):
                self._store.write(NAMESPACES, obj)
            return
        self._store.remove(NAMESPACES, namespace, last=obj)


def _conditions(remaining: list[tuple[ServedResource, list[Entry]]]) -> list[Object]:
    """The conditions of a terminating namespace, as its controller in Kubernetes sets them."""
    counts = [(f"{served.plural}.{served.group}", len(entries)) for served, entries in remaining]
    finalizers = Counter(
        finalizer
        for _, entries in remaining
        for entry in entries
        for finalizer in entry.metadata.get("finalizers") or ()
    )
    listed = ", ".join(f"{name} has {count} resource instances" for name, count in sorted(counts))
    holding = ", ".join(
        f"{name} in {count} resource instances" for name, count in sorted(finalizers.items())
    )
    return [
        *_NO_FAILURES,
        {
            "type": "NamespaceContentRemaining",
            "status": "True",
            "reason": "SomeResourcesRemain",
            "message": f"Some resources are remaining: {listed}",
        },
        {
            "type": "NamespaceFinalizersRemaining",
            "status": "True",
            "reason": "SomeFinalizersRemain",
            "message": f"Some content in the namespace has finalizers remaining: {holding}",
        }
        if finalizers
        else {
            "type": "NamespaceFinalizersRemaining",
            "status": "False",
            "reason": "ContentHasNoFinalizers",
            "message": "All content-preserving finalizers finished",
        },
    ]


# Conditions about failures of discovery and deletion, which cannot happen here.
_NO_FAILURES: Final[tuple[Object, ...]] = tuple(
    {"type": f"NamespaceDeletion{kind}", "status": "False", "reason": reason, "message": message}
    for kind, reason, message in (
        ("DiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered"),
        (
            "GroupVersionParsingFailure",
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed",
        ),
        (
            "ContentFailure",
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization",
        ),
    )
)
