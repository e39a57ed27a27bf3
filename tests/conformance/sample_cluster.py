"""The objects that the tables of rejected requests refer to.

Guarantees: no row changes any of them, so all rows share them.
See also: the tables (`test_rejected_*`), the custom kind (`widgets`).
"""

from __future__ import annotations

from typing import Any

from tests.conformance.raw_client import RawClient
from tests.conformance.samples import config_map, deployment, pod, service

__all__ = ["create_objects", "read_objects"]

Object = dict[str, Any]

_JOB_POD = {"containers": [{"name": "main", "image": "nginx:1"}], "restartPolicy": "Never"}

_NAMESPACED: list[tuple[str, Object]] = [
    ("configmaps", config_map("settings", color="blue")),
    ("configmaps", {**config_map("frozen", color="blue"), "immutable": True}),
    ("secrets", {"metadata": {"name": "frozen"}, "immutable": True, "data": {"a": "Yg=="}}),
    ("secrets", {"metadata": {"name": "typed"}, "type": "example.com/one"}),
    ("pods", pod("web", app="web")),
    ("services", service("web")),
    ("apps/v1/deployments", deployment("web")),
    (
        "batch/v1/jobs",
        {"metadata": {"name": "once"}, "spec": {"suspend": True, "template": {"spec": _JOB_POD}}},
    ),
    ("batch/v1/jobs", {"metadata": {"name": "begun"}, "spec": {"template": {"spec": _JOB_POD}}}),
    (
        "persistentvolumeclaims",
        {
            "metadata": {"name": "disk"},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
            },
        },
    ),
    (
        "rbac.authorization.k8s.io/v1/rolebindings",
        {
            "metadata": {"name": "readers"},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": "view",
            },
        },
    ),
    (
        "conformance.example.com/v1/widgets",
        {
            "apiVersion": "conformance.example.com/v1",
            "kind": "Widget",
            "metadata": {"name": "small"},
            "spec": {"size": 1},
        },
    ),
]


async def create_objects(api: RawClient) -> Object:
    """Create the objects in the client's namespace; return them as stored."""
    for resource, obj in _NAMESPACED:
        await api.create(api.at(resource), obj)
    return await read_objects(api)


async def read_objects(api: RawClient) -> Object:
    """All objects of these kinds in the namespace."""
    kinds = dict.fromkeys(resource for resource, _ in _NAMESPACED)
    return {resource: (await api.get(api.at(resource))).items for resource in kinds}
