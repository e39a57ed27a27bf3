"""Running a program's main coroutine, on the fastest event loop there is.

Promises: as `asyncio.run` in everything but speed: one new loop, closed at the end, with
all tasks cancelled; Ctrl-C cancels the main task.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

__all__ = ["new_event_loop", "run"]

T = TypeVar("T")


def run(main: Coroutine[Any, Any, T], *, debug: bool | None = None) -> T:
    """Run `main` to its end on a new loop and return what it returns.

    Raises: RuntimeError when a loop is running in this thread already.
    """
    with asyncio.Runner(loop_factory=new_event_loop, debug=debug) as runner:
        return runner.run(main)


def new_event_loop() -> asyncio.AbstractEventLoop:
    """A loop of uvloop where that is installed, else the standard one."""
    try:
        import uvloop
    except ImportError:  # Windows, PyPy
        return asyncio.new_event_loop()
    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop
