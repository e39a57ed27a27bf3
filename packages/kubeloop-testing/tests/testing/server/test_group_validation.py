"""Validation of the kinds of smaller groups."""

from __future__ import annotations

from typing import Any

import pytest

from tests.testing.server.validation_helpers import IMMUTABLE, fields, messages, problems

Json = dict[str, Any]


RBAC = "rbac.authorization.k8s.io"


def ingress(path: Json) -> Json:
    backend = {"service": {"name": "web", "port": {"number": 80}}}
    return {"spec": {"rules": [{"http": {"paths": [{"backend": backend, **path}]}}]}}


@pytest.mark.parametrize(
    ("obj", "field", "message"),
    [
        (
            {"spec": {}},
            "spec",
            "Invalid value: null: either `defaultBackend` or `rules` must be specified",
        ),
        (
            ingress({"path": "/"}),
            "spec.rules[0].http.paths[0].pathType",
            "Required value: pathType must be specified",
        ),
        (
            ingress({"path": "x", "pathType": "Prefix"}),
            "spec.rules[0].http.paths[0].path",
            'Invalid value: "x": must be an absolute path',
        ),
        (
            ingress({"path": "/", "pathType": "Prefix", "backend": {}}),
            "spec.rules[0].http.paths[0].backend",
            'Invalid value: "": resource or service backend is required',
        ),
    ],
)
def test_an_invalid_ingress_is_rejected(obj: Json, field: str, message: str) -> None:
    assert messages(problems("networking.k8s.io", "Ingress", obj)) == [(field, message)]


def test_the_role_of_a_binding_cannot_change() -> None:
    def binding(name: str) -> Json:
        return {"roleRef": {"kind": "Role", "name": name}, "subjects": []}

    found = problems(RBAC, "RoleBinding", binding("b"), binding("a"))

    assert fields(found) == [("roleRef", "Invalid")]
    assert found[0].message.endswith(IMMUTABLE)
    assert fields(problems(RBAC, "ClusterRoleBinding", binding("a"))) == [
        ("roleRef.kind", "NotSupported")
    ]


def test_a_rule_requires_groups_resources_and_verbs() -> None:
    assert fields(problems(RBAC, "Role", {"rules": [{"nonResourceURLs": ["/"]}]})) == [
        ("rules[0].nonResourceURLs", "Invalid"),
        ("rules[0].verbs", "Required"),
    ]
    assert fields(problems(RBAC, "ClusterRole", {"rules": [{"verbs": ["get"]}]})) == [
        ("rules[0].apiGroups", "Required"),
        ("rules[0].resources", "Required"),
    ]


def test_an_autoscaler_requires_a_maximum() -> None:
    ref = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    target = {"scaleTargetRef": ref}
    group, kind = "autoscaling", "HorizontalPodAutoscaler"

    none = problems(group, kind, {"spec": {**target}})
    low = problems(group, kind, {"spec": {**target, "minReplicas": 3, "maxReplicas": 2}})

    assert ("spec.maxReplicas", "Required") in fields(none)
    assert messages(low) == [
        ("spec.maxReplicas", "Invalid value: 2: must be greater than or equal to `minReplicas`")
    ]


def test_a_budget_cannot_have_both_limits() -> None:
    spec = {"minAvailable": 1, "maxUnavailable": "x"}

    assert fields(problems("policy", "PodDisruptionBudget", {"spec": spec})) == [
        ("spec", "Invalid"),
        ("spec.maxUnavailable", "Invalid"),
    ]


def test_a_lease_requires_a_positive_duration() -> None:
    spec = {"leaseDurationSeconds": 0, "leaseTransitions": -1}

    assert messages(problems("coordination.k8s.io", "Lease", {"spec": spec})) == [
        ("spec.leaseDurationSeconds", "Invalid value: 0: must be greater than 0"),
        ("spec.leaseTransitions", "Invalid value: -1: must be greater than or equal to 0"),
    ]


def test_a_webhook_requires_name_side_effects_and_client() -> None:
    found = problems(
        "admissionregistration.k8s.io",
        "ValidatingWebhookConfiguration",
        {"webhooks": [{"name": "hook", "clientConfig": {"url": "http://x"}}]},
    )

    assert fields(found) == [
        ("webhooks[0].name", "Invalid"),
        ("webhooks[0].sideEffects", "Required"),
        ("webhooks[0].clientConfig.url", "Invalid"),
        ("webhooks[0].admissionReviewVersions", "Required"),
    ]


def test_storage_and_priority_classes_are_immutable() -> None:
    moved = problems("storage.k8s.io", "StorageClass", {"provisioner": "b"}, {"provisioner": "a"})
    raised = problems("scheduling.k8s.io", "PriorityClass", {"value": 2}, {"value": 1})

    assert messages(moved) == [("provisioner", f"Invalid value: null: {IMMUTABLE}")]
    assert messages(raised) == [("value", "Forbidden: may not be changed in an update.")]


def test_a_definition_is_validated_when_its_spec_changes() -> None:
    group, kind = "apiextensions.k8s.io", "CustomResourceDefinition"
    bad = {"metadata": {"name": "a.b.c"}, "spec": {"group": "b"}}

    assert problems(group, kind, bad) != []
    assert problems(group, kind, bad, bad) == []
