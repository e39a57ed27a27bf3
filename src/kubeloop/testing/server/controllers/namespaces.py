"""Namespaces: nothing is created where there is none, and one that ends takes all with it.

Promises: objects are only created in namespaces that exist and are not ending; an ending
namespace goes when the last object in it has gone, finalizers respected.
Elsewhere: deleting objects (`deletion`), dependents of objects (`gc`).
"""

from __future__ import annotations

from collections import Counter
from typing import Final, final

from ..admission.webhooks import check_namespace
from ..registry import Registry, Served
from ..request.calls import Call
from ..request.options import DeleteOptions
from ..storage.store import Change, Entry, Object, Store
from ..verbs.deletion import Deleter

__all__ = ["NAMESPACES", "SEEDED", "NamespaceLifecycle", "Terminator", "new_namespace"]

NAMESPACES = ("", "namespaces")
SEEDED = ("default", "kube-node-lease", "kube-public", "kube-system")


def new_namespace(obj: Object) -> Object:
    """A namespace as it starts: active, findable by its name, kept until it is empty."""
    meta = obj["metadata"]
    labels = {**(meta.get("labels") or {}), "kubernetes.io/metadata.name": meta.get("name", "")}
    spec = {**(obj.get("spec") or {})}
    spec["finalizers"] = list(dict.fromkeys([*(spec.get("finalizers") or ()), "kubernetes"]))
    return {
        **obj,
        "metadata": {**meta, "labels": labels},
        "spec": spec,
        "status": {"phase": "Active"},
    }


@final
class NamespaceLifecycle:
    """Refuses what a namespace's state does not allow."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def check(self, call: Call, operation: str) -> None:
        """Raises `Refusal`: 404 without the namespace, 403 while it ends or when it must stay."""
        if operation == "UPDATE":
            return
        found = self._store.get(NAMESPACES, call.namespace)
        check_namespace(
            operation=operation,
            group=call.served.group,
            plural=call.served.plural,
            name=call.name,
            namespace=call.namespace,
            found=found.obj if found is not None else None,
        )


@final
class Terminator:
    """Empties namespaces that are being deleted, and lets them go."""

    def __init__(self, store: Store, registry: Registry, deleter: Deleter) -> None:
        self._store = store
        self._registry = registry
        self._deleter = deleter
        self._ending: set[str] = set()  # namespaces to look at

    def observe(self, change: Change) -> None:
        """Note a namespace that a change may have brought nearer to its end."""
        if change.storage == NAMESPACES:
            if change.new is not None and "deletionTimestamp" in change.new.obj["metadata"]:
                self._ending.add(change.new.name)
            return
        if change.new is None and change.old is not None and "/" in change.key:
            namespace = change.key.split("/", 1)[0]
            found = self._store.get(NAMESPACES, namespace)
            if found is not None and "deletionTimestamp" in found.obj["metadata"]:
                self._ending.add(namespace)

    @property
    def busy(self) -> bool:
        return bool(self._ending)

    def work(self) -> None:
        """Do what can be done now for every namespace that was noted."""
        while self._ending:
            self._empty(self._ending.pop())

    def _empty(self, namespace: str) -> None:
        found = self._store.get(NAMESPACES, namespace)
        if found is None or "deletionTimestamp" not in found.obj["metadata"]:
            return
        for served in self._namespaced():
            self._delete_in(served, namespace)
        left = self._left(namespace)
        if left:
            self._tell(namespace, left)
        else:
            self._let_go(namespace)

    def _namespaced(self) -> list[Served]:
        return [each for each in self._registry.stored() if each.namespaced]

    def _delete_in(self, served: Served, namespace: str) -> None:
        for entry in self._store.collection(served.storage).select(namespace):
            if "deletionTimestamp" not in entry.obj["metadata"]:
                call = Call(served, namespace=namespace, name=entry.name)
                self._deleter.delete_nowait(call, DeleteOptions(propagation="Background"))

    def _left(self, namespace: str) -> list[tuple[Served, list[Entry]]]:
        """What is still there, by resource."""
        found = (
            (each, self._store.collection(each.storage).select(namespace))
            for each in self._namespaced()
        )
        return [(served, entries) for served, entries in found if entries]

    def _tell(self, namespace: str, left: list[tuple[Served, list[Entry]]]) -> None:
        """Say in the namespace's status what it still waits for."""
        found = self._store.get(NAMESPACES, namespace)
        assert found is not None  # nobody else runs meanwhile
        since = found.obj["metadata"]["deletionTimestamp"]
        conditions = [{**each, "lastTransitionTime": since} for each in _conditions(left)]
        status = {**(found.obj.get("status") or {}), "conditions": conditions}
        if status != found.obj.get("status"):
            self._store.write(NAMESPACES, {**found.obj, "status": status})

    def _let_go(self, namespace: str) -> None:
        found = self._store.get(NAMESPACES, namespace)
        assert found is not None  # nobody else runs meanwhile
        spec = found.obj.get("spec") or {}
        kept = [each for each in spec.get("finalizers") or () if each != "kubernetes"]
        obj = {**found.obj, "spec": {**spec, "finalizers": kept}}
        if kept or found.obj["metadata"].get("finalizers"):
            if kept != spec.get("finalizers"):
                self._store.write(NAMESPACES, obj)
            return
        self._store.remove(NAMESPACES, namespace, last=obj)


def _conditions(left: list[tuple[Served, list[Entry]]]) -> list[Object]:
    """What an ending namespace says of itself while objects are left in it."""
    counts = [(f"{served.plural}.{served.group}", len(entries)) for served, entries in left]
    finalizers = Counter(
        finalizer
        for _, entries in left
        for entry in entries
        for finalizer in entry.metadata.get("finalizers") or ()
    )
    listed = ", ".join(f"{name} has {count} resource instances" for name, count in sorted(counts))
    holding = ", ".join(
        f"{name} in {count} resource instances" for name, count in sorted(finalizers.items())
    )
    return [
        *_ALL_WELL,
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


# Nothing of this can fail here.
_ALL_WELL: Final[tuple[Object, ...]] = tuple(
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
