"""Finds Chromium for the browser tests and the pictures, and installs it where it can.

    python tools/browser.py            install it if it is missing, print its path
    python tools/browser.py --where    print its path and install nothing

The environment variable CHROMIUM names one of your own. Installing is left to Debian's and
Ubuntu's package manager, as root or with sudo; elsewhere this says what to do.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

__all__ = ["FLAGS", "MISSING", "find", "main"]

FLAGS = (
    "--no-sandbox",  # a container has no user namespaces; only our own page is opened
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
"""How Chromium is started: it talks to the page and to nobody else."""
MISSING = "no Chromium here (make test-browser installs it, or set CHROMIUM to its path)"

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_ELSEWHERE = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
_PACKAGES = ("chromium", "fonts-inter", "fonts-jetbrains-mono")
_HELP = """\
tools/browser.py: no Chromium here, and it cannot be installed: {why}
Install Chromium or Chrome (Debian: apt-get install chromium), or set CHROMIUM to its path."""


def find() -> str | None:
    """The path of a Chromium; None where there is none."""
    given = os.environ.get("CHROMIUM")
    if given:
        return given if os.access(given, os.X_OK) else None
    on_path = next(filter(None, map(shutil.which, _NAMES)), None)
    return on_path or next((path for path in _ELSEWHERE if Path(path).exists()), None)


def main(arguments: Sequence[str] | None = None) -> int:
    """Find or install it; the answer is the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--where", action="store_true", help="print its path and install nothing")
    if find() is None and not parser.parse_args(arguments).where:
        why = _install()
        if why:
            print(_HELP.format(why=why), file=sys.stderr)
            return 1
    found = find()
    print(found or MISSING, file=sys.stdout if found else sys.stderr)
    return 0 if found else 1


def _install() -> str:
    """Install the packages; returns why not."""
    if os.environ.get("CHROMIUM"):
        return f"CHROMIUM is {os.environ['CHROMIUM']!r}, which is no program"
    if shutil.which("apt-get") is None:
        return "there is no apt-get"
    as_root = _as_root()
    if as_root is None:
        return "this user is not root, and sudo asks for a password or is not there"
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (("update",), ("install", "--yes", "--no-install-recommends", *_PACKAGES)):
        print("tools/browser.py: apt-get", *command, file=sys.stderr)
        ended = subprocess.run(
            [*as_root, "apt-get", "-q", *command], env=environment, check=False, stdout=sys.stderr
        )
        if ended.returncode:
            return f"apt-get {command[0]} ended with {ended.returncode}"
    return ""


def _as_root() -> list[str] | None:
    """What to write before a command that needs root; None if there is no way."""
    if os.name == "posix" and os.geteuid() == 0:
        return []
    if shutil.which("sudo") is None:
        return None
    quiet = subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False)
    return ["sudo", "-n", "-E"] if quiet.returncode == 0 else None


if __name__ == "__main__":
    sys.exit(main())
