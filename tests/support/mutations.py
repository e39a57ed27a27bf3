"""Invalid variants of valid documents, in which one or more values are replaced."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

__all__ = ["CRD", "JSON", "KUBECONFIG", "POD", "STATUS", "TEXT", "mutated"]

_ODD_TEXT = [
    *("", " ", "a", "0", "-1", "1e999", "null", "*", "/", "..", "%2f", "a/b/c", "A_B", "x" * 300),
    *("\n", "\x00", "\x1b[2J", "\u202e", "\u2028", "é", "日本", "\U0001f600", "{.a}", "$(x)", "=", ","),
    *("2026-13-01T00:00:00Z", "1Gi", "v1", "Namespaced", "http://[", "https://\x00", "9" * 400),
]  # fmt: skip
# JSON cannot contain half a surrogate pair.
TEXT = st.sampled_from(_ODD_TEXT) | st.text(max_size=12)
_NUMBERS = st.sampled_from([0, -1, 5, 2**31, 2**63, 10**25, 0.5, -0.0, 1e300])
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | _NUMBERS | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


def _paths(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    inner: Any = ()
    if isinstance(tree, dict | list):
        inner = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for step, value in inner:
        yield from _paths(value, (*path, step))


@st.composite
def mutated(draw: st.DrawFn, document: Any, changes: int = 2) -> Any:
    """`document` with up to `changes` values replaced, removed, wrapped or renamed."""
    tree = copy.deepcopy(document)
    for _ in range(draw(st.integers(1, changes))):
        path = draw(st.sampled_from(list(_paths(tree))))
        if not path:
            if draw(st.integers(0, 9)) == 0:
                tree = draw(JSON)
            continue
        *above, last = path
        parent = tree
        for step in above:
            parent = parent[step]
        match draw(st.sampled_from(["replace", "replace", "remove", "wrap", "rename"])):
            case "replace":
                parent[last] = draw(JSON)
            case "remove":
                del parent[last]
            case "wrap":
                parent[last] = draw(st.sampled_from([[parent[last]], {"a": parent[last]}]))
            case "rename" if isinstance(parent, dict):
                parent[draw(TEXT)] = parent.pop(last)
    return tree


KUBECONFIG: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Config",
    "current-context": "c",
    "preferences": {},
    "clusters": [
        {
            "name": "k",
            "cluster": {
                "server": "https://h:6443",
                "certificate-authority-data": "QUJD",
                "proxy-url": "http://p:1",
                "extensions": [
                    {"name": "client.authentication.k8s.io/exec", "extension": {"a": 1}}
                ],
            },
        }
    ],
    "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u", "namespace": "n"}}],
    "users": [
        {
            "name": "u",
            "user": {
                "token": "t",
                "as": "jane",
                "as-groups": ["g"],
                "as-user-extra": {"k": ["v"]},
                "exec": {
                    "command": "x",
                    "apiVersion": "client.authentication.k8s.io/v1",
                    "interactiveMode": "Never",
                    "args": ["a"],
                    "env": [{"name": "A", "value": "b"}],
                },
                "auth-provider": {"name": "oidc", "config": {"a": "b"}},
            },
        },
        {"name": "w", "user": {"username": "a", "password": "b"}},
    ],
}

CRD: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "websites.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {
            "plural": "websites",
            "singular": "website",
            "kind": "Website",
            "listKind": "WebsiteList",
            "shortNames": ["ws"],
            "categories": ["all"],
        },
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "required": ["spec"],
                        "properties": {
                            "spec": {
                                "type": "object",
                                "description": "d",
                                "properties": {
                                    "n": {"type": "integer", "minimum": 1, "default": 3},
                                    "l": {
                                        "type": "array",
                                        "items": {"type": "string", "enum": ["a", "b"]},
                                        "x-kubernetes-list-type": "set",
                                    },
                                    "m": {
                                        "type": "object",
                                        "additionalProperties": {
                                            "type": "string",
                                            "pattern": "a.*",
                                        },
                                    },
                                    "i": {
                                        "x-kubernetes-int-or-string": True,
                                        "anyOf": [{"type": "integer"}, {"type": "string"}],
                                    },
                                    "t": {"type": "string", "format": "date-time"},
                                },
                            },
                            "status": {
                                "type": "object",
                                "x-kubernetes-preserve-unknown-fields": True,
                            },
                        },
                    }
                },
                "subresources": {
                    "status": {},
                    "scale": {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"},
                },
                "additionalPrinterColumns": [
                    {"name": "N", "type": "integer", "jsonPath": ".spec.n"}
                ],
                "selectableFields": [{"jsonPath": ".spec.n"}],
            }
        ],
        "conversion": {"strategy": "None"},
    },
}

POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "web",
        "labels": {"a": "b"},
        "ownerReferences": [
            {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u", "controller": True}
        ],
    },
    "spec": {
        "containers": [
            {
                "name": "m",
                "image": "i",
                "resources": {"limits": {"cpu": "1"}},
                "ports": [{"containerPort": 80}],
                "env": [{"name": "A", "value": "b"}],
            }
        ],
        "tolerations": [{"key": "k", "tolerationSeconds": 3}],
    },
    "status": {
        "conditions": [
            {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
        ]
    },
}

STATUS: dict[str, Any] = {
    "kind": "Status",
    "apiVersion": "v1",
    "status": "Failure",
    "message": "m",
    "reason": "NotFound",
    "code": 404,
    "details": {
        "name": "n",
        "kind": "k",
        "causes": [{"reason": "r", "message": "m", "field": "f"}],
        "retryAfterSeconds": 1,
    },
    "metadata": {},
}
