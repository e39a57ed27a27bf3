"""The objects of a new cluster: system namespaces and the Service `kubernetes`."""

from __future__ import annotations

import uuid

from .controllers.namespaces import NAMESPACES, SYSTEM_NAMESPACES, new_namespace
from .storage.store import Object, Store, key_of

__all__ = ["seed", "with_new_identity"]

_SERVICES = ("", "services")


def seed(store: Store, *, now: str) -> None:
    """Create the objects that are missing; an earlier run may have stored some."""
    for name in SYSTEM_NAMESPACES:
        if store.get(NAMESPACES, name) is None:
            store.write(NAMESPACES, new_namespace(_new_object("Namespace", {"name": name}, now)))
    if store.get(_SERVICES, key_of("default", "kubernetes")) is None:
        store.write(_SERVICES, _kubernetes_service(now))


def with_new_identity(obj: Object, now: str) -> Object:
    """`obj` with a uid and a creation time."""
    meta = {**obj["metadata"], "uid": str(uuid.uuid4()), "creationTimestamp": now}
    return {**obj, "metadata": meta}


def _new_object(kind: str, meta: Object, now: str) -> Object:
    return with_new_identity({"kind": kind, "apiVersion": "v1", "metadata": meta}, now)


def _kubernetes_service(now: str) -> Object:
    labels = {"component": "apiserver", "provider": "kubernetes"}
    meta = {"name": "kubernetes", "namespace": "default", "labels": labels}
    port = {"name": "https", "protocol": "TCP", "port": 443, "targetPort": 6443}
    return {
        **_new_object("Service", meta, now),
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
