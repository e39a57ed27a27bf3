"""Server-side apply: merging, conflicts, removal."""

from __future__ import annotations

import copy

import pytest

from kubeloop_testing.server.apply import managed
from kubeloop_testing.server.schema.schemas import Schema
from kubeloop_testing.server.statuses import StatusError
from tests.testing.server.apply_helpers import (
    KINDS,
    LATER,
    NOW,
    Object,
    apply,
    apply_error,
    changed,
    config,
    deployment,
    entries,
    obj,
    owners,
    pod,
    track,
)

# --- create and update through apply


def test_applying_creates_and_owns_the_applied_fields() -> None:
    """API-36, API-38: entries of managed fields."""
    made = apply(None, deployment(replicas=2))

    assert made["spec"] == {"replicas": 2}
    assert entries(made) == [
        {
            "manager": "me",
            "operation": "Apply",
            "apiVersion": "apps/v1",
            "time": NOW,
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:spec": {"f:replicas": {}}},
        }
    ]


def test_fields_of_the_server_have_no_owner() -> None:
    """API-36: entries of managed fields."""
    body = obj(
        "ConfigMap",
        metadata={
            "namespace": "shop",
            "uid": "1",
            "resourceVersion": "7",
            "generation": 3,
            "creationTimestamp": None,
            "selfLink": "/x",
            "labels": {"a": "1"},
        },
    )

    assert owners(apply(None, body)) == {("me", "Apply"): {".metadata.labels.a"}}
    assert owners(track(None, body)) == {("me", "Update"): {".metadata.labels.a"}}


def test_a_null_does_not_clear_fields_of_the_server() -> None:
    live = track(None, obj("ConfigMap", metadata={"creationTimestamp": NOW, "uid": "1"}))
    body = obj("ConfigMap", metadata={"creationTimestamp": None}, data={"a": "1"})

    assert apply(live, body)["metadata"]["creationTimestamp"] == NOW


def test_an_applied_body_with_managed_fields_is_rejected() -> None:
    """API-38: apply semantics."""
    status = apply_error(None, obj("ConfigMap", metadata={"managedFields": []}))

    assert (status["code"], status["reason"]) == (400, "BadRequest")
    assert status["message"] == "metadata.managedFields must be nil"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"apiVersion": "v2", "kind": "ConfigMap"}, "invalid object type: /v2, Kind=ConfigMap"),
        ({"apiVersion": "v1", "kind": "Secret"}, "invalid object type: /v1, Kind=Secret"),
        ({"apiVersion": "v1"}, "invalid object type: /v1, Kind="),
    ],
)
def test_a_body_of_another_type_is_rejected(body: Object, message: str) -> None:
    """API-38: apiVersion and kind are required."""
    with pytest.raises(StatusError, match=message):
        managed.apply(
            config(),
            body,
            manager="me",
            force=False,
            api_version="v1",
            subresource="",
            facts=KINDS["ConfigMap"][1],
            now=NOW,
        )


def test_applying_the_same_again_returns_the_same_object() -> None:
    live = apply(None, deployment(replicas=2))

    assert apply(live, deployment(replicas=2), now=LATER) is live


def test_a_new_value_updates_the_time_of_the_entry() -> None:
    live = apply(None, deployment(replicas=2))

    after = apply(live, deployment(replicas=3), now=LATER)

    assert after["spec"]["replicas"] == 3
    assert entries(after)[0]["time"] == LATER


def test_an_empty_apply_owns_nothing_and_clears_what_it_owned() -> None:
    live = apply(None, config(a="1"))

    after = apply(live, obj("ConfigMap"))

    assert after.get("data", {}) == {}
    assert "managedFields" not in after["metadata"]


def test_apply_does_not_change_its_arguments() -> None:
    live = apply(apply(None, config(a="1", b="1")), config(c="1"), "other")
    body = config(a="2")
    before = copy.deepcopy((live, body))

    apply(live, body, force=True)
    track(live, changed(live, data={"z": "1"}))

    assert (live, body) == before


# --- conflicts


def test_a_conflict_names_field_and_manager() -> None:
    """API-36; TYP-8: 409 with causes of type FieldManagerConflict."""
    live = track(None, deployment(replicas=2), "kubectl-scale")

    status = apply_error(live, deployment(replicas=3))

    assert (status["code"], status["reason"]) == (409, "Conflict")
    assert status["message"] == (
        'Apply failed with 1 conflict: conflict with "kubectl-scale" using apps/v1: .spec.replicas'
    )
    assert status["details"]["causes"] == [
        {
            "reason": "FieldManagerConflict",
            "message": 'conflict with "kubectl-scale" using apps/v1',
            "field": ".spec.replicas",
        }
    ]


def test_several_conflicts_are_listed_by_manager() -> None:
    live = apply(None, pod({"name": "web", "image": "1"}, hostname="a"), "one")
    live = apply(live, obj("Pod", spec={"nodeName": "n"}), "two")
    live = apply(live, obj("Pod", metadata={"labels": {"a": "1"}}), "two")

    body = pod({"name": "web", "image": "2"}, hostname="b")
    body["metadata"]["labels"] = {"a": "2"}

    assert apply_error(live, body)["message"] == (
        'Apply failed with 3 conflicts: conflicts with "one":\n'
        "- .spec.hostname\n"
        '- .spec.containers[name="web"].image\n'
        'conflicts with "two":\n'
        "- .metadata.labels.a"
    )


def test_a_manager_of_a_subresource_is_named_with_it() -> None:
    live = track(None, deployment(replicas=1))
    live = track(live, changed(live, spec={"replicas": 2}), "hpa", subresource="scale")

    assert (
        'conflict with "hpa" with subresource "scale" using apps/v1: .spec.replicas'
        in (apply_error(live, deployment(replicas=3))["message"])
    )


def test_the_same_value_is_owned_together() -> None:
    live = apply(None, deployment(replicas=2), "one")

    after = apply(live, deployment(replicas=2), "two", now=LATER)

    assert owners(after) == {
        ("one", "Apply"): {".spec.replicas"},
        ("two", "Apply"): {".spec.replicas"},
    }
    # The co-owner changed nothing: kube-apiserver gives its entry no time.
    assert [each.get("time") for each in entries(after)] == [None, NOW]


def test_force_takes_the_ownership_of_the_field() -> None:
    """TYP-8: conflicts and force."""
    live = apply(None, deployment(replicas=2, paused=True), "one")

    after = apply(live, deployment(replicas=3), "two", force=True)

    assert after["spec"] == {"replicas": 3, "paused": True}
    assert owners(after) == {
        ("one", "Apply"): {".spec.paused"},
        ("two", "Apply"): {".spec.replicas"},
    }


def test_the_operation_is_part_of_a_managers_identity() -> None:
    """API-36: the operation is part of the identity."""
    live = track(None, deployment(replicas=2))

    assert apply_error(live, deployment(replicas=3))["reason"] == "Conflict"


def test_an_applier_is_the_same_in_every_version() -> None:
    """API-36: apply by the same manager with another apiVersion."""
    facts = Schema({"type": "object", "x-kubernetes-preserve-unknown-fields": True}).facts
    old = {"apiVersion": "x.io/v1", "kind": "Site", "metadata": {"name": "a"}, "spec": {"a": 1}}
    live = apply(None, old, facts=facts)

    new = {**old, "apiVersion": "x.io/v2", "spec": {"b": 1}}
    after = apply({**live, "apiVersion": "x.io/v2"}, new, facts=facts)

    assert after["spec"] == {"b": 1}
    assert [each["apiVersion"] for each in entries(after)] == ["x.io/v2"]


# --- fields that are no longer applied


def test_what_is_no_longer_applied_is_removed_unless_another_manager_owns_it() -> None:
    """API-38: apply semantics."""
    live = apply(None, config(mine="1", shared="1"))
    live = apply(live, config(shared="1", theirs="1"), "other")

    after = apply(live, obj("ConfigMap"))

    assert after["data"] == {"shared": "1", "theirs": "1"}
    assert owners(after) == {("other", "Apply"): {".data.shared", ".data.theirs"}}


def test_what_an_update_set_is_not_removed_by_an_applier_that_never_set_it() -> None:
    live = apply(None, deployment(replicas=2))
    live = track(live, changed(live, spec={"replicas": 2, "paused": True}), "editor")

    assert apply(live, obj("Deployment"))["spec"] == {"paused": True}


def test_list_elements_are_merged_by_their_keys() -> None:
    live = apply(None, pod({"name": "a", "image": "1"}, {"name": "b", "image": "1"}))
    live = apply(live, pod({"name": "c", "image": "1"}), "other")

    after = apply(live, pod({"name": "b", "image": "1"}))

    assert after["spec"]["containers"] == [
        {"name": "b", "image": "1"},
        {"name": "c", "image": "1"},
    ]


def test_an_element_that_others_apply_too_keeps_their_fields() -> None:
    live = apply(None, pod({"name": "a", "image": "1", "tty": True}))
    live = apply(live, pod({"name": "a", "stdin": True}), "other")

    after = apply(live, obj("Pod"))

    assert after["spec"]["containers"] == [{"name": "a", "stdin": True}]


def test_values_of_a_set_are_merged_one_by_one() -> None:
    live = apply(None, obj("ConfigMap", metadata={"finalizers": ["a/1", "a/2"]}))
    live = apply(live, obj("ConfigMap", metadata={"finalizers": ["b/1", "a/2"]}), "other")

    after = apply(live, obj("ConfigMap", metadata={"finalizers": ["a/1"]}))

    assert after["metadata"]["finalizers"] == ["a/1", "b/1", "a/2"]


def test_a_missing_key_equals_its_default() -> None:
    live = apply(None, obj("Service", spec={"ports": [{"port": 80, "protocol": "TCP"}]}))

    after = apply(live, obj("Service", spec={"ports": [{"port": 80, "name": "web"}]}), "other")

    assert after["spec"]["ports"] == [{"port": 80, "protocol": "TCP", "name": "web"}]


def test_an_atomic_value_is_replaced_as_a_whole() -> None:
    live = apply(None, pod(nodeSelector={"a": "1"}, tolerations=[{"key": "x"}]))

    after = apply(live, pod(nodeSelector={"b": "1"}, tolerations=[{"key": "y"}]))

    assert after["spec"]["nodeSelector"] == {"b": "1"}
    assert after["spec"]["tolerations"] == [{"key": "y"}]


@pytest.mark.parametrize(
    ("live", "applied", "merged"),
    [
        ("abc", "ab", "abc"),
        ("ab", "ba", "ba"),
        ("abc", "def", "abcdef"),
        ("abcgf", "cdef", "abcgdef"),
        ("cdef", "ace", "acdef"),
        ("abcxyz", "defxyz", "abcdefxyz"),
        ("abcd", "defa", "bcdefa"),
        ("cdefghij", "2h3e4kl", "cdfg2hij3e4kl"),
        ("abcdefghij", "1b2h3e4kl", "a1bcdfg2hij3e4kl"),
        ("abb", "b", "ab"),
        ("abcdec", "1b2ed", "a1bc2ecd"),
        ("abcdec", "1b2ced", "a1b2ced"),
        ("aabb", "bcd", "aabcd"),
        ("aax", "an", "anx"),
    ],
)
def test_applied_elements_keep_their_order_and_the_others_their_position(
    live: str, applied: str, merged: str
) -> None:
    stored = track(None, obj("ConfigMap", metadata={"finalizers": list(live)}))
    body = obj("ConfigMap", metadata={"finalizers": list(applied)})

    assert "".join(apply(stored, body, force=True)["metadata"]["finalizers"]) == merged


# --- lists that cannot be merged


def test_elements_with_the_same_key_cannot_be_applied() -> None:
    body = obj("Service", spec={"ports": [{"port": 80}, {"port": 80, "protocol": "TCP"}]})

    status = apply_error(None, body)

    assert status["code"] == 500
    assert status["message"] == (
        "failed to create typed patch object (/web; /v1, Kind=Service): "
        '.spec.ports: duplicate entries for key [port=80,protocol="TCP"]'
    )


def test_stored_elements_with_the_same_key_are_replaced_by_the_applied_one() -> None:
    two = [{"port": 80, "name": "a"}, {"port": 80, "name": "b"}, {"port": 81}]
    live = track(None, obj("Service", spec={"ports": two}))

    after = apply(live, obj("Service", spec={"ports": [{"port": 80, "name": "c"}]}), force=True)

    assert after["spec"]["ports"] == [{"port": 80, "name": "c"}, {"port": 81}]


def test_an_undeclared_field_cannot_be_applied() -> None:
    assert apply_error(None, deployment(replica=1))["message"].endswith(
        ".spec.replica: field not declared in schema"
    )


def test_an_update_with_elements_without_a_key_keeps_the_owners() -> None:
    live = track(None, pod({"name": "a"}), "one")

    after = track(live, changed(live, spec={"containers": ["a"]}), "two")

    assert entries(after) == entries(live)
