"""Explores the lives of a test in worker processes, and shrinks what fails.

Guarantees: the undisturbed life comes first, and its failure is reported as it is; of lives that
fail, the one that was planned first is reported; a shrunk life fails by the same oracle. No
worker is left when it ends, however it ends.
See also: `plans` (which lives), `oracles.judge` (which fail), `report` (what is printed).
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from queue import SimpleQueue
from types import TracebackType
from typing import Self, final

import msgspec

from .lives import Failure, Fault, Life, LifeResult
from .oracles import judge
from .plans import coverage, derive
from .worker import Job, Order

__all__ = ["Exploration", "FailedLife", "Limits", "Workers", "explore"]

_MOST_TRIES = 40  # of shrinking


@final
class Limits(msgspec.Struct, frozen=True):
    """How much an exploration may cost."""

    runs: int
    seconds: float  # of CPU
    workers: int


@final
class FailedLife(msgspec.Struct, frozen=True):
    """A life that failed, with the fewest faults that were found."""

    failure: Failure
    life: Life
    result: LifeResult  # with the timeline
    faults_before: int  # before it was shrunk

    @property
    def oracle(self) -> str:
        return self.failure.oracle

    @property
    def message(self) -> str:
        return self.failure.message

    @property
    def faults(self) -> tuple[Fault, ...]:
        return self.life.faults


@final
class Exploration(msgspec.Struct, frozen=True):
    """What an exploration has found."""

    lives: int
    cpu: float  # seconds of all lives
    virtual: float  # seconds of all lives
    fired: int  # faults that happened
    coverage: str
    reference: LifeResult
    failure: FailedLife | None = None


@final
class _Worker:
    """One worker process."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, order: Order) -> LifeResult:
        """Run a life. Raises: RuntimeError when the worker cannot load the test."""
        process = self._process or self._start()
        assert process.stdin is not None, "it is a pipe"
        assert process.stdout is not None, "it is a pipe"
        try:
            process.stdin.write(msgspec.json.encode(order) + b"\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except (OSError, ValueError):
            line = b""
        if not hasattr(os, "fork"):
            self.close()
        if not line:
            self.close()
            raise RuntimeError(
                f"simulate {self._job.name}: the worker process ended before the life did"
                " (its error is above)"
            )
        return msgspec.json.decode(line, type=LifeResult)

    def _start(self) -> subprocess.Popen[bytes]:
        self._process = process = subprocess.Popen(
            [sys.executable, "-m", "kubeloop.testing.simulation.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={
                **os.environ,
                "PYTHONHASHSEED": "0",
                "PYTHONPATH": os.pathsep.join(self._job.path),
            },
        )
        assert process.stdin is not None, "it is a pipe"
        process.stdin.write(msgspec.json.encode(self._job) + b"\n")
        process.stdin.flush()
        return process

    def close(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        process.terminate()
        process.wait()


@final
class Workers:
    """The worker processes of one exploration, for a `with` block."""

    def __init__(self, job: Job, count: int) -> None:
        self._workers = [_Worker(job) for _ in range(count)]
        self._idle: SimpleQueue[_Worker] = SimpleQueue()
        for each in self._workers:
            self._idle.put(each)
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="kubeloop simulation")
        self.count = count

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for each in self._workers:
            each.close()
        self._pool.shutdown(cancel_futures=True)

    def submit(self, life: Life, *, is_traced: bool = False) -> Future[LifeResult]:
        """Run a life as soon as a worker is free."""
        return self._pool.submit(self._run, Order(life, is_traced))

    def run(self, life: Life, *, is_traced: bool = False) -> LifeResult:
        """Run a life and wait for it."""
        return self.submit(life, is_traced=is_traced).result()

    def _run(self, order: Order) -> LifeResult:
        worker = self._idle.get()
        try:
            return worker.run(order)
        finally:
            self._idle.put(worker)


def explore(
    job: Job,
    limits: Limits,
    *,
    classes: Sequence[str],
    seed: int,
    pairs: bool,
    on_progress: Callable[[int, Failure | None], None] = lambda _, __: None,
) -> Exploration:
    """Run lives until one fails, or until a limit is reached."""
    with Workers(job, limits.workers) as workers:
        reference = workers.run(Life(seed))
        first = judge(reference, reference)
        search = _Search(workers, reference, limits, on_progress)
        if first is not None:
            traced = workers.run(Life(seed), is_traced=True)
            return search.result(FailedLife(first, Life(seed), traced, 0))
        failed = search.run(derive(reference, classes=classes, seed=seed, pairs=pairs))
        return search.result(None if failed is None else search.shrink(*failed))


@final
class _Search:
    """Runs lives until one fails."""

    def __init__(
        self,
        workers: Workers,
        reference: LifeResult,
        limits: Limits,
        on_progress: Callable[[int, Failure | None], None],
    ) -> None:
        self._workers = workers
        self._reference = reference
        self._limits = limits
        self._on_progress = on_progress
        self._tried: list[Life] = []
        self._lives = 1
        self._cpu = reference.cpu
        self._virtual = reference.virtual
        self._fired = 0

    def run(self, lives: Iterator[Life]) -> tuple[Life, Failure] | None:
        """The first life that fails, in the order of the plans."""
        running: dict[Future[LifeResult], tuple[int, Life]] = {}
        failed: dict[int, tuple[Life, Failure]] = {}
        number = 1
        while True:
            while (
                not failed
                and len(running) < self._workers.count
                and number < self._limits.runs
                and self._cpu < self._limits.seconds
            ):
                life = next(lives)
                running[self._workers.submit(life)] = (number, life)
                number += 1
            # Lives that were planned before the one that failed may fail as well.
            if not running:
                return failed[min(failed)] if failed else None
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                index, life = running.pop(future)
                failure = self._count(life, future.result())
                if failure is not None:
                    failed[index] = (life, failure)

    def _count(self, life: Life, result: LifeResult) -> Failure | None:
        self._tried.append(life)
        self._lives += 1
        self._cpu += result.cpu
        self._virtual += result.virtual
        self._fired += result.fired
        failure = judge(result, self._reference)
        self._on_progress(self._lives, failure)
        return failure

    def shrink(self, life: Life, failure: Failure) -> FailedLife:
        """The same failure with fewer faults, and with the timeline of its life."""
        before = len(life.faults)
        tries = 0
        candidates = self._smaller(life)
        while (smaller := next(candidates, None)) is not None and tries < _MOST_TRIES:
            tries += 1
            found = judge(self._workers.run(smaller), self._reference)
            if found is not None and found.oracle == failure.oracle:
                life, failure = smaller, found
                candidates = self._smaller(life)
        traced = self._workers.run(life, is_traced=True)
        return FailedLife(judge(traced, self._reference) or failure, life, traced, before)

    def _smaller(self, life: Life) -> Iterator[Life]:
        for index in range(len(life.faults)):
            yield Life(life.seed, life.faults[:index] + life.faults[index + 1 :])

    def result(self, failure: FailedLife | None) -> Exploration:
        return Exploration(
            lives=self._lives,
            cpu=self._cpu,
            virtual=self._virtual,
            fired=self._fired,
            coverage=coverage(self._reference, self._tried),
            reference=self._reference,
            failure=failure,
        )


def default_workers() -> int:
    """One worker for each CPU that this process may use."""
    usable = getattr(os, "sched_getaffinity", None)
    count = len(usable(0)) if usable is not None else (os.cpu_count() or 1)
    return max(1, min(count, 16))
