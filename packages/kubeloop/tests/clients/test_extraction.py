"""What a manager has applied."""

from __future__ import annotations

from typing import Any

import pytest

from kubeloop.clients import extract
from kubeloop.errors import InvalidArgument
from kubeloop.wire.core.v1 import Pod

OWNED = {
    "f:metadata": {"f:labels": {"f:app": {}}},
    "f:spec": {
        "f:containers": {'k:{"name":"main"}': {".": {}, "f:name": {}, "f:image": {}}},
        "f:tolerations": {},
    },
}
STATUS: dict[str, Any] = {"f:status": {"f:phase": {}}}
OBJECT: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "web",
        "namespace": "shop",
        "uid": "u",
        "labels": {"app": "web", "other": "x"},
        "finalizers": ["a", "b"],
        "managedFields": [
            {"manager": "me", "operation": "Apply", "fieldsV1": OWNED},
            {"manager": "me", "operation": "Apply", "subresource": "status", "fieldsV1": STATUS},
            {"manager": "me", "operation": "Update", "fieldsV1": {"f:spec": {}}},
            {
                "manager": "set",
                "operation": "Apply",
                "fieldsV1": {"f:metadata": {"f:finalizers": {'v:"b"': {}}}},
            },
        ],
    },
    "spec": {
        "nodeName": "n",
        "tolerations": [{"key": "a"}],
        "containers": [
            {"name": "side", "image": "s"},
            {"name": "main", "image": "i", "imagePullPolicy": "Always"},
        ],
    },
    "status": {"phase": "Running", "podIP": "1"},
}


def test_only_the_applied_fields_come_out() -> None:
    """TYP-7: `extract` returns the fields that a manager applied, and the identity."""
    assert extract(OBJECT, "me") == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "namespace": "shop", "labels": {"app": "web"}},
        "spec": {
            "containers": [{"name": "main", "image": "i"}],
            "tolerations": [{"key": "a"}],
        },
    }


def test_a_part_is_extracted_on_its_own() -> None:
    """TYP-7: `extract` returns the fields that a manager applied, and the identity."""
    assert extract(Pod.from_dict(OBJECT), "me", subresource="status")["status"] == {
        "phase": "Running"
    }


def test_elements_of_a_set_are_extracted_by_value() -> None:
    """TYP-7, API-37: FieldsV1 keys: `f:<name>` field, `k:{...}` list element by keys."""
    assert extract(OBJECT, "set")["metadata"]["finalizers"] == ["b"]


def test_a_stranger_gets_the_identity_alone() -> None:
    """TYP-7: `extract` returns the fields that a manager applied, and the identity."""
    assert extract(OBJECT, "unknown") == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "namespace": "shop"},
    }


@pytest.mark.parametrize("managed", [{}, {"managedFields": []}])
def test_nothing_can_be_extracted_from_an_object_without_managed_fields(managed: Any) -> None:
    """Applied, an empty result would remove all that the manager has applied."""
    metadata = {"name": "web", "resourceVersion": "7"} | managed

    with pytest.raises(InvalidArgument, match=r"web: it has no managedFields \(get the object"):
        extract({"metadata": metadata}, "me")
