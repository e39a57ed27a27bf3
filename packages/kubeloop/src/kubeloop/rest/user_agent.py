"""The `User-Agent` header."""

from __future__ import annotations

import functools
import platform
import sys
from pathlib import PurePath

__all__ = ["default_user_agent", "user_agent"]

# Go's names of machines that Python's `platform` names differently.
_MACHINES = {"x86_64": "amd64", "aarch64": "arm64", "i386": "386", "i686": "386"}
_UNKNOWN = "unknown"


def user_agent(command: str, version: str, *, system: str, machine: str, commit: str = "") -> str:
    """`manager/v1.2.3 (linux/amd64) kubernetes/0a1b2c3`, in the format of client-go."""
    name = PurePath(command).name or _UNKNOWN
    release = version.partition("-")[0] or _UNKNOWN
    return f"{name}/{release} ({system}/{machine}) kubernetes/{commit[:7] or _UNKNOWN}"


@functools.cache
def default_user_agent() -> str:
    """The user agent of this program, with the version of kubeloop."""
    # The package `kubeloop` is loaded, since this is a part of it; to import it would be against
    # the layers, and to read the installed metadata takes longer than the first request.
    version: str = sys.modules["kubeloop"].__version__
    machine = platform.machine().lower()
    return user_agent(
        _printable(sys.argv[0] if sys.argv else ""),
        version,
        system=platform.system().lower() or _UNKNOWN,
        machine=_MACHINES.get(machine, machine) or _UNKNOWN,
    )


def _printable(command: str) -> str:
    """A file name may contain any character, a header may not."""
    return "".join(each if each.isascii() and each.isprintable() else "_" for each in command)
