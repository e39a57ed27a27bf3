"""Checks, signs of life, and addresses."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kubeloop.cache import SharedInformer
from kubeloop.kit import ManualClock, running
from kubeloop.machinery import InvalidValue, TransportError
from kubeloop.runtime import HealthReport, Unhealthy
from kubeloop.runtime.endpoints import Address, address_of
from kubeloop.runtime.health import Checks, Pulse, synced

from .mirrors import Source
from .sites import Website


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
        (lambda: False, "it says no"),
        (fails, "no space left"),
        (hangs, "no answer within 5 s"),
    ],
)
async def test_a_check_fails_that_raises_says_no_or_takes_too_long(
    clock: ManualClock, check: Any, why: str
) -> None:
    checks = Checks("alive", clock=clock)
    checks.add("disk", check)
    asking = asyncio.create_task(checks.report())

    await clock.advance(6)

    assert (await asking).failures == {"disk": why}


async def test_a_check_that_fails_keeps_no_other_from_being_asked(clock: ManualClock) -> None:
    checks = Checks("alive", clock=clock)
    checks.add("disk", fails)
    checks.add("memory", fine)

    report = await checks.report()

    assert str(report) == "[-]disk failed: no space left\n[+]memory ok\nfailed\n"
    assert not report.is_well


async def test_a_change_of_health_is_logged_once(
    clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    checks = Checks("alive", clock=clock)
    checks.add("disk", fails)

    for _ in range(3):
        await checks.report()

    assert [record.getMessage() for record in caplog.records] == ["alive: disk: no space left"]


def test_a_name_is_given_once(clock: ManualClock) -> None:
    checks = Checks("ready", clock=clock)
    checks.add("disk", fine)

    with pytest.raises(InvalidValue, match="ready check 'disk': there is one"):
        checks.add("disk", fine)


def test_no_checks_are_passed() -> None:
    assert HealthReport({}).is_well


async def test_a_mirror_that_has_ended_is_dead(clock: ManualClock) -> None:
    informer = SharedInformer(Source(Website), Website, clock=clock)
    pulse = Pulse([informer], clock=clock)
    running = asyncio.create_task(informer.run())
    await clock.settle()
    pulse.check()

    running.cancel()
    await asyncio.wait([running])

    with pytest.raises(Unhealthy, match="no sign of life from: websites"):
        pulse.check()


class Away(Source):
    """A server that cannot be reached."""

    async def list(self, **options: Any) -> Any:
        raise TransportError("connection refused")


class Stuck(Source):
    """A server that takes the request and never answers."""

    async def list(self, **options: Any) -> Any:
        await asyncio.Event().wait()


@pytest.mark.parametrize(("source", "dies"), [(Away, False), (Stuck, True)])
async def test_a_server_that_is_away_is_no_reason_to_start_again(
    clock: ManualClock, source: type[Source], dies: bool
) -> None:
    informer = SharedInformer(source(Website), Website, clock=clock)
    pulse = Pulse([informer], clock=clock)
    running = asyncio.create_task(informer.run())

    await clock.settle()
    pulse.look()
    for _ in range(20):
        await clock.advance(60)
        if not dies:
            pulse.check()

    if dies:
        with pytest.raises(Unhealthy, match="websites"):
            pulse.check()
    with pytest.raises(Unhealthy, match="no first list yet: websites"):
        synced([informer])()
    running.cancel()
    await asyncio.wait([running])


async def test_a_mirror_is_not_thought_alive_because_another_of_its_kind_is(
    clock: ManualClock,
) -> None:
    """Two caches of one kind, such as a view and the whole, have one name."""
    stuck = SharedInformer(Stuck(Website), Website, clock=clock)
    away = SharedInformer(Away(Website), Website, clock=clock)
    pulse = Pulse([stuck, away], clock=clock)
    async with running(stuck, away):
        for _ in range(20):
            await clock.advance(60)
            pulse.look()

        with pytest.raises(Unhealthy, match="from: websites \\(restart"):
            pulse.check()


@pytest.mark.parametrize(
    ("said", "address"),
    [
        (8080, Address("0.0.0.0", 8080)),
        (":8080", Address("0.0.0.0", 8080)),
        ("8080", Address("0.0.0.0", 8080)),
        ("127.0.0.1:0", Address("127.0.0.1", 0)),
        ("[::1]:8443", Address("::1", 8443)),
    ],
)
def test_an_address_is_a_port_or_a_host_and_a_port(said: int | str, address: Address) -> None:
    assert address_of(said) == address


def test_an_address_is_said_as_it_can_stand_in_a_url() -> None:
    assert str(address_of("[::1]:8081")) == "[::1]:8081"
    assert str(address_of("127.0.0.1:8081")) == "127.0.0.1:8081"
