"""The proxies of services, pods and nodes, as a client of the embedded server uses them."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from kubeloop import Client
from kubeloop.errors import ApiError, NotFound, ServiceUnavailable
from kubeloop.wire.core.v1 import (
    Container,
    ContainerPort,
    Pod,
    PodSpec,
    Service,
    ServicePort,
    ServiceSpec,
)
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_testing import APIServer, Workloads
from kubeloop_testing.server.serving.html_links import rewrite_links

PAGE = b'<a href="/next">next</a>'


@pytest.fixture
async def server() -> AsyncIterator[APIServer]:
    async with APIServer() as server:
        yield server


async def _run_pod(server: APIServer) -> Client:
    """A client; the pod `web` runs."""
    client = server.client()
    ports = [ContainerPort(container_port=8080)]
    spec = PodSpec(containers=[Container(name="app", image="i", ports=ports)])
    metadata = ObjectMeta(name="web", labels={"app": "web"})
    await client.core_v1.pods("default").create(Pod(metadata=metadata, spec=spec))
    return client


async def _count(request: web.BaseRequest) -> web.StreamResponse:
    """How many bytes were sent."""
    size = 0
    async for piece in request.content.iter_any():
        size += len(piece)
    return web.Response(text=f"{request.method} {request.path_qs} {size}")


async def _compressed_page(request: web.BaseRequest) -> web.StreamResponse:
    headers = {"Content-Type": "text/html", "Content-Encoding": "gzip"}
    return web.Response(body=gzip.compress(PAGE), headers=headers)


async def test_a_service_of_simulated_pods_is_reached_by_its_port(server: APIServer) -> None:
    client = await _run_pod(server)
    backend = web.ServerRunner(web.Server(_count))
    await backend.setup()
    site = web.TCPSite(backend, "127.0.0.1", 0)
    await site.start()
    server.kubelet.port(8080, backend.addresses[0], pod="web")
    ports = [ServicePort(port=80, target_port=8080)]
    spec = ServiceSpec(selector={"app": "web"}, ports=ports)
    services = client.core_v1.services("default")
    await services.create(Service(metadata=ObjectMeta(name="web"), spec=spec))

    async with Workloads(server.config, delay=0):
        await client.core_v1.pods("default").wait_for("web", condition="Ready")
        slices = client.discovery_v1.endpoint_slices("default")
        async with asyncio.timeout(5):
            while not any(e.conditions.ready for s in await slices.list() for e in s.endpoints):
                await asyncio.sleep(0)
        proxy = services.proxy("web", port=80)
        body = await proxy.get("healthz", params={"full": "1"})
        # Larger than any body that the API itself accepts.
        large = await proxy.request("POST", "upload", body=bytes(5 << 20))

    await backend.cleanup()
    assert body == b"GET /healthz?full=1 0"
    assert large.body == f"POST /upload {5 << 20}".encode()


async def test_a_port_that_is_not_registered_refuses_connections(server: APIServer) -> None:
    client = await _run_pod(server)
    server.kubelet.run_pod("web")

    with pytest.raises(ServiceUnavailable, match=r":8080: connect: connection refused"):
        await client.core_v1.pods("default").proxy("web").get("healthz")


async def test_a_function_can_be_the_backend(server: APIServer) -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        # Without a length: the end of the connection ends the body.
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\nhello")
        await writer.drain()

    client = await _run_pod(server)
    server.kubelet.run_pod("web")
    server.kubelet.port(80, greet)

    assert await client.core_v1.pods("default").proxy("web", port=80).get() == b"hello"


async def test_any_certificate_of_a_backend_is_accepted(server: APIServer) -> None:
    client = await _run_pod(server)
    server.kubelet.run_pod("web")
    async with APIServer(tls=True) as backend:
        server.kubelet.port(8443, ("127.0.0.1", int(backend.url.rpartition(":")[2])))
        proxy = client.core_v1.pods("default").proxy("web", scheme="https", port=8443)

        assert await proxy.get("healthz") == b"ok"


async def test_a_function_that_fails_is_a_port_that_does_not_respond(
    server: APIServer, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        raise ValueError("no")

    client = await _run_pod(server)
    server.kubelet.run_pod("web")
    server.kubelet.port(80, fail)

    with pytest.raises(ServiceUnavailable, match="error trying to reach service: "):
        await client.core_v1.pods("default").proxy("web", port=80).get()
    assert "port 80 of pod web failed" in caplog.text


async def test_links_of_a_compressed_page_are_rewritten(server: APIServer) -> None:
    client = await _run_pod(server)
    server.kubelet.run_pod("web")
    backend = web.ServerRunner(web.Server(_compressed_page))
    await backend.setup()
    await web.TCPSite(backend, "127.0.0.1", 0).start()
    server.kubelet.port(8080, backend.addresses[0])

    body = await client.core_v1.pods("default").proxy("web").get("page")

    await backend.cleanup()
    prefix = "/api/v1/namespaces/default/pods/web/proxy"
    assert body == PAGE.replace(b"/next", f"{prefix}/next".encode())


async def test_a_node_is_its_kubelet(server: APIServer) -> None:
    client = await _run_pod(server)
    nodes = client.core_v1.nodes()
    async with Workloads(server.config, delay=0, nodes=1):
        await nodes.wait_for("node-1", condition="Ready")
        await client.core_v1.pods("default").wait_for("web", condition="Ready")
        server.kubelet.log("web", "ready\n")
        kubelet = nodes.proxy("node-1")

        assert await kubelet.get("healthz") == b"ok"
        assert b'"name":"web"' in await kubelet.get("pods")
        logs = await kubelet.get("containerLogs/default/web/app", params={"tailLines": "1"})
        assert logs == b"ready\n"
        with pytest.raises(NotFound):
            await kubelet.get("configz")
        with pytest.raises(ApiError, match=r"dial tcp 192.168.0.1:9100: connect: connection ref"):
            await nodes.proxy("node-1", port=9100).get("metrics")


def test_links_in_comments_and_scripts_stay_as_they_are() -> None:
    page = "<!-- <a href=/a> -->\n<script>'<a href=/b>'</script><p>&amp;<IMG src='/c' alt>"

    rewritten = rewrite_links(page, lambda url: f"/x{url}")

    assert rewritten == (
        '<!-- <a href=/a> -->\n<script>\'<a href=/b>\'</script><p>&amp;<img src="/x/c" alt="">'
    )
