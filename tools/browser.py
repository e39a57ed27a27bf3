"""Finds Chromium for the browser tests and the screenshots, and installs it if possible.

    python tools/browser.py            install it if it is missing, print its path
    python tools/browser.py --where    print its path only

The environment variable CHROMIUM selects another program. On Debian and Ubuntu, apt-get installs
it, as root or with sudo; on other systems, a message explains what to do.
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
    "--no-sandbox",  # not available in containers; only local pages are opened
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
"""The flags of Chromium: no background requests."""
MISSING = "Chromium is not installed (run make test-browser, or set CHROMIUM to its path)"

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_MACOS_PATHS = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
_PACKAGES = ("chromium", "fonts-inter", "fonts-jetbrains-mono")
_HELP = """\
tools/browser.py: Chromium is not installed, and cannot be installed: {reason}
Install Chromium or Chrome (Debian: apt-get install chromium), or set CHROMIUM to its path."""


def find() -> str | None:
    """The path of Chromium; None if it is not installed."""
    given = os.environ.get("CHROMIUM")
    if given:
        return given if os.access(given, os.X_OK) else None
    on_path = next(filter(None, map(shutil.which, _NAMES)), None)
    return on_path or next((path for path in _MACOS_PATHS if Path(path).exists()), None)


def main(arguments: Sequence[str] | None = None) -> int:
    """Find or install it; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--where", action="store_true", help="print its path only")
    if find() is None and not parser.parse_args(arguments).where:
        reason = _install()
        if reason:
            print(_HELP.format(reason=reason), file=sys.stderr)
            return 1
    found = find()
    print(found or MISSING, file=sys.stdout if found else sys.stderr)
    return 0 if found else 1


def _install() -> str:
    """Install the packages; returns the reason of a failure, or an empty text."""
    if os.environ.get("CHROMIUM"):
        return f"CHROMIUM is {os.environ['CHROMIUM']!r}, which is not a program"
    if shutil.which("apt-get") is None:
        return "apt-get is not installed"
    prefix = _root_prefix()
    if prefix is None:
        return "root is required, and sudo needs a password or is not installed"
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (("update",), ("install", "--yes", "--no-install-recommends", *_PACKAGES)):
        print("tools/browser.py: apt-get", *command, file=sys.stderr)
        ended = subprocess.run(
            [*prefix, "apt-get", "-q", *command], env=environment, check=False, stdout=sys.stderr
        )
        if ended.returncode:
            return f"apt-get {command[0]} ended with {ended.returncode}"
    return ""


def _root_prefix() -> list[str] | None:
    """The prefix of a command that needs root; None if there is none."""
    if os.name == "posix" and os.geteuid() == 0:
        return []
    if shutil.which("sudo") is None:
        return None
    quiet = subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False)
    return ["sudo", "-n", "-E"] if quiet.returncode == 0 else None


if __name__ == "__main__":
    sys.exit(main())
