"""Running a main coroutine."""

from __future__ import annotations

import asyncio
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from kubeloop.kit import ThreadCalls, new_event_loop, run
from kubeloop.kit.running import abort_run


def test_the_main_coroutine_runs_on_uvloop_where_it_is_installed() -> None:
    async def main() -> str:
        return type(asyncio.get_running_loop()).__module__

    expected = pytest.importorskip("uvloop").__name__

    assert run(main()).partition(".")[0] == expected


def test_an_error_of_main_is_raised_and_the_loop_is_closed() -> None:
    loops: list[asyncio.AbstractEventLoop] = []

    async def main() -> None:
        loops.append(asyncio.get_running_loop())
        raise LookupError("as it came")

    with pytest.raises(LookupError, match="as it came"):
        run(main())

    assert loops[0].is_closed()


def test_without_uvloop_the_standard_loop_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "uvloop", None)

    loop = new_event_loop()

    assert type(loop).__module__.startswith("asyncio")
    loop.close()


def test_an_argument_that_is_not_a_coroutine_is_rejected() -> None:
    async def main() -> None: ...

    with pytest.raises(TypeError, match=r"it is not a coroutine \(call the async function"):
        run(main)  # type: ignore[arg-type] # the mistake


async def test_a_running_loop_is_an_error_and_main_is_closed() -> None:
    async def main() -> None: ...

    with pytest.raises(RuntimeError, match="an event loop is already running in this thread"):
        run(main())


def test_signals_are_handled_while_main_runs_and_given_back() -> None:
    async def main() -> list[object]:
        return [signal.getsignal(which) for which in (signal.SIGINT, signal.SIGTERM)]

    before = [signal.getsignal(which) for which in (signal.SIGINT, signal.SIGTERM)]

    during = run(main())

    assert not set(during) & set(before)
    assert [signal.getsignal(which) for which in (signal.SIGINT, signal.SIGTERM)] == before


def test_outside_the_main_thread_signals_are_left_alone() -> None:
    async def main() -> object:
        return signal.getsignal(signal.SIGTERM)

    with ThreadPoolExecutor() as threads:
        assert threads.submit(run, main()).result() == signal.getsignal(signal.SIGTERM)


@pytest.mark.parametrize("which", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_cancels_main_and_leaves_blocks_in_order(which: signal.Signals) -> None:
    happened: list[str] = []

    async def main() -> None:
        try:
            signal.raise_signal(which)
            await asyncio.sleep(3600)
        finally:
            await asyncio.sleep(0)
            happened.append("cleaned up")

    with pytest.raises((SystemExit, KeyboardInterrupt)) as found:
        run(main())

    assert happened == ["cleaned up"]
    if which == signal.SIGTERM:
        assert isinstance(found.value, SystemExit)
        assert found.value.code == 143
    else:
        assert isinstance(found.value, KeyboardInterrupt)


def test_an_error_after_a_second_signal_is_logged_and_does_not_change_the_exit_code(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        abort_run(signal.SIGTERM)  # as a manager does at a second signal
        raise TimeoutError("work did not end")

    with pytest.raises(SystemExit) as exit_of_run:
        run(main())

    assert exit_of_run.value.code == 143
    assert "the program ends at once, with a failure: work did not end" in caplog.text


def test_main_may_handle_a_signal_by_itself() -> None:
    async def main() -> str:
        try:
            signal.raise_signal(signal.SIGTERM)
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            return "no"
        return "yes"

    assert run(main()) == "no"


def test_threads_are_waited_for_and_return_what_they_found() -> None:
    done: list[str] = []

    async def main() -> list[int]:
        asyncio.get_running_loop().run_in_executor(None, lambda: done.append("later"))
        found = await asyncio.gather(*(asyncio.to_thread(len, "x" * n) for n in range(50)))
        with pytest.raises(ZeroDivisionError):
            await asyncio.to_thread(lambda: 1 / 0)
        return found

    assert run(main()) == list(range(50))
    assert done == ["later"]


def test_a_task_that_fails_at_the_end_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    async def fails() -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            raise LookupError("on the way out")

    async def main() -> asyncio.Task[None]:
        task = asyncio.create_task(fails())
        await asyncio.sleep(0)
        return task

    assert run(main()).done()
    assert "a task failed at the end of the program" in caplog.text


def test_threads_of_a_block_are_waited_for_although_their_callers_were_cancelled() -> None:
    async def main() -> list[str]:
        go_on, begun, seen = threading.Event(), threading.Semaphore(0), []

        def work(name: str) -> None:
            begun.release()
            go_on.wait()
            seen.append(name)

        with ThreadCalls() as calls:
            outer = asyncio.create_task(asyncio.to_thread(work, "outer"))
            with ThreadCalls():
                inner = asyncio.create_task(asyncio.to_thread(work, "inner"))
            await asyncio.sleep(0)
        await asyncio.to_thread(lambda: [begun.acquire() for _ in range(2)])  # no call of the block
        for task in (outer, inner):
            task.cancel()
        ended = asyncio.create_task(calls.wait())
        await asyncio.sleep(0)
        ended.cancel()  # put off: the threads still run
        await asyncio.sleep(0.01)
        assert not ended.done()

        go_on.set()

        with pytest.raises(asyncio.CancelledError):
            await ended
        return sorted(seen)

    assert run(main()) == ["inner", "outer"]


def test_without_threads_nothing_is_waited_for() -> None:
    async def main() -> None:
        with ThreadCalls() as calls:
            await asyncio.to_thread(int)
        await calls.wait()

    run(main())
