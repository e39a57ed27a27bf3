"""Commands that last end by signals, and leave the process as they found it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType

import pytest

from kubeloop.kit import new_event_loop
from kubeloop_cli.signals import stop_on_signals

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="event loops have no signal handlers there"
)


def previous_handler(number: int, frame: FrameType | None) -> None:
    """A handler that the caller of the command has installed."""


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, new_event_loop])
@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_sets_the_event_and_the_previous_handlers_are_restored(
    new_loop: Callable[[], asyncio.AbstractEventLoop], which: signal.Signals
) -> None:
    # The signal may be ignored in the process that runs the tests, as with nohup.
    found = signal.signal(which, previous_handler)

    async def wait_for_signal() -> bool:
        with stop_on_signals() as stop:
            os.kill(os.getpid(), which)
            await stop.wait()
            return stop.is_set()

    try:
        with asyncio.Runner(loop_factory=new_loop) as runner:
            is_set = runner.run(wait_for_signal())
        left = signal.getsignal(which)
    finally:
        signal.signal(which, found)

    assert is_set
    assert left is previous_handler
