"""The queues against a simple model: lists, sets and a dict of times.

Workers start, wait and are cancelled; keys are added now, with a delay, on the loop and
as if from other threads; time passes. After every step queue and model agree.
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
    NotProcessing,
    PriorityQueue,
    QueueEmpty,
    QueueShutDown,
)

keys = st.sampled_from("abcdef")
delays = st.integers(-1, 12)  # whole seconds, so that times are exact
priorities = st.sampled_from([-100, 0, 5])


class Model:
    """The rules, without regard to speed."""

    def __init__(self) -> None:
        self.now = 0
        self.queue: list[str] = []
        self.dirty: set[str] = set()
        self.processing: set[str] = set()
        self.delayed: dict[str, tuple[int, int]] = {}  # ready time and serial
        self.serial = 0
        self.open = True

    def add(self, key: str) -> None:
        if self.open and key not in self.dirty:
            self.dirty.add(key)
            if key not in self.processing:
                self.queue.append(key)

    def add_delayed(self, key: str, after: int) -> None:
        if after <= 0:
            self.add(key)
        elif self.open and (key not in self.delayed or self.delayed[key][0] > self.now + after):
            self.serial += 1
            self.delayed[key] = (self.now + after, self.serial)

    def get(self, key: str) -> None:
        self.queue.remove(key)
        self.dirty.remove(key)
        assert key not in self.processing
        self.processing.add(key)

    def done(self, key: str) -> None:
        self.processing.remove(key)
        if key in self.dirty:
            self.queue.append(key)

    def second(self) -> None:
        self.now += 1
        due = sorted((place, key) for key, place in self.delayed.items() if place[0] <= self.now)
        for _, key in due:
            del self.delayed[key]
            self.add(key)

    def shut_down(self) -> None:
        self.open = False
        self.delayed.clear()


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
    def add_delayed(self, key: str, after: int) -> None:
        self.queue.add(key, after=after)
        self.model.add_delayed(key, after)
        self.settle()

    @rule(key=keys)
    def add_and_cancel_the_worker_that_was_woken(self, key: str) -> None:
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
            self.model.get(oldest)
        else:
            with pytest.raises(QueueEmpty if self.model.open else QueueShutDown):
                self.queue.get_nowait()

    @rule()
    def get(self) -> None:
        async def start() -> None:
            self.workers.append(asyncio.create_task(self.queue.get()))

        self.runner.run(start())
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
        if key in self.model.processing:
            self.queue.done(key)
            self.model.done(key)
        else:
            with pytest.raises(NotProcessing):
                self.queue.done(key)
        self.settle()

    @rule(seconds=st.integers(1, 15))
    def pass_time(self, seconds: int) -> None:
        for _ in range(seconds):
            self.model.second()
            self.runner.run(self.clock.advance(1))
            self.settle()

    @precondition(lambda self: self.model.serial > 3)
    @rule()
    def shut_down(self) -> None:
        self.queue.shut_down()
        self.model.shut_down()
        self.settle()

    def settle(self) -> None:
        """Let the loop run; checks that the workers got the keys that were next."""
        self.runner.run(self.clock.settle())
        ended = [worker for worker in self.workers if worker.done()]
        self.workers = [worker for worker in self.workers if not worker.done()]
        got = [worker.result() for worker in ended if worker.exception() is None]
        assert sorted(got) == sorted(self.model.queue[: len(got)])
        for key in got:
            self.model.get(key)
        refused = [worker.exception() for worker in ended if worker.exception() is not None]
        assert all(isinstance(error, QueueShutDown) for error in refused)
        assert not (refused and (self.model.open or self.model.queue))

    @invariant()
    def queue_and_model_agree(self) -> None:
        stats = self.queue.stats()
        assert len(self.queue) == stats.ready == len(self.model.queue)
        assert stats.processing == len(self.model.processing)
        assert stats.delayed == len(self.model.delayed)
        assert stats.idle_workers == len(self.workers)

    @invariant()
    def no_worker_waits_while_a_key_is_ready(self) -> None:
        assert not (self.workers and (self.model.queue or not self.model.open))


class PriorityMachine(RuleBasedStateMachine):
    """A `PriorityQueue` and a dict that is sorted for every get."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.clock = ManualClock()
        self.queue: PriorityQueue[str] = PriorityQueue(clock=self.clock)
        self.now = 0
        self.serial = 0
        self.places: dict[str, tuple[int, int, int]] = {}  # ready time, priority, serial
        self.processing: set[str] = set()

    def teardown(self) -> None:
        self.runner.close()

    def next_key(self) -> str | None:
        ready = [
            (-priority, serial, key)
            for key, (ready_at, priority, serial) in self.places.items()
            if ready_at <= self.now and key not in self.processing
        ]
        return min(ready)[2] if ready else None

    @rule(key=keys, priority=priorities, after=st.none() | delays, threaded=st.booleans())
    def add(self, key: str, priority: int, after: int | None, threaded: bool) -> None:
        add = self.queue.add_threadsafe if threaded else self.queue.add
        add(key, priority=priority, after=after)
        self.serial += 1
        added = (self.now + max(after or 0, 0), priority, self.serial)
        known = self.places.get(key, added)
        self.places[key] = (min(known[0], added[0]), max(known[1], added[1]), known[2])

    @rule()
    def get_nowait(self) -> None:
        key = self.next_key()
        if key is None:
            with pytest.raises(QueueEmpty):
                self.queue.get_nowait()
        else:
            assert self.queue.get_nowait() == key
            assert self.queue.priority_of(key) == self.places.pop(key)[1]
            self.processing.add(key)

    @rule(key=keys)
    def done(self, key: str) -> None:
        if key in self.processing:
            self.queue.done(key)
            self.processing.remove(key)
        else:
            with pytest.raises(NotProcessing):
                self.queue.done(key)

    @rule(seconds=st.integers(1, 15))
    def pass_time(self, seconds: int) -> None:
        self.runner.run(self.clock.advance(seconds))
        self.now += seconds

    @invariant()
    def queue_and_model_agree(self) -> None:
        delayed = sum(ready_at > self.now for ready_at, _, _ in self.places.values())
        ready = sum(
            ready_at <= self.now and key not in self.processing
            for key, (ready_at, _, _) in self.places.items()
        )
        stats = self.queue.stats()
        assert len(self.queue) == stats.ready == ready
        assert stats.delayed == delayed
        assert stats.processing == len(self.processing)


TestQueueAgainstItsModel = QueueMachine.TestCase
TestPriorityQueueAgainstItsModel = PriorityMachine.TestCase

TestQueueAgainstItsModel.settings = settings(stateful_step_count=40)
TestPriorityQueueAgainstItsModel.settings = settings(stateful_step_count=40)
