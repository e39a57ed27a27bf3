"""Observers of outcomes: what they are called with, and what they cannot break."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from kubeloop.kit import running
from kubeloop.meta import ObjectKey
from kubeloop.runtime import Client, Context, Manager, ReconcileReport, Result, observe_outcomes
from kubeloop.runtime.results import Done, Failed, Requeue

from .harness import ControllerHarness, returns
from .websites import Website, a_site, until


async def test_each_outcome_is_reported_with_its_key_and_its_attempt(
    harness: ControllerHarness,
) -> None:
    reports: list[ReconcileReport] = []
    harness.observers.append(reports.append)
    error = RuntimeError("no")

    async with harness.running(returns(error, Result(requeue_after=5))):
        harness.sites.put(a_site("shop"))
        await harness.clock.advance(10)

    assert [report.outcome for report in reports] == [Failed(error), Requeue(5), Done()]
    assert [report.attempt for report in reports] == [0, 1, 0]
    assert [report.error for report in reports] == [error, None, None]
    assert {(report.controller, report.key) for report in reports} == {
        ("site", ObjectKey("default", "shop"))
    }
    assert reports[0].queue().ready == 0


async def test_a_report_says_how_long_the_reconcile_took(harness: ControllerHarness) -> None:
    async def wait(key: ObjectKey, ctx: Context) -> None:
        await harness.clock.sleep(3)

    reports: list[ReconcileReport] = []
    harness.observers.append(reports.append)

    async with harness.running(wait):
        harness.sites.put(a_site("shop"))
        await harness.clock.advance(4)

    assert [report.seconds for report in reports] == [3]


@pytest.mark.parametrize("error", [RuntimeError("broken"), asyncio.CancelledError()], ids=repr)
async def test_an_observer_that_fails_is_logged_with_the_key_and_changes_nothing(
    harness: ControllerHarness, error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(report: ReconcileReport) -> None:
        raise error

    reports: list[ReconcileReport] = []
    harness.observers += [fail, reports.append]

    async with harness.running(returns(Result(requeue_after=5))):
        harness.sites.put(a_site("shop"))
        await harness.clock.advance(6)

    assert harness.names() == ["shop", "shop"]
    assert len(reports) == 2
    assert "site default/shop: the observer of outcomes failed" in caplog.text


async def test_a_manager_reports_to_its_observer_and_to_those_of_its_context(
    managed: Callable[..., Manager], with_sites: Client
) -> None:
    own: list[ReconcileReport] = []
    outer: list[ReconcileReport] = []
    manager = managed(on_outcome=own.append)

    @manager.controller(Website)
    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        """Nothing to do."""

    await with_sites.resource(Website).create(a_site("shop"))
    with observe_outcomes(outer.append):
        async with running(manager):
            await until(lambda: own)

    assert own == outer
    assert [str(report.key) for report in own] == ["default/shop"]
