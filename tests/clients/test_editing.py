"""What was changed, and whether it still fits."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.clients.editing import carried_over, change_between, merged_into
from kubeloop.machinery import Conflict, GroupResource
from kubeloop.rest import MERGE_PATCH, STRATEGIC_MERGE_PATCH
from kubeloop.wire import facts_of
from kubeloop.wire.core.v1 import Pod

PODS = GroupResource("", "pods")
FACTS = facts_of(Pod)


def pod(**fields: Any) -> dict[str, Any]:
    metadata = {"name": "web", "resourceVersion": "1", **fields.pop("metadata", {})}
    return {"metadata": metadata, **fields}


def test_a_built_in_kind_is_changed_element_by_element() -> None:
    before = pod(spec={"containers": [{"name": "a", "image": "1"}, {"name": "b"}]})
    after = pod(spec={"containers": [{"name": "a", "image": "2"}, {"name": "b"}]})

    change = change_between(before, after, FACTS)

    assert change is not None
    assert change.content_type == STRATEGIC_MERGE_PATCH
    assert change.patch["spec"]["containers"] == [{"name": "a", "image": "2"}]
    assert change.under("7")["metadata"] == {"resourceVersion": "7"}


def test_any_other_kind_gets_a_merge_patch() -> None:
    change = change_between(pod(spec={"a": 1, "b": 2}), pod(spec={"a": 1}), None)

    assert change is not None
    assert (change.content_type, change.patch) == (MERGE_PATCH, {"spec": {"b": None}})


def test_what_only_the_server_writes_is_no_change() -> None:
    before = pod(metadata={"generation": 1, "managedFields": [{"manager": "a"}]})
    after = pod(metadata={"resourceVersion": "9", "generation": 2, "managedFields": []})

    assert change_between(before, after, FACTS) is None


def test_a_change_is_made_in_the_newer_object() -> None:
    before = pod(metadata={"labels": {"a": "1"}})
    mine = pod(metadata={"labels": {"a": "1", "mine": "x"}})
    theirs = pod(metadata={"labels": {"a": "2"}, "resourceVersion": "2"})

    merged = carried_over(before, mine, theirs, FACTS, what=PODS)

    assert merged["metadata"]["labels"] == {"a": "2", "mine": "x"}


def test_the_same_change_by_both_is_no_conflict() -> None:
    both = pod(metadata={"labels": {"a": "2"}})

    merged = carried_over(pod(metadata={"labels": {"a": "1"}}), both, both, None, what=PODS)

    assert merged["metadata"]["labels"] == {"a": "2"}


@pytest.mark.parametrize("facts", [None, FACTS])
def test_the_same_field_changed_in_two_ways_is_a_conflict(facts: Any) -> None:
    before, mine = pod(spec={"nodeName": "a"}), pod(spec={"nodeName": "b"})

    with pytest.raises(Conflict, match=r"spec\.nodeName"):
        carried_over(before, mine, pod(spec={"nodeName": "c"}), facts, what=PODS)
    with pytest.raises(Conflict, match=r"spec\.nodeName"):
        carried_over(before, mine, pod(spec={}), facts, what=PODS)


def test_two_who_add_elements_to_a_merging_list_are_no_conflict() -> None:
    before = pod(spec={"containers": [{"name": "a"}]})
    mine = pod(spec={"containers": [{"name": "a"}, {"name": "b"}]})
    theirs = pod(spec={"containers": [{"name": "a"}, {"name": "c"}]})

    merged = carried_over(before, mine, theirs, FACTS, what=PODS)

    assert {each["name"] for each in merged["spec"]["containers"]} == {"a", "b", "c"}
    with pytest.raises(Conflict):  # without merge rules a list is one value
        carried_over(before, mine, theirs, None, what=PODS)


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
    change = change_between(before, after, None)

    assert merged_into(before, change.patch if change else {}, None) == after


@given(_documents, _documents, _documents)
def test_carrying_over_loses_neither_side(
    before: dict[str, Any], mine: dict[str, Any], theirs: dict[str, Any]
) -> None:
    """Either a conflict, or both changes are in the result, whoever came first."""
    try:
        merged = carried_over(before, mine, theirs, None, what=PODS)
    except Conflict:
        return
    assert merged == carried_over(before, theirs, mine, None, what=PODS)
    for side in (mine, theirs):
        change = change_between(before, side, None)
        assert merged_into(merged, change.patch if change else {}, None) == merged
