"""A server with running pods, a client that does not wait, and a proxy that cuts connections."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import final

import pytest

from kubeloop.clients import PodClient
from kubeloop.config import ClusterConfig
from kubeloop.kit import TaskOwner
from kubeloop.runtime import Client
from kubeloop.wire import parse_time
from kubeloop.wire.core.v1 import (
    Container,
    ContainerState,
    ContainerStateRunning,
    ContainerStateTerminated,
    ContainerStatus,
    Pod,
    PodCondition,
    PodSpec,
    PodStatus,
    Service,
    ServicePort,
    ServiceSpec,
)
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_testing import APIServer
from tests.support.clocks import FastClock


@final
class CuttingProxy:
    """A TCP proxy in this event loop; `cut` ends all connections without a word."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._open: set[asyncio.StreamWriter] = set()
        self._tasks = TaskOwner(on_failure=lambda *_: None)
        self.url = ""

    async def __aenter__(self) -> CuttingProxy:
        await self._tasks.__aenter__()
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        self.cut()
        await self._tasks.__aexit__(None, None, None)

    def cut(self) -> None:
        for writer in self._open:
            writer.transport.abort()
        self._open.clear()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        self._tasks.spawn(self._connect(reader, writer), name="connection")

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self._port)
        self._open.add(back)
        try:
            async with TaskOwner(on_failure=lambda *_: None) as tasks:
                tasks.spawn(_copy(there, writer), name="responses")
                await _copy(reader, back)
        finally:
            back.transport.abort()
            writer.transport.abort()
            self._open -= {back, writer}


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while chunk := await reader.read(65536):
        writer.write(chunk)
        await writer.drain()
    writer.write_eof()


@pytest.fixture
async def server() -> AsyncIterator[APIServer]:
    async with APIServer() as running:
        yield running


@pytest.fixture
async def proxy(server: APIServer) -> AsyncIterator[CuttingProxy]:
    async with CuttingProxy(int(server.url.rpartition(":")[2])) as running:
        yield running


@pytest.fixture
async def pods(proxy: CuttingProxy) -> AsyncIterator[PodClient]:
    """A client of the pods in `default`, through the proxy."""
    config = ClusterConfig(server=proxy.url, namespace="default", anonymous=True)
    async with Client(config, clock=FastClock()) as client:
        yield client.core_v1.pods()


def pod_of(name: str, *containers: str, ready: bool = True, **labels: str) -> Pod:
    """A pod whose containers run."""
    names = containers or ("app",)
    return Pod(
        metadata=ObjectMeta(name=name, labels=labels),
        spec=PodSpec(
            node_name="node-1",
            containers=[Container(name=each, image="app:1") for each in names],
        ),
        status=PodStatus(
            phase="Running",
            conditions=[PodCondition(type="Ready", status="True" if ready else "False")],
            container_statuses=[running_status(each) for each in names],
        ),
    )


def running_status(name: str, *, restarts: int = 0, started: str = "") -> ContainerStatus:
    at = parse_time(started or "2030-01-01T00:00:00Z")
    return ContainerStatus(
        name=name,
        image="app:1",
        image_id="",
        ready=True,
        container_id=f"containerd://{name}-{restarts}",
        restart_count=restarts,
        state=ContainerState(running=ContainerStateRunning(started_at=at)),
    )


def ended_status(name: str, *, exit_code: int = 0) -> ContainerStatus:
    ended = ContainerStateTerminated(
        exit_code=exit_code, started_at=parse_time("2030-01-01T00:00:00Z")
    )
    return ContainerStatus(
        name=name,
        image="app:1",
        image_id="",
        ready=False,
        container_id=f"containerd://{name}-0",
        restart_count=0,
        state=ContainerState(terminated=ended),
    )


async def create(pods: PodClient, pod: Pod) -> Pod:
    """Create a pod with its status."""
    stored = await pods.create(pod)
    stored.status = pod.status
    return await pods.status.update(stored)


async def end(pods: PodClient, name: str, *containers: str) -> None:
    """Let the containers of a pod end, and with them their logs."""
    async with pods.status.edit(name) as pod:
        pod.status.phase = "Succeeded"
        pod.status.container_statuses = [ended_status(each) for each in containers or ("app",)]


def service_of(app: str, port: int = 80, target_port: int | str = 8080) -> Service:
    """A service of the pods with the label `app`."""
    ports = [ServicePort(port=port, target_port=target_port)]
    return Service(
        metadata=ObjectMeta(name=app), spec=ServiceSpec(selector={"app": app}, ports=ports)
    )
