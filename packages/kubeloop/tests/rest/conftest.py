"""A scripted server, clocks and a certificate authority for each test of HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from kubeloop.kit import ManualClock
from tests.support.certificates import Authority
from tests.support.clocks import InstantClock
from tests.support.scripted_server import ScriptedServer, serving


@pytest.fixture
async def server() -> AsyncIterator[ScriptedServer]:
    async with serving() as script:
        yield script


@pytest.fixture
def hurried() -> InstantClock:
    return InstantClock()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(scope="session")
def authority() -> Authority:
    return Authority()
