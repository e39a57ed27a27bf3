"""Handlers: order, late handlers, failures, filters, resync, slow handlers (CCH-45, CCH-77 to CCH-85)."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from kubeloop.cache import Change, SharedInformer
from kubeloop.kit import ManualClock
from kubeloop.meta import ObjectKey
from tests.support.change_history import ChangeHistory
from tests.support.model_server import ModelServer

Pod = dict[str, Any]


@pytest.fixture
def pods(server: ModelServer, clock: ManualClock) -> SharedInformer[Pod]:
    return SharedInformer(server, dict, clock=clock, resync=0.0)


def note(lines: list[str]) -> Callable[[Change[Pod]], None]:
    def handle(change: Change[Pod]) -> None:
        initial = " at first" if change.is_initial else ""
        again = " again" if change.is_resync else ""
        lines.append(f"{change.type} {change.key.name}{initial}{again}")

    return handle


async def test_an_early_handler_receives_the_first_list_and_every_change(
    server: ModelServer, clock: ManualClock, pods: SharedInformer[Pod]
) -> None:
    """CCH-77, CCH-29: in order."""
    server.put("a")
    lines: list[str] = []
    registration = pods.add_handler(on_change=note(lines))
    async with pods:
        server.put("a")
        server.put("b")
        server.delete("a")
        await clock.settle()

        assert lines == ["Added a at first", "Updated a", "Added b", "Deleted a"]
        assert registration.has_synced


async def test_a_late_handler_first_receives_the_cached_objects(
    server: ModelServer, clock: ManualClock, pods: SharedInformer[Pod]
) -> None:
    """CCH-77, CCH-C27: its has_synced waits until its calls have returned."""
    server.put("a")
    lines: list[str] = []
    go_on = asyncio.Event()

    async def slow(change: Change[Pod]) -> None:
        await go_on.wait()
        note(lines)(change)

    async with pods:
        late = pods.add_handler(on_change=slow)
        server.put("b")
        await clock.settle()
        assert not late.has_synced
        assert pods.has_synced

        go_on.set()
        await late.wait_synced(timeout=1)

        assert lines[0] == "Added a at first"
        await clock.settle()
        assert lines == ["Added a at first", "Added b"]


async def test_functions_may_be_synchronous_or_async_and_may_be_missing(
    server: ModelServer, clock: ManualClock, pods: SharedInformer[Pod]
) -> None:
    """CCH-46: a missing function ignores its changes."""
    received: list[str] = []

    async def on_update(old: Pod, new: Pod) -> None:
        await asyncio.sleep(0)
        received.append(
            f"{old['metadata']['resourceVersion']}>{new['metadata']['resourceVersion']}"
        )

    pods.add_handler(on_add=lambda pod: received.append(pod["metadata"]["name"]))
    pods.add_handler(on_update=on_update)
    async with pods:
        server.put("a")
        server.put("a")
        server.delete("a")
        await clock.settle()

        assert received == ["a", "11>12"]


async def test_a_handler_that_fails_is_logged_with_the_key_and_the_others_continue(
    server: ModelServer,
    clock: ManualClock,
    pods: SharedInformer[Pod],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """CCH-80: a failure is logged."""
    server.put("a")
    lines: list[str] = []

    def fail(pod: Pod) -> None:
        raise ValueError("no")

    failing = pods.add_handler(on_add=fail, name="failing")
    pods.add_handler(on_change=note(lines))
    async with pods:
        server.put("b")
        await clock.settle()

        assert lines == ["Added a at first", "Added b"]
        assert failing.stats().failures == 2
        assert failing.has_synced
        assert "shop/a: handler failing failed" in caplog.text


async def test_a_slow_handler_does_not_delay_others(
    server: ModelServer, clock: ManualClock, pods: SharedInformer[Pod]
) -> None:
    """CCH-C30, CCH-C37, CCH-78, CCH-79: each handler has its backlog."""
    server.put("a")
    lines: list[str] = []

    async def never(change: Change[Pod]) -> None:
        await asyncio.Event().wait()

    stuck = pods.add_handler(on_change=never)
    quick = pods.add_handler(on_change=note(lines))
    async with pods:
        server.put("b")
        await clock.settle()

        assert pods.has_synced
        assert lines == ["Added a at first", "Added b"]
        assert quick.has_synced
        assert not stuck.has_synced
        assert stuck.stats().backlog == 1


async def test_a_synchronous_handler_receives_every_change_at_any_speed(
    server: ModelServer, clock: ManualClock
) -> None:
    """CCH-29, CCH-78: it is called as soon as the change is in the store."""
    server.put("a")
    pods: SharedInformer[Pod] = SharedInformer(server, dict, clock=clock, backlog=2)
    versions: list[str] = []

    def handle(old: Pod, new: Pod) -> None:
        versions.append(new["metadata"]["resourceVersion"])
        assert pods.lister.get("a", namespace="shop") == new

    registration = pods.add_handler(on_update=handle)
    async with pods:
        expected = [server.put("a") for _ in range(3000)]
        await clock.settle()

        assert versions == expected
        assert registration.stats().merged == 0
        assert registration.stats().failures == 0


async def test_a_busy_handler_with_a_long_backlog_slows_the_reflector_down(
    server: ModelServer, clock: ManualClock
) -> None:
    """CCH-78: a late handler receives the cached objects, and each change since."""
    for serial in range(100):
        server.put(f"pod-{serial}")
    pods: SharedInformer[Pod] = SharedInformer(server, dict, clock=clock, backlog=8)
    lines: list[str] = []
    async with pods:
        late = pods.add_handler(on_change=note(lines))
        for _ in range(50):
            server.put("pod-0")
        await clock.settle()

        assert lines[100:] == ["Updated pod-0"] * 50
        assert late.stats().merged == 0


async def test_the_awaitable_of_a_synchronous_handler_is_awaited_before_the_next_change(
    server: ModelServer, clock: ManualClock, pods: SharedInformer[Pod]
) -> None:
    lines: list[str] = []
    go_on = asyncio.Event()

    async def later(name: str) -> None:
        await go_on.wait()
        lines.append(f"later {name}")

    def handle(change: Change[Pod]) -> object:
        lines.append(change.key.name)
        return later(change.key.name) if change.key.name == "b" else None

    registration = pods.add_handler(on_change=handle)
    async with pods:
        for name in "abc":
            server.put(name)
        await clock.settle()
        assert lines == ["a", "b"]
        assert registration.stats().backlog == 1

        go_on.set()
        await clock.settle()
        server.put("d")
        await clock.settle()

        assert lines == ["a", "b", "later b", "c", "d"]


async def test_a_synchronous_handler_may_remove_itself(
    server: ModelServer, clock: ManualClock, pods: SharedInformer[Pod]
) -> None:
    """CCH-81: from inside its call."""
    server.put("a")
    server.put("b")
    received: list[ObjectKey] = []

    def once(key: ObjectKey) -> None:
        received.append(key)
        registration.remove()

    registration = pods.add_key_handler(once)
    async with pods:
        server.put("c")
        await clock.settle()

        assert [key.name for key in received] == ["a"]


async def test_a_call_that_was_not_awaited_is_dropped_with_its_handler(
    server: ModelServer, clock: ManualClock, pods: SharedInformer[Pod]
) -> None:
    """CCH-81: the async function was called, and none of its code has run."""
    received: list[str] = []

    async def handle(pod: Pod) -> None:
        received.append(pod["metadata"]["name"])

    registration = pods.add_handler(on_add=handle)
    async with pods:
        pods.add_key_handler(lambda _: registration.remove())
        await clock.settle()
        server.put("a")
        await clock.settle()

        assert received == []


async def test_a_handler_that_is_far_behind_is_logged_and_its_changes_are_merged(
    server: ModelServer, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    pods: SharedInformer[Pod] = SharedInformer(server, dict, clock=clock, backlog=2)
    history = ChangeHistory()
    go_on = asyncio.Event()

    async def slow(change: Change[Pod]) -> None:
        await go_on.wait()
        history(change)

    registration = pods.add_handler(on_change=slow, name="slow")
    async with pods:
        for _ in range(1000):
            server.put("a")
            server.put("b")
        with caplog.at_level(logging.WARNING):
            await clock.settle()

        assert registration.stats().backlog <= 2 + 2 * 2
        assert registration.stats().merged > 1900
        assert len([r for r in caplog.records if "slow is" in r.getMessage()]) == 1

        go_on.set()
        await clock.settle()
        assert history.now == server.state()
        assert registration.stats().failures == 0


async def test_the_same_function_may_be_registered_twice(
    server: ModelServer, clock: ManualClock, pods: SharedInformer[Pod]
) -> None:
    """CCH-82: as two handlers."""
    lines: list[str] = []
    handle = note(lines)
    pods.add_handler(on_change=handle)
    pods.add_handler(on_change=handle)
    async with pods:
        server.put("a")
        await clock.settle()

        assert lines == ["Added a", "Added a"]


async def test_a_removed_handler_receives_nothing_more(
    server: ModelServer, clock: ManualClock, pods: SharedInformer[Pod]
) -> None:
    """CCH-81, CCH-C28, X-6: removing is idempotent, and frees the backlog."""
    lines: list[str] = []
    registration = pods.add_handler(on_change=note(lines))
    async with pods:
        server.put("a")
        registration.remove()
        registration.remove()
        await registration.aclose()
        await clock.settle()

        assert lines == []
        assert pods.stats().handlers == ()


async def test_aclose_waits_for_the_running_call(
    server: ModelServer, clock: ManualClock, pods: SharedInformer[Pod]
) -> None:
    """CCH-81: a running call completes."""
    server.put("a")
    server.put("b")
    go_on, ended = asyncio.Event(), []

    async def slow(pod: Pod) -> None:
        await go_on.wait()
        ended.append(pod["metadata"]["name"])

    registration = pods.add_handler(on_add=slow)
    async with pods:
        await clock.settle()
        closing = asyncio.create_task(registration.aclose())
        await clock.settle()
        assert not closing.done()

        go_on.set()
        await closing

        assert ended == ["a"]


async def test_a_handler_may_remove_itself(
    server: ModelServer, clock: ManualClock, pods: SharedInformer[Pod]
) -> None:
    received: list[str] = []

    async def once(pod: Pod) -> None:
        received.append(pod["metadata"]["name"])
        await registration.aclose()

    registration = pods.add_handler(on_add=once)
    async with pods:
        server.put("a")
        server.put("b")
        await clock.settle()

        assert received == ["a"]


async def test_a_filter_turns_leaving_into_a_delete_and_entering_into_an_add(
    server: ModelServer, clock: ManualClock, pods: SharedInformer[Pod]
) -> None:
    """CCH-45, CCH-C31: filtered changes are consistent."""
    lines: list[str] = []
    by_label: list[str] = []
    pods.add_handler(on_change=note(lines), where=lambda pod: pod["spec"]["nodeName"] == "node-7")
    pods.add_handler(on_change=note(by_label), selector="app=web")
    async with pods:
        server.put("a", node="node-7", app="web")
        server.put("a", node="node-7", app="web")
        server.put("a", node="node-8", app="db")
        server.put("a", node="node-8", app="db")
        server.put("a", node="node-7", app="web")
        server.delete("a")
        await clock.settle()

        assert lines == ["Added a", "Updated a", "Deleted a", "Added a", "Deleted a"]
        assert by_label == lines


async def test_keys_go_straight_into_a_queue_and_nothing_is_decoded(
    server: ModelServer, clock: ManualClock, pods: SharedInformer[Pod], monkeypatch: Any
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("decoded")

    keys: list[ObjectKey] = []
    registration = pods.add_key_handler(keys.append)
    selected: list[ObjectKey] = []
    pods.add_key_handler(selected.append, selector="app=web")
    monkeypatch.setattr(pods.indexer.codec, "decode", never)
    async with pods:
        server.put("a")
        server.put("b", app="web")
        server.delete("a")
        await clock.settle()

        assert [key.name for key in keys] == ["a", "b", "a"]
        assert [key.name for key in selected] == ["b"]
        assert registration.stats().failures == 0


# --- resync


async def test_each_handler_is_resynced_in_its_own_period(
    server: ModelServer, clock: ManualClock
) -> None:
    """CCH-C25, CCH-84, CCH-85, CCH-43: periods 0, 2 s and 3 s on an informer of 1 s."""
    server.put("a")
    pods: SharedInformer[Pod] = SharedInformer(server, dict, clock=clock, resync=1.0)
    never: list[str] = []
    two: list[str] = []
    three: list[str] = []
    for lines, period in ((never, 0.0), (two, 2.0), (three, 3.0)):
        pods.add_handler(on_change=note(lines), resync=period)
    async with pods:
        await clock.advance(2)
        assert (len(never), len(two), len(three)) == (1, 2, 1)

        await clock.advance(1)
        assert (len(never), len(two), len(three)) == (1, 2, 2)
        assert two[1] == "Updated a again"

        server.put("a")
        await clock.settle()
        assert (len(never), len(two), len(three)) == (2, 3, 3)


async def test_a_shorter_period_lowers_the_check_before_the_start_only(
    server: ModelServer, clock: ManualClock
) -> None:
    """CCH-C26, CCH-84: the check period is fixed at the start."""
    pods: SharedInformer[Pod] = SharedInformer(server, dict, clock=clock, resync=12 * 3600.0)
    first = pods.add_handler(resync=60.0)
    second = pods.add_handler(resync=55.0)
    assert (first.stats().resync, second.stats().resync) == (60.0, 55.0)
    async with pods:
        late = pods.add_handler(resync=3.0)

        assert late.stats().resync == 55.0


@pytest.mark.parametrize(
    ("informer", "requested", "effective"), [(0.0, 5.0, 0.0), (10.0, 0.2, 1.0)]
)
async def test_periods_have_bounds(
    server: ModelServer, clock: ManualClock, informer: float, requested: float, effective: float
) -> None:
    """CCH-84: none without the informer's period, and none below a second."""
    pods: SharedInformer[Pod] = SharedInformer(server, dict, clock=clock, resync=informer)

    assert pods.add_handler(resync=requested).stats().resync == effective


def no_warning(caplog: pytest.LogCaptureFixture) -> bool:
    return not [record for record in caplog.records if record.levelname == "WARNING"]


async def test_a_resync_period_on_an_informer_that_does_not_resync_is_logged_once(
    server: ModelServer, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    """CCH-84: client-go warns as well; here the warning says what to do."""
    pods: SharedInformer[Pod] = SharedInformer(server, dict, clock=clock)
    pods.add_handler()
    pods.add_handler(resync=0.0)
    assert no_warning(caplog)

    pods.add_handler(resync=0.5, name="sync-dns")

    (warning,) = caplog.messages
    assert warning == (
        "pods: resync=0.5 of sync-dns has no effect: the informer does not resync "
        "(set the resync period of the informer, too)"
    )


@pytest.mark.parametrize("has_begun", [False, True])
async def test_key_handlers_and_streams_with_a_resync_period_are_logged_as_well(
    server: ModelServer, clock: ManualClock, caplog: pytest.LogCaptureFixture, has_begun: bool
) -> None:
    pods: SharedInformer[Pod] = SharedInformer(server, dict, clock=clock)
    async with AsyncExitStack() as stack:
        if has_begun:
            await stack.enter_async_context(pods)
        pods.add_key_handler(lambda _: None, resync=60.0)
        pods.changes(resync=60.0).close()

    assert sum("has no effect" in message for message in caplog.messages) == 2


async def test_a_resync_period_on_an_informer_that_resyncs_is_not_logged(
    server: ModelServer, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    pods: SharedInformer[Pod] = SharedInformer(server, dict, clock=clock, resync=60.0)
    pods.add_handler(resync=120.0)
    pods.add_handler()

    assert no_warning(caplog)


@pytest.mark.parametrize(("resync", "again"), [(0.0, 1), (1.0, 0)])
async def test_a_relist_notifies_of_unchanged_objects_until_the_first_resync_tick(
    server: ModelServer, clock: ManualClock, resync: float, again: int
) -> None:
    """V-11, CCH-85: each tick decides."""
    server.put("a")
    lines: list[str] = []
    pods: SharedInformer[Pod] = SharedInformer(server, dict, clock=clock, resync=resync)
    pods.add_handler(on_change=note(lines), resync=0.0)
    async with pods:
        await clock.advance(1.5)
        server.say("ERROR", {"kind": "Status", "apiVersion": "v1", "code": 410, "reason": "Gone"})
        await clock.advance(2)

        assert lines == ["Added a at first"] + ["Updated a again"] * again


# --- streams


async def test_changes_can_be_read_as_a_stream(
    server: ModelServer, clock: ManualClock, pods: SharedInformer[Pod]
) -> None:
    server.put("a")
    lines: list[str] = []
    async with pods:
        stream = pods.changes()
        synced = [stream.has_synced]
        server.put("b")
        server.delete("a")
        async for change in stream:
            note(lines)(change)
            if change.new is None:
                assert change.old is not None
                break

        assert lines == ["Added a at first", "Added b", "Deleted a"]
        with pytest.raises(TimeoutError):
            async with clock.timeout(0):
                await anext(stream)
        synced.append(stream.has_synced)
        assert synced == [False, True]
        stream.close()
        with pytest.raises(StopAsyncIteration):
            await anext(stream)


async def test_objects_of_a_change_are_decoded_once_and_only_when_read(
    server: ModelServer, pods: SharedInformer[Pod]
) -> None:
    server.put("a")
    async with pods, pods.changes() as stream:
        change = await anext(stream)

        assert change.new is change.new
        assert change.new_entry is not None
        assert change.new_entry.uid == "u1"
        assert change.old is None
        assert change.old_entry is None


async def test_a_stream_ends_with_the_informer(
    server: ModelServer, clock: ManualClock, pods: SharedInformer[Pod]
) -> None:
    async def read() -> int:
        return len([change async for change in pods.changes()])

    async with pods:
        reading = asyncio.create_task(read())
        await clock.settle()

    assert await reading == 0


async def test_a_stream_without_references_is_closed(
    server: ModelServer, pods: SharedInformer[Pod]
) -> None:
    """X-6: nothing is left behind."""
    server.put("a")
    async with pods:
        async for _ in pods.changes():
            break
        gc.collect()

        assert pods.stats().handlers == ()


async def test_pending_changes_are_dropped_when_the_informer_ends(
    server: ModelServer, clock: ManualClock, pods: SharedInformer[Pod]
) -> None:
    """CCH-83: the backlog ends with the informer."""
    server.put("a")
    server.put("b")
    received: list[str] = []

    async def slow(pod: Pod) -> None:
        received.append(pod["metadata"]["name"])
        await clock.sleep(10)

    pods.add_handler(on_add=slow)
    async with pods:
        await clock.settle()

    assert received == ["a"]
    assert clock.sleepers == 0
