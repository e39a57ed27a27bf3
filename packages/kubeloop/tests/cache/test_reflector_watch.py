"""Watching: events, ends and errors of a watch, time (CCH-47, 48, 56 to 63, 71 to 73)."""

from __future__ import annotations

import asyncio
import itertools
import logging
from typing import Any

import pytest

from kubeloop.cache import RawPage
from kubeloop.errors import ApiError, StreamBroken
from kubeloop.kit import ManualClock
from tests.cache.reflector_harness import requests, running_reflector
from tests.support.model_server import ModelServer, event, expired, refusal, refused

STATUS_410 = {"kind": "Status", "apiVersion": "v1", "code": 410, "reason": "Expired"}


@pytest.fixture
def server() -> ModelServer:
    return ModelServer(streams_lists=False)


async def test_events_are_applied_in_order_and_move_the_version(
    server: ModelServer, clock: ManualClock
) -> None:
    """CCH-56, CCH-57, CCH-58: also by a bookmark."""
    async with running_reflector(server, clock) as (reflector, target):
        server.put("web")
        server.put("web")
        server.delete("web")
        server.bookmark()
        await clock.settle()

        assert target.calls[1:] == ["add web", "update web", "delete web", "bookmark 13"]
        assert reflector.last_sync_version == "13"
        assert reflector.stats().events == 4


@pytest.mark.parametrize(
    ("drawn", "least", "seconds"),
    [(0.0, 300, 300), (0.999999, 300, 600), (0.5, 600, 900), (0.0, 10, 300)],
)
async def test_a_watch_is_requested_for_five_to_ten_minutes(
    server: ModelServer, clock: ManualClock, drawn: float, least: float, seconds: int
) -> None:
    """CCH-47: at least `min_watch_timeout`, if that is longer."""
    async with running_reflector(server, clock, min_watch_timeout=least, random=lambda: drawn):
        assert server.timeouts == [seconds]


async def test_a_watch_that_the_server_does_not_end_is_ended_here(
    server: ModelServer, clock: ManualClock
) -> None:
    async with running_reflector(server, clock):
        await clock.advance(331)

        assert requests(server) == ["list '0' limit 500", "watch 10", "watch 10"]
        assert server.open_watches == 1


async def test_a_watch_that_ends_after_a_while_is_followed_by_another_at_once(
    server: ModelServer, clock: ManualClock
) -> None:
    """CCH-60: no relist, no backoff."""
    async with running_reflector(server, clock):
        await clock.advance(60)
        server.cut()
        await clock.settle()

        assert requests(server)[1:] == ["watch 10", "watch 10"]


async def test_a_watch_that_ends_at_once_with_nothing_ends_the_round(
    server: ModelServer, clock: ManualClock
) -> None:
    """CCH-60: a very short watch, then a list after the backoff."""
    async with running_reflector(server, clock) as (reflector, _):
        server.cut()
        await clock.settle()

        assert requests(server)[1:] == ["watch 10"]
        assert reflector.stats().short_watches == 1

        await clock.advance(0.8)
        assert requests(server)[2:] == ["list '10' limit 0", "watch 10"]


async def test_a_server_that_ends_every_watch_at_once_is_asked_less_and_less_often(
    server: ModelServer, clock: ManualClock
) -> None:
    """CCH-C35, CCH-72, V-6: the delays grow to half a minute, also without a list in between."""
    server.cut_after = 0

    async with running_reflector(server, clock):
        moments = []
        for _ in range(3000):
            before = server.count("list")
            await clock.advance(0.1)
            if server.count("list") > before:
                moments.append(round(clock.now(), 1))

        waits = [round(b - a, 1) for a, b in zip([0.0, *moments], moments, strict=False)]
        assert waits[:10] == [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0, 30.0, 0.8]


async def test_bookmarks_without_a_new_version_are_no_progress(
    clock: ManualClock,
) -> None:
    class Chatty(ModelServer):
        """Sends a bookmark of the version that was requested, and closes the connection."""

        async def _events(self, at: int, *, initial: bool) -> Any:
            yield event("BOOKMARK", {"kind": "Pod", "metadata": {"resourceVersion": str(at)}})

    server = Chatty(streams_lists=False)
    async with running_reflector(server, clock):
        await clock.advance(100)

        assert server.count("watch") < 10


async def test_a_watch_that_ends_after_an_event_is_opened_again_at_once(
    server: ModelServer, clock: ManualClock
) -> None:
    """CCH-60: no relist, no backoff."""
    async with running_reflector(server, clock) as (_, target):
        server.cut_after = 1
        for name in "abc":
            server.put(name)
        await clock.settle()
        server.cut()
        await clock.settle()

        assert target.calls[1:] == ["add a", "add b", "add c"]
        assert requests(server)[1:] == ["watch 10", "watch 11", "watch 12", "watch 13"]
        assert clock.now() == 0


@pytest.mark.parametrize(
    "error", [refused(), refusal(429, "TooManyRequests")], ids=["refused", "429"]
)
async def test_a_watch_that_cannot_be_opened_for_now_is_retried_without_a_list(
    server: ModelServer, clock: ManualClock, error: Exception
) -> None:
    """CCH-61, CCH-C18: connection refused, or 429."""
    async with running_reflector(server, clock):
        await clock.advance(60)
        server.fail(error)
        server.cut()
        await clock.settle()
        assert requests(server)[1:] == ["watch 10", "watch 10"]

        await clock.advance(0.8)

        assert requests(server)[1:] == ["watch 10", "watch 10", "watch 10"]
        assert server.count("list") == 1


async def test_another_error_when_opening_ends_the_round(
    server: ModelServer, clock: ManualClock
) -> None:
    """CCH-61: reported, and followed by a list."""
    reported: list[Exception] = []
    async with running_reflector(server, clock, on_watch_error=reported.append):
        await clock.advance(60)
        server.fail(refusal(403, "Forbidden"))
        server.cut()
        await clock.advance(0.8)

        assert requests(server)[2:] == ["watch 10", "list '10' limit 0", "watch 10"]
        assert [type(error).__name__ for error in reported] == ["Forbidden"]


async def test_an_expired_watch_ends_the_round_quietly_and_lists_at_the_last_version(
    server: ModelServer, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    """CCH-59, CCH-62, CCH-63, X-2: at most one relist."""
    async with running_reflector(server, clock):
        await clock.advance(60)
        server.say("ERROR", STATUS_410)
        with caplog.at_level(logging.INFO):
            await clock.advance(0.8)

        assert requests(server)[2:] == ["list '10' limit 0", "watch 10"]
        assert caplog.records == []


async def test_too_many_requests_inside_a_watch_only_wait(
    server: ModelServer, clock: ManualClock
) -> None:
    """CCH-62: a 429 as an ERROR event."""
    async with running_reflector(server, clock):
        server.say("ERROR", {**STATUS_410, "code": 429, "reason": "TooManyRequests"})
        await clock.advance(0.8)

        assert requests(server)[1:] == ["watch 10", "watch 10"]


@pytest.mark.parametrize(("patience", "lists"), [(0.0, 2), (30.0, 1)])
async def test_internal_errors_of_a_watch_are_tolerated_as_long_as_configured(
    server: ModelServer, clock: ManualClock, patience: float, lists: int
) -> None:
    """CCH-62: by default never."""
    async with running_reflector(server, clock, internal_error_patience=patience):
        server.say("ERROR", {**STATUS_410, "code": 500, "reason": "InternalError"})
        await clock.advance(0.8)

        assert server.count("list") == lists


async def test_a_broken_watch_counts_as_an_end(server: ModelServer, clock: ManualClock) -> None:
    async with running_reflector(server, clock):
        await clock.advance(60)
        server.fail(StreamBroken("read: the connection broke"))
        server.cut()
        await clock.advance(0.9)

        assert server.count("list") == 2  # at once and with nothing: a very short watch


async def test_unknown_events_and_other_kinds_are_skipped(
    server: ModelServer, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    """CCH-57, CCH-C24, CCH-54: tables too; what follows still works."""
    node = {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n", "resourceVersion": "99"}}
    async with running_reflector(server, clock) as (reflector, target):
        server.put("web")
        server.say("ADDED", node)
        server.say("ADDED", {"kind": "Table", "apiVersion": "meta.k8s.io/v1"})
        server.say("SURPRISED", {"kind": "Pod", "metadata": {"name": "x", "namespace": "shop"}})
        server.say("ADDED", {"kind": "Pod", "metadata": {"namespace": "shop"}})
        server.put("db")
        await clock.settle()

        assert target.calls[1:] == ["add web", "add db"]
        assert reflector.last_sync_version == "12"
        assert reflector.stats().left_out.foreign == 2
        assert reflector.stats().left_out.unkeyed == 1
        assert "expected Pod, found a Node" in caplog.text


async def test_a_target_that_fails_does_not_end_the_watch(
    server: ModelServer, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    """CCH-57: the error is logged, the version moves on."""
    async with running_reflector(server, clock) as (reflector, target):
        target.failure = RuntimeError("full")
        server.put("web")
        await clock.settle()

        assert reflector.last_sync_version == "11"
        assert server.open_watches == 1
        assert "shop/web" in caplog.text


async def test_a_watch_from_no_version_does_not_move_it_by_the_state_it_begins_with(
    clock: ManualClock,
) -> None:
    """CCH-58, CCH-C17: until the first event that is not ADDED."""

    class Unversioned(ModelServer):
        async def list(self, **options: object) -> RawPage:
            page = await super().list(**options)  # type: ignore[arg-type] # as it came
            return RawPage(page.items, "0")

    server = Unversioned(streams_lists=False)
    server.put("a")
    async with running_reflector(server, clock) as (reflector, target):
        await clock.settle()
        assert target.calls == ["replace a at 0", "add a"]
        assert reflector.last_sync_version == "0"

        server.put("a")
        await clock.settle()
        assert reflector.last_sync_version == "12"


async def test_delays_grow_and_start_again_after_two_minutes(
    server: ModelServer, clock: ManualClock
) -> None:
    """CCH-48, CCH-72, V-6: counted from the last reset, although it never succeeded."""
    server.fail(*(refusal(500, "InternalError") for _ in range(12)))

    async with running_reflector(server, clock):
        moments = [0.0]
        while len(moments) < 11:
            before = len(server.received)
            await clock.advance(0.1)
            if len(server.received) > before:
                moments.append(clock.now())

        waits = [round(b - a, 1) for a, b in itertools.pairwise(moments)]
        assert waits == [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0, 30.0, 0.8]


async def test_a_kind_that_is_not_served_is_requested_often_for_a_minute(
    server: ModelServer, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    """Its CRD may be installed after the controller."""
    server.fail(*(refusal(404, "NotFound") for _ in range(100)))

    with caplog.at_level(logging.INFO, "kubeloop.cache"):
        async with running_reflector(server, clock):
            moments = [0.0]
            while clock.now() < 92:
                before = len(server.received)
                await clock.advance(0.1)
                if len(server.received) > before:
                    moments.append(clock.now())

    waits = [round(b - a, 1) for a, b in itertools.pairwise(moments)]
    assert waits == [0.8, 1.6, *[2.0] * 29, 30.0]
    assert [record.levelname for record in caplog.records] == ["INFO", "WARNING", "WARNING"]


async def test_jitter_makes_delays_up_to_twice_as_long(
    server: ModelServer, clock: ManualClock
) -> None:
    """CCH-48: with a jitter of 1.0."""
    server.fail(refusal(500, "InternalError"))
    async with running_reflector(server, clock, random=lambda: 0.75):
        await clock.advance(1.39)
        assert len(server.received) == 1

        await clock.advance(0.02)
        assert len(server.received) == 3


async def test_every_failed_round_is_reported(server: ModelServer, clock: ManualClock) -> None:
    """CCH-63: by a handler of the user."""
    reported: list[Exception] = []
    server.fail(refusal(403, "Forbidden"), RuntimeError("a bug"), expired(), expired())

    async with running_reflector(server, clock, on_watch_error=reported.append):
        await clock.advance(10)

        assert [type(error).__name__ for error in reported] == [
            "Forbidden",
            "RuntimeError",
            "Expired",
        ]
        assert server.open_watches == 1


@pytest.mark.parametrize("failure", [ValueError, asyncio.CancelledError])
async def test_an_error_handler_that_fails_changes_nothing(
    failure: type[BaseException],
    server: ModelServer,
    clock: ManualClock,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(error: Exception) -> None:
        raise failure("no")

    server.fail(refusal(403, "Forbidden"))
    async with running_reflector(server, clock, on_watch_error=fail):
        await clock.advance(1)

        assert server.open_watches == 1
        assert "watch error handler failed" in caplog.text


@pytest.mark.parametrize(
    ("error", "level"),
    [
        (refusal(403, "Forbidden"), logging.ERROR),
        (refusal(404, "NotFound"), logging.INFO),
        (StreamBroken("read: it broke"), logging.INFO),
        (ValueError("a bug"), logging.ERROR),
    ],
    ids=["a response", "a kind that is not served", "a broken response", "a bug"],
)
async def test_by_default_failed_rounds_are_logged(
    server: ModelServer,
    clock: ManualClock,
    caplog: pytest.LogCaptureFixture,
    error: ApiError,
    level: int,
) -> None:
    """CCH-63: the levels of client-go."""
    server.fail(error)
    with caplog.at_level(logging.DEBUG, "kubeloop.cache.reflector"):
        async with running_reflector(server, clock):
            pass

    assert [record.levelno for record in caplog.records] == [level]


async def test_resync_runs_during_watches_if_a_handler_needs_it(
    server: ModelServer, clock: ManualClock
) -> None:
    """CCH-71: only when `should_resync` is true."""
    results = [True, False, True]
    async with running_reflector(
        server, clock, resync=10.0, should_resync=lambda: results.pop(0)
    ) as (
        _,
        target,
    ):
        await clock.advance(35)

        assert target.calls.count("resync") == 2


async def test_a_resync_that_fails_ends_the_round(server: ModelServer, clock: ManualClock) -> None:
    """CCH-71: and a list follows."""
    async with running_reflector(server, clock, resync=10.0) as (reflector, target):
        target.failure = RuntimeError("no")
        await clock.advance(10)
        target.failure = None
        await clock.advance(1)

        assert server.count("list") == 2
        assert "no" in reflector.stats().last_error


async def test_cancelling_ends_it_without_an_error(server: ModelServer, clock: ManualClock) -> None:
    """CCH-73, X-7: and closes the watch."""
    async with running_reflector(server, clock):
        assert server.open_watches == 1

    assert server.open_watches == 0
    assert clock.stats().timeouts == 0


@pytest.mark.parametrize("failures", [[], [refused()]], ids=["at once", "after a while"])
@pytest.mark.parametrize("age", [60, 329], ids=["a young watch", "a watch whose time is over"])
async def test_a_server_that_returns_with_an_older_state_is_detected(
    server: ModelServer, clock: ManualClock, failures: list[Exception], age: float
) -> None:
    """A watch from a version that the server has not reached stays silent."""

    def lose_everything() -> None:
        server._objects.clear()
        server._history.clear()
        server.version = 3

    server.put("web")
    reported: list[Exception] = []
    async with running_reflector(server, clock, on_watch_error=reported.append) as (_, target):
        await clock.advance(age)
        server.fail(*failures)
        server.cut()
        lose_everything()
        server.lets_watch_the_future = True
        await clock.advance(30)
        assert target.calls[-1] == "replace web at 11"

        await clock.advance(40)

        assert target.calls[-1] == "replace  at 3"
        assert [type(error).__name__ for error in reported] == ["VersionWentBack"]


async def test_a_server_that_returns_with_new_events_is_not_probed(
    server: ModelServer, clock: ManualClock
) -> None:
    """CCH-C18: no list after a refused connection."""
    async with running_reflector(server, clock):
        await clock.advance(60)
        server.fail(refused())
        server.cut()
        await clock.advance(1)
        server.put("web")
        await clock.advance(100)

        assert server.count("list") == 1
