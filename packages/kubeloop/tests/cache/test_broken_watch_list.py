"""Servers that break streams of initial states, while lists and watches work there.

CCH-67, as corrected: every kind of broken stream leads to a list within a stated time.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.cache import SharedInformer, WatchListSupport
from kubeloop.cache.watch_list import AfterStream, StreamEnded, StreamStalled, after_failed_stream
from kubeloop.errors import ApiError, StreamBroken, api_error, failure
from kubeloop.kit import ManualClock, TaskOwner
from kubeloop.wire import RawEvent
from kubeloop.wire.meta.v1 import StatusCause
from tests.cache.reflector_harness import requests, running_reflector
from tests.support.change_history import cached_versions
from tests.support.model_server import (
    ModelServer,
    bookmark_of,
    event,
    expired,
    refusal,
    refused,
    too_large,
)

TEN_MINUTES = 600


class BrokenStreams(ModelServer):
    """Lists and watches work; `kinds` says how each stream of the initial state fails."""

    def __init__(self, *kinds: str) -> None:
        super().__init__()
        self.kinds = list(kinds)  # of its first streams; the last one repeats
        self.put("a")
        self.put("b")

    async def _events(self, at: int, *, initial: bool) -> AsyncIterator[RawEvent]:
        kind = self.kinds[0] if initial and self.kinds else "healthy"
        if initial and len(self.kinds) > 1:
            self.kinds.pop(0)
        if kind == "healthy":
            async for each in super()._events(at, initial=initial):
                yield each
            return
        if kind == "too large":
            raise too_large()
        if kind == "unsupported":
            raise refusal(422, "Invalid")
        if kind in {"no bookmark", "broken", "no end"}:
            for obj in list(self._objects.values()):
                yield event("ADDED", obj)
        if kind == "broken":
            raise StreamBroken("read: the connection broke")
        if kind in {"silent", "no end"}:
            await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("kind", "bound"),
    [
        ("empty", 0),
        ("too large", 0),
        ("unsupported", 0),
        ("no bookmark", 5),
        ("broken", 5),
        ("silent", 60),
        ("no end", 60),
    ],
)
async def test_a_broken_stream_leads_to_a_list_within_the_stated_time(
    kind: str, bound: float, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    """Seconds for one that ends or fails, a minute for one that is silent; logged once."""
    server = BrokenStreams(kind)
    with caplog.at_level(logging.INFO):
        async with running_reflector(server, clock, random=lambda: 0.99) as (reflector, target):
            await clock.advance(bound)

            assert target.calls == ["replace a,b at 12"]
            assert requests(server)[-2:] == ["list '0' limit 500", "watch 12"]
            assert reflector.stats().fallbacks == 1

            server.put("c")
            await clock.settle()
            assert target.calls[1:] == ["add c"]

    lines = [record for record in caplog.records if "WatchList" in record.getMessage()]
    assert len(lines) == 1
    assert lines[0].levelno == (logging.INFO if kind == "unsupported" else logging.WARNING)


async def test_a_stream_with_new_objects_is_never_cut(clock: ManualClock) -> None:
    """A large collection over a slow link: the bound is about silence."""

    class Slow(ModelServer):
        async def _events(self, at: int, *, initial: bool) -> Any:
            async for each in super()._events(at, initial=initial):
                await clock.sleep(50)
                yield each

    server = Slow()
    for name in "abcde":
        server.put(name)
    async with running_reflector(server, clock) as (_, target):
        await clock.advance(299)
        assert target.calls == []

        await clock.advance(1)

        assert target.calls == ["replace a,b,c,d,e at 15"]
        assert requests(server) == ["stream"]


async def test_bookmarks_and_changes_of_known_objects_do_not_keep_a_stream_alive(
    clock: ManualClock,
) -> None:
    class Chatty(ModelServer):
        async def _events(self, at: int, *, initial: bool) -> Any:
            if not initial:
                await asyncio.Event().wait()
            for version in range(1, 1000):
                yield event("ADDED", {"metadata": {"name": "a", "resourceVersion": str(version)}})
                yield event("BOOKMARK", bookmark_of(version))
                await clock.sleep(7)

    server = Chatty()
    async with running_reflector(server, clock) as (_, target):
        await clock.advance(59)
        assert target.calls == []

        await clock.advance(1)

        assert target.calls == ["replace  at 10"]


async def test_a_fault_is_remembered_for_ten_minutes_and_then_tried_again(
    clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    server = BrokenStreams("empty")
    async with running_reflector(server, clock) as (_, target):

        async def relist() -> list[str]:
            server.received.clear()
            server.compact()
            server.cut()
            server.fail(expired())
            await clock.advance(30)
            return requests(server)[1:]

        await clock.advance(30)
        assert await relist() == ["list '12' limit 0", "watch 12"]

        await clock.advance(TEN_MINUTES)
        assert (await relist())[:3] == ["stream 12", "list '12' limit 0", "watch 12"]

        server.kinds = ["healthy"]
        await clock.advance(TEN_MINUTES)
        assert await relist() == ["stream 12"]
        assert await relist() == ["stream 12"]
        assert set(target.calls) == {"replace a,b at 12"}
    assert sum("WatchList" in record.getMessage() for record in caplog.records) == 1


async def test_reflectors_that_share_their_support_learn_from_each_other(
    clock: ManualClock,
) -> None:
    support = WatchListSupport()
    first, second, other = BrokenStreams("silent"), BrokenStreams("silent"), BrokenStreams("silent")
    for each in (first, second, other):
        each.watch_list_support = support
    other.scope = type(other.scope)("websites.example.com")
    async with running_reflector(first, clock):
        await clock.advance(60)
        assert requests(first) == ["stream", "list '0' limit 500", "watch 12"]

        async with running_reflector(second, clock), running_reflector(other, clock):
            assert requests(second) == ["list '0' limit 500", "watch 12"]
            assert requests(other) == ["stream"]  # another group may be another server
            assert list(support.stats()) == [""]


@pytest.mark.parametrize(
    "error",
    [refused(), refusal(429, "TooManyRequests"), refusal(403, "Forbidden"), refusal(503)],
    ids=["refused", "429", "403", "503"],
)
async def test_an_error_that_lists_have_as_well_is_no_fault_of_streams(
    server: ModelServer, clock: ManualClock, error: Exception
) -> None:
    """But it does not keep the reflector from listing."""
    server.fail(error, error, error)
    async with running_reflector(server, clock) as (_, target):
        await clock.advance(30)

        assert target.calls
        server.fail(expired())
        server.cut()
        server.received.clear()
        await clock.advance(30)
        assert "stream 10" in requests(server)


async def test_no_fault_of_streams_is_remembered_if_the_list_fails_as_well(
    clock: ManualClock,
) -> None:
    server = BrokenStreams("empty", "healthy")
    faults = [refusal(500, "InternalError")]

    async def fail_once(**options: Any) -> Any:
        if faults:
            raise faults.pop()
        return await ModelServer.list(server, **options)

    server.list = fail_once  # type: ignore[method-assign] # only lists fail, streams are empty
    async with running_reflector(server, clock) as (_, target):
        await clock.advance(1)

        assert requests(server) == ["stream", "stream"]
        assert target.calls == ["replace a,b at 12"]


async def test_while_nothing_can_be_reached_each_round_lists_too(
    server: ModelServer, clock: ManualClock
) -> None:
    server.fail(*(refused() for _ in range(100)))
    async with running_reflector(server, clock):
        await clock.advance(120)

        verbs = [request.verb for request in server.received]
        assert verbs[:4] == ["stream", "stream", "stream", "list"]
        assert verbs[4:] == ["stream", "list"] * ((len(verbs) - 4) // 2)
        assert len(verbs) < 30


def no_event() -> ApiError:
    """The error of a watch for bytes that are no event, such as an HTML page of a gateway."""
    causes = [StatusCause(reason="ClientWatchDecoding")]
    return api_error("WATCH pods", failure("InternalError", "no event", causes=causes))


EMPTY = StreamEnded("", events=0)
CUT = StreamEnded("", events=3)


@pytest.mark.parametrize(
    ("error", "retries", "may_retry", "then"),
    [
        (EMPTY, 0, True, AfterStream.LIST_AND_REMEMBER),
        (StreamStalled(""), 0, True, AfterStream.LIST_AND_REMEMBER),
        (CUT, 0, True, AfterStream.RETRY),
        (CUT, 2, True, AfterStream.LIST_AND_REMEMBER),
        (CUT, 0, False, AfterStream.LIST),
        (refused(), 0, True, AfterStream.RETRY),
        (refused(), 2, True, AfterStream.LIST),
        (refused(), 0, False, AfterStream.LIST),
        (too_large(), 0, True, AfterStream.LIST_AND_REMEMBER),
        (refusal(422, "Invalid"), 0, True, AfterStream.LIST_AND_REMEMBER),
        (refusal(504, "Timeout"), 0, True, AfterStream.LIST_AND_REMEMBER),
        (no_event(), 0, True, AfterStream.LIST_AND_REMEMBER),
        (refusal(500, "InternalError"), 0, True, AfterStream.LIST),
        (refusal(403, "Forbidden"), 0, True, AfterStream.LIST),
        (ValueError("a bug"), 0, True, AfterStream.LIST),
    ],
)
def test_what_follows_a_failed_stream_depends_on_its_error(
    error: Exception, retries: int, may_retry: bool, then: AfterStream
) -> None:
    found = after_failed_stream(error, retries=retries, may_retry=may_retry, from_newest=True)

    assert found is then


@pytest.mark.parametrize("error", [expired(), too_large()])
def test_a_version_that_is_rejected_leads_to_a_stream_of_the_newest(error: Exception) -> None:
    found = after_failed_stream(error, retries=0, may_retry=True, from_newest=False)

    assert found is AfterStream.FROM_NEWEST


# --- any sequence of faults, then health

FAULTS: dict[str, Callable[[], Exception]] = {
    "refused": refused,
    "broken": lambda: StreamBroken("read: it broke"),
    "expired": expired,
    "too large": too_large,
    "429": lambda: refusal(429, "TooManyRequests"),
    "500": lambda: refusal(500, "InternalError"),
    "422": lambda: refusal(422, "Invalid"),
}
KINDS = ("healthy", "empty", "no bookmark", "too large", "broken", "silent", "no end")
STEPS = st.one_of(
    st.tuples(st.just("fail"), st.lists(st.sampled_from(sorted(FAULTS)), max_size=5)),
    st.tuples(st.just("streams"), st.lists(st.sampled_from(KINDS), min_size=1, max_size=3)),
    st.tuples(st.just("cut after"), st.integers(0, 2)),
    st.tuples(st.just("put"), st.sampled_from("abc")),
    st.tuples(st.just("delete"), st.sampled_from("abc")),
    st.tuples(st.just("cut"), st.none()),
    st.tuples(st.just("compact"), st.none()),
    st.tuples(st.just("advance"), st.sampled_from([0.0, 1.0, 20.0, 100.0, 700.0])),
)
# A stream that was silent at the last fault, or a backoff step and one against storms: 30 s
# each, twice that with jitter.
HEALTHY_WITHIN = 120


async def run_steps(steps: list[tuple[str, Any]]) -> None:
    clock, server = ManualClock(), BrokenStreams("healthy")
    pods = SharedInformer(server, dict, clock=clock)
    async with TaskOwner() as tasks:
        tasks.spawn(pods.run(), name="informer")
        for step, what in steps:
            match step:
                case "fail":
                    server.fail(*(FAULTS[name]() for name in what))
                case "streams":
                    server.kinds = list(what)
                case "cut after":
                    server.cut_after = what
                case "advance":
                    await clock.advance(what)
                case _:
                    getattr(server, step)(*([what] if what else []))
        server.heal()
        server.kinds = ["healthy"]
        await clock.advance(HEALTHY_WITHIN)

        assert pods.has_synced
        assert cached_versions(pods) == server.state()
        assert pods.stats().reflector.outage is None


@given(steps=st.lists(STEPS, max_size=20))
def test_after_any_faults_the_cache_equals_the_server_within_two_minutes(
    steps: list[tuple[str, Any]],
) -> None:
    asyncio.run(run_steps(steps))


async def test_a_stream_that_is_not_complete_when_its_time_is_over_is_followed_by_a_list(
    clock: ManualClock,
) -> None:
    class Endless(ModelServer):
        async def _events(self, at: int, *, initial: bool) -> AsyncIterator[RawEvent]:
            for number in range(1000 if initial else 0):
                await clock.sleep(50)
                metadata = {"name": f"pod-{number}", "resourceVersion": "1"}
                yield event("ADDED", {"metadata": metadata})
            await asyncio.Event().wait()

    server = Endless()
    async with running_reflector(server, clock, random=lambda: 0.0) as (_, target):
        await clock.advance(329)
        assert requests(server) == ["stream"]

        await clock.advance(2)

        assert requests(server) == ["stream", "list '0' limit 500", "watch 10"]
        assert target.calls == ["replace  at 10"]
