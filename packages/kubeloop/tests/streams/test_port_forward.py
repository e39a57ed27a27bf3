"""Port forwarding on the embedded server, with real local connections."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import socket
import struct

import pytest

from kubeloop.clients import PodClient
from kubeloop.errors import InvalidArgument, NotFound, StreamBroken
from kubeloop.streams import PortForwardFailed
from kubeloop_testing import APIServer

from .conftest import CuttingProxy, create, pod_of, service_of


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while chunk := await reader.read(65536):
        writer.write(chunk)
        await writer.drain()
    writer.write(b"!")
    writer.write_eof()


@pytest.fixture
async def web(server: APIServer, pods: PodClient) -> PodClient:
    """A client of pods, with the pod `web` that echoes on port 8080."""
    await create(pods, pod_of("web", app="web"))
    server.kubelet.port(8080, echo)
    return pods


async def ask(port: int, data: bytes, host: str = "127.0.0.1") -> bytes:
    """Send data and the end of it, and read to the end."""
    reader, writer = await asyncio.open_connection(host, port)
    try:
        writer.write(data)
        writer.write_eof()
        return await reader.read()
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


async def test_a_local_port_leads_to_the_pod(web: PodClient) -> None:
    """WTC-26: the half-close is passed on, the answer follows it."""
    async with web.port_forward("web", 8080) as local:
        assert await ask(local.port, b"hello") == b"hello!"
        assert await ask(local.port, b"again") == b"again!"
        assert local.stats().accepted == 2

    with pytest.raises(OSError):
        await asyncio.open_connection("127.0.0.1", local.port)


@pytest.mark.timeout(20)
async def test_a_hundred_connections_share_one_tunnel(server: APIServer, web: PodClient) -> None:
    async with web.port_forward("web", 8080) as local:
        data = [str(each).encode() * 10_000 for each in range(100)]
        answers = await asyncio.gather(*(ask(local.port, each) for each in data))

    assert answers == [each + b"!" for each in data]
    assert sum(seen.path.endswith("/portforward") for seen in server.requests) == 1


@pytest.mark.timeout(60)
async def test_200_uploads_at_once_arrive_whole(server: APIServer, web: PodClient) -> None:
    async def summarize(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0)  # the first data has to wait
        writer.write(hashlib.sha256(await reader.read()).digest())
        writer.write_eof()

    server.kubelet.port(9000, summarize)
    data = [str(number).encode() * 50_000 for number in range(200)]
    async with web.port_forward("web", 9000) as local:
        answers = await asyncio.gather(*(ask(local.port, each) for each in data))

        assert answers == [hashlib.sha256(each).digest() for each in data]
        assert (local.stats().failed, local.stats().tunnels) == (0, 1)


async def test_large_data_passes_unchanged(web: PodClient) -> None:
    data = bytes(range(256)) * 40_000

    async def send(writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()
        writer.write_eof()

    async with web.port_forward("web", 8080) as local:
        reader, writer = await asyncio.open_connection("127.0.0.1", local.port)
        _, answer = await asyncio.gather(send(writer), reader.read())
        writer.close()

    assert answer == data + b"!"


async def test_a_refused_connection_ends_and_the_forward_goes_on(
    web: PodClient, caplog: pytest.LogCaptureFixture
) -> None:
    """WTC-C15"""
    async with web.port_forward("web", 9999, 8080) as local:
        with pytest.raises(ConnectionResetError):
            await ask(local.ports[0].local, b"x")
        assert await ask(local.ports[-1].local, b"x") == b"x!"
        assert local.stats().failed == 1

    assert "connection to port 9999 of web: forward port 9999 of web" in caplog.text
    assert "refused" in caplog.text


async def start_talking(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A local connection that has received something."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"x")
    assert await reader.read(100) == b"x"
    return reader, writer


async def test_a_connection_that_the_pod_resets_is_reset(
    server: APIServer, web: PodClient, caplog: pytest.LogCaptureFixture
) -> None:
    async def reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.read(1))
        await writer.drain()
        await reader.read(1)
        linger = struct.pack("ii", 1, 0)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        writer.transport.abort()

    async with await asyncio.start_server(reset, "127.0.0.1", 0) as pod:
        server.kubelet.port(9000, pod.sockets[0].getsockname()[:2])
        async with web.port_forward("web", 9000) as local:
            reader, writer = await start_talking(local.port)
            writer.write(b"y")
            with pytest.raises(ConnectionResetError):
                await reader.read()
            assert (local.stats().failed, local.stats().tunnels) == (1, 1)

    assert "connection reset by peer" in caplog.text


@pytest.mark.parametrize("reconnect", [True, False])
async def test_a_connection_whose_tunnel_is_lost_is_reset(
    proxy: CuttingProxy, web: PodClient, *, reconnect: bool
) -> None:
    raised: list[StreamBroken] = []
    try:
        async with web.port_forward("web", 8080, reconnect=reconnect) as local:
            connections = [await start_talking(local.port) for _ in range(3)]
            proxy.cut()
            while local.stats().failed < 3:
                await asyncio.sleep(0)
    except StreamBroken as error:
        raised.append(error)

    for reader, _ in connections:
        with pytest.raises(ConnectionResetError):
            await reader.read()
    assert local.stats().failed == 3
    assert len(raised) == (0 if reconnect else 1)


async def test_connections_that_are_open_at_the_end_of_the_block_are_reset(
    web: PodClient,
) -> None:
    async with web.port_forward("web", 8080) as local:
        reader, _ = await start_talking(local.port)

    with pytest.raises(ConnectionResetError):
        await reader.read()


async def test_an_explicit_local_port_is_used_or_is_an_error(web: PodClient) -> None:
    """WTC-26"""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InvalidArgument, match=f"cannot listen: 127.0.0.1:{port}"):
            async with web.port_forward("web", f"{port}:8080", addresses=["127.0.0.1"]):
                pass
    async with web.port_forward("web", f"{port}:8080", addresses=["127.0.0.1"]) as local:
        assert local.port == port


async def test_a_service_maps_its_ports(server: APIServer, web: PodClient) -> None:
    await server.client().core_v1.services("default").create(service_of("web", 80, 8080))

    async with web.port_forward("svc/web", 80) as local:
        assert await ask(local.port, b"x") == b"x!"
    with pytest.raises(InvalidArgument, match="port 81 of svc/web: it has only 80"):
        async with web.port_forward("svc/web", 81):
            pass


async def test_a_connection_without_a_listener(web: PodClient) -> None:
    async with web.open_connection("web", 8080) as connection:
        await connection.write(b"ping")
        assert await connection.read() == b"ping"
        await connection.write_eof()
        assert [chunk async for chunk in connection] == [b"!"]
    with pytest.raises(StreamBroken):
        await connection.write(b"late")


async def test_a_refused_connection_is_an_error(web: PodClient) -> None:
    with pytest.raises(PortForwardFailed, match="refused"):
        async with web.open_connection("web", 9999) as connection:
            await connection.read()
    with pytest.raises(NotFound):
        async with web.open_connection("gone", 8080):
            pass


async def test_a_lost_connection_fails_the_block(proxy: CuttingProxy, web: PodClient) -> None:
    """WTC-29"""

    async def forward() -> None:
        async with web.port_forward("web", 8080):
            proxy.cut()
            await asyncio.Event().wait()

    with pytest.raises(StreamBroken, match=r"closed|lost"):
        await forward()


async def test_reconnect_follows_a_pod_that_is_replaced(
    server: APIServer, proxy: CuttingProxy, web: PodClient
) -> None:
    direct = server.client().core_v1
    pods = direct.pods("default")
    await direct.services("default").create(service_of("web"))
    async with web.port_forward("svc/web", 80, reconnect=True) as local:
        assert await ask(local.port, b"one") == b"one!"
        await pods.delete("web", grace_period=0)
        proxy.cut()
        while (stats := local.stats()).open:
            await asyncio.sleep(0)
        answer = asyncio.ensure_future(ask(local.port, b"two"))
        await create(pods, pod_of("web-next", app="web"))

        assert await answer == b"two!"
        assert (local.stats().pod, stats.pod) == ("web-next", "web")
