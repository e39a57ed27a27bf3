"""What a client calls itself."""

from __future__ import annotations

import functools
import platform
import sys
from pathlib import PurePath

__all__ = ["default_user_agent", "user_agent"]

# Go's names for what Python's platform calls otherwise.
_MACHINES = {"x86_64": "amd64", "aarch64": "arm64", "i386": "386", "i686": "386"}
_UNKNOWN = "unknown"


def user_agent(command: str, version: str, *, system: str, machine: str, commit: str = "") -> str:
    """`manager/v1.2.3 (linux/amd64) kubernetes/0a1b2c3`, as servers' logs know it."""
    name = PurePath(command).name or _UNKNOWN
    release = version.partition("-")[0] or _UNKNOWN
    return f"{name}/{release} ({system}/{machine}) kubernetes/{commit[:7] or _UNKNOWN}"


@functools.cache
def default_user_agent() -> str:
    """This program's, with our version; a suffix of your own goes behind a slash."""
    # The front door is loaded, as we are behind it; to import it would be to import upwards,
    # and to ask the installed metadata would take longer than the first request.
    version: str = sys.modules["kubeloop"].__version__
    machine = platform.machine().lower()
    return user_agent(
        _printable(sys.argv[0] if sys.argv else ""),
        version,
        system=platform.system().lower() or _UNKNOWN,
        machine=_MACHINES.get(machine, machine) or _UNKNOWN,
    )


def _printable(command: str) -> str:
    """A file's name may hold anything; a header may not."""
    return "".join(each if each.isascii() and each.isprintable() else "_" for each in command)
