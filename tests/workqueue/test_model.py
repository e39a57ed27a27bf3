"""The queues against a model that anybody can read: lists, sets and a dict of moments.

Workers come, wait, are cancelled; keys come now, later, from the loop and as if from
other threads; time passes. After every step queue and model say the same.
"""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from kubeloop.kit import ManualClock
from kubeloop.workqueue import (
    DelayingQueue,
    NotHandedOut,
    PriorityQueue,
    QueueEmpty,
    QueueShutDown,
)

keys = st.sampled_from("abcdef")
delays = st.integers(-1, 12)  # whole seconds, so that moments are exact
priorities = st.sampled_from([-100, 0, 5])


class Model:
    """What the rules say, without any care for speed."""

    def __init__(self) -> None:
        self.now = 0
        self.queue: list[str] = []
        self.dirty: set[str] = set()
        self.working: set[str] = set()
        self.later: dict[str, tuple[int, int]] = {}  # moment, and who asked first
        self.asked = 0
        self.open = True

    def add(self, key: str) -> None:
        if self.open and key not in self.dirty:
            self.dirty.add(key)
            if key not in self.working:
                self.queue.append(key)

    def add_later(self, key: str, after: int) -> None:
        if after <= 0:
            self.add(key)
        elif self.open and (key not in self.later or self.later[key][0] > self.now + after):
            self.asked += 1
            self.later[key] = (self.now + after, self.asked)

    def hand_out(self, key: str) -> None:
        self.queue.remove(key)
        self.dirty.remove(key)
        assert key not in self.working
        self.working.add(key)

    def done(self, key: str) -> None:
        self.working.remove(key)
        if key in self.dirty:
            self.queue.append(key)

    def second(self) -> None:
        self.now += 1
        due = sorted((place, key) for key, place in self.later.items() if place[0] <= self.now)
        for _, key in due:
            del self.later[key]
            self.add(key)

    def shut_down(self) -> None:
        self.open = False
        self.later.clear()


class QueueMachine(RuleBasedStateMachine):
    """A `DelayingQueue` and the model, side by side."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.clock = ManualClock()
        self.queue: DelayingQueue[str] = DelayingQueue(clock=self.clock)
        self.model = Model()
        self.workers: list[asyncio.Task[str]] = []

    def teardown(self) -> None:
        self.runner.close()

    @rule(key=keys)
    def add(self, key: str) -> None:
        self.queue.add(key)
        self.model.add(key)
        self.settle()

    @rule(key=keys)
    def add_from_a_thread(self, key: str) -> None:
        self.queue.add_threadsafe(key)
        self.model.add(key)
        self.settle()

    @rule(key=keys, after=delays)
    def add_later(self, key: str, after: int) -> None:
        self.queue.add(key, after=after)
        self.model.add_later(key, after)
        self.settle()

    @rule(key=keys)
    def add_and_cancel_a_worker_before_it_can_look(self, key: str) -> None:
        async def both() -> None:
            self.queue.add(key)
            if self.workers:
                self.workers.pop(0).cancel()

        self.runner.run(both())
        self.model.add(key)
        self.settle()

    @rule()
    def get_nowait(self) -> None:
        if self.model.queue:
            oldest = self.model.queue[0]
            assert self.queue.get_nowait() == oldest
            self.model.hand_out(oldest)
        else:
            with pytest.raises(QueueEmpty if self.model.open else QueueShutDown):
                self.queue.get_nowait()

    @rule()
    def get(self) -> None:
        async def begin() -> None:
            self.workers.append(asyncio.create_task(self.queue.get()))

        self.runner.run(begin())
        self.settle()

    @precondition(lambda self: self.workers)
    @rule(data=st.data())
    def cancel_a_worker(self, data: st.DataObject) -> None:
        worker = self.workers.pop(data.draw(st.integers(0, len(self.workers) - 1)))
        worker.cancel()
        self.settle()
        assert worker.cancelled()

    @rule(key=keys)
    def done(self, key: str) -> None:
        if key in self.model.working:
            self.queue.done(key)
            self.model.done(key)
        else:
            with pytest.raises(NotHandedOut):
                self.queue.done(key)
        self.settle()

    @rule(seconds=st.integers(1, 15))
    def pass_time(self, seconds: int) -> None:
        for _ in range(seconds):
            self.model.second()
            self.runner.run(self.clock.advance(1))
            self.settle()

    @precondition(lambda self: self.model.asked > 3)
    @rule()
    def shut_down(self) -> None:
        self.queue.shut_down()
        self.model.shut_down()
        self.settle()

    def settle(self) -> None:
        """Let the loop run; the model learns who got what, and checks that it was due."""
        self.runner.run(self.clock.settle())
        ended = [worker for worker in self.workers if worker.done()]
        self.workers = [worker for worker in self.workers if not worker.done()]
        got = [worker.result() for worker in ended if worker.exception() is None]
        assert sorted(got) == sorted(self.model.queue[: len(got)])
        for key in got:
            self.model.hand_out(key)
        refused = [worker.exception() for worker in ended if worker.exception() is not None]
        assert all(isinstance(error, QueueShutDown) for error in refused)
        assert not (refused and (self.model.open or self.model.queue))

    @invariant()
    def they_agree(self) -> None:
        stats = self.queue.stats()
        assert len(self.queue) == stats.queued == len(self.model.queue)
        assert stats.in_work == len(self.model.working)
        assert stats.waiting == len(self.model.later)
        assert stats.workers == len(self.workers)

    @invariant()
    def nobody_waits_while_there_is_something_to_do(self) -> None:
        assert not (self.workers and (self.model.queue or not self.model.open))


class PriorityMachine(RuleBasedStateMachine):
    """A `PriorityQueue` against a dict that is sorted at every look."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.clock = ManualClock()
        self.queue: PriorityQueue[str] = PriorityQueue(clock=self.clock)
        self.now = 0
        self.numbers = 0
        self.places: dict[str, tuple[int, int, int]] = {}  # moment, priority, number
        self.working: set[str] = set()

    def teardown(self) -> None:
        self.runner.close()

    def next_key(self) -> str | None:
        ready = [
            (-priority, number, key)
            for key, (moment, priority, number) in self.places.items()
            if moment <= self.now and key not in self.working
        ]
        return min(ready)[2] if ready else None

    @rule(key=keys, priority=priorities, after=st.none() | delays, threaded=st.booleans())
    def add(self, key: str, priority: int, after: int | None, threaded: bool) -> None:
        add = self.queue.add_threadsafe if threaded else self.queue.add
        add(key, priority=priority, after=after)
        self.numbers += 1
        asked = (self.now + max(after or 0, 0), priority, self.numbers)
        known = self.places.get(key, asked)
        self.places[key] = (min(known[0], asked[0]), max(known[1], asked[1]), known[2])

    @rule()
    def get_nowait(self) -> None:
        key = self.next_key()
        if key is None:
            with pytest.raises(QueueEmpty):
                self.queue.get_nowait()
        else:
            assert self.queue.get_nowait() == key
            assert self.queue.priority_of(key) == self.places.pop(key)[1]
            self.working.add(key)

    @rule(key=keys)
    def done(self, key: str) -> None:
        if key in self.working:
            self.queue.done(key)
            self.working.remove(key)
        else:
            with pytest.raises(NotHandedOut):
                self.queue.done(key)

    @rule(seconds=st.integers(1, 15))
    def pass_time(self, seconds: int) -> None:
        self.runner.run(self.clock.advance(seconds))
        self.now += seconds

    @invariant()
    def they_agree(self) -> None:
        ready = sum(moment <= self.now for moment, _, _ in self.places.values())
        stats = self.queue.stats()
        assert len(self.queue) == stats.queued == ready
        assert stats.waiting == len(self.places) - ready
        assert stats.in_work == len(self.working)


TestQueueAgainstItsModel = QueueMachine.TestCase
TestPriorityQueueAgainstItsModel = PriorityMachine.TestCase

TestQueueAgainstItsModel.settings = settings(stateful_step_count=40)
TestPriorityQueueAgainstItsModel.settings = settings(stateful_step_count=40)
