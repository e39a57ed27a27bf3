"""The text form of scenarios."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.errors import InvalidArgument
from kubeloop_testing.simulation.scenarios import (
    CLASSES,
    DEFAULT_CLASSES,
    KINDS,
    Fault,
    Scenario,
)

names = st.from_regex(r"[a-z0-9._-]{1,12}", fullmatch=True)
times = st.floats(min_value=0, max_value=1e6)
faults = st.builds(
    Fault,
    kind=st.sampled_from(sorted(KINDS)),
    target=names,
    by=st.just("") | names,
    number=st.integers(min_value=0, max_value=999),
    resource=st.just("") | names,
    seconds=times,
    code=st.sampled_from([0, 409, 429, 500]),
    at=times,
)
scenarios = st.builds(
    Scenario,
    seed=st.integers(min_value=0),
    faults=st.lists(faults, max_size=4).map(tuple),
)


@given(scenarios)
def test_a_scenario_is_read_again_from_its_text(scenario: Scenario) -> None:
    assert Scenario.parse(str(scenario)) == scenario


def test_the_text_is_short() -> None:
    scenario = Scenario(
        3,
        (
            Fault("crash-after", "manager", number=3),
            Fault("late-watch", "manager", by="test", number=4, resource="pods", seconds=30.0),
        ),
    )

    assert str(scenario) == (
        "seed=3 crash-after@manager#3 late-watch@manager#4:by=test,resource=pods,seconds=30"
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "starts with seed=NUMBER"),
        ("crash@manager", "starts with seed=NUMBER"),
        ("seed=-1", "starts with seed=NUMBER"),
        ("seed=1 burn@manager", "unknown kind"),
        ("seed=1 crash", "names no process"),
        ("seed=1 crash@manager#first", "invalid literal"),
        ("seed=1 crash@manager:seconds=long", "could not convert"),
        ("seed=1 crash@manager:secnds=3", "unknown option secnds"),
    ],
)
def test_an_invalid_text_is_rejected_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(InvalidArgument, match=reason):
        Scenario.parse(text)


@given(faults)
def test_every_fault_is_described_with_the_rule_that_allows_it(fault: Fault) -> None:
    assert fault.target in fault.describe() or "{target}" not in KINDS[fault.kind].text
    assert KINDS[fault.kind].rule
    assert fault.group in CLASSES


def test_paused_processes_are_a_class_of_their_own_and_off_by_default() -> None:
    assert set(CLASSES) - set(DEFAULT_CLASSES) == {"pause"}
