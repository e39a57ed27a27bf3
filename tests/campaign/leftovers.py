"""What is open in this process: tasks of the loop, sockets and files."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

__all__ = ["all_that_is_open", "task_names"]

_FILES = Path("/proc/self/fd")


def all_that_is_open() -> Counter[str]:
    """How many of each there are."""
    return Counter(task_names()) + Counter(_open_files())


def task_names() -> list[str]:
    """The names of all unfinished tasks of this loop but the one that asks, sorted."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    return sorted(task.get_name() for task in others)


def _open_files() -> list[str]:
    """What each open descriptor stands for, sockets and pipes without their number.

    Empty where the system does not say.
    """
    return [found for each in _descriptors() if (found := _what(each))]


def _descriptors() -> list[Path]:
    return list(_FILES.iterdir()) if _FILES.is_dir() else []


def _what(descriptor: Path) -> str:
    try:
        return descriptor.readlink().name.partition("[")[0]
    except OSError:  # the one that the listing itself had open
        return ""
