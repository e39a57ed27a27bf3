"""Fields that kube-apiserver does not know, that occur twice, or that have another type."""

from __future__ import annotations

import json
from typing import Any

_MAPS = "/api/v1/namespaces/{ns}/configmaps"
_PODS = "/api/v1/namespaces/{ns}/pods"
_SERVICES = "/api/v1/namespaces/{ns}/services"
_SECRETS = "/api/v1/namespaces/{ns}/secrets"
_DEPLOYMENTS = "/apis/apps/v1/namespaces/{ns}/deployments"
_BUDGETS = "/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets"
_LEASES = "/apis/coordination.k8s.io/v1/namespaces/{ns}/leases"
_SCALERS = "/apis/autoscaling/v2/namespaces/{ns}/horizontalpodautoscalers"
_INGRESSES = "/apis/networking.k8s.io/v1/namespaces/{ns}/ingresses"
_CRON_JOBS = "/apis/batch/v1/namespaces/{ns}/cronjobs"
_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_YAML = {"Content-Type": "application/yaml"}


def _posted(path: str, *bodies: Any, mode: str = "Ignore") -> list[tuple[Any, ...]]:
    where = f"{path}?dryRun=All&fieldValidation={mode}"
    return [
        ("POST", where, body if isinstance(body, str) else {"metadata": {"name": "x"}, **body})
        for body in bodies
    ]


def _in_all_modes(path: str, *bodies: Any) -> list[tuple[Any, ...]]:
    modes = ("Strict", "Warn", "Ignore")
    return [step for mode in modes for step in _posted(path, *bodies, mode=mode)]


def _container(**fields: Any) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "c", "image": "i", **fields}]}}


_TEMPLATE: dict[str, Any] = {
    "metadata": {"labels": {"a": "b"}},
    "spec": {"containers": [{"name": "c", "image": "i"}]},
}


def _workload(**fields: Any) -> dict[str, Any]:
    return {
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": _TEMPLATE, **fields},
    }


CASES: dict[str, list[tuple[Any, ...]]] = {
    "unknown fields": [
        *_in_all_modes(
            _MAPS,
            {"nope": 1},
            {"nope": 1, "more": {"a": 1}, "metadata": {"name": "x", "nope": 1}},
            {"metadata": {"name": "x", "ownerReferences": [{"nope": 1}]}},
            {"status": {}},
            {"Data": {"a": "b"}},
            {"data": {"a": "b"}, "DATA": {"c": "d"}},
        ),
        *_in_all_modes(_PODS, _container(nope=1, Image="j", ports=[{"containerPort": 1, "x": 2}])),
        *_in_all_modes(
            _DEPLOYMENTS, _workload(nope=1, Replicas=2, strategy={"rollingupdate": {"x": 1}})
        ),
        *_in_all_modes(_BUDGETS, {"spec": {"MinAvailable": 1, "selector": {}}}),
        *_in_all_modes(_BUDGETS, {"spec": {"minavailable": 1, "maxUnavailable": 1}}),
        *_in_all_modes(_SERVICES, {"spec": {"ports": [{"Port": 80, "targetport": 1}]}}),
    ],
    "fields that occur twice": [
        *_in_all_modes(
            _MAPS,
            '{"metadata":{"name":"x","name":"y"}}',
            '{"metadata":{"name":"x"},"data":{"a":"1","a":"2"}}',
            '{"metadata":{"name":"x"},"data":{"a":"1"},"data":{"b":"2"},"nope":1,"nope":2}',
            '{"kind":"ConfigMap","kind":"ConfigMap","metadata":{"name":"x"}}',
        ),
        *_in_all_modes(
            _PODS,
            '{"metadata":{"name":"x"},"spec":{"containers":[{"name":"c","image":"i","image":"j"}],'
            '"hostPID":true,"hostPID":false}}',
        ),
    ],
    "unknown fields of a definition": _in_all_modes(
        _DEFINITIONS, {"spec": {"group": "a.example.com", "nope": 1}, "more": 1}
    ),
    "unknown fields with an invalid object": _in_all_modes(
        _PODS, {"spec": {"nope": 1, "containers": []}}
    ),
    "many unknown fields": _in_all_modes(_MAPS, {f"f{number}": 1 for number in range(12)}),
    "fields in YAML": [
        ("POST", f"{_MAPS}?dryRun=All&fieldValidation={mode}", body, _YAML)
        for mode in ("Strict", "Warn", "Ignore")
        for body in (
            "metadata: {name: x}\nnope: 1\n",
            "metadata: {name: x}\nData: {a: b}\n",
            "metadata: {name: x}\ndata: [a]\n",
            "metadata: {name: x}\ndata: {a: 1}\n",
            "metadata: {name: x\n",
            "a: b: c\n",
            "- a\n",
            "x\n",
            "",
            "\ta: b\n",
            "metadata: {name: x}\ndata: {a: *b}\n",
            "metadata: {name: x}\ndata:\n  a: b: c\n",
            "metadata: {name: x}\ndata:\n  a: [b\n",
            "metadata: {name: x}\ndata:\n  a: @b\n",
            "metadata: {name: x}\ndata:\n\ta: b\n",
            "metadata:\n  name: x\n data: {}\n",
            "metadata: {name: x}\ndata:\n  a: 'b\n",
        )
    ],
    "texts that have another type": _posted(
        _MAPS,
        {"data": {"a": 1}},
        {"data": {"a": 1.5}},
        {"data": {"a": True}},
        {"data": {"a": []}},
        {"data": {"a": {}}},
        {"data": []},
        {"data": "x"},
        {"data": 1},
        {"metadata": "x"},
        {"metadata": []},
        {"metadata": {"name": 1}},
        {"metadata": {"name": "x", "labels": {"a": 1}}},
        {"metadata": {"name": "x", "labels": []}},
        {"metadata": {"name": "x", "annotations": {"a": {}}}},
        {"metadata": {"name": "x", "finalizers": "a"}},
        {"metadata": {"name": "x", "finalizers": {}}},
        {"metadata": {"name": "x", "finalizers": [1]}},
        {"metadata": {"name": "x", "ownerReferences": {}}},
        {"metadata": {"name": "x", "ownerReferences": [1]}},
        {"metadata": {"name": "x", "ownerReferences": [{"controller": "x"}]}},
        {"metadata": {"name": "x", "generation": "x"}},
        {"metadata": {"name": "x", "generation": 1.5}},
        {"metadata": {"name": "x", "creationTimestamp": "x"}},
        {"metadata": {"name": "x", "creationTimestamp": 1}},
        {"metadata": {"name": "x", "creationTimestamp": "2020-01-01"}},
        {"metadata": {"name": "x", "deletionGracePeriodSeconds": "x"}},
        {"immutable": "x"},
        {"immutable": 1},
        {"kind": 1},
        {"apiVersion": 1},
        {"kind": []},
    ),
    "bytes that have another type": [
        *_posted(_SECRETS, {"data": {"a": "?"}}, {"data": {"a": "YQ"}}, {"data": {"a": 1}}),
        *_posted(_SECRETS, {"data": {"a": ["x"]}}, {"data": {"a": {}}}, {"data": {"a": "a b"}}),
        *_posted(_SECRETS, {"stringData": {"a": 1}}, {"type": 1}),
        *_posted(_MAPS, {"binaryData": {"a": "?"}}, {"binaryData": {"a": "YQ=="}, "data": {"a": "b"}}),
    ],
    "numbers that have another type": [
        *_posted(
            _DEPLOYMENTS,
            _workload(replicas="1"),
            _workload(replicas=1.5),
            _workload(replicas=2147483648),
            _workload(replicas=-2147483649),
            _workload(replicas=1e30),
            _workload(replicas=True),
            _workload(replicas=[]),
            _workload(replicas={}),
            _workload(paused="x"),
            _workload(paused=1),
            _workload(strategy="x"),
            _workload(strategy={"rollingUpdate": {"maxSurge": {}}}),
            _workload(strategy={"rollingUpdate": {"maxSurge": 1.5}}),
            _workload(strategy={"rollingUpdate": {"maxSurge": True}}),
            _workload(strategy={"rollingUpdate": {"maxSurge": []}}),
            _workload(strategy={"rollingUpdate": {"maxSurge": 2147483648}}),
            _workload(selector="x"),
            _workload(selector={"matchExpressions": {}}),
            _workload(template=[]),
            {"spec": "x"},
            {"spec": 1},
            {"spec": []},
        ),
        *_posted(
            _PODS,
            _container(ports="x"),
            _container(ports=[1]),
            _container(ports=[{"containerPort": "80"}]),
            _container(args="x"),
            _container(args=[1]),
            _container(env=[{"name": 1}]),
            _container(env=[{"name": "A", "value": 1}]),
            _container(resources={"limits": {"cpu": "x"}}),
            _container(resources={"limits": {"cpu": []}}),
            _container(resources={"limits": {"cpu": ""}}),
            _container(resources={"limits": {"cpu": "1 Gi"}}),
            _container(resources={"limits": {"cpu": True}}),
            _container(resources={"limits": "x"}),
            _container(livenessProbe={"httpGet": {"port": {}}}),
            _container(livenessProbe={"periodSeconds": "1s"}),
            _container(securityContext={"runAsUser": "root"}),
            _container(securityContext={"privileged": "yes"}),
            {"spec": {"containers": {}}},
            {"spec": {"containers": "x"}},
            {"spec": {"containers": [1]}},
            {"spec": {"containers": ["x"]}},
            {"spec": {"nodeSelector": {"a": True}}},
            {"spec": {"terminationGracePeriodSeconds": "30s"}},
            {"spec": {"tolerations": [{"tolerationSeconds": "1"}]}},
        ),
        *_posted(
            _LEASES,
            {"spec": {"renewTime": "x"}},
            {"spec": {"renewTime": "2020-01-01T00:00:00Z"}},
            {"spec": {"renewTime": 1}},
            {"spec": {"leaseDurationSeconds": "x"}},
        ),
        *_posted(_SCALERS, {"spec": {"metrics": [{"resource": {"target": {"value": "x"}}}]}}),
        *_posted(_INGRESSES, {"spec": {"rules": "x"}}, {"spec": {"rules": [{"http": 1}]}}),
        *_posted(_CRON_JOBS, {"spec": {"schedule": 1}}, {"spec": {"suspend": "x"}}),
        *_posted(_DEFINITIONS, {"spec": {"versions": {}}}, {"spec": {"versions": [{"served": 1}]}}),
    ],
    "bodies that are no objects": _posted(
        _MAPS, "[]", "1", '"x"', "null", "true", "{", "", "{}x", "{} {}", "x", "{'a': 1}", '{"a":}',
        '{"a" 1}', '{"a":1,}', '{"a":"\\x"}', '{"a":"b', "[1", '{"metadata":{"name":"x"}', "\x00",
        '{"a":01}', '{"a":1e}', '{"a":tru}', "//", '{"metadata":{"name":"x"},"data":{"a":"b"}]',
    ),
    "kinds and versions of bodies": [
        *_posted(
            _MAPS,
            {"kind": "Secret"},
            {"kind": "Pod", "apiVersion": "v1"},
            {"kind": "Nope", "apiVersion": "v1"},
            {"kind": "ConfigMap", "apiVersion": "v2"},
            {"kind": "ConfigMap", "apiVersion": "a/b/c"},
            {"kind": "ConfigMap", "apiVersion": "apps/v1"},
            {"kind": "configmap", "apiVersion": "v1"},
            {"kind": "ConfigMapList", "apiVersion": "v1"},
            {"apiVersion": "v2"},
        ),
        *_posted(
            _DEPLOYMENTS,
            {"kind": "Deployment", "apiVersion": "apps/v1beta1"},
            {"kind": "Deployment", "apiVersion": "extensions/v1beta1"},
            {"kind": "StatefulSet", "apiVersion": "apps/v1"},
        ),
        ("PUT", f"{_MAPS}/x", {"metadata": {"name": "y"}}),
        ("PUT", f"{_MAPS}/x", {"metadata": {}}),
        ("PUT", f"{_MAPS}/x", {"metadata": {"name": "x", "namespace": "other"}}),
        ("PUT", f"{_MAPS}/x", {"metadata": {"name": "x", "resourceVersion": "1"}}),
        ("PUT", f"{_MAPS}/x", {"metadata": {"name": "x", "uid": "1"}}),
        ("PUT", f"{_MAPS}/x", {"kind": "Secret", "metadata": {"name": "x"}}),
        ("POST", _MAPS, {"metadata": {"name": "x", "namespace": "other"}}),
        ("POST", _MAPS, {"metadata": {"name": "x", "resourceVersion": "1"}}),
        ("POST", _MAPS, {"metadata": {"name": "x", "resourceVersion": "x"}}),
        ("POST", "/api/v1/nodes?dryRun=All", {"metadata": {"name": "x-{ns}", "namespace": "a"}}),
    ],
    "versions that are no longer served": [
        *(
            ("POST", f"/apis/{path}", {"apiVersion": version, "kind": kind, "metadata": {"name": "x"}})
            for path, kind, versions in (
                ("apps/v1/namespaces/{ns}/deployments", "Deployment",
                 ("apps/v1beta1", "apps/v1beta2", "extensions/v1beta1", "apps/v1beta9")),
                ("apps/v1/namespaces/{ns}/daemonsets", "DaemonSet",
                 ("apps/v1beta1", "apps/v1beta2", "extensions/v1beta1")),
                ("apps/v1/namespaces/{ns}/replicasets", "ReplicaSet",
                 ("apps/v1beta1", "apps/v1beta2", "extensions/v1beta1")),
                ("apps/v1/namespaces/{ns}/statefulsets", "StatefulSet",
                 ("apps/v1beta1", "apps/v1beta2", "extensions/v1beta1")),
                ("batch/v1/namespaces/{ns}/cronjobs", "CronJob", ("batch/v1beta1", "batch/v2alpha1")),
                ("batch/v1/namespaces/{ns}/jobs", "Job", ("batch/v1beta1",)),
                ("policy/v1/namespaces/{ns}/poddisruptionbudgets", "PodDisruptionBudget", ("policy/v1beta1",)),
                ("networking.k8s.io/v1/namespaces/{ns}/ingresses", "Ingress",
                 ("networking.k8s.io/v1beta1", "extensions/v1beta1")),
                ("networking.k8s.io/v1/namespaces/{ns}/networkpolicies", "NetworkPolicy",
                 ("networking.k8s.io/v1beta1", "extensions/v1beta1")),
                ("networking.k8s.io/v1/ingressclasses", "IngressClass", ("networking.k8s.io/v1beta1",)),
                ("autoscaling/v2/namespaces/{ns}/horizontalpodautoscalers", "HorizontalPodAutoscaler",
                 ("autoscaling/v1", "autoscaling/v2beta1", "autoscaling/v2beta2")),
                ("events.k8s.io/v1/namespaces/{ns}/events", "Event", ("events.k8s.io/v1beta1", "v1")),
                ("discovery.k8s.io/v1/namespaces/{ns}/endpointslices", "EndpointSlice", ("discovery.k8s.io/v1beta1",)),
                ("coordination.k8s.io/v1/namespaces/{ns}/leases", "Lease", ("coordination.k8s.io/v1beta1",)),
                ("scheduling.k8s.io/v1/priorityclasses", "PriorityClass",
                 ("scheduling.k8s.io/v1alpha1", "scheduling.k8s.io/v1beta1")),
                ("storage.k8s.io/v1/storageclasses", "StorageClass",
                 ("storage.k8s.io/v1alpha1", "storage.k8s.io/v1beta1")),
                ("storage.k8s.io/v1/csidrivers", "CSIDriver", ("storage.k8s.io/v1beta1",)),
                ("rbac.authorization.k8s.io/v1/clusterroles", "ClusterRole",
                 ("rbac.authorization.k8s.io/v1alpha1", "rbac.authorization.k8s.io/v1beta1")),
                ("apiextensions.k8s.io/v1/customresourcedefinitions", "CustomResourceDefinition",
                 ("apiextensions.k8s.io/v1beta1",)),
                ("admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
                 "ValidatingWebhookConfiguration", ("admissionregistration.k8s.io/v1beta1",)),
                ("certificates.k8s.io/v1/certificatesigningrequests", "CertificateSigningRequest",
                 ("certificates.k8s.io/v1beta1",)),
                ("flowcontrol.apiserver.k8s.io/v1/flowschemas", "FlowSchema",
                 ("flowcontrol.apiserver.k8s.io/v1beta1", "flowcontrol.apiserver.k8s.io/v1beta3")),
                ("node.k8s.io/v1/runtimeclasses", "RuntimeClass", ("node.k8s.io/v1alpha1", "node.k8s.io/v1beta1")),
            )
            for version in versions
        ),
    ],
    "a body that is too large": [
        ("POST", f"{_MAPS}?dryRun=All", json.dumps({"metadata": {"name": "x"}, "data": {"a": "x" * 1048577}})),
        ("POST", f"{_MAPS}?dryRun=All", json.dumps({"data": {"a": "x" * 3145729}})),
        (
            "POST",
            f"{_SECRETS}?dryRun=All",
            json.dumps({"metadata": {"name": "x"}, "stringData": {"a": "x" * 1048577}}),
        ),
        (
            "POST",
            f"{_MAPS}?dryRun=All",
            json.dumps({"metadata": {"name": "x", "annotations": {"a": "x" * 262144}}}),
        ),
    ],
}  # fmt: skip
