"""What a long-running process wants of Python: signals, a quiet collector, a log that waits
for nobody.

Promises: all of it is taken back when the block ends; where a program has made its own
arrangements (handlers of the root logger, a loop in another thread), they stay.
Elsewhere: when these blocks begin and end (`manager`).
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import logging.handlers
import queue
import signal
from collections.abc import Callable, Iterator
from typing import Final

__all__ = ["LOG_FORMAT", "arranged", "calm_collector", "log_in_background", "on_signals"]

log = logging.getLogger(__name__)

LOG_FORMAT: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s"
# Caches hold bytes and plain values, which the collector need not walk; garbage in cycles is
# rare, and a seventh of a second for a full round over a large heap is not.
_THRESHOLDS: Final = (20_000, 20, 50)


@contextlib.contextmanager
def arranged(
    stop: Callable[[], None],
    at_once: Callable[[], object],
    *,
    signals: bool,
    tune_gc: bool,
    logs: bool,
) -> Iterator[Callable[[], None]]:
    """All that is asked for; the block is given what to call when everything is loaded."""
    with contextlib.ExitStack() as stack:
        if logs:
            stack.enter_context(log_in_background())
        if signals:
            stack.enter_context(on_signals(stop, at_once))
        yield stack.enter_context(calm_collector()) if tune_gc else lambda: None


@contextlib.contextmanager
def on_signals(stop: Callable[[], None], at_once: Callable[[], object]) -> Iterator[None]:
    """Call `stop` at the first SIGTERM or SIGINT, and `at_once` at the second."""
    loop = asyncio.get_running_loop()
    handled: list[signal.Signals] = []
    has_come = False

    def come(name: str) -> None:
        nonlocal has_come
        log.info("%s: %s", name, "ending at once" if has_come else "ending what is in work")
        (at_once if has_come else stop)()
        has_come = True

    for which in (signal.SIGTERM, signal.SIGINT):
        # Not on Windows, and not outside the main thread.
        with contextlib.suppress(NotImplementedError, ValueError, RuntimeError):
            loop.add_signal_handler(which, come, which.name)
            handled.append(which)
    try:
        yield
    finally:
        for which in handled:
            loop.remove_signal_handler(which)


@contextlib.contextmanager
def calm_collector() -> Iterator[Callable[[], None]]:
    """Have the garbage collector come by less often.

    The block is given a function to call once everything lasting is loaded: it is not walked
    over again after that.
    """
    before = gc.get_threshold()
    gc.set_threshold(*_THRESHOLDS)
    try:
        yield gc.freeze
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)


@contextlib.contextmanager
def log_in_background(level: int = logging.INFO) -> Iterator[None]:
    """Log to the error output from a thread, so that a slow reader never holds the loop.

    Does nothing where the root logger has a handler already.
    """
    root = logging.getLogger()
    if root.handlers:
        yield
        return
    output = logging.StreamHandler()
    output.setFormatter(logging.Formatter(LOG_FORMAT))
    waiting: queue.SimpleQueue[logging.LogRecord] = queue.SimpleQueue()
    entrance = logging.handlers.QueueHandler(waiting)
    listener = logging.handlers.QueueListener(waiting, output)
    before = root.level
    root.addHandler(entrance)
    root.setLevel(level)
    listener.start()
    try:
        yield
    finally:
        root.removeHandler(entrance)
        root.setLevel(before)
        listener.stop()
