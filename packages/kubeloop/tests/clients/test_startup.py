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
    "aiohttp",
    "email.message",
    "fractions",
    "importlib.metadata",
    "kubeloop.blocking",
    "kubeloop.cache",
    "kubeloop_cli",
    "kubeloop.clients.manifests",
    "kubeloop.clients.metadata",
    "kubeloop.clients.object_patch",
    "kubeloop.clients.scale",
    "kubeloop.clients.wait",
    "kubeloop.clients.writer",
    "kubeloop.config.exec_credentials",
    "kubeloop.config.writing",
    "kubeloop.discovery",
    "kubeloop.election",
    "kubeloop.events",
    "kubeloop.inspector",
    "kubeloop.jsonpath",
    "kubeloop.kit.host_guard",
    "kubeloop.kit.listening",
    "kubeloop.patches",
    "kubeloop.runtime.manager",
    "kubeloop.selectors",
    "kubeloop_testing",
    "kubeloop.wire._generated.apps_v1",
    "kubeloop.wire.manifests",
    "kubeloop.wire.projection",
    "kubeloop.workqueue",
    "multidict",
    "opentelemetry",
    "prometheus_client",
    "tempfile",
    "yaml",
    "yarl",
}


@pytest.mark.timeout(60)
def test_a_script_that_reads_an_object_loads_nothing_for_others() -> None:
    """Importing them would be most of its time: each takes milliseconds."""
    command = [sys.executable, "-c", FIRST_REQUEST]
    done = subprocess.run(command, capture_output=True, check=True, text=True)

    assert FOR_OTHERS & set(done.stdout.split()) == set()
