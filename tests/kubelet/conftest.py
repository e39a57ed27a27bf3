"""A real control plane with one node: the stand-in kubelet that `make assets` builds."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio

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
from kubeloop_testing import ControlPlane, ControlPlaneFailed, assets_folder
from kubeloop_testing.control_plane import cached_assets

PROGRAM = cached_assets() / "stand-in-kubelet"


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


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def container(
    plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Path]:
    """The folder of containers that run real programs: those of the pods `shell` and `direct`.

    The node of `direct` declares that its kubelet handles WebSockets; for `shell` the API server
    translates them.
    """
    if missing := [each for each in ("sh", "cat", "tar") if shutil.which(each) is None]:
        pytest.skip(f"this machine does not have {' and '.join(missing)}")
    folder = tmp_path_factory.mktemp("container")
    certificates = tmp_path_factory.mktemp("kubelet-with-programs")
    async with kubelet(plane, certificates, f"-programs={folder}") as port:
        await _register(plane, port, node="programs", pod="shell")
        await _register(
            plane,
            port,
            node="programs-direct",
            pod="direct",
            features=["ExtendWebSocketsToKubelet"],
        )
        yield folder


@pytest.fixture(params=["shell", "direct"])
def pod(request: pytest.FixtureRequest, container: Path) -> str:
    """Each of the two pods with real programs."""
    return str(request.param)


@asynccontextmanager
async def kubelet(plane: ControlPlane, folder: Path, *flags: str) -> AsyncIterator[int]:
    """The port of a stand-in kubelet that runs while the block lasts."""
    certificate, key = plane.server_certificate().write(folder, "kubelet")
    (folder / "ca.crt").write_bytes(plane.ca)
    process = await asyncio.create_subprocess_exec(
        PROGRAM,
        f"-cert={certificate}",
        f"-key={key}",
        f"-ca={folder / 'ca.crt'}",
        *flags,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        port = await process.stdout.readline()
        if not port:
            pytest.fail("the stand-in kubelet is older than its source (run `make assets`)")
        yield int(port)
    finally:
        process.stdin.close()  # it exits at the end of its input
        await process.wait()


async def _register(
    plane: ControlPlane,
    port: int,
    *,
    node: str = "stand-in",
    pod: str = "web",
    features: Sequence[str] = (),
) -> None:
    """Create a node whose kubelet listens on that port, and a pod on it."""
    core = plane.client().core_v1
    created = await core.nodes().create(Node(metadata=ObjectMeta(name=node)))
    created.status = NodeStatus(
        addresses=[NodeAddress(type="InternalIP", address="127.0.0.1")],
        daemon_endpoints=NodeDaemonEndpoints(kubelet_endpoint=DaemonEndpoint(port=port)),
        declared_features=list(features),
    )
    await core.nodes().status.update(created)
    spec = PodSpec(node_name=node, containers=[Container(name="app", image="none")])
    running = await core.pods("default").create(Pod(metadata=ObjectMeta(name=pod), spec=spec))
    running.status = PodStatus(phase="Running")
    await core.pods("default").status.update(running)
