"""Settings of a long-running process: signals, garbage collection, logs that do not block.

Guarantees: every setting is undone when the block ends, or the last of several that overlap;
settings of the program (handlers of the root logger, a loop in another thread) stay.
See also: `manager` (when these blocks begin and end).
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
from types import FrameType
from typing import Final, TypeAlias, final

from kubeloop.kit import abort_run
from kubeloop.wire import get_logger

__all__ = [
    "LOG_FORMAT",
    "configure_process",
    "handle_signals",
    "log_in_background",
    "tune_garbage_collector",
]

log = get_logger(__name__)

_Handler: TypeAlias = Callable[[int, FrameType | None], object] | int | None  # of a signal

LOG_FORMAT: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s"
# Caches hold bytes and plain values, which are not in cycles. With the default thresholds a full
# collection of a large heap takes 140 ms, and happens often.
_THRESHOLDS: Final = (20_000, 20, 50)


@final
class _SharedSetting:
    """A setting that lasts from the first of several overlapping blocks to the last."""

    def __init__(self) -> None:
        self._blocks = 0
        self._stack = contextlib.ExitStack()

    @contextlib.contextmanager
    def block(self, setting: contextlib.AbstractContextManager[None]) -> Iterator[None]:
        """One block; only the first one enters `setting`."""
        if not self._blocks:
            self._stack.enter_context(setting)
        self._blocks += 1
        try:
            yield
        finally:
            self._blocks -= 1
            if not self._blocks:
                self._stack.close()


_signals = _SharedSetting()
_gc = _SharedSetting()
_log = _SharedSetting()
_signal_handlers: list[Callable[[signal.Signals], None]] = []


@contextlib.contextmanager
def configure_process(
    stop: Callable[[], None],
    at_once: Callable[[], object],
    *,
    signals: bool,
    tune_gc: bool,
    logs: bool,
) -> Iterator[Callable[[], None]]:
    """Apply the settings that are on; the block is given what to call after the start.

    None on a simulated loop: its processes share one interpreter.
    """
    if getattr(asyncio.get_running_loop(), "is_simulated", False):
        yield lambda: None
        return
    with contextlib.ExitStack() as stack:
        if logs:
            stack.enter_context(log_in_background())
        if signals:
            stack.enter_context(handle_signals(stop, at_once))
        yield stack.enter_context(tune_garbage_collector()) if tune_gc else lambda: None


@contextlib.contextmanager
def handle_signals(stop: Callable[[], None], at_once: Callable[[], object]) -> Iterator[None]:
    """Call `stop` at the first SIGTERM or SIGINT, and `at_once` at those that follow.

    After the second, `kubeloop.run` does not wait for other tasks and for threads either.
    Does nothing outside the main thread, the only one that receives signals. A loop has one
    handler for a signal: blocks that overlap share it, and all are called.
    """
    is_repeated = False

    def handle(which: signal.Signals) -> None:
        nonlocal is_repeated
        what = "stopping at once" if is_repeated else "stopping after running work"
        log.info("received %s: %s", which.name, what)
        if is_repeated:
            abort_run(which)
            at_once()
        else:
            stop()
        is_repeated = True

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with _signals.block(_install_signal_handler()):
        _signal_handlers.append(handle)
        try:
            yield
        finally:
            _signal_handlers.remove(handle)


@contextlib.contextmanager
def _install_signal_handler() -> Iterator[None]:
    loop = asyncio.get_running_loop()
    with contextlib.ExitStack() as stack:
        for which in (signal.SIGTERM, signal.SIGINT):
            with contextlib.suppress(NotImplementedError, ValueError, RuntimeError):  # Windows
                # asyncio does not return a handler that the program gave to the loop.
                is_loops = loop.remove_signal_handler(which)
                before = None if is_loops else signal.getsignal(which)
                loop.add_signal_handler(which, _call_signal_handlers, which)
                stack.callback(_restore_handler, loop, which, before)
        yield


def _restore_handler(
    loop: asyncio.AbstractEventLoop, which: signal.Signals, before: _Handler
) -> None:
    loop.remove_signal_handler(which)
    if before is not None:
        signal.signal(which, before)


def _call_signal_handlers(which: signal.Signals) -> None:
    for handle in tuple(_signal_handlers):
        handle(which)


@contextlib.contextmanager
def tune_garbage_collector() -> Iterator[Callable[[], None]]:
    """Run the garbage collector less often.

    The block is given a function to call after the start: objects that exist then are not
    scanned again.
    """
    with _gc.block(_raise_gc_thresholds()):
        yield gc.freeze


@contextlib.contextmanager
def _raise_gc_thresholds() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(*_THRESHOLDS)
    try:
        yield
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)


@contextlib.contextmanager
def log_in_background(level: int = logging.INFO) -> Iterator[None]:
    """Log to stderr from a thread, so that a slow reader never blocks the event loop.

    Does nothing if the root logger has a handler already.
    """
    with _log.block(_install_log_thread(level)):
        yield


@contextlib.contextmanager
def _install_log_thread(level: int) -> Iterator[None]:
    root = logging.getLogger()
    if root.handlers:
        yield
        return
    output = logging.StreamHandler()
    output.setFormatter(logging.Formatter(LOG_FORMAT))
    records: queue.SimpleQueue[logging.LogRecord] = queue.SimpleQueue()
    handler = logging.handlers.QueueHandler(records)
    listener = logging.handlers.QueueListener(records, output)
    before = root.level
    root.addHandler(handler)
    root.setLevel(level)
    listener.start()
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(before)
        listener.stop()
