"""Files of a cache: read and replaced as a whole.

Guarantees: a reader never sees an incomplete file; a file that cannot be written is only logged;
the event loop does not wait for the disk; a `DocumentCache` returns only what was stored, and a
damaged or foreign file is a miss.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import tempfile
from pathlib import Path
from typing import final

from kubeloop.wire import get_logger

__all__ = [
    "DocumentCache",
    "read_file",
    "write_file",
]

log = get_logger(__name__)

DIRECTORY_MODE = 0o750
FILE_MODE = 0o660


async def read_file(path: Path) -> tuple[bytes, float] | None:
    """The content and its modification time (seconds since 1970); None if it cannot be read."""
    return await asyncio.to_thread(_read, path)


def _read(path: Path) -> tuple[bytes, float] | None:
    try:
        with path.open("rb") as file:
            return file.read(), os.fstat(file.fileno()).st_mtime
    except OSError:
        return None


async def write_file(path: Path, content: bytes) -> bool:
    """Write a file with its directories; returns whether it succeeded.

    Safe to cancel: the file then has its old or its new content.
    """
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
        log.info("%s: cannot write the cache file, continuing without it: %s", path, error)
        return False
    return True


_DIGEST = hashlib.sha256().digest_size


@final
class DocumentCache:
    """Documents by URL in a directory. They never expire: store only what never changes."""

    def __init__(self, directory: str | Path) -> None:
        self._directory = Path(directory)

    async def get(self, url: str) -> bytes | None:
        """The document of the URL; None for a miss. Safe to cancel."""
        found = await read_file(self._path(url))
        if found is None:
            return None
        digest, document = found[0][:_DIGEST], found[0][_DIGEST:]
        return document if hashlib.sha256(document).digest() == digest else None

    async def put(self, url: str, document: bytes) -> None:
        """Store a document. Safe to cancel."""
        await write_file(self._path(url), hashlib.sha256(document).digest() + document)

    def _path(self, url: str) -> Path:
        return self._directory / hashlib.sha256(url.encode()).hexdigest()
