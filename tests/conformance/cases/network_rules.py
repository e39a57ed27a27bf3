"""Rules and defaults of the groups networking.k8s.io and discovery.k8s.io.

Each case is a list of requests; `{ns}` is a fresh namespace.
"""

from __future__ import annotations

from typing import Any

_MERGE = {"Content-Type": "application/merge-patch+json"}
_NETWORKING = "/apis/networking.k8s.io/v1"
_INGRESSES = f"{_NETWORKING}/namespaces/{{ns}}/ingresses"
_POLICIES = f"{_NETWORKING}/namespaces/{{ns}}/networkpolicies"
_SLICES = "/apis/discovery.k8s.io/v1/namespaces/{ns}/endpointslices"
_BACKEND = {"service": {"name": "s", "port": {"number": 80}}}


def _ingress(**spec: Any) -> tuple[Any, ...]:
    return ("POST", _INGRESSES, {"metadata": {"name": "x"}, "spec": spec})


def _paths(*paths: dict[str, Any]) -> tuple[Any, ...]:
    return _ingress(rules=[{"http": {"paths": list(paths)}}])


def _policy(**spec: Any) -> tuple[Any, ...]:
    return ("POST", _POLICIES, {"metadata": {"name": "x"}, "spec": spec})


def _slice(**fields: Any) -> tuple[Any, ...]:
    return ("POST", _SLICES, {"metadata": {"name": "x"}, **fields})


def _cluster(
    plural: str, body: dict[str, Any], *patches: dict[str, Any], name: str = "x-{ns}"
) -> list[tuple[Any, ...]]:
    path = f"{_NETWORKING}/{plural}"
    return [
        ("POST", path, {"metadata": {"name": name}, **body}),
        *(("PATCH", f"{path}/{name}", patch, _MERGE) for patch in patches),
        ("DELETE", f"{path}/{name}", None),
    ]


CASES: dict[str, list[tuple[Any, ...]]] = {
    "an ingress without a spec": [("POST", _INGRESSES, {"metadata": {"name": "x"}})],
    "an ingress with a default backend": [_ingress(defaultBackend=_BACKEND)],
    "an ingress with rules": [
        _ingress(
            ingressClassName="c",
            rules=[
                {
                    "host": "a.b",
                    "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": _BACKEND}]},
                },
                {"host": "*.b"},
            ],
            tls=[{"hosts": ["a.b"], "secretName": "s"}],
        ),
        ("PATCH", f"{_INGRESSES}/x", {"spec": {"ingressClassName": "d"}}, _MERGE),
        (
            "PATCH",
            f"{_INGRESSES}/x/status",
            {
                "status": {
                    "loadBalancer": {
                        "ingress": [{"ip": "bad"}, {"hostname": "A_b"}, {"hostname": "1.2.3.4"}]
                    }
                }
            },
            _MERGE,
        ),
        (
            "PATCH",
            f"{_INGRESSES}/x/status",
            {
                "status": {
                    "loadBalancer": {
                        "ingress": [
                            {
                                "ip": "1.2.3.4",
                                "ports": [{"port": 0, "protocol": "X", "error": "a b"}],
                            }
                        ]
                    }
                }
            },
            _MERGE,
        ),
    ],
    "hosts of an ingress": [
        _ingress(
            rules=[
                {"host": "1.2.3.4"},
                {"host": "A_b"},
                {"host": "*.A"},
                {"host": "a.*.b"},
                {"host": "*"},
            ],
            tls=[{"hosts": ["A_b", "*.a.b", "*x"]}, {"secretName": "A_b"}],
            ingressClassName="A_b",
        )
    ],
    "paths of an ingress": [
        _paths(
            {"backend": _BACKEND},
            {"pathType": "X", "path": "/", "backend": _BACKEND},
            {"pathType": "Prefix", "path": "a", "backend": _BACKEND},
            {"pathType": "Exact", "path": "", "backend": _BACKEND},
            {"pathType": "Exact", "path": "/a//b", "backend": _BACKEND},
            {"pathType": "Prefix", "path": "/a/../b", "backend": _BACKEND},
            {"pathType": "Prefix", "path": "/a/..", "backend": _BACKEND},
            {"pathType": "Prefix", "path": "/a%2fb/./c", "backend": _BACKEND},
            {"pathType": "ImplementationSpecific", "backend": _BACKEND},
            {"pathType": "ImplementationSpecific", "path": "a", "backend": _BACKEND},
        )
    ],
    "no paths of an ingress": [_paths()],
    "backends of an ingress": [
        _paths(
            {"pathType": "Prefix", "path": "/"},
            {"pathType": "Prefix", "path": "/", "backend": {"service": {}}},
            {
                "pathType": "Prefix",
                "path": "/",
                "backend": {"service": {"name": "A_b", "port": {"number": 1, "name": "a"}}},
            },
            {
                "pathType": "Prefix",
                "path": "/",
                "backend": {"service": {"name": "a", "port": {"number": 70000}}},
            },
            {
                "pathType": "Prefix",
                "path": "/",
                "backend": {"service": {"name": "a", "port": {"name": "UPPER"}}},
            },
            {
                "pathType": "Prefix",
                "path": "/",
                "backend": {"service": {"name": "a"}, "resource": {"kind": "K", "name": "n"}},
            },
            {"pathType": "Prefix", "path": "/", "backend": {"resource": {}}},
            {
                "pathType": "Prefix",
                "path": "/",
                "backend": {"resource": {"apiGroup": "A_b", "kind": "a/b", "name": "c/d"}},
            },
        ),
        _ingress(defaultBackend={"resource": {"kind": "K", "name": "n"}}),
    ],
    "the class of an ingress as an annotation": [
        (
            "POST",
            _INGRESSES,
            {
                "metadata": {"name": "x", "annotations": {"kubernetes.io/ingress.class": "a"}},
                "spec": {"defaultBackend": _BACKEND, "ingressClassName": "b"},
            },
        ),
        (
            "POST",
            _INGRESSES,
            {
                "metadata": {"name": "x", "annotations": {"kubernetes.io/ingress.class": "a"}},
                "spec": {"defaultBackend": _BACKEND},
            },
        ),
    ],
    "an ingress class without a spec": _cluster("ingressclasses", {}),
    "an ingress class": _cluster(
        "ingressclasses",
        {"spec": {"controller": "example.com/c"}},
        {"spec": {"controller": "example.com/d"}},
        {"spec": {"parameters": {"kind": "K", "name": "n"}}},
        {"spec": {"parameters": {"name": "m"}}},
        {"metadata": {"labels": {"a": "b"}}},
    ),
    "bad ingress classes": [
        *_cluster("ingressclasses", {"spec": {"controller": "a b"}}),
        *_cluster("ingressclasses", {"spec": {"controller": "x" * 251}}),
        *_cluster(
            "ingressclasses",
            {
                "spec": {
                    "controller": "example.com/c",
                    "parameters": {"apiGroup": "A_b", "kind": "a/b", "name": "c/d", "scope": "X"},
                }
            },
        ),
        *_cluster(
            "ingressclasses",
            {"spec": {"controller": "example.com/c", "parameters": {"scope": "Namespace"}}},
        ),
        *_cluster(
            "ingressclasses",
            {
                "spec": {
                    "controller": "example.com/c",
                    "parameters": {"kind": "K", "name": "n", "scope": "Cluster", "namespace": "a"},
                }
            },
        ),
        *_cluster(
            "ingressclasses",
            {
                "spec": {
                    "controller": "example.com/c",
                    "parameters": {
                        "kind": "K",
                        "name": "n",
                        "scope": "Namespace",
                        "namespace": "A_b",
                    },
                }
            },
        ),
    ],
    "a network policy without a spec": [("POST", _POLICIES, {"metadata": {"name": "x"}})],
    "a network policy": [
        _policy(
            podSelector={},
            ingress=[
                {"from": [{"podSelector": {}}], "ports": [{"port": 80}, {"port": 1, "endPort": 5}]}
            ],
            egress=[{"to": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}}]}],
        ),
        ("PATCH", f"{_POLICIES}/x", {"spec": {"egress": []}}, _MERGE),
    ],
    "bad network policies": [
        _policy(
            podSelector={"matchLabels": {"a b": "c"}},
            policyTypes=["X", "Ingress"],
            ingress=[
                {
                    "ports": [
                        {"protocol": "X", "port": 0},
                        {"port": "UPPER"},
                        {"endPort": 5},
                        {"port": 5, "endPort": 3},
                        {"port": "web", "endPort": 3},
                        {"port": 5, "endPort": 70000},
                    ],
                    "from": [
                        {},
                        {"podSelector": {}, "ipBlock": {"cidr": "10.0.0.0/8"}},
                        {"ipBlock": {"cidr": ""}},
                        {"ipBlock": {"cidr": "bad", "except": ["bad"]}},
                        {"ipBlock": {"cidr": "10.0.0.1/8", "except": ["11.0.0.0/8", "10.0.0.0/8"]}},
                        {"ipBlock": {"cidr": "10.0.0.0/16", "except": ["10.0.0.0/8"]}},
                        {
                            "namespaceSelector": {
                                "matchExpressions": [{"key": "a", "operator": "X"}]
                            }
                        },
                    ],
                }
            ],
        ),
        _policy(podSelector={}, policyTypes=["Ingress", "Egress", "Ingress"]),
    ],
    # --- addresses
    "an address": _cluster(
        "ipaddresses",
        {"spec": {"parentRef": {"resource": "services", "name": "a", "namespace": "b"}}},
        {"spec": {"parentRef": {"name": "c"}}},
        name="198.51.100.7",
    ),
    "bad addresses": [
        *_cluster("ipaddresses", {}, name="198.51.100.8"),
        *_cluster(
            "ipaddresses",
            {"spec": {"parentRef": {"resource": "services", "name": "a"}}},
            name="198.51.100.08",
        ),
        *_cluster(
            "ipaddresses",
            {
                "spec": {
                    "parentRef": {
                        "group": "A_b",
                        "resource": "a/b",
                        "name": "c/d",
                        "namespace": "e/f",
                    }
                }
            },
            name="198.51.100.9",
        ),
        *_cluster(
            "ipaddresses",
            {"spec": {"parentRef": {"resource": "services", "name": "a"}}},
            name="not-an-address",
        ),
    ],
    "a service network": _cluster(
        "servicecidrs",
        {"spec": {"cidrs": ["198.51.100.0/24"]}},
        {"spec": {"cidrs": ["198.51.101.0/24"]}},
    ),
    "bad service networks": [
        *_cluster("servicecidrs", {}),
        *_cluster("servicecidrs", {"spec": {"cidrs": ["bad", "198.51.100.1/24"]}}),
        *_cluster("servicecidrs", {"spec": {"cidrs": ["198.51.100.0/24", "198.51.101.0/24"]}}),
        *_cluster(
            "servicecidrs",
            {"spec": {"cidrs": ["198.51.100.0/24", "2001:db8::/64", "2001:db9::/64"]}},
        ),
    ],
    # --- slices
    "a slice without fields": [("POST", _SLICES, {"metadata": {"name": "x"}})],
    "a slice": [
        _slice(
            addressType="IPv4",
            endpoints=[{"addresses": ["1.2.3.4"]}],
            ports=[{"port": 80}, {"name": "b", "port": 81, "protocol": "UDP"}],
        ),
        ("PATCH", f"{_SLICES}/x", {"addressType": "IPv6"}, _MERGE),
    ],
    "bad slices": [
        _slice(addressType="X", endpoints=[{"addresses": ["1.2.3.4"]}]),
        _slice(
            addressType="IPv4",
            endpoints=[
                {"addresses": []},
                {"addresses": ["bad"]},
                {"addresses": ["::1"]},
                {"addresses": ["127.0.0.1"]},
                {"addresses": ["01.2.3.4"]},
                {
                    "addresses": ["1.2.3.4"],
                    "hostname": "A_b",
                    "nodeName": "A b",
                    "zone": "a b",
                    "deprecatedTopology": {"a b": "c"},
                    "hints": {"forZones": [{"name": ""}, {"name": "a"}, {"name": "a"}]},
                },
                {"addresses": ["1.2.3.4"], "deprecatedTopology": {"kubernetes.io/hostname": "n"}},
            ],
            ports=[
                {"name": "A_b", "port": 0, "protocol": "X", "appProtocol": "a b"},
                {"name": "a", "port": 1},
                {"name": "a", "port": 2},
                {"port": 3},
            ],
        ),
        _slice(addressType="IPv6", endpoints=[{"addresses": ["1.2.3.4"]}]),
        _slice(addressType="FQDN", endpoints=[{"addresses": ["A_b"]}]),
        _slice(addressType="FQDN", endpoints=[{"addresses": ["a.b"]}]),
        _slice(
            addressType="IPv4",
            endpoints=[{"addresses": ["1.2.3.4"] * 2 + [f"1.2.4.{n}" for n in range(101)]}],
        ),
    ],
}
