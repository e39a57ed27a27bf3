"""How an informer that cannot reach its server reports it: counts, log lines, stats."""

from __future__ import annotations

import asyncio
import itertools
import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.cache.outage import Outage, after_failure, after_warning
from kubeloop.errors import ConnectError, DecodeError, StreamBroken, TransportError
from kubeloop.kit import ManualClock
from tests.cache.reflector_harness import running_reflector
from tests.support.model_server import (
    ModelServer,
    event,
    expired,
    refusal,
    refused,
    too_large,
)


@pytest.fixture
def server() -> ModelServer:
    return ModelServer(streams_lists=False)


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]


@pytest.mark.parametrize("streams", [True, False], ids=["with WatchList", "with lists"])
@pytest.mark.parametrize("synced", [True, False], ids=["later", "from the start"])
async def test_refused_connections_are_logged_soon_then_less_and_less_often(
    clock: ManualClock, caplog: pytest.LogCaptureFixture, synced: bool, streams: bool
) -> None:
    """Within 12 s, again after one minute, two, four; and one line when it is over."""
    server = ModelServer(streams_lists=streams)
    refusals = [refused() for _ in range(1000)]
    moments = []
    if not synced:
        server.fail(*refusals)
    with caplog.at_level(logging.INFO):
        async with running_reflector(server, clock) as (reflector, _):
            if synced:
                await clock.advance(60)
                server.fail(*refusals)
                server.cut()
            for second in range(600):
                before = len(warnings(caplog))
                await clock.advance(1)
                moments += [second] * (len(warnings(caplog)) - before)
            assert "connection refused" in reflector.stats().last_error
            server.heal()
            await clock.advance(60)
            server.put("web")
            await clock.settle()

            assert reflector.stats().outage is None
    assert moments[0] <= 12
    assert len(moments) == 4
    assert all(b > 1.9 * a for a, b in itertools.pairwise(moments))
    assert "connection refused" in warnings(caplog)[0]
    over = [r.getMessage() for r in caplog.records if "recovered after" in r.getMessage()]
    assert len(over) == 1


async def test_a_short_interruption_is_not_logged_as_a_warning(
    server: ModelServer, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    async with running_reflector(server, clock):
        await clock.advance(60)
        server.fail(refused(), refused())
        server.cut()
        await clock.advance(20)

    assert warnings(caplog) == []


async def test_a_slow_failure_is_logged_at_once(
    clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    """A connection that hangs: the outage began with the attempt, not with its end."""

    class Hanging(ModelServer):
        async def list(self, **options: Any) -> Any:
            await clock.sleep(30)
            raise ConnectError("connect: no response within 30 s")

    async with running_reflector(Hanging(streams_lists=False), clock) as (reflector, _):
        await clock.advance(30)

        outage = reflector.stats().outage
        assert outage is not None
        assert outage.seconds == 30
    assert warnings(caplog) == [
        "pods: has failed for 30 s (attempt 1), will retry: connect: no response within 30 s"
    ]


async def test_stats_count_every_attempt_and_name_the_last_error(
    server: ModelServer, clock: ManualClock
) -> None:
    async with running_reflector(server, clock) as (reflector, _):
        await clock.advance(60)
        server.fail(
            refused(), StreamBroken("read: it broke"), refused(), refusal(503, "ServiceUnavailable")
        )
        server.cut()
        await clock.advance(0.8)
        outage = reflector.stats().outage

        assert reflector.stats().errors == 2
        assert "it broke" in reflector.stats().last_error
        assert outage is not None
        assert (outage.failures, outage.code) == (2, 0)
        assert outage.seconds == pytest.approx(0.8)

        await clock.advance(1.6 + 3.2)
        outage = reflector.stats().outage
        assert outage is not None
        assert (outage.failures, outage.code) == (4, 503)
        assert "503" in reflector.stats().last_error
        assert outage.without_response == 0

        await clock.advance(10)
        assert reflector.stats().outage is None
        assert reflector.stats().errors == 4
        assert "503" in reflector.stats().last_error  # the last one, although it is over


async def test_a_watch_that_is_never_accepted_is_an_error_after_a_minute(
    clock: ManualClock,
) -> None:
    class Opening:
        async def open(self) -> bool:
            return await asyncio.Event().wait()

        async def pump(self, apply: object, split: object) -> None:
            raise AssertionError("it is never open")

        async def aclose(self) -> None:
            """It has sent nothing."""

    class Stuck(ModelServer):
        def watch(self, **options: Any) -> Any:
            return Opening()

    async with running_reflector(Stuck(streams_lists=False), clock) as (reflector, _):
        await clock.advance(60)

        outage = reflector.stats().outage
        assert outage is not None
        assert outage.error == "watch pods: no response within 60 s"


async def test_a_source_that_does_not_report_an_open_watch_recovers_as_well(
    server: ModelServer, clock: ManualClock
) -> None:
    """No event arrives, and nothing fails for ten seconds."""
    async with running_reflector(server, clock) as (reflector, _):
        await clock.advance(60)
        server.fail(refused())
        server.cut()
        await clock.advance(5)
        assert reflector.stats().outage is not None

        await clock.advance(6)
        assert reflector.stats().outage is None


async def test_a_failure_of_one_object_is_no_outage(
    server: ModelServer, clock: ManualClock
) -> None:
    async with running_reflector(server, clock) as (reflector, target):
        target.failure = RuntimeError("full")
        server.put("web")
        await clock.settle()

        assert reflector.stats().errors == 1
        assert reflector.stats().outage is None


# --- the plain values


@given(st.lists(st.floats(0.1, 120), min_size=1, max_size=200))
def test_warnings_of_an_outage_are_further_and_further_apart(gaps: list[float]) -> None:
    now, warned = 0.0, []
    outage: Outage | None = None
    for gap in gaps:
        outage = after_failure(outage, TransportError("refused"), began=now, now=now)
        if outage.is_warning_due(now):
            outage = after_warning(outage, now)
            warned.append(now)
        now += gap

    assert outage is not None
    assert outage.failures == len(gaps)
    assert outage.warnings == len(warned)
    assert all(moment >= 5 for moment in warned)
    for before, after in itertools.pairwise(warned):
        assert after >= min(2 * before, before + 3600)


@pytest.mark.parametrize(
    "error",
    [refusal(403, "Forbidden"), DecodeError("no list"), RuntimeError("a transform's bug")],
    ids=["a refusal", "no list", "a bug of ours"],
)
def test_an_unusable_response_is_a_response_and_no_success(error: Exception) -> None:
    outage = after_failure(None, refused(), began=10, now=10)
    outage = after_failure(outage, error, began=40, now=40)
    outage = after_failure(outage, refused(), began=70, now=70)

    assert outage.stats(100).seconds == 90
    assert outage.stats(100).without_response == 60
    assert outage.stats(100).code == 0


# --- watches that follow one another too quickly


class Hasty(ModelServer):
    """Sends one new event in each watch, and ends it."""

    def __init__(self, kind: str) -> None:
        super().__init__(streams_lists=False)
        self.kind = kind
        self.moments: list[float] = []
        self.lasts = 0.0
        self.now: Any = None

    async def _events(self, at: int, *, initial: bool) -> Any:
        self.moments.append(self.now.now())
        self.version += 1
        metadata = {"name": "a", "namespace": "shop", "resourceVersion": str(self.version)}
        yield event(self.kind, {"kind": "Pod", "apiVersion": "v1", "metadata": metadata})
        if self.lasts:
            await self.now.sleep(self.lasts)


@pytest.mark.parametrize("kind", ["MODIFIED", "BOOKMARK"])
async def test_a_server_that_ends_each_watch_after_one_event_is_not_stormed(
    kind: str, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    """More than five requests within two seconds mean backoff, doubled up to 30 s."""
    server = Hasty(kind)
    server.now = clock
    async with running_reflector(server, clock) as (reflector, _):
        await clock.advance(200)

        gaps = [round(b - a, 1) for a, b in itertools.pairwise(server.moments)]
        assert gaps == [0, 0, 0, 2, 1.6, 3.2, 6.4, 12.8, 25.6, 30, 30, 30, 30]
        assert reflector.stats().lists == 1
        assert reflector.stats().errors == 0
    assert len(warnings(caplog)) == 1


FAULTS: dict[str, Exception | None] = {
    "": None,
    "410": expired(),
    "too large": too_large(),
    "500": refusal(500, "InternalError"),
    "429": refusal(429, "TooManyRequests"),
    "403": refusal(403, "Forbidden"),
    "broken": StreamBroken("broken"),
    "refused": refused(),
    "unreadable": DecodeError("unreadable"),
}


class Faulty(ModelServer):
    """Responds to each kind of request with a fault; watches without one end after an event."""

    def __init__(self, faults: dict[str, Exception | None], clock: ManualClock) -> None:
        super().__init__()
        self._by_verb, self._clock = faults, clock
        self.moments: list[float] = []

    def _raise_fault(self) -> None:
        self.moments.append(self._clock.now())
        verb = self.received[-1].verb
        fault = self._by_verb[verb]
        if fault is not None:
            raise fault
        if verb == "watch":
            self.put("web")
        self.cut_after = 1


@pytest.mark.parametrize("watch", FAULTS)
@pytest.mark.parametrize("list_", FAULTS)
async def test_no_two_seconds_see_more_than_five_requests_of_an_informer(
    list_: str, watch: str, clock: ManualClock
) -> None:
    for stream in FAULTS.values():
        faults = {"stream": stream, "list": FAULTS[list_], "watch": FAULTS[watch]}
        server = Faulty(faults, clock)
        async with running_reflector(server, clock):
            await clock.advance(20)

        moments = server.moments
        assert all(later - first >= 2 for first, later in zip(moments, moments[5:], strict=False))


async def test_a_storm_is_over_when_a_watch_has_lasted_a_minute(clock: ManualClock) -> None:
    server = Hasty("MODIFIED")
    server.now = clock
    async with running_reflector(server, clock):
        await clock.advance(20)
        server.lasts = 60
        await clock.advance(100)
        server.moments.clear()
        server.lasts = 0
        await clock.advance(60)

        assert server.moments[:5] == [server.moments[0]] * 5


async def test_a_busy_watch_is_not_slowed(server: ModelServer, clock: ManualClock) -> None:
    async with running_reflector(server, clock) as (_, target):
        for _ in range(1000):
            server.put("web")
            await clock.settle()

        assert len(target.calls) == 1001
        assert clock.now() == 0
