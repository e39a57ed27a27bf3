"""The loop thread, and the threads that wait for it."""

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

from kubeloop.blocking import BlockingInLoop, LoopClosed, Stream
from kubeloop.blocking.calls import call, in_caller_thread
from kubeloop.blocking.context import BlockingContext
from kubeloop.blocking.portal import Portal


@pytest.fixture
def portal() -> Iterator[Portal]:
    portal = Portal()
    yield portal
    portal.close()


async def the_thread() -> threading.Thread:
    return threading.current_thread()


def test_the_first_call_starts_the_thread_for_all_calls(portal: Portal) -> None:
    assert not portal.stats().running

    first, second = call(portal, the_thread), call(portal, the_thread)

    assert first is second
    assert first.daemon
    assert portal.stats().running


def test_concurrent_first_calls_start_one_thread(portal: Portal) -> None:
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


async def test_a_call_in_a_thread_with_a_running_loop_raises(portal: Portal) -> None:
    with pytest.raises(BlockingInLoop, match="await it"):
        call(portal, the_thread)

    assert await asyncio.to_thread(call, portal, the_thread) is not threading.current_thread()


def test_a_call_in_the_loop_thread_raises(portal: Portal) -> None:
    async def again() -> threading.Thread:
        return call(portal, the_thread)

    with pytest.raises(BlockingInLoop):
        call(portal, again)


def test_a_call_has_the_context_variables_of_its_caller(portal: Portal) -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable")
    variable.set("mine")

    async def read_variable() -> str:
        return variable.get()

    assert call(portal, read_variable) == "mine"


@pytest.mark.parametrize("error", [ValueError, TimeoutError, KeyboardInterrupt, SystemExit])
def test_an_error_propagates_and_the_loop_continues(
    portal: Portal, error: type[BaseException]
) -> None:
    async def fail() -> None:
        raise error("why")

    with pytest.raises(error, match="why"):
        call(portal, fail)
    assert call(portal, the_thread).is_alive()


def test_a_cancelled_error_of_a_coroutine_is_a_kubeloop_error(portal: Portal) -> None:
    async def cancel() -> None:
        raise asyncio.CancelledError

    with pytest.raises(LoopClosed):
        call(portal, cancel)


def test_an_interrupted_call_cancels_its_task_and_waits_for_it(portal: Portal) -> None:
    steps = []

    def interrupt() -> None:
        raise KeyboardInterrupt

    async def work() -> None:
        try:
            asyncio.get_running_loop().call_soon(lambda: None)
            await in_caller_thread(interrupt)()
        finally:
            await asyncio.sleep(0)
            steps.append("ended")

    with pytest.raises(KeyboardInterrupt):
        call(portal, work)

    assert steps == ["ended"]
    assert portal.stats().tasks == 0


def test_calls_after_close_raise(portal: Portal) -> None:
    call(portal, the_thread)

    portal.close()

    with pytest.raises(LoopClosed):
        call(portal, the_thread)
    assert not portal.stats().running


def test_close_closes_clients_and_cancels_tasks(portal: Portal) -> None:
    calls = []

    class Open:
        async def aclose(self) -> None:
            calls.append("closed")

    async def numbers() -> AsyncIterator[int]:
        try:
            yield 1
            await asyncio.Event().wait()
        finally:
            calls.append("left")

    async def own() -> None:
        portal.own(Open())

    call(portal, own)
    stream = Stream(portal, numbers)
    assert next(stream) == 1

    portal.close()

    assert calls == ["left", "closed"]


def test_a_task_that_ignores_cancellation_does_not_block_close(portal: Portal) -> None:
    async def ignore_cancellation() -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        await asyncio.Event().wait()

    call(portal, the_thread)
    portal.post(lambda: portal.spawn(ignore_cancellation()))

    portal.close()  # within the time limit of the test


# --- streams


def test_a_stream_has_a_bounded_buffer(portal: Portal) -> None:
    produced = []

    async def numbers() -> AsyncIterator[int]:
        for number in range(1000):
            produced.append(number)
            yield number

    stream = Stream(portal, numbers)
    next(stream)

    assert len(produced) < 200
    assert sum(stream) == sum(range(1, 1000))


def test_a_stream_returns_its_items_before_its_error(portal: Portal) -> None:
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
def interrupt_at(number: int, owner: type) -> Iterator[None]:
    """Ctrl-C at the line `number`, counted from one, of those that a class runs."""
    file, lines, before = inspect.getfile(owner), itertools.count(1), sys.gettrace()

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        # The garbage collector may finalize a stream of an earlier test at any line, and
        # Python drops what a finalizer raises.
        if frame.f_code.co_filename != file or frame.f_code.co_name == "__del__":
            return None
        if event == "line" and next(lines) == number:
            raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


def test_ctrl_c_at_any_line_of_reading_loses_no_item_and_leaves_no_task(portal: Portal) -> None:
    everything = list(range(200))  # more than the buffer

    async def numbers() -> AsyncIterator[int]:
        for number in everything:
            yield number

    for line in itertools.count(1):
        stream, read = Stream(portal, numbers), list[int]()
        try:
            with interrupt_at(line, Stream):
                while len(read) < 3:
                    read.append(next(stream))
        except KeyboardInterrupt:
            assert list(stream) in ([], everything[len(read) :])
            assert portal.stats().tasks == 0
        else:
            break  # no more lines

    assert read == [0, 1, 2]


def test_closing_a_stream_closes_its_source(portal: Portal) -> None:
    calls = []

    async def numbers() -> AsyncIterator[int]:
        try:
            while True:
                yield 1
        finally:
            calls.append("closed")

    with Stream(portal, numbers) as stream:
        next(stream)

    assert calls == ["closed"]
    assert list(stream) == []
    stream.close()


def test_a_stream_that_was_never_read_starts_no_thread(portal: Portal) -> None:
    async def numbers() -> AsyncIterator[int]:
        yield 1

    stream = Stream(portal, numbers)
    del stream

    assert not portal.stats().running


# --- contexts


def test_one_task_enters_and_exits_a_context(portal: Portal) -> None:
    tasks = []

    @contextlib.asynccontextmanager
    async def manager() -> AsyncIterator[str]:
        tasks.append(asyncio.current_task())
        try:
            async with asyncio.timeout(60):
                yield "value"
        finally:
            tasks.append(asyncio.current_task())

    with BlockingContext(portal, manager) as value:
        assert value == "value"

    assert tasks[0] is tasks[1]
    assert portal.stats().tasks == 0


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, GeneratorExit, StopIteration])
def test_a_context_receives_the_exception_of_its_block(
    portal: Portal, error: type[BaseException]
) -> None:
    seen = []

    @contextlib.asynccontextmanager
    async def manager() -> AsyncIterator[None]:
        try:
            yield
        except BaseException as raised:
            seen.append(raised)
            raise

    with pytest.raises(error), BlockingContext(portal, manager):
        raise error

    assert [type(each) for each in seen] == [error]


def test_a_context_can_suppress_or_replace_an_exception(portal: Portal) -> None:
    @contextlib.asynccontextmanager
    async def suppressing() -> AsyncIterator[None]:
        with contextlib.suppress(ValueError):
            yield

    @contextlib.asynccontextmanager
    async def replacing() -> AsyncIterator[None]:
        try:
            yield
        except ValueError as error:
            raise LookupError("instead") from error

    with BlockingContext(portal, suppressing):
        raise ValueError
    with pytest.raises(LookupError, match="instead"), BlockingContext(portal, replacing):
        raise ValueError
