"""Task owners: how tasks start, fail and are cancelled, and that none is left running."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from kubeloop.kit import (
    ManualClock,
    TaskOwner,
    cancel_and_wait,
    leaf_tasks,
    run_to_completion,
    running,
)


class Part:
    """Runs until cancelled, or fails after a while, or fails while it is cancelled."""

    def __init__(
        self,
        clock: ManualClock,
        *,
        fails_after: float | None = None,
        error: Exception | None = None,
        clean_up: float = 0,
        fails_at_end: Exception | None = None,
    ) -> None:
        self._clock = clock
        self._fails_after = fails_after
        self._error = error or LookupError("part")
        self._clean_up = clean_up
        self._fails_at_end = fails_at_end
        self.state = "new"

    async def run(self) -> None:
        self.state = "running"
        try:
            await self._clock.sleep(self._fails_after or 10_000)
            if self._fails_after:
                raise self._error
        finally:
            if self._clean_up:
                await self._clock.sleep(self._clean_up)
            self.state = "ended"
            if self._fails_at_end:
                raise self._fails_at_end

    def __repr__(self) -> str:
        return "Part()"


async def test_parts_run_while_the_block_lasts(clock: ManualClock) -> None:
    parts = [Part(clock), Part(clock)]

    async with running(*parts):
        await clock.advance(1)
        assert [part.state for part in parts] == ["running", "running"]

    assert [part.state for part in parts] == ["ended", "ended"]
    assert clock.sleepers == 0


async def test_a_part_that_fails_fails_the_block_unwrapped_with_its_cause(
    clock: ManualClock,
) -> None:
    cause = OSError("the line is dead")
    error = LookupError("part")
    error.__cause__ = cause
    failing, other = Part(clock, fails_after=1, error=error), Part(clock)

    async def block() -> None:
        async with running(failing, other):
            await clock.advance(5)
            await clock.sleep(100)

    with pytest.raises(LookupError) as caught:
        await block()

    assert caught.value is error
    assert caught.value.__cause__ is cause
    assert other.state == "ended"
    current = asyncio.current_task()
    assert current is not None
    assert current.cancelling() == 0


async def test_an_error_of_the_body_is_raised_unchanged(clock: ManualClock) -> None:
    part = Part(clock)
    error = ValueError("body")

    async def block() -> None:
        async with running(part):
            await clock.settle()
            raise error

    with pytest.raises(ValueError, match="body") as caught:
        await block()

    assert caught.value is error
    assert part.state == "ended"


async def test_several_failures_leave_in_a_group(clock: ManualClock) -> None:
    part = Part(clock, fails_at_end=LookupError("on the way out"))

    async def block() -> None:
        async with running(part):
            await clock.settle()
            raise ValueError("body")

    with pytest.raises(BaseExceptionGroup) as caught:
        await block()

    assert {type(error) for error in caught.value.exceptions} == {ValueError, LookupError}


async def test_a_part_may_come_to_its_own_end(clock: ManualClock) -> None:
    class Short:
        async def run(self) -> None:
            await clock.sleep(1)

    async with running(Short()):
        await clock.advance(2)

    assert clock.sleepers == 0


async def spawn_three(clock: ManualClock, parts: list[Part]) -> None:
    async with TaskOwner() as tasks:
        for part in parts:
            tasks.spawn(part.run(), name="part")
            await clock.sleep(1)
        await clock.sleep(100)


async def run_three(clock: ManualClock, parts: list[Part]) -> None:
    async with running(*parts):
        await clock.sleep(2)
        async with running(Part(clock, clean_up=1)):
            await clock.sleep(1)
        await clock.sleep(100)


async def clean_up_three(clock: ManualClock, parts: list[Part]) -> None:
    for part in parts:
        task = asyncio.create_task(part.run())
        try:
            await clock.sleep(1)
        finally:
            await cancel_and_wait(task)
    await clock.sleep(100)


@pytest.mark.parametrize("scenario", [spawn_three, run_three, clean_up_three])
@pytest.mark.parametrize("tick", [None, 0.25])
@pytest.mark.parametrize("turns", range(25))
async def test_cancelled_at_any_turn_the_caller_is_cancelled_and_nothing_is_left(
    clock: ManualClock,
    scenario: Callable[[ManualClock, list[Part]], Awaitable[None]],
    tick: float | None,
    turns: int,
) -> None:
    """After so many turns of the loop, or ticks of the clock: also while the parts clean up."""
    parts = [Part(clock, clean_up=0.5) for _ in range(3)]
    before = asyncio.all_tasks()

    async def block() -> None:
        await scenario(clock, parts)

    task = asyncio.create_task(block())
    for _ in range(turns):
        await (asyncio.sleep(0) if tick is None else clock.advance(tick))

    task.cancel()
    await clock.advance(10)

    assert task.cancelled()
    assert asyncio.all_tasks() == before
    assert {part.state for part in parts} <= {"new", "ended"}
    assert clock.sleepers == 0


@pytest.mark.parametrize("again", [0, 1, 2])
async def test_a_second_cancellation_does_not_leave_tasks_behind(
    clock: ManualClock, again: int
) -> None:
    part = Part(clock, clean_up=5)

    async def block() -> None:
        async with running(part):
            await clock.sleep(100)

    task = asyncio.create_task(block())
    await clock.advance(1)
    for _ in range(1 + again):
        task.cancel()
        await clock.advance(1)

    assert part.state == "running"
    await clock.advance(5)
    assert task.cancelled()
    assert part.state == "ended"


@pytest.mark.parametrize("failing", ["body", "task", "both", "on the way out"])
async def test_a_cancellation_while_a_failed_block_ends_is_raised_with_the_failure_as_its_cause(
    clock: ManualClock, failing: str
) -> None:
    """X-7: code that handles the error and continues would miss the cancellation."""
    at_end = LookupError("late") if failing in {"both", "on the way out"} else None
    parts = [Part(clock, clean_up=5, fails_at_end=at_end)]
    if failing == "task":
        parts.append(Part(clock, fails_after=1, error=LookupError("task")))
    causes: list[BaseException | None] = []

    async def block() -> None:
        async with running(*parts):
            await clock.sleep(1)
            if failing in {"body", "both"}:
                raise LookupError("body")
            await clock.sleep(0 if failing == "on the way out" else 100)

    async def goes_on_after_errors() -> None:
        while True:
            try:
                await block()
            except LookupError:
                continue
            except asyncio.CancelledError as error:
                causes.append(error.__cause__)
                raise

    task = asyncio.create_task(goes_on_after_errors())
    await clock.advance(3)
    task.cancel()
    await clock.advance(10)

    assert task.cancelled()
    wanted = ExceptionGroup if failing == "both" else LookupError
    assert [type(cause) for cause in causes] == [wanted]
    assert {part.state for part in parts} == {"ended"}


async def test_a_bound_around_a_failed_block_is_exceeded_and_no_cancellation_stays(
    clock: ManualClock,
) -> None:
    part = Part(clock, clean_up=5)

    async def fail() -> None:
        async with clock.timeout(3), running(part):
            await clock.sleep(1)
            raise LookupError("body")

    async def block() -> int:
        with pytest.raises(TimeoutError):
            await fail()
        current = asyncio.current_task()
        assert current is not None
        return current.cancelling()

    task = asyncio.create_task(block())
    await clock.advance(10)

    assert await task == 0


async def test_a_task_that_fails_on_the_way_out_leaves_no_cancellation_behind(
    clock: ManualClock,
) -> None:
    part = Part(clock, fails_at_end=LookupError("on the way out"))

    async def block() -> None:
        async with running(part):
            await clock.settle()

    with pytest.raises(LookupError):
        await block()

    current = asyncio.current_task()
    assert current is not None
    assert current.cancelling() == 0


async def test_tasks_are_cancelled_once_when_another_fails_and_can_clean_up(
    clock: ManualClock,
) -> None:
    part = Part(clock, clean_up=5)

    async def block() -> None:
        async with running(part, Part(clock, fails_after=1)):
            await clock.sleep(100)

    task = asyncio.create_task(block())
    await clock.advance(5)

    assert part.state == "running"
    await clock.advance(1)
    assert part.state == "ended"
    assert isinstance(task.exception(), LookupError)


async def test_an_owner_is_for_one_block(clock: ManualClock) -> None:
    tasks = TaskOwner()
    async with tasks:
        pass

    with pytest.raises(RuntimeError, match="one block"):
        async with tasks:
            pass


async def test_a_failure_can_be_handed_over_and_the_others_go_on(clock: ManualClock) -> None:
    failures: list[tuple[str, Exception]] = []
    error = LookupError("part")
    other = Part(clock)

    async with TaskOwner(on_failure=lambda name, error: failures.append((name, error))) as tasks:
        tasks.spawn(Part(clock, fails_after=1, error=error).run(), name="failing")
        tasks.spawn(other.run(), name="other")
        await clock.advance(5)

        assert failures == [("failing", error)]
        assert tasks.stats().running == ("other",)
        assert tasks.stats().failed == 1
    assert other.state == "ended"


async def test_a_handler_that_fails_fails_the_block(clock: ManualClock) -> None:
    def handler(name: str, error: Exception) -> None:
        raise ValueError(name) from error

    async def block() -> None:
        async with TaskOwner(on_failure=handler) as tasks:
            tasks.spawn(Part(clock, fails_after=1).run(), name="failing")
            await clock.advance(5)
            await clock.sleep(100)

    with pytest.raises(ValueError, match="failing") as caught:
        await block()

    assert isinstance(caught.value.__cause__, LookupError)


async def test_one_task_can_be_ended_while_the_block_continues(clock: ManualClock) -> None:
    parts = [Part(clock), Part(clock)]

    async with TaskOwner() as tasks:
        first = tasks.spawn(parts[0].run(), name="first")
        tasks.spawn(parts[1].run(), name="second")
        await clock.settle()

        await cancel_and_wait(first)
        await clock.settle()

        assert [part.state for part in parts] == ["ended", "running"]
        assert tasks.stats().running == ("second",)
        assert tasks.stats().cancelled == 1


async def test_stats_count_every_end(clock: ManualClock) -> None:
    async def short() -> None:
        await clock.sleep(1)

    async with TaskOwner(on_failure=lambda name, error: None) as tasks:
        tasks.spawn(short(), name="short")
        tasks.spawn(Part(clock, fails_after=1).run(), name="failing")
        tasks.spawn(Part(clock).run(), name="long")
        await clock.advance(2)
        assert tasks.stats().running == ("long",)

    stats = tasks.stats()
    assert (stats.running, stats.finished, stats.failed, stats.cancelled) == ((), 1, 1, 1)


async def test_nothing_begins_outside_of_the_block(clock: ManualClock) -> None:
    tasks = TaskOwner()
    with pytest.raises(RuntimeError, match="block is not open"):
        tasks.spawn(Part(clock).run(), name="too early")

    async with tasks:
        pass

    with pytest.raises(RuntimeError, match="block is not open"):
        tasks.spawn(Part(clock).run(), name="too late")


async def test_nothing_begins_after_a_failure_that_the_block_has_not_seen_yet(
    clock: ManualClock,
) -> None:
    refused: list[str] = []
    tasks = TaskOwner()

    async def spawn_on_the_way_out() -> None:
        try:
            await clock.sleep(100)
        finally:
            with pytest.raises(RuntimeError) as caught:
                tasks.spawn(Part(clock).run(), name="late")
            refused.append(str(caught.value))

    async def block() -> None:
        async with tasks:
            tasks.spawn(spawn_on_the_way_out(), name="spawner")
            tasks.spawn(Part(clock, fails_after=1).run(), name="failing")
            await clock.sleep(100)

    blocked = asyncio.create_task(block())
    await clock.advance(5)

    assert isinstance(blocked.exception(), LookupError)
    assert len(refused) == 1
    assert refused[0].startswith("spawn late: ")
    assert "not open" not in refused[0]  # the block had not seen the failure


async def test_work_that_never_began_is_closed(clock: ManualClock) -> None:
    """A coroutine that was never awaited causes a warning, and warnings are errors."""
    part = Part(clock)

    async with TaskOwner() as tasks:
        tasks.spawn(part.run(), name="part")

    assert part.state == "new"


async def test_an_error_of_a_cancelled_task_is_raised_where_it_is_awaited(
    clock: ManualClock,
) -> None:
    error = LookupError("on the way out")
    task = asyncio.create_task(Part(clock, fails_at_end=error).run())
    await clock.settle()

    with pytest.raises(LookupError) as caught:
        await cancel_and_wait(task)

    assert caught.value is error


async def test_a_task_that_has_ended_can_be_cancelled(clock: ManualClock) -> None:
    task = asyncio.create_task(clock.sleep(1))
    await clock.advance(1)

    await cancel_and_wait(task)

    assert task.done()
    assert not task.cancelled()


async def test_a_task_cannot_wait_for_its_own_end() -> None:
    task = asyncio.current_task()
    assert task is not None

    with pytest.raises(RuntimeError, match="its own end"):
        await cancel_and_wait(task)


async def test_the_callers_cancellation_carries_the_failure_of_what_it_awaited(
    clock: ManualClock,
) -> None:
    failure = LookupError("on the way out")
    part = asyncio.create_task(Part(clock, clean_up=2, fails_at_end=failure).run())
    await clock.settle()
    causes: list[BaseException | None] = []

    async def owner() -> None:
        try:
            await cancel_and_wait(part)
        except asyncio.CancelledError as error:
            causes.append(error.__cause__)
            raise

    caller = asyncio.create_task(owner())
    await clock.settle()
    caller.cancel()
    await clock.advance(1)
    assert not caller.done()
    await clock.advance(1)

    assert caller.cancelled()
    assert causes == [failure]


async def test_what_must_end_ends_before_the_cancellation_is_raised(clock: ManualClock) -> None:
    left: list[float] = []

    async def leave_in_order() -> str:
        await clock.sleep(3)
        left.append(clock.now())
        return "left"

    caller = asyncio.create_task(run_to_completion(leave_in_order()))
    await clock.advance(1)
    caller.cancel()
    await clock.advance(1)
    caller.cancel()
    await clock.advance(1)

    assert left == [3]
    assert caller.cancelled()


async def test_what_runs_to_its_end_gives_its_result_or_its_error(clock: ManualClock) -> None:
    async def seven() -> int:
        await clock.sleep(0)
        return 7

    async def fails() -> int:
        raise LookupError

    assert await run_to_completion(seven()) == 7
    with pytest.raises(LookupError):
        await run_to_completion(fails())


async def test_what_runs_below_a_task_can_be_found(clock: ManualClock) -> None:
    async def waits() -> None:
        await clock.sleep(100)

    async def block(tasks: TaskOwner) -> None:
        async with TaskOwner() as inner:
            inner.spawn(waits(), name="inner leaf")
            await clock.sleep(100)

    async with TaskOwner() as tasks:
        owner = tasks.spawn(block(tasks), name="block")
        tasks.spawn(waits(), name="outer leaf")
        await clock.settle()
        here = asyncio.current_task()
        assert here is not None

        assert sorted(each.get_name() for each in leaf_tasks(here)) == ["inner leaf", "outer leaf"]
        assert [each.get_name() for each in leaf_tasks(owner)] == ["inner leaf"]
    assert leaf_tasks(owner) == []
    assert leaf_tasks(here) == [here]
