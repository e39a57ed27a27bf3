"""Runs one bench in its own interpreter.

Guarantees: no bench sees the modules, the garbage or the peak memory of another; one that
crashes, hangs or is interrupted takes nothing with it and leaves no process behind, and what
it had found until then is kept.
See also: the interpreter for a single snippet (`child`).
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
from importlib import import_module
from pathlib import Path

import msgspec

from .measure import ROOT, Failed, Row
from .scale import count

__all__ = ["Report", "limit", "run_isolated"]

ERRORS = 2  # the descriptor of the error output


class Report(msgspec.Struct, frozen=True):
    """What a bench found, and why there is no more of it."""

    name: str
    goal: str
    rows: list[Row]
    failure: str = ""


def limit() -> float:
    """Seconds that a bench is given."""
    return float(count("LIMIT", 600, full=3600))


def run_isolated(module: str, *, within: float) -> Report:
    """Run the bench in `module` in a new interpreter and wait for what it found."""
    # What a bench that is killed leaves in its own folder for such things goes with ours.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        out = Path(folder, "report.jsonl")
        failure = _run(module, out, within)
        lines = out.read_bytes().splitlines() if out.exists() else []
    name, goal = msgspec.json.decode(lines[0], type=tuple[str, str]) if lines else (module, "")
    rows = [msgspec.json.decode(line, type=Row) for line in lines[1:]]
    return Report(name, goal, rows, failure)


def _run(module: str, out: Path, within: float) -> str:
    """Why it did not come to its end; empty when it did."""
    # What a bench prints must not get between the lines of the table.
    with subprocess.Popen(
        [sys.executable, "-m", "bench.isolated_run", module, str(out)],
        cwd=ROOT,
        stdin=subprocess.PIPE,  # closed when we end, however that is
        stdout=ERRORS,
        start_new_session=True,
        env={**os.environ, "TMPDIR": str(out.parent)},
    ) as process:
        try:
            code = process.wait(within)
        except subprocess.TimeoutExpired:
            return f"killed after {within:.0f} s"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # with all that it has started
    return f"crashed ({code})" if code else ""


def main(module: str, out: Path) -> None:
    """The child's half: import the bench, run it, write each row to `out` as it is found."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    bench = import_module(module)
    with out.open("wb") as file:
        _write(file.fileno(), (bench.NAME, bench.GOAL))
        try:
            for row in bench.run():
                _write(file.fileno(), row)
        except Failed as failure:
            _write(file.fileno(), Row(str(failure).splitlines()[0], "failed"))
            raise


def _write(file: int, what: object) -> None:
    os.write(file, msgspec.json.encode(what) + b"\n")


def _end_with_parent() -> None:
    while os.read(0, 1 << 10):
        pass
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
    # Whatever a bench has left in threads must not keep the others waiting.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
