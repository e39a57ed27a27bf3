"""Other people's programs against the embedded server, over TLS and with roles.

The fixtures are those of `kubeloop_testing.plugin`: `--kube envtest` runs the same tests
against a real control plane.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.kubectl import kubectl, kubectl_cache, kubectl_program

__all__ = ["kubectl", "kubectl_cache", "kubectl_program"]  # fixtures

PATIENCE = 60  # seconds: programs are started, and machines are busy


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        # A test that names its own limit keeps it.
        if item.path.parent == Path(__file__).parent and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(PATIENCE))


@pytest.fixture(scope="session")
def kube_options() -> Mapping[str, Any]:
    return {"tls": True, "rbac": True}


@pytest.fixture(autouse=True)
def _one_server_for_all(kube_session_server: object) -> None:
    """All fixtures use the server of the session."""


@pytest.fixture(autouse=True)
async def _abort_connections() -> AsyncIterator[None]:
    """Abort connections that a client leaves open, or whose close handshake is not done.

    Otherwise the collector finds them some tests later, and the warning is blamed on those.
    """
    yield
    loop: Any = asyncio.get_running_loop()
    for transport in list(loop._transports.values()):
        transport.abort()
    await asyncio.sleep(0)
