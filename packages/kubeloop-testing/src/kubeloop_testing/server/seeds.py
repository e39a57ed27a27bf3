"""The objects of a new cluster.

System namespaces, the Service `kubernetes` with its address, the system priority classes, flow
schemas and priority levels, and an API service for every served group version. Objects of
kube-apiserver's own process (its identity lease, the ConfigMaps of `kube-system`, the endpoints
of `kubernetes`) are left out.
Guarantees: creates only what is missing, in about a millisecond.
See also: roles and bindings (`access.bootstrap_roles`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .access.flow_control import flow_objects
from .controllers.namespaces import NAMESPACES, SYSTEM_NAMESPACES
from .kinds.apiregistration.api_service import new_api_service
from .kinds.core.allocation import SERVICE_NETWORK
from .kinds.core.namespace import KIND as NAMESPACE
from .kinds.core.namespace import new_namespace
from .kinds.scheduling.priority_class import SYSTEM_PRIORITIES
from .kinds.strategies import default
from .registry import Registry
from .storage.store import Object, Store, key_of, new_uid

__all__ = ["seed", "with_new_identity"]

_SERVICES: Final = ("", "services")
_PRIORITIES: Final = ("scheduling.k8s.io", "priorityclasses")
_API_SERVICES: Final = ("apiregistration.k8s.io", "apiservices")
_NETWORKING: Final = "networking.k8s.io"
_ADDRESS: Final = "10.96.0.1"
_DESCRIPTIONS: Final = {
    "system-cluster-critical": ("for pods that the cluster itself needs, on any node"),
    "system-node-critical": ("for pods that their node needs"),
}
# The order of groups in discovery: `apiVersionPriorities` of kube-apiserver.
_GROUP_PRIORITIES: Final = {
    "": 18000,
    "admissionregistration.k8s.io": 16700,
    "apiextensions.k8s.io": 16700,
    "apps": 17800,
    "authentication.k8s.io": 17700,
    "authorization.k8s.io": 17600,
    "autoscaling": 17500,
    "batch": 17400,
    "certificates.k8s.io": 17300,
    "coordination.k8s.io": 16500,
    "discovery.k8s.io": 16200,
    "events.k8s.io": 17750,
    "flowcontrol.apiserver.k8s.io": 16100,
    "internal.apiserver.k8s.io": 16000,
    "networking.k8s.io": 17200,
    "node.k8s.io": 16300,
    "policy": 17100,
    "rbac.authorization.k8s.io": 17000,
    "resource.k8s.io": 16200,
    "scheduling.k8s.io": 16600,
    "storage.k8s.io": 16800,
    "storagemigration.k8s.io": 15800,
}
_UNOWNED: Final = frozenset({"kind", "apiVersion", "metadata", "status"})
# Set by the strategy of services, so that no manager owns them.
_ALLOCATED: Final = frozenset({"clusterIPs", "ipFamilies"})
_PORT_KEY: Final = 'k:{"port":443,"protocol":"TCP"}'
_VERSION_PRIORITIES: Final = {
    ("", "v1"): 1,
    ("autoscaling", "v2"): 30,
    ("flowcontrol.apiserver.k8s.io", "v1"): 21,
    ("resource.k8s.io", "v1"): 21,
}


def seed(store: Store, registry: Registry, *, now: str) -> None:
    """Create the objects that are missing; an earlier run may have stored some."""
    for storage, key, obj in _objects(registry, now):
        if store.get(storage, key) is None:
            created = with_new_identity(obj, now)
            if storage == NAMESPACES:
                created = new_namespace(default(NAMESPACE, created))
            created = _with_manager(created, now)
            if storage == _API_SERVICES:
                created = new_api_service(created)
            store.write(storage, created)
    for storage, obj in flow_objects(now):
        if store.get(storage, obj["metadata"]["name"]) is None:
            store.write(storage, with_new_identity(obj, now))


def with_new_identity(obj: Object, now: str) -> Object:
    """`obj` with a uid and a creation time."""
    meta = {**obj["metadata"], "uid": new_uid(), "creationTimestamp": now}
    return {**obj, "metadata": meta}


def _with_manager(obj: Object, now: str) -> Object:
    """`obj` with the fields that kube-apiserver owns in it: its labels and its spec."""
    meta = obj["metadata"]
    fields: Object = {}
    if meta.get("labels"):
        labels: Object = {f"f:{key}": {} for key in meta["labels"]}
        fields["f:metadata"] = {"f:labels": {".": {}, **labels}}
    if obj["kind"] != "Namespace":
        fields |= _fields({key: value for key, value in obj.items() if key not in _UNOWNED})
    entry = {
        "manager": "kube-apiserver",
        "operation": "Update",
        "apiVersion": obj["apiVersion"],
        "time": now,
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
    }
    return {**obj, "metadata": {**meta, "managedFields": [entry]}}


def _fields(value: Object) -> Object:
    found: Object = {}
    for key, each in value.items():
        if key == "ports":
            keys: Object = {f"f:{name}": {} for name in each[0]}
            found["f:ports"] = {".": {}, _PORT_KEY: {".": {}, **keys}}
        elif isinstance(each, dict):
            start: Object = {} if key == "spec" else {".": {}}
            found[f"f:{key}"] = {**start, **_fields(each)}
        elif key not in _ALLOCATED:
            found[f"f:{key}"] = {}
    return found


def _objects(registry: Registry, now: str) -> Iterator[tuple[tuple[str, str], str, Object]]:
    for name in SYSTEM_NAMESPACES:
        yield NAMESPACES, name, _object("v1", "Namespace", {"name": name})
    yield _SERVICES, key_of("default", "kubernetes"), _kubernetes_service()
    yield (_NETWORKING, "servicecidrs"), "kubernetes", _service_network(now)
    yield (_NETWORKING, "ipaddresses"), _ADDRESS, _service_address()
    for name, value in SYSTEM_PRIORITIES.items():
        yield _PRIORITIES, name, _priority_class(name, value)
    for group, versions in registry.groups().items():
        for version in versions if group in _GROUP_PRIORITIES else ():
            obj = _api_service(group, version)
            yield _API_SERVICES, obj["metadata"]["name"], obj


def _object(api_version: str, kind: str, meta: Object) -> Object:
    return {"kind": kind, "apiVersion": api_version, "metadata": meta}


def _kubernetes_service() -> Object:
    labels = {"component": "apiserver", "provider": "kubernetes"}
    meta = {"name": "kubernetes", "namespace": "default", "labels": labels}
    port = {"name": "https", "protocol": "TCP", "port": 443, "targetPort": 6443}
    return {
        **_object("v1", "Service", meta),
        "spec": {
            "ports": [port],
            "clusterIP": _ADDRESS,
            "clusterIPs": [_ADDRESS],
            "type": "ClusterIP",
            "sessionAffinity": "None",
            "ipFamilies": ["IPv4"],
            "ipFamilyPolicy": "SingleStack",
            "internalTrafficPolicy": "Cluster",
        },
        "status": {"loadBalancer": {}},
    }


def _service_network(now: str) -> Object:
    ready = {
        "type": "Ready",
        "status": "True",
        "lastTransitionTime": now,
        "reason": "",
        "message": "the default range of cluster addresses is ready",
    }
    return {
        **_object(f"{_NETWORKING}/v1", "ServiceCIDR", {"name": "kubernetes"}),
        "spec": {"cidrs": [SERVICE_NETWORK]},
        "status": {"conditions": [ready]},
    }


def _service_address() -> Object:
    labels = {
        "ipaddress.kubernetes.io/ip-family": "IPv4",
        "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
    }
    obj = _object(f"{_NETWORKING}/v1", "IPAddress", {"name": _ADDRESS, "labels": labels})
    parent = {"resource": "services", "namespace": "default", "name": "kubernetes"}
    return {**obj, "spec": {"parentRef": parent}}


def _priority_class(name: str, value: int) -> Object:
    meta = {"name": name, "generation": 1}
    return {
        **_object("scheduling.k8s.io/v1", "PriorityClass", meta),
        "value": value,
        "description": _DESCRIPTIONS[name],
        "preemptionPolicy": "PreemptLowerPriority",
    }


def _api_service(group: str, version: str) -> Object:
    labels = {"kube-aggregator.kubernetes.io/automanaged": "onstart"}
    meta = {"name": f"{version}.{group}", "labels": labels}
    priority = _VERSION_PRIORITIES.get((group, version))
    spec = {
        "version": version,
        "groupPriorityMinimum": _GROUP_PRIORITIES[group],
        # Versions that are not stable come after the stable ones.
        "versionPriority": priority or (15 if version.isalnum() and version[1:].isdigit() else 9),
    }
    if group:
        spec["group"] = group
    return {**_object("apiregistration.k8s.io/v1", "APIService", meta), "spec": spec}
