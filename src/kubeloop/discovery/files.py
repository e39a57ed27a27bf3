"""Small files of a cache: read whole, written whole or not at all.

Promises: nobody ever reads half a file, and a file that cannot be written is only logged;
the event loop does not wait for the disk.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
from pathlib import Path

from kubeloop.wire import get_logger

__all__ = ["read_file", "write_file"]

log = get_logger(__name__)

DIRECTORY_MODE = 0o750
FILE_MODE = 0o660


async def read_file(path: Path) -> tuple[bytes, float] | None:
    """The content and the moment of its last change (seconds since 1970); None if unreadable."""
    return await asyncio.to_thread(_read, path)


def _read(path: Path) -> tuple[bytes, float] | None:
    try:
        with path.open("rb") as file:
            return file.read(), os.fstat(file.fileno()).st_mtime
    except OSError:
        return None


async def write_file(path: Path, content: bytes) -> bool:
    """Write a file with its directories; says whether it worked. Safe to cancel: the file
    then has its old or its new content."""
    return await asyncio.to_thread(_write, path, content)


def _write(path: Path, content: bytes) -> bool:
    try:
        path.parent.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            Path(name).chmod(FILE_MODE)
            Path(name).replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise
    except OSError as error:
        log.info("%s: not kept on disk: %s", path, error)
        return False
    return True
