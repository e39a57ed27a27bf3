"""Options of deletions, owners that are listed twice, and evictions."""

from __future__ import annotations

from typing import Any

CONFIG_MAPS = "/api/v1/namespaces/{ns}/configmaps"
PODS = "/api/v1/namespaces/{ns}/pods"
BUDGETS = "/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets"
MERGE = {"Content-Type": "application/merge-patch+json"}
APPLY = {"Content-Type": "application/apply-patch+yaml"}
# Of a kind that is not served, so that no garbage collector looks for it.
OWNER = {"apiVersion": "example.com/v1", "kind": "Owner", "name": "x", "uid": "1"}


def _config_maps(*names: str) -> list[tuple[Any, ...]]:
    return [
        ("POST", CONFIG_MAPS, {"metadata": {"name": name, "labels": {"a": name}}}) for name in names
    ]


LEFT = ("GET", f"{CONFIG_MAPS}?fieldSelector=metadata.name!=kube-root-ca.crt", None, {
    "Accept": "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
})  # fmt: skip

CASES: dict[str, list[tuple[Any, ...]]] = {
    "a collection is deleted with options that cannot be read": [
        *_config_maps("a"),
        ("DELETE", f"{CONFIG_MAPS}?limit=x", None),
        ("DELETE", f"{CONFIG_MAPS}?continue=x", None),
        ("DELETE", f"{CONFIG_MAPS}?resourceVersion=x", None),
        ("DELETE", f"{CONFIG_MAPS}?resourceVersionMatch=Exact", None),
        ("DELETE", f"{CONFIG_MAPS}?timeoutSeconds=x", None),
        ("DELETE", f"{CONFIG_MAPS}?watch=true&limit=1", None),
        LEFT,
    ],
    "owners that are listed twice": [
        ("POST", CONFIG_MAPS, {"metadata": {"name": "a", "ownerReferences": [OWNER, OWNER]}}),
        ("PUT", f"{CONFIG_MAPS}/a", {"metadata": {"name": "a", "ownerReferences": [
            OWNER, {**OWNER, "controller": False}, {**OWNER, "name": "y"}, OWNER,
        ]}}),
        ("PATCH", f"{CONFIG_MAPS}/a", {"metadata": {"ownerReferences": [OWNER, OWNER]}}, MERGE),
        ("PATCH", f"{CONFIG_MAPS}/a", [
            {"op": "add", "path": "/metadata/ownerReferences/-", "value": OWNER},
        ], {"Content-Type": "application/json-patch+json"}),
        ("PATCH", f"{CONFIG_MAPS}/a", {"metadata": {"ownerReferences": [OWNER, OWNER]}},
         {"Content-Type": "application/strategic-merge-patch+json"}),
    ],
    "owners that are applied twice": [
        ("PATCH", f"{CONFIG_MAPS}/a?fieldManager=m", {
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "a", "ownerReferences": [OWNER, OWNER]},
        }, APPLY),
    ],
    "an owner that is listed twice with a controller": [
        ("POST", CONFIG_MAPS, {"metadata": {"name": "a", "ownerReferences": [
            {**OWNER, "controller": True}, {**OWNER, "controller": True},
        ]}}),
        ("POST", CONFIG_MAPS, {"metadata": {"name": "b", "ownerReferences": [
            OWNER, {**OWNER, "blockOwnerDeletion": True}, {**OWNER, "apiVersion": "example.com/v2"},
        ]}}),
    ],
    "an eviction under two budgets": [
        ("POST", PODS, {
            "metadata": {"name": "web", "labels": {"app": "web"}},
            "spec": {"containers": [{"name": "app", "image": "i"}]},
        }),
        ("PATCH", f"{PODS}/web/status", {"status": {"phase": "Running"}}, MERGE),
        *(("POST", BUDGETS, {
            "metadata": {"name": name},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
        }) for name in ("a", "b")),
        ("POST", f"{PODS}/web/eviction", {
            "apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "web"},
        }),
    ],
}  # fmt: skip
