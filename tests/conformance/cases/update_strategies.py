"""Creates and updates of every kind: what they reset, keep and count.

Every kind is created with a status and with metadata that only the server sets, then its
metadata, its other fields and its status are patched, and it is replaced without a version.
See also: `status_writes` (the other direction).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.conformance.cases._kinds import (
    APPLY,
    DEFINED,
    JSON,
    KINDS,
    MERGE,
    SOMEONE,
    TEMPLATE,
    UNDEFINED,
    Object,
    Step,
    replicas,
)

_SYSTEM: Object = {
    "uid": "11111111-1111-1111-1111-111111111111",
    "creationTimestamp": "2001-01-01T00:00:00Z",
    "deletionTimestamp": "2001-01-01T00:00:00Z",
    "deletionGracePeriodSeconds": 5,
    "generation": 77,
    "selfLink": "/somewhere",
}


class _Plain(NamedTuple):
    """A kind without a status: its fields, and other values of them."""

    api: str
    plural: str
    fields: Object
    changed: Object
    scoped: bool = True  # to a namespace

    @property
    def path(self) -> str:
        start = "/api/v1" if self.api == "v1" else f"/apis/{self.api}"
        return f"{start}/{'namespaces/{ns}/' if self.scoped else ''}{self.plural}"


_RBAC, _STORAGE = "rbac.authorization.k8s.io/v1", "storage.k8s.io/v1"
_ADMISSION = "admissionregistration.k8s.io/v1"
_ROLE = {"apiGroup": "rbac.authorization.k8s.io", "name": "view"}
_RULE = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
_SUBJECT = {"kind": "User", "name": "u", "apiGroup": "rbac.authorization.k8s.io"}


def _webhooks(url: str) -> Object:
    # It matches no kind that exists.
    rule = {
        "apiGroups": ["{ns}.example.com"],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["xs"],
    }
    webhook = {
        "name": "w.example.com",
        "clientConfig": {"url": url},
        "rules": [rule],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "failurePolicy": "Ignore",
    }
    return {"webhooks": [webhook]}


def _policy_binding(policy: str) -> Object:
    return {"spec": {"policyName": policy, "validationActions": ["Audit"]}}


def _endpoint_slice(address: str) -> Object:
    endpoints = [{"addresses": [address]}]
    return {"addressType": "IPv4", "endpoints": endpoints, "ports": []}


def _claim_template(label: str) -> Object:
    exact = {"deviceClassName": "c", "allocationMode": "ExactCount", "count": 1}
    requests = [{"name": "r", "exactly": exact}]
    metadata = {"labels": {"l": label}}
    return {"spec": {"metadata": metadata, "spec": {"devices": {"requests": requests}}}}


def _capacity(size: str) -> Object:
    return {"storageClassName": "c", "capacity": size}


_PLAIN = {
    "a config map": _Plain("v1", "configmaps", {"data": {"a": "1"}}, {"data": {"a": "2"}}),
    "a limit range": _Plain(
        *("v1", "limitranges"),
        {"spec": {"limits": [{"type": "Pod", "max": {"cpu": "1"}}]}},
        {"spec": {"limits": [{"type": "Pod", "max": {"cpu": "2"}}]}},
    ),
    "a pod template": _Plain(
        *("v1", "podtemplates", {"template": TEMPLATE}),
        {"template": {**TEMPLATE, "spec": {**TEMPLATE["spec"], "hostname": "h"}}},
    ),
    "a secret": _Plain("v1", "secrets", {"data": {"a": "MQ=="}}, {"data": {"a": "Mg=="}}),
    "a service account": _Plain(
        *("v1", "serviceaccounts", {}, {"automountServiceAccountToken": False})
    ),
    "a network policy": _Plain(
        *("networking.k8s.io/v1", "networkpolicies"),
        {"spec": {"podSelector": {}, "policyTypes": ["Ingress"]}},
        {"spec": {"podSelector": {}, "policyTypes": ["Egress"]}},
    ),
    "an ingress class": _Plain(
        *("networking.k8s.io/v1", "ingressclasses", {"spec": {"controller": "example.com/c"}}),
        {
            "spec": {
                "controller": "example.com/c",
                "parameters": {"kind": "K", "name": "n", "scope": "Cluster"},
            }
        },
        scoped=False,
    ),
    "a role": _Plain(_RBAC, "roles", {"rules": []}, {"rules": [_RULE]}),
    "a cluster role": _Plain(
        *(_RBAC, "clusterroles", {"rules": []}, {"rules": [_RULE]}),
        scoped=False,
    ),
    "a role binding": _Plain(
        *(_RBAC, "rolebindings", {"roleRef": {**_ROLE, "kind": "ClusterRole"}}),
        {"subjects": [_SUBJECT]},
    ),
    "a cluster role binding": _Plain(
        *(_RBAC, "clusterrolebindings", {"roleRef": {**_ROLE, "kind": "ClusterRole"}}),
        {"subjects": [_SUBJECT]},
        scoped=False,
    ),
    "a CSI driver": _Plain(
        *(_STORAGE, "csidrivers", {"spec": {"preventPodSchedulingIfMissing": False}}),
        {"spec": {"requiresRepublish": True, "preventPodSchedulingIfMissing": False}},
        scoped=False,
    ),
    "a storage capacity": _Plain(
        *(_STORAGE, "csistoragecapacities", _capacity("1Gi"), {"capacity": "2Gi"})
    ),
    "a storage class": _Plain(
        *(_STORAGE, "storageclasses", {"provisioner": "p.example.com"}),
        {"allowVolumeExpansion": True},
        scoped=False,
    ),
    "a volume attributes class": _Plain(
        *(_STORAGE, "volumeattributesclasses"),
        {"driverName": "d.example.com", "parameters": {"a": "1"}},
        {"metadata": {"name": "a-{ns}"}},
        scoped=False,
    ),
    "a mutating webhook configuration": _Plain(
        *(_ADMISSION, "mutatingwebhookconfigurations"),
        *(_webhooks("https://a.example.com"), _webhooks("https://b.example.com")),
        scoped=False,
    ),
    "a validating webhook configuration": _Plain(
        *(_ADMISSION, "validatingwebhookconfigurations"),
        *(_webhooks("https://a.example.com"), _webhooks("https://b.example.com")),
        scoped=False,
    ),
    "a policy binding": _Plain(
        *(_ADMISSION, "validatingadmissionpolicybindings"),
        *(_policy_binding("a-{ns}"), _policy_binding("b-{ns}")),
        scoped=False,
    ),
    "a priority class": _Plain(
        *("scheduling.k8s.io/v1", "priorityclasses", {"value": 1}, {"description": "d"}),
        scoped=False,
    ),
    "a lease": _Plain(
        *("coordination.k8s.io/v1", "leases", {"spec": {}}, {"spec": {"holderIdentity": "h"}})
    ),
    "a runtime class": _Plain(
        *("node.k8s.io/v1", "runtimeclasses", {"handler": "h"}),
        {"scheduling": {"nodeSelector": {"a": "b"}}},
        scoped=False,
    ),
    "an endpoint slice": _Plain(
        *("discovery.k8s.io/v1", "endpointslices"),
        *(_endpoint_slice("10.1.2.3"), _endpoint_slice("10.1.2.4")),
    ),
    "a device class": _Plain(
        *("resource.k8s.io/v1", "deviceclasses", {"spec": {}}),
        {"spec": {"extendedResourceName": "example.com/r"}},
        scoped=False,
    ),
    "a claim template": _Plain(
        *("resource.k8s.io/v1", "resourceclaimtemplates", _claim_template("1"), {})
    ),
}


def _plain(kind: _Plain) -> list[Step]:
    name = "a" if kind.scoped else "a-{ns}"
    if kind.plural == "storageclasses":
        # Defaults that are sent, so that an update need not repeat them.
        kind = kind._replace(fields={**kind.fields, "volumeBindingMode": "Immediate"})
    path = f"{kind.path}/{name}"
    return [
        ("POST", kind.path, {"metadata": {"name": name, **_SYSTEM}, **kind.fields}),
        ("PATCH", path, {"metadata": {"labels": {"a": "b"}}}, MERGE),
        ("PATCH", path, {"metadata": {"annotations": {"a": "b"}}}, MERGE),
        ("PATCH", path, {"metadata": {"generation": 5}, **kind.changed}, MERGE),
        ("PUT", path, {"metadata": {"name": name}, **kind.fields, **kind.changed}),
        ("DELETE", path, None),
    ]


# An update of their fields is rejected for other reasons, which other cases are about.
_FIXED = {"a pod", "a volume claim", "a volume", "a job", "a volume attachment", "a service CIDR"}
_FIXED |= {"a resource claim", "a storage migration", "a CSI node"}


def _replace(words: str) -> list[Step]:
    kind = KINDS[words]
    if words in {"a pod", "a job"}:
        return []  # the server set fields of the spec that a replacement cannot leave out
    spec = kind.spec if words in _FIXED else kind.changed
    return [("PUT", kind.path, kind.object({}, spec=spec, status=kind.status))]


def _with_status(words: str) -> list[Step]:
    kind = KINDS[words]
    metadata = {**_SYSTEM, "finalizers": [kind.finalizer]} if kind.finalizer else _SYSTEM
    changed = {} if words in _FIXED else {"spec": kind.changed}
    steps: list[Step] = [
        (
            "POST",
            kind.collection,
            kind.object(metadata, spec=kind.spec, status=kind.status),
            SOMEONE,
        ),
        ("PATCH", kind.path, {"metadata": {"labels": {"a": "b"}}}, MERGE),
        ("PATCH", kind.path, {"metadata": {"annotations": {"a": "b"}}}, MERGE),
        ("PATCH", kind.path, {"metadata": {"generation": 5}, **changed}, MERGE),
        ("PATCH", kind.path, {"status": kind.status}, MERGE),
        *_replace(words),
        ("PATCH", kind.path, {"metadata": {"finalizers": None}}, MERGE),
        ("DELETE", kind.path, None),
    ]
    return [*DEFINED, *steps, *UNDEFINED] if kind.kind == "Thing" else steps


_CONFIG_MAPS = "/api/v1/namespaces/{ns}/configmaps"
_PODS = "/api/v1/namespaces/{ns}/pods"
_DEPLOYMENTS = "/apis/apps/v1/namespaces/{ns}/deployments"
_ROLES = "/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles"
_LONG_AGO = "2001-01-01T00:00:00Z"


def _config_map(**metadata: Any) -> Object:
    return {"metadata": {"name": "a", **metadata}, "data": {"k": "v"}}


def _applied(**metadata: Any) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", **_config_map(**metadata)}


def _deployment(**metadata: Any) -> Object:
    return {"metadata": {"name": "a", **metadata}, "spec": replicas(1)}


def _patches(path: str, *bodies: Object) -> list[Step]:
    return [("PATCH", path, body, MERGE) for body in bodies]


_MAP = f"{_CONFIG_MAPS}/a"

CASES: dict[str, list[Step]] = {
    **{f"{words} is created and updated": _plain(kind) for words, kind in _PLAIN.items()},
    **{f"{words} is created and updated": _with_status(words) for words in KINDS},
    "a uid is sent": [
        ("POST", _CONFIG_MAPS, _config_map()),
        ("PUT", _MAP, _config_map(uid="x")),
        ("PATCH", _MAP, {"metadata": {"uid": "x"}}, MERGE),
        ("PATCH", f"{_MAP}?fieldManager=m", _applied(uid="x"), APPLY),
        ("PATCH", _MAP, {"metadata": {"uid": None}}, MERGE),
        ("PATCH", _MAP, {"metadata": {"uid": ""}}, MERGE),
    ],
    "times and counters are sent": [
        ("POST", _CONFIG_MAPS, _config_map()),
        ("PUT", _MAP, _config_map(creationTimestamp=_LONG_AGO, selfLink="/a", generation=4)),
        *_patches(
            _MAP,
            {"metadata": {"creationTimestamp": _LONG_AGO, "generation": 7, "selfLink": "x"}},
            {"metadata": {"creationTimestamp": None}},
        ),
    ],
    "a deletion is sent in an update": [
        ("POST", _CONFIG_MAPS, _config_map()),
        ("PUT", _MAP, _config_map(deletionTimestamp=_LONG_AGO)),
        ("PUT", _MAP, _config_map(deletionGracePeriodSeconds=3)),
        *_patches(
            _MAP,
            {"metadata": {"deletionTimestamp": _LONG_AGO}},
            {"metadata": {"deletionGracePeriodSeconds": 0}},
        ),
        (
            "PATCH",
            _MAP,
            [{"op": "add", "path": "/metadata/deletionTimestamp", "value": _LONG_AGO}],
            JSON,
        ),
        ("PATCH", f"{_MAP}?fieldManager=m", _applied(deletionTimestamp=_LONG_AGO), APPLY),
    ],
    "an object that is being deleted is updated": [
        ("POST", _CONFIG_MAPS, _config_map(finalizers=["example.com/a"])),
        ("DELETE", _MAP, None),
        ("PUT", _MAP, _config_map(finalizers=["example.com/a"], labels={"x": "y"})),
        *_patches(
            _MAP,
            {"metadata": {"deletionTimestamp": None, "deletionGracePeriodSeconds": None}},
            {"metadata": {"deletionTimestamp": _LONG_AGO}},
            {"metadata": {"deletionGracePeriodSeconds": 9}},
            {"metadata": {"finalizers": ["example.com/a", "example.com/b"]}},
            {"metadata": {"finalizers": ["example.com/b"]}},
        ),
        ("POST", _CONFIG_MAPS, _config_map()),
        ("DELETE", _MAP, None),
        *_patches(_MAP, {"metadata": {"finalizers": []}}),
        ("GET", _MAP, None),
    ],
    "a pod that is being deleted is updated": [
        (
            "POST",
            _PODS,
            {
                "metadata": {"name": "a", "finalizers": ["example.com/a"]},
                "spec": {**TEMPLATE["spec"], "nodeName": "n"},
            },
        ),
        ("DELETE", f"{_PODS}/a", None),
        *_patches(
            f"{_PODS}/a",
            {"metadata": {"deletionGracePeriodSeconds": 9}},
            {"metadata": {"deletionGracePeriodSeconds": None}},
        ),
        *_patches(
            f"{_PODS}/a/status",
            {"metadata": {"deletionTimestamp": None}, "status": {"phase": "Failed"}},
        ),
        ("DELETE", f"{_PODS}/a?gracePeriodSeconds=0", None),
        *_patches(f"{_PODS}/a", {"metadata": {"finalizers": None}}),
        ("GET", f"{_PODS}/a", None),
    ],
    "a deployment that is being deleted is updated": [
        ("POST", _DEPLOYMENTS, _deployment(finalizers=["example.com/a"])),
        ("DELETE", f"{_DEPLOYMENTS}/a", None),
        *_patches(f"{_DEPLOYMENTS}/a", {"spec": {"replicas": 4}}),
        ("DELETE", f"{_DEPLOYMENTS}/a", None),
        *_patches(f"{_DEPLOYMENTS}/a", {"metadata": {"finalizers": None}}),
    ],
    "a version is sent in an update": [
        ("POST", _CONFIG_MAPS, _config_map()),
        *(
            ("PUT", _MAP, _config_map(resourceVersion=version))
            for version in ("0", "x", "1", "-1", "99999999999999999999999")
        ),
        ("PUT", f"{_MAP}?dryRun=All", _config_map(resourceVersion="x")),
        *_patches(
            _MAP,
            {"metadata": {"resourceVersion": "1"}},
            {"metadata": {"resourceVersion": "x"}},
            {"metadata": {"resourceVersion": "0"}},
            {"metadata": {"resourceVersion": None}, "data": {"q": "z"}},
        ),
    ],
    "a name is changed": [
        ("POST", _CONFIG_MAPS, _config_map()),
        *_patches(
            _MAP,
            {"metadata": {"name": "b"}},
            {"metadata": {"namespace": "default"}},
            {"metadata": {"name": None}},
            {"metadata": {"namespace": None}},
            {"metadata": None},
        ),
        ("PUT", _MAP, {"metadata": {}}),
        ("PUT", _MAP, {"metadata": {"name": "a", "namespace": "default"}}),
        ("PUT", f"{_CONFIG_MAPS}/b", {"metadata": {"name": "b"}}),
    ],
    "a generateName is changed": [
        ("POST", _CONFIG_MAPS, {"metadata": {"generateName": "g-", "name": "a"}}),
        ("PUT", _MAP, {"metadata": {"name": "a", "generateName": "h-"}}),
        ("PUT", _MAP, {"metadata": {"name": "a"}}),
        ("PUT", _MAP, {"metadata": {"name": "a", "generateName": "INVALID_"}}),
    ],
    "an update creates": [
        ("PUT", f"{_ROLES}/a", {"metadata": {"name": "a", "resourceVersion": "7"}, "rules": []}),
        ("PUT", f"{_ROLES}/b", {"metadata": {"name": "b", "uid": "7"}, "rules": []}),
        ("PUT", f"{_ROLES}/c?dryRun=All", {"metadata": {"name": "c"}, "rules": []}),
        (
            "PUT",
            "/apis/coordination.k8s.io/v1/namespaces/{ns}/leases/a",
            {"metadata": {"name": "a"}, "spec": {}},
        ),
        (
            "PUT",
            "/apis/node.k8s.io/v1/runtimeclasses/a-{ns}",
            {"metadata": {"name": "a-{ns}"}, "handler": "h"},
        ),
        ("DELETE", "/apis/node.k8s.io/v1/runtimeclasses/a-{ns}", None),
        ("PUT", "/api/v1/namespaces/{ns}/secrets/a", {"metadata": {"name": "a"}}),
        ("PUT", "/api/v1/namespaces/{ns}/services/b/status", {"metadata": {"name": "b"}}),
    ],
}
