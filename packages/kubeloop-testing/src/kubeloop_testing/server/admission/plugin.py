"""What an admission plugin is.

A plugin is a module in `plugins` that ends with a `Plugin` value, and an entry in
`plugins.PLUGINS`. Its functions get the `Cluster`, because plugins decide by other objects.

Guarantees: a plugin costs nothing for the resources that it does not name.
See also: when the functions are called (`chain`, `verbs.writing`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias, final

import msgspec

from ..access.security import Security
from ..request.calls import Call
from ..statuses import StatusError, forbidden
from ..storage.store import Object, Store

__all__ = ["CLAIMS", "PODS", "Cluster", "Plugin", "Resource", "default_class", "rejection"]

PODS: Final = ("", "pods")
CLAIMS: Final = ("", "persistentvolumeclaims")


@final
class Cluster(msgspec.Struct, frozen=True):
    """What plugins decide by: the stored objects, and who may do what."""

    store: Store
    security: Security

    def find(self, group: str, plural: str, key: str) -> Object | None:
        """A stored object; its key is `namespace/name`, or the name."""
        entry = self.store.get((group, plural), key)
        return None if entry is None else entry.obj


# Group and plural; `pods/binding` for a subresource.
Resource: TypeAlias = tuple[str, str]


@final
class Plugin(msgspec.Struct, frozen=True):
    """One admission plugin. Its functions raise `StatusError` to reject a request."""

    name: str
    # Before a create of any resource: the call, and the name in the object.
    create: Callable[[Cluster, Call, str], None] | None = None
    # A new object, changed.
    mutate: Mapping[Resource, Callable[[Cluster, Call, Object], Object]] = {}
    # The warnings about a new object, or one that is the old one changed.
    validate: Mapping[Resource, Callable[[Cluster, Call, Object, Object | None], list[str]]] = {}
    # The same for every kind with a pod template.
    validate_workload: Callable[[Cluster, Call, Object, Object | None], list[str]] | None = None
    # Before a deletion.
    delete: Mapping[Resource, Callable[[Cluster, Call], None]] = {}


def rejection(call: Call, obj: Object, why: str) -> StatusError:
    """403 for a write of `obj`."""
    name = obj["metadata"].get("name") or ""
    return forbidden(call.served.group, call.served.plural, name, why)


def default_class(cluster: Cluster, classes: Resource, annotations: Iterable[str]) -> str:
    """The newest class with the annotation of a default; empty if there is none."""
    marked = [
        entry
        for entry in cluster.store.collection(classes).entries.values()
        if _is_marked(entry.metadata, annotations)
    ]
    if not marked:
        return ""
    newest = max(entry.metadata["creationTimestamp"] for entry in marked)
    return min(entry.name for entry in marked if entry.metadata["creationTimestamp"] == newest)


def _is_marked(meta: Object, annotations: Iterable[str]) -> bool:
    own = meta.get("annotations") or {}
    return any(own.get(each) == "true" for each in annotations)
