"""Rules and defaults of the core kinds other than pods.

Each case is a list of requests; `{ns}` is a fresh namespace.
"""

from __future__ import annotations

from typing import Any

_NS = "/api/v1/namespaces/{ns}"
_MERGE = {"Content-Type": "application/merge-patch+json"}
_TEMPLATE = {
    "metadata": {"labels": {"a": "b"}},
    "spec": {"containers": [{"name": "a", "image": "i"}]},
}


def _create(plural: str, body: dict[str, Any], name: str = "x") -> tuple[Any, ...]:
    return ("POST", f"{_NS}/{plural}", {"metadata": {"name": name}, **body})


def _patch(plural: str, body: dict[str, Any], name: str = "x") -> tuple[Any, ...]:
    return ("PATCH", f"{_NS}/{plural}/{name}", body, _MERGE)


def _cluster(plural: str, body: dict[str, Any], *patches: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Create a cluster-scoped object, patch it, delete it."""
    path = f"/api/v1/{plural}"
    return [
        ("POST", path, {"metadata": {"name": "x-{ns}"}, **body}),
        *(("PATCH", f"{path}/x-{{ns}}", patch, _MERGE) for patch in patches),
        # Volumes are protected until a controller finds that no pod uses them.
        *(
            [("PATCH", f"{path}/x-{{ns}}", {"metadata": {"finalizers": None}}, _MERGE)]
            if plural == "persistentvolumes"
            else []
        ),
        ("DELETE", f"{path}/x-{{ns}}", None),
    ]


def _service(**spec: Any) -> tuple[Any, ...]:
    return _create("services", {"spec": spec})


def _claim(**spec: Any) -> dict[str, Any]:
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {"spec": {**wanted, **spec}}


def _volume(**spec: Any) -> dict[str, Any]:
    wanted = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}}
    return {"spec": {**wanted, **spec}}


_PORT = [{"port": 80}]
_HOST_PATH = {"hostPath": {"path": "/a"}}

CASES: dict[str, list[tuple[Any, ...]]] = {
    # --- nodes
    "a node without a spec": _cluster("nodes", {}),
    "a node that cannot be scheduled": _cluster("nodes", {"spec": {"unschedulable": True}}),
    "a node with a ready condition": _cluster(
        "nodes",
        {
            "status": {
                "conditions": [{"type": "Ready", "status": "True"}],
                "capacity": {"cpu": "1", "pods": "10"},
                "addresses": [{"type": "InternalIP", "address": "1.2.3.4"}],
            }
        },
    ),
    "taints of a node": _cluster(
        "nodes",
        {
            "spec": {
                "taints": [
                    {"key": "a b", "effect": "NoSchedule"},
                    {"key": "a", "effect": "Wrong"},
                    {"key": "a"},
                    {"effect": "NoSchedule"},
                    {"key": "b", "value": "x y", "effect": "NoSchedule"},
                    {"key": "c", "effect": "NoSchedule"},
                    {"key": "c", "effect": "NoSchedule"},
                ]
            }
        },
    ),
    "pod networks of a node": _cluster(
        "nodes",
        {"spec": {"podCIDR": "bad"}},
    ),
    "two pod networks of one family": _cluster(
        "nodes", {"spec": {"podCIDR": "1.0.0.0/24", "podCIDRs": ["1.0.0.0/24", "1.0.1.0/24"]}}
    ),
    "pod networks that differ": _cluster(
        "nodes", {"spec": {"podCIDR": "1.0.0.0/24", "podCIDRs": ["1.0.1.0/24"]}}
    ),
    "change a pod network": _cluster(
        "nodes",
        {"spec": {"podCIDR": "1.0.0.0/24"}},
        {"spec": {"podCIDR": "1.0.1.0/24", "podCIDRs": ["1.0.1.0/24"]}},
        {"spec": {"providerID": "a"}},
        {"spec": {"providerID": "b"}},
        {"spec": {"unschedulable": True}},
    ),
    "capacities of a node": _cluster(
        "nodes", {"status": {"capacity": {"a b": "1", "example.com/x": "1.5", "cpu": "-1"}}}
    ),
    "addresses of a node": _cluster(
        "nodes",
        {
            "status": {
                "addresses": [
                    {"type": "InternalIP", "address": "1.2.3.4"},
                    {"type": "InternalIP", "address": "1.2.3.4"},
                ]
            }
        },
    ),
    # --- namespaces
    "a namespace with a bad finalizer": _cluster(
        "namespaces", {"spec": {"finalizers": ["a b", "c"]}}
    ),
    "a namespace without its finalizer": _cluster("namespaces", {}, {"spec": {"finalizers": []}}),
    "the finalize subresource": [
        ("POST", "/api/v1/namespaces", {"metadata": {"name": "x-{ns}"}}),
        (
            "PUT",
            "/api/v1/namespaces/x-{ns}/finalize",
            {"metadata": {"name": "x-{ns}"}, "spec": {"finalizers": ["kubernetes", "bad name"]}},
        ),
        ("DELETE", "/api/v1/namespaces/x-{ns}", None),
    ],
    # --- services
    "a service without a spec": [("POST", f"{_NS}/services", {"metadata": {"name": "x"}})],
    "a minimal service": [_service(ports=_PORT)],
    "a headless service": [_service(ports=_PORT, clusterIP="None")],
    "a headless service without ports": [_service(clusterIP="None", selector={"a": "b"})],
    "a headless service with a node port": [
        _service(ports=_PORT, clusterIP="None", type="NodePort")
    ],
    "a node port service": [_service(ports=_PORT, type="NodePort")],
    "a load balancer": [_service(ports=_PORT, type="LoadBalancer")],
    "a load balancer of the local policy": [
        _service(ports=_PORT, type="LoadBalancer", externalTrafficPolicy="Local"),
        _patch("services", {"spec": {"externalTrafficPolicy": "Cluster"}}),
        _patch("services", {"spec": {"externalTrafficPolicy": "Local"}}),
    ],
    "a load balancer with a bad health check port": [
        _service(
            ports=_PORT, type="LoadBalancer", externalTrafficPolicy="Local", healthCheckNodePort=5
        ),
    ],
    "a health check port without the local policy": [
        _service(ports=_PORT, type="LoadBalancer", healthCheckNodePort=30123),
    ],
    "a negative health check port": [
        _service(
            ports=_PORT, type="LoadBalancer", externalTrafficPolicy="Local", healthCheckNodePort=-3
        ),
    ],
    "fields of load balancers on another type": [
        _service(
            ports=_PORT,
            externalTrafficPolicy="Local",
            allocateLoadBalancerNodePorts=True,
            loadBalancerSourceRanges=["1.0.0.0/8"],
            loadBalancerClass="a/b",
        )
    ],
    "source ranges": [
        _service(
            ports=_PORT,
            type="LoadBalancer",
            loadBalancerSourceRanges=["bad", " 1.0.0.0/8 ", "1.2.3.4/8"],
        )
    ],
    "source ranges in an annotation": [
        (
            "POST",
            f"{_NS}/services",
            {
                "metadata": {
                    "name": "x",
                    "annotations": {
                        "service.beta.kubernetes.io/load-balancer-source-ranges": "bad"
                    },
                },
                "spec": {"type": "LoadBalancer", "ports": _PORT},
            },
        )
    ],
    "the class of a load balancer": [
        _service(ports=_PORT, type="LoadBalancer", loadBalancerClass="example.com/a"),
        _patch("services", {"spec": {"loadBalancerClass": "example.com/b"}}),
        _patch("services", {"spec": {"type": "ClusterIP"}}),
        _patch("services", {"spec": {"type": "ClusterIP", "loadBalancerClass": None}}),
    ],
    "a bad class of a load balancer": [
        _service(ports=_PORT, type="LoadBalancer", loadBalancerClass="a b")
    ],
    "traffic policies": [
        _service(ports=_PORT, type="NodePort", externalTrafficPolicy="X", internalTrafficPolicy="Y")
    ],
    "traffic distribution": [
        _service(ports=_PORT, trafficDistribution="X"),
        _service(ports=_PORT, trafficDistribution="PreferClose"),
        _patch("services", {"spec": {"trafficDistribution": "PreferSameNode"}}),
    ],
    "session affinity": [
        _service(ports=_PORT, sessionAffinity="ClientIP"),
        _patch("services", {"spec": {"sessionAffinity": "None"}}),
    ],
    "a bad session affinity": [_service(ports=_PORT, sessionAffinity="X")],
    "the timeout of a session affinity": [
        _service(
            ports=_PORT,
            sessionAffinity="ClientIP",
            sessionAffinityConfig={"clientIP": {"timeoutSeconds": 86401}},
        )
    ],
    "an affinity config without affinity": [
        _service(ports=_PORT, sessionAffinityConfig={"clientIP": {"timeoutSeconds": 5}})
    ],
    "ports of a service": [
        _service(
            ports=[
                {"port": 0},
                {"port": 70000, "protocol": "X", "targetPort": 0},
                {"name": "A", "port": 1, "targetPort": "UPPER"},
                {"name": "a", "port": 2, "appProtocol": "a b"},
                {"name": "a", "port": 2},
                {"name": "b", "port": 3, "targetPort": 70000},
                {"name": "a.b", "port": 4},
            ]
        )
    ],
    "node ports of a service": [
        _service(
            type="NodePort",
            ports=[
                {"name": "a", "port": 1, "nodePort": 80},
                {"name": "b", "port": 2, "nodePort": 40000},
            ],
        )
    ],
    "the same node port for two protocols": [
        _service(
            type="NodePort",
            ports=[
                {"name": "a", "port": 1, "protocol": "TCP"},
                {"name": "b", "port": 1, "protocol": "UDP"},
            ],
        )
    ],
    "no node ports for a load balancer": [
        _service(type="LoadBalancer", ports=_PORT, allocateLoadBalancerNodePorts=False)
    ],
    "an external name": [_service(type="ExternalName", externalName="a.example.com")],
    "an external name without a name": [_service(type="ExternalName")],
    "a bad external name": [_service(type="ExternalName", externalName="A_b", clusterIP="None")],
    "an external name with an address": [
        _service(type="ExternalName", externalName="a.b", clusterIP="10.0.0.77")
    ],
    "an external name becomes a cluster address": [
        _service(type="ExternalName", externalName="a.b"),
        _patch("services", {"spec": {"type": "ClusterIP", "ports": _PORT, "externalName": None}}),
    ],
    "a cluster address becomes an external name": [
        _service(ports=_PORT),
        _patch("services", {"spec": {"type": "ExternalName", "externalName": "a.b"}}),
        _patch(
            "services", {"spec": {"type": "ExternalName", "externalName": "a.b", "clusterIP": ""}}
        ),
        _patch(
            "services",
            {
                "spec": {
                    "type": "ExternalName",
                    "externalName": "a.b",
                    "clusterIP": "",
                    "clusterIPs": None,
                }
            },
        ),
    ],
    "a headless service becomes an external name": [
        _service(ports=_PORT, clusterIP="None"),
        _patch("services", {"spec": {"type": "ExternalName", "externalName": "a.b"}}),
    ],
    "a headless service becomes a normal one": [
        _service(ports=_PORT, clusterIP="None"),
        _patch("services", {"spec": {"clusterIP": "", "clusterIPs": None}}),
    ],
    "an external name becomes headless": [
        _service(type="ExternalName", externalName="a.b"),
        _patch(
            "services",
            {
                "spec": {
                    "type": "ClusterIP",
                    "clusterIP": "None",
                    "ports": _PORT,
                    "externalName": None,
                }
            },
        ),
    ],
    "change the cluster address": [
        _service(ports=_PORT),
        _patch("services", {"spec": {"clusterIP": "10.0.0.99", "clusterIPs": ["10.0.0.99"]}}),
        _patch("services", {"spec": {"clusterIP": "None"}}),
    ],
    "a node port service becomes a cluster address": [
        _service(ports=_PORT, type="NodePort"),
        _patch("services", {"spec": {"type": "ClusterIP"}}),
        _patch("services", {"spec": {"type": "LoadBalancer"}}),
        _patch("services", {"spec": {"type": "ClusterIP"}}),
    ],
    "a service with an invalid address": [_service(ports=_PORT, clusterIP="bad")],
    "a service with an address out of range": [_service(ports=_PORT, clusterIP="1.2.3.4")],
    "addresses that differ": [_service(ports=_PORT, clusterIP="10.0.0.5", clusterIPs=["10.0.0.6"])],
    "three addresses": [
        _service(ports=_PORT, clusterIP="10.0.0.5", clusterIPs=["10.0.0.5", "::1", "::2"])
    ],
    "families of a service": [
        _service(ports=_PORT, ipFamilies=["IPv5"], ipFamilyPolicy="Wrong"),
        _service(ports=_PORT, ipFamilies=["IPv4", "IPv4"], ipFamilyPolicy="SingleStack"),
        _service(ports=_PORT, ipFamilies=["IPv6"]),
        _service(ports=_PORT, ipFamilyPolicy="RequireDualStack"),
        _service(ports=_PORT, ipFamilyPolicy="PreferDualStack"),
    ],
    "families of a headless service": [
        _service(clusterIP="None", ipFamilyPolicy="RequireDualStack"),
    ],
    "families of a headless service with a selector": [
        _service(clusterIP="None", ipFamilyPolicy="RequireDualStack", selector={"a": "b"}),
    ],
    "external addresses": [
        _service(ports=_PORT, externalIPs=["bad", "127.0.0.1", "0.0.0.0", "8.8.8.8"])
    ],
    "an external address": [_service(ports=_PORT, externalIPs=["8.8.8.8"])],
    "a selector of a service": [_service(ports=_PORT, selector={"a b": "c", "d": "e f"})],
    "a bad type of a service": [_service(ports=_PORT, type="X")],
    "the status of a load balancer": [
        _service(ports=_PORT, type="LoadBalancer"),
        (
            "PATCH",
            f"{_NS}/services/x/status",
            {"status": {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}}},
            _MERGE,
        ),
        (
            "PATCH",
            f"{_NS}/services/x/status",
            {
                "status": {
                    "loadBalancer": {
                        "ingress": [
                            {"ip": "bad"},
                            {"hostname": "A_b"},
                            {"ip": "1.2.3.4", "ipMode": "Wrong"},
                            {"hostname": "a.b", "ipMode": "VIP"},
                            {"hostname": "1.2.3.4"},
                        ]
                    }
                }
            },
            _MERGE,
        ),
        _patch("services", {"spec": {"type": "ClusterIP"}}),
    ],
    "a name of a service": [
        ("POST", f"{_NS}/services", {"metadata": {"name": "1a.b"}, "spec": {"ports": _PORT}}),
        ("POST", f"{_NS}/services", {"metadata": {"name": "1a"}, "spec": {"ports": _PORT}}),
    ],
    # --- endpoints
    "empty endpoints": [_create("endpoints", {})],
    "bad endpoints": [
        _create(
            "endpoints",
            {
                "subsets": [
                    {},
                    {
                        "addresses": [
                            {"ip": "bad", "hostname": "A_b", "nodeName": "A b"},
                            {"ip": "127.0.0.1"},
                            {"ip": "169.254.1.1"},
                            {"ip": "224.0.0.1"},
                            {"ip": "0.0.0.0"},
                            {"ip": ""},
                        ],
                        "notReadyAddresses": [{"ip": "bad"}],
                        "ports": [
                            {"port": 0},
                            {"port": 1, "name": "A_b", "protocol": "X", "appProtocol": "a b"},
                            {"port": 2},
                        ],
                    },
                ]
            },
        )
    ],
    "good endpoints": [
        _create(
            "endpoints",
            {
                "subsets": [
                    {
                        "addresses": [{"ip": "1.2.3.5"}, {"ip": "1.2.3.4"}],
                        "ports": [{"port": 1}],
                    }
                ]
            },
        ),
        _patch("endpoints", {"subsets": [{"addresses": [{"ip": "1.2.3.4", "nodeName": "n"}]}]}),
        _patch("endpoints", {"subsets": [{"addresses": [{"ip": "1.2.3.4", "nodeName": "m"}]}]}),
    ],
    # --- secrets and config maps
    "types of secrets": [
        _create("secrets", {"type": kind}, name)
        for name, kind in (
            ("a", "kubernetes.io/tls"),
            ("b", "kubernetes.io/dockercfg"),
            ("c", "kubernetes.io/dockerconfigjson"),
            ("d", "kubernetes.io/basic-auth"),
            ("e", "kubernetes.io/ssh-auth"),
            ("f", "kubernetes.io/service-account-token"),
            ("g", "bootstrap.kubernetes.io/token"),
            ("h", "example.com/own"),
        )
    ],
    "an immutable secret": [
        _create("secrets", {"data": {"a": "YQ=="}, "immutable": True}),
        _patch("secrets", {"data": {"a": "Yg=="}}),
        _patch("secrets", {"immutable": False}),
        _patch("secrets", {"immutable": None}),
        _patch("secrets", {"metadata": {"labels": {"a": "b"}}}),
    ],
    "the type of a secret changes": [
        _create("secrets", {}),
        _patch("secrets", {"type": "other"}),
        _patch("secrets", {"stringData": {"a": "b"}}),
    ],
    "keys of a secret": [
        _create("secrets", {"stringData": {"a b": "", "..": "", "..a": "", ".": ""}})
    ],
    "bad docker credentials": [
        _create("secrets", {"type": "kubernetes.io/dockercfg", "stringData": {".dockercfg": "x"}}),
        _create(
            "secrets",
            {"type": "kubernetes.io/dockerconfigjson", "stringData": {".dockerconfigjson": "[]"}},
        ),
    ],
    "an immutable config map": [
        _create("configmaps", {"data": {"a": "b"}, "binaryData": {"c": "YQ=="}, "immutable": True}),
        _patch("configmaps", {"data": {"a": "c"}}),
        _patch("configmaps", {"binaryData": {"c": "Yg=="}}),
        _patch("configmaps", {"immutable": None}),
    ],
    "keys of a config map": [
        _create("configmaps", {"data": {"a": "", "..": "", "a/b": ""}, "binaryData": {"a": "YQ=="}})
    ],
    # --- volumes
    "a claim without a spec": [
        ("POST", f"{_NS}/persistentvolumeclaims", {"metadata": {"name": "x"}})
    ],
    "a minimal claim": [_create("persistentvolumeclaims", _claim())],
    "a bad claim": [
        _create(
            "persistentvolumeclaims",
            _claim(
                accessModes=["X", "ReadWriteOncePod", "ReadWriteOnce"],
                volumeMode="X",
                storageClassName="A_b",
                volumeAttributesClassName="A_b",
                resources={"requests": {"storage": "0"}},
                selector={"matchLabels": {"a b": "c"}},
                dataSource={"kind": "X"},
                dataSourceRef={"kind": "Y", "name": "b", "apiGroup": "A_b"},
            ),
        )
    ],
    "a data source": [
        _create(
            "persistentvolumeclaims",
            _claim(dataSource={"kind": "PersistentVolumeClaim", "name": "y"}),
        )
    ],
    "change a claim": [
        _create("persistentvolumeclaims", _claim()),
        _patch("persistentvolumeclaims", {"spec": {"resources": {"requests": {"storage": "2Gi"}}}}),
        _patch("persistentvolumeclaims", {"spec": {"volumeName": "v"}}),
        _patch("persistentvolumeclaims", {"spec": {"volumeName": "w"}}),
        _patch("persistentvolumeclaims", {"spec": {"storageClassName": "c"}}),
        _patch("persistentvolumeclaims", {"spec": {"storageClassName": "d"}}),
        _patch("persistentvolumeclaims", {"spec": {"accessModes": ["ReadOnlyMany"]}}),
        _patch("persistentvolumeclaims", {"spec": {"volumeMode": "Block"}}),
    ],
    "shrink a bound claim": [
        _create("persistentvolumeclaims", _claim()),
        (
            "PATCH",
            f"{_NS}/persistentvolumeclaims/x/status",
            {"status": {"phase": "Bound", "capacity": {"storage": "1Gi"}}},
            _MERGE,
        ),
        _patch(
            "persistentvolumeclaims", {"spec": {"resources": {"requests": {"storage": "500Mi"}}}}
        ),
    ],
    "a volume without a spec": _cluster("persistentvolumes", {}),
    "a minimal volume": _cluster("persistentvolumes", _volume(**_HOST_PATH)),
    "a bad volume": _cluster(
        "persistentvolumes",
        _volume(
            accessModes=["X"],
            capacity={"storage": "0", "cpu": "1"},
            persistentVolumeReclaimPolicy="X",
            storageClassName="A_b",
            volumeMode="X",
            volumeAttributesClassName="",
            nodeAffinity={},
            local={"path": "a/../b"},
            csi={},
        ),
    ),
    "a local volume without affinity": _cluster("persistentvolumes", _volume(local={"path": "/a"})),
    "a volume of a driver": _cluster(
        "persistentvolumes",
        _volume(csi={"driver": "A b", "nodePublishSecretRef": {"name": "A_b"}}),
    ),
    "a recycled root": _cluster(
        "persistentvolumes",
        _volume(hostPath={"path": "/"}, persistentVolumeReclaimPolicy="Recycle"),
    ),
    "defaults of volumes": _cluster(
        "persistentvolumes",
        _volume(iscsi={"targetPortal": "p", "iqn": "iqn.2001-04.com.example:x", "lun": 1}),
    ),
    "defaults of block volumes": _cluster(
        "persistentvolumes",
        _volume(rbd={"monitors": ["a"], "image": "b"}),
    ),
    "defaults of azure disks": _cluster(
        "persistentvolumes",
        _volume(azureDisk={"diskName": "a", "diskURI": "https://b"}),
    ),
    "defaults of scale io": _cluster(
        "persistentvolumes",
        _volume(
            scaleIO={"gateway": "a", "system": "b", "volumeName": "c", "secretRef": {"name": "s"}}
        ),
    ),
    "change a volume": _cluster(
        "persistentvolumes",
        _volume(**_HOST_PATH),
        {"spec": {"hostPath": {"path": "/b"}}},
        {"spec": {"volumeMode": "Block"}},
        {"spec": {"capacity": {"storage": "2Gi"}}},
        {
            "spec": {
                "nodeAffinity": {
                    "required": {
                        "nodeSelectorTerms": [
                            {"matchExpressions": [{"key": "a", "operator": "Exists"}]}
                        ]
                    }
                }
            }
        },
        {
            "spec": {
                "nodeAffinity": {
                    "required": {
                        "nodeSelectorTerms": [
                            {"matchExpressions": [{"key": "b", "operator": "Exists"}]}
                        ]
                    }
                }
            }
        },
    ),
    # --- limits and quotas
    "a limit range without a spec": [_create("limitranges", {})],
    "limits of containers": [
        _create(
            "limitranges",
            {
                "spec": {
                    "limits": [
                        {
                            "type": "Container",
                            "max": {"cpu": "2", "memory": "2Gi"},
                            "min": {"cpu": "100m"},
                        }
                    ]
                }
            },
        ),
    ],
    "bad limits": [
        _create(
            "limitranges",
            {
                "spec": {
                    "limits": [
                        {},
                        {"type": "Pod", "default": {"cpu": "1"}, "defaultRequest": {"cpu": "1"}},
                        {
                            "type": "Container",
                            "min": {"cpu": "2"},
                            "max": {"cpu": "1"},
                            "default": {"cpu": "3"},
                            "defaultRequest": {"cpu": "4"},
                            "maxLimitRequestRatio": {"cpu": "0.5"},
                        },
                        {"type": "Container", "max": {"wrong": "1"}},
                        {"type": "PersistentVolumeClaim"},
                        {
                            "type": "PersistentVolumeClaim",
                            "min": {"storage": "2Gi"},
                            "max": {"storage": "1Gi"},
                        },
                        {"type": "Wrong"},
                        {"type": "example.com/own", "max": {"cpu": "-1"}},
                    ]
                }
            },
        )
    ],
    "a pod gets default limits": [
        _create(
            "limitranges",
            {
                "spec": {
                    "limits": [
                        {
                            "type": "Container",
                            "default": {"cpu": "1"},
                            "defaultRequest": {"memory": "1Mi"},
                        }
                    ]
                }
            },
        ),
        ("POST", f"{_NS}/pods", {"metadata": {"name": "p"}, "spec": _TEMPLATE["spec"]}),
    ],
    "a pod exceeds the limits": [
        _create(
            "limitranges",
            {
                "spec": {
                    "limits": [
                        {
                            "type": "Container",
                            "max": {"cpu": "1"},
                            "min": {"memory": "1Gi"},
                            "maxLimitRequestRatio": {"cpu": "2"},
                        },
                        {"type": "Pod", "max": {"memory": "2Gi"}},
                    ]
                }
            },
        ),
        (
            "POST",
            f"{_NS}/pods",
            {
                "metadata": {"name": "p"},
                "spec": {
                    "containers": [
                        {
                            "name": "a",
                            "image": "i",
                            "resources": {
                                "limits": {"cpu": "2", "memory": "3Gi"},
                                "requests": {"cpu": "500m", "memory": "1Mi"},
                            },
                        }
                    ]
                },
            },
        ),
    ],
    "a claim exceeds the limits": [
        _create(
            "limitranges",
            {"spec": {"limits": [{"type": "PersistentVolumeClaim", "max": {"storage": "1Mi"}}]}},
        ),
        _create("persistentvolumeclaims", _claim()),
    ],
    "a quota without a spec": [_create("resourcequotas", {})],
    "a quota": [
        _create("resourcequotas", {"spec": {"hard": {"pods": "5", "requests.cpu": "1000m"}}})
    ],
    "a bad quota": [
        _create(
            "resourcequotas",
            {
                "spec": {
                    "hard": {
                        "pods": "1.5",
                        "cpu": "-1",
                        "wrong": "1",
                        "a b": "1",
                        "count/pods": "1",
                        "example.com/x": "1",
                        "gold.storageclass.storage.k8s.io/requests.storage": "1",
                    },
                    "scopes": ["Terminating", "NotTerminating", "Wrong", "BestEffort"],
                    "scopeSelector": {
                        "matchExpressions": [
                            {"scopeName": "PriorityClass", "operator": "In"},
                            {"scopeName": "Wrong", "operator": "X"},
                            {"scopeName": "BestEffort", "operator": "In", "values": ["a"]},
                        ]
                    },
                }
            },
        )
    ],
    "the scopes of a quota change": [
        _create("resourcequotas", {"spec": {"hard": {"pods": "1"}, "scopes": ["BestEffort"]}}),
        _patch("resourcequotas", {"spec": {"scopes": ["NotBestEffort"]}}),
        _patch("resourcequotas", {"spec": {"hard": {"pods": "3"}}}),
    ],
    # --- others
    "a service account": [
        _create(
            "serviceaccounts", {"secrets": [{"name": "a"}], "automountServiceAccountToken": False}
        )
    ],
    "a replication controller without a spec": [_create("replicationcontrollers", {})],
    "a replication controller": [
        _create("replicationcontrollers", {"spec": {"template": _TEMPLATE}}),
        _patch("replicationcontrollers", {"spec": {"selector": {"x": "y"}}}),
    ],
    "a bad replication controller": [
        _create(
            "replicationcontrollers",
            {
                "spec": {
                    "replicas": -1,
                    "minReadySeconds": -1,
                    "selector": {"q": "r"},
                    "template": {
                        "metadata": {"labels": {"a": "b"}},
                        "spec": {
                            "containers": [],
                            "restartPolicy": "Never",
                            "activeDeadlineSeconds": 5,
                        },
                    },
                }
            },
        )
    ],
    "a pod template without a template": [_create("podtemplates", {})],
    "a pod template": [_create("podtemplates", {"template": _TEMPLATE})],
    "a bad pod template": [
        _create(
            "podtemplates",
            {
                "template": {
                    "metadata": {"labels": {"a b": "c"}},
                    "spec": {"containers": [{"name": "A"}]},
                }
            },
        )
    ],
    "an event without fields": [_create("events", {})],
    "an event": [
        _create(
            "events",
            {
                "involvedObject": {"kind": "Pod", "name": "p", "namespace": "{ns}"},
                "reason": "R",
                "message": "m",
            },
        ),
    ],
    "an event of another namespace": [
        _create("events", {"involvedObject": {"namespace": "other"}})
    ],
    "a new event": [
        (
            "POST",
            "/apis/events.k8s.io/v1/namespaces/{ns}/events",
            {
                "metadata": {"name": "x", "namespace": "{ns}"},
                "eventTime": "2020-01-01T00:00:00.000000Z",
                "reportingController": "c",
                "reportingInstance": "i",
                "action": "a",
                "reason": "r",
                "type": "Normal",
                "regarding": {"kind": "Pod", "namespace": "{ns}", "name": "p"},
            },
        ),
        ("GET", f"{_NS}/events/x", None),
        (
            "PATCH",
            "/apis/events.k8s.io/v1/namespaces/{ns}/events/x",
            {"reason": "other", "note": "n", "action": "z"},
            _MERGE,
        ),
        (
            "PATCH",
            "/apis/events.k8s.io/v1/namespaces/{ns}/events/x",
            {"series": {"count": 1, "lastObservedTime": "2020-01-01T00:00:00.000000Z"}},
            _MERGE,
        ),
        (
            "PATCH",
            "/apis/events.k8s.io/v1/namespaces/{ns}/events/x",
            {"series": {"count": 2, "lastObservedTime": "2020-01-01T00:00:00.000000Z"}},
            _MERGE,
        ),
    ],
    "a bad new event": [
        (
            "POST",
            "/apis/events.k8s.io/v1/namespaces/{ns}/events",
            {"metadata": {"name": "x", "namespace": "{ns}"}, "type": "Wrong", "deprecatedCount": 3},
        ),
        (
            "POST",
            "/apis/events.k8s.io/v1/namespaces/{ns}/events",
            {
                "metadata": {"name": "x", "namespace": "{ns}"},
                "eventTime": "2020-01-01T00:00:00.000000Z",
                "reportingController": "a b",
                "type": "Wrong",
                "deprecatedCount": 3,
                "deprecatedSource": {"host": "h"},
            },
        ),
    ],
}
