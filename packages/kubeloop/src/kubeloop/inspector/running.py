"""A file for each running inspector, by which its user finds it.

Guarantees: other users cannot read the files; the file of a process that has ended is removed
by the next reader; if the directory is not writable, one line is logged.
See also: `kubeloop inspect` (the reader).
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

__all__ = ["RunningInspector", "register", "running_inspectors"]

log = get_logger(__name__)


@final
class RunningInspector(msgspec.Struct, frozen=True):
    """An inspector of a process on this machine."""

    address: str  # http://127.0.0.1:8090/
    pid: int
    name: str  # of the process, for display
    token: str = ""

    @property
    def url(self) -> str:
        """The address to open, with the token if there is one."""
        return f"{self.address}?token={quote(self.token)}" if self.token else self.address

    def __repr__(self) -> str:
        return f"RunningInspector({self.name}, {self.address}, pid {self.pid})"


def running_inspectors() -> list[RunningInspector]:
    """The inspectors of this user's processes, newest first."""
    found: list[tuple[float, RunningInspector]] = []
    for path in directory().glob("*.json"):
        with contextlib.suppress(OSError):
            inspector = _read(path)
            if inspector is not None and _is_alive(inspector):
                found.append((path.stat().st_mtime, inspector))
            else:
                path.unlink()
    return [inspector for _, inspector in sorted(found, key=lambda each: each[0], reverse=True)]


@contextlib.contextmanager
def register(inspector: RunningInspector) -> Iterator[None]:
    """Write the file of an inspector, and remove it at the end of the block."""
    port = urlsplit(inspector.address).port
    path = directory() / f"{inspector.pid}-{port}.json"
    try:
        _write(path, inspector)
    except OSError as error:
        log.info("inspector: cannot be registered, `kubeloop inspect` will not find it: %s", error)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            path.unlink()


def directory() -> Path:
    """In the runtime directory of the user, or in the cache directory."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("XDG_RUNTIME_DIR") or home, "kubeloop", "inspectors")


def _read(path: Path) -> RunningInspector | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=RunningInspector)
    except msgspec.DecodeError:
        return None  # not written by an inspector


def _write(path: Path, inspector: RunningInspector) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Written under another name first: a reader would remove an incomplete file.
    new = path.with_suffix(".new")
    new.unlink(missing_ok=True)
    # Created with these permissions, so that other users can never open it.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with os.fdopen(os.open(new, flags, 0o600), "wb") as file:
        file.write(msgspec.json.encode(inspector))
    new.replace(path)


def _is_alive(inspector: RunningInspector) -> bool:
    if os.name == "nt":  # where os.kill terminates the process
        return _accepts_connections(inspector)
    try:
        os.kill(inspector.pid, 0)
    except (ProcessLookupError, OverflowError):  # no such process, or not a valid pid
        return False
    except PermissionError:  # the pid now belongs to another user's process
        return False
    return True


def _accepts_connections(inspector: RunningInspector) -> bool:
    url = urlsplit(inspector.address)
    try:
        socket.create_connection((url.hostname or "localhost", url.port or 80), 1).close()
    except OSError:
        return False
    return True
