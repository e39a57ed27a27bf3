"""The defaults of built-in kinds."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop_testing.server.kinds.rules.pod_defaults import pull_policy
from tests.testing.server.kind_helpers import default

Json = dict[str, Any]

CONTAINER: Json = {"name": "c", "image": "nginx:1"}
TEMPLATE: Json = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [CONTAINER]}}
RBAC = "rbac.authorization.k8s.io"


def spec_of(group: str, kind: str, spec: Json) -> Json:
    found: Json = default(group, kind, {"metadata": {"name": "x"}, "spec": spec})["spec"]
    return found


def test_a_pod_gets_its_defaults() -> None:
    spec = spec_of("", "Pod", {"containers": [CONTAINER]})

    assert spec == {
        "containers": [
            {
                **CONTAINER,
                "imagePullPolicy": "IfNotPresent",
                "terminationMessagePath": "/dev/termination-log",
                "terminationMessagePolicy": "File",
                "resources": {},
            }
        ],
        "dnsPolicy": "ClusterFirst",
        "enableServiceLinks": True,
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
    }


def test_a_template_gets_the_defaults_of_a_pod_except_those_of_pods_only() -> None:
    spec = spec_of("apps", "Deployment", {"template": TEMPLATE})["template"]["spec"]

    assert spec["restartPolicy"] == "Always"
    assert "enableServiceLinks" not in spec


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("nginx", "Always"),
        ("nginx:latest", "Always"),
        ("nginx:1.27", "IfNotPresent"),
        ("host:5000/nginx", "Always"),
        ("host:5000/nginx:1", "IfNotPresent"),
        ("nginx@sha256:abc", "IfNotPresent"),
    ],
)
def test_the_latest_image_is_always_pulled(image: str, policy: str) -> None:
    assert pull_policy(image) == policy


def test_fields_of_containers_are_defaulted() -> None:
    container = {
        **CONTAINER,
        "ports": [{"containerPort": 80}],
        "readinessProbe": {"httpGet": {"port": 80}, "periodSeconds": 0},
        "env": [{"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
        "resources": {"limits": {"cpu": "1"}},
    }

    found = spec_of("", "Pod", {"containers": [container], "hostNetwork": True})["containers"][0]

    assert found["ports"] == [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}]
    assert found["readinessProbe"] == {
        "httpGet": {"port": 80, "path": "/", "scheme": "HTTP"},
        "periodSeconds": 10,
        "timeoutSeconds": 1,
        "successThreshold": 1,
        "failureThreshold": 3,
    }
    assert found["env"][0]["valueFrom"]["fieldRef"]["apiVersion"] == "v1"
    assert found["resources"] == {"limits": {"cpu": "1"}, "requests": {"cpu": "1"}}


def test_volumes_are_defaulted() -> None:
    volumes = [
        {"name": "none"},
        {"name": "s", "secret": {"secretName": "x"}},
        {"name": "h", "hostPath": {"path": "/"}},
        {"name": "p", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}},
    ]

    found = spec_of("", "Pod", {"containers": [CONTAINER], "volumes": volumes})["volumes"]

    assert found[0] == {"name": "none", "emptyDir": {}}
    assert found[1]["secret"]["defaultMode"] == 420
    assert found[2]["hostPath"]["type"] == ""
    assert found[3]["projected"] == {
        "defaultMode": 420,
        "sources": [{"serviceAccountToken": {"path": "t", "expirationSeconds": 3600}}],
    }


@pytest.mark.parametrize(
    ("group", "kind", "given", "expected"),
    [
        (
            "apps",
            "Deployment",
            {},
            {
                "replicas": 1,
                "revisionHistoryLimit": 10,
                "progressDeadlineSeconds": 600,
                "strategy": {
                    "type": "RollingUpdate",
                    "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"},
                },
            },
        ),
        ("apps", "Deployment", {"replicas": 0}, {"replicas": 0}),
        (
            "apps",
            "Deployment",
            {"strategy": {"type": "Recreate"}},
            {"strategy": {"type": "Recreate"}},
        ),
        ("apps", "ReplicaSet", {}, {"replicas": 1}),
        (
            "apps",
            "StatefulSet",
            {},
            {
                "replicas": 1,
                "podManagementPolicy": "OrderedReady",
                "updateStrategy": {
                    "type": "RollingUpdate",
                    "rollingUpdate": {"partition": 0, "maxUnavailable": 1},
                },
                "persistentVolumeClaimRetentionPolicy": {
                    "whenDeleted": "Retain",
                    "whenScaled": "Retain",
                },
            },
        ),
        (
            "apps",
            "DaemonSet",
            {},
            {
                "updateStrategy": {
                    "type": "RollingUpdate",
                    "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0},
                }
            },
        ),
        (
            "batch",
            "Job",
            {},
            {
                "completions": 1,
                "parallelism": 1,
                "backoffLimit": 6,
                "completionMode": "NonIndexed",
                "suspend": False,
                "podReplacementPolicy": "TerminatingOrFailed",
                "manualSelector": False,
            },
        ),
        ("batch", "Job", {"completions": 5}, {"completions": 5, "parallelism": 1}),
        ("batch", "Job", {"backoffLimitPerIndex": 1}, {"backoffLimit": 2147483647}),
        (
            "batch",
            "CronJob",
            {},
            {
                "concurrencyPolicy": "Allow",
                "suspend": False,
                "successfulJobsHistoryLimit": 3,
                "failedJobsHistoryLimit": 1,
            },
        ),
        (
            "",
            "Service",
            {"ports": [{"port": 80}]},
            {
                "type": "ClusterIP",
                "sessionAffinity": "None",
                "internalTrafficPolicy": "Cluster",
                "ports": [{"port": 80, "protocol": "TCP", "targetPort": 80}],
            },
        ),
        (
            "",
            "Service",
            {"type": "LoadBalancer", "sessionAffinity": "ClientIP"},
            {
                "externalTrafficPolicy": "Cluster",
                "allocateLoadBalancerNodePorts": True,
                "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 10800}},
            },
        ),
        (
            "networking.k8s.io",
            "NetworkPolicy",
            {"egress": [{"ports": [{"port": 1}]}]},
            {
                "policyTypes": ["Ingress", "Egress"],
                "egress": [{"ports": [{"port": 1, "protocol": "TCP"}]}],
            },
        ),
        ("", "PersistentVolumeClaim", {}, {"volumeMode": "Filesystem"}),
        (
            "",
            "PersistentVolume",
            {},
            {"persistentVolumeReclaimPolicy": "Retain", "volumeMode": "Filesystem"},
        ),
        (
            "",
            "LimitRange",
            {"limits": [{"type": "Container", "max": {"cpu": "2"}}]},
            {
                "limits": [
                    {
                        "type": "Container",
                        "max": {"cpu": "2"},
                        "default": {"cpu": "2"},
                        "defaultRequest": {"cpu": "2"},
                    }
                ]
            },
        ),
        (
            "autoscaling",
            "HorizontalPodAutoscaler",
            {"behavior": {}},
            {
                "minReplicas": 1,
                "behavior": {
                    "scaleUp": {
                        "stabilizationWindowSeconds": 0,
                        "selectPolicy": "Max",
                        "policies": [
                            {"type": "Pods", "value": 4, "periodSeconds": 15},
                            {"type": "Percent", "value": 100, "periodSeconds": 15},
                        ],
                    },
                    "scaleDown": {
                        "selectPolicy": "Max",
                        "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}],
                    },
                },
            },
        ),
    ],
)
def test_a_spec_is_defaulted(group: str, kind: str, given: Json, expected: Json) -> None:
    spec = spec_of(group, kind, given)

    assert {key: spec.get(key) for key in expected} == expected


@pytest.mark.parametrize(
    ("group", "kind", "obj", "expected"),
    [
        (
            "",
            "Namespace",
            {"metadata": {"name": "shop"}},
            {
                "metadata": {
                    "name": "shop",
                    "labels": {"kubernetes.io/metadata.name": "shop"},
                },
                "status": {"phase": "Active"},
            },
        ),
        (
            "",
            "Secret",
            {"stringData": {"a": "hi"}, "data": {"b": "eA=="}},
            {"type": "Opaque", "data": {"a": "aGk=", "b": "eA=="}},
        ),
        (
            RBAC,
            "RoleBinding",
            {
                "roleRef": {"kind": "Role", "name": "r"},
                "subjects": [
                    {"kind": "User", "name": "u"},
                    {"kind": "ServiceAccount", "name": "s"},
                ],
            },
            {
                "roleRef": {"kind": "Role", "name": "r", "apiGroup": RBAC},
                "subjects": [
                    {"kind": "User", "name": "u", "apiGroup": RBAC},
                    {"kind": "ServiceAccount", "name": "s"},
                ],
            },
        ),
        (
            "storage.k8s.io",
            "StorageClass",
            {},
            {"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"},
        ),
        ("scheduling.k8s.io", "PriorityClass", {}, {"preemptionPolicy": "PreemptLowerPriority"}),
        (
            "",
            "Node",
            {"status": {"capacity": {"cpu": "1"}}},
            {"status": {"capacity": {"cpu": "1"}, "allocatable": {"cpu": "1"}}},
        ),
        (
            "discovery.k8s.io",
            "EndpointSlice",
            {"ports": [{"port": 80}]},
            {"ports": [{"name": "", "protocol": "TCP", "port": 80}]},
        ),
        (
            "admissionregistration.k8s.io",
            "MutatingWebhookConfiguration",
            {"webhooks": [{"clientConfig": {"service": {"name": "s"}}, "rules": [{}]}]},
            {
                "webhooks": [
                    {
                        "clientConfig": {"service": {"name": "s", "port": 443}},
                        "rules": [{"scope": "*"}],
                        "failurePolicy": "Fail",
                        "matchPolicy": "Equivalent",
                        "namespaceSelector": {},
                        "objectSelector": {},
                        "timeoutSeconds": 10,
                        "reinvocationPolicy": "Never",
                    }
                ]
            },
        ),
        ("", "ConfigMap", {"data": {}}, {"data": {}}),
        ("example.com", "Website", {"spec": {}}, {"spec": {}}),
    ],
)
def test_an_object_is_defaulted(group: str, kind: str, obj: Json, expected: Json) -> None:
    found = default(group, kind, obj)

    assert {key: found.get(key) for key in expected} == expected
    assert "stringData" not in found


def test_an_autoscaler_of_v1_gets_no_metrics() -> None:
    found = default("autoscaling", "HorizontalPodAutoscaler", {"apiVersion": "autoscaling/v1"})

    assert found["spec"] == {"minReplicas": 1}


def test_a_job_without_labels_gets_those_of_its_template() -> None:
    found = default("batch", "Job", {"metadata": {"name": "j"}, "spec": {"template": TEMPLATE}})

    assert found["metadata"]["labels"] == {"a": "b"}


KINDS = [
    ("", "Pod"),
    ("", "Service"),
    ("", "Namespace"),
    ("", "PersistentVolumeClaim"),
    ("", "ReplicationController"),
    ("apps", "Deployment"),
    ("apps", "StatefulSet"),
    ("apps", "DaemonSet"),
    ("batch", "Job"),
    ("batch", "CronJob"),
    ("networking.k8s.io", "NetworkPolicy"),
    ("policy", "PodDisruptionBudget"),
    ("autoscaling", "HorizontalPodAutoscaler"),
]
specs = st.fixed_dictionaries(
    {},
    optional={
        "template": st.just(TEMPLATE),
        "containers": st.just([CONTAINER, {"name": "d", "resources": {"limits": {"cpu": "1"}}}]),
        "volumes": st.just([{"name": "v"}, {"name": "w", "configMap": {"name": "c"}}]),
        "ports": st.just([{"port": 80}, {"port": 81, "protocol": "UDP"}]),
        "type": st.sampled_from(["ClusterIP", "NodePort", "LoadBalancer", "ExternalName"]),
        "replicas": st.integers(0, 3),
        "behavior": st.just({}),
        "hostNetwork": st.booleans(),
    },
)


@given(st.sampled_from(KINDS), specs)
def test_defaulting_is_idempotent(kind: tuple[str, str], spec: Json) -> None:
    obj = {"metadata": {"name": "x"}, "spec": spec}
    before = copy.deepcopy(obj)

    once = default(*kind, obj)

    assert obj == before
    assert default(*kind, once) == once
