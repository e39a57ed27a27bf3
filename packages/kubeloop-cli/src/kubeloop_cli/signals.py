"""Signals that stop a long-running command: Ctrl-C, SIGTERM, and a closed terminal.

Guarantees: the first signal starts an orderly shutdown; under nohup, SIGHUP is ignored.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Iterator

__all__ = ["stop_on_signals"]


@contextlib.contextmanager
def stop_on_signals() -> Iterator[asyncio.Event]:
    """An event that the first signal sets, within the `with` block.

    Restores the previous handlers: those of uvloop stay installed after their loop is closed.
    """
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    with contextlib.ExitStack() as stack:
        for number in _stop_signals():
            with contextlib.suppress(NotImplementedError):  # Windows
                previous = signal.getsignal(number)
                loop.add_signal_handler(number, stop.set)
                stack.callback(signal.signal, number, previous)
                stack.callback(loop.remove_signal_handler, number)
        yield stop


def _stop_signals() -> list[signal.Signals]:
    found = [signal.SIGINT, signal.SIGTERM]
    hangup = getattr(signal, "SIGHUP", None)
    if hangup is not None and signal.getsignal(hangup) is not signal.SIG_IGN:
        found.append(hangup)
    return found
