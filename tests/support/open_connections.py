"""A pytest plugin: a test that leaves a connection open fails.

Otherwise the garbage collector finds the socket later, and another test fails. With
`--no-close-notify` no TLS connection sees the close_notify of its peer, so that code that waits
for one always leaves its connection open, instead of once in a hundred runs.
"""

from __future__ import annotations

from asyncio import AbstractEventLoop, selector_events, sslproto
from collections.abc import Generator
from typing import Any, Final

import pytest

__all__ = ["pytest_addoption", "pytest_configure", "pytest_runtest_teardown"]

_created: Final[list[tuple[Any, AbstractEventLoop, str]]] = []  # transports, and their tests
_current: Final = [""]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--no-close-notify", action="store_true", help="ignore the close_notify of TLS peers"
    )


def pytest_configure(config: pytest.Config) -> None:
    transport: Any = selector_events._SelectorTransport  # type: ignore[attr-defined]
    original = transport.__init__

    def record(self: Any, loop: AbstractEventLoop, *args: Any, **options: Any) -> None:
        original(self, loop, *args, **options)
        _created.append((self, loop, _current[0]))

    transport.__init__ = record
    if config.getoption("--no-close-notify"):
        sslproto.SSLProtocol._do_flush = lambda self: None  # type: ignore[attr-defined]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    _current[0] = item.nodeid


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    result = yield
    left = []
    for transport, loop, test in _created:
        if transport._sock is not None and loop.is_closed():
            left.append(f"{transport._sock!r} of {test}")
            transport._sock.close()
            transport._sock = None  # reported once
    _created[:] = [each for each in _created if each[0]._sock is not None]
    if left:
        pytest.fail("open connections:\n" + "\n".join(left), pytrace=False)
    return result
