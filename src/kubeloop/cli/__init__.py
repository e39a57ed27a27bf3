"""The command `kubeloop`: look into a cluster, change it, or have one of your own.

Promises: what a script needs is on the standard output, everything else on the error
output; an error is one line and an exit code that is documented (`failures`).
Elsewhere: the commands, one file each, loaded when they are called (`program`).
"""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path

__all__ = ["main"]


def main() -> None:
    """Run the command line of this process, and end the process with its exit code."""
    _open_what_is_closed()
    missing = [name for name in ("click", "rich") if find_spec(name) is None]
    if missing:
        sys.exit(_said(f"the command line needs {' and '.join(missing)}"))
    try:
        from .program import kubeloop

        kubeloop(prog_name="kubeloop")
    except KeyboardInterrupt:  # while modules were still being loaded
        sys.exit(130)


def _open_what_is_closed() -> None:
    """Stand in for standard streams that were closed (`>&-`), as some supervisors do.

    Else the first file or connection would get such a number, and be taken for a stream.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 - it stays open
            setattr(sys, name, stream)


def _said(problem: str) -> int:
    sys.stderr.write(f"error: {problem} (pip install 'kubeloop[cli]')\n")
    return 2
