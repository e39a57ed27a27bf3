"""The initial state as a stream: WatchList (CCH-64 to CCH-70, CCH-C19 to CCH-C23)."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from kubeloop.errors import StreamBroken
from kubeloop.kit import ManualClock
from tests.cache.reflector_harness import requests, running_reflector
from tests.support.model_server import (
    INITIAL_END,
    ModelServer,
    bookmark_of,
    event,
    expired,
    refusal,
    refused,
    too_large,
)


async def test_the_state_and_the_changes_come_on_one_stream(
    server: ModelServer, clock: ManualClock
) -> None:
    """CCH-64, CCH-65, CCH-C19: one watch request, no list."""
    server.put("p1")
    server.put("p2")

    async with running_reflector(server, clock) as (reflector, target):
        assert target.calls == ["replace p1,p2 at 12"]

        server.put("p3")
        await clock.settle()

        assert target.calls[1:] == ["add p3"]
        assert requests(server) == ["stream"]
        assert reflector.last_sync_version == "13"


async def test_changes_during_the_state_are_part_of_it(clock: ManualClock) -> None:
    """CCH-66, CCH-C23: and a bookmark that does not say so does not end it."""

    class Busy(ModelServer):
        async def _events(self, at: int, *, initial: bool) -> Any:
            def pod(name: str, version: int) -> dict[str, Any]:
                metadata = {"name": name, "namespace": "shop", "resourceVersion": str(version)}
                return {"kind": "Pod", "apiVersion": "v1", "metadata": metadata}

            yield event("ADDED", pod("a", 1))
            yield event("ADDED", pod("b", 2))
            yield event("BOOKMARK", bookmark_of(3, {"k8s.io/initial-events-end": "false"}))
            yield event("MODIFIED", pod("a", 4))
            yield event("DELETED", pod("b", 5))
            yield event("BOOKMARK", bookmark_of(5))
            yield event("BOOKMARK", bookmark_of(6, INITIAL_END))
            yield event("ADDED", pod("c", 7))
            await self._changed.wait()

    async with running_reflector(Busy(), clock) as (_, target):
        assert target.calls == ["replace a at 6", "add c"]


async def test_a_server_that_does_not_stream_is_listed(
    server: ModelServer, clock: ManualClock
) -> None:
    """CCH-67, CCH-C20: one stream, then a list and a watch."""
    server.fail(refusal(422, "Invalid"))

    async with running_reflector(server, clock):
        assert requests(server) == ["stream", "list '0' limit 500", "watch 10"]


async def test_a_stream_that_breaks_is_requested_again_from_the_start(
    server: ModelServer, clock: ManualClock
) -> None:
    """CCH-67, CCH-C21: no list, and no duplicates."""
    server.put("a")
    server.put("b")
    server.cut_after = 1
    async with running_reflector(server, clock) as (_, target):
        server.heal()
        await clock.advance(0.8)

        assert requests(server) == ["stream", "stream"]
        assert target.calls == ["replace a,b at 12"]


@pytest.mark.parametrize(
    "error",
    [refused(), refusal(429, "TooManyRequests"), StreamBroken("read: it broke")],
    ids=["refused", "429", "broken"],
)
async def test_the_reflector_waits_for_an_unreachable_server(
    server: ModelServer, clock: ManualClock, error: Exception
) -> None:
    """CCH-67: a refused connection is no reason to list."""
    server.fail(error)
    async with running_reflector(server, clock):
        assert requests(server) == ["stream"]

        await clock.advance(0.8)

        assert requests(server) == ["stream", "stream"]


@pytest.mark.parametrize("error", [expired(), too_large()], ids=["expired", "too large"])
async def test_a_rejected_version_leads_to_the_newest(
    server: ModelServer, clock: ManualClock, error: Exception
) -> None:
    """CCH-67: at once, without a list."""
    async with running_reflector(server, clock):
        server.received.clear()
        server.cut()
        server.fail(error)
        await clock.advance(0.8)

        assert requests(server) == ["stream 10", "stream"]


async def test_after_a_rejected_newest_version_the_reflector_backs_off(
    server: ModelServer, clock: ManualClock
) -> None:
    server.fail(*(expired() for _ in range(50)))

    async with running_reflector(server, clock):
        await clock.advance(20)

        assert len(server.received) < 20  # five rounds: a stream and two lists each


async def test_after_the_state_a_stream_that_ends_continues_as_a_plain_watch(
    server: ModelServer, clock: ManualClock
) -> None:
    """CCH-C22: without the initial events, from the last version."""
    reported: list[Exception] = []
    async with running_reflector(server, clock, on_watch_error=reported.append):
        server.put("a")
        await clock.advance(60)
        server.cut()
        await clock.settle()
        assert requests(server) == ["stream", "watch 11"]

        await clock.advance(30)
        server.fail(expired())
        server.cut()
        await clock.settle()

        assert requests(server) == ["stream", "watch 11", "watch 11"]
        assert [type(error).__name__ for error in reported] == ["Expired"]


async def test_silence_before_the_state_is_complete_is_logged_as_a_warning(
    clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    """CCH-69: every 10 s."""

    class Silent(ModelServer):
        async def _events(self, at: int, *, initial: bool) -> Any:
            await self._changed.wait()
            yield

    with caplog.at_level(logging.WARNING):
        async with running_reflector(Silent(), clock):
            await clock.advance(25)

    silences = [record.getMessage().rpartition("for ")[2] for record in caplog.records]
    assert silences == ["10 s", "20 s"]


async def test_a_transform_that_fails_leaves_out_one_object_of_a_stream(
    server: ModelServer, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    """CCH-86, CCH-C34, CCH-70: the other objects are stored."""

    def transform(pod: dict[str, Any]) -> dict[str, Any] | None:
        return None if pod["metadata"]["name"] == "bad" else pod

    server.put("bad")
    server.put("good")
    async with running_reflector(server, clock, transform=transform) as (reflector, target):
        assert target.calls == ["replace good at 12"]
        assert reflector.stats().left_out.untransformed == 1
        assert "shop/bad" in caplog.text

        server.put("bad")
        await clock.settle()

        assert target.calls[1:] == []
        assert reflector.last_sync_version == "13"  # the version moves all the same


async def test_a_transform_that_fails_makes_a_list_fail(clock: ManualClock) -> None:
    """CCH-86, CCH-C34: the round is tried again, and the target keeps what it has."""
    server = ModelServer(streams_lists=False)
    server.put("bad")
    verdict: list[object] = [None]

    def transform(pod: dict[str, Any]) -> Any:
        return pod if verdict else None

    verdict.clear()
    async with running_reflector(server, clock, transform=transform) as (_, target):
        assert target.calls == []

        verdict.append(True)
        await clock.advance(0.8)

        assert target.calls == ["replace bad at 11"]


async def test_the_state_can_be_compared_with_a_list(
    server: ModelServer, clock: ManualClock
) -> None:
    server.put("a")

    async with running_reflector(server, clock, check_consistency=True) as (_, target):
        assert requests(server) == ["stream", "list '11' limit 0"]
        assert target.calls == ["replace a at 11"]


async def test_a_state_that_differs_from_a_list_is_not_used(clock: ManualClock) -> None:
    class Lying(ModelServer):
        async def _events(self, at: int, *, initial: bool) -> Any:
            async for each in super()._events(at, initial=initial):
                if each.type != "ADDED":
                    yield each

    server = Lying()
    server.put("a")

    async with running_reflector(server, clock, check_consistency=True) as (_, target):
        assert target.calls == ["replace a at 11"]
        assert requests(server)[:3] == ["stream", "list '11' limit 0", "list '0' limit 500"]
