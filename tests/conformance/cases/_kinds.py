"""Objects of kinds that have a status: valid specs, other specs, a status.

See also: the cases about them (`status_writes`, `update_strategies`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

Object = dict[str, Any]
Step = tuple[Any, ...]

# Of a definition: the messages in its status are sentences of kube-apiserver.
PARTIAL = {"Accept": "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"}
# Without impersonation, the spec of a signing request has the hash of the client certificate.
SOMEONE = {"Impersonate-User": "someone", "Impersonate-Group": "system:masters"}
MERGE = {"Content-Type": "application/merge-patch+json"}
STRATEGIC = {"Content-Type": "application/strategic-merge-patch+json"}
JSON = {"Content-Type": "application/json-patch+json"}
APPLY = {"Content-Type": "application/apply-patch+yaml"}
TEMPLATE: Object = {
    "metadata": {"labels": {"app": "a"}},
    "spec": {"containers": [{"name": "c", "image": "i"}]},
}
_WORKLOAD: Object = {"selector": {"matchLabels": {"app": "a"}}, "template": TEMPLATE}
_JOB: Object = {"template": {"spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}}
# Of a kind that is not served, so that no garbage collector looks for it.
_OWNER = {"apiVersion": "example.com/v1", "kind": "Owner", "name": "o", "uid": "1"}
METADATA: Object = {
    "labels": {"l": "1"},
    "annotations": {"a": "1"},
    "finalizers": ["example.com/one"],
    "ownerReferences": [_OWNER],
}
CHANGED: Object = {
    "labels": {"l": "2", "new": "1"},
    "annotations": {"a": "2", "new": "1"},
    "finalizers": ["example.com/one", "example.com/two"],
    "ownerReferences": [{**_OWNER, "name": "p", "uid": "2"}],
    "generateName": "other-",
}


class Kind(NamedTuple):
    """One kind: where it is served, a spec, another spec, and a status."""

    api: str
    plural: str
    kind: str
    spec: Object
    changed: Object
    status: Object
    scoped: bool = True  # to a namespace
    finalizer: str = ""  # of an admission plugin

    @property
    def name(self) -> str:
        return "a" if self.scoped else "a-{ns}"

    @property
    def collection(self) -> str:
        start = "/api/v1" if self.api == "v1" else f"/apis/{self.api}"
        return (
            f"{start}/namespaces/{{ns}}/{self.plural}" if self.scoped else f"{start}/{self.plural}"
        )

    @property
    def path(self) -> str:
        return f"{self.collection}/{self.name}"

    def object(self, metadata: Object, **fields: Object) -> Object:
        return {
            "apiVersion": self.api,
            "kind": self.kind,
            "metadata": {"name": self.name, **metadata},
            **fields,
        }


_CONDITION: Object = {
    "type": "Other",
    "status": "True",
    "reason": "R",
    "message": "",
    "lastTransitionTime": "2024-01-01T00:00:00Z",
}
_CSR = (
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlITE1IUUNBUUF3RWpFUU1BNEdBMVVFQXd3SGMyOXRa"
    "Vzl1WlRCWk1CTUdCeXFHU000OUFnRUdDQ3FHU000OQpBd0VIQTBJQUJPclVkdzR4ZTc2VDY3R3k1b2pJNHhvS0ZGL2hS"
    "N1VxeFBIZmc1QmJLNXZINXM3cUpub2svdUI4CkV4c3hEOE5BVjZSMmd2MUh0T2hIb3Z4eVBGZkJRbGlnQURBS0JnZ3Fo"
    "a2pPUFFRREFnTkhBREJFQWlCVk4wTVEKNi9WSFJWNW4wYVJ3eE9BdWRSWjV6bjNkY1BGNFpJL0pMNUc4V3dJZ0wwT2tL"
    "VU5YVlhJVFpLQU5MZTVTV0lFKwo0OVUxbXVleGFSRmwzRVVGTTE4PQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNU"
    "LS0tLS0K"
)
_TAINT = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
_TARGET = {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"}
_BACKEND = {"service": {"name": "s", "port": {"number": 80}}}


def _claim(size: str) -> Object:
    return {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}


def _volume(size: str) -> Object:
    path = {"path": "/a", "type": ""}
    return {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": size}, "hostPath": path}


def _policy(plural: str) -> Object:
    rule = {
        "apiGroups": ["{ns}.example.com"],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": [plural],
        "scope": "*",
    }
    constraints: Object = {"resourceRules": [rule], "matchPolicy": "Equivalent"}
    constraints |= {"namespaceSelector": {}, "objectSelector": {}}
    return {
        "matchConstraints": constraints,
        "validations": [{"expression": "true"}],
        "failurePolicy": "Fail",
    }


def _resource_claim(device_class: str) -> Object:
    exact = {"deviceClassName": device_class, "allocationMode": "ExactCount", "count": 1}
    return {"devices": {"requests": [{"name": "r", "exactly": exact}]}}


def _cron_job(schedule: str) -> Object:
    return {"schedule": schedule, "jobTemplate": {"spec": _JOB}}


def _attachment(attacher: str) -> Object:
    return {"attacher": attacher, "nodeName": "n", "source": {"persistentVolumeName": "v"}}


def _signing_request(signer: str) -> Object:
    return {"request": _CSR, "signerName": signer, "usages": ["client auth"]}


def replicas(number: int, **spec: Any) -> Object:
    return {**_WORKLOAD, "replicas": number, **spec}


_COUNTS = {
    "currentNumberScheduled": 1,
    "numberMisscheduled": 0,
    "desiredNumberScheduled": 1,
    "numberReady": 1,
}
_HEALTH = {"currentHealthy": 1, "desiredHealthy": 1, "disruptionsAllowed": 1, "expectedPods": 1}
_OTHER = {"conditions": [_CONDITION]}
_STORAGE = "storage.k8s.io/v1"

# By the words that name the kind: spec, changed spec, status. Values that admission plugins set,
# such as the taint of a new node, are sent. Flow schemas, priority levels, API services and
# definitions are missing, because kube-apiserver itself writes their status at any time.
KINDS = {
    "a namespace": Kind(
        *("v1", "namespaces", "Namespace", {}, {"finalizers": ["example.com/x"]}),
        {"phase": "Active"},
        scoped=False,
    ),
    "a node": Kind(
        *("v1", "nodes", "Node", {"taints": [_TAINT]}, {"unschedulable": True}),
        {"allocatable": {"cpu": "2"}},
        scoped=False,
    ),
    "a volume claim": Kind(
        *("v1", "persistentvolumeclaims", "PersistentVolumeClaim", _claim("1Gi"), _claim("2Gi")),
        {"phase": "Bound", "capacity": {"storage": "1Gi"}},
        finalizer="kubernetes.io/pvc-protection",
    ),
    "a volume": Kind(
        *("v1", "persistentvolumes", "PersistentVolume", _volume("1Gi"), _volume("2Gi")),
        {"phase": "Available"},
        scoped=False,
        finalizer="kubernetes.io/pv-protection",
    ),
    "a pod": Kind(
        *("v1", "pods", "Pod", TEMPLATE["spec"]),
        {"containers": [{"name": "c", "image": "j"}], "priority": 7},
        {"phase": "Running", "podIP": "10.1.2.3", "podIPs": [{"ip": "10.1.2.3"}]},
    ),
    "a replication controller": Kind(
        *("v1", "replicationcontrollers", "ReplicationController"),
        {"selector": {"app": "a"}, "template": TEMPLATE, "replicas": 1},
        {"selector": {"app": "a"}, "template": TEMPLATE, "replicas": 7},
        {"replicas": 1},
    ),
    "a quota": Kind(
        *("v1", "resourcequotas", "ResourceQuota", {"hard": {"pods": "10"}}),
        {"hard": {"pods": "20"}},
        {"hard": {"pods": "10"}, "used": {"pods": "1"}},
    ),
    "a service": Kind(
        *("v1", "services", "Service"),
        {"type": "ExternalName", "externalName": "a.example.com"},
        {"type": "ExternalName", "externalName": "b.example.com"},
        {"conditions": [_CONDITION]},
    ),
    "a daemon set": Kind(
        *("apps/v1", "daemonsets", "DaemonSet", _WORKLOAD, {**_WORKLOAD, "minReadySeconds": 7}),
        _COUNTS,
    ),
    "a deployment": Kind(
        *("apps/v1", "deployments", "Deployment", replicas(1), replicas(7)),
        {"replicas": 1, "observedGeneration": 1},
    ),
    "a replica set": Kind(
        *("apps/v1", "replicasets", "ReplicaSet", replicas(1), replicas(7)),
        {"replicas": 1, "observedGeneration": 1},
    ),
    "a stateful set": Kind(
        *("apps/v1", "statefulsets", "StatefulSet"),
        *(replicas(1, serviceName="s"), replicas(7, serviceName="s")),
        {"replicas": 1, "observedGeneration": 1},
    ),
    "an autoscaler": Kind(
        *("autoscaling/v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler"),
        {"scaleTargetRef": _TARGET, "minReplicas": 1, "maxReplicas": 3},
        {"scaleTargetRef": _TARGET, "minReplicas": 1, "maxReplicas": 7},
        {"currentReplicas": 1, "desiredReplicas": 2},
    ),
    "a cron job": Kind(
        *("batch/v1", "cronjobs", "CronJob", _cron_job("* * * * *"), _cron_job("1 * * * *")),
        {"lastScheduleTime": "2024-01-01T00:00:00Z"},
    ),
    "a job": Kind(*("batch/v1", "jobs", "Job", _JOB, {**_JOB, "parallelism": 7}, {"active": 1})),
    "a signing request": Kind(
        *("certificates.k8s.io/v1", "certificatesigningrequests", "CertificateSigningRequest"),
        *(_signing_request("example.com/a"), _signing_request("example.com/b")),
        {"conditions": [{**_CONDITION, "lastUpdateTime": "2024-01-01T00:00:00Z"}]},
        scoped=False,
    ),
    "an ingress": Kind(
        *("networking.k8s.io/v1", "ingresses", "Ingress", {"defaultBackend": _BACKEND}),
        {"defaultBackend": _BACKEND, "ingressClassName": "c"},
        {"loadBalancer": {"ingress": [{"hostname": "h.example.com"}]}},
    ),
    "a disruption budget": Kind(
        *("policy/v1", "poddisruptionbudgets", "PodDisruptionBudget"),
        *({"minAvailable": 1, "selector": {}}, {"minAvailable": 2, "selector": {}}, _HEALTH),
    ),
    "a CSI node": Kind(
        *(_STORAGE, "csinodes", "CSINode", {"drivers": []}),
        {"drivers": [{"name": "d.example.com", "nodeID": "n", "topologyKeys": None}]},
        *({},),
        scoped=False,
    ),
    "a volume attachment": Kind(
        *(_STORAGE, "volumeattachments", "VolumeAttachment"),
        *(_attachment("a.example.com"), _attachment("b.example.com"), {"attached": True}),
        scoped=False,
    ),
    "an admission policy": Kind(
        "admissionregistration.k8s.io/v1",
        "validatingadmissionpolicies",
        "ValidatingAdmissionPolicy",
        *(_policy("xs"), _policy("ys"), {"observedGeneration": 1}),
        scoped=False,
    ),
    "a resource claim": Kind(
        *("resource.k8s.io/v1", "resourceclaims", "ResourceClaim"),
        *(_resource_claim("c"), _resource_claim("d"), {"allocation": {"devices": {}}}),
    ),
    "a service CIDR": Kind(
        *("networking.k8s.io/v1", "servicecidrs", "ServiceCIDR"),
        *({"cidrs": ["203.0.113.0/28"]}, {"cidrs": ["203.0.113.16/28"]}, _OTHER),
        scoped=False,
    ),
    "a storage migration": Kind(
        *("storagemigration.k8s.io/v1", "storageversionmigrations", "StorageVersionMigration"),
        {"resource": {"group": "{ns}.example.com", "resource": "xs"}},
        {"resource": {"group": "{ns}.example.com", "resource": "ys"}},
        {"conditions": [{**_CONDITION, "type": "Running"}]},
        scoped=False,
    ),
    "a custom object": Kind(
        *("{ns}.example.com/v1", "things", "Thing", {"a": 1}, {"a": 2}, {"b": 1}),
    ),
}
_CRD = {
    "metadata": {"name": "things.{ns}.example.com"},
    "spec": {
        "group": "{ns}.example.com",
        "scope": "Namespaced",
        "names": {
            "plural": "things",
            "kind": "Thing",
            "listKind": "ThingList",
            "singular": "thing",
        },
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "x-kubernetes-preserve-unknown-fields": True,
                    }
                },
                "subresources": {"status": {}},
            }
        ],
    },
}
_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
DEFINED: list[Step] = [
    ("POST", _CRDS, _CRD, PARTIAL),
    (
        "WAIT",
        f"{_CRDS}/things.{{ns}}.example.com",
        {"status.conditions.1.status": "True"},
    ),
    ("WAIT", "/apis/{ns}.example.com/v1/namespaces/{ns}/things", None),
]
UNDEFINED: list[Step] = [("DELETE", f"{_CRDS}/things.{{ns}}.example.com", None, PARTIAL)]
