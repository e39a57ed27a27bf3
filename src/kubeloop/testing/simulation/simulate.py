"""The decorator `simulate`: a test that is executed many times.

Guarantees: the decorated test is a plain function, for pytest and without it; its arguments,
except the world, stay. KUBELOOP_SIMULATE_RUNS multiplies the number of runs.
See also: `world` (what the test is given), `explorer` (how the runs are found).
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, Concatenate, Final, ParamSpec, final

from kubeloop.errors import InvalidArgument

from .explorer import Exploration, Limits, default_workers, explore
from .report import describe, summarize
from .scenarios import CLASSES, DEFAULT_CLASSES, Failure
from .worker import Job, encode_arguments
from .world import World

__all__ = ["RUNS", "SECONDS", "Simulation", "SimulationFailed", "simulate"]

P = ParamSpec("P")

RUNS: Final = 100
"""Lives of a simulated test by default."""
SECONDS: Final = 60.0
"""Seconds of CPU of a simulated test by default, of all workers together."""


class SimulationFailed(AssertionError):
    """A run of a simulated test has failed; the text is the report."""


@final
class Simulation:
    """A test and how it is explored; the decorated test has it as `simulation`."""

    def __init__(
        self,
        test: Callable[..., Coroutine[Any, Any, object]],
        *,
        runs: int,
        seconds: float,
        seed: int,
        faults: Sequence[str],
        pairs: bool,
        ignore: Sequence[str],
        memory: int,
        workers: int | None,
    ) -> None:
        unknown = [each for each in faults if each not in CLASSES]
        if unknown:
            raise InvalidArgument(
                f"simulate(faults={unknown}): unknown classes (use {', '.join(CLASSES)})"
            )
        if runs < 1 or not seconds > 0 or seed < 0:
            raise InvalidArgument(
                f"simulate(runs={runs}, seconds={seconds}, seed={seed}): negative"
            )
        self.test = test
        self._limits = Limits(
            runs * int(os.environ.get("KUBELOOP_SIMULATE_RUNS", "1")),
            seconds * int(os.environ.get("KUBELOOP_SIMULATE_RUNS", "1")),
            workers or default_workers(),
        )
        self._seed = seed
        self._faults = tuple(faults)
        self._pairs = pairs
        self._ignore = tuple(ignore)
        self._memory = memory

    def job(self, arguments: dict[str, Any]) -> Job:
        """What a worker needs to run this test."""
        test = self.test
        path = [each or str(Path.cwd()) for each in sys.path]
        file = inspect.getsourcefile(test) or ""
        return Job(
            path=tuple(path),
            module=test.__module__,
            file=file,
            name=test.__qualname__,
            arguments=encode_arguments(arguments),
            ignore=self._ignore,
            memory=self._memory,
        )

    def explore(self, **arguments: Any) -> Exploration:
        """Execute the runs; returns what was found."""
        progress = _Progress(self.test.__name__, self._limits.runs)
        try:
            return explore(
                self.job(arguments),
                self._limits,
                classes=self._faults,
                seed=self._seed,
                pairs=self._pairs,
                on_progress=progress,
            )
        finally:
            progress.end()

    def check(self, **arguments: Any) -> None:
        """Execute the runs. Raises: SimulationFailed."""
        __tracebackhide__ = True
        found = self.explore(**arguments)
        if found.failure is None:
            if os.environ.get("KUBELOOP_SIMULATE_VERBOSE"):
                sys.stderr.write(f"{self.test.__name__}: {summarize(found)}\n")
            return
        file = inspect.getsourcefile(self.test) or ""
        target = f"{os.path.relpath(file)}::{self.test.__qualname__}"
        trace = os.environ.get("KUBELOOP_SIMULATE_TRACE")
        if trace:
            from .trace_page import write_page

            write_page(Path(trace), self.test.__name__, found)
        raise SimulationFailed(describe(self.test.__name__, target, found))


def simulate(
    *,
    runs: int = RUNS,
    seconds: float = SECONDS,
    seed: int = 0,
    faults: Sequence[str] = DEFAULT_CLASSES,
    pairs: bool = True,
    ignore: Sequence[str] = (),
    memory: int = 2048,
    workers: int | None = None,
) -> Callable[[Callable[Concatenate[World, P], Coroutine[Any, Any, object]]], Callable[P, None]]:
    """Run an async test many times, each with other faults, in virtual time.

        @simulate(runs=200)
        async def test_sites_come_up_whatever_happens(world):
            world.run(make_manager)
            await world.client.resource(Website).create(site("shop"))
            await world.settle()

    `runs` is the number of runs, `seconds` their CPU time and `memory` the MiB of each; the
    exploration ends at the first limit, or when a run fails. `seed` is that of the undisturbed
    run. `faults` are the classes of faults to try; "pause" (paused processes, wrong clocks) is
    off by default. `pairs` tries two faults in one run. `ignore` names fields that may differ
    from the undisturbed run, such as "status.attempts". `workers` is the number of processes,
    by default one for each CPU.

    Raises: InvalidArgument when an argument is invalid.
    """

    def decorate(
        test: Callable[Concatenate[World, P], Coroutine[Any, Any, object]],
    ) -> Callable[P, None]:
        if not inspect.iscoroutinefunction(test):
            raise InvalidArgument(f"simulate {test!r}: it is not an async function")
        simulation = Simulation(
            test,
            runs=runs,
            seconds=seconds,
            seed=seed,
            faults=faults,
            pairs=pairs,
            ignore=ignore,
            memory=memory,
            workers=workers,
        )

        @functools.wraps(test)
        def run(*args: P.args, **kwargs: P.kwargs) -> None:
            __tracebackhide__ = True
            names = inspect.signature(run).parameters
            simulation.check(**dict(zip(names, args, strict=False)), **kwargs)

        signature = inspect.signature(test)
        _, *others = signature.parameters.values()
        attributes: Any = run
        attributes.__signature__ = signature.replace(parameters=others, return_annotation=None)
        attributes.simulation = simulation
        return run

    return decorate


@final
class _Progress:
    """A progress bar on a terminal; nothing elsewhere."""

    def __init__(self, name: str, runs: int) -> None:
        self._name = name
        self._runs = runs
        self._is_shown = sys.stderr.isatty()

    def __call__(self, runs: int, failure: Failure | None) -> None:
        if self._is_shown:
            done = 20 * runs // self._runs
            what = f", {failure.oracle}: shrinking" if failure else ""
            bar = "█" * done + "░" * (20 - done)
            sys.stderr.write(f"\r\x1b[K{self._name} {bar} {runs}/{self._runs} runs{what}")
            sys.stderr.flush()

    def end(self) -> None:
        if self._is_shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
