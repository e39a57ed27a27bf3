"""`--sluggish SEED`: the tests' own process as it may be on a busy machine.

The loop rests between any two of its steps, sees what its sockets have later, and threads take
turns all the time and begin late. What fails only so waits for the wrong sign. Each test is
given the same rests for the same seed, and so much of them that it keeps its limit.
Elsewhere: whole processes that are stopped (`tools/stutter.py`). uvloop is not touched.
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

__all__ = ["Rests", "pytest_addoption", "pytest_configure", "pytest_runtest_setup"]

_BEFORE_A_STEP, _IN_A_THREAD = 0.02, 0.5  # how likely a rest is
_LATE = 0.3  # how likely it is that what a socket has is seen one turn later
_USUAL, _LONGEST, _IN_ALL = 0.0125, 0.05, 1.2  # seconds: of a rest, and of those of a test
_TURN = 1e-5  # seconds that a thread has before the next one may go on


@final
class Rests:
    """Rests by chance, and no more than a test can bear."""

    def __init__(self, seed: str) -> None:
        self._chance = random.Random(seed)
        self._left = _IN_ALL

    def next(self, likely: float) -> float:
        """Seconds of the next rest; 0 for none."""
        if self._left <= 0 or not self.comes(likely):
            return 0
        seconds = min(_LONGEST, self._left, self._chance.expovariate(1 / _USUAL))
        self._left -= seconds
        return seconds

    def comes(self, likely: float) -> bool:
        return self._chance.random() < likely


_rests: Final = [Rests("")]  # of the current test


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--sluggish", metavar="SEED", help="as on a busy machine")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--sluggish") is not None:
        _rest_before(asyncio.Handle, "_run", _BEFORE_A_STEP)
        _rest_before(threading.Thread, "run", _IN_A_THREAD)
        _slow_down_sockets()
        sys.setswitchinterval(_TURN)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    _rests[0] = Rests(f"{item.config.getoption('--sluggish')} {item.nodeid}")


def _rest_before(owner: Any, method: str, likely: float) -> None:
    work = getattr(owner, method)

    def rested(self: Any) -> None:
        if seconds := _rests[0].next(likely):
            time.sleep(seconds)
        work(self)

    setattr(owner, method, rested)


def _slow_down_sockets() -> None:
    selector: Any = selectors.DefaultSelector
    select = selector.select

    def seen(self: Any, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        return [
            (key, ready)
            for key, ready in select(self, timeout)
            if _wakes_the_loop(key) or not _rests[0].comes(_LATE)
        ]

    selector.select = seen


def _wakes_the_loop(key: selectors.SelectorKey) -> bool:
    """A loop's word to itself is there at once."""
    reader = key.data[0] if isinstance(key.data, tuple) else None
    return getattr(getattr(reader, "_callback", None), "__name__", "") == "_read_from_self"
