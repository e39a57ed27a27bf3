"""Warnings of the server about valid objects.

Each case is a list of requests; `{ns}` is a fresh namespace.
"""

from __future__ import annotations

from typing import Any

_NS = "/api/v1/namespaces/{ns}"
_PODS = f"{_NS}/pods"
_APPS = "/apis/apps/v1/namespaces/{ns}"
_BATCH = "/apis/batch/v1/namespaces/{ns}"
_MERGE = {"Content-Type": "application/merge-patch+json"}
_OLD_LABEL = "beta.kubernetes.io/os"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def _pod(container: dict[str, Any] | None = None, **spec: Any) -> list[tuple[Any, ...]]:
    containers = [{"name": "a", "image": "i", **(container or {})}]
    return [
        ("POST", _PODS, {"metadata": {"name": "p"}, "spec": {"containers": containers, **spec}})
    ]


def _annotated(annotations: dict[str, str]) -> list[tuple[Any, ...]]:
    body = {
        "metadata": {"name": "p", "annotations": annotations},
        "spec": {"containers": [{"name": "a", "image": "i"}]},
    }
    return [("POST", _PODS, body)]


def _cluster(path: str, body: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [
        ("POST", path, {"metadata": {"name": "x-{ns}"}, **body}),
        ("DELETE", f"{path}/x-{{ns}}", None),
    ]


def _volume(**spec: Any) -> list[tuple[Any, ...]]:
    wanted = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}}
    path = "/api/v1/persistentvolumes"
    unprotect = ("PATCH", f"{path}/x-{{ns}}", {"metadata": {"finalizers": None}}, _MERGE)
    create, delete = _cluster(path, {"spec": {**wanted, **spec}})
    return [create, unprotect, delete]


def _service(**spec: Any) -> list[tuple[Any, ...]]:
    return [
        (
            "POST",
            f"{_NS}/services",
            {"metadata": {"name": "x"}, "spec": {"ports": [{"port": 1}], **spec}},
        )
    ]


def _workload(**pod: Any) -> dict[str, Any]:
    spec = {"containers": [{"name": "a", "image": "i"}], **pod}
    return {
        "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": spec},
    }


_OLD: dict[str, Any] = {"nodeSelector": {_OLD_LABEL: "linux"}}

CASES: dict[str, list[tuple[Any, ...]]] = {
    "a name of a pod with dots": [
        (
            "POST",
            _PODS,
            {"metadata": {"name": "a.b"}, "spec": {"containers": [{"name": "a", "image": "i"}]}},
        )
    ],
    "names of workloads with dots": [
        ("POST", f"{_APPS}/deployments", {"metadata": {"name": "a.b"}, "spec": _workload()}),
        ("POST", f"{_APPS}/replicasets", {"metadata": {"name": "a.b"}, "spec": _workload()}),
        ("POST", f"{_APPS}/statefulsets", {"metadata": {"name": "a.b"}, "spec": _workload()}),
        ("POST", f"{_APPS}/daemonsets", {"metadata": {"name": "a.b"}, "spec": _workload()}),
        (
            "POST",
            f"{_NS}/replicationcontrollers",
            {"metadata": {"name": "a.b"}, "spec": {"template": _workload()["template"]}},
        ),
        (
            "POST",
            f"{_BATCH}/jobs",
            {
                "metadata": {"name": "a.b"},
                "spec": {
                    "template": {
                        "spec": {
                            "restartPolicy": "Never",
                            "containers": [{"name": "a", "image": "i"}],
                        }
                    }
                },
            },
        ),
    ],
    "a deprecated node label in a selector": _pod(**_OLD),
    "deprecated node labels in affinity": _pod(
        affinity={
            "nodeAffinity": {
                _REQUIRED: {
                    "nodeSelectorTerms": [
                        {"matchExpressions": [{"key": _OLD_LABEL, "operator": "Exists"}]}
                    ]
                },
                _PREFERRED: [
                    {
                        "weight": 1,
                        "preference": {
                            "matchExpressions": [
                                {"key": _OLD_LABEL, "operator": "In", "values": ["a b"]}
                            ]
                        },
                    }
                ],
            }
        }
    ),
    "spread constraints": _pod(
        topologySpreadConstraints=[
            {
                "maxSkew": 1,
                "topologyKey": "failure-domain.beta.kubernetes.io/zone",
                "whenUnsatisfiable": "ScheduleAnyway",
            }
        ]
    ),
    "affinity without selectors": _pod(
        affinity={
            "podAffinity": {_REQUIRED: [{"topologyKey": "z"}]},
            "podAntiAffinity": {
                _PREFERRED: [{"weight": 1, "podAffinityTerm": {"topologyKey": "z"}}]
            },
        }
    ),
    "deprecated annotations": _annotated(
        {
            "scheduler.alpha.kubernetes.io/critical-pod": "",
            "security.alpha.kubernetes.io/sysctls": "a=b",
            "security.alpha.kubernetes.io/unsafe-sysctls": "a=b",
            "seccomp.security.alpha.kubernetes.io/pod": "runtime/default",
            "container.seccomp.security.alpha.kubernetes.io/a": "runtime/default",
        }
    ),
    "deprecated volumes": _pod(
        volumes=[
            {"name": "a", "photonPersistentDisk": {"pdID": "x"}},
            {"name": "b", "gitRepo": {"repository": "x"}},
            {
                "name": "c",
                "scaleIO": {
                    "gateway": "g",
                    "system": "s",
                    "volumeName": "v",
                    "secretRef": {"name": "s"},
                },
            },
            {"name": "d", "flocker": {"datasetName": "x"}},
            {"name": "e", "storageos": {"volumeName": "x"}},
            {"name": "f", "quobyte": {"registry": "a:1", "volume": "x"}},
            {"name": "g", "glusterfs": {"endpoints": "e", "path": "p"}},
            {"name": "h", "cephfs": {"monitors": ["m"]}},
            {"name": "i", "rbd": {"monitors": ["m"], "image": "i"}},
        ]
    ),
    "overlapping paths of volumes": _pod(
        volumes=[
            {
                "name": "a",
                "configMap": {
                    "name": "c",
                    "items": [{"key": "a", "path": "x"}, {"key": "b", "path": "x/y"}],
                },
            },
            {
                "name": "b",
                "secret": {
                    "secretName": "c",
                    "items": [{"key": "a", "path": "x"}, {"key": "b", "path": "x"}],
                },
            },
            {
                "name": "c",
                "projected": {
                    "sources": [
                        {},
                        {"secret": {"name": "s", "items": [{"key": "a", "path": "x"}]}},
                        {"configMap": {"name": "s", "items": [{"key": "a", "path": "x/y"}]}},
                    ]
                },
            },
        ]
    ),
    "duplicates in a pod": _pod(
        {
            "env": [
                {"name": "A", "value": "1"},
                {"name": "A", "value": "2"},
                {"name": "PATH", "value": "x"},
                {"name": "PATH", "value": "$(PATH):y"},
                {"name": "PATH", "value": "$(PATH)"},
            ]
        },
        hostAliases=[{"ip": "1.2.3.4", "hostnames": ["a"]}, {"ip": "1.2.3.4", "hostnames": ["b"]}],
        imagePullSecrets=[{"name": "a"}, {"name": "a"}, {}],
    ),
    "fractions of bytes": _pod(
        {
            "resources": {
                "limits": {"memory": "1500m", "ephemeral-storage": "1.5"},
                "requests": {"memory": "0.5", "ephemeral-storage": "100m"},
            }
        }
    ),
    "ports of a pod": _pod(
        {
            "ports": [
                {"containerPort": 1},
                {"containerPort": 1},
                {"containerPort": 1, "hostPort": 5},
                {"containerPort": 2, "hostIP": "1.2.3.4"},
                {"containerPort": 3, "hostPort": 7},
                {"containerPort": 3, "hostPort": 7, "hostIP": "1.2.3.4"},
            ]
        }
    ),
    "names of ports in two containers": _pod(
        {"ports": [{"containerPort": 1, "name": "web"}]},
        initContainers=[
            {"name": "b", "image": "i", "ports": [{"containerPort": 2, "name": "web"}]}
        ],
    ),
    "a negative grace period of a template": [
        (
            "POST",
            f"{_APPS}/deployments",
            {"metadata": {"name": "x"}, "spec": _workload(terminationGracePeriodSeconds=-1)},
        )
    ],
    "addresses in long notation": _pod(
        dnsPolicy="None",
        dnsConfig={"nameservers": ["2001:db8:0::1"]},
        hostAliases=[{"ip": "2001:DB8::1", "hostnames": ["a"]}],
    ),
    "templates with a deprecated label": [
        ("POST", f"{_APPS}/deployments", {"metadata": {"name": "x"}, "spec": _workload(**_OLD)}),
        ("PATCH", f"{_APPS}/deployments/x", {"metadata": {"labels": {"a": "b"}}}, _MERGE),
        ("PATCH", f"{_APPS}/deployments/x", {"spec": {"replicas": 2}}, _MERGE),
        ("POST", f"{_APPS}/replicasets", {"metadata": {"name": "x"}, "spec": _workload(**_OLD)}),
        ("POST", f"{_APPS}/statefulsets", {"metadata": {"name": "x"}, "spec": _workload(**_OLD)}),
        ("POST", f"{_APPS}/daemonsets", {"metadata": {"name": "x"}, "spec": _workload(**_OLD)}),
        ("PATCH", f"{_APPS}/daemonsets/x", {"spec": {"minReadySeconds": 2}}, _MERGE),
        (
            "POST",
            f"{_NS}/podtemplates",
            {"metadata": {"name": "x"}, "template": _workload(**_OLD)["template"]},
        ),
        (
            "POST",
            f"{_BATCH}/cronjobs",
            {
                "metadata": {"name": "x"},
                "spec": {
                    "schedule": "@daily",
                    "jobTemplate": {
                        "spec": {
                            "template": {
                                "spec": {
                                    **_OLD,
                                    "restartPolicy": "Never",
                                    "containers": [{"name": "a", "image": "i"}],
                                }
                            }
                        }
                    },
                },
            },
        ),
    ],
    "claim templates with fractions": [
        (
            "POST",
            f"{_APPS}/statefulsets",
            {
                "metadata": {"name": "x"},
                "spec": {
                    **_workload(),
                    "revisionHistoryLimit": -1,
                    "volumeClaimTemplates": [
                        {
                            "metadata": {"name": "c"},
                            "spec": {
                                "accessModes": ["ReadWriteOnce"],
                                "resources": {"requests": {"storage": "1500m"}},
                            },
                        }
                    ],
                },
            },
        )
    ],
    "claims": [
        (
            "POST",
            f"{_NS}/persistentvolumeclaims",
            {
                "metadata": {
                    "name": "x",
                    "annotations": {"volume.beta.kubernetes.io/storage-class": "a"},
                },
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": "1500m"}, "limits": {"storage": "2500m"}},
                },
            },
        )
    ],
    "volumes": [
        *_volume(hostPath={"path": "/a"}, persistentVolumeReclaimPolicy="Recycle"),
        *_volume(cephfs={"monitors": ["a"]}),
        *_volume(storageos={"volumeName": "a"}),
        *_volume(
            hostPath={"path": "/a"},
            nodeAffinity={
                "required": {
                    "nodeSelectorTerms": [
                        {"matchExpressions": [{"key": _OLD_LABEL, "operator": "Exists"}]}
                    ]
                }
            },
        ),
    ],
    "annotations of a volume": [
        (
            "POST",
            "/api/v1/persistentvolumes",
            {
                "metadata": {
                    "name": "x-{ns}",
                    "annotations": {
                        "volume.beta.kubernetes.io/storage-class": "a",
                        "volume.beta.kubernetes.io/mount-options": "ro",
                    },
                },
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "capacity": {"storage": "1Gi"},
                    "hostPath": {"path": "/a"},
                },
            },
        ),
        ("DELETE", "/api/v1/persistentvolumes/x-{ns}", None),
    ],
    "services": [
        *_service(externalIPs=["8.8.8.8"]),
        ("DELETE", f"{_NS}/services/x", None),
        *_service(
            clusterIP="None",
            externalIPs=["8.8.8.8"],
            loadBalancerIP="1.2.3.4",
            sessionAffinity="ClientIP",
        ),
        ("DELETE", f"{_NS}/services/x", None),
        *_service(externalName="a.b"),
        ("DELETE", f"{_NS}/services/x", None),
        *_service(type="ExternalName", externalName="a.b", externalIPs=["8.8.8.8"]),
        ("DELETE", f"{_NS}/services/x", None),
        *_service(trafficDistribution="PreferClose"),
        ("DELETE", f"{_NS}/services/x", None),
        *_service(
            type="LoadBalancer",
            loadBalancerSourceRanges=["2001:db8:0::/64"],
            loadBalancerIP="2001:db8:0::1",
        ),
    ],
    "hints of a service": [
        (
            "POST",
            f"{_NS}/services",
            {
                "metadata": {
                    "name": "x",
                    "annotations": {"service.kubernetes.io/topology-aware-hints": "auto"},
                },
                "spec": {"ports": [{"port": 1}]},
            },
        )
    ],
    "endpoints and slices": [
        (
            "POST",
            f"{_NS}/endpoints",
            {"metadata": {"name": "x"}, "subsets": [{"addresses": [{"ip": "2001:db8:0::1"}]}]},
        ),
        (
            "POST",
            "/apis/discovery.k8s.io/v1/namespaces/{ns}/endpointslices",
            {
                "metadata": {"name": "x"},
                "addressType": "IPv6",
                "endpoints": [{"addresses": ["2001:db8:0::1"]}],
            },
        ),
        (
            "POST",
            "/apis/discovery.k8s.io/v1/namespaces/{ns}/endpointslices",
            {
                "metadata": {"name": "y"},
                "addressType": "FQDN",
                "endpoints": [{"addresses": ["a.b"]}],
            },
        ),
    ],
    "a network policy": [
        (
            "POST",
            "/apis/networking.k8s.io/v1/namespaces/{ns}/networkpolicies",
            {
                "metadata": {"name": "x"},
                "spec": {
                    "podSelector": {},
                    "ingress": [{"from": [{"ipBlock": {"cidr": "2001:db8:0::/64"}}]}],
                },
            },
        )
    ],
    "nodes": [
        *_cluster("/api/v1/nodes", {"spec": {"externalID": "a"}}),
        *_cluster("/api/v1/nodes", {"spec": {"podCIDR": "2001:db8:0::/64"}}),
    ],
    "a secret that is no pair": [
        (
            "POST",
            f"{_NS}/secrets",
            {
                "metadata": {"name": "x"},
                "type": "kubernetes.io/tls",
                "stringData": {"tls.crt": "a", "tls.key": "b"},
            },
        )
    ],
    "a service account": [
        (
            "POST",
            f"{_NS}/serviceaccounts",
            {
                "metadata": {
                    "name": "x",
                    "annotations": {"kubernetes.io/enforce-mountable-secrets": "true"},
                }
            },
        ),
        ("PATCH", f"{_NS}/serviceaccounts/x", {"metadata": {"labels": {"a": "b"}}}, _MERGE),
    ],
    "a quota whose requests exceed its limits": [
        (
            "POST",
            f"{_NS}/resourcequotas",
            {
                "metadata": {"name": "x"},
                "spec": {
                    "hard": {
                        "requests.cpu": "2",
                        "limits.cpu": "1",
                        "memory": "2",
                        "limits.memory": "1",
                    }
                },
            },
        )
    ],
    "a storage class": _cluster(
        "/apis/storage.k8s.io/v1/storageclasses",
        {
            "provisioner": "example.com/p",
            "allowedTopologies": [
                {
                    "matchLabelExpressions": [
                        {"key": "failure-domain.beta.kubernetes.io/zone", "values": ["a"]}
                    ]
                }
            ],
        },
    ),
    "a runtime class": _cluster(
        "/apis/node.k8s.io/v1/runtimeclasses",
        {"handler": "h", "scheduling": {"nodeSelector": {_OLD_LABEL: "linux"}}},
    ),
    "a driver": _cluster(
        "/apis/storage.k8s.io/v1/csidrivers", {"spec": {"tokenRequests": [{"audience": "a"}]}}
    ),
    "a capacity of storage": [
        (
            "POST",
            "/apis/storage.k8s.io/v1/namespaces/{ns}/csistoragecapacities",
            {
                "metadata": {"name": "x"},
                "storageClassName": "a",
                "nodeTopology": {
                    "matchLabels": {_OLD_LABEL: "a"},
                    "matchExpressions": [{"key": _OLD_LABEL, "operator": "Exists"}],
                },
            },
        )
    ],
    "deprecated kinds": [
        ("GET", f"{_NS}/endpoints", None),
    ],
}
