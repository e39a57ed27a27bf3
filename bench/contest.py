"""Runs contestants with the same work in turns, and collects the cost of each.

Guarantees: each runs in its own process; they take turns, so that a machine that slows down
slows all of them; one that fails or takes too long is killed and reported. `in_rounds` starts a
process for each piece of work; with `in_turns` a process does many, which vary less: connections
and caches are warm, and a turn is short.
See also: the interpreter of a snippet (`child`), rows made of costs (`measure`).
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec

from bench.line_process import TIMEOUT, TURNS_TIMEOUT, LineProcess, line_process
from bench.measure import ROOT, Cost, Failed

__all__ = [
    "Command",
    "Contestant",
    "Program",
    "Snippet",
    "attempted",
    "in_rounds",
    "in_turns",
    "measured",
    "median_cost",
    "side_by_side",
    "turn_taking",
]


class Snippet(msgspec.Struct, frozen=True):
    """Python code, run in an interpreter of its own after `setup`, which is not measured."""

    code: str
    setup: str = ""


class Program(msgspec.Struct, frozen=True):
    """A program that writes its own cost as a line of JSON."""

    command: tuple[str, ...]


class Command(msgspec.Struct, frozen=True):
    """A program as a user starts it: its cost is that of the whole process."""

    command: tuple[str, ...]


Contestant = Snippet | Program | Command


def measured(snippet: str, *, setup: str = "", times: int = 5) -> Cost:
    """The median cost of `snippet`, each time in a fresh interpreter after `setup`.

    Raises: Failed, when a run ends with an error.
    """
    return side_by_side({"": snippet}, setup=setup, times=times)[""]


def side_by_side(
    snippets: Mapping[str, str], *, setup: str = "", times: int = 5
) -> dict[str, Cost]:
    """The median cost of each snippet, by its name; they run in turns, `times` rounds.

    Raises: Failed, when a run ends with an error.
    """
    contestants = {name: Snippet(code, setup) for name, code in snippets.items()}
    return {name: median_cost(costs) for name, costs in in_rounds(contestants, times=times).items()}


def in_rounds(contestants: Mapping[str, Contestant], *, times: int) -> dict[str, list[Cost]]:
    """Every cost of each contestant, by its name; they run in turns.

    Raises: Failed, when one does not finish.
    """
    costs, failures = attempted(contestants, times=times, give_up=True)
    if failures:
        raise next(iter(failures.values()))
    return costs


def attempted(
    contestants: Mapping[str, Contestant], *, times: int, give_up: bool = False
) -> tuple[dict[str, list[Cost]], dict[str, Failed]]:
    """The same, with what went wrong instead of an error: who fails once leaves the contest.

    `give_up` ends all of it with the first failure.
    """
    costs: dict[str, list[Cost]] = {name: [] for name in contestants}
    failures: dict[str, Failed] = {}
    for _ in range(times):
        for name in list(costs):
            try:
                costs[name].append(_cost_of(name, contestants[name]))
            except Failed as failure:
                failures[name] = failure
                del costs[name]
                if give_up:
                    return costs, failures
    return costs, failures


def in_turns(
    contestants: Mapping[str, Contestant], *, times: int, warm_up: int = 1
) -> dict[str, list[Cost]]:
    """The cost of each turn of each contestant, by its name; all processes live until the end.

    A program must do its work for each line of its input. The first turns of each are not counted.
    Raises: Failed, when one ends or takes too long.
    """
    with ExitStack() as stack:
        processes = {
            name: stack.enter_context(turn_taking(each)) for name, each in contestants.items()
        }
        costs: dict[str, list[Cost]] = {name: [] for name in contestants}
        for _ in range(warm_up + times):
            for name, process in processes.items():
                process.send(b"")
                costs[name].append(msgspec.json.decode(process.line(), type=Cost))
        return {name: found[warm_up:] for name, found in costs.items()}


@contextmanager
def turn_taking(contestant: Contestant) -> Iterator[LineProcess]:
    """A process that does its work for each line of its input, and prints a cost each time."""
    match contestant:
        case Snippet(code, setup):
            child = [sys.executable, "-m", "bench.child"]
            with line_process(child, timeout=TURNS_TIMEOUT) as process:
                process.send(msgspec.json.encode([setup, code]))
                yield process
        case Program(command):
            with line_process([*command, "--turns"], timeout=TURNS_TIMEOUT) as process:
                yield process
        case Command():
            raise Failed("a command ends with its work, and takes no second turn")


def median_cost(costs: Sequence[Cost]) -> Cost:
    """Each figure's own median: the run of median time need not be that of median memory."""
    columns = zip(*(msgspec.structs.astuple(cost) for cost in costs), strict=True)
    wall, cpu, *memory = (statistics.median(column) for column in columns)
    before, peak, steady = (int(size) for size in memory)
    return Cost(wall, cpu, before, peak, steady)


def _cost_of(name: str, contestant: Contestant) -> Cost:
    match contestant:
        case Snippet(code, setup):
            return _run_snippet(name, code, setup)
        case Program(command):
            with line_process(command) as program:
                return msgspec.json.decode(program.line(), type=Cost)
        case Command(command):
            return _run_command(name, command)


def _run_command(name: str, command: Sequence[str]) -> Cost:
    begun = time.perf_counter()
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=errors)
        timer = threading.Timer(TIMEOUT, process.kill)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - begun
        if process.returncode:
            errors.seek(0)
            output = errors.read().decode()
            raise Failed(f"{name} ended with {process.returncode}: {output}")
    return Cost(wall, usage.ru_utime + usage.ru_stime, 0, usage.ru_maxrss * 1024, 0)


def _run_snippet(name: str, code: str, setup: str) -> Cost:
    what = f"the snippet {name}" if name else "a snippet"
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "cost.json")
        try:
            ended = subprocess.run(
                [sys.executable, "-m", "bench.child", str(out)],
                cwd=ROOT,
                input=msgspec.json.encode([setup, code]),
                capture_output=True,
                check=False,
                timeout=TIMEOUT,
            )
        except subprocess.TimeoutExpired:
            raise Failed(f"{what} was killed after {TIMEOUT:.0f} s") from None
        if ended.returncode:
            raise Failed(f"{what} ended with {ended.returncode}: {ended.stderr.decode()}")
        return msgspec.json.decode(out.read_bytes(), type=Cost)
