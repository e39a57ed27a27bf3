"""A watch that passes its events on in the callback that received them: `pump`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.cache import EntryCodec, EntryDecoder, Reflector, SharedInformer
from kubeloop.cache.list_watch import ApplyEvents, SplitEvent
from kubeloop.errors import StreamBroken
from kubeloop.kit import MAX_BLOCK, ManualClock, TaskOwner
from kubeloop.meta import ObjectKey
from kubeloop.wire import RawEvent
from kubeloop.workqueue import PriorityQueue
from tests.cache.objects import block_loop
from tests.cache.reflector_harness import RecordingTarget, running_reflector
from tests.support.model_server import INITIAL_END, ModelServer, bookmark_of, event, refusal
from tests.support.pumped_watch import PushedWatch


def pod_event(kind: str, name: str, version: int) -> RawEvent:
    metadata = {"name": name, "namespace": "shop", "uid": name, "resourceVersion": str(version)}
    return event(kind, {"kind": "Pod", "apiVersion": "v1", "metadata": metadata})


class PushedServer(ModelServer):
    """A server whose watches a test pushes events into; the last one is `watches[-1]`."""

    def __init__(self, *, streams_lists: bool = False) -> None:
        super().__init__(streams_lists=streams_lists)
        self.watches: list[PushedWatch] = []

    def watch(self, **_: Any) -> Any:  # not an iterator, as that of a model server
        self.watches.append(PushedWatch())
        return self.watches[-1]


@pytest.fixture
def pushed() -> PushedServer:
    return PushedServer()


# --- the path of an event


async def test_store_plain_handler_and_work_queue_have_an_event_when_its_callback_returns(
    pushed: PushedServer, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a busy machine the time budget of a callback may end between two events.
    for module in ("kubeloop.cache.reflector", "kubeloop.kit.yielder"):
        monkeypatch.setattr(f"{module}.perf_counter", lambda: 0.0)
    queue: PriorityQueue[ObjectKey] = PriorityQueue(clock=clock)
    notified: list[str] = []
    async with SharedInformer(pushed, dict, clock=clock) as pods:
        pods.add_key_handler(queue.add)
        pods.add_handler(on_add=lambda pod: notified.append(pod["metadata"]["name"]))
        await clock.settle()

        pushed.watches[0].receive(pod_event("ADDED", "a", 11), pod_event("ADDED", "b", 12))

        assert notified == ["a", "b"]
        assert [queue.get_nowait(), queue.get_nowait()] == [
            ObjectKey("shop", "a"),
            ObjectKey("shop", "b"),
        ]
        assert pods.lister.get("b", namespace="shop") is not None
        assert pods.last_sync_version == "12"


async def test_the_state_of_a_stream_reaches_the_target_when_its_callback_returns(
    clock: ManualClock,
) -> None:
    """CCH-65: what follows the bookmark in the same bytes is applied after the state."""
    server = PushedServer(streams_lists=True)
    async with running_reflector(server, clock) as (reflector, target):
        (watch,) = server.watches
        watch.receive(pod_event("ADDED", "a", 11))
        assert target.calls == []

        watch.receive(
            pod_event("ADDED", "b", 12),
            event("BOOKMARK", bookmark_of(12, INITIAL_END)),
            pod_event("DELETED", "a", 13),
        )

        assert target.calls == ["replace a,b at 12", "delete a"]
        assert reflector.last_sync_version == "13"
        assert len(server.watches) == 1


async def test_a_stream_waits_until_its_state_was_compared_with_a_list(clock: ManualClock) -> None:
    server = PushedServer(streams_lists=True)
    server.put("a")
    async with running_reflector(server, clock, check_consistency=True) as (_, target):
        (watch,) = server.watches
        watch.receive(
            pod_event("ADDED", "a", 11),
            event("BOOKMARK", bookmark_of(11, INITIAL_END)),
            pod_event("ADDED", "b", 12),
        )
        assert target.calls == []

        await clock.settle()

        assert target.calls == ["replace a at 11", "add b"]


async def test_resyncs_begin_with_the_state_of_a_stream(clock: ManualClock) -> None:
    server = PushedServer(streams_lists=True)
    async with running_reflector(server, clock, resync=5.0) as (_, target):
        await clock.advance(7.0)
        assert target.calls == []
        server.watches[0].receive(event("BOOKMARK", bookmark_of(11, INITIAL_END)))

        await clock.advance(4.9)
        assert target.calls == ["replace  at 11"]
        await clock.advance(0.2)

        assert target.calls == ["replace  at 11", "resync"]


# --- time and backpressure


async def test_a_long_piece_is_applied_in_slices_between_which_the_loop_runs(
    pushed: PushedServer, clock: ManualClock
) -> None:
    names: list[str] = []
    seen: list[int] = []

    def slow(key: ObjectKey) -> None:
        block_loop(MAX_BLOCK)
        names.append(key.name)

    async with SharedInformer(pushed, dict, clock=clock) as pods:
        pods.add_key_handler(slow)
        await clock.settle()

        pushed.watches[0].receive(*(pod_event("ADDED", f"p{n}", 11 + n) for n in range(4)))
        while len(names) < 4:
            seen.append(len(names))
            await asyncio.sleep(0)

        assert seen == [1, 2, 3]
        assert names == ["p0", "p1", "p2", "p3"]


async def test_nothing_more_is_applied_while_the_target_has_enough(
    pushed: PushedServer, clock: ManualClock
) -> None:
    is_full = True
    async with running_reflector(pushed, clock, is_full=lambda: is_full) as (_, target):
        (watch,) = pushed.watches
        watch.receive(pod_event("ADDED", "a", 11))
        watch.receive(pod_event("ADDED", "b", 12))
        await clock.settle()
        assert target.calls[1:] == ["add a"]

        is_full = False
        await clock.settle()

        assert target.calls[1:] == ["add a", "add b"]


# --- the end of a watch


async def test_events_before_an_error_are_applied_and_the_watch_is_opened_again_after_them(
    pushed: PushedServer, clock: ManualClock
) -> None:
    async with running_reflector(pushed, clock) as (reflector, target):
        (watch,) = pushed.watches
        watch.receive(pod_event("ADDED", "a", 11))
        watch.end(StreamBroken("the connection broke"))
        await clock.settle()

        assert target.calls[1:] == ["add a"]
        assert watch.is_closed
        assert len(pushed.watches) == 2
        assert reflector.last_sync_version == "11"


async def test_an_error_event_ends_the_watch(pushed: PushedServer, clock: ManualClock) -> None:
    """CCH-59: and what follows it in the same bytes is not applied."""
    async with running_reflector(pushed, clock) as (_, target):
        (watch,) = pushed.watches
        gone = {"kind": "Status", "apiVersion": "v1", "code": 410, "reason": "Expired"}
        watch.receive(
            pod_event("ADDED", "a", 11), event("ERROR", gone), pod_event("ADDED", "b", 12)
        )
        await clock.settle()

        assert target.calls[1:] == ["add a"]
        assert watch.is_closed


async def test_a_watch_that_the_server_does_not_end_is_closed(
    pushed: PushedServer, clock: ManualClock
) -> None:
    async with running_reflector(pushed, clock):
        await clock.advance(300.0 + 29.0)
        assert len(pushed.watches) == 1

        await clock.advance(2.0)

        assert len(pushed.watches) == 2
        assert pushed.watches[0].is_closed


@pytest.mark.parametrize("streams_lists", [False, True], ids=["watch", "stream"])
@pytest.mark.parametrize("is_full", [False, True], ids=["waiting", "paused"])
async def test_a_cancelled_reflector_closes_its_watch_and_applies_nothing_more(
    streams_lists: bool, is_full: bool, clock: ManualClock
) -> None:
    server = PushedServer(streams_lists=streams_lists)
    async with running_reflector(server, clock, is_full=lambda: is_full) as (_, target):
        (watch,) = server.watches
        watch.receive(pod_event("ADDED", "a", 11))

    calls = list(target.calls)
    watch.receive(pod_event("ADDED", "b", 12))
    await clock.settle()

    assert watch.is_closed
    assert target.calls == calls
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_stream_that_ends_before_its_bookmark_is_an_error_and_requested_again(
    clock: ManualClock,
) -> None:
    """CCH-67."""
    server = PushedServer(streams_lists=True)
    async with running_reflector(server, clock) as (reflector, target):
        server.watches[0].receive(pod_event("ADDED", "a", 11))
        server.watches[0].end()
        await clock.advance(5.0)

        assert target.calls == []
        assert len(server.watches) == 2
        assert "ended after 1 events" in reflector.stats().last_error


async def test_a_stream_whose_server_refuses_it_leads_to_a_list(clock: ManualClock) -> None:
    server = PushedServer(streams_lists=True)
    async with running_reflector(server, clock) as (_, target):
        server.watches[0].end(refusal(422, "Invalid"))
        await clock.settle()

        assert target.calls == ["replace  at 10"]


# --- the same as batches


class BatchWatch:
    """The pieces as batches."""

    def __init__(self, pieces: list[list[RawEvent]]) -> None:
        self._pieces = list(pieces)

    async def open(self) -> bool:
        return False

    async def pump(self, apply: ApplyEvents, split: SplitEvent) -> None:
        for piece in self._pieces:
            events = iter(piece)
            while not apply(events):
                await asyncio.sleep(0)
        await asyncio.get_running_loop().create_future()

    async def aclose(self) -> None:
        """It ends by itself."""


NAMES = st.sampled_from(["a", "b", "c"])
KINDS = st.sampled_from(["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"])
PIECES = st.lists(st.lists(st.tuples(KINDS, NAMES), min_size=1, max_size=6), max_size=6)


def events_of(pieces: list[list[tuple[str, str]]], *, streams: bool) -> list[list[RawEvent]]:
    """The pieces as events; with `streams` the middle of them completes the initial state."""
    version = 10
    found: list[list[RawEvent]] = []
    for kinds in pieces:
        piece: list[RawEvent] = []
        for kind, name in kinds:
            version += 1
            if kind == "BOOKMARK":
                piece.append(event("BOOKMARK", bookmark_of(version)))
            elif kind == "ERROR":
                status = {"kind": "Status", "code": 500, "reason": "InternalError"}
                piece.append(event("ERROR", status))
            else:
                piece.append(pod_event(kind, name, version))
        found.append(piece)
    if streams and found:
        middle = found[len(found) // 2]
        middle.insert(len(middle) // 2, event("BOOKMARK", bookmark_of(version, INITIAL_END)))
    return found


@asynccontextmanager
async def reflecting(
    server: ModelServer, is_full: Callable[[], bool]
) -> AsyncIterator[tuple[RecordingTarget, Reflector]]:
    clock, target = ManualClock(), RecordingTarget()
    decoder = EntryDecoder(EntryCodec(dict), kind="Pod")
    reflector = Reflector(server, target, decoder, clock=clock, is_full=is_full)
    async with TaskOwner() as tasks:
        tasks.spawn(reflector.run(), name="reflector")
        await clock.settle()
        yield target, reflector


async def target_calls_of(server: ModelServer, receive: Callable[[], None]) -> tuple[Any, ...]:
    full = iter([True, False, False, True, True])
    async with reflecting(server, lambda: next(full, False)) as (target, reflector):
        receive()
        for _ in range(200):
            await asyncio.sleep(0)
        stats = reflector.stats()
        return target.calls, reflector.last_sync_version, stats.events, stats.errors


@given(pieces=PIECES, streams=st.booleans(), budget=st.sampled_from([0.0, MAX_BLOCK]))
def test_the_target_receives_the_same_as_with_batches(
    pieces: list[list[tuple[str, str]]], streams: bool, budget: float
) -> None:
    """Whatever the pieces, and wherever the time is used up or the target has enough."""
    found = events_of(pieces, streams=streams)

    async def pumped() -> tuple[Any, ...]:
        server = PushedServer(streams_lists=streams)

        def receive() -> None:
            for piece in found:
                server.watches[0].receive(*piece)

        with patch("kubeloop.kit.yielder.MAX_BLOCK", budget):
            return await target_calls_of(server, receive)

    async def batched() -> tuple[Any, ...]:
        unread = list(found)

        class Batched(ModelServer):
            def watch(self, **_: Any) -> Any:
                pieces = unread[:]
                unread.clear()
                return BatchWatch(pieces)

        server = Batched(streams_lists=streams)
        return await target_calls_of(server, lambda: None)

    assert asyncio.run(pumped()) == asyncio.run(batched())
