"""Objects that the tests send."""

from __future__ import annotations

from typing import Any

__all__ = ["config_map", "deployment", "pod", "service"]

Object = dict[str, Any]


def config_map(name: str = "settings", *, labels: Object | None = None, **data: str) -> Object:
    body: Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
    if labels:
        body["metadata"]["labels"] = labels
    return {**body, "data": data} if data else body


def pod(name: str = "web", **labels: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": labels},
        "spec": {"containers": [{"name": "main", "image": "nginx:1"}]},
    }


def deployment(name: str = "web", replicas: int = 1) -> Object:
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "main", "image": "nginx:1"}]},
            },
        },
    }


def service(name: str = "web", **spec: Any) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"ports": [{"port": 80}], "selector": {"app": name}, **spec},
    }
