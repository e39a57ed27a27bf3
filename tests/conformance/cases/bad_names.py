"""Names, keys and values of metadata that kube-apiserver rejects, with its sentences."""

from __future__ import annotations

from typing import Any

_CORE = "/api/v1/namespaces/{ns}"
_LONG = "a" * 64
_LONGER = "a" * 254
_NAMES = (
    "A", "a_b", "-a", "a-", "a.", ".a", "a..b", "a b", "a/b", "a%b", "", ".", "..", "1a", "ä", "a:b",
    "a\nb", _LONG, _LONGER, "a.B-",
)  # fmt: skip
_TEMPLATE: dict[str, Any] = {
    "metadata": {"labels": {"a": "b"}},
    "spec": {"containers": [{"name": "c", "image": "i"}]},
}
_WORKLOAD = {"spec": {"selector": {"matchLabels": {"a": "b"}}, "template": _TEMPLATE}}
# One path for each rule of names, and a valid body.
_KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "a config map": (f"{_CORE}/configmaps", {}),
    "a secret": (f"{_CORE}/secrets", {}),
    "a pod": (f"{_CORE}/pods", {"spec": _TEMPLATE["spec"]}),
    "a service": (f"{_CORE}/services", {"spec": {"ports": [{"port": 1}]}}),
    "a service account": (f"{_CORE}/serviceaccounts", {}),
    "a namespace": ("/api/v1/namespaces", {}),
    "a node": ("/api/v1/nodes", {}),
    "a volume": (
        "/api/v1/persistentvolumes",
        {
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "capacity": {"storage": "1"},
                "hostPath": {"path": "/a"},
            }
        },
    ),
    "a replication controller": (
        f"{_CORE}/replicationcontrollers",
        {"spec": {"selector": {"a": "b"}, "template": _TEMPLATE}},
    ),
    "a deployment": ("/apis/apps/v1/namespaces/{ns}/deployments", _WORKLOAD),
    "a stateful set": (
        "/apis/apps/v1/namespaces/{ns}/statefulsets",
        {"spec": {**_WORKLOAD["spec"], "serviceName": "a"}},
    ),
    "a cron job": (
        "/apis/batch/v1/namespaces/{ns}/cronjobs",
        {
            "spec": {
                "schedule": "* * * * *",
                "jobTemplate": {
                    "spec": {
                        "template": {"spec": {**_TEMPLATE["spec"], "restartPolicy": "Never"}}
                    }
                },
            }
        },
    ),
    "a role": ("/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles", {}),
    "a priority class": ("/apis/scheduling.k8s.io/v1/priorityclasses", {"value": 1}),
    "a storage class": ("/apis/storage.k8s.io/v1/storageclasses", {"provisioner": "a"}),
    "a lease": ("/apis/coordination.k8s.io/v1/namespaces/{ns}/leases", {}),
    "an ingress class": ("/apis/networking.k8s.io/v1/ingressclasses", {"spec": {"controller": "a/b"}}),
    "an address": (
        "/apis/networking.k8s.io/v1/ipaddresses",
        {"spec": {"parentRef": {"resource": "services", "name": "a", "namespace": "b"}}},
    ),
    "a budget": ("/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets", {"spec": {}}),
    "a webhook configuration": (
        "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
        {},
    ),
    "a device class": ("/apis/resource.k8s.io/v1/deviceclasses", {"spec": {}}),
    "a runtime class": ("/apis/node.k8s.io/v1/runtimeclasses", {"handler": "a"}),
    "a flow schema": (
        "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas",
        {"spec": {"priorityLevelConfiguration": {"name": "a"}}},
    ),
    "an API service": (
        "/apis/apiregistration.k8s.io/v1/apiservices",
        {"spec": {"group": "a.b", "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1}},
    ),
    "a definition": ("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {"spec": {}}),
}  # fmt: skip


def _named(path: str, body: dict[str, Any], *names: str) -> list[tuple[Any, ...]]:
    where = f"{path}?dryRun=All"
    return [
        ("POST", where, {**body, "metadata": {field: name}})
        for field in ("name", "generateName")
        for name in names
    ]


def _metadata(*fields: dict[str, Any]) -> list[tuple[Any, ...]]:
    path = f"{_CORE}/configmaps?dryRun=All"
    return [("POST", path, {"metadata": {"name": "x", **each}}) for each in fields]


def _pods(*specs: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [
        ("POST", f"{_CORE}/pods?dryRun=All", {"metadata": {"name": "x"}, "spec": spec})
        for spec in specs
    ]


def _container(**fields: Any) -> dict[str, Any]:
    return {"containers": [{"name": "c", "image": "i", **fields}]}


_KEYS = (
    "", "-", "a b", "a/", "/a", "a/b/c", "A/b", "a_b/c", "a-/b", "a./b", "ä", "a" * 64, "a/" + "b" * 64,
    "a" * 254 + "/b", "a.b.c/d_", "example.com/", "example.com/a b",
)  # fmt: skip
_VALUES = ("-", "a b", "a/b", "a_", "ä", "a" * 64, "a:b", ".", " ", "a\nb", "_" + "a" * 64)

CASES: dict[str, list[tuple[Any, ...]]] = {
    **{f"names of {kind}": _named(path, body, *_NAMES) for kind, (path, body) in _KINDS.items()},
    "keys of labels": _metadata(*({"labels": {key: "x"}} for key in _KEYS)),
    "values of labels": _metadata(*({"labels": {"a": value}} for value in _VALUES)),
    "keys of annotations": _metadata(*({"annotations": {key: "x"}} for key in _KEYS)),
    "finalizers": _metadata(
        *({"finalizers": [key]} for key in _KEYS),
        {"finalizers": ["a"]},
        {"finalizers": ["a", "b/c", "d e"]},
        {"finalizers": ["orphan", "foregroundDeletion"]},
        {"finalizers": ["kubernetes"]},
    ),
    "owners": _metadata(
        {"ownerReferences": [{}]},
        {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "a"}]},
        {"ownerReferences": [{"apiVersion": "a/b/c", "kind": "Pod", "name": "a", "uid": "1"}]},
        {"ownerReferences": [{"apiVersion": "v1", "kind": "Event", "name": "a", "uid": "1"}]},
        {"ownerReferences": [
            {"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "1", "controller": True},
            {"apiVersion": "v1", "kind": "Pod", "name": "b", "uid": "2", "controller": True},
        ]},
        {"ownerReferences": [
            {"apiVersion": "", "kind": "Pod", "name": "", "uid": "1", "controller": True},
        ]},
    ),
    "other metadata": _metadata(
        {"generation": -1},
        {"name": "", "generateName": ""},
        {"name": "A", "generateName": "B_"},
        {"name": "A b", "labels": {"-": "-"}, "annotations": {"-": ""}, "finalizers": ["-"]},
        {"namespace": "A"},
        {"selfLink": "x", "name": "-"},
        {"generation": -1, "ownerReferences": [{}], "finalizers": ["-"], "labels": {"-": ""}},
        {"managedFields": [{"manager": "a"}]},
        {"managedFields": [{"operation": "Turn", "apiVersion": "v1", "fieldsType": "x"}]},
        {"managedFields": [{"operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1",
                            "fieldsV1": {"x": 1}}]},
    ),
    "keys of config maps and secrets": [
        *(
            ("POST", f"{_CORE}/configmaps?dryRun=All", {"metadata": {"name": "x"}, "data": {key: "b"}})
            for key in ("", ".", "..", "..a", "a b", "a/b", "ä", _LONGER, "-", "a\n")
        ),
        *(
            ("POST", f"{_CORE}/secrets?dryRun=All",
             {"metadata": {"name": "x"}, "stringData": {key: "b"}})
            for key in ("", ".", "..", "a b", _LONGER)
        ),
        ("POST", f"{_CORE}/configmaps?dryRun=All",
         {"metadata": {"name": "x"}, "data": {"a": "b"}, "binaryData": {"a": "Yg=="}}),
    ],
    "variables of the environment": _pods(
        *(_container(env=[{"name": name}]) for name in ("", "a b", "=", "a=b", "1", "a-b", "ä", ".", "..")),
        *(_container(envFrom=[{"prefix": each, "configMapRef": {"name": "a"}}])
          for each in ("a b", "1", "=", "a.b")),
        _container(env=[{"name": "A", "value": "b", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}]),
        _container(env=[{"name": "A", "valueFrom": {}}]),
        _container(env=[{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.nope"}}}]),
        _container(env=[{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "x", "apiVersion": "v2"}}}]),
        _container(env=[{"name": "A", "valueFrom": {"fieldRef": {}}}]),
        _container(env=[{"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "x"}}}]),
        _container(env=[{"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "3"}}}]),
        _container(env=[{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "A_", "key": "a b"}}}]),
        _container(env=[{"name": "A", "valueFrom": {"secretKeyRef": {}}}]),
        _container(env=[{"name": "A", "valueFrom": {"secretKeyRef": {"key": "a"}, "configMapKeyRef": {"key": "b"}}}]),
        _container(envFrom=[{}]),
        _container(envFrom=[{"configMapRef": {}}, {"secretRef": {"name": "A b"}}]),
    ),
    "ports": _pods(
        *(_container(ports=[{"containerPort": each}]) for each in (0, -1, 65536)),
        *(_container(ports=[{"containerPort": 1, "hostPort": each}]) for each in (-1, 65536)),
        *(_container(ports=[{"containerPort": 1, "name": each}])
          for each in ("A", "a_b", "1", "-a", "a-", "a--b", "a" * 16, "a.b", "A_" + "b" * 15)),
        _container(ports=[{"containerPort": 1, "protocol": "HTTP"}]),
        _container(ports=[{"containerPort": 1, "hostIP": "x"}]),
        _container(ports=[{"name": "a", "containerPort": 1}, {"name": "a", "containerPort": 2}]),
        _container(ports=[{"containerPort": 1, "hostPort": 1}, {"containerPort": 2, "hostPort": 1}]),
        _container(livenessProbe={"httpGet": {"port": "A_"}}),
        _container(livenessProbe={"httpGet": {"port": 0}}),
        _container(livenessProbe={"httpGet": {"port": "", "path": "x", "scheme": "FTP"}}),
        _container(livenessProbe={"tcpSocket": {"port": 65536}}),
        _container(livenessProbe={"grpc": {"port": 0}}),
        _container(livenessProbe={"httpGet": {"port": 1, "httpHeaders": [{"name": "a b"}]}}),
    ),
    "names and paths in a pod": _pods(
        {"containers": [{"name": "A", "image": "i"}]},
        {"containers": [{"name": "", "image": ""}]},
        {"containers": [{"name": _LONG, "image": " i"}]},
        {"containers": [{"name": "a", "image": "i"}, {"name": "a", "image": "i"}]},
        {"containers": []},
        {},
        {**_container(), "initContainers": [{"name": "c", "image": "i"}]},
        {**_container(), "nodeName": "A b"},
        {**_container(), "hostname": "A.b", "subdomain": "c_d"},
        {**_container(), "serviceAccountName": "A"},
        {**_container(), "priorityClassName": "A b"},
        {**_container(), "runtimeClassName": "A b"},
        {**_container(), "schedulerName": "A b"},
        {**_container(), "nodeSelector": {"a b": "-"}},
        {**_container(), "volumes": [{"name": "A"}]},
        {**_container(), "volumes": [{"name": ""}]},
        {**_container(), "volumes": [{"name": "a"}, {"name": "a"}]},
        {**_container(), "volumes": [{"name": "a", "emptyDir": {}, "hostPath": {"path": "/a"}}]},
        {**_container(), "volumes": [{"name": "a", "hostPath": {"path": "/a/../b"}}]},
        {**_container(), "volumes": [{"name": "a", "hostPath": {"type": "x"}}]},
        {**_container(), "volumes": [{"name": "a", "emptyDir": {"sizeLimit": "-1"}}]},
        {**_container(), "volumes": [{"name": "a", "configMap": {"name": "", "defaultMode": 512}}]},
        {**_container(), "volumes": [{"name": "a", "configMap": {"name": "a", "items": [
            {"key": "a b", "path": "../x", "mode": -1}, {"key": "", "path": ""},
            {"key": "a", "path": "/x"}, {"key": "a", "path": "..x"}]}}]},
        {**_container(), "volumes": [{"name": "a", "secret": {"secretName": ""}}]},
        {**_container(), "volumes": [{"name": "a", "nfs": {"server": "", "path": "x"}}]},
        {**_container(), "volumes": [{"name": "a", "persistentVolumeClaim": {"claimName": ""}}]},
        {**_container(), "volumes": [{"name": "a", "downwardAPI": {"items": [{"path": "a"}]}}]},
        {**_container(volumeMounts=[{"name": "a", "mountPath": "/a"}])},
        {**_container(volumeMounts=[{"name": "a", "mountPath": ""}, {"name": "a", "mountPath": ""}]),
         "volumes": [{"name": "a"}]},
        {**_container(volumeMounts=[{"name": "a", "mountPath": "/a:b", "subPath": "../x"}]),
         "volumes": [{"name": "a"}]},
        {**_container(volumeMounts=[{"name": "a", "mountPath": "/a", "subPath": "/x", "subPathExpr": "b"}]),
         "volumes": [{"name": "a"}]},
        {**_container(volumeMounts=[{"name": "a", "mountPath": "/a", "mountPropagation": "x"}]),
         "volumes": [{"name": "a"}]},
        {**_container(workingDir=""), "imagePullSecrets": [{"name": "A b"}]},
        {**_container(terminationMessagePolicy="x", imagePullPolicy="x")},
        {**_container(terminationMessagePath="")},
    ),
}  # fmt: skip
