"""Statuses of fixed shape: reason, details, and the words that programs match."""

from __future__ import annotations

from typing import Any

CONFIG_MAPS = "/api/v1/namespaces/{ns}/configmaps"
DEPLOYMENTS = "/apis/apps/v1/namespaces/{ns}/deployments"
MERGE = {"Content-Type": "application/merge-patch+json"}
APPLY = {"Content-Type": "application/apply-patch+yaml"}

CASES: dict[str, list[tuple[Any, ...]]] = {
    "objects that do not exist": [
        ("GET", f"{CONFIG_MAPS}/a", None),
        ("GET", f"{DEPLOYMENTS}/a", None),
        ("DELETE", f"{DEPLOYMENTS}/a", None),
        ("PATCH", f"{DEPLOYMENTS}/a", {}, MERGE),
        ("PUT", f"{DEPLOYMENTS}/a/scale", {"metadata": {"name": "a"}}),
        ("GET", "/api/v1/nodes/{ns}", None),
        ("GET", "/api/v1/namespaces/{ns}/pods/a/log", None),
    ],
    "an object that exists": [
        ("POST", CONFIG_MAPS, {"metadata": {"name": "a"}}),
        ("POST", CONFIG_MAPS, {"metadata": {"name": "a"}}),
    ],
    "conflicts": [
        ("POST", CONFIG_MAPS, {"metadata": {"name": "a"}}),
        ("PUT", f"{CONFIG_MAPS}/a", {"metadata": {"name": "a", "resourceVersion": "1"}}),
        ("PUT", f"{CONFIG_MAPS}/a", {"metadata": {"name": "a", "uid": "other"}}),
        ("DELETE", f"{CONFIG_MAPS}/a", {"preconditions": {"uid": "other"}}),
    ],
    "an apply that conflicts": [
        ("PATCH", f"{CONFIG_MAPS}/a?fieldManager=one", {
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"b": "1"},
        }, APPLY),
        ("PATCH", f"{CONFIG_MAPS}/a?fieldManager=two", {
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"b": "2"},
        }, APPLY),
    ],
    "paths and bodies that differ": [
        ("POST", CONFIG_MAPS, {"metadata": {"name": "a", "namespace": "other"}}),
        ("POST", CONFIG_MAPS, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}),
        ("POST", CONFIG_MAPS, {"apiVersion": "v2", "kind": "ConfigMap"}),
        ("PUT", f"{CONFIG_MAPS}/a", {"metadata": {"name": "b"}}),
        ("POST", CONFIG_MAPS, {}),
    ],
    "options that cannot be read": [
        ("GET", f"{CONFIG_MAPS}?labelSelector=!!", None),
        ("GET", f"{CONFIG_MAPS}?fieldSelector=spec.x=1", None),
        ("GET", f"{CONFIG_MAPS}?limit=x", None),
        ("GET", f"{CONFIG_MAPS}?continue=x", None),
        ("POST", f"{CONFIG_MAPS}?dryRun=Some", {"metadata": {"name": "a"}}),
        ("POST", f"{CONFIG_MAPS}?fieldValidation=Some", {"metadata": {"name": "a"}}),
        ("DELETE", f"{CONFIG_MAPS}/a?propagationPolicy=Some", None),
    ],
    "a namespace that does not exist": [
        ("POST", "/api/v1/namespaces/{ns}-x/configmaps", {"metadata": {"name": "a"}}),
        ("GET", "/api/v1/namespaces/{ns}-x/configmaps/a", None),
    ],
    "a namespace that is protected": [("DELETE", "/api/v1/namespaces/default", None)],
    "a user who may not": [
        ("GET", CONFIG_MAPS, None, {"Impersonate-User": "jane"}),
        ("DELETE", f"{DEPLOYMENTS}/a", None, {"Impersonate-User": "jane"}),
        ("GET", "/api/v1/nodes", None, {"Impersonate-User": "jane"}),
        ("GET", "/metrics", None, {"Impersonate-User": "jane"}),
        ("POST", "/api/v1/namespaces/{ns}/pods/a/eviction", {}, {"Impersonate-User": "jane"}),
    ],
    "fields that do not exist": [
        ("POST", f"{CONFIG_MAPS}?fieldValidation=Strict", {"metadata": {"name": "a"}, "x": 1}),
    ],
    "a deletion that is complete": [
        ("POST", CONFIG_MAPS, {"metadata": {"name": "a"}}),
        ("DELETE", f"{CONFIG_MAPS}/a", None),
        ("DELETE", f"{CONFIG_MAPS}/a", None),
    ],
}  # fmt: skip
