"""What ends a command that lasts: Ctrl-C, SIGTERM, and a terminal that is closed.

Promises: the first signal asks for an end in order, so that nothing is left behind; under
nohup a closed terminal ends nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Iterator

__all__ = ["ended_by_signals"]


@contextlib.contextmanager
def ended_by_signals() -> Iterator[asyncio.Event]:
    """Set at the first signal, while the block lasts.

    The handlers from before come back: uvloop's would outlive their loop, and hear for a
    dead one.
    """
    end, loop = asyncio.Event(), asyncio.get_running_loop()
    with contextlib.ExitStack() as stack:
        for which in _lasting_signals():
            with contextlib.suppress(NotImplementedError):  # Windows
                before = signal.getsignal(which)
                loop.add_signal_handler(which, end.set)
                stack.callback(signal.signal, which, before)
                stack.callback(loop.remove_signal_handler, which)
        yield end


def _lasting_signals() -> list[signal.Signals]:
    found = [signal.SIGINT, signal.SIGTERM]
    hangup = getattr(signal, "SIGHUP", None)
    if hangup is not None and signal.getsignal(hangup) is not signal.SIG_IGN:
        found.append(hangup)
    return found
