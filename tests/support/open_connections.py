"""Connections that a test leaves open are its own fault, and it is told so.

A socket that nobody closed is otherwise noticed whenever the collector finds it, and blamed on
the test that runs then. With `--deaf` no TLS connection hears its peer's farewell, so that
whatever waits for one is still open at the end, every time and not once in a hundred runs.
"""

from __future__ import annotations

from asyncio import AbstractEventLoop, selector_events, sslproto
from collections.abc import Generator
from typing import Any, Final

import pytest

__all__ = ["pytest_addoption", "pytest_configure", "pytest_runtest_teardown"]

_made: Final[list[tuple[Any, AbstractEventLoop, str]]] = []  # transports, and who made them
_current: Final = [""]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--deaf", action="store_true", help="let no TLS farewell be heard")


def pytest_configure(config: pytest.Config) -> None:
    transport: Any = selector_events._SelectorTransport  # type: ignore[attr-defined]
    make = transport.__init__

    def remembered(self: Any, loop: AbstractEventLoop, *args: Any, **options: Any) -> None:
        make(self, loop, *args, **options)
        _made.append((self, loop, _current[0]))

    transport.__init__ = remembered
    if config.getoption("--deaf"):
        sslproto.SSLProtocol._do_flush = lambda self: None  # type: ignore[attr-defined]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    _current[0] = item.nodeid


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    result = yield
    left = []
    for transport, loop, maker in _made:
        if transport._sock is not None and loop.is_closed():
            left.append(f"{transport._sock!r} of {maker}")
            transport._sock.close()
            transport._sock = None  # said once
    _made[:] = [each for each in _made if each[0]._sock is not None]
    if left:
        pytest.fail("connections were left open:\n" + "\n".join(left), pytrace=False)
    return result
