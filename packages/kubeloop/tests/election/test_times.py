"""Valid durations of an election."""

from __future__ import annotations

import math
from typing import Any

import pytest

from kubeloop.election import (
    JITTER_FACTOR,
    USER_AGENT_SUFFIX,
    ElectionTimes,
    LeaderElector,
    check_lock_type,
)
from kubeloop.errors import InvalidArgument
from tests.election.leases import FakeLeases, Server


def test_the_defaults_are_those_of_kubernetes() -> None:
    """LEA-1: 15, 10 and 2 seconds."""
    times = ElectionTimes()

    assert (times.lease_duration, times.renew_deadline, times.retry_period) == (15, 10, 2)
    assert JITTER_FACTOR == 1.2


@pytest.mark.parametrize(
    ("times", "complaint"),
    [
        pytest.param((15, 15, 2), "longer than renew_deadline", id="LEA-C11 lease not longer"),
        pytest.param((15, 10, 9), "1.2 times retry_period", id="LEA-C11 retry too long"),
        pytest.param((15, 10, 10 / 1.2), "1.2 times retry_period", id="LEA-1 retry at the bound"),
        pytest.param((15, 10, 0), "longer than zero", id="LEA-1 zero"),
        pytest.param((15, -10, -20), "longer than zero", id="LEA-1 negative"),
        pytest.param((0.9, 0.5, 0.1), "at least 1", id="lease below a second"),
        pytest.param((math.nan, 10, 2), "a number of seconds", id="not a number"),
        pytest.param((math.inf, 10, 2), "a number of seconds", id="endless"),
        pytest.param(("15s", 10, 2), "a number of seconds", id="a text"),
    ],
)
def test_durations_that_contradict_each_other_are_rejected(times: Any, complaint: str) -> None:
    lease, deadline, retry = times

    with pytest.raises(InvalidArgument, match=complaint):
        ElectionTimes(lease_duration=lease, renew_deadline=deadline, retry_period=retry)


def test_a_lease_is_written_in_whole_seconds_and_the_term_shrinks_with_it() -> None:
    """LEA-4, LEA-C12: 1500 ms are written as 1 s; the leader counts on no more than others."""
    times = ElectionTimes(lease_duration=1.5, renew_deadline=1.2, retry_period=0.2)

    assert times.written_duration == 1
    assert times.term == pytest.approx(0.8)


def test_a_request_may_take_half_the_renew_deadline_and_at_least_a_second() -> None:
    """LEA-3: and requests name themselves."""
    short = ElectionTimes(lease_duration=1.5, renew_deadline=1.2, retry_period=0.2)

    assert (ElectionTimes().request_timeout, short.request_timeout) == (5.0, 1.0)
    assert USER_AGENT_SUFFIX == "leader-election"


@pytest.mark.parametrize(("name", "identity"), [("", "me"), ("controller", "")])
def test_a_lease_without_name_or_a_candidate_without_identity_is_rejected(
    name: str, identity: str
) -> None:
    """LEA-1: violations are construction errors."""
    with pytest.raises(InvalidArgument, match="identity"):
        LeaderElector(FakeLeases(Server()), name, identity=identity)


async def test_leading_without_work_is_rejected() -> None:
    """LEA-1: OnStartedLeading must be present."""
    elector = LeaderElector(FakeLeases(Server()), "controller", identity="me")

    with pytest.raises(InvalidArgument, match="lead must be a function"):
        await elector.run(None)  # type: ignore[arg-type] # what the test is about


def test_leases_are_the_only_lock() -> None:
    """LEA-2: the error for a former lock type asks to migrate; others are unknown."""
    check_lock_type("leases")

    for former in ("endpoints", "configmaps", "endpointsleases", "configmapsleases"):
        with pytest.raises(InvalidArgument, match="migrate"):
            check_lock_type(former)
    with pytest.raises(InvalidArgument, match="unknown"):
        check_lock_type("zookeeper")
