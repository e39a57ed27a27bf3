"""Server-side applies: nulls, and the annotation of kubectl's client-side apply."""

from __future__ import annotations

from typing import Any

APPLY = {"Content-Type": "application/apply-patch+yaml"}
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
CONFIG_MAPS = "/api/v1/namespaces/{ns}/configmaps"
LIMIT_RANGES = "/api/v1/namespaces/{ns}/limitranges"
PODS = "/api/v1/namespaces/{ns}/pods"
DEPLOYMENTS = "/apis/apps/v1/namespaces/{ns}/deployments"
REVISIONS = "/apis/apps/v1/namespaces/{ns}/controllerrevisions"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WIDGETS = "/apis/{ns}.example.com/v1/namespaces/{ns}/widgets"
KUBECTL = "?fieldManager=kubectl"
FIELDS: dict[str, Any] = {
    "text": {"type": "string"},
    "size": {"type": "integer"},
    "on": {"type": "boolean"},
    "list": {"type": "array", "items": {"type": "string"}},
    "map": {"type": "object", "additionalProperties": {"type": "string"}},
    "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    "either": {"x-kubernetes-int-or-string": True},
    "nullable": {"type": "string", "nullable": True},
    "empty": {"type": "object"},
}
DEFINITION: dict[str, Any] = {
    "metadata": {"name": "widgets.{ns}.example.com"},
    "spec": {
        "group": "{ns}.example.com",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "kind": "Widget"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {"spec": {"type": "object", "properties": FIELDS}},
                    }
                },
            }
        ],
    },
}


def _annotated(name: str) -> dict[str, Any]:
    return {"name": name, "annotations": {LAST_APPLIED: "{}\n"}}


def _limits(value: Any) -> dict[str, Any]:
    return {"limits": [{"type": "Container", "max": {"cpu": value}}]}


def _deployment(**spec: Any) -> dict[str, Any]:
    container: dict[str, Any] = {
        "name": "c",
        "image": "i",
        "resources": {},
        "args": None,
        "ports": [],
        "tty": None,
    }
    template = {
        "metadata": {"creationTimestamp": None, "labels": {"a": "b"}},
        "spec": {"containers": [container], "volumes": None, "nodeName": None},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "a", "creationTimestamp": None},
        "spec": {
            "selector": {"matchLabels": {"a": "b"}}, "strategy": {}, "template": template, **spec,
        },
    }  # fmt: skip


CASES: dict[str, list[tuple[Any, ...]]] = {
    "nulls in a deployment": [
        ("PATCH", f"{DEPLOYMENTS}/a?fieldManager=one", _deployment(), APPLY),
        ("PATCH", f"{DEPLOYMENTS}/a?fieldManager=one", _deployment(replicas=None), APPLY),
        ("PATCH", f"{DEPLOYMENTS}/a?fieldManager=two", _deployment(paused=None), APPLY),
    ],
    "nulls in a pod": [
        ("PATCH", f"{PODS}/a?fieldManager=one", {
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "a", "finalizers": None, "ownerReferences": None},
            "spec": {
                "tolerations": None, "securityContext": None, "terminationGracePeriodSeconds": None,
                "containers": [{"name": "c", "image": "i", "env": None, "livenessProbe": None}],
            },
            "status": None,
        }, APPLY),
    ],
    "nulls instead of values": [
        ("POST", CONFIG_MAPS, {"metadata": {"name": "a", "labels": {"a": "b"}}, "data": {"a": "b"}}),
        ("PATCH", f"{CONFIG_MAPS}/a?fieldManager=one&force=true", {
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "labels": None},
            "data": {"a": None},
        }, APPLY),
        ("PATCH", f"{CONFIG_MAPS}/a?fieldManager=one&force=true", {
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "labels": None},
            "data": None,
        }, APPLY),
    ],
    "nulls of whole objects": [
        ("PATCH", f"{CONFIG_MAPS}/a?fieldManager=one", {
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": None,
        }, APPLY),
        ("PATCH", f"{PODS}/a?fieldManager=one", {
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": None,
        }, APPLY),
        ("PATCH", f"{PODS}/a?fieldManager=one", {
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"},
            "spec": {"containers": [None]},
        }, APPLY),
        ("PATCH", f"{PODS}/a?fieldManager=one", {
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": None},
        }, APPLY),
    ],
    "values of other types": [
        ("PATCH", f"{CONFIG_MAPS}/a?fieldManager=one", {
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": False},
        }, APPLY),
        ("PATCH", f"{CONFIG_MAPS}/a?fieldManager=one", {
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"},
            "data": {"a": 1, "b": 1.5, "c": [1], "d": {}},
        }, APPLY),
        # By itself: the order of problems of two fields is random.
        ("PATCH", f"{CONFIG_MAPS}/a?fieldManager=one", {
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "immutable": "x",
        }, APPLY),
        ("PATCH", f"{CONFIG_MAPS}/a?fieldManager=one", {
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": ["a"],
        }, APPLY),
        ("PATCH", f"{PODS}/a?fieldManager=one", {
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"},
            "spec": {"containers": [{"name": "c", "image": 1, "tty": "x", "ports": "y"}],
                     "terminationGracePeriodSeconds": "z"},
        }, APPLY),
    ],
    "data that are no object": [
        ("POST", REVISIONS, {"metadata": {"name": "a"}, "revision": 1, "data": data})
        for data in ("x", 1, [1], None)
    ] + [
        ("PATCH", f"{REVISIONS}/a?fieldManager=one", {
            "apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": {"name": "a"},
            "revision": 1, "data": data,
        }, APPLY)
        for data in ("x", 1, [1], None)
    ],
    "values of a custom kind": [
        ("POST", DEFINITIONS, DEFINITION),
        ("WAIT", WIDGETS, None),
        *(
            ("PATCH", f"{WIDGETS}/a?fieldManager=one&force=true", {
                "apiVersion": "{ns}.example.com/v1", "kind": "Widget", "metadata": {"name": "a"},
                "spec": {field: value},
            }, APPLY)
            for field in FIELDS
            for value in ("x", 1, True, ["a"], {"a": "b"}, None)
        ),
        ("DELETE", f"{DEFINITIONS}/widgets.{{ns}}.example.com", None),
    ],
    "a number as quantity": [
        ("POST", LIMIT_RANGES, {"metadata": _annotated("a"), "spec": _limits("1")}),
        ("PATCH", f"{LIMIT_RANGES}/a{KUBECTL}", {
            "apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "a"}, "spec": _limits(2),
        }, APPLY),
    ],
    "characters that Go escapes": [
        ("POST", CONFIG_MAPS, {"metadata": _annotated("a")}),
        ("PATCH", f"{CONFIG_MAPS}/a{KUBECTL}", {
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "labels": None},
            "data": {"a": "<b> & \u2028é"},
        }, APPLY),
    ],
    "an annotation of the applied object": [
        ("POST", CONFIG_MAPS, {"metadata": _annotated("a")}),
        ("PATCH", f"{CONFIG_MAPS}/a{KUBECTL}", {
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": _annotated("a"),
        }, APPLY),
        ("PATCH", f"{CONFIG_MAPS}/b{KUBECTL}", {
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": _annotated("b"),
        }, APPLY),
    ],
}  # fmt: skip
