"""Executes one run, in this process, which must end afterwards.

Guarantees: never raises for what the test or its processes do; the result says what failed.
See also: `worker` (executes many runs, each in a process of its own).
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import random
import time
import traceback
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, final

from kubeloop.runtime.controller import Controller

from . import determinism
from .loop import Deadlock, SimulatedLoop, current_process
from .network import Network
from .oracles import end_state, leftovers
from .scenarios import Failure, RunResult, Scenario
from .world import RunFailed, World

__all__ = ["run_scenario"]

_world: World | None = None  # of the current run


def run_scenario(
    test: Callable[[World], Coroutine[Any, Any, object]],
    scenario: Scenario,
    *,
    is_traced: bool = False,
    ignore: Sequence[str] = (),
) -> RunResult:
    """Run a test in a world of its own. Call `determinism.install` before, once."""
    global _world  # noqa: PLW0603 - one run in a process
    started = time.process_time()
    gc.disable()  # when it runs depends on the memory, and it may run the code of dead processes
    loop = SimulatedLoop(Network(random.Random(f"network {scenario.seed}")))
    asyncio.set_event_loop(loop)
    determinism.begin(loop, scenario.seed)
    world = _world = World(loop, scenario, is_traced=is_traced)
    _observe_reconciles()
    _observe_logs(is_traced=is_traced)
    failure: Failure | None = None
    try:
        loop.run_until_complete(world.execute(test))
    except RunFailed as error:
        failure = error.failure
    except Deadlock as error:
        failure = Failure("settles", str(error))
    except MemoryError:
        failure = Failure("settles", "the scenario needs more memory than its budget")
    except Exception as error:  # noqa: BLE001 - of the test
        failure = _test_failure(error)
    store = world.server.service.core.store
    injector = world.injector
    return RunResult(
        failure=failure,
        writes=tuple(injector.writes),
        watched=tuple(injector.watched),
        lists_at_zero=tuple(injector.lists_at_zero),
        leaders=tuple(injector.leases.leaders),
        end_state=() if failure else end_state(store, ignore),
        leftovers=() if failure else leftovers(store),
        errors=tuple(world.errors),
        digest=loop.network.digest,
        virtual=loop.time(),
        cpu=time.process_time() - started,
        fired=injector.fired,
        timeline=tuple(world.timeline.entries),
    )


# A project may be in a folder of the same name: compare whole paths.
_LIBRARIES = (str(Path(__file__).parents[2]) + os.sep, str(Path(asyncio.__file__).parent) + os.sep)


def _test_failure(error: Exception) -> Failure:
    frames = [
        each
        for each in traceback.extract_tb(error.__traceback__)
        if not each.filename.startswith(_LIBRARIES)
    ]
    where = "".join(f"\n  {each.filename}:{each.lineno}: {each.line}" for each in frames[-2:])
    return Failure("test", f"{type(error).__name__}: {error}{where}")


# --- what the runtime does


def _observe_reconciles() -> None:
    """Report every outcome of a reconcile to the world."""
    settle = Controller._settle
    if getattr(settle, "is_observed", False):
        return

    def observed(self: Controller, key: Any, outcome: Any, seconds: float) -> None:
        process = current_process()
        if _world is not None and process is not None and process.name != "cluster":
            error = getattr(outcome, "error", None)
            if error is not None:
                _world.errors[f"{type(error).__name__}: {error}"] = None
            text = repr(outcome) if error is None else f"failed: {type(error).__name__}: {error}"
            _world.on_reconcile(process.name, self, str(key), text)
        settle(self, key, outcome, seconds)

    observed.is_observed = True  # type: ignore[attr-defined]
    Controller._settle = observed  # type: ignore[method-assign]


@final
class _Logs(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        process = current_process()
        if _world is not None and (process is None or process.name != "cluster"):
            name = process.name if process is not None else ""
            _world.note(name, "log", f"{record.levelname} {record.name}: {record.getMessage()}")


def _observe_logs(*, is_traced: bool) -> None:
    root = logging.getLogger()
    for handler in list(root.handlers):
        root.removeHandler(handler)
    if is_traced:
        root.addHandler(_Logs(logging.WARNING))
    else:
        logging.disable(logging.CRITICAL)
