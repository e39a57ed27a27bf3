"""Explores the runs of a test in worker processes, and shrinks what fails.

Guarantees: the undisturbed run comes first, and its failure is reported as it is; of runs that
fail, the one that was planned first is reported; a shrunk run fails by the same oracle. No
worker is left when it ends, however it ends.
See also: `plans` (which runs), `oracles.judge` (which fail), `report` (what is printed).
"""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from itertools import islice
from queue import SimpleQueue
from types import TracebackType
from typing import Self, final

import msgspec

from .oracles import explain_random, judge, judge_undisturbed
from .plans import CrashPoints, coverage, crash_points, derive
from .scenarios import Failure, Fault, RunResult, Scenario
from .worker import Job, Order

__all__ = [
    "Exploration",
    "FailedRun",
    "Limits",
    "Workers",
    "compared_with",
    "explore",
    "explore_one",
]

_MOST_TRIES = 40  # of shrinking
_OTHER_SEEDS = 2  # undisturbed runs that show what differs by chance
_MOST_HINTS = 3
_COMPARING = frozenset({"end state", "leaked object"})


@final
class Limits(msgspec.Struct, frozen=True):
    """How much an exploration may cost."""

    runs: int
    seconds: float  # of CPU
    workers: int


@final
class FailedRun(msgspec.Struct, frozen=True):
    """A run that failed, with the fewest faults that were found."""

    failure: Failure
    scenario: Scenario
    result: RunResult  # with the timeline
    faults_before: int  # before it was shrunk
    hints: tuple[str, ...] = ()  # how to say that a difference is right

    @property
    def oracle(self) -> str:
        return self.failure.oracle

    @property
    def message(self) -> str:
        return self.failure.message

    @property
    def faults(self) -> tuple[Fault, ...]:
        return self.scenario.faults


@final
class Exploration(msgspec.Struct, frozen=True):
    """What an exploration has found."""

    runs: int
    cpu: float  # seconds of all runs
    virtual: float  # seconds of all runs
    fired: int  # faults that happened
    coverage: str
    reference: RunResult
    failure: FailedRun | None = None
    crash_points: tuple[CrashPoints, ...] = ()


@final
class _Worker:
    """One worker process."""

    def __init__(self, job: Job, hash_seed: int) -> None:
        self._job = job
        self._hash_seed = hash_seed
        self._process: subprocess.Popen[bytes] | None = None
        self._scratch = ""

    def run(self, order: Order) -> RunResult:
        """Execute a run. Raises: RuntimeError when the worker cannot load the test."""
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
                f"simulate {self._job.name}: the worker process ended before the run did"
                " (its error is above)"
            )
        return msgspec.json.decode(line, type=RunResult)

    def _start(self) -> subprocess.Popen[bytes]:
        self._process = process = subprocess.Popen(
            [sys.executable, "-m", "kubeloop_testing.simulation.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={
                **os.environ,
                "PYTHONHASHSEED": str(self._hash_seed),
                "PYTHONPATH": os.pathsep.join(self._job.path),
            },
        )
        assert process.stdin is not None, "it is a pipe"
        self._scratch = tempfile.mkdtemp(prefix="kubeloop-simulation-")
        job = msgspec.structs.replace(self._job, scratch=self._scratch)
        process.stdin.write(msgspec.json.encode(job) + b"\n")
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
        shutil.rmtree(self._scratch, ignore_errors=True)


@final
class Workers:
    """The worker processes of one exploration, for a `with` block."""

    def __init__(self, job: Job, count: int, *, hash_seed: int = 0) -> None:
        self._workers = [_Worker(job, hash_seed) for _ in range(count)]
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

    def submit(self, scenario: Scenario, *, is_traced: bool = False) -> Future[RunResult]:
        """Execute a run as soon as a worker is free."""
        return self._pool.submit(self._run, Order(scenario, is_traced))

    def run(self, scenario: Scenario, *, is_traced: bool = False) -> RunResult:
        """Execute a run and wait for it."""
        return self.submit(scenario, is_traced=is_traced).result()

    def _run(self, order: Order) -> RunResult:
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
    """Execute runs until one fails, or until a limit is reached."""
    with Workers(job, limits.workers) as workers:
        reference = workers.run(Scenario(seed))
        first = judge_undisturbed(reference)
        search = _Search(workers, reference, limits, on_progress)
        if first is not None:
            traced = workers.run(Scenario(seed), is_traced=True)
            return search.result(FailedRun(first, Scenario(seed), traced, 0))
        failed = search.run(derive(reference, classes=classes, seed=seed, pairs=pairs))
        return search.result(None if failed is None else search.shrink(*failed))


def explore_one(job: Job, scenario: Scenario, *, seed: int) -> Exploration:
    """Execute the run of one scenario, compared with the undisturbed run of `seed`."""
    with Workers(job, 1) as workers:
        reference = workers.run(Scenario(seed))
        traced = workers.run(scenario, is_traced=True)
        search = _Search(workers, compared_with(traced, reference), Limits(2, math.inf, 1))
        failure = search.count(scenario, traced)
        if failure is None:
            return search.result(None)
        found = FailedRun(failure, scenario, traced, len(scenario.faults))
        return search.result(search.explain(found))


def compared_with(result: RunResult, reference: RunResult) -> RunResult:
    """What a single run is compared with: not with an undisturbed run that fails."""
    return result if judge_undisturbed(reference) else reference


@final
class _Search:
    """Executes runs until one fails."""

    def __init__(
        self,
        workers: Workers,
        reference: RunResult,
        limits: Limits,
        on_progress: Callable[[int, Failure | None], None] = lambda _, __: None,
    ) -> None:
        self._workers = workers
        self._reference = reference
        self._limits = limits
        self._on_progress = on_progress
        self._tried: list[Scenario] = []
        self._runs = 1
        self._cpu = reference.cpu
        self._virtual = reference.virtual
        self._fired = 0

    def run(self, scenarios: Iterator[Scenario]) -> tuple[Scenario, Failure] | None:
        """The first run that fails, in the order of the plans."""
        running: dict[Future[RunResult], tuple[int, Scenario]] = {}
        failed: dict[int, tuple[Scenario, Failure]] = {}
        number = 1
        while True:
            while (
                not failed
                and len(running) < self._workers.count
                and number < self._limits.runs
                and self._cpu < self._limits.seconds
            ):
                scenario = next(scenarios)
                running[self._workers.submit(scenario)] = (number, scenario)
                number += 1
            # Runs that were planned before the one that failed may fail as well.
            if not running:
                return failed[min(failed)] if failed else None
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                index, scenario = running.pop(future)
                failure = self.count(scenario, future.result())
                if failure is not None:
                    failed[index] = (scenario, failure)

    def count(self, scenario: Scenario, result: RunResult) -> Failure | None:
        """Add the result of a run; returns its failure."""
        self._tried.append(scenario)
        self._runs += 1
        self._cpu += result.cpu
        self._virtual += result.virtual
        self._fired += result.fired
        failure = None if scenario.faults else judge_undisturbed(result)
        failure = failure or judge(result, self._reference)
        self._on_progress(self._runs, failure)
        return failure

    def shrink(self, scenario: Scenario, failure: Failure) -> FailedRun:
        """The same failure with fewer faults, and with the timeline of its run."""
        before = len(scenario.faults)
        tries = 0
        candidates = self._smaller(scenario)
        while (smaller := next(candidates, None)) is not None and tries < _MOST_TRIES:
            tries += 1
            found = judge(self._workers.run(smaller), self._reference)
            if found is not None and found.oracle == failure.oracle:
                scenario, failure = smaller, found
                candidates = self._smaller(scenario)
        traced = self._workers.run(scenario, is_traced=True)
        failure = judge(traced, self._reference) or failure
        return self.explain(FailedRun(failure, scenario, traced, before))

    def explain(self, failed: FailedRun) -> FailedRun:
        """Add how to say that a difference is right, where it comes from a random value."""
        if failed.oracle not in _COMPARING:
            return failed
        seeds = range(failed.scenario.seed + 1, failed.scenario.seed + 1 + _OTHER_SEEDS)
        others = [self._workers.run(Scenario(seed)) for seed in seeds]
        hints = explain_random(failed.result, self._reference, others)
        return msgspec.structs.replace(failed, hints=tuple(islice(hints, _MOST_HINTS)))

    def _smaller(self, scenario: Scenario) -> Iterator[Scenario]:
        for index in range(len(scenario.faults)):
            yield Scenario(scenario.seed, scenario.faults[:index] + scenario.faults[index + 1 :])

    def result(self, failure: FailedRun | None) -> Exploration:
        return Exploration(
            runs=self._runs,
            cpu=self._cpu,
            virtual=self._virtual,
            fired=self._fired,
            coverage=coverage(self._reference, self._tried),
            reference=self._reference,
            failure=failure,
            crash_points=crash_points(self._reference, self._tried),
        )


def default_workers() -> int:
    """One worker for each CPU that this process may use."""
    usable = getattr(os, "sched_getaffinity", None)
    count = len(usable(0)) if usable is not None else (os.cpu_count() or 1)
    return max(1, min(count, 16))
