"""The conditions in an object's status."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kubeloop.meta import (
    find_condition,
    is_condition,
    is_condition_false,
    is_condition_true,
    remove_condition,
    set_condition,
)
from kubeloop.wire.core.v1 import PodCondition
from kubeloop.wire.meta.v1 import Condition

THEN = datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)
NOW = THEN + timedelta(hours=1)
LATER = THEN + timedelta(hours=2)


@pytest.fixture
def conditions() -> list[Condition]:
    ready = Condition(
        type="Ready", status="True", reason="Up", message="all is well", last_transition_time=THEN
    )
    return [ready]


def test_a_new_condition_is_appended_with_the_time_it_has_or_else_now(
    conditions: list[Condition],
) -> None:
    """API-40: conditions in a status."""
    assert set_condition(conditions, Condition(type="A", status="True"), now=NOW)
    dated = Condition(type="B", status="True", last_transition_time=LATER)
    assert set_condition(conditions, dated, now=NOW)

    assert [each.type for each in conditions] == ["Ready", "A", "B"]
    assert [each.last_transition_time for each in conditions] == [THEN, NOW, LATER]


def test_the_time_stays_while_the_status_does(conditions: list[Condition]) -> None:
    """API-C12: the same status and a new message is a change, and the time is kept."""
    new = Condition(
        type="Ready", status="True", reason="Up", message="better", last_transition_time=LATER
    )

    assert set_condition(conditions, new, now=NOW) is True

    assert conditions[0].message == "better"
    assert conditions[0].last_transition_time == THEN


@pytest.mark.parametrize(("given", "wanted"), [(None, NOW), (LATER, LATER)])
def test_the_time_moves_with_the_status(
    conditions: list[Condition], given: datetime | None, wanted: datetime
) -> None:
    """API-40: conditions in a status."""
    new = Condition(type="Ready", status="False", last_transition_time=given)

    assert set_condition(conditions, new, now=NOW) is True

    assert conditions[0].status == "False"
    assert conditions[0].last_transition_time == wanted
    assert conditions[0].reason == ""


def test_the_same_condition_again_changes_nothing(conditions: list[Condition]) -> None:
    """API-40: conditions in a status."""
    same = Condition(type="Ready", status="True", reason="Up", message="all is well")

    assert set_condition(conditions, same, now=NOW) is False
    assert conditions[0].last_transition_time == THEN


def test_the_generation_seen_is_taken_over(conditions: list[Condition]) -> None:
    """API-40: conditions in a status."""
    new = Condition(
        type="Ready", status="True", reason="Up", message="all is well", observed_generation=7
    )

    assert set_condition(conditions, new, now=NOW) is True
    assert conditions[0].observed_generation == 7


def test_generation_0_equals_no_generation(conditions: list[Condition]) -> None:
    """API-40: a server leaves it out, and the next comparison must not see a change."""
    new = Condition(
        type="Ready", status="True", reason="Up", message="all is well", observed_generation=0
    )

    assert set_condition(conditions, new, now=NOW) is False


def test_the_condition_given_stays_the_callers(conditions: list[Condition]) -> None:
    new = Condition(type="A", status="True")

    set_condition(conditions, new, now=NOW)
    new.status = "False"

    assert new.last_transition_time is None
    assert conditions[1].status == "True"


def test_removing_says_whether_there_was_one(conditions: list[Condition]) -> None:
    """API-40: conditions in a status."""
    assert remove_condition(conditions, "Ready") is True
    assert remove_condition(conditions, "Ready") is False
    assert conditions == []


def test_a_condition_is_found_by_its_exact_type(conditions: list[Condition]) -> None:
    """API-40: one that is missing is neither true nor false."""
    assert find_condition(conditions, "Ready") is conditions[0]
    assert find_condition(conditions, "ready") is None
    assert is_condition_true(conditions, "Ready")
    assert not is_condition_false(conditions, "Ready")
    assert not is_condition_true(conditions, "Missing")
    assert not is_condition_false(conditions, "Missing")
    assert not is_condition(conditions, "Missing", "Unknown")


def test_conditions_of_other_kinds_are_looked_up_alike() -> None:
    """API-40: conditions in a status."""
    conditions = [PodCondition(type="Ready", status="False")]

    assert is_condition_false(conditions, "Ready")
