"""Commands that last end by signals, and leave the process as they found it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType

import pytest

from kubeloop.cli.signals import ended_by_signals
from kubeloop.kit import new_event_loop

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no handlers of a loop there")


def ours(number: int, frame: FrameType | None) -> None:
    """A handler of whoever calls the command."""


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, new_event_loop])
@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_asks_for_an_end_and_the_handlers_are_taken_back(
    new_loop: Callable[[], asyncio.AbstractEventLoop], which: signal.Signals
) -> None:
    # Whoever started the tests may have it ignored, as nohup does: then it would end nothing.
    found = signal.signal(which, ours)

    async def last() -> bool:
        with ended_by_signals() as end:
            os.kill(os.getpid(), which)
            await end.wait()
            return end.is_set()

    try:
        with asyncio.Runner(loop_factory=new_loop) as runner:
            has_ended = runner.run(last())
        left = signal.getsignal(which)
    finally:
        signal.signal(which, found)

    assert has_ended
    assert left is ours
