"""After any failures the cache equals the server, and handlers received consistent changes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kubeloop.cache import Change, DeltaFIFO, RealFIFO, SharedInformer
from kubeloop.kit import ManualClock, TaskOwner
from tests.support.change_history import ChangeHistory, cached_versions
from tests.support.model_server import ModelServer, expired, refusal, refused, too_large
from tests.support.pumped_watch import PumpingServer

NAMES = st.sampled_from(["a", "b", "c", "d"])
FAULTS: dict[str, Callable[[], Exception]] = {
    "refused": refused,
    "expired": expired,
    "too large": too_large,
    "busy": lambda: refusal(429, "TooManyRequests"),
    "broken": lambda: refusal(500, "InternalError"),
    "unsupported": lambda: refusal(422, "Invalid"),
}
STEPS = st.one_of(
    st.tuples(st.just("put"), NAMES),
    st.tuples(st.just("put"), NAMES),
    st.tuples(st.just("delete"), NAMES),
    st.tuples(st.just("recreate"), NAMES),
    st.tuples(st.just("compact"), st.none()),
    st.tuples(st.just("cut"), st.none()),
    st.tuples(st.just("cut after"), st.integers(0, 3)),
    st.tuples(st.just("bookmark"), st.none()),
    st.tuples(st.just("fail"), st.lists(st.sampled_from(sorted(FAULTS)), max_size=3)),
    st.tuples(st.just("turns"), st.integers(1, 8)),
    st.tuples(st.just("advance"), st.sampled_from([0.0, 0.5, 2.0, 40.0])),
    st.tuples(st.just("new handler"), st.none()),
    st.tuples(st.just("streams lists"), st.booleans()),
)


async def do(step: str, what: Any, server: ModelServer, clock: ManualClock) -> None:
    plain = {"compact": server.compact, "cut": server.cut, "bookmark": server.bookmark}
    if step in plain:
        plain[step]()
        return
    match step:
        case "put":
            server.put(what)
        case "delete":
            server.delete(what)
        case "recreate":
            server.delete(what)
            server.put(what)
        case "cut after":
            server.cut_after = what
        case "fail":
            server.fail(*(FAULTS[name]() for name in what))
        case "turns":
            for _ in range(what):
                await asyncio.sleep(0)
        case "advance":
            await clock.advance(what)
        case "streams lists":
            server.streams_lists = what


def slow(history: ChangeHistory, clock: ManualClock) -> Callable[[Change[Any]], Awaitable[None]]:
    async def handle(change: Change[Any]) -> None:
        await clock.sleep(3.0)
        history(change)

    return handle


async def run_steps(steps: list[tuple[str, Any]], **options: Any) -> None:
    clock = ManualClock()
    server: ModelServer = options.pop("server", ModelServer)()
    server.page_limit = options.pop("page_limit", None)
    server.staleness = options.pop("staleness", 0)
    server.put("a")
    pods = SharedInformer(server, dict, clock=clock, **options)
    histories = [ChangeHistory(), ChangeHistory()]
    registrations = [
        pods.add_handler(on_change=histories[0]),
        pods.add_handler(on_change=slow(histories[1], clock)),
    ]
    async with TaskOwner() as tasks:
        tasks.spawn(pods.run(), name="informer")
        for step, what in steps:
            if step == "new handler":
                histories.append(ChangeHistory())
                registrations.append(pods.add_handler(on_change=histories[-1]))
            else:
                await do(step, what, server, clock)
        server.heal()
        await clock.advance(400)

        assert cached_versions(pods) == server.state()
        assert pods.has_synced
        for history in histories:
            assert history.now == server.state()
        for registration in registrations:
            assert registration.stats().failures == 0
            assert registration.has_synced
    assert asyncio.all_tasks() == {asyncio.current_task()}


@given(steps=st.lists(STEPS, max_size=25))
def test_after_any_failure_the_cache_equals_the_server_and_changes_are_consistent(
    steps: list[tuple[str, Any]],
) -> None:
    """X-1, X-2, CCH-77, CCH-C12, CCH-C13: the main guarantee."""
    asyncio.run(run_steps(steps))


# The slow handler receives a delete of an object it never received: `compact` hid the creation.
UNSEEN_RECREATION = [
    ("put", "b"),
    ("advance", 0.0),
    ("put", "a"),
    ("delete", "b"),
    ("compact", None),
    ("put", "b"),
    ("advance", 2.0),
    ("delete", "b"),
]


@given(steps=st.lists(STEPS, max_size=25))
@example(steps=UNSEEN_RECREATION)
def test_the_same_holds_for_handlers_that_are_hopelessly_behind(
    steps: list[tuple[str, Any]],
) -> None:
    asyncio.run(run_steps(steps, backlog=1))


@given(steps=st.lists(STEPS, max_size=25), page=st.integers(1, 3), stale=st.integers(0, 3))
def test_the_same_holds_for_lists_in_small_pages_and_of_old_states(
    steps: list[tuple[str, Any]], page: int, stale: int
) -> None:
    asyncio.run(run_steps(steps, page_limit=page, staleness=stale))


@given(steps=st.lists(STEPS, max_size=25))
def test_the_same_holds_for_watches_that_are_pumped(steps: list[tuple[str, Any]]) -> None:
    asyncio.run(run_steps(steps, server=PumpingServer))


@pytest.mark.parametrize(
    "queue",
    [DeltaFIFO, RealFIFO],
    ids=["DeltaFIFO", "RealFIFO, not atomic"],
)
def test_the_same_holds_for_every_delta_queue(queue: Callable[[Any], Any]) -> None:
    @given(steps=st.lists(STEPS, max_size=25))
    def check(steps: list[tuple[str, Any]]) -> None:
        asyncio.run(run_steps(steps, queue=queue))

    check()


@given(steps=st.lists(STEPS, max_size=12), turns=st.integers(0, 60))
def test_cancelled_at_any_moment_it_leaves_nothing_running(
    steps: list[tuple[str, Any]], turns: int
) -> None:
    """X-7, CCH-73, CCH-83: no task is left."""

    async def check() -> None:
        clock, server = ManualClock(), ModelServer()
        for name in "abc":
            server.put(name)
        pods = SharedInformer(server, dict, clock=clock)
        pods.add_handler(on_change=slow(ChangeHistory(), clock))
        task = asyncio.create_task(pods.run())
        for step, what in steps:
            if step != "new handler":
                await do(step, what, server, clock)
        for _ in range(turns):
            await asyncio.sleep(0)

        task.cancel()
        await asyncio.wait([task])

        assert task.cancelled()
        assert asyncio.all_tasks() == {asyncio.current_task()}
        assert server.open_watches == 0

    asyncio.run(check())
