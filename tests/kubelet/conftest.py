"""A real control plane with one node: the stand-in kubelet that `make assets` builds."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from kubeloop.testing import ControlPlane, ControlPlaneFailed, assets_folder
from kubeloop.testing.control_plane import cached_assets
from kubeloop.wire.core.v1 import (
    Container,
    DaemonEndpoint,
    Node,
    NodeAddress,
    NodeDaemonEndpoints,
    NodeStatus,
    Pod,
    PodSpec,
    PodStatus,
)
from kubeloop.wire.meta.v1 import ObjectMeta

PROGRAM = cached_assets() / "stand-in-kubelet"
NODE = "stand-in"


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def plane(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ControlPlane]:
    """The control plane, with the node and the pod `default/web` on it."""
    try:
        assets_folder()
    except ControlPlaneFailed as error:
        pytest.skip(str(error))
    if not os.access(PROGRAM, os.X_OK):
        pytest.skip("no stand-in kubelet (run `make assets`; it needs Go)")
    async with ControlPlane() as plane, kubelet(plane, tmp_path_factory.mktemp("kubelet")) as port:
        await _register(plane, port)
        yield plane


@asynccontextmanager
async def kubelet(plane: ControlPlane, folder: Path) -> AsyncIterator[int]:
    """The port of a stand-in kubelet that runs while the block lasts."""
    certificate, key = plane.server_certificate().write(folder, "kubelet")
    (folder / "ca.crt").write_bytes(plane.ca)
    process = await asyncio.create_subprocess_exec(
        PROGRAM,
        f"-cert={certificate}",
        f"-key={key}",
        f"-ca={folder / 'ca.crt'}",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield int(await process.stdout.readline())
    finally:
        process.stdin.close()  # it exits at the end of its input
        await process.wait()


async def _register(plane: ControlPlane, port: int) -> None:
    core = plane.client().core_v1
    node = await core.nodes().create(Node(metadata=ObjectMeta(name=NODE)))
    node.status = NodeStatus(
        addresses=[NodeAddress(type="InternalIP", address="127.0.0.1")],
        daemon_endpoints=NodeDaemonEndpoints(kubelet_endpoint=DaemonEndpoint(port=port)),
    )
    await core.nodes().status.update(node)
    spec = PodSpec(node_name=NODE, containers=[Container(name="app", image="none")])
    pod = await core.pods("default").create(Pod(metadata=ObjectMeta(name="web"), spec=spec))
    pod.status = PodStatus(phase="Running")
    await core.pods("default").status.update(pod)
