"""The command `kubeloop`: look into a cluster, change it, or have one of your own.

Promises: what a script needs is on the standard output, everything else on the error
output; an error is one line and an exit code that is documented (`failures`).
Elsewhere: the commands, one file each, loaded when they are called (`program`).
"""

from __future__ import annotations

import sys
from importlib.util import find_spec

__all__ = ["main"]


def main() -> None:
    """Run the command line of this process, and end the process with its exit code."""
    missing = [name for name in ("click", "rich") if find_spec(name) is None]
    if missing:
        sys.exit(_said(f"the command line needs {' and '.join(missing)}"))
    from .program import kubeloop

    kubeloop(prog_name="kubeloop")


def _said(problem: str) -> int:
    sys.stderr.write(f"error: {problem} (pip install 'kubeloop[cli]')\n")
    return 2
