"""The proxies of services, pods and nodes where there is nothing to connect to."""

from __future__ import annotations

from typing import Any

SERVICES = "/api/v1/namespaces/{ns}/services"
PODS = "/api/v1/namespaces/{ns}/pods"
NODES = "/api/v1/nodes"
SLICES = "/apis/discovery.k8s.io/v1/namespaces/{ns}/endpointslices"
ENDPOINTS = "/api/v1/namespaces/{ns}/endpoints"
MERGE = {"Content-Type": "application/merge-patch+json"}
JANE = {"Impersonate-User": "jane"}

SERVICE = {
    "metadata": {"name": "web"},
    "spec": {"ports": [{"name": "http", "port": 80}, {"name": "admin", "port": 81}]},
}
POD = {
    "metadata": {"name": "web-1"},
    "spec": {"containers": [{"name": "app", "image": "i", "ports": [{"containerPort": 8080}]}]},
}


def _slice(address: str, **target: str) -> dict[str, Any]:
    endpoint: dict[str, Any] = {"addresses": [address], "conditions": {"ready": True}}
    if target:
        endpoint["targetRef"] = {"kind": "Pod", "namespace": "{ns}", **target}
    return {
        "metadata": {"name": "web-a", "labels": {"kubernetes.io/service-name": "web"}},
        "addressType": "IPv4",
        "endpoints": [endpoint],
        "ports": [{"name": "http", "port": 8080}],
    }


def _status(address: str) -> tuple[Any, ...]:
    status = {"podIP": address, "podIPs": [{"ip": address}]}
    return ("PATCH", f"{PODS}/web-1/status", {"status": status}, MERGE)


CASES: dict[str, list[tuple[Any, ...]]] = {
    "a proxy of what does not exist": [
        ("GET", f"{SERVICES}/web/proxy/", None),
        ("GET", f"{SERVICES}/web:80/proxy/healthz", None),
        ("GET", f"{PODS}/web-1/proxy/", None),
        ("POST", f"{PODS}/http:web-1:80/proxy/a/b", {}),
        ("GET", f"{NODES}/{{ns}}/proxy/healthz", None),
        ("GET", "/api/v1/namespaces/{ns}/configmaps/web/proxy/", None),
    ],
    "names of proxies that cannot be read": [
        ("GET", f"{SERVICES}/ftp:web:80/proxy/", None),
        ("GET", f"{SERVICES}/a:b:c:d/proxy/", None),
        ("GET", f"{SERVICES}/:80/proxy/", None),
        ("GET", f"{PODS}/ftp:web-1:80/proxy/", None),
        ("GET", f"{PODS}/a:b:c:d/proxy/", None),
        ("GET", f"{PODS}/web-1:/proxy/", None),
        ("GET", f"{NODES}/ftp:x:80/proxy/", None),
        ("GET", f"{NODES}/a:b:c:d/proxy/", None),
    ],
    "a service without endpoints": [
        ("POST", SERVICES, SERVICE),
        ("GET", f"{SERVICES}/web/proxy/", None),
        ("GET", f"{SERVICES}/web:80/proxy/", None),
        ("GET", f"{SERVICES}/web:http/proxy/", None),
        ("GET", f"{SERVICES}/web:82/proxy/", None),
        ("GET", f"{SERVICES}/web:none/proxy/", None),
        ("GET", f"{SERVICES}/https:web:http/proxy/", None),
    ],
    "a service whose endpoints are no pods": [
        ("POST", SERVICES, SERVICE),
        ("POST", SLICES, _slice("10.9.9.9")),
        ("GET", f"{SERVICES}/web:http/proxy/", None),
    ],
    "a service whose endpoint is a pod without the address": [
        ("POST", SERVICES, SERVICE),
        ("POST", PODS, POD),
        ("POST", SLICES, _slice("10.9.9.9", name="web-1")),
        ("GET", f"{SERVICES}/web:80/proxy/", None),
        ("GET", f"{SERVICES}/web:none/proxy/", None),
        ("GET", f"{SERVICES}/web:admin/proxy/", None),
    ],
    "a service with an endpoint at a forbidden address": [
        ("POST", SERVICES, SERVICE),
        ("POST", PODS, POD),
        _status("127.0.0.1"),
        ("POST", ENDPOINTS, {"metadata": {"name": "web"}}),
        ("GET", f"{SERVICES}/web:80/proxy/", None),
    ],
    "a service without ports": [
        ("POST", SERVICES, {
            "metadata": {"name": "web"}, "spec": {"clusterIP": "None", "selector": {"a": "b"}},
        }),
        ("GET", f"{SERVICES}/web/proxy/", None),
        ("GET", f"{SERVICES}/web:80/proxy/", None),
    ],
    "a pod without an address": [
        ("POST", PODS, POD),
        ("GET", f"{PODS}/web-1/proxy/", None),
        ("GET", f"{PODS}/web-1:80/proxy/", None),
        ("GET", f"{PODS}/https:web-1:80/proxy/", None),
        ("GET", f"{PODS}/web-1/proxy", None),
        ("GET", f"{PODS}/web-1/proxy?a=b", None),
    ],
    "a pod at a forbidden address": [
        ("POST", PODS, POD),
        _status("127.0.0.1"),
        ("GET", f"{PODS}/web-1/proxy/", None),
        ("GET", f"{PODS}/web-1:80/proxy/", None),
        _status("169.254.1.1"),
        ("GET", f"{PODS}/web-1:80/proxy/", None),
    ],
    "a node without an address": [
        ("POST", NODES, {"metadata": {"name": "{ns}"}}),
        ("GET", f"{NODES}/{{ns}}/proxy/healthz", None),
        ("GET", f"{NODES}/{{ns}}:9100/proxy/metrics", None),
        ("GET", f"{NODES}/https:{{ns}}:9100/proxy/metrics", None),
    ],
    "a node at a forbidden address": [
        ("POST", NODES, {"metadata": {"name": "{ns}"}}),
        ("PATCH", f"{NODES}/{{ns}}/status", {"status": {
            "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
        }}, MERGE),
        ("GET", f"{NODES}/{{ns}}/proxy/healthz", None),
        ("GET", f"{NODES}/{{ns}}:9100/proxy/metrics", None),
    ],
    "methods of a proxy": [
        ("POST", PODS, POD),
        *((method, f"{PODS}/web-1/proxy/a", None)
          for method in ("GET", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")),
        *((method, f"{PODS}/web-1/proxy", None)
          for method in ("GET", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")),
    ],
    "a proxy for a user who may not": [
        *((method, f"{PODS}/http:web-1:80/proxy/a", None, JANE)
          for method in ("GET", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")),
        ("POST", f"{PODS}/web-1", {}, JANE),
        ("PUT", PODS, {}, JANE),
        ("PATCH", PODS, {}, JANE),
        ("OPTIONS", PODS, None, JANE),
        ("GET", f"{SERVICES}/web:80/proxy/a", None, JANE),
        ("GET", f"{NODES}/a:80/proxy/a", None, JANE),
        ("GET", f"{NODES}/a/proxy/metrics", None, JANE),
        ("GET", f"{NODES}/a/proxy/pods", None, JANE),
        ("POST", f"{NODES}/a/proxy/exec/b/c/d", None, JANE),
    ],
    "paths of a proxy": [
        ("POST", PODS, POD),
        ("GET", f"{PODS}/web-1/proxy//", None),
        ("GET", f"{PODS}/web-1/proxy//a//b", None),
        ("GET", f"{PODS}/web-1/proxy/a%2Fb", None),
        ("GET", "/api/v1/watch/namespaces/{ns}/pods/web-1/proxy/a", None),
        ("GET", "/api/v1/proxy/namespaces/{ns}/pods/web-1/a", None),
    ],
}  # fmt: skip
