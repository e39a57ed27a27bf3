"""Executes runs for the explorer: reads them from stdin, writes their results to stdout.

Guarantees: every run begins in the same state of the interpreter, because it runs in a fork of
this process (without fork, in a process of its own); what the test prints goes to stderr.
See also: `explorer` (starts workers), `single_run` (one run).
"""

from __future__ import annotations

import base64
import contextlib
import faulthandler
import gc
import importlib
import importlib.util
import os
import pickle
import signal
import sys
import tempfile
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast, final

import msgspec

from kubeloop.errors import InvalidArgument

from . import determinism
from .places import describe_calls, place_of_stack
from .scenarios import ExpectedFailure, Failure, RunResult, Scenario
from .sealing import renew_scratch, use_scratch
from .single_run import run_scenario
from .warm_up import warm_up
from .world import World

if TYPE_CHECKING:
    from .simulate import Simulation

__all__ = [
    "Job",
    "Order",
    "encode_arguments",
    "load_simulation",
    "load_test",
    "main",
    "prepare",
    "run_job",
]

_BLOCKED = 10  # times the CPU of a run, as seconds of real time
_MIB = 1024 * 1024


@final
class Job(msgspec.Struct, frozen=True):
    """The test that a worker runs."""

    path: tuple[str, ...]  # sys.path
    module: str
    file: str
    name: str
    arguments: str = ""  # of a parametrized test
    ignore: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    expected: tuple[ExpectedFailure, ...] = ()
    memory: int = 2048  # MiB of one run
    cpu: float = 120.0  # seconds of one run
    scratch: str = ""  # the folder of the worker


@final
class Order(msgspec.Struct, frozen=True):
    """One run to execute."""

    scenario: Scenario
    is_traced: bool = False


def encode_arguments(arguments: Mapping[str, Any]) -> str:
    """Arguments of a test as text. Raises: InvalidArgument when one cannot be pickled."""
    for name, value in arguments.items():
        try:
            pickle.dumps(value)
        except Exception as error:
            raise InvalidArgument(
                f"simulate: the argument {name} ({type(value).__name__}) cannot be sent to the"
                f" process of a run: {error} (create it in the test, or use parameters)"
            ) from error
    return base64.b64encode(pickle.dumps(dict(arguments))).decode() if arguments else ""


def load_test(job: Job) -> Callable[[World], Coroutine[Any, Any, object]]:
    """The test of a job, from its module."""
    test = load_simulation(job).test
    arguments = pickle.loads(base64.b64decode(job.arguments)) if job.arguments else {}  # noqa: S301 - of our own parent
    return lambda world: test(world, **arguments)


def load_simulation(job: Job) -> Simulation:
    """The simulation of the test of a job. Raises: InvalidArgument."""
    found: Any = _load_module(job)
    for name in job.name.split("."):
        found = getattr(found, name, None)
    if not hasattr(found, "simulation"):
        raise InvalidArgument(f"simulate {job.file}::{job.name}: there is no such simulated test")
    return cast("Simulation", found.simulation)


def _load_module(job: Job) -> Any:
    if job.module != "__main__":
        with contextlib.suppress(ModuleNotFoundError):
            found = importlib.import_module(job.module)
            if found.__file__ is not None and Path(found.__file__).samefile(job.file):
                return found
    name = Path(job.file).stem
    spec = importlib.util.spec_from_file_location(name, job.file)
    assert spec is not None, "the file of a test is a Python file"
    assert spec.loader is not None, "the file of a test is a Python file"
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    """Execute runs until stdin ends."""
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    job = msgspec.json.decode(sys.stdin.buffer.readline(), type=Job)
    sys.path[:] = job.path
    notes = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process
    use_scratch(job.scratch)
    test = load_test(job)
    prepare()
    for line in sys.stdin.buffer:
        order = msgspec.json.decode(line, type=Order)
        if not hasattr(os, "fork"):
            _run(test, order, job, results, notes)
            return
        renew_scratch(job.scratch)
        child = os.fork()
        if not child:
            try:
                _limit(job, notes)
                _run(test, order, job, results, notes)
            finally:
                os._exit(0)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            notes.seek(0)
            _send(results, RunResult(_killed(os.WTERMSIG(status), job, notes.read())))
        notes.seek(0)
        notes.truncate()


def prepare() -> None:
    """Import what runs need, and replace the clocks of this process, for ever."""
    determinism.install()
    gc.collect()
    warm_up()  # and no collection afterwards: it would run code of what is left of it
    gc.freeze()


def _run(
    test: Callable[[World], Coroutine[Any, Any, object]],
    order: Order,
    job: Job,
    results: IO[bytes],
    notes: IO[bytes],
) -> None:
    def note(refusal: Failure) -> None:  # it may be the last that is known of the run
        if not notes.tell():
            notes.write(msgspec.json.encode(refusal) + b"\n")
            notes.flush()

    try:
        result = run_job(test, order, job, on_refusal=note)
    except BaseException as error:  # noqa: BLE001 - a mistake of the simulation must be seen
        result = RunResult(Failure("simulation", f"{type(error).__name__}: {error}"))
    _send(results, result)


def run_job(
    test: Callable[[World], Coroutine[Any, Any, object]],
    order: Order,
    job: Job,
    *,
    on_refusal: Callable[[Failure], None] = lambda _: None,
) -> RunResult:
    """Execute a run of a job in this process."""
    return run_scenario(
        test,
        order.scenario,
        is_traced=order.is_traced,
        ignore=job.ignore,
        allow=job.allow,
        expected=job.expected,
        on_refusal=on_refusal,
    )


def _send(results: IO[bytes], result: RunResult) -> None:
    results.write(msgspec.json.encode(result) + b"\n")
    results.flush()


def _limit(job: Job, notes: IO[bytes]) -> None:
    """Bound the memory and the CPU of a run, and the time that it may be blocked.

    A signal ends it, after the stack has been written: also inside of a C function.
    """
    for number in (signal.SIGPROF, signal.SIGALRM):
        faulthandler.register(number, file=notes, all_threads=False, chain=True)
    signal.setitimer(signal.ITIMER_PROF, job.cpu)
    signal.setitimer(signal.ITIMER_REAL, job.cpu * _BLOCKED)
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (job.memory * _MIB, job.memory * _MIB))


def _killed(number: int, job: Job, notes: bytes) -> Failure:
    """Why a run has no result: what it noted, and the signal that ended it."""
    if notes.startswith(b"{"):
        return msgspec.json.decode(notes.partition(b"\n")[0], type=Failure)
    stack = notes.decode(errors="replace")
    place = place_of_stack(stack) or "an unknown place"
    if number == signal.SIGPROF:
        message = f"the run took more than {job.cpu:g} s of CPU, the last at {place}"
    elif number == signal.SIGALRM:
        message = f"the run was blocked at {place} ({job.cpu * _BLOCKED:g} s of real time)"
    else:
        message = f"the process of the run was killed by {signal.Signals(number).name}"
    return Failure("settles", message + describe_calls(stack))


if __name__ == "__main__":
    main()
