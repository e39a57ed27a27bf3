"""Commands that last end by signals, and leave the process as they found it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable

import pytest

from kubeloop.cli.signals import ended_by_signals
from kubeloop.kit import new_event_loop

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no handlers of a loop there")


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, new_event_loop])
@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_asks_for_an_end_and_the_handlers_are_taken_back(
    new_loop: Callable[[], asyncio.AbstractEventLoop], which: signal.Signals
) -> None:
    before = signal.getsignal(which)

    async def last() -> bool:
        with ended_by_signals() as end:
            os.kill(os.getpid(), which)
            await end.wait()
            return end.is_set()

    with asyncio.Runner(loop_factory=new_loop) as runner:
        has_ended = runner.run(last())

    assert has_ended
    assert signal.getsignal(which) == before
