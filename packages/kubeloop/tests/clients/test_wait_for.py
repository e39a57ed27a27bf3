"""Waiting for the state of one object: the decisions."""

from __future__ import annotations

from typing import Any

import pytest

from kubeloop.clients.wait import Goal, goal_of
from kubeloop.errors import InvalidArgument


def ready(status: str, **others: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "web", "generation": 2},
        "status": {"conditions": [{"type": "Ready", "status": status, **others}]},
    }


def met(goal: Goal[Any], data: dict[str, Any]) -> bool:
    return goal.is_met(data or None, data)


@pytest.mark.parametrize(
    ("wanted", "data", "reached"),
    [
        ("Ready", ready("True"), True),
        ("ready", ready("True"), True),
        ("Ready=False", ready("False"), True),
        ("Ready", ready("False"), False),
        ("Ready", {"metadata": {}}, False),
        ("Ready", {}, False),
        ("Ready", ready("True", observedGeneration=1), False),
        ("Ready", ready("True", observedGeneration=2), True),
    ],
)
def test_a_condition_is_met_for_this_generation(
    wanted: str, data: dict[str, Any], reached: bool
) -> None:
    assert met(goal_of(condition=wanted), data) is reached


@pytest.mark.parametrize(
    ("wanted", "reached"),
    [
        ("{.status.phase}=Running", True),
        (".status.phase=Running", True),
        ("{.status.phase}=Pending", False),
        ("{.status.phase}", True),
        ("{.status.podIP}", False),
        ("{.status.ready}=true", True),
        ('{.status.parts[?(@.name=="a")].size}=3', True),
    ],
)
def test_a_jsonpath_is_there_or_has_its_value(wanted: str, reached: bool) -> None:
    data = {"status": {"phase": "Running", "ready": True, "parts": [{"name": "a", "size": 3}]}}

    assert met(goal_of(jsonpath=wanted), data) is reached
    assert met(goal_of(jsonpath=wanted), {}) is False


def test_another_object_of_the_same_name_means_it_was_deleted() -> None:
    """WTC-7, WTC-C5: the object was deleted in a watch gap."""
    goal: Goal[Any] = goal_of(deleted=True)

    assert not met(goal, {"metadata": {"uid": "1"}})
    assert met(goal, {"metadata": {"uid": "2"}})
    assert met(goal_of(deleted=True), {})


def test_the_error_describes_the_current_state() -> None:
    condition: Goal[Any] = goal_of(condition="Ready")
    path: Goal[Any] = goal_of(jsonpath="{.status.phase}=Running")
    gone: Goal[Any] = goal_of(deleted=True)

    assert condition.describe(ready("False", reason="Slow", message="wait")) == (
        "Ready=False (Slow: wait)"
    )
    assert condition.describe({"metadata": {}}) == "no condition Ready"
    assert condition.describe({}) == "no such object"
    assert path.describe({"status": {"phase": "Pending"}}) == "{.status.phase} is Pending"
    assert "finalizers ['a']" in gone.describe(
        {"metadata": {"deletionTimestamp": "x", "finalizers": ["a"]}}
    )


@pytest.mark.parametrize(
    "wanted",
    [{}, {"condition": "Ready", "deleted": True}, {"jsonpath": "{.a}b"}],
)
def test_exactly_one_thing_is_waited_for(wanted: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        goal_of(**wanted)


@pytest.mark.parametrize(
    "status",
    [
        "done",
        {"conditions": {"Ready": True}},
        {"conditions": [None, 5, {"type": "Ready", "status": "False"}]},
        {"conditions": [{"type": "Ready", "status": "False", "reason": 5}]},
    ],
)
def test_a_status_that_means_something_else_is_not_what_is_waited_for(status: Any) -> None:
    """Custom kinds may have any value in `status.conditions`."""
    data = {"metadata": {"name": "a", "generation": 1}, "status": status}
    goal: Goal[Any] = goal_of(condition="Ready")

    assert not goal.is_met(data, data)
    assert goal.describe(data)


def test_a_generation_that_is_no_number_says_nothing_of_the_condition() -> None:
    ready = {"type": "Ready", "status": "True"}
    goal: Goal[Any] = goal_of(condition="Ready")
    data = {
        "metadata": {"generation": 2},
        "status": {"observedGeneration": "1", "conditions": [ready]},
    }

    assert goal.is_met(data, data)


def test_a_list_that_is_still_too_short_for_a_jsonpath_is_waited_for() -> None:
    data: dict[str, Any] = {"metadata": {}, "status": {"ingress": []}}
    goal: Goal[Any] = goal_of(jsonpath="{.status.ingress[0].ip}")

    assert not goal.is_met(data, data)
    assert goal.describe(data) == "{.status.ingress[0].ip} is missing"
