"""A node for a real control plane: runs every pod, reports its status, serves its log.

kube-controller-manager makes the pods of deployments and jobs, and leaves the rest to a
scheduler and to kubelets: these lines are both.
"""

from __future__ import annotations

import ssl
import tempfile
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web

from kubeloop.clients import ALL_NAMESPACES, APIClient
from kubeloop.errors import ApiError
from kubeloop.kit import TaskOwner
from kubeloop.wire.core.v1 import Node, Pod
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_testing import ControlPlane
from tests.support.https import serve_app


@asynccontextmanager
async def node(plane: ControlPlane) -> AsyncIterator[None]:
    """Pods run, and end when they are deleted, while the block runs."""
    logs: dict[str, str] = {}  # by namespace/name
    name = f"node-{uuid.uuid4().hex[:8]}"
    async with (
        APIClient(plane.config) as client,
        _kubelet(plane, logs) as port,
        TaskOwner() as tasks,
    ):
        await _register(client, name, port)
        tasks.spawn(_follow(client, name, logs), name=name)
        yield


def result_of(pod: Pod) -> tuple[bool, str]:
    """Whether a pod's command succeeds, and what it writes: `echo` is all that there is."""
    command, *words = pod.spec.containers[0].command or ["sleep"]
    return (True, " ".join(words) + "\n") if command == "echo" else (False, "no such command\n")


@asynccontextmanager
async def _kubelet(plane: ControlPlane, logs: dict[str, str]) -> AsyncIterator[int]:
    """Serves logs to the API server; the block is given the port."""

    async def log(request: web.Request) -> web.Response:
        return web.Response(text=logs["{namespace}/{pod}".format_map(request.match_info)])

    app = web.Application()
    app.router.add_get("/containerLogs/{namespace}/{pod}/{container}", log)
    async with serve_app(app, _tls(plane)) as port:
        yield port


def _tls(plane: ControlPlane) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    with tempfile.TemporaryDirectory() as folder:
        context.load_cert_chain(*plane.server_certificate().write(Path(folder), "kubelet"))
    return context


async def _register(client: APIClient, name: str, port: int) -> None:
    nodes = client.core_v1.nodes()
    await nodes.create(Node(metadata=ObjectMeta(name=name)))
    status = {
        "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
        "conditions": [{"type": "Ready", "status": "True"}],
    }
    await nodes.status.patch(name, {"status": status}, type="merge")


async def _follow(client: APIClient, name: str, logs: dict[str, str]) -> None:
    async for event in client.core_v1.pods(ALL_NAMESPACES).watch():
        if event.type == "DELETED":
            continue
        try:
            await _bring_on(client, event.object, name, logs)
        except ApiError:
            continue  # it has changed meanwhile, and that comes as well


async def _bring_on(client: APIClient, pod: Pod, node_name: str, logs: dict[str, str]) -> None:
    """The next step in the life of a pod."""
    found = pod.metadata
    pods = client.core_v1.pods(found.namespace)
    if found.deletion_timestamp:
        await pods.delete(found.name, grace_period=0)
    elif not pod.spec.node_name:
        await pods.bind(found.name, node=node_name)
    elif pod.spec.node_name == node_name and pod.status.phase == "Pending":
        status = _begun(pod, logs)
        await pods.status.patch(found.name, {"status": status}, type="merge")


def _begun(pod: Pod, logs: dict[str, str]) -> dict[str, Any]:
    """The status of a pod that has begun; one that is not to be started again has ended."""
    if pod.spec.restart_policy != "Never":
        return {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    succeeds, logs[f"{pod.metadata.namespace}/{pod.metadata.name}"] = result_of(pod)
    return {"phase": "Succeeded" if succeeds else "Failed"}
