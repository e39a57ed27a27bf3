"""The streams of kubeloop's client through the real API server, to the stand-in kubelet."""

from __future__ import annotations

import asyncio
import hashlib
import socket
import struct
from contextlib import aclosing

import pytest

from kubeloop.errors import InternalError, NotFound
from kubeloop.streams import LogLine, NonZeroExitCode, PortForwardFailed
from kubeloop_testing import ControlPlane

pytestmark = [pytest.mark.timeout(90), pytest.mark.asyncio(loop_scope="session")]


async def test_exec_returns_the_output_and_the_exit_code(plane: ControlPlane) -> None:
    """WTC-13, WTC-18, WTC-C8"""
    pods = plane.client().core_v1.pods("default")

    assert (await pods.exec("web", ["echo", "hello", "there"])).text == "hello there\n"
    assert (await pods.exec("web", ["warn", "careful"])).stderr == b"careful\n"
    assert (await pods.exec("web", ["exit", "7"])).exit_code == 7
    with pytest.raises(NonZeroExitCode, match="exit code 9"):
        await pods.exec("web", ["exit", "9"], check=True)
    with pytest.raises(InternalError, match="executable file not found"):
        await pods.exec("web", ["nothing"])
    with pytest.raises(NotFound, match='pods "gone" not found'):
        await pods.exec("gone", ["echo"])


async def test_exec_passes_input_and_its_end(plane: ControlPlane) -> None:
    """WTC-15, WTC-C10"""
    pods = plane.client().core_v1.pods("default")
    data = bytes(range(256)) * 20_000

    assert (await pods.exec("web", ["cat"], stdin=data)).stdout == data
    async with pods.exec("web", ["cat"], stdin=True) as process:
        await process.stdin.write("one\n")
        assert await anext(process.stdout) == b"one\n"
        await process.stdin.close()
        assert await process.wait() == 0


async def test_a_terminal_reports_its_sizes(plane: ControlPlane) -> None:
    """WTC-17"""
    pods = plane.client().core_v1.pods("default")

    async with pods.exec("web", ["sizes", "2"], stdin=True, tty=True) as process:
        await process.resize(80, 24)
        await process.resize(120, 40)

        assert (await process.stdout.read()).split() == [b"80x24", b"120x40"]


async def test_attach_connects_to_the_container(plane: ControlPlane) -> None:
    pods = plane.client().core_v1.pods("default")

    assert (await pods.attach("web", stdin=b"through")).stdout == b"through"


async def test_a_cancelled_command_ends(plane: ControlPlane) -> None:
    """WTC-21"""
    pods = plane.client().core_v1.pods("default")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await pods.exec("web", ["sleep"])


async def ask(port: int, data: bytes) -> bytes:
    """Send data and the end of it, and read to the end."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(data)
        writer.write_eof()
        return await reader.read()
    finally:
        writer.close()


async def test_a_port_is_forwarded_in_both_directions(plane: ControlPlane) -> None:
    """WTC-27, WTC-28"""

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while chunk := await reader.read(65536):
            writer.write(chunk)
        writer.write(b"!")
        writer.close()

    pods = plane.client().core_v1.pods("default")
    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, pods.port_forward("web", port) as forward:
        data = [str(each).encode() * 1000 for each in range(20)]
        answers = await asyncio.gather(*(ask(forward.port, each) for each in data))

    assert answers == [each + b"!" for each in data]


async def test_200_uploads_at_once_arrive_whole(plane: ControlPlane) -> None:
    async def summarize(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(hashlib.sha256(await reader.read()).digest())
        writer.close()

    pods = plane.client().core_v1.pods("default")
    server = await asyncio.start_server(summarize, "127.0.0.1", 0, backlog=256)
    port = server.sockets[0].getsockname()[1]
    async with server, pods.port_forward("web", port) as forward:
        data = [str(each).encode() * 100_000 for each in range(200)]
        answers = await asyncio.gather(*(ask(forward.port, each) for each in data))

        assert answers == [hashlib.sha256(each).digest() for each in data]
        assert (forward.stats().failed, forward.stats().tunnels) == (0, 1)


async def test_a_connection_that_the_pod_resets_is_reset(plane: ControlPlane) -> None:
    async def reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"a part")
        await writer.drain()
        await reader.read(1)
        linger = struct.pack("ii", 1, 0)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        writer.transport.abort()

    pods = plane.client().core_v1.pods("default")
    server = await asyncio.start_server(reset, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, pods.port_forward("web", port) as forward:
        reader, writer = await asyncio.open_connection("127.0.0.1", forward.port)
        assert await reader.read(100) == b"a part"
        writer.write(b"x")

        with pytest.raises(ConnectionResetError):
            await reader.read()
        assert forward.stats().failed == 1
        writer.close()


async def test_a_refused_connection_is_reported(plane: ControlPlane) -> None:
    """WTC-C15"""
    pods = plane.client().core_v1.pods("default")

    with pytest.raises(PortForwardFailed, match="refused"):
        async with pods.open_connection("web", 9) as connection:
            await connection.read()


async def test_logs_are_followed(plane: ControlPlane) -> None:
    pods = plane.client().core_v1.pods("default")

    lines = [line async for line in pods.logs("web", tail_lines=2)]
    async with aclosing(pods.log_entries("web", follow=True, tail_lines=1)) as entries:
        followed = []
        async for entry in entries:
            if isinstance(entry, LogLine):
                followed.append(entry.text)
            if len(followed) == 3:
                break

    assert lines == ["default/web/app: line 9", "default/web/app: line 10"]
    assert followed == [f"default/web/app: line {each}" for each in (10, 11, 12)]
