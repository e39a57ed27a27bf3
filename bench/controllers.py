"""Both controllers of pods, ours and client-go's, as programs that report each reconcile."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import final

import msgspec

from bench.line_process import TURNS_TIMEOUT, LineProcess, line_process
from bench.measure import Failed

__all__ = ["Reconciler", "Seen", "commands", "reconciling"]


class Seen(msgspec.Struct, frozen=True):
    """A reconcile of a pod with a new mark."""

    mark: str
    at: int  # when it began, in nanoseconds since 1970


@final
class Reconciler:
    """A controller that has reconciled every pod once."""

    def __init__(self, process: LineProcess) -> None:
        self._process = process

    def await_mark(self, mark: str) -> Seen:
        """Wait until the pod with this mark is reconciled."""
        found = msgspec.json.decode(self._process.line(), type=Seen)
        if found.mark != mark:
            raise Failed(f"waited for the mark {mark!r}, and {found.mark!r} came")
        return found


def commands(client_go: Path, *, pods: int) -> Mapping[str, list[str]]:
    """How each is started, by name; ours first."""
    ours = [sys.executable, "-m", "bench.reconciler", f"--objects={pods}"]
    return {
        "kubeloop": ours,
        "client-go": [str(client_go), "--work=reconcile", f"--objects={pods}"],
    }


@contextmanager
def reconciling(command: list[str], kubeconfig: Path) -> Iterator[Reconciler]:
    """Run a controller while the block lasts, which begins when it has seen every pod."""
    path = str(kubeconfig)
    extra = [] if command[0] == sys.executable else [f"--kubeconfig={path}"]
    env = {"KUBECONFIG": path}
    with line_process([*command, *extra], env=env, timeout=TURNS_TIMEOUT) as program:
        reconciler = Reconciler(program)
        reconciler.await_mark("")
        yield reconciler
