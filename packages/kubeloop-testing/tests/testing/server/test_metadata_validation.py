"""Validation of metadata."""

from __future__ import annotations

from typing import Any

import pytest

from tests.testing.server.validation_helpers import IMMUTABLE, fields, messages, problems

Json = dict[str, Any]


RBAC = "rbac.authorization.k8s.io"


@pytest.mark.parametrize(
    ("group", "kind", "name", "good"),
    [
        ("", "ConfigMap", "a.b", True),
        ("", "ConfigMap", "A", False),
        ("", "ConfigMap", "x" * 254, False),
        ("", "Namespace", "a.b", False),
        ("", "Service", "1a", True),
        ("", "Service", "a.b", False),
        (RBAC, "ClusterRole", "system:node", True),
        (RBAC, "ClusterRole", "a/b", False),
        ("policy", "PodDisruptionBudget", "a:B", True),
        ("certificates.k8s.io", "CertificateSigningRequest", "system:a", True),
        ("", "Event", "a b", True),
        ("", "Event", "a/b", False),
        ("events.k8s.io", "Event", "a:b", False),
        ("apps", "StatefulSet", "a.b", False),
        ("apps", "Deployment", "a.b", True),
        ("networking.k8s.io", "IPAddress", "10.0.0.1", True),
        ("networking.k8s.io", "IPAddress", "fd00::1", True),
        ("networking.k8s.io", "IPAddress", "fd00:0::1", False),
        ("networking.k8s.io", "IPAddress", "a.b", False),
        ("example.com", "Website", "a.b", True),
        ("example.com", "Website", "a_b", False),
    ],
)
def test_each_kind_has_a_rule_for_names(group: str, kind: str, name: str, good: bool) -> None:
    """API-48: labels, subdomains, path segments."""
    obj: Json = {"metadata": {"name": name}, "spec": {"ports": [{"port": 80}]}}

    found = [each for each in problems(group, kind, obj) if each.field == "metadata.name"]

    assert (found == []) is good
    assert all(each.message.startswith("Invalid value: ") for each in found)


def test_a_generate_name_is_validated_as_a_prefix() -> None:
    good = {"metadata": {"name": "web-1", "generateName": "web-"}}
    bad = {"metadata": {"name": "web-1", "generateName": "Web-"}}

    assert problems("", "ConfigMap", good) == []
    assert fields(problems("", "ConfigMap", bad)) == [("metadata.generateName", "Invalid")]


def test_a_name_is_required() -> None:
    assert messages(problems("", "ConfigMap", {"metadata": {}})) == [
        ("metadata.name", "Required value: name or generateName is required")
    ]


@pytest.mark.parametrize(
    ("meta", "field", "reason"),
    [
        ({"labels": {"a b": "c"}}, "metadata.labels", "Invalid"),
        ({"labels": {"a": "x" * 64}}, "metadata.labels", "Invalid"),
        ({"annotations": {"a b": "c"}}, "metadata.annotations", "Invalid"),
        ({"annotations": {"a": "x" * (256 * 1024)}}, "metadata.annotations", "TooLong"),
        ({"finalizers": ["a b"]}, "metadata.finalizers", "Invalid"),
        ({"finalizers": ["orphan", "foregroundDeletion"]}, "metadata.finalizers", "Invalid"),
        (
            {"ownerReferences": [{"kind": "A", "name": "a", "uid": "u"}]},
            "metadata.ownerReferences[0].apiVersion",
            "Required",
        ),
        (
            {"ownerReferences": [{"apiVersion": "a/b/c", "kind": "A", "name": "a", "uid": "u"}]},
            "metadata.ownerReferences[0].apiVersion",
            "Invalid",
        ),
        ({"generation": -1}, "metadata.generation", "Invalid"),
        ({"namespace": "A"}, "metadata.namespace", "Invalid"),
    ],
)
def test_metadata_is_validated_for_every_kind(meta: Json, field: str, reason: str) -> None:
    obj = {"metadata": {"name": "web", **meta}}

    assert fields(problems("example.com", "Website", obj)) == [(field, reason)]


def test_at_most_one_owner_is_the_controller() -> None:
    """API-39: at most one controller reference."""
    owner = {"apiVersion": "v1", "kind": "A", "name": "a", "uid": "u", "controller": True}
    obj = {"metadata": {"name": "web", "ownerReferences": [owner, {**owner, "name": "b"}]}}

    found = problems("", "ConfigMap", obj)

    assert fields(found) == [("metadata.ownerReferences", "Invalid")]
    assert "A/a and A/b" in found[0].message


@pytest.mark.parametrize("field", ["name", "namespace", "uid", "creationTimestamp"])
def test_what_identifies_an_object_cannot_change(field: str) -> None:
    old = {"metadata": {"name": "web", "namespace": "shop", "uid": "u", "creationTimestamp": "t"}}
    new = {"metadata": {**old["metadata"], field: "other"}}

    assert messages(problems("", "ConfigMap", new, old)) == [
        (f"metadata.{field}", f'Invalid value: "other": {IMMUTABLE}')
    ]


def test_a_terminating_object_gets_no_new_finalizers() -> None:
    old = {"metadata": {"name": "web", "deletionTimestamp": "t", "finalizers": ["a/b"]}}
    new = {"metadata": {**old["metadata"], "finalizers": ["a/b", "c/d"]}}

    assert messages(problems("", "ConfigMap", new, old)) == [
        (
            "metadata.finalizers",
            (
                "Forbidden: no new finalizers can be added if the object is being deleted, found new "
                'finalizers []string{"c/d"}'
            ),
        )
    ]
