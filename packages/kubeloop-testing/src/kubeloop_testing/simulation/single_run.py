"""Executes one run, in this process, which must end afterwards.

Guarantees: never raises for what the test or its processes do; the result says what failed.
See also: `worker` (executes many runs, each in a process of its own).
"""

from __future__ import annotations

import asyncio
import gc
import logging
import random
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, final

from kubeloop.runtime import results

from . import determinism
from .loop import Deadlock, SimulatedLoop, current_process
from .network import Network
from .oracles import compared_objects, end_state, leftovers
from .places import place_of_error
from .scenarios import ExpectedFailure, Failure, RunResult, Scenario
from .sealing import sealed
from .world import RunFailed, World

__all__ = ["run_scenario"]

_world: World | None = None  # of the current run


def run_scenario(
    test: Callable[[World], Coroutine[Any, Any, object]],
    scenario: Scenario,
    *,
    is_traced: bool = False,
    ignore: Sequence[str] = (),
    allow: Sequence[str] = (),
    expected: Sequence[ExpectedFailure] = (),
    on_refusal: Callable[[Failure], None] = lambda _: None,
) -> RunResult:
    """Run a test in a world of its own. Call `determinism.install` before, once.

    `on_refusal` is called at once when the run tries to leave the simulation.
    """
    global _world  # noqa: PLW0603 - one run in a process
    started = determinism.cpu_seconds()
    gc.disable()  # when it runs depends on the memory, and it may run the code of dead processes
    loop = SimulatedLoop(Network(random.Random(f"network {scenario.seed}")))
    asyncio.set_event_loop(loop)
    determinism.begin(loop, scenario.seed)
    world = _world = World(loop, scenario, is_traced=is_traced, expected=expected)
    _observe_logs(is_traced=is_traced)

    def report(refusal: Failure) -> None:
        on_refusal(refusal)
        world.report(refusal)

    with sealed(report, allow=allow):
        failure = _execute(world, test)
    # The loop has ended, so that methods of the server which wait for it would wait for ever.
    stored = () if failure else compared_objects(world.server.service)
    injector = world.injector
    return RunResult(
        failure=failure,
        writes=tuple(injector.writes),
        watched=tuple(injector.watched),
        lists_at_zero=tuple(injector.lists_at_zero),
        leaders=tuple(injector.leases.leaders),
        end_state=end_state(stored, ignore),
        leftovers=leftovers(stored),
        errors=tuple(world.errors),
        failing=tuple(world.describe_failing()),
        digest=loop.network.digest,
        virtual=loop.time(),
        cpu=determinism.cpu_seconds() - started,
        fired=injector.fired,
        timeline=tuple(world.timeline.entries),
    )


def _execute(world: World, test: Callable[[World], Coroutine[Any, Any, object]]) -> Failure | None:
    try:
        world.loop.run_until_complete(world.execute(test))
    except RunFailed as error:
        return error.failure
    except Deadlock as error:
        failure = Failure("settles", str(error))
    except MemoryError:
        failure = Failure("settles", "the scenario needs more memory than its budget")
    except Exception as error:  # noqa: BLE001 - of the test
        place = place_of_error(error)
        where = f"\n  {place}" if place else ""
        failure = Failure("test", f"{type(error).__name__}: {error}{where}")
    else:
        return None
    return world.failure or failure  # what the oracles have found explains the rest


# --- what the runtime logs


@final
class _Logs(logging.Handler):
    """Adds warnings to the timeline, and errors that kubeloop caught in the user's code."""

    def emit(self, record: logging.LogRecord) -> None:
        process = current_process()
        if _world is None or (process is not None and process.name == "cluster"):
            return
        name = process.name if process is not None else ""
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and name and _is_of_callbacks(record.name):
            _world.on_logged_error(name, record.getMessage(), error)
        _world.note(name, "log", f"{record.levelname} {record.name}: {record.getMessage()}")


def _is_of_callbacks(logger: str) -> bool:
    """Whether kubeloop logs there what its callers' functions raise; reconciles are observed."""
    return logger.startswith("kubeloop.") and logger != results.__name__


def _observe_logs(*, is_traced: bool) -> None:
    root = logging.getLogger()
    for logger in (root, *logging.Logger.manager.loggerDict.values()):
        if isinstance(logger, logging.Logger):  # or a place for one
            logger.handlers.clear()
            logger.propagate = True
    root.addHandler(_Logs(logging.WARNING))
    logging.disable(logging.NOTSET if is_traced else logging.WARNING)
