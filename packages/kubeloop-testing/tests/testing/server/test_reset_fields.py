"""The fields that a write cannot change, by kind and subresource."""

from __future__ import annotations

import pytest

from kubeloop_testing.server.apply.fieldsets import FieldSet
from kubeloop_testing.server.apply.reset_fields import (
    ResetFields,
    reset_fields,
)
from kubeloop_testing.server.registry import Registry, ServedResource

_CLIENT = {"labels", "annotations", "finalizers", "ownerReferences"}


def _served(group: str, plural: str) -> ServedResource:
    found = Registry().find_storage(group, plural)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("group", "plural", "kept"),
    [
        ("", "nodes", set()),
        ("", "pods", {"deletionTimestamp", "ownerReferences"}),
        ("apiextensions.k8s.io", "customresourcedefinitions", set()),
        ("apiregistration.k8s.io", "apiservices", _CLIENT),
        ("apps", "deployments", {"labels"}),
        ("storage.k8s.io", "volumeattachments", {*_CLIENT, "deletionTimestamp"}),
        (
            *("flowcontrol.apiserver.k8s.io", "flowschemas"),
            {*_CLIENT, "deletionTimestamp", "deletionGracePeriodSeconds", "generateName"},
        ),
    ],
)
def test_a_status_write_keeps_metadata_by_kind(group: str, plural: str, kept: set[str]) -> None:
    assert set(_served(group, plural).strategy.kept_by_status) == kept


def test_a_kind_that_keeps_all_metadata_lets_no_status_write_own_it() -> None:
    resets = reset_fields(_served("flowcontrol.apiserver.k8s.io", "flowschemas"), "status")

    assert resets.paths == (("spec",), ("metadata",))


def test_a_field_below_the_top_level_is_stripped_alone() -> None:
    resets = ResetFields((("spec",), ("status", "conditions")))
    obj = {"spec": {"a": 1}, "status": {"conditions": [], "certificate": "eA=="}}

    assert resets.strip(obj) == {"status": {"certificate": "eA=="}}


def test_an_object_that_is_empty_after_it_is_no_field() -> None:
    resets = ResetFields((("status", "conditions"),))
    fields = FieldSet.of(["f:metadata", "f:labels"], ["f:status"])

    assert resets.filter(fields) == FieldSet.of(["f:metadata", "f:labels"])
