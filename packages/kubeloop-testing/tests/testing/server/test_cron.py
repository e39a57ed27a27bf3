"""Validation of cron schedules."""

from __future__ import annotations

import pytest

from kubeloop_testing.server.kinds.batch.cron import problem_of_schedule


@pytest.mark.parametrize(
    "schedule",
    [
        "* * * * *",
        "*/5 0-6,12 1 jan-mar mon-fri",
        "@daily",
        "@every 1h30m",
        "TZ=UTC 0 0 * * 0",
        "0 0 ? * *",
    ],
)
def test_a_valid_schedule_has_no_problem(schedule: str) -> None:
    assert problem_of_schedule(schedule) == ""


@pytest.mark.parametrize(
    ("schedule", "problem"),
    [
        ("* * *", "expected exactly 5 fields, found 3: [* * *]"),
        ("60 * * * *", "end of range (60) above maximum (59): 60"),
        ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
        ("5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"),
        ("x * * * *", 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'),
        ("*/0 * * * *", "step of range should be a positive number: */0"),
        ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
        ("@never", "unrecognized descriptor: @never"),
        ("@every moon", 'failed to parse duration @every moon: time: invalid duration "moon"'),
    ],
)
def test_an_invalid_schedule_is_reported_with_the_reason(schedule: str, problem: str) -> None:
    assert problem_of_schedule(schedule) == problem
