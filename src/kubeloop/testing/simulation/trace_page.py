"""The story of a failing run as one page of HTML, without other files."""

from __future__ import annotations

from pathlib import Path

from .explorer import Exploration

__all__ = ["write_page"]


def write_page(path: Path, name: str, exploration: Exploration) -> None:
    """Write the page of the run that failed."""
    raise NotImplementedError((path, name, exploration))
