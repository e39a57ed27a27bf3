"""Sparse objects of every built-in kind, and sparse statuses: which zero values Go writes."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
Step = tuple[Any, ...]

_POD: Json = {"containers": [{"name": "a", "image": "b"}]}
_LABELS: Json = {"app": "web"}
_TEMPLATE: Json = {"metadata": {"labels": _LABELS}, "spec": _POD}
_SELECTOR: Json = {"matchLabels": _LABELS}
_CONDITION: Json = {"type": "Ready", "status": "True"}
_METAV1_CONDITION: Json = {
    "type": "Ready",
    "status": "True",
    "reason": "Done",
    "message": "",
    "lastTransitionTime": "2024-01-02T03:04:05Z",
}
_CLAIM: Json = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}


def _path(api: str, plural: str, *, namespaced: bool = True) -> str:
    root = f"/apis/{api}" if "/" in api else f"/api/{api}"
    return f"{root}/namespaces/{{ns}}/{plural}" if namespaced else f"{root}/{plural}"


def _object(
    api: str,
    plural: str,
    content: Json | None = None,
    *,
    status: Json | None = None,
    namespaced: bool = True,
    name: str = "",
    read: bool = True,
) -> list[Step]:
    """Create a sparse object, write its status, read and list it, and delete it.

    Without `read` it is not read, because a controller of kube-apiserver changes it at any time.
    """
    name = name or ("a" if namespaced else "a-{ns}")
    path = _path(api, plural, namespaced=namespaced)
    body = {"metadata": {"name": name}, **(content or {})}
    steps: list[Step] = [("POST", path, body)]
    if read:
        steps.append(("GET", f"{path}/{name}", None))
    if status is not None:
        steps.append(("PUT", f"{path}/{name}/status", {**body, "status": status}))
    if read:
        selector = "" if namespaced else f"?fieldSelector=metadata.name={name}"
        steps.append(("GET", f"{path}{selector}", None))
    if not namespaced:
        steps.append(("DELETE", f"{path}/{name}", None))
    return steps


_CORE: dict[str, list[Step]] = {
    "a config map": _object("v1", "configmaps"),
    "a config map of empty values": _object(
        "v1", "configmaps", {"data": {}, "binaryData": {"a": ""}, "immutable": False}
    ),
    "endpoints": _object("v1", "endpoints"),
    "endpoints with an empty subset": _object(
        "v1", "endpoints", {"subsets": [{"addresses": [{"ip": "1.2.3.4"}], "ports": [{"port": 1}]}]}
    ),
    "an event": _object("v1", "events", {"involvedObject": {"namespace": "{ns}"}}),
    "an event in the other group": [
        (
            "POST",
            _path("v1", "events"),
            {"metadata": {"name": "a"}, "involvedObject": {"namespace": "{ns}"}},
        ),
        ("GET", _path("events.k8s.io/v1", "events") + "/a", None),
        ("GET", _path("events.k8s.io/v1", "events"), None),
    ],
    "a limit range": _object("v1", "limitranges"),
    "a limit range with an empty item": _object(
        "v1", "limitranges", {"spec": {"limits": [{"type": "Pod"}]}}
    ),
    "a node": _object(
        "v1",
        "nodes",
        status={
            "conditions": [_CONDITION],
            "addresses": [{"type": "Hostname", "address": "a"}],
            "nodeInfo": {"kubeletVersion": "v1"},
            "images": [{}],
            "volumesInUse": [],
        },
        namespaced=False,
    ),
    "a persistent volume": _object(
        "v1",
        "persistentvolumes",
        {
            "spec": {
                "capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteOnce"],
                "hostPath": {"path": "/a"},
            }
        },
        status={"phase": "Available"},
        namespaced=False,
    ),
    "a persistent volume claim": _object(
        "v1",
        "persistentvolumeclaims",
        {"spec": _CLAIM},
        status={"phase": "Bound", "conditions": [{"type": "Resizing", "status": "True"}]},
    ),
    "a pod": _object(
        "v1",
        "pods",
        {"spec": _POD},
        status={
            "phase": "Running",
            "conditions": [_CONDITION],
            "containerStatuses": [{"name": "a", "state": {"running": {}}}],
            "initContainerStatuses": [],
            "podIPs": [],
        },
    ),
    "a pod with a terminated container": _object(
        "v1",
        "pods",
        {"spec": _POD},
        status={
            "phase": "Failed",
            "containerStatuses": [
                {"name": "a", "state": {"terminated": {}}, "lastState": {"waiting": {}}}
            ],
        },
    ),
    "a pod of empty values": _object(
        "v1",
        "pods",
        {
            "spec": {
                "containers": [
                    {
                        "name": "a",
                        "image": "b",
                        "command": [],
                        "args": [""],
                        "env": [
                            {"name": "A", "value": ""},
                            {
                                "name": "B",
                                "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}},
                            },
                            {
                                "name": "C",
                                "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}},
                            },
                        ],
                        "readinessProbe": {"tcpSocket": {"port": 1}, "timeoutSeconds": 0},
                        "securityContext": {},
                        "stdin": False,
                        "volumeMounts": [{"name": "x", "mountPath": "/x", "readOnly": False}],
                    }
                ],
                "nodeSelector": {},
                "hostname": "",
                "hostNetwork": False,
                "tolerations": [],
                "priority": None,
                "affinity": {"podAffinity": {}},
                "imagePullSecrets": [{}],
                "volumes": [
                    {"name": "x", "emptyDir": {"medium": ""}},
                    {"name": "y", "secret": {"secretName": "s", "items": []}},
                    {"name": "z", "csi": {"driver": "a.b", "volumeAttributes": {}}},
                ],
            }
        },
    ),
    "a pod template": _object("v1", "podtemplates", {"template": _TEMPLATE}),
    "a replication controller": _object(
        "v1",
        "replicationcontrollers",
        {"spec": {"template": _TEMPLATE}},
        status={"conditions": [_CONDITION]},
    ),
    "a resource quota": _object("v1", "resourcequotas", status={"used": {}}),
    "a secret": _object("v1", "secrets"),
    "a secret of empty values": _object("v1", "secrets", {"data": {"a": ""}, "immutable": False}),
    "a service": _object(
        "v1",
        "services",
        {"spec": {"ports": [{"port": 80}], "type": "LoadBalancer"}},
        status={"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}, "conditions": []},
    ),
    "a service account": _object("v1", "serviceaccounts"),
    "a service account of empty values": _object(
        "v1",
        "serviceaccounts",
        {"secrets": [], "imagePullSecrets": [{}], "automountServiceAccountToken": False},
    ),
    "a namespace": [("GET", "/api/v1/namespaces/{ns}", None)],
}

_WORKLOADS: dict[str, list[Step]] = {
    "a controller revision": _object("apps/v1", "controllerrevisions", {"data": {}, "revision": 1}),
    "a daemon set": _object(
        "apps/v1",
        "daemonsets",
        {"spec": {"selector": _SELECTOR, "template": _TEMPLATE}},
        status={"conditions": [_CONDITION]},
    ),
    "a deployment": _object(
        "apps/v1",
        "deployments",
        {"spec": {"selector": _SELECTOR, "template": _TEMPLATE}},
        status={"conditions": [_CONDITION], "replicas": 0},
    ),
    "a deployment of empty values": _object(
        "apps/v1",
        "deployments",
        {
            "spec": {
                "selector": {"matchLabels": _LABELS, "matchExpressions": []},
                "template": {
                    "metadata": {"labels": _LABELS, "annotations": {}, "creationTimestamp": None},
                    "spec": _POD,
                },
                "replicas": 0,
                "paused": False,
                "minReadySeconds": 0,
                "strategy": {},
            }
        },
    ),
    "a replica set": _object(
        "apps/v1",
        "replicasets",
        {"spec": {"selector": _SELECTOR, "template": _TEMPLATE}},
        status={"conditions": [_CONDITION]},
    ),
    "a stateful set": _object(
        "apps/v1",
        "statefulsets",
        {
            "spec": {
                "selector": _SELECTOR,
                "template": _TEMPLATE,
                "volumeClaimTemplates": [{"metadata": {"name": "d"}, "spec": _CLAIM}],
            }
        },
        status={"replicas": 0, "conditions": [_CONDITION]},
    ),
    "a cron job": _object(
        "batch/v1",
        "cronjobs",
        {
            "spec": {
                "schedule": "* * * * *",
                "jobTemplate": {"spec": {"template": {"spec": {**_POD, "restartPolicy": "Never"}}}},
            }
        },
        status={"active": [{}]},
    ),
    "a job": _object(
        "batch/v1",
        "jobs",
        {
            "spec": {
                "template": {"spec": {**_POD, "restartPolicy": "Never"}},
                "manualSelector": True,
                "selector": _SELECTOR,
            }
        },
    ),
    "an autoscaler": _object(
        "autoscaling/v2",
        "horizontalpodautoscalers",
        {
            "spec": {
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"},
                "maxReplicas": 1,
            }
        },
        status={"conditions": [_CONDITION]},
    ),
    "an autoscaler of the old version": _object(
        "autoscaling/v1",
        "horizontalpodautoscalers",
        {
            "spec": {
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"},
                "maxReplicas": 1,
            }
        },
        status={},
    ),
    "a disruption budget": _object(
        "policy/v1", "poddisruptionbudgets", status={"conditions": [_METAV1_CONDITION]}
    ),
}

_NETWORK: dict[str, list[Step]] = {
    "an endpoint slice": _object("discovery.k8s.io/v1", "endpointslices", {"addressType": "IPv4"}),
    "an endpoint slice with an endpoint": _object(
        "discovery.k8s.io/v1",
        "endpointslices",
        {"addressType": "IPv4", "endpoints": [{"addresses": ["1.2.3.4"]}], "ports": [{}]},
    ),
    "an ingress": _object(
        "networking.k8s.io/v1",
        "ingresses",
        {"spec": {"defaultBackend": {"service": {"name": "a", "port": {"number": 1}}}}},
        status={"loadBalancer": {"ingress": [{"ports": [{"port": 1, "protocol": "TCP"}]}]}},
    ),
    "an ingress with a rule": _object(
        "networking.k8s.io/v1",
        "ingresses",
        {"spec": {"rules": [{"host": "a.b"}], "tls": [{}]}},
    ),
    "an ingress class": _object(
        "networking.k8s.io/v1",
        "ingressclasses",
        {"spec": {"controller": "a.b/c"}},
        namespaced=False,
    ),
    "a network policy": _object("networking.k8s.io/v1", "networkpolicies"),
    "a network policy with empty rules": _object(
        "networking.k8s.io/v1",
        "networkpolicies",
        {"spec": {"podSelector": {}, "ingress": [{}], "egress": [{"ports": [{}]}]}},
    ),
    "an IP address": _object(
        "networking.k8s.io/v1",
        "ipaddresses",
        {"spec": {"parentRef": {"resource": "services", "namespace": "{ns}", "name": "a"}}},
        namespaced=False,
        name="192.0.2.7",
    ),
    "a service CIDR": _object(
        "networking.k8s.io/v1",
        "servicecidrs",
        {"spec": {"cidrs": ["192.0.2.0/28"]}},
        status={"conditions": [_METAV1_CONDITION]},
        namespaced=False,
    ),
}

_ACCESS: dict[str, list[Step]] = {
    "a role": _object("rbac.authorization.k8s.io/v1", "roles"),
    "a role with an empty rule": _object(
        "rbac.authorization.k8s.io/v1",
        "roles",
        {
            "rules": [
                {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": []}
            ]
        },
    ),
    "a role binding": _object(
        "rbac.authorization.k8s.io/v1",
        "rolebindings",
        {"roleRef": {"kind": "Role", "name": "a"}, "subjects": []},
    ),
    "a cluster role": _object("rbac.authorization.k8s.io/v1", "clusterroles", namespaced=False),
    "a cluster role binding": _object(
        "rbac.authorization.k8s.io/v1",
        "clusterrolebindings",
        {
            "roleRef": {"kind": "ClusterRole", "name": "a"},
            "subjects": [{"kind": "ServiceAccount", "name": "a", "namespace": "{ns}"}],
        },
        namespaced=False,
    ),
    "a review of one's own access": [
        (
            "POST",
            "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
            {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}},
        ),
    ],
    "a review of a token": [
        ("POST", "/apis/authentication.k8s.io/v1/tokenreviews", {"spec": {"token": "unknown"}}),
    ],
    "a lease": _object("coordination.k8s.io/v1", "leases"),
    "a validating webhook configuration": _object(
        "admissionregistration.k8s.io/v1", "validatingwebhookconfigurations", namespaced=False
    ),
    "a mutating webhook configuration": _object(
        "admissionregistration.k8s.io/v1", "mutatingwebhookconfigurations", namespaced=False
    ),
    "a validating admission policy": _object(
        "admissionregistration.k8s.io/v1",
        "validatingadmissionpolicies",
        {
            "spec": {
                "matchConstraints": {
                    "resourceRules": [
                        {
                            "apiGroups": ["example.com"],
                            "apiVersions": ["v1"],
                            "operations": ["CREATE"],
                            "resources": ["widgets"],
                        }
                    ]
                },
                "validations": [{"expression": "true"}],
            }
        },
        namespaced=False,
    ),
    "a validating admission policy binding": _object(
        "admissionregistration.k8s.io/v1",
        "validatingadmissionpolicybindings",
        {"spec": {"policyName": "none-{ns}", "validationActions": ["Deny"]}},
        namespaced=False,
    ),
}

_CLUSTER: dict[str, list[Step]] = {
    "a flow schema": _object(
        "flowcontrol.apiserver.k8s.io/v1",
        "flowschemas",
        {
            "spec": {
                "matchingPrecedence": 9000,
                "priorityLevelConfiguration": {"name": "none-{ns}"},
            }
        },
        namespaced=False,
        read=False,
    ),
    "a runtime class": _object(
        "node.k8s.io/v1", "runtimeclasses", {"handler": "a"}, namespaced=False
    ),
    "a priority class": _object("scheduling.k8s.io/v1", "priorityclasses", namespaced=False),
    "a storage class": _object(
        "storage.k8s.io/v1", "storageclasses", {"provisioner": "a.b/c"}, namespaced=False
    ),
    "a CSI driver": _object("storage.k8s.io/v1", "csidrivers", namespaced=False),
    "a CSI node": _object(
        "storage.k8s.io/v1", "csinodes", {"spec": {"drivers": []}}, namespaced=False
    ),
    "a CSI storage capacity": _object(
        "storage.k8s.io/v1", "csistoragecapacities", {"storageClassName": "a"}
    ),
    "a volume attachment": _object(
        "storage.k8s.io/v1",
        "volumeattachments",
        {"spec": {"attacher": "a", "nodeName": "b", "source": {"persistentVolumeName": "c"}}},
        status={"attachError": {}},
        namespaced=False,
    ),
    "a volume attributes class": _object(
        "storage.k8s.io/v1",
        "volumeattributesclasses",
        {"driverName": "a.b", "parameters": {"a": "b"}},
        namespaced=False,
    ),
    "a device class": _object("resource.k8s.io/v1", "deviceclasses", namespaced=False),
    "a resource claim": _object("resource.k8s.io/v1", "resourceclaims", status={"devices": []}),
    "a resource claim with a request": _object(
        "resource.k8s.io/v1",
        "resourceclaims",
        {"spec": {"devices": {"requests": [{"name": "a", "exactly": {"deviceClassName": "b"}}]}}},
    ),
    "a resource claim template": _object("resource.k8s.io/v1", "resourceclaimtemplates"),
    "a resource slice": _object(
        "resource.k8s.io/v1",
        "resourceslices",
        {
            "spec": {
                "driver": "a.b",
                "nodeName": "n",
                "pool": {"name": "p", "resourceSliceCount": 1},
                "devices": [{"name": "d"}],
            }
        },
        namespaced=False,
    ),
    "an API service": _object(
        "apiregistration.k8s.io/v1",
        "apiservices",
        {
            "spec": {
                "group": "{ns}.example.com",
                "version": "v1",
                "groupPriorityMinimum": 1000,
                "versionPriority": 10,
                "service": {"namespace": "{ns}", "name": "none"},
            }
        },
        namespaced=False,
        name="v1.{ns}.example.com",
        read=False,
    ),
    "a definition": [
        (
            "POST",
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
            {
                "metadata": {"name": "widgets.{ns}.example.com"},
                "spec": {
                    "group": "{ns}.example.com",
                    "names": {"plural": "widgets", "kind": "Widget", "shortNames": []},
                    "scope": "Namespaced",
                    "versions": [
                        {
                            "name": "v1",
                            "served": True,
                            "storage": True,
                            "schema": {
                                "openAPIV3Schema": {
                                    "type": "object",
                                    "properties": {},
                                    "required": [],
                                    "description": "",
                                }
                            },
                            "additionalPrinterColumns": [
                                {"name": "A", "type": "string", "jsonPath": ".a", "priority": 0}
                            ],
                        }
                    ],
                },
            },
        ),
    ],
}

_WRITES: dict[str, list[Step]] = {
    "an empty list": [
        ("GET", _path("v1", "pods"), None),
        ("GET", _path("apps/v1", "deployments"), None),
    ],
    "an update with empty values": [
        (
            "POST",
            _path("v1", "configmaps"),
            {"metadata": {"name": "a", "labels": _LABELS}, "data": {"a": "b"}},
        ),
        (
            "PUT",
            _path("v1", "configmaps") + "/a",
            {"metadata": {"name": "a", "labels": {}}, "data": {}},
        ),
    ],
    "a merge patch to empty values": [
        (
            "POST",
            _path("rbac.authorization.k8s.io/v1", "roles"),
            {
                "metadata": {"name": "a"},
                "rules": [{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}],
            },
        ),
        (
            "PATCH",
            _path("rbac.authorization.k8s.io/v1", "roles") + "/a",
            {"rules": None},
            {"Content-Type": "application/merge-patch+json"},
        ),
    ],
    "a JSON patch that removes a value that is always there": [
        ("POST", _path("v1", "serviceaccounts"), {"metadata": {"name": "a"}}),
        ("POST", _path("v1", "pods"), {"metadata": {"name": "a"}, "spec": _POD}),
        (
            "PATCH",
            _path("v1", "pods") + "/a",
            [{"op": "remove", "path": "/spec/containers/0/resources"}],
            {"Content-Type": "application/json-patch+json"},
        ),
    ],
    "an apply of empty values": [
        (
            "PATCH",
            _path("v1", "pods") + "/a?fieldManager=me",
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": "a", "labels": {}},
                "spec": {
                    "nodeSelector": {},
                    "hostname": "",
                    "hostNetwork": False,
                    "containers": [{"name": "a", "image": "b", "command": []}],
                },
            },
            {"Content-Type": "application/apply-patch+yaml"},
        ),
    ],
    "an apply of the same empty values": [
        (
            "PATCH",
            _path("v1", "configmaps") + "/a?fieldManager=me",
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": "a", "labels": {}},
                "data": {},
            },
            {"Content-Type": "application/apply-patch+yaml"},
        ),
    ]
    * 2,
    "a scale": [
        (
            "POST",
            _path("apps/v1", "deployments"),
            {
                "metadata": {"name": "a"},
                "spec": {"selector": _SELECTOR, "template": _TEMPLATE, "replicas": 0},
            },
        ),
        ("GET", _path("apps/v1", "deployments") + "/a/scale", None),
    ],
    "an event of the other group": [
        (
            "POST",
            _path("events.k8s.io/v1", "events"),
            {
                "metadata": {"name": "a"},
                "eventTime": "2024-01-02T03:04:05.000000Z",
                "reportingController": "example.com/a",
                "reportingInstance": "b",
                "action": "Test",
                "reason": "Test",
                "type": "Normal",
                "regarding": {"namespace": "{ns}"},
            },
        ),
        ("GET", _path("v1", "events") + "/a", None),
    ],
    "a binding": [
        ("POST", _path("v1", "pods"), {"metadata": {"name": "a"}, "spec": _POD}),
        (
            "POST",
            _path("v1", "pods") + "/a/binding",
            {"metadata": {"name": "a"}, "target": {"kind": "Node", "name": "n"}},
        ),
        ("GET", _path("v1", "pods") + "/a", None),
    ],
    "an ephemeral container": [
        ("POST", _path("v1", "pods"), {"metadata": {"name": "a"}, "spec": _POD}),
        (
            "PATCH",
            _path("v1", "pods") + "/a/ephemeralcontainers",
            {"spec": {"ephemeralContainers": [{"name": "e", "image": "i", "stdin": False}]}},
            {"Content-Type": "application/strategic-merge-patch+json"},
        ),
    ],
    "an empty list that is applied and updated": [
        (
            "PATCH",
            _path("rbac.authorization.k8s.io/v1", "roles") + "/a?fieldManager=me",
            {
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "Role",
                "metadata": {"name": "a"},
                "rules": [],
            },
            {"Content-Type": "application/apply-patch+yaml"},
        ),
        (
            "PUT",
            _path("rbac.authorization.k8s.io/v1", "roles") + "/a",
            {"metadata": {"name": "a"}, "rules": []},
        ),
    ],
    "a dry run": [
        (
            "POST",
            _path("v1", "events") + "?dryRun=All",
            {"metadata": {"name": "a"}, "involvedObject": {"namespace": "{ns}"}},
        ),
    ],
    "a status with nothing in it": [
        ("GET", _path("v1", "pods") + "/none", None),
        ("POST", _path("v1", "configmaps"), {"metadata": {"name": "a"}}),
        ("DELETE", _path("v1", "configmaps") + "/a", None),
        ("DELETE", _path("v1", "configmaps"), None),
    ],
}

CASES: dict[str, list[Step]] = {
    **_CORE,
    **_WORKLOADS,
    **_NETWORK,
    **_ACCESS,
    **_CLUSTER,
    **_WRITES,
}
