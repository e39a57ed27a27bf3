"""Replays one run of a simulated test in this process, for a debugger.

python -m kubeloop_testing.simulation tests/test_sites.py::test_sites --scenario 'seed=3'
"""

from __future__ import annotations

import argparse
import ast
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import msgspec

from kubeloop.errors import InvalidArgument

from .explorer import Workers, compared_with
from .oracles import judge, judge_undisturbed
from .report import format_timeline
from .scenarios import Failure, RunResult, Scenario
from .sealing import use_scratch
from .worker import Job, Order, load_simulation, load_test, prepare, run_job


def main() -> None:
    """Execute the run, print its timeline, and exit with 1 if it fails."""
    options = _parse()
    if os.environ.get("PYTHONHASHSEED") != "0":
        # The order of sets of strings is a part of what is replayed.
        os.environ["PYTHONHASHSEED"] = "0"
        os.execv(  # noqa: S606 - this program again
            sys.executable, [sys.executable, "-m", "kubeloop_testing.simulation", *sys.argv[1:]]
        )
    with tempfile.TemporaryDirectory(prefix="kubeloop-simulation-") as scratch:
        result, failure = _replay(options, scratch)
    if options.all:
        for entry in result.timeline:
            sys.stdout.write(msgspec.json.encode(entry).decode() + "\n")
    else:
        sys.stdout.write("\n".join(format_timeline(result.timeline)) + "\n")
    text = f"{failure.oracle}: {failure.message}" if failure else "the run did not fail"
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
    os._exit(1 if failure else 0)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m kubeloop_testing.simulation")
    parser.add_argument("test", help="FILE::NAME of a test with @simulate")
    parser.add_argument("--scenario", default="seed=0", help="the scenario, as a report shows it")
    parser.add_argument("--arguments", default="{}", help="of a parametrized test, as a dict")
    parser.add_argument("--all", action="store_true", help="print the whole timeline as JSON lines")
    return parser.parse_args()


def _replay(options: argparse.Namespace, scratch: str) -> tuple[RunResult, Failure | None]:
    try:
        scenario = Scenario.parse(options.scenario)
        arguments: dict[str, Any] = ast.literal_eval(options.arguments)
        file, _, name = options.test.partition("::")
        path = Path(file).resolve()
        use_scratch(scratch)
        sys.path[:0] = [str(path.parent), str(Path.cwd())]
        simulation = load_simulation(Job((), path.stem, str(path), name))
        job = simulation.job(arguments)
    except (InvalidArgument, ValueError, SyntaxError, FileNotFoundError) as error:
        raise SystemExit(f"replay {options.test}: {error}") from error
    with Workers(job, 1) as workers:  # before this process has simulated clocks
        reference = workers.run(Scenario(simulation.seed))
    test = load_test(job)
    prepare()
    result = run_job(test, Order(scenario, is_traced=True), job)
    failure = None if scenario.faults else judge_undisturbed(result)
    return result, failure or judge(result, compared_with(result, reference))


main()
