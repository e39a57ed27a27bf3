"""Files that only their owner can read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

__all__ = ["open_private"]


def open_private(path: Path) -> BinaryIO:
    """Open a file and empty it; other users cannot read it, even if it exists already."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    file = os.fdopen(descriptor, "wb")
    # A file that exists keeps its mode. A device or a pipe has no content to protect.
    if hasattr(os, "fchmod") and path.is_file():
        try:
            os.fchmod(descriptor, 0o600)
        except OSError:
            file.close()
            raise
    return file
