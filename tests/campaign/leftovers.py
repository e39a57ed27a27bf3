"""What is open in this process: tasks of the loop, sockets and files."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

__all__ = ["open_resources", "task_names"]

_FILES = Path("/proc/self/fd")


def open_resources() -> Counter[str]:
    """The number of open resources by name."""
    return Counter(task_names()) + Counter(_open_files())


def task_names() -> list[str]:
    """The names of all other unfinished tasks of this loop, sorted."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    return sorted(task.get_name() for task in others)


def _open_files() -> list[str]:
    """The target of each open descriptor; sockets and pipes without their number.

    Empty on systems without /proc.
    """
    return [found for each in _descriptors() if (found := _target(each))]


def _descriptors() -> list[Path]:
    return list(_FILES.iterdir()) if _FILES.is_dir() else []


def _target(descriptor: Path) -> str:
    try:
        return descriptor.readlink().name.partition("[")[0]
    except OSError:  # the descriptor of the listing itself
        return ""
