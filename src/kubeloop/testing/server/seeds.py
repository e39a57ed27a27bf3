"""The objects of a new cluster, as kube-apiserver creates them at its start.

Namespaces, the Service `kubernetes` and its address range, the system priority classes, flow
schemas and priority levels. (Roles are created when RBAC is enabled: `core.Core.use_roles`.)
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Final

from .access.flow_control import flow_objects
from .controllers.namespaces import NAMESPACES, SYSTEM_NAMESPACES, new_namespace
from .storage.store import Object, Store, key_of

__all__ = ["seed", "with_new_identity"]

_SERVICES: Final = ("", "services")
_PRIORITY_CLASSES: Final = ("scheduling.k8s.io", "priorityclasses")
_RANGES: Final = ("networking.k8s.io", "servicecidrs")


def seed(store: Store, *, now: str) -> None:
    """Create the objects that are missing; an earlier run may have stored some."""
    for storage, obj in _objects(now):
        meta = obj["metadata"]
        if store.get(storage, key_of(meta.get("namespace", ""), meta["name"])) is None:
            store.write(storage, with_new_identity(obj, now))


def with_new_identity(obj: Object, now: str) -> Object:
    """`obj` with a uid and a creation time."""
    meta = {**obj["metadata"], "uid": str(uuid.uuid4()), "creationTimestamp": now}
    return {**obj, "metadata": meta}


def _objects(now: str) -> Iterator[tuple[tuple[str, str], Object]]:
    for name in SYSTEM_NAMESPACES:
        yield NAMESPACES, new_namespace(_new("v1", "Namespace", name, now, _NAMESPACE_FIELDS))
    yield _SERVICES, _kubernetes_service(now)
    yield _RANGES, _service_range(now)
    # scheduling.SystemPriorityClasses.
    yield _PRIORITY_CLASSES, _priority_class("system-node-critical", 2000001000, now)
    yield _PRIORITY_CLASSES, _priority_class("system-cluster-critical", 2000000000, now)
    yield from flow_objects(now)


_NAMESPACE_FIELDS: Final[Object] = {
    "f:metadata": {"f:labels": {".": {}, "f:kubernetes.io/metadata.name": {}}}
}
_SERVICE_FIELDS: Final[Object] = {
    "f:metadata": {"f:labels": {".": {}, "f:component": {}, "f:provider": {}}},
    "f:spec": {
        "f:clusterIP": {},
        "f:internalTrafficPolicy": {},
        "f:ipFamilyPolicy": {},
        "f:ports": {
            ".": {},
            'k:{"port":443,"protocol":"TCP"}': {
                ".": {}, "f:name": {}, "f:port": {}, "f:protocol": {}, "f:targetPort": {},
            },
        },
        "f:sessionAffinity": {},
        "f:type": {},
    },
}  # fmt: skip


def _new(api_version: str, kind: str, name: str, now: str, fields: Object) -> Object:
    """A new object whose `fields` belong to the server itself."""
    entry = {
        "manager": "kube-apiserver",
        "operation": "Update",
        "apiVersion": api_version,
        "time": now,
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
    }
    meta = {"name": name, "managedFields": [entry]}
    return {"kind": kind, "apiVersion": api_version, "metadata": meta}


def _kubernetes_service(now: str) -> Object:
    new = _new("v1", "Service", "kubernetes", now, _SERVICE_FIELDS)
    labels = {"component": "apiserver", "provider": "kubernetes"}
    port = {"name": "https", "protocol": "TCP", "port": 443, "targetPort": 6443}
    return {
        **new,
        "metadata": {**new["metadata"], "namespace": "default", "labels": labels},
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


def _service_range(now: str) -> Object:
    ready = {
        "type": "Ready",
        "status": "True",
        "lastTransitionTime": now,
        "reason": "",
        "message": "the default range of cluster addresses is ready",
    }
    fields: Object = {"f:spec": {"f:cidrs": {}}}
    return {
        **_new("networking.k8s.io/v1", "ServiceCIDR", "kubernetes", now, fields),
        "spec": {"cidrs": ["10.96.0.0/16"]},
        "status": {"conditions": [ready]},
    }


def _priority_class(name: str, value: int, now: str) -> Object:
    fields: Object = {"f:description": {}, "f:preemptionPolicy": {}, "f:value": {}}
    new = _new("scheduling.k8s.io/v1", "PriorityClass", name, now, fields)
    return {
        **new,
        "metadata": {**new["metadata"], "generation": 1},
        "value": value,
        "description": "for pods that the cluster itself needs",
        "preemptionPolicy": "PreemptLowerPriority",
    }
