"""Raw exchanges over WebSockets are the same with the embedded server and with a real one.

The embedded server has the commands of the stand-in kubelet. Names of runs and sandboxes differ.
"""

from __future__ import annotations

import asyncio
import json
import re
import ssl
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, TypeAlias, final

import aiohttp
import pytest
import pytest_asyncio

from kubeloop.config import ClusterConfig
from kubeloop.kit import spdy
from kubeloop_testing import APIServer, ControlPlane, Process
from tests.support.spdy_tunnel import Tunnel

pytestmark = [pytest.mark.timeout(90), pytest.mark.asyncio(loop_scope="session")]

V5, V4 = "v5.channel.k8s.io", "v4.channel.k8s.io"
WEB = "/api/v1/namespaces/default/pods/web"
Exchange: TypeAlias = dict[str, Any]


@final
class Raw:
    """Sends plain requests to one server."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self.session = session

    async def talk(
        self,
        path: str,
        protocols: tuple[str, ...] = (V5,),
        *,
        messages: tuple[bytes | str, ...] = (),
        ends: bool = True,
    ) -> Exchange:
        """All that the server sends, by channel; or how it refuses the handshake."""
        try:
            async with self.session.ws_connect(
                path, protocols=protocols, autoclose=False
            ) as socket:
                return await self._exchange(socket, messages, ends=ends)
        except aiohttp.WSServerHandshakeError as error:
            return {"refused": error.status}

    async def _exchange(
        self, socket: Any, messages: tuple[bytes | str, ...], *, ends: bool
    ) -> Exchange:
        for each in messages:
            if isinstance(each, str):
                await socket.send_str(each)
            else:
                await socket.send_bytes(each)
        found: Exchange = {"protocol": socket.protocol, "first": None, "channels": {}}
        while (message := await socket.receive()).type in {
            aiohttp.WSMsgType.BINARY,
            aiohttp.WSMsgType.TEXT,
        }:
            found["first"] = found["first"] or message.data
            channel, rest = message.data[:1], message.data[1:]
            found["channels"][channel] = found["channels"].get(channel, message.data[:0]) + rest
            if rest and not ends:
                return found
        return {**found, "end": (message.type, message.data)}

    async def refusal(self, method: str, path: str, headers: Mapping[str, str]) -> Exchange:
        """The response to a request that is refused."""
        async with self.session.request(method, path, headers=headers) as response:
            return {
                "code": response.status,
                "type": response.content_type,
                "text": (await response.text()).strip(),
            }


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def embedded() -> AsyncIterator[APIServer]:
    async with APIServer() as server:
        _register(server)
        yield server


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def both(plane: ControlPlane, embedded: APIServer) -> AsyncIterator[tuple[Raw, Raw]]:
    """The embedded server, and the real one."""
    async with AsyncExitStack() as stack:
        real = await plane.client().core_v1.pods("default").get("web")
        real.metadata.resource_version = real.metadata.uid = ""
        await embedded.client().core_v1.pods("default").create(real)
        embedded.kubelet.run_pod("web")
        raws = [
            Raw(await stack.enter_async_context(_session(config, stack)))
            for config in (embedded.config, plane.config)
        ]
        yield raws[0], raws[1]


def _session(config: ClusterConfig, stack: AsyncExitStack) -> aiohttp.ClientSession:
    if not config.ca:
        # A server may close a connection after a refusal, and aiohttp repeats no POST.
        return aiohttp.ClientSession(
            config.server, connector=aiohttp.TCPConnector(force_close=True)
        )
    context = ssl.create_default_context(cadata=config.ca.decode())
    headers = {}
    if config.token:
        headers["Authorization"] = f"Bearer {config.token}"
    if config.client_certificate:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        (folder / "pair.pem").write_bytes(config.client_certificate + b"\n" + config.client_key)
        context.load_cert_chain(folder / "pair.pem")
    return aiohttp.ClientSession(
        config.server,
        headers=headers,
        connector=aiohttp.TCPConnector(ssl=context, force_close=True),
    )


# --- the commands of the stand-in kubelet


async def _echo(process: Process) -> None:
    await process.stdout.write(" ".join(process.command[1:]) + "\n")


async def _warn(process: Process) -> None:
    await process.stderr.write(" ".join(process.command[1:]) + "\n")


async def _cat(process: Process) -> None:
    while data := await process.stdin.read(65536):
        await process.stdout.write(data)


async def _sizes(process: Process) -> None:
    for _ in range(int(process.command[1])):
        size = await process.resized()
        await process.stdout.write(f"{size.width}x{size.height}\n")


async def _exit(process: Process) -> int:
    return int(process.command[1])


def _register(server: APIServer) -> None:
    for name, program in {
        "echo": _echo,
        "warn": _warn,
        "cat": _cat,
        "sizes": _sizes,
        "exit": _exit,
    }.items():
        server.kubelet.command(name, program)
    server.kubelet.attach(_cat)


# --- exec and attach

ALL = "stdin=true&stdout=true&stderr=true"


def _normalized(value: Any) -> Any:
    """Without what containerd adds, which the stand-in kubelet is not, and without names."""
    if isinstance(value, list):
        return [_normalized(each) for each in value]
    if isinstance(value, dict):
        return {_normalized(key): _normalized(each) for key, each in value.items()}
    if isinstance(value, bytes):
        return _normalized(value.decode("latin-1"))
    if not isinstance(value, str):
        return value
    if value.startswith("{"):
        # The streaming server of containerd is older, and sends the whole type.
        parts = json.loads(value)
        names = ["status", "reason", "message", "code"]
        names += ["details"] * (parts.get("reason") == "NonZeroExitCode")
        return {name: _normalized(parts.get(name)) for name in names}
    value = re.sub(
        r"failed to exec in container: failed to start exec .*?: OCI runtime exec failed: "
        r"exec failed: unable to start container process: (.*?): unknown",
        r"\1",
        value,
    )
    return re.sub(r"error executing command \[.*?\], exit code", "exit status", value)


@pytest.mark.parametrize("protocols", [(V5,), (V4,), (), ("channel.k8s.io",), (V4, V5)])
@pytest.mark.parametrize(
    "query",
    [
        f"command=echo&command=hello&{ALL}",
        f"command=warn&command=careful&{ALL}",
        f"command=exit&command=7&{ALL}",
        f"command=nothing&{ALL}",
        "command=echo&command=x&stderr=1",
        "command=echo&command=x&stdout=true&container=app",
        "command=cat&stdout=true",
    ],
)
async def test_a_command_gives_the_same_messages(
    both: tuple[Raw, Raw], query: str, protocols: tuple[str, ...]
) -> None:
    ours, real = [await raw.talk(f"{WEB}/exec?{query}", protocols) for raw in both]

    assert _normalized(ours) == _normalized(real)


@pytest.mark.parametrize(
    ("path", "protocols", "messages"),
    [
        (f"exec?command=cat&{ALL}", (V5,), (b"\x00one", b"\x00", b"", b"\x00two", b"\xff\x00")),
        (f"exec?command=cat&{ALL}", (V5,), (b"\x09unknown", b"\x01wrong", b"\xff\x00")),
        (f"exec?command=cat&{ALL}", (V5,), ("\x00text", b"\xff\x00")),
        (
            f"exec?command=sizes&command=2&{ALL}&tty=true",
            (V5,),
            (b'\x04{"Width":80,"Height":24}', b'\x04{"Width":81,"Height":25}'),
        ),
        (f"attach?{ALL}", (V5,), (b"\x00one", b"\xff\x00")),
    ],
)
async def test_input_gives_the_same_messages(
    both: tuple[Raw, Raw], path: str, protocols: tuple[str, ...], messages: tuple[bytes | str, ...]
) -> None:
    ours, real = [await raw.talk(f"{WEB}/{path}", protocols, messages=messages) for raw in both]

    assert _normalized(ours) == _normalized(real)


async def test_base64_gives_the_same_messages(both: tuple[Raw, Raw]) -> None:
    path = f"{WEB}/exec?command=cat&{ALL}"
    protocols, messages = ("base64.channel.k8s.io",), ("0aGVsbG8=",)

    ours, real = [await raw.talk(path, protocols, messages=messages, ends=False) for raw in both]

    assert ours == real


# --- port-forward


@pytest_asyncio.fixture(loop_scope="session")
async def port(embedded: APIServer) -> AsyncIterator[int]:
    """A listener of the pod that repeats what it reads in capitals, and says bye at the end."""

    async def shout(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data.upper())
        writer.write(b"bye")
        writer.close()

    server = await asyncio.start_server(shout, "127.0.0.1", 0)
    async with server:
        port: int = server.sockets[0].getsockname()[1]
        embedded.kubelet.port(port, ("127.0.0.1", port))
        yield port


async def test_spdy_streams_carry_the_same_data(both: tuple[Raw, Raw], port: int) -> None:
    received = []
    for raw in both:
        async with raw.session.ws_connect(
            f"{WEB}/portforward", protocols=("SPDY/3.1+portforward.k8s.io",)
        ) as socket:
            tunnel = Tunnel(socket)
            found: list[Any] = [socket.protocol]
            for request in ("0", "1"):
                error = await tunnel.open("error", str(port), request)
                await tunnel.send(error, b"", fin=True)
                data = await tunnel.open("data", str(port), request)
                await tunnel.send(data, b"large" * 100_000)
                await tunnel.send(data, b"end", fin=True)
                found += [await tunnel.read(data)]
            number, ping = tunnel.session.ping()
            await socket.send_bytes(ping)
            found.append(await tunnel.next(spdy.Ping) == spdy.Ping(ping_id=number))
            received.append(found)

    ours, real = received
    assert ours == real
    assert ours[1] == b"LARGE" * 100_000 + b"ENDbye"


async def test_a_port_without_a_listener_is_an_error_of_its_stream(both: tuple[Raw, Raw]) -> None:
    messages = []
    for raw in both:
        async with raw.session.ws_connect(
            f"{WEB}/portforward", protocols=("SPDY/3.1+portforward.k8s.io",)
        ) as socket:
            tunnel = Tunnel(socket)
            error = await tunnel.open("error", "1")
            await tunnel.start("data", "1")  # it may be reset before it is accepted
            messages.append(await tunnel.read(error))

    for message in messages:
        assert message.startswith(b"error forwarding port 1 to pod ")
        assert b"connect: connection refused" in message


async def test_channels_carry_the_same_data(both: tuple[Raw, Raw], port: int) -> None:
    found = []
    for raw in both:
        path = f"{WEB}/portforward?ports={port}"
        async with raw.session.ws_connect(path, protocols=(V4,)) as socket:
            first = [await socket.receive_bytes() for _ in range(2)]
            await socket.send_bytes(b"\x00hi")
            found.append([*sorted(first), await socket.receive_bytes()])

    ours, real = found
    assert ours == real


# --- refusals

HANDSHAKE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
}


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize(
    ("path", "protocol"),
    [
        (f"{WEB}/exec?command=echo&stdout=1", None),
        (f"{WEB}/attach?stdout=1", None),
        (f"{WEB}/portforward?ports=80", None),
        (f"{WEB}/exec?command=echo&stdout=1", "v9.channel.k8s.io"),
        (f"{WEB}/exec?command=echo", V4),
        (f"{WEB}/exec?command=echo&stdout=1&container=other", V4),
        (f"{WEB}/exec?command=echo&stdout=1&container=other", V5),
        (f"{WEB}-2/exec?command=echo&stdout=1", V5),
        (f"{WEB}-2/portforward?ports=80", V4),
        (f"{WEB}/portforward", V4),
        (f"{WEB}/portforward?ports=x", V4),
        (f"{WEB}/portforward?ports=0", V4),
        (f"{WEB}/portforward?ports=80", "v9.channel.k8s.io"),
    ],
)
async def test_a_request_is_refused_in_the_same_way(
    both: tuple[Raw, Raw], method: str, path: str, protocol: str | None
) -> None:
    headers = {} if protocol is None else {**HANDSHAKE, "Sec-WebSocket-Protocol": protocol}

    ours, real = [await raw.refusal(method, path, headers) for raw in both]

    assert ours == real
