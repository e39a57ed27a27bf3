"""The loop in its thread, and the threads that wait for it."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import itertools
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from types import FrameType
from typing import Any

import pytest

from kubeloop.blocking import BlockingInLoop, LoopClosed, Portal, Stream
from kubeloop.blocking.calls import call, here
from kubeloop.blocking.scope import Scope


@pytest.fixture
def portal() -> Iterator[Portal]:
    made = Portal()
    yield made
    made.end()


async def the_thread() -> threading.Thread:
    return threading.current_thread()


def test_one_thread_is_made_by_the_first_call_and_serves_all(portal: Portal) -> None:
    assert not portal.stats().running

    first, second = call(portal, the_thread), call(portal, the_thread)

    assert first is second
    assert first.daemon
    assert portal.stats().running


def test_many_first_calls_make_one_thread(portal: Portal) -> None:
    found = []
    barrier = threading.Barrier(8)

    def work() -> None:
        barrier.wait()
        found.append(call(portal, the_thread))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(set(found)) == 1


async def test_a_call_where_a_loop_runs_is_refused(portal: Portal) -> None:
    with pytest.raises(BlockingInLoop, match="await it"):
        call(portal, the_thread)

    assert await asyncio.to_thread(call, portal, the_thread) is not threading.current_thread()


def test_a_call_from_within_the_loop_itself_is_refused(portal: Portal) -> None:
    async def again() -> threading.Thread:
        return call(portal, the_thread)

    with pytest.raises(BlockingInLoop):
        call(portal, again)


def test_context_variables_are_seen_by_the_work(portal: Portal) -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable")
    variable.set("mine")

    async def look() -> str:
        return variable.get()

    assert call(portal, look) == "mine"


@pytest.mark.parametrize("error", [ValueError, TimeoutError, KeyboardInterrupt, SystemExit])
def test_what_the_work_raises_leaves_and_the_loop_lives_on(
    portal: Portal, error: type[BaseException]
) -> None:
    async def fail() -> None:
        raise error("why")

    with pytest.raises(error, match="why"):
        call(portal, fail)
    assert call(portal, the_thread).is_alive()


def test_work_that_cancels_itself_is_an_error_of_ours(portal: Portal) -> None:
    async def give_up() -> None:
        raise asyncio.CancelledError

    with pytest.raises(LoopClosed):
        call(portal, give_up)


def test_an_interrupted_wait_cancels_the_work_and_waits_for_its_end(portal: Portal) -> None:
    steps = []

    def interrupt() -> None:
        raise KeyboardInterrupt

    async def work() -> None:
        try:
            asyncio.get_running_loop().call_soon(lambda: None)
            await here(interrupt)()
        finally:
            await asyncio.sleep(0)
            steps.append("ended")

    with pytest.raises(KeyboardInterrupt):
        call(portal, work)

    assert steps == ["ended"]
    assert portal.stats().tasks == 0


def test_after_the_end_calls_are_refused(portal: Portal) -> None:
    call(portal, the_thread)

    portal.end()

    with pytest.raises(LoopClosed):
        call(portal, the_thread)
    assert not portal.stats().running


def test_the_end_closes_what_is_open_and_cancels_what_runs(portal: Portal) -> None:
    told = []

    class Open:
        async def aclose(self) -> None:
            told.append("closed")

    async def numbers() -> AsyncIterator[int]:
        try:
            yield 1
            await asyncio.Event().wait()
        finally:
            told.append("left")

    async def own() -> None:
        portal.own(Open())

    call(portal, own)
    stream = Stream(portal, numbers)
    assert next(stream) == 1

    portal.end()

    assert told == ["left", "closed"]


def test_what_does_not_end_does_not_hold_up_the_end(portal: Portal) -> None:
    async def stubborn() -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        await asyncio.Event().wait()

    call(portal, the_thread)
    portal.post(lambda: portal.spawn(stubborn()))

    portal.end()  # within the limit of a test


# --- streams


def test_a_stream_is_not_read_far_ahead(portal: Portal) -> None:
    given = []

    async def numbers() -> AsyncIterator[int]:
        for number in range(1000):
            given.append(number)
            yield number

    stream = Stream(portal, numbers)
    next(stream)

    assert len(given) < 200
    assert sum(stream) == sum(range(1, 1000))


def test_a_stream_gives_its_items_before_its_error(portal: Portal) -> None:
    async def numbers() -> AsyncIterator[int]:
        yield 1
        yield 2
        raise ValueError("why")

    stream = Stream(portal, numbers)

    assert [next(stream), next(stream)] == [1, 2]
    with pytest.raises(ValueError, match="why"):
        next(stream)
    assert list(stream) == []


@contextlib.contextmanager
def struck_at(number: int, whose: type) -> Iterator[None]:
    """Ctrl-C at one of the lines that a class runs here, counted from one; or at none."""
    file, lines, before = inspect.getfile(whose), itertools.count(1), sys.gettrace()

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename != file:
            return None
        if event == "line" and next(lines) == number:
            raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


def test_ctrl_c_at_any_line_of_reading_leaves_no_gap_and_nothing_that_runs(portal: Portal) -> None:
    everything = list(range(200))  # more than is read ahead

    async def numbers() -> AsyncIterator[int]:
        for number in everything:
            yield number

    for line in itertools.count(1):
        stream, read = Stream(portal, numbers), list[int]()
        try:
            with struck_at(line, Stream):
                while len(read) < 3:
                    read.append(next(stream))
        except KeyboardInterrupt:
            assert list(stream) in ([], everything[len(read) :])
            assert portal.stats().tasks == 0
        else:
            break  # it has no more lines

    assert read == [0, 1, 2]


def test_a_closed_stream_has_closed_its_source(portal: Portal) -> None:
    told = []

    async def numbers() -> AsyncIterator[int]:
        try:
            while True:
                yield 1
        finally:
            told.append("closed")

    with Stream(portal, numbers) as stream:
        next(stream)

    assert told == ["closed"]
    assert list(stream) == []
    stream.close()


def test_a_stream_that_was_never_read_is_closed_without_a_thread(portal: Portal) -> None:
    async def numbers() -> AsyncIterator[int]:
        yield 1

    stream = Stream(portal, numbers)
    del stream

    assert not portal.stats().running


# --- blocks


def test_a_block_is_entered_and_left_by_one_task(portal: Portal) -> None:
    tasks = []

    @contextlib.asynccontextmanager
    async def manager() -> AsyncIterator[str]:
        tasks.append(asyncio.current_task())
        try:
            async with asyncio.timeout(60):
                yield "given"
        finally:
            tasks.append(asyncio.current_task())

    with Scope(portal, manager) as value:
        assert value == "given"

    assert tasks[0] is tasks[1]
    assert portal.stats().tasks == 0


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, GeneratorExit, StopIteration])
def test_a_block_sees_what_is_raised_in_it(portal: Portal, error: type[BaseException]) -> None:
    seen = []

    @contextlib.asynccontextmanager
    async def manager() -> AsyncIterator[None]:
        try:
            yield
        except BaseException as raised:
            seen.append(raised)
            raise

    with pytest.raises(error), Scope(portal, manager):
        raise error

    assert [type(each) for each in seen] == [error]


def test_a_block_may_swallow_or_replace_what_is_raised_in_it(portal: Portal) -> None:
    @contextlib.asynccontextmanager
    async def forgiving() -> AsyncIterator[None]:
        with contextlib.suppress(ValueError):
            yield

    @contextlib.asynccontextmanager
    async def strict() -> AsyncIterator[None]:
        try:
            yield
        except ValueError as error:
            raise LookupError("instead") from error

    with Scope(portal, forgiving):
        raise ValueError
    with pytest.raises(LookupError, match="instead"), Scope(portal, strict):
        raise ValueError
