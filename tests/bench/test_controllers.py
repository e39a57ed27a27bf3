"""Our half of the benches of controllers, on the embedded server: that it says what it should."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bench.controllers import reconciling
from bench.measure import Failed
from bench.pods import pod
from kubeloop import Client, ClusterConfig, run
from kubeloop.wire.core.v1 import Namespace, Pod
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_testing import APIServer, running_in_thread

pytestmark = pytest.mark.timeout(60)  # it starts an interpreter

PODS = 3


async def fill(config: ClusterConfig) -> None:
    async with Client(config) as client:
        for number in range(PODS):
            body = pod(number)
            namespace = body["metadata"]["namespace"]
            space = Namespace(metadata=ObjectMeta(name=namespace))
            await client.core_v1.namespaces().create(space)
            del body["metadata"]["resourceVersion"], body["metadata"]["uid"]
            await client.dynamic.resource("v1", "Pod", namespace=namespace).create(body)


async def mark(config: ClusterConfig, text: str) -> None:
    meta = pod(0)["metadata"]
    async with Client(config) as client:
        pods = client.resource(Pod, namespace=meta["namespace"])
        await pods.status.patch(meta["name"], {"status": {"message": text}}, type="merge")


def test_it_says_hello_when_all_pods_are_reconciled_and_then_tells_of_each_mark(
    tmp_path: Path,
) -> None:
    command = [sys.executable, "-m", "bench.reconciler", f"--objects={PODS}"]
    with running_in_thread(APIServer()) as server:
        path = tmp_path / "kubeconfig"
        path.write_text(server.kubeconfig())
        run(fill(server.config))
        with reconciling(command, path) as reconciler:
            run(mark(server.config, "first"))
            first = reconciler.await_mark("first")
            run(mark(server.config, "second"))
            with pytest.raises(Failed, match="'second' came"):
                reconciler.await_mark("third")

    assert first.at > 0
