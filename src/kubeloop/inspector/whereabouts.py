"""Where running inspectors can be found by the same user: a small file for each.

Promises: nobody else can read the files; one whose process has ended is removed by whoever
looks; a folder that cannot be written to costs a line in the log and no more.
Elsewhere: who opens the page (`kubeloop inspect`).
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import final
from urllib.parse import quote, urlsplit

import msgspec

from kubeloop.wire import get_logger

__all__ = ["RunningInspector", "announced", "running_inspectors"]

log = get_logger(__name__)


@final
class RunningInspector(msgspec.Struct, frozen=True):
    """An inspector of a process on this machine."""

    address: str  # http://127.0.0.1:8090/
    pid: int
    name: str  # of the process, for people
    token: str = ""

    @property
    def url(self) -> str:
        """The address to open, with the token where there is one."""
        return f"{self.address}?token={quote(self.token)}" if self.token else self.address

    def __repr__(self) -> str:
        return f"RunningInspector({self.name}, {self.address}, pid {self.pid})"


def running_inspectors() -> list[RunningInspector]:
    """The inspectors of this user's processes, the newest first."""
    found: list[tuple[float, RunningInspector]] = []
    for path in folder().glob("*.json"):
        with contextlib.suppress(OSError):
            one = _read(path)
            if one is not None and _is_alive(one):
                found.append((path.stat().st_mtime, one))
            else:
                path.unlink()
    return [one for _, one in sorted(found, key=lambda each: each[0], reverse=True)]


@contextlib.contextmanager
def announced(one: RunningInspector) -> Iterator[None]:
    """Let it be found while the block lasts."""
    port = urlsplit(one.address).port
    path = folder() / f"{one.pid}-{port}.json"
    try:
        _write(path, one)
    except OSError as error:
        log.info("inspector: not to be found by `kubeloop inspect`: %s", error)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            path.unlink()


def folder() -> Path:
    """The user's runtime folder where there is one, or else the cache."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("XDG_RUNTIME_DIR") or home, "kubeloop", "inspectors")


def _read(path: Path) -> RunningInspector | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=RunningInspector)
    except msgspec.DecodeError:
        return None  # no file of ours


def _write(path: Path, one: RunningInspector) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Under another name until it is whole: half a file is a dead one's, and removed.
    new = path.with_suffix(".new")
    new.unlink(missing_ok=True)
    # Made with these rights, never given them later: there is no moment for others to look.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with os.fdopen(os.open(new, flags, 0o600), "wb") as file:
        file.write(msgspec.json.encode(one))
    new.replace(path)


def _is_alive(one: RunningInspector) -> bool:
    if os.name == "nt":  # where asking for a process by a signal would end it
        return _answers(one)
    try:
        os.kill(one.pid, 0)
    except (ProcessLookupError, OverflowError):  # no process has, or can have, such a number
        return False
    except PermissionError:  # somebody else's: the number was given to another process
        return False
    return True


def _answers(one: RunningInspector) -> bool:
    where = urlsplit(one.address)
    try:
        socket.create_connection((where.hostname or "localhost", where.port or 80), 1).close()
    except OSError:
        return False
    return True
