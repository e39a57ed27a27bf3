"""The decorator `simulate`: a test that is executed many times.

Guarantees: the decorated test is a plain function, for pytest and without it; its arguments,
except the world, stay. A test runner changes what all simulated tests do with `using`.
See also: `world` (what the test is given), `explorer` (how the runs are found), `plugin` in
`testing` (the options of pytest).
"""

from __future__ import annotations

import contextvars
import functools
import inspect
import sys
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Concatenate, Final, ParamSpec, TypeAlias, final

import msgspec

from kubeloop.errors import InvalidArgument

from .explorer import Exploration, Limits, default_workers, explore, explore_one
from .report import describe, replay_command
from .scenarios import CLASSES, DEFAULT_CLASSES, ExpectedFailure, Failure, Scenario
from .worker import Job, encode_arguments
from .world import World

__all__ = ["RUNS", "SECONDS", "Settings", "Simulation", "SimulationFailed", "simulate", "using"]

P = ParamSpec("P")
_Errors: TypeAlias = type[BaseException] | tuple[type[BaseException], ...]
Expectation: TypeAlias = (
    str | type[BaseException] | Mapping[str, _Errors] | Sequence[str | type[BaseException]]
)
"""What may fail for ever: patterns of keys, classes of errors, or errors by keys."""

RUNS: Final = 100
"""Runs of a simulated test by default."""
SECONDS: Final = 60.0
"""Seconds of CPU of a simulated test by default, of all workers together."""


class SimulationFailed(AssertionError):
    """A run of a simulated test has failed; the text is the report."""


@final
class Settings(msgspec.Struct, frozen=True):
    """What a test runner changes in the simulated tests that it calls."""

    runs: int | None = None  # in place of the test's own number
    scenario: Scenario | None = None  # the only one to run
    node: str = ""  # the test's name for the runner
    page: Callable[[], Path] | None = None  # where to write the page of a run that failed
    on_result: Callable[[Exploration], None] = lambda _: None


_settings: contextvars.ContextVar[Settings | None] = contextvars.ContextVar(
    "kubeloop_simulation_settings", default=None
)


@contextmanager
def using(settings: Settings) -> Iterator[None]:
    """Change the simulated tests that are called in the block."""
    token = _settings.set(settings)
    try:
        yield
    finally:
        _settings.reset(token)


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
        allow: Sequence[str],
        expect_failing: Expectation,
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
        self._limits = Limits(runs, seconds, workers or default_workers())
        self.seed = seed
        self._faults = tuple(faults)
        self._pairs = pairs
        self._ignore = tuple(ignore)
        self._allow = tuple(allow)
        self._expected = tuple(_expected_failures(expect_failing))
        self._memory = memory

    def job(self, arguments: Mapping[str, Any]) -> Job:
        """What a worker needs to run this test."""
        test = self.test
        return Job(
            path=tuple(each or str(Path.cwd()) for each in sys.path),
            module=test.__module__,
            file=inspect.getsourcefile(test) or "",
            name=test.__qualname__,
            arguments=encode_arguments(arguments),
            ignore=self._ignore,
            allow=self._allow,
            expected=self._expected,
            memory=self._memory,
        )

    def explore(
        self,
        arguments: Mapping[str, Any] | None = None,
        *,
        runs: int | None = None,
        scenario: Scenario | None = None,
    ) -> Exploration:
        """Execute `runs` runs, or only that of `scenario`; returns what was found.

        With more runs than the test has by itself, they may take more CPU time as well.
        Raises: InvalidArgument when an argument cannot be sent to another process.
        """
        job = self.job(arguments or {})
        if scenario is not None:
            return explore_one(job, scenario, seed=self.seed)
        limits = self._limits
        if runs is not None:
            seconds = limits.seconds * max(1.0, runs / limits.runs)
            limits = msgspec.structs.replace(limits, runs=runs, seconds=seconds)
        progress = _Progress(self.test.__name__, limits.runs)
        try:
            return explore(
                job,
                limits,
                classes=self._faults,
                seed=self.seed,
                pairs=self._pairs,
                on_progress=progress,
            )
        finally:
            progress.end()

    def check(self, arguments: Mapping[str, Any]) -> None:
        """Execute the runs. Raises: SimulationFailed."""
        __tracebackhide__ = True
        settings = _settings.get() or Settings()
        found = self.explore(arguments, runs=settings.runs, scenario=settings.scenario)
        settings.on_result(found)
        if found.failure is None:
            return
        name = self.test.__name__
        target = f"{_relative(inspect.getsourcefile(self.test) or '')}::{self.test.__qualname__}"
        replay = replay_command(target, arguments, found.failure.scenario, node=settings.node)
        text = describe(name, replay, found)
        if settings.page is not None:
            from .trace_page import write_page

            page = settings.page()
            write_page(page, name, found, replay=replay)
            text += f"\nThe run as a page: {page}"
        raise SimulationFailed(text)


def simulate(
    *,
    runs: int = RUNS,
    seconds: float = SECONDS,
    seed: int = 0,
    faults: Sequence[str] = DEFAULT_CLASSES,
    pairs: bool = True,
    ignore: Sequence[str] = (),
    allow: Sequence[str] = (),
    expect_failing: Expectation = (),
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
    from the undisturbed run, such as "status.attempts", and objects, such as "secrets */key-*".
    `expect_failing` says which keys may fail for ever: a pattern of a key, an exception class, a
    dict of both, or several of these. `allow` permits calls that lead out of the simulation, by
    patterns of how reports show them. `workers` is the number of processes, by default one for
    each CPU.

    Raises: InvalidArgument when an argument is invalid.
    """

    def decorate(
        test: Callable[Concatenate[World, P], Coroutine[Any, Any, object]],
    ) -> Callable[P, None]:
        _check_test(test)
        simulation = Simulation(
            test,
            runs=runs,
            seconds=seconds,
            seed=seed,
            faults=faults,
            pairs=pairs,
            ignore=ignore,
            allow=allow,
            expect_failing=expect_failing,
            memory=memory,
            workers=workers,
        )

        @functools.wraps(test)
        def run(*args: P.args, **kwargs: P.kwargs) -> None:
            __tracebackhide__ = True
            names = inspect.signature(run).parameters
            simulation.check({**dict(zip(names, args, strict=False)), **kwargs})

        signature = inspect.signature(test)
        _, *others = signature.parameters.values()
        attributes: Any = run
        attributes.__signature__ = signature.replace(parameters=others, return_annotation=None)
        attributes.simulation = simulation
        return run

    return decorate


def _expected_failures(expectation: object) -> Iterator[ExpectedFailure]:
    match expectation:
        case str():
            yield ExpectedFailure(expectation)
        case type() if issubclass(expectation, BaseException):
            yield ExpectedFailure.of(expectation)
        case Mapping():
            for key, errors in expectation.items():
                for each in _expected_failures(errors):
                    yield ExpectedFailure(key, each.error)
        case Sequence():
            for each in expectation:
                yield from _expected_failures(each)
        case _:
            raise InvalidArgument(
                f"simulate(expect_failing={expectation!r}): it is neither a pattern of keys nor a"
                " class of errors"
            )


def _relative(file: str) -> str:
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file


def _check_test(test: Callable[..., object]) -> None:
    name = getattr(test, "__qualname__", repr(test))
    if not inspect.iscoroutinefunction(test):
        raise InvalidArgument(
            f"simulate {name}: it is not an async function (write: async def {name}(world))"
        )
    if next(iter(inspect.signature(test).parameters), "") != "world":
        raise InvalidArgument(
            f"simulate {name}: its first parameter is not world (write a function, not a method:"
            f" async def {test.__name__}(world))"
        )


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
