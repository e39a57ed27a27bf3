"""Field ownership after updates and writes to subresources."""

from __future__ import annotations

import pytest

from kubeloop_testing.server.apply.reset_fields import NO_RESETS
from tests.testing.server.apply_helpers import (
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
    track,
)

# --- status


def test_the_main_resource_does_not_own_the_status_nor_status_the_spec() -> None:
    body = obj("Deployment", spec={"replicas": 1}, status={"replicas": 1})
    live = apply(None, body)
    assert owners(live) == {("me", "Apply"): {".spec.replicas"}}

    wished = obj("Deployment", spec={"replicas": 5}, status={"replicas": 1})
    after = apply(live, wished, subresource="status")

    assert after["status"] == {"replicas": 1}
    assert [(each.get("subresource"), each["fieldsV1"]) for each in entries(after)] == [
        (None, {"f:spec": {"f:replicas": {}}}),
        ("status", {"f:status": {"f:replicas": {}}}),
    ]


def test_a_kind_without_status_subresource_owns_its_status() -> None:
    site = {"apiVersion": "x.io/v1", "kind": "Site", "metadata": {"name": "a"}, "status": {"a": 1}}

    made = apply(None, site, resets=NO_RESETS)

    assert owners(made) == {("me", "Apply"): {".status.a"}}


def test_a_write_to_a_subresource_cannot_set_managed_fields() -> None:
    live = track(None, deployment(replicas=1))
    reset = {**live, "metadata": {**live["metadata"], "managedFields": [{}]}}

    assert entries(track(live, reset, subresource="status")) == entries(live)


# --- updates


def test_an_update_takes_what_it_changes_from_all_managers() -> None:
    live = apply(None, config(a="1", b="1"))

    after = track(live, changed(live, data={"a": "2", "b": "1"}), "editor", now=LATER)

    assert owners(after) == {
        ("me", "Apply"): {".data.b"},
        ("editor", "Update"): {".data.a"},
    }
    assert [each["time"] for each in entries(after)] == [NOW, LATER]


def test_an_update_that_changes_nothing_keeps_the_owners() -> None:
    live = track(None, config(a="1"), "one")

    after = track(live, changed(live), "two", now=LATER)

    assert after == live


def test_an_updater_without_fields_is_removed() -> None:
    live = track(None, config(a="1"), "one")

    after = track(live, changed(live, data={"a": "2", "b": "1"}), "two")
    after = track(after, changed(after, data={}), "three")

    # The map itself was set by the first one, and still exists.
    assert owners(after) == {("one", "Update"): {".data"}}


def test_a_removed_field_has_no_owner() -> None:
    live = apply(track(None, config(a="1"), "one"), config(a="1"))
    gone = {name: value for name, value in live.items() if name != "data"}

    assert entries(track(live, gone, "two")) == []


def test_a_created_object_is_owned_with_its_nested_objects() -> None:
    made = track(
        None,
        obj("Deployment", metadata={"labels": {"a": "1"}}, spec={"template": {"spec": {}}}),
    )

    assert entries(made)[0]["fieldsV1"] == {"f:metadata": {"f:labels": {".": {}, "f:a": {}}}}


def test_a_manager_without_a_name_is_unknown() -> None:
    assert entries(track(None, config(a="1"), ""))[0]["manager"] == "unknown"


@pytest.mark.parametrize("reset", [[], [{}]])
def test_an_empty_list_resets_the_owners_until_the_next_apply(reset: list[Object]) -> None:
    """API-38: apply semantics."""
    live = track(None, config(a="1"), "one")
    wiped = track(live, {**live, "metadata": {**live["metadata"], "managedFields": reset}})
    assert "managedFields" not in wiped["metadata"]

    untracked = track(wiped, changed(wiped, data={"a": "1", "b": "1"}), "two")
    assert "managedFields" not in untracked["metadata"]

    after = apply(untracked, config(a="1"), now=LATER)
    assert owners(after) == {
        ("before-first-apply", "Update"): {".data.a", ".data.b"},
        ("me", "Apply"): {".data.a"},
    }


def test_the_first_apply_adds_an_owner_of_what_existed_before() -> None:
    live = config(a="1")

    message = apply_error(live, config(a="2"))["message"]

    assert message.endswith('conflict with "before-first-apply" using v1: .data.a')


def test_valid_managed_fields_of_a_client_are_used_and_invalid_ones_are_not() -> None:
    live = track(None, config(a="1", b="1"), "one")
    mine = [{**entries(live)[0], "fieldsV1": {"f:data": {"f:a": {}}}}]
    broken = [{"manager": "x", "operation": "Steal"}]

    taken = track(live, {**live, "metadata": {**live["metadata"], "managedFields": mine}})
    kept = track(live, {**live, "metadata": {**live["metadata"], "managedFields": broken}})

    assert owners(taken) == {("one", "Update"): {".data.a"}}
    assert entries(kept) == entries(live)


def test_a_client_that_drops_managed_fields_does_not_drop_the_owners() -> None:
    live = track(None, config(a="1"), "one")

    after = track(live, config(a="1"), "two")

    assert entries(after) == entries(live)


def test_the_oldest_updaters_are_merged_if_there_are_more_than_ten() -> None:
    live = track(None, config(k0="1"), "u0", now="2024-01-01T00:00:00Z")
    for number in range(1, 13):
        data = {**live["data"], f"k{number}": "1"}
        now = f"2024-01-01T00:00:{number:02}Z"
        live = track(live, changed(live, data=data), f"u{number:02}", now=now)

    found = entries(live)

    assert len(found) == 10
    assert (found[0]["manager"], found[0]["time"]) == ("ancient-changes", "2024-01-01T00:00:03Z")
    assert owners(live)["ancient-changes", "Update"] == {
        ".data.k0",
        ".data.k1",
        ".data.k2",
        ".data.k3",
    }


def test_entries_are_sorted_by_operation_time_and_name() -> None:
    live = track(None, config(a="1"), "z-updater", now=NOW)
    live = apply(live, config(b="1"), "b-applier", now=LATER)
    live = apply(live, config(c="1"), "a-applier", now=LATER)
    live = track(live, changed(live, data={**live["data"], "d": "1"}), "a-updater", now=LATER)

    assert [each["manager"] for each in entries(live)] == [
        "a-applier",
        "b-applier",
        "z-updater",
        "a-updater",
    ]


# --- kubectl


def test_kubectl_takes_over_from_its_own_client_side_apply() -> None:
    name = "kubectl.kubernetes.io/last-applied-configuration"
    last_applied = (
        '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"web"},"data":{"a":"1"}}'
    )
    live = track(
        None,
        obj("ConfigMap", metadata={"annotations": {name: last_applied}}, data={"a": "1", "b": "1"}),
        "kubectl-client-side-apply",
    )

    after = apply(live, config(a="2"), "kubectl")

    assert after["data"]["a"] == "2"
    assert after["metadata"]["annotations"][name] == (
        '{"apiVersion":"v1","data":{"a":"2"},"kind":"ConfigMap","metadata":{"name":"web"}}\n'
    )
    assert apply_error(live, config(a="2"), "other")["reason"] == "Conflict"
    assert apply_error(live, config(b="2"), "kubectl")["reason"] == "Conflict"
