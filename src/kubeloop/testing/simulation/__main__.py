"""Replays one run of a simulated test in this process, for a debugger.

python -m kubeloop.testing.simulation tests/test_sites.py::test_sites --scenario 'seed=3'
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import msgspec

from . import determinism
from .report import format_timeline
from .scenarios import Scenario
from .single_run import run_scenario
from .worker import Job, encode_arguments, load_test


def main() -> None:
    """Execute the run, print its timeline, and exit with 1 if it fails."""
    parser = argparse.ArgumentParser(prog="python -m kubeloop.testing.simulation")
    parser.add_argument("test", help="FILE::NAME of a test with @simulate")
    parser.add_argument("--scenario", default="seed=0", help="the scenario, as a report shows it")
    parser.add_argument("--all", action="store_true", help="print the whole timeline as JSON lines")
    options = parser.parse_args()
    if os.environ.get("PYTHONHASHSEED") != "0":
        # The order of sets of strings is a part of what is replayed.
        os.environ["PYTHONHASHSEED"] = "0"
        os.execv(  # noqa: S606 - this program again
            sys.executable, [sys.executable, "-m", "kubeloop.testing.simulation", *sys.argv[1:]]
        )
    file, _, name = options.test.partition("::")
    path = Path(file).resolve()
    sys.path[:0] = [str(path.parent), str(Path.cwd())]
    job = Job((), path.stem, str(path), name, encode_arguments({}))
    test = load_test(job)
    determinism.install()
    result = run_scenario(test, Scenario.parse(options.scenario), is_traced=True)
    if options.all:
        for entry in result.timeline:
            sys.stdout.write(msgspec.json.encode(entry).decode() + "\n")
    else:
        sys.stdout.write("\n".join(format_timeline(result.timeline)) + "\n")
    found = result.failure
    sys.stdout.write(f"{found.oracle}: {found.message}\n" if found else "the run did not fail\n")
    sys.stdout.flush()
    os._exit(1 if found else 0)


main()
