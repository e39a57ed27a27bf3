"""What ends a command that lasts: Ctrl-C, SIGTERM, and a terminal that is closed.

Promises: the first signal asks for an end in order, so that nothing is left behind; under
nohup a closed terminal ends nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal

__all__ = ["end_by_signals"]


def end_by_signals() -> asyncio.Event:
    """Set at the first signal; the handlers go with the loop."""
    end, loop = asyncio.Event(), asyncio.get_running_loop()
    with contextlib.suppress(NotImplementedError):  # Windows
        for which in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(which, end.set)
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            loop.add_signal_handler(signal.SIGHUP, end.set)
    return end
