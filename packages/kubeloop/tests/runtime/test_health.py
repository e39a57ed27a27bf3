"""Health checks, liveness of informers, and addresses of endpoints."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kubeloop.cache import SharedInformer
from kubeloop.errors import InvalidArgument, TransportError
from kubeloop.kit import ManualClock, running
from kubeloop.runtime import HealthReport, Unhealthy
from kubeloop.runtime.endpoints import Address, parse_address
from kubeloop.runtime.health import HealthChecks, LivenessMonitor, current_check, synced_check
from tests.support.model_server import refusal

from .fake_collections import FakeCollection
from .websites import Website


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


async def fine() -> None:
    """All is well."""


def fails() -> None:
    raise OSError("no space left")


async def hangs() -> None:
    await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("check", "why"),
    [
        (fine, ""),
        (lambda: None, ""),
        (lambda: True, ""),
        (lambda: False, "returned False"),
        (fails, "no space left"),
        (hangs, "timed out after 5 s"),
    ],
)
async def test_a_check_fails_if_it_raises_returns_false_or_times_out(
    clock: ManualClock, check: Any, why: str
) -> None:
    checks = HealthChecks("alive", clock=clock)
    checks.add("disk", check)
    asking = asyncio.create_task(checks.report())

    await clock.advance(6)

    assert (await asking).failures == {"disk": why}


async def test_all_checks_run_even_if_one_fails(clock: ManualClock) -> None:
    checks = HealthChecks("alive", clock=clock)
    checks.add("disk", fails)
    checks.add("memory", fine)

    report = await checks.report()

    assert str(report) == "[-]disk failed: no space left\n[+]memory ok\nfailed\n"
    assert not report.is_healthy


async def test_a_change_of_health_is_logged_once(
    clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    checks = HealthChecks("alive", clock=clock)
    checks.add("disk", fails)

    for _ in range(3):
        await checks.report()

    assert [record.getMessage() for record in caplog.records] == [
        "alive checks failed: disk: no space left"
    ]


def test_the_name_of_a_check_is_unique(clock: ManualClock) -> None:
    checks = HealthChecks("ready", clock=clock)
    checks.add("disk", fine)

    with pytest.raises(InvalidArgument, match="ready check 'disk': the name is in use"):
        checks.add("disk", fine)


def test_a_report_without_checks_passes() -> None:
    assert HealthReport({}).is_healthy


async def test_an_informer_that_has_stopped_is_dead(clock: ManualClock) -> None:
    informer = SharedInformer(FakeCollection(Website), Website, clock=clock)
    pulse = LivenessMonitor([informer], clock=clock)
    running = asyncio.create_task(informer.run())
    await clock.settle()
    pulse.check()

    running.cancel()
    await asyncio.wait([running])

    with pytest.raises(Unhealthy, match="no activity: websites"):
        pulse.check()


class Away(FakeCollection):
    """A server that cannot be reached."""

    async def list(self, **options: Any) -> Any:
        raise TransportError("connection refused")


class Stuck(FakeCollection):
    """A server that accepts the request and never responds."""

    async def list(self, **options: Any) -> Any:
        await asyncio.Event().wait()


class Refusing(FakeCollection):
    """A server that responds, and does not serve the kind, or forbids to read it."""

    code = 404

    async def list(self, **options: Any) -> Any:
        raise refusal(self.code)


class Forbidding(Refusing):
    code = 403


@pytest.mark.parametrize(
    ("source", "dies", "why"),
    [
        (Away, True, "not responded for 15 minutes: websites \\(failing for 9\\d\\d s: connection"),
        (Stuck, True, "no activity: websites"),
        (Refusing, False, ""),
        (Forbidding, False, ""),
    ],
)
async def test_fifteen_minutes_without_a_response_fail_liveness(
    clock: ManualClock, source: type[FakeCollection], dies: bool, why: str
) -> None:
    """A shorter outage does not, and neither does a server that responds with an error."""
    informer = SharedInformer(source(Website), Website, clock=clock)
    pulse = LivenessMonitor([informer], clock=clock)
    running = asyncio.create_task(informer.run())

    await clock.settle()
    pulse.observe()
    for _ in range(15):
        pulse.check()
        await clock.advance(60)
    await clock.advance(60)

    if dies:
        with pytest.raises(Unhealthy, match=why):
            pulse.check()
    else:
        pulse.check()
    with pytest.raises(Unhealthy, match="no first list yet: websites"):
        synced_check([informer])()
    running.cancel()
    await asyncio.wait([running])


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (Away, "out of date: websites \\(failing for 6\\d s: connection refused"),
        (Forbidding, "out of date: websites \\(failing for 6\\d s: .*403"),
        (Refusing, ""),
    ],
)
async def test_a_minute_of_failed_attempts_is_a_reason_not_to_be_ready(
    clock: ManualClock, source: type[FakeCollection], why: str
) -> None:
    """A kind that the server does not have, 404, is not: other kinds work meanwhile."""
    informer = SharedInformer(source(Website), Website, clock=clock)
    check = current_check([informer])
    async with running(informer):
        await clock.advance(60)
        check()

        await clock.advance(5)

        if why:
            with pytest.raises(Unhealthy, match=why):
                check()
        else:
            check()


async def test_an_informer_is_ready_again_when_its_server_responds(clock: ManualClock) -> None:
    class Back(FakeCollection):
        is_away = True

        async def list(self, **options: Any) -> Any:
            if self.is_away:
                raise TransportError("connection refused")
            return await super().list(**options)

    source = Back(Website)
    informer = SharedInformer(source, Website, clock=clock)
    async with running(informer):
        await clock.advance(65)
        with pytest.raises(Unhealthy):
            current_check([informer])()

        source.is_away = False
        await clock.advance(60)

        current_check([informer])()
        synced_check([informer])()


async def test_an_informer_is_dead_even_if_another_of_its_kind_is_alive(
    clock: ManualClock,
) -> None:
    """Two caches of one kind, such as a view and the whole, have one name."""
    stuck = SharedInformer(Stuck(Website), Website, clock=clock)
    away = SharedInformer(Away(Website), Website, clock=clock)
    pulse = LivenessMonitor([stuck, away], clock=clock)
    async with running(stuck, away):
        for _ in range(20):
            await clock.advance(60)
            pulse.observe()

        with pytest.raises(Unhealthy, match="no activity: websites \\(restart"):
            pulse.check()


@pytest.mark.parametrize(
    ("given", "address"),
    [
        (8080, Address("0.0.0.0", 8080)),
        (":8080", Address("0.0.0.0", 8080)),
        ("8080", Address("0.0.0.0", 8080)),
        ("127.0.0.1:0", Address("127.0.0.1", 0)),
        ("[::1]:8443", Address("::1", 8443)),
    ],
)
def test_an_address_is_a_port_or_a_host_and_a_port(given: int | str, address: Address) -> None:
    assert parse_address(given) == address


def test_the_text_of_an_address_fits_into_a_url() -> None:
    assert str(parse_address("[::1]:8081")) == "[::1]:8081"
    assert str(parse_address("127.0.0.1:8081")) == "127.0.0.1:8081"
