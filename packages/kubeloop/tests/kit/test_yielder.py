"""Yielding to the event loop between the steps of long work."""

from __future__ import annotations

import asyncio
import time

import pytest

from kubeloop.kit import MAX_BLOCK, TaskOwner, TimeBudget, Yielder


def block_the_loop(seconds: float = 2 * MAX_BLOCK) -> None:
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        pass


class SetClock:
    seconds = 100.0

    def now(self) -> float:
        return self.seconds


async def test_a_yielder_is_due_once_the_loop_was_blocked_since_it_was_last_asked() -> None:
    yielder = Yielder()
    await yielder.yield_to_loop()
    block_the_loop()

    assert yielder.is_due()


async def test_a_new_yielder_counts_from_its_creation() -> None:
    yielder = Yielder()
    block_the_loop()

    assert yielder.is_due()


async def test_a_yielder_that_does_not_start_at_once_counts_from_the_first_question() -> None:
    yielder = Yielder(starts_now=False)
    block_the_loop()

    assert not yielder.is_due()
    block_the_loop()
    assert yielder.is_due()


async def test_time_in_which_the_loop_ran_other_tasks_does_not_count() -> None:
    yielder = Yielder()
    await yielder.yield_to_loop()
    asyncio.get_running_loop().call_soon(block_the_loop)  # another task
    await asyncio.sleep(0)

    assert not yielder.is_due()


async def test_after_a_long_wait_a_new_slice_starts() -> None:
    clock = SetClock()
    yielder = Yielder(clock.now)
    await yielder.yield_to_loop()
    await asyncio.sleep(0)
    clock.seconds += 10.0

    assert not yielder.is_due()
    clock.seconds += 0.9 * MAX_BLOCK
    assert not yielder.is_due()
    clock.seconds += 0.2 * MAX_BLOCK
    assert yielder.is_due()


async def test_yielding_lets_every_other_task_run_once() -> None:
    ran: list[str] = []
    asyncio.get_running_loop().call_soon(ran.append, "other")
    await Yielder().yield_to_loop()

    assert ran == ["other"]


async def test_yielding_costs_no_iteration_of_the_loop_when_it_has_just_run() -> None:
    ran: list[str] = []
    yielder = Yielder()
    await yielder.yield_to_loop()
    await asyncio.sleep(0)
    asyncio.get_running_loop().call_soon(ran.append, "other")
    await yielder.yield_to_loop()

    assert ran == []


async def test_a_caller_may_bound_the_slice_tighter() -> None:
    clock = SetClock()
    yielder = Yielder(clock.now)
    clock.seconds += 0.5 * MAX_BLOCK

    assert not yielder.is_due()
    assert yielder.is_due(0.4 * MAX_BLOCK)


async def test_many_tasks_share_the_time_for_which_the_loop_may_be_blocked() -> None:
    done, workers = 0, 40

    async def work() -> None:
        nonlocal done
        yielder = Yielder()
        while True:
            block_the_loop(MAX_BLOCK / 10)
            done += 1
            if yielder.is_due():
                await yielder.yield_to_loop()

    async with TaskOwner() as tasks:
        for number in range(workers):
            tasks.spawn(work(), name=f"worker {number}")
        await asyncio.sleep(0)  # in their first slice they do not know of each other
        for _ in range(5):
            before = done
            await asyncio.sleep(0)

            assert done - before <= 3 * workers  # not ten of each


async def test_tasks_with_one_yielder_share_its_slice() -> None:
    yielder = Yielder()
    done, workers = 0, 8

    async def work() -> None:
        nonlocal done
        while True:
            block_the_loop(MAX_BLOCK / 10)
            done += 1
            if yielder.is_due():
                await yielder.yield_to_loop()

    async with TaskOwner() as tasks:
        for number in range(workers):
            tasks.spawn(work(), name=f"worker {number}")
        for _ in range(5):
            before = done
            await asyncio.sleep(0)

            assert done - before <= 10 + 2 * workers  # one slice, and a step of each


# --- budgets of callbacks


async def test_a_budget_is_for_all_callbacks_of_one_iteration_together() -> None:
    budget = TimeBudget()
    budget.begin()
    block_the_loop(0.7 * MAX_BLOCK)
    budget.end()

    until = budget.begin()

    assert until - time.perf_counter() < 0.4 * MAX_BLOCK


async def test_a_budget_is_whole_again_when_the_loop_has_run() -> None:
    budget = TimeBudget()
    for finish in (budget.end, budget.pause):
        budget.begin()
        block_the_loop(0.7 * MAX_BLOCK)
        finish()
        await asyncio.sleep(0)
        await asyncio.sleep(0)

        assert budget.begin() - time.perf_counter() > 0.7 * MAX_BLOCK


async def test_short_callbacks_cost_no_iteration_of_the_loop() -> None:
    budget = TimeBudget()
    budget.begin()
    scheduled: list[object] = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(asyncio.get_running_loop(), "call_soon", scheduled.append)
        budget.end()

    assert scheduled == []


async def test_callbacks_that_paused_share_the_time_with_others() -> None:
    budgets = [TimeBudget() for _ in range(40)]
    for budget in budgets:
        budget.begin()
        budget.pause()

    assert TimeBudget().begin() - time.perf_counter() < MAX_BLOCK / 5
    await asyncio.sleep(0)
    assert TimeBudget().begin() - time.perf_counter() > MAX_BLOCK / 2
