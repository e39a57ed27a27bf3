"""Answers of a server on disk, under the hash of their URL, behind a checksum of their own.

Promises: what comes out is what went in; a file that is damaged, cut off or somebody
else's is a miss, never an answer.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import final

from .files import read_file, write_file

__all__ = ["AnswerCache"]

_DIGEST = hashlib.sha256().digest_size


@final
class AnswerCache:
    """Keeps answers in a directory. There is no expiry: keep only what never changes."""

    def __init__(self, directory: str | Path) -> None:
        self._directory = Path(directory)

    async def get(self, url: str) -> bytes | None:
        """What was kept under the URL; None for a miss. Safe to cancel."""
        found = await read_file(self._path(url))
        if found is None:
            return None
        digest, answer = found[0][:_DIGEST], found[0][_DIGEST:]
        return answer if hashlib.sha256(answer).digest() == digest else None

    async def put(self, url: str, answer: bytes) -> None:
        """Keep an answer. Safe to cancel."""
        await write_file(self._path(url), hashlib.sha256(answer).digest() + answer)

    def _path(self, url: str) -> Path:
        return self._directory / hashlib.sha256(url.encode()).hexdigest()
