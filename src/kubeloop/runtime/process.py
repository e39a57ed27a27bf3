"""What a long-running process wants of Python: signals, a quiet collector, a log that waits
for nobody.

Promises: all of it is taken back when the block ends, or the last of several that overlap;
where a program has made its own arrangements (handlers of the root logger, a loop in another
thread), they stay.
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
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final, final

from kubeloop.kit import abort_run
from kubeloop.wire import get_logger

__all__ = ["LOG_FORMAT", "arranged", "log_in_background", "on_signals", "tune_garbage_collector"]

log = get_logger(__name__)

LOG_FORMAT: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s"
# Caches hold bytes and plain values, which the collector need not walk; garbage in cycles is
# rare, and a seventh of a second for a full round over a large heap is not.
_THRESHOLDS: Final = (20_000, 20, 50)


@final
class _Shared:
    """An arrangement that lasts from the first of several overlapping blocks to the last."""

    def __init__(self) -> None:
        self._blocks = 0
        self._made = contextlib.ExitStack()

    @contextlib.contextmanager
    def block(self, arrangement: contextlib.AbstractContextManager[None]) -> Iterator[None]:
        """One block; `arrangement` is what the first one begins, and not used by others."""
        if not self._blocks:
            self._made.enter_context(arrangement)
        self._blocks += 1
        try:
            yield
        finally:
            self._blocks -= 1
            if not self._blocks:
                self._made.close()


_signals = _Shared()
_calm = _Shared()
_log = _Shared()
_to_be_told: list[Callable[[signal.Signals], None]] = []  # of a signal


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
        yield stack.enter_context(tune_garbage_collector()) if tune_gc else lambda: None


@contextlib.contextmanager
def on_signals(stop: Callable[[], None], at_once: Callable[[], object]) -> Iterator[None]:
    """Call `stop` at the first SIGTERM or SIGINT, and `at_once` at those that follow.

    After the second, `kubeloop.run` does not wait for other tasks and for threads either.
    Does nothing outside the main thread, which alone is told of signals. A loop has one
    handler for a signal: blocks that overlap share it, and all are told.
    """
    has_come = False

    def come(which: signal.Signals) -> None:
        nonlocal has_come
        log.info("%s: %s", which.name, "ending at once" if has_come else "ending what is in work")
        if has_come:
            abort_run(which)
            at_once()
        else:
            stop()
        has_come = True

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with _signals.block(_listen_for_signals()):
        _to_be_told.append(come)
        try:
            yield
        finally:
            _to_be_told.remove(come)


@contextlib.contextmanager
def _listen_for_signals() -> Iterator[None]:
    loop = asyncio.get_running_loop()
    with contextlib.ExitStack() as stack:
        for which in (signal.SIGTERM, signal.SIGINT):
            with contextlib.suppress(NotImplementedError, ValueError, RuntimeError):  # Windows
                # A handler that the program gave to the loop cannot be had back from it.
                is_loops = loop.remove_signal_handler(which)
                before = None if is_loops else signal.getsignal(which)
                loop.add_signal_handler(which, _tell_all, which)
                stack.callback(_give_back, loop, which, before)
        yield


def _give_back(loop: asyncio.AbstractEventLoop, which: signal.Signals, before: Any) -> None:
    loop.remove_signal_handler(which)
    if before is not None:
        signal.signal(which, before)


def _tell_all(which: signal.Signals) -> None:
    for come in tuple(_to_be_told):
        come(which)


@contextlib.contextmanager
def tune_garbage_collector() -> Iterator[Callable[[], None]]:
    """Have the garbage collector come by less often.

    The block is given a function to call once everything lasting is loaded: it is not walked
    over again after that.
    """
    with _calm.block(_calm_down()):
        yield gc.freeze


@contextlib.contextmanager
def _calm_down() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(*_THRESHOLDS)
    try:
        yield
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)


@contextlib.contextmanager
def log_in_background(level: int = logging.INFO) -> Iterator[None]:
    """Log to the error output from a thread, so that a slow reader never holds the loop.

    Does nothing where the root logger has a handler already.
    """
    with _log.block(_log_from_a_thread(level)):
        yield


@contextlib.contextmanager
def _log_from_a_thread(level: int) -> Iterator[None]:
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
