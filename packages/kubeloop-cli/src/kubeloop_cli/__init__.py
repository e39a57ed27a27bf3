"""The command `kubeloop`: read and change a cluster, or serve one for tests.

Guarantees: results are written to stdout, everything else to stderr; an error is one line,
with a documented exit code.
See also: `program` (the commands, each in its own module), `failures` (exit codes).
"""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

__all__ = ["main"]

__version__ = "0.2.0"


def main() -> None:
    """Run the command line of this process, and end the process with its exit code."""
    _reopen_closed_streams()
    # Most commands end before they have made garbage. With the default thresholds the collector
    # scans the imported modules again and again, a tenth of the time of `kubeloop get`.
    gc.set_threshold(20_000, 20, 50)
    try:
        from .program import kubeloop

        kubeloop(prog_name="kubeloop")
    except KeyboardInterrupt:  # during imports, before click handles it
        sys.exit(130)
    finally:
        gc.freeze()  # the process ends: the collector would scan everything once more


def _reopen_closed_streams() -> None:
    """Open the null device for standard streams that are closed (`>&-`).

    Otherwise the first file or socket gets their descriptor, and output is written into it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 - stays open
            setattr(sys, name, stream)
