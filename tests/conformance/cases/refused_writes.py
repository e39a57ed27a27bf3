"""Warnings that are sent with a write that is refused."""

from __future__ import annotations

from typing import Any

ENDPOINTS = "/api/v1/namespaces/{ns}/endpoints"
PODS = "/api/v1/namespaces/{ns}/pods"
CONFIG_MAPS = "/api/v1/namespaces/{ns}/configmaps"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
THINGS = "/apis/refused{ns}.example.com/v1beta1/namespaces/{ns}/things"
MERGE = {"Content-Type": "application/merge-patch+json"}
APPLY = {"Content-Type": "application/apply-patch+yaml"}
# Its node selector is deprecated.
POD: dict[str, Any] = {
    "metadata": {"name": "a"},
    "spec": {
        "nodeSelector": {"beta.kubernetes.io/os": "linux"},
        "containers": [{"name": "app", "image": "i"}],
    },
}
INVALID_POD = {**POD, "spec": {**POD["spec"], "restartPolicy": "Sometimes"}}
# Of a kind that is not served, so that no garbage collector looks for it.
OWNER = {"apiVersion": "example.com/v1", "kind": "Owner", "name": "x", "uid": "1"}
OWNED: dict[str, Any] = {"metadata": {"name": "a", "ownerReferences": [OWNER, OWNER]}, "x": 1}

CASES: dict[str, list[tuple[Any, ...]]] = {
    "a deprecated kind": [
        ("POST", ENDPOINTS, {"metadata": {"name": "a"}}),
        ("POST", ENDPOINTS, {"metadata": {"name": "a"}}),
        ("POST", ENDPOINTS, {"metadata": {"name": "A!"}}),
        ("POST", ENDPOINTS, "{"),
        ("POST", ENDPOINTS, {"kind": "Pod", "apiVersion": "v1"}),
        ("POST", f"{ENDPOINTS}?dryRun=Some", {"metadata": {"name": "b"}}),
        ("POST", f"{ENDPOINTS}?fieldValidation=Strict", {"metadata": {"name": "b"}, "x": 1}),
        ("PUT", f"{ENDPOINTS}/a", {"metadata": {"name": "b"}}),
        ("PUT", f"{ENDPOINTS}/a", {"metadata": {"name": "a", "resourceVersion": "1"}}),
        ("PATCH", f"{ENDPOINTS}/a", {"metadata": {"uid": "1"}}, MERGE),
        ("PATCH", f"{ENDPOINTS}/a", {}, {"Content-Type": "text/plain"}),
        ("PATCH", f"{ENDPOINTS}/a", {}, APPLY),
        ("GET", f"{ENDPOINTS}/none", None),
        ("GET", f"{ENDPOINTS}?labelSelector=!!", None),
        ("GET", f"{ENDPOINTS}/a", None, {"Accept": "text/html"}),
        ("DELETE", f"{ENDPOINTS}/none", None),
        ("DELETE", f"{ENDPOINTS}/a", {"preconditions": {"uid": "1"}}),
        ("GET", ENDPOINTS, None, {"Impersonate-User": "jane"}),
        ("POST", f"{ENDPOINTS}/a", {}),
    ],
    "a pod with a deprecated field": [
        ("POST", PODS, POD),
        ("POST", PODS, POD),
        ("POST", PODS, INVALID_POD),
        ("POST", f"{PODS}?fieldValidation=Strict", {**POD, "x": 1}),
        ("POST", PODS, {**INVALID_POD, "x": 1}),
        ("POST", PODS, {**POD, "x": 1}),
        ("PUT", f"{PODS}/a", {**POD, "metadata": {"name": "a", "resourceVersion": "1"}, "x": 1}),
        ("PUT", f"{PODS}/none", {**POD, "metadata": {"name": "none"}, "x": 1}),
        ("PATCH", f"{PODS}/a", {"spec": {"nodeName": "other", "x": 1}}, MERGE),
        ("POST", "/api/v1/namespaces/{ns}-none/pods", {**POD, "x": 1}),
        ("POST", PODS, {**POD, "metadata": {"name": "b", "namespace": "other"}, "x": 1}),
    ],
    "a pod that admission refuses": [
        ("POST", "/api/v1/namespaces/{ns}/limitranges", {
            "metadata": {"name": "a"},
            "spec": {"limits": [{"type": "Container", "max": {"cpu": "1"}}]},
        }),
        ("POST", PODS, {**POD, "x": 1, "spec": {**POD["spec"], "containers": [
            {"name": "app", "image": "i", "resources": {"limits": {"cpu": "2"}}},
        ]}}),
    ],
    "limits of what is invalid, and of a resize": [
        ("POST", "/api/v1/namespaces/{ns}/limitranges", {
            "metadata": {"name": "a"},
            "spec": {"limits": [
                {"type": "Container", "max": {"cpu": "1"}, "default": {"cpu": "500m"}},
                {"type": "PersistentVolumeClaim", "max": {"storage": "1Gi"}},
            ]},
        }),
        ("POST", PODS, {**INVALID_POD, "spec": {**INVALID_POD["spec"], "containers": [
            {"name": "app", "image": "i", "resources": {"limits": {"cpu": "2"}}},
        ]}}),
        ("POST", PODS, POD),
        ("PATCH", f"{PODS}/a/resize", {"spec": {"containers": [
            {"name": "app", "resources": {"limits": {"cpu": "2"}}},
        ]}}, {"Content-Type": "application/strategic-merge-patch+json"}),
        ("POST", "/api/v1/namespaces/{ns}/persistentvolumeclaims", {
            "metadata": {"name": "A!"},
            "spec": {"accessModes": ["ReadWriteOnce"],
                     "resources": {"requests": {"storage": "2Gi"}}},
        }),
        ("POST", "/api/v1/namespaces/{ns}/persistentvolumeclaims", {
            "metadata": {"name": "a"},
            "spec": {"accessModes": ["ReadWriteOnce"],
                     "resources": {"requests": {"storage": "2Gi"}}},
        }),
    ],
    "owners that are listed twice": [
        ("POST", CONFIG_MAPS, OWNED),
        ("POST", CONFIG_MAPS, OWNED),
        ("POST", CONFIG_MAPS, {**OWNED, "data": 1}),
        ("POST", CONFIG_MAPS, {**OWNED, "data": {"!": ""}}),
        ("POST", f"{CONFIG_MAPS}?fieldValidation=Strict", OWNED),
        ("PUT", f"{CONFIG_MAPS}/none", {**OWNED, "metadata": {**OWNED["metadata"], "name": "none"}}),
        ("PUT", f"{CONFIG_MAPS}/a", {**OWNED, "data": {"!": ""}}),
        ("PATCH", f"{CONFIG_MAPS}/a", {**OWNED, "data": {"!": ""}}, MERGE),
    ],
    "a deprecated version of a custom kind": [
        ("POST", DEFINITIONS, {
            "metadata": {"name": "things.refused{ns}.example.com"},
            "spec": {
                "group": "refused{ns}.example.com", "scope": "Namespaced",
                "names": {"plural": "things", "kind": "Thing"},
                "versions": [{
                    "name": "v1beta1", "served": True, "storage": True, "deprecated": True,
                    "schema": {"openAPIV3Schema": {
                        "type": "object", "properties": {"spec": {
                            "type": "object", "properties": {"size": {"type": "integer"}},
                        }},
                    }},
                    "subresources": {"status": {}},
                }],
            },
        }, {"Accept": "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"}),
        ("WAIT", THINGS, None),
        ("POST", THINGS, {
            "apiVersion": "refused{ns}.example.com/v1beta1", "kind": "Thing",
            "metadata": {"name": "a"}, "spec": {"size": "big"}, "x": 1,
        }),
        ("POST", THINGS, "{"),
        ("GET", f"{THINGS}/a", None),
        ("DELETE", f"{THINGS}/a", None),
        ("PATCH", f"{THINGS}/a", {}, MERGE),
        ("PUT", f"{THINGS}/a/status", {
            "apiVersion": "refused{ns}.example.com/v1beta1", "kind": "Thing",
            "metadata": {"name": "a"},
        }),
        ("GET", f"{THINGS}?labelSelector=!!", None),
        ("GET", THINGS, None, {"Impersonate-User": "jane"}),
        ("DELETE", f"{DEFINITIONS}/things.refused{{ns}}.example.com", None, {
            "Accept": "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
        }),
    ],
}  # fmt: skip
