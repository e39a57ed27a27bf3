"""Answers of paths that are not resources, and of representations that are not objects."""

from __future__ import annotations

from typing import Any

CONFIG_MAPS = "/api/v1/namespaces/{ns}/configmaps"
NAMESPACE = "/api/v1/namespaces/default"
RULE = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}


def _as(kind: str, version: str = "v1") -> dict[str, str]:
    return {"Accept": f"application/json;as={kind};v={version};g=meta.k8s.io"}


CASES: dict[str, list[tuple[Any, ...]]] = {
    "health checks": [
        ("GET", "/healthz", None),
        ("POST", "/livez", None),
        ("GET", "/readyz?verbose", None),
        ("GET", "/livez?verbose&exclude=etcd&exclude=nothing", None),
        ("GET", "/livez/etcd", None),
        ("GET", "/readyz/poststarthook/rbac/bootstrap-roles", None),
        ("GET", "/livez/nothing", None),
        ("GET", "/healthz/", None),
    ],
    "paths that no handler serves": [
        ("GET", "/nothing", None),
        ("POST", "/nothing", {}),
        ("GET", "//api/v1", None),
        ("GET", "/openapi", None),
        ("GET", "/openapi/v3/apis/nothing/v1", None),
        ("GET", "/apis/apps/v9/things", None),
        ("POST", "/apis/apps/v9/things", {}),
    ],
    "methods that a path does not allow": [
        ("POST", "/version", {}),
        ("OPTIONS", "/api", None),
        ("DELETE", "/apis/apps/v1", None),
        ("POST", NAMESPACE, {}),
        ("PUT", CONFIG_MAPS, {}),
        ("OPTIONS", CONFIG_MAPS, None),
        ("GET", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", None),
    ],
    "media types that a response cannot have": [
        ("GET", CONFIG_MAPS, None, {"Accept": "text/html"}),
        ("GET", CONFIG_MAPS, None, {"Accept": "application/*"}),
        ("GET", CONFIG_MAPS, None, _as("Thing")),
        ("GET", CONFIG_MAPS, None, _as("PartialObjectMetadata")),
        ("GET", NAMESPACE, None, _as("PartialObjectMetadataList")),
        ("GET", "/apis", None, {"Accept": "text/html"}),
        ("GET", "/api/v1", None, {"Accept": "text/html"}),
        ("GET", "/apis/apps", None, {"Accept": "text/html"}),
        ("GET", "/version", None, {"Accept": "application/yaml"}),
    ],
    "media types that a body cannot have": [
        ("POST", CONFIG_MAPS, "{}", {"Content-Type": "text/plain"}),
        ("POST", CONFIG_MAPS, "{}", {"Content-Type": "text/yaml"}),
        ("PUT", f"{CONFIG_MAPS}/a", "{}", {"Content-Type": "application/cbor"}),
        ("PATCH", f"{CONFIG_MAPS}/a", "{}", {"Content-Type": "application/json"}),
    ],
    "metadata only": [
        ("GET", CONFIG_MAPS, None, _as("PartialObjectMetadataList")),
        ("POST", CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {"b": "c"}}),
        ("GET", CONFIG_MAPS, None, _as("PartialObjectMetadataList")),
        ("GET", f"{CONFIG_MAPS}/a", None, _as("PartialObjectMetadata", "v1beta1")),
    ],
    "the weights of media types": [
        ("GET", NAMESPACE, None, {"Accept": "text/html, application/json;q=0.5"}),
        ("GET", NAMESPACE, None, {"Accept": "application/json;q=0"}),
        ("GET", NAMESPACE, None, {"Accept": "*/*"}),
    ],
    "names with a colon": [
        ("POST", "/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets", {
            "metadata": {"name": "a:b"}, "spec": {"minAvailable": 1},
        }),
        ("GET", "/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets/a:b", None),
        ("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles", {
            "metadata": {"name": "system:a:B"}, "rules": [RULE],
        }),
        ("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles", {
            "metadata": {"name": "a%b"}, "rules": [RULE],
        }),
        ("POST", CONFIG_MAPS, {"metadata": {"name": "a:b"}}),
        ("POST", "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas?dryRun=All", {
            "metadata": {"name": "{ns}:a"},
            "spec": {"priorityLevelConfiguration": {"name": "exempt"}},
        }),
    ],
    "names that must be labels": [
        ("POST", "/apis/apps/v1/namespaces/{ns}/statefulsets", {"metadata": {"name": "a.b"}}),
        ("POST", "/api/v1/namespaces/{ns}/services", {"metadata": {"name": "1a"}}),
        ("POST", "/apis/networking.k8s.io/v1/ipaddresses", {
            "metadata": {"name": "10.0.0"},
            "spec": {"parentRef": {"resource": "services", "namespace": "{ns}", "name": "a"}},
        }),
    ],
}  # fmt: skip
