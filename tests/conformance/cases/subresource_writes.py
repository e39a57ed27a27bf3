"""Writes to subresources other than `/status`: what they change of the object.

See also: `status_writes`, `update_strategies`.
"""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]
Step = tuple[Any, ...]

_MERGE = {"Content-Type": "application/merge-patch+json"}
_STRATEGIC = {"Content-Type": "application/strategic-merge-patch+json"}
_JSON = {"Content-Type": "application/json-patch+json"}
_APPLY = {"Content-Type": "application/apply-patch+yaml"}
# Without impersonation, the spec of a signing request has the hash of the client certificate.
_SOMEONE = {"Impersonate-User": "someone", "Impersonate-Group": "system:masters"}

_PODS = "/api/v1/namespaces/{ns}/pods"
_NAMESPACES = "/api/v1/namespaces"
_ACCOUNTS = "/api/v1/namespaces/{ns}/serviceaccounts"
_DEPLOYMENTS = "/apis/apps/v1/namespaces/{ns}/deployments"
_CSRS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"

# Of a kind that is not served, so that no garbage collector looks for it.
_OWNER = {"apiVersion": "example.com/v1", "kind": "Owner", "name": "o", "uid": "1"}
_CHANGED: Object = {
    "labels": {"l": "2"},
    "annotations": {"a": "2"},
    "finalizers": ["example.com/x"],
    "generateName": "other-",
    "ownerReferences": [_OWNER],
}
_REQUEST = (
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlITE1IUUNBUUF3RWpFUU1BNEdBMVVFQXd3SGMyOXRa"
    "Vzl1WlRCWk1CTUdCeXFHU000OUFnRUdDQ3FHU000OQpBd0VIQTBJQUJPclVkdzR4ZTc2VDY3R3k1b2pJNHhvS0ZGL2hS"
    "N1VxeFBIZmc1QmJLNXZINXM3cUpub2svdUI4CkV4c3hEOE5BVjZSMmd2MUh0T2hIb3Z4eVBGZkJRbGlnQURBS0JnZ3Fo"
    "a2pPUFFRREFnTkhBREJFQWlCVk4wTVEKNi9WSFJWNW4wYVJ3eE9BdWRSWjV6bjNkY1BGNFpJL0pMNUc4V3dJZ0wwT2tL"
    "VU5YVlhJVFpLQU5MZTVTV0lFKwo0OVUxbXVleGFSRmwzRVVGTTE4PQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNU"
    "LS0tLS0K"
)


def _pod(metadata: Object | None = None, **spec: Any) -> Object:
    containers = [
        {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}},
        {"name": "d", "image": "i"},
    ]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a", "labels": {"l": "1"}, **(metadata or {})},
        "spec": {"containers": containers, **spec},
    }


def _signing_request(metadata: Object | None = None, **fields: Any) -> Object:
    spec = {"request": _REQUEST, "signerName": "example.com/a", "usages": ["client auth"]}
    return {
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "metadata": {"name": "c-{ns}", **(metadata or {})},
        "spec": spec,
        **fields,
    }


def _scale(name: str = "a", **fields: Any) -> Object:
    return {
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {"name": name, **fields.pop("metadata", {})},
        **fields,
    }


def _binding(name: str = "a", target: Object | None = None, **metadata: Any) -> Object:
    return {"metadata": {"name": name, **metadata}, "target": target or {"name": "n"}}


def _eviction(name: str = "a", **fields: Any) -> Object:
    metadata = {"name": name}
    return {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata, **fields}


_DEPLOYMENT: Object = {
    "metadata": {"name": "a", "labels": {"l": "1"}},
    "spec": {
        "selector": {"matchLabels": {"app": "a"}},
        "template": {
            "metadata": {"labels": {"app": "a"}},
            "spec": {"containers": [{"name": "c", "image": "i"}]},
        },
    },
}
_APPROVED = {"type": "Approved", "status": "True", "reason": "r", "message": "m"}
_EPHEMERAL = {"name": "e", "image": "x"}
_RESIZED = {"name": "c", "image": "j", "resources": {"requests": {"cpu": "2"}}}

CASES: dict[str, list[Step]] = {
    "ephemeral containers are replaced": [
        ("POST", _PODS, _pod()),
        (
            "PUT",
            f"{_PODS}/a/ephemeralcontainers",
            _pod(_CHANGED, ephemeralContainers=[_EPHEMERAL], priority=3),
        ),
        ("GET", f"{_PODS}/a", None),
        (
            "PUT",
            f"{_PODS}/a/ephemeralcontainers",
            _pod(ephemeralContainers=[{**_EPHEMERAL, "image": "y"}]),
        ),
        ("PUT", f"{_PODS}/a/ephemeralcontainers", _pod()),
    ],
    "ephemeral containers are patched": [
        ("POST", _PODS, _pod()),
        (
            "PATCH",
            f"{_PODS}/a/ephemeralcontainers",
            {
                "metadata": _CHANGED,
                "spec": {"ephemeralContainers": [_EPHEMERAL], "nodeName": "n"},
                "status": {"phase": "Running"},
            },
            _STRATEGIC,
        ),
    ],
    "ephemeral containers are applied": [
        ("POST", _PODS, _pod()),
        (
            "PATCH",
            f"{_PODS}/a/ephemeralcontainers?fieldManager=m&force=true",
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": "a", "labels": {"l": "3"}},
                "spec": {
                    "ephemeralContainers": [_EPHEMERAL],
                    "containers": [{"name": "c", "image": "z"}],
                },
            },
            _APPLY,
        ),
    ],
    "a pod is resized": [
        ("POST", _PODS, _pod()),
        (
            "PUT",
            f"{_PODS}/a/resize",
            _pod(_CHANGED, containers=[_RESIZED, {"name": "d", "image": "k"}], priority=4),
        ),
        ("GET", f"{_PODS}/a", None),
        (
            "PATCH",
            f"{_PODS}/a/resize",
            {"metadata": {"labels": {"l": "4"}}, "spec": {"containers": [_RESIZED]}},
            _STRATEGIC,
        ),
    ],
    "a resize is applied": [
        ("POST", _PODS, _pod()),
        (
            "PATCH",
            f"{_PODS}/a/resize?fieldManager=m&force=true",
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": "a", "labels": {"l": "3"}},
                "spec": {"containers": [_RESIZED]},
            },
            _APPLY,
        ),
    ],
    "a signing request is approved": [
        ("POST", _CSRS, _signing_request(), _SOMEONE),
        (
            "PUT",
            f"{_CSRS}/c-{{ns}}/approval",
            _signing_request(
                {**_CHANGED, "finalizers": []},
                status={"certificate": "eA==", "conditions": [_APPROVED]},
            ),
        ),
        ("DELETE", f"{_CSRS}/c-{{ns}}", None),
    ],
    "an approval is applied": [
        ("POST", _CSRS, _signing_request(), _SOMEONE),
        (
            "PATCH",
            f"{_CSRS}/c-{{ns}}/approval?fieldManager=m",
            {
                "apiVersion": "certificates.k8s.io/v1",
                "kind": "CertificateSigningRequest",
                "metadata": {"name": "c-{ns}", "labels": {"x": "y"}},
                "status": {"conditions": [_APPROVED]},
            },
            _APPLY,
        ),
        ("DELETE", f"{_CSRS}/c-{{ns}}", None),
    ],
    "a signing request keeps its spec and status": [
        ("POST", _CSRS, _signing_request(status={"conditions": [_APPROVED]}), _SOMEONE),
        (
            "PUT",
            f"{_CSRS}/c-{{ns}}",
            _signing_request({"labels": {"a": "b"}}, status={"conditions": [_APPROVED]}),
        ),
        ("PATCH", f"{_CSRS}/c-{{ns}}", {"spec": {"usages": ["server auth"]}}, _MERGE),
        ("DELETE", f"{_CSRS}/c-{{ns}}", None),
    ],
    "a namespace is finalized": [
        (
            "POST",
            _NAMESPACES,
            {"metadata": {"name": "f-{ns}"}, "spec": {"finalizers": ["example.com/a"]}},
        ),
        (
            "PUT",
            f"{_NAMESPACES}/f-{{ns}}",
            {
                "metadata": {"name": "f-{ns}"},
                "spec": {"finalizers": ["example.com/b"]},
                "status": {"phase": "Terminating"},
            },
        ),
        (
            "PUT",
            f"{_NAMESPACES}/f-{{ns}}/finalize",
            {
                "metadata": {"name": "f-{ns}", "labels": {"x": "y"}, "annotations": {"a": "b"}},
                "spec": {"finalizers": ["example.com/a", "example.com/c"]},
                "status": {"phase": "Terminating"},
            },
        ),
        ("PUT", f"{_NAMESPACES}/f-{{ns}}/finalize", {"metadata": {"name": "f-{ns}"}}),
        ("DELETE", f"{_NAMESPACES}/f-{{ns}}", None),
    ],
    "a scale is written": [
        ("POST", _DEPLOYMENTS, _DEPLOYMENT),
        (
            "PUT",
            f"{_DEPLOYMENTS}/a/scale",
            _scale(metadata={"labels": {"l": "2"}}, spec={"replicas": 3}, status={"replicas": 9}),
        ),
        (
            "PATCH",
            f"{_DEPLOYMENTS}/a/scale",
            {"metadata": {"annotations": {"a": "b"}}, "spec": {"replicas": 4}},
            _MERGE,
        ),
        (
            "PATCH",
            f"{_DEPLOYMENTS}/a/scale",
            [{"op": "replace", "path": "/spec/replicas", "value": 5}],
            _JSON,
        ),
        (
            "PATCH",
            f"{_DEPLOYMENTS}/a/scale?fieldManager=m&force=true",
            _scale(spec={"replicas": 6}),
            _APPLY,
        ),
        ("GET", f"{_DEPLOYMENTS}/a", None),
    ],
    "a scale is rejected": [
        ("POST", _DEPLOYMENTS, _DEPLOYMENT),
        ("PUT", f"{_DEPLOYMENTS}/a/scale", _scale(spec={"replicas": -1})),
        ("PUT", f"{_DEPLOYMENTS}/a/scale", _scale("b", spec={"replicas": 1})),
        (
            "PUT",
            f"{_DEPLOYMENTS}/a/scale",
            _scale(metadata={"resourceVersion": "1"}, spec={"replicas": 2}),
        ),
        ("PUT", f"{_DEPLOYMENTS}/a/scale", _scale(metadata={"uid": "1"}, spec={"replicas": 2})),
        ("PUT", f"{_DEPLOYMENTS}/a/scale", _scale()),
    ],
    "a pod is bound": [
        ("POST", _PODS, _pod()),
        (
            "POST",
            f"{_PODS}/a/binding",
            _binding(annotations={"x": "y"}, labels={"q": "r", "l": "9"}),
        ),
        ("GET", f"{_PODS}/a", None),
        ("POST", f"{_PODS}/a/binding", _binding(target={"name": "m"})),
        ("POST", "/api/v1/namespaces/{ns}/bindings", _binding(target={"name": "m"})),
    ],
    "a binding is rejected": [
        ("POST", _PODS, _pod()),
        ("POST", f"{_PODS}/a/binding", _binding(target={"kind": "Pod", "name": "n"})),
        ("POST", f"{_PODS}/a/binding", _binding(target={"kind": "Node"})),
        ("POST", f"{_PODS}/a/binding", _binding("b")),
        ("POST", f"{_PODS}/a/binding", {"target": {"name": "n"}}),
        ("POST", f"{_PODS}/a/binding", _binding(uid="1")),
        ("POST", f"{_PODS}/a/binding", _binding(namespace="default")),
        ("POST", f"{_PODS}/b/binding", _binding("b")),
        ("POST", "/api/v1/namespaces/{ns}/bindings", _binding()),
        ("GET", f"{_PODS}/a", None),
    ],
    "a pod is evicted": [
        ("POST", _PODS, _pod()),
        ("POST", f"{_PODS}/a/eviction", _eviction("b")),
        ("POST", f"{_PODS}/a/eviction?dryRun=All", _eviction()),
        (
            "POST",
            f"{_PODS}/a/eviction",
            _eviction(deleteOptions={"preconditions": {"uid": "1"}}),
        ),
        ("POST", f"{_PODS}/a/eviction", _eviction(deleteOptions={"gracePeriodSeconds": 0})),
        ("GET", f"{_PODS}/a", None),
        ("POST", f"{_PODS}/a/eviction", _eviction()),
    ],
    "a token request is rejected": [
        ("POST", _ACCOUNTS, {"metadata": {"name": "s"}}),
        ("POST", f"{_ACCOUNTS}/s/token", {"spec": {"expirationSeconds": 10}}),
        ("POST", f"{_ACCOUNTS}/s/token", {"metadata": {"name": "q"}, "spec": {}}),
        ("POST", f"{_ACCOUNTS}/s/token", {"metadata": {"namespace": "default"}, "spec": {}}),
        ("POST", f"{_ACCOUNTS}/x/token", {"spec": {}}),
    ],
}
