"""What every cluster has from the start: its namespaces and the service of the API itself."""

from __future__ import annotations

import uuid

from .controllers.namespaces import NAMESPACES, SEEDED, new_namespace
from .storage.store import Object, Store, key_of

__all__ = ["born", "seed"]

_SERVICES = ("", "services")


def seed(store: Store, *, now: str) -> None:
    """Create what is missing of it."""
    for name in SEEDED:
        if store.get(NAMESPACES, name) is None:
            store.write(NAMESPACES, new_namespace(_born("Namespace", {"name": name}, now)))
    if store.get(_SERVICES, key_of("default", "kubernetes")) is None:
        store.write(_SERVICES, _kubernetes(now))


def born(obj: Object, now: str) -> Object:
    """`obj` with the metadata that every stored object has."""
    meta = {**obj["metadata"], "uid": str(uuid.uuid4()), "creationTimestamp": now}
    return {**obj, "metadata": meta}


def _born(kind: str, meta: Object, now: str) -> Object:
    return born({"kind": kind, "apiVersion": "v1", "metadata": meta}, now)


def _kubernetes(now: str) -> Object:
    labels = {"component": "apiserver", "provider": "kubernetes"}
    meta = {"name": "kubernetes", "namespace": "default", "labels": labels}
    port = {"name": "https", "protocol": "TCP", "port": 443, "targetPort": 6443}
    return {
        **_born("Service", meta, now),
        "spec": {
            "ports": [port],
            "clusterIP": "10.96.0.1",
            "clusterIPs": ["10.96.0.1"],
            "type": "ClusterIP",
            "sessionAffinity": "None",
            "ipFamilies": ["IPv4"],
            "ipFamilyPolicy": "SingleStack",
            "internalTrafficPolicy": "Cluster",
        },
        "status": {"loadBalancer": {}},
    }
