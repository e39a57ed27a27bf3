"""The imports of a script before its first request."""

from __future__ import annotations

import subprocess
import sys

import pytest

FIRST_REQUEST = """
import asyncio, sys
from kubeloop import Client, ClusterConfig, TransportError
from kubeloop.wire.core.v1 import Pod

async def main():
    async with Client(ClusterConfig(server="http://127.0.0.1:1")) as client:
        try:
            await client.resource(Pod, namespace="shop").get("web")
        except TransportError:
            pass

asyncio.run(main())
print(*sys.modules)
"""

FOR_OTHERS = {
    "importlib.metadata",
    "kubeloop.cache",
    "kubeloop.clients.object_patch",
    "kubeloop.discovery",
    "kubeloop.jsonpath",
    "kubeloop.patches",
    "kubeloop.runtime.manager",
    "opentelemetry",
    "prometheus_client",
    "yaml",
}


@pytest.mark.timeout(60)
def test_a_script_that_reads_an_object_loads_nothing_for_others() -> None:
    """Importing them would be most of its time: each takes milliseconds."""
    command = [sys.executable, "-c", FIRST_REQUEST]
    done = subprocess.run(command, capture_output=True, check=True, text=True)

    assert FOR_OTHERS & set(done.stdout.split()) == set()
