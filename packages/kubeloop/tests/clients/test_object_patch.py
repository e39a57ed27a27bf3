"""Patches between two states, and their application to a newer state."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.clients.object_patch import (
    ObjectPatch,
    merge_patch_into,
    patch_between,
    rebase_change,
)
from kubeloop.errors import Conflict
from kubeloop.meta import GroupResource
from kubeloop.rest import MERGE_PATCH, STRATEGIC_MERGE_PATCH
from kubeloop.wire import facts_of
from kubeloop.wire.core.v1 import ConfigMap, Pod

PODS = GroupResource("", "pods")
FACTS = facts_of(Pod)


def pod(**fields: Any) -> dict[str, Any]:
    metadata = {"name": "web", "resourceVersion": "1", **fields.pop("metadata", {})}
    return {"metadata": metadata, **fields}


def test_a_built_in_kind_is_changed_element_by_element() -> None:
    before = pod(spec={"containers": [{"name": "a", "image": "1"}, {"name": "b"}]})
    after = pod(spec={"containers": [{"name": "a", "image": "2"}, {"name": "b"}]})

    change = patch_between(before, after, FACTS)

    assert change is not None
    assert change.content_type == STRATEGIC_MERGE_PATCH
    assert change.patch["spec"]["containers"] == [{"name": "a", "image": "2"}]
    assert change.with_precondition("7")["metadata"] == {"resourceVersion": "7"}


def test_any_other_kind_gets_a_merge_patch() -> None:
    change = patch_between(pod(spec={"a": 1, "b": 2}), pod(spec={"a": 1}), None)

    assert change is not None
    assert (change.content_type, change.patch) == (MERGE_PATCH, {"spec": {"b": None}})


def test_what_only_the_server_writes_is_no_change() -> None:
    before = pod(metadata={"generation": 1, "managedFields": [{"manager": "a"}]})
    after = pod(metadata={"resourceVersion": "9", "generation": 2, "managedFields": []})

    assert patch_between(before, after, FACTS) is None


def test_a_change_is_made_in_the_newer_object() -> None:
    before = pod(metadata={"labels": {"a": "1"}})
    mine = pod(metadata={"labels": {"a": "1", "mine": "x"}})
    theirs = pod(metadata={"labels": {"a": "2"}, "resourceVersion": "2"})

    merged = rebase_change(before, mine, theirs, FACTS, what=PODS)

    assert merged["metadata"]["labels"] == {"a": "2", "mine": "x"}


@pytest.mark.parametrize("facts", [None, FACTS])
def test_the_same_field_changed_by_both_is_a_conflict_whatever_the_values(facts: Any) -> None:
    before, mine = pod(spec={"nodeName": "a"}), pod(spec={"nodeName": "b"})

    for theirs in ({"nodeName": "c"}, {}, {"nodeName": "b"}):
        with pytest.raises(Conflict, match=r"changed spec\.nodeName since") as caught:
            rebase_change(before, mine, pod(spec=theirs), facts, what=PODS)
        assert [cause.field for cause in caught.value.causes] == ["spec.nodeName"]


def test_a_conflict_names_the_first_few_fields_and_counts_the_rest() -> None:
    fields = {f"f{number}": 1 for number in range(10)}

    with pytest.raises(Conflict, match=r"changed spec\.f0, .* and 2 more since") as caught:
        rebase_change(pod(), pod(spec=fields), pod(spec=dict.fromkeys(fields, 2)), FACTS, what=PODS)
    assert len(caught.value.causes) == 10


def test_a_key_that_reads_as_a_directive_is_sent_in_a_merge_patch() -> None:
    before, after = {"data": {"$patch": "1"}}, {"data": {"$patch": "2"}}

    change = patch_between(before, after, facts_of(ConfigMap))

    assert change == ObjectPatch({"data": {"$patch": "2"}}, MERGE_PATCH)


def test_the_version_and_uid_of_what_was_read_are_preconditions() -> None:
    change = ObjectPatch({"metadata": {"labels": {"a": "b"}}}, MERGE_PATCH)

    assert change.with_precondition("7", "u")["metadata"] == {
        "labels": {"a": "b"},
        "resourceVersion": "7",
        "uid": "u",
    }


_values = st.recursive(
    st.integers(0, 2) | st.text("ab", max_size=1),
    lambda inner: st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=6,
)
_documents = st.dictionaries(st.sampled_from("pqr"), _values, max_size=3)


@given(_documents, _documents)
def test_the_change_makes_the_one_into_the_other(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    change = patch_between(before, after, None)

    assert merge_patch_into(before, change.patch if change else {}, None) == after
