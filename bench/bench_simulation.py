"""How many simulated runs of a controller fit into a minute, and what virtual time costs.

The controller is that of examples/sample_controller.py, with leader election; Deployments,
ReplicaSets and pods live in the simulated cluster. The runs are those that an exploration plans
first: crashes before and after each write, errors, late watches, a second replica and so on.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import islice
from statistics import median
from typing import Any

from bench.measure import Row, figure, figures
from bench.scale import count
from bench.simulated import idle_run, sample_run
from kubeloop_testing.simulation.explorer import Workers
from kubeloop_testing.simulation.oracles import judge
from kubeloop_testing.simulation.plans import derive
from kubeloop_testing.simulation.scenarios import DEFAULT_CLASSES, Scenario

NAME = "simulated runs"
GOAL = "200 runs of the sample controller a minute, on two cores"

RUNS = count("SIMULATED_RUNS", 60, full=400)
WORKERS = 2
IDLE = 3


def run() -> Iterator[Row]:
    """One process starts for each worker before the clock does; each run is a fork of it."""
    with _workers(sample_run) as workers:
        first = [workers.submit(Scenario(0)) for _ in range(WORKERS)]
        reference, *_ = [each.result() for each in first]
        plans = derive(reference, classes=DEFAULT_CLASSES, seed=0, pairs=True)
        began = time.perf_counter()
        running = [workers.submit(each) for each in islice(plans, RUNS)]
        results = [each.result() for each in running]
        took = time.perf_counter() - began
    failed = [found for each in results if (found := judge(each, reference)) is not None]
    rate = RUNS / took * 60
    yield Row("runs a minute, 2 workers", f"{rate:.0f}", "at least 200", rate >= 200)
    cpu = [each.cpu for each in results]
    yield figure("the same if nothing else used the cores", WORKERS * 60 / median(cpu), "a minute")
    yield figures("CPU of a run", [each * 1000 for each in cpu], "ms")
    virtual = sum(each.virtual for each in results)
    yield figure("virtual seconds per CPU second, with faults", virtual / sum(cpu), "")
    yield figure("faults", sum(each.fired for each in results), f"in {RUNS} runs")
    yield figure("failed runs", len(failed), "")
    with _workers(idle_run) as workers:
        idle = [workers.run(Scenario(seed)) for seed in range(IDLE)]
    yield figures("CPU of an idle hour, with leader election", [each.cpu for each in idle], "s")


def _workers(test: Any) -> Workers:
    return Workers(test.simulation.job({}), WORKERS)
