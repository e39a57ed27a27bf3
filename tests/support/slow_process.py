"""A pytest plugin: `--slow SEED` slows the test process down, as on a busy machine.

The event loop sleeps between callbacks and sees ready sockets late; threads start late and switch
often. A test that fails only with this option depends on timing. The same seed gives each test
the same delays, within its time limit. uvloop is not affected.
See also: `tools/stutter.py` (stops whole processes).
"""

from __future__ import annotations

import asyncio
import random
import selectors
import sys
import threading
import time
from typing import Any, Final, final

import pytest

__all__ = ["Delays", "pytest_addoption", "pytest_configure", "pytest_runtest_setup"]

_BEFORE_CALLBACK, _BEFORE_THREAD = 0.02, 0.5  # probability of a delay
_LATE_SOCKET = 0.3  # probability that a ready socket is seen one iteration later
_MEAN, _MAXIMUM, _TOTAL = 0.0125, 0.05, 1.2  # seconds of one delay, and of all in a test
_SWITCH_INTERVAL = 1e-5  # seconds between thread switches


@final
class Delays:
    """Random delays with a limit for each test."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)
        self._left = _TOTAL

    def next(self, probability: float) -> float:
        """Seconds of the next delay; 0 for none."""
        if self._left <= 0 or not self.occurs(probability):
            return 0
        seconds = min(_MAXIMUM, self._left, self._random.expovariate(1 / _MEAN))
        self._left -= seconds
        return seconds

    def occurs(self, probability: float) -> bool:
        return self._random.random() < probability


_delays: Final = [Delays("")]  # of the current test


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", metavar="SEED", help="slow down as on a busy machine")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--slow") is not None:
        _delay(asyncio.Handle, "_run", _BEFORE_CALLBACK)
        _delay(threading.Thread, "run", _BEFORE_THREAD)
        _slow_down_sockets()
        sys.setswitchinterval(_SWITCH_INTERVAL)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    _delays[0] = Delays(f"{item.config.getoption('--slow')} {item.nodeid}")


def _delay(owner: Any, method: str, probability: float) -> None:
    original = getattr(owner, method)

    def delayed(self: Any) -> None:
        if seconds := _delays[0].next(probability):
            time.sleep(seconds)
        original(self)

    setattr(owner, method, delayed)


def _slow_down_sockets() -> None:
    selector: Any = selectors.DefaultSelector
    select = selector.select

    def select_late(
        self: Any, timeout: float | None = None
    ) -> list[tuple[selectors.SelectorKey, int]]:
        return [
            (key, ready)
            for key, ready in select(self, timeout)
            if _wakes_the_loop(key) or not _delays[0].occurs(_LATE_SOCKET)
        ]

    selector.select = select_late


def _wakes_the_loop(key: selectors.SelectorKey) -> bool:
    """The self-pipe of a loop is never late."""
    reader = key.data[0] if isinstance(key.data, tuple) else None
    return getattr(getattr(reader, "_callback", None), "__name__", "") == "_read_from_self"
