"""Opening connections: addresses, TLS, proxies, and what a cancelled call leaves behind."""

from __future__ import annotations

import asyncio
import base64
import functools
import os
import socket
import ssl
import stat
import struct
import sys
import threading
import types
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest
import uvloop

from kubeloop.errors import ConfigError
from kubeloop.rest.dial import Dialer, DialFunction, ProxyRefused, ProxyUnreachable
from tests.support.certificates import Authority

Work = Callable[[], Coroutine[object, object, None]]
SECRET = "s3cr%C3%A9t"  # "s3crét" in a URL


@pytest.fixture(params=[asyncio.SelectorEventLoop, uvloop.Loop], ids=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Callable[[Work], None]:
    """Runs a scenario on each event loop, and checks that it leaves no socket open."""

    def run_scenario(work: Work) -> None:
        before = open_sockets()
        with asyncio.Runner(loop_factory=request.param) as runner:
            runner.get_loop()
            runner.run(work())
        assert open_sockets() <= before

    return run_scenario


def open_sockets() -> int:
    """How many sockets this process has open, in any event loop."""
    count = 0
    for entry in list(Path("/dev/fd").iterdir()):
        try:
            count += stat.S_ISSOCK(os.fstat(int(entry.name)).st_mode)
        except OSError:  # the descriptor of the listing itself
            continue
    return count


class Contexts:
    """TLS of the servers and of the clients."""

    def __init__(self, authority: Authority, directory: Path) -> None:
        self.server = authority.server_context(directory)
        self.client = ssl.create_default_context(cadata=authority.pem.decode())
        self.client.set_alpn_protocols(["http/1.1"])
        self.stranger = ssl.create_default_context(cadata=Authority("other").pem.decode())


@pytest.fixture
def tls(authority: Authority, tmp_path: Path) -> Contexts:
    return Contexts(authority, tmp_path)


@pytest.fixture
def trusted_by_the_system(
    authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An https proxy is verified with the CAs of the system."""
    bundle = tmp_path / "system.pem"
    bundle.write_bytes(authority.pem)
    monkeypatch.setenv("SSL_CERT_FILE", str(bundle))


class User(asyncio.Protocol):
    """The protocol of the caller: records its callbacks in order."""

    def __init__(self) -> None:
        self.calls: list[object] = []
        self.transport: asyncio.BaseTransport | None = None
        self.changed = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self._record("made")

    def data_received(self, data: bytes) -> None:
        self._record(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._record("lost")

    def _record(self, call: object) -> None:
        self.calls.append(call)
        self.changed.set()

    async def until(self, call: object) -> None:
        while call not in self.calls:
            self.changed.clear()
            await self.changed.wait()


# ---- servers


class Listener:
    """A server on loopback; ends its connections with the block."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.accepted = 0
        self.heads: list[bytes] = []  # what a proxy received
        self.open = 0  # connections


Handler = Callable[[Listener, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def listening(
    handle: Handler, *, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1"
) -> AsyncIterator[Listener]:
    writers: set[asyncio.StreamWriter] = set()
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        listener.accepted += 1
        listener.open += 1
        writers.add(writer)
        try:
            await handle(listener, reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            listener.open -= 1
            writer.transport.abort()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.create_task(serve(reader, writer)))

    server = await asyncio.start_server(accept, host, 0, ssl=tls)
    listener = Listener(server.sockets[0].getsockname()[1])
    try:
        yield listener
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        for writer in writers:
            writer.transport.abort()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)


async def echo(_: Listener, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()


async def silent(_: Listener, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while await reader.read(65536):
        pass


async def speaks_first(
    _: Listener, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    writer.write(b"welcome")
    await reader.read(1)


async def relay(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str, port: int
) -> None:
    far_reader, far_writer = await asyncio.open_connection(host, port)

    async def copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        try:
            while data := await source.read(65536):
                target.write(data)
                await target.drain()
        except OSError:
            pass
        target.transport.abort()

    try:
        await asyncio.gather(copy(reader, far_writer), copy(far_reader, writer))
    finally:
        far_writer.transport.abort()


def connect_proxy(authorization: str = "", *, reply: bytes | None = None) -> Handler:
    """A proxy for CONNECT; `reply` in place of a tunnel."""

    async def handle(
        listener: Listener, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        listener.heads.append(head)
        if reply is not None:
            writer.write(reply)
            await writer.drain()
            await reader.read(1)
            return
        if authorization and f"Proxy-Authorization: {authorization}\r\n".encode() not in head:
            writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
            await writer.drain()
            await reader.read(1)
            return
        target = head.split(b" ")[1].decode()
        host, _, port = target.rpartition(":")
        writer.write(b"HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n")
        await relay(reader, writer, host.strip("[]"), int(port))

    return handle


def socks_proxy(user: str = "", password: str = "", *, code: int = 0) -> Handler:
    """A SOCKS5 proxy (RFC 1928, RFC 1929); `code` is its reply to every CONNECT."""

    async def handle(
        listener: Listener, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        _, count = await reader.readexactly(2)
        methods = await reader.readexactly(count)
        wanted = 2 if user else 0
        if wanted not in methods:
            writer.write(b"\x05\xff")
            return
        writer.write(bytes([5, wanted]))
        if user:
            await reader.readexactly(1)
            name = await reader.readexactly((await reader.readexactly(1))[0])
            secret = await reader.readexactly((await reader.readexactly(1))[0])
            good = (name.decode(), secret.decode()) == (user, password)
            writer.write(b"\x01\x00" if good else b"\x01\x01")
            if not good:
                return
        kind = (await reader.readexactly(4))[3]
        if kind == 3:
            host = (await reader.readexactly((await reader.readexactly(1))[0])).decode()
        elif kind == 4:
            host = socket.inet_ntop(socket.AF_INET6, await reader.readexactly(16))
        else:
            host = socket.inet_ntoa(await reader.readexactly(4))
        (port,) = struct.unpack("!H", await reader.readexactly(2))
        listener.heads.append(f"{kind} {host}:{port}".encode())
        writer.write(bytes([5, code, 0, 1, 0, 0, 0, 0, 0, 0]))
        if code == 0:
            await relay(reader, writer, "127.0.0.1", port)

    return handle


async def talk(
    dialer: Dialer, tls: ssl.SSLContext | None = None, server_hostname: str = "localhost"
) -> User:
    """Dial, send, receive the echo, and abort."""
    user = User()
    transport = await dialer.dial(user, tls=tls, server_hostname=server_hostname)
    assert user.transport is transport
    transport.write(b"hello")
    await user.until(b"hello")
    transport.abort()
    await user.until("lost")
    assert user.calls == ["made", b"hello", "lost"]
    return user


# ---- direct


def test_a_plain_connection_reaches_the_server(run: Callable[[Work], None]) -> None:
    async def scenario() -> None:
        async with listening(echo) as server:
            dialer = Dialer(f"http://127.0.0.1:{server.port}", proxy=None)
            await talk(dialer)
            assert (dialer.forwards, dialer.proxy_headers) == (False, [])

    run(scenario)


def test_a_tls_connection_checks_the_name_of_the_server(
    run: Callable[[Work], None], tls: Contexts
) -> None:
    async def scenario() -> None:
        async with listening(echo, tls=tls.server) as server:
            dialer = Dialer(f"https://127.0.0.1:{server.port}", proxy=None)
            await talk(dialer, tls.client)
            for context, name in [(tls.client, "other.test"), (tls.stranger, "localhost")]:
                with pytest.raises(ssl.SSLCertVerificationError):
                    await dialer.dial(User(), tls=context, server_hostname=name)
            assert server.accepted == 1

    run(scenario)


def test_a_name_is_resolved_without_blocking_and_reported(run: Callable[[Work], None]) -> None:
    async def scenario() -> None:
        resolved: list[tuple[str, float]] = []
        async with listening(echo) as server:
            for host in ("localhost", "127.0.0.1"):
                dialer = Dialer(
                    f"http://{host}:{server.port}",
                    proxy=None,
                    on_resolved=lambda name, seconds: resolved.append((name, seconds)),
                )
                await talk(dialer)

        assert [name for name, _ in resolved] == ["localhost"]
        assert resolved[0][1] >= 0

    run(scenario)


def test_what_the_server_sends_first_follows_connection_made(
    run: Callable[[Work], None], tls: Contexts
) -> None:
    async def scenario() -> None:
        for server_tls, client_tls in [(None, None), (tls.server, tls.client)]:
            async with listening(speaks_first, tls=server_tls) as server:
                user = User()
                dialer = Dialer(f"http://127.0.0.1:{server.port}", proxy=None)
                transport = await dialer.dial(user, tls=client_tls, server_hostname="localhost")
                await user.until(b"welcome")
                transport.abort()
                await user.until("lost")
                assert user.calls == ["made", b"welcome", "lost"]

    run(scenario)


def test_dead_connections_are_detected_by_the_kernel(run: Callable[[Work], None]) -> None:
    async def scenario() -> None:
        async with listening(echo) as server:
            dialer = Dialer(f"http://127.0.0.1:{server.port}", proxy=None)
            transport = await dialer.dial(User(), tls=None, server_hostname="")
            made = transport.get_extra_info("socket")
            idle = "TCP_KEEPALIVE" if sys.platform == "darwin" else "TCP_KEEPIDLE"
            options = (getattr(socket, idle), socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT)
            values = [made.getsockopt(socket.IPPROTO_TCP, option) for option in options]
            assert values == [15, 10, 3]
            assert made.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
            assert made.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            transport.abort()

    run(scenario)


def test_a_refused_connection_is_an_os_error_with_its_address(run: Callable[[Work], None]) -> None:
    async def scenario() -> None:
        with pytest.raises(ConnectionRefusedError, match=r"127\.0\.0\.1: Connection refused"):
            await Dialer(f"http://127.0.0.1:{free_port()}", proxy=None).dial(
                User(), tls=None, server_hostname=""
            )

    run(scenario)


def free_port() -> int:
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return int(made.getsockname()[1])


def test_a_server_that_does_not_speak_tls_is_an_ssl_error(
    run: Callable[[Work], None], tls: Contexts
) -> None:
    async def scenario() -> None:
        async with listening(speaks_first) as server:
            dialer = Dialer(f"https://127.0.0.1:{server.port}", proxy=None)
            with pytest.raises(ssl.SSLError):
                await dialer.dial(User(), tls=tls.client, server_hostname="localhost")

    run(scenario)


def test_a_server_that_closes_during_the_handshake_is_an_os_error(
    run: Callable[[Work], None], tls: Contexts
) -> None:
    async def closes(
        _: Listener, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        await reader.read(10)

    async def scenario() -> None:
        async with listening(closes) as server:
            dialer = Dialer(f"https://127.0.0.1:{server.port}", proxy=None)
            with pytest.raises(OSError):
                await dialer.dial(User(), tls=tls.client, server_hostname="localhost")

    run(scenario)


# ---- several addresses


class FakeNames:
    """The resolver and the routes of an event loop: names, and addresses that do not answer."""

    def __init__(self, *addresses: str, silent: tuple[str, ...] = ()) -> None:
        self.addresses = addresses
        self.silent = silent
        self.attempts: list[tuple[str, float]] = []
        self.cancelled: list[str] = []


def loop_with(names: FakeNames, base: type[Any]) -> asyncio.AbstractEventLoop:
    class Loop(base):  # type: ignore[misc]
        async def getaddrinfo(self, host: str, port: int, **options: Any) -> list[Any]:
            await asyncio.sleep(0)
            if not names.addresses:
                raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
            return [
                (
                    socket.AF_INET6 if ":" in address else socket.AF_INET,
                    socket.SOCK_STREAM,
                    6,
                    "",
                    (address, port),
                )
                for address in names.addresses
            ]

        async def create_connection(
            self, factory: Any, host: Any = None, port: Any = None, **options: Any
        ) -> Any:
            if host is None:
                return await super().create_connection(factory, **options)
            names.attempts.append((host, self.time()))
            if host in names.silent:
                try:
                    await self.create_future()
                finally:
                    names.cancelled.append(host)
            if host.startswith("10."):
                raise OSError(113, f"connect to {host}")
            real = "127.0.0.1" if host.startswith(("127.", "2001:")) else host
            return await super().create_connection(factory, real, port, **options)

    loop: asyncio.AbstractEventLoop = Loop()
    return loop


@pytest.fixture(params=[asyncio.SelectorEventLoop, uvloop.Loop], ids=["asyncio", "uvloop"])
def run_with(request: pytest.FixtureRequest) -> Callable[[FakeNames, Work], None]:
    def run_scenario(names: FakeNames, work: Work) -> None:
        before = open_sockets()
        with asyncio.Runner(loop_factory=lambda: loop_with(names, request.param)) as runner:
            runner.get_loop()
            runner.run(work())
        assert open_sockets() <= before

    return run_scenario


def test_families_are_tried_by_turns_and_the_next_at_once_after_a_failure(
    run_with: Callable[[FakeNames, Work], None],
) -> None:
    names = FakeNames("10.0.0.1", "10.0.0.2", "10.0.0.1", "2001:db8::1", "127.0.0.1")

    async def scenario() -> None:
        async with listening(echo) as server:
            began = asyncio.get_running_loop().time()
            await talk(Dialer(f"http://api.test:{server.port}", proxy=None))
            assert asyncio.get_running_loop().time() - began < 0.25

    run_with(names, scenario)

    assert [address for address, _ in names.attempts] == ["10.0.0.1", "2001:db8::1"]


def test_an_address_that_does_not_answer_costs_250_ms_and_is_given_up(
    run_with: Callable[[FakeNames, Work], None],
) -> None:
    names = FakeNames("2001:db8::7", "127.0.0.1", "127.0.0.1", silent=("2001:db8::7",))

    async def scenario() -> None:
        async with listening(echo) as server:
            await talk(Dialer(f"http://api.test:{server.port}", proxy=None))
            assert server.accepted == 1
        assert not [each for each in asyncio.all_tasks() if each is not asyncio.current_task()]

    run_with(names, scenario)

    (first, began), (second, then) = names.attempts
    assert (first, second) == ("2001:db8::7", "127.0.0.1")
    assert 0.24 <= then - began < 2
    assert names.cancelled == ["2001:db8::7"]


def test_if_no_address_answers_the_first_failure_names_the_others(
    run_with: Callable[[FakeNames, Work], None],
) -> None:
    names = FakeNames("10.0.0.1", "10.0.0.2", "127.0.0.1")

    async def scenario() -> None:
        with pytest.raises(OSError, match=r"10\.0\.0\.1: .*; 10\.0\.0\.2: .*; 127\.0\.0\.1") as no:
            await Dialer(f"http://api.test:{free_port()}", proxy=None).dial(
                User(), tls=None, server_hostname=""
            )
        assert no.value.errno == 113

    run_with(names, scenario)


def test_connections_that_lose_the_race_are_closed(
    run_with: Callable[[FakeNames, Work], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kubeloop.rest.dial._STAGGER", 0.0)
    names = FakeNames("127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4")

    async def scenario() -> None:
        async with listening(echo) as server:
            await talk(Dialer(f"http://api.test:{server.port}", proxy=None))
            async with asyncio.timeout(4):
                while server.open:
                    await asyncio.sleep(0.001)

    run_with(names, scenario)


def test_an_unknown_host_is_an_error_of_the_resolver(
    run_with: Callable[[FakeNames, Work], None],
) -> None:
    resolved: list[str] = []

    async def scenario() -> None:
        dialer = Dialer(
            "https://nowhere.test",
            proxy=None,
            on_resolved=lambda name, seconds: resolved.append(name),
        )
        with pytest.raises(socket.gaierror, match="not known"):
            await dialer.dial(User(), tls=None, server_hostname="")

    run_with(FakeNames(), scenario)

    assert resolved == ["nowhere.test"]


# ---- HTTP proxies


@pytest.mark.parametrize("user", ["", f"jane%40doe:{SECRET}@"])
def test_a_proxy_tunnels_https_with_its_credentials(
    run: Callable[[Work], None], tls: Contexts, user: str
) -> None:
    token = "Basic " + base64.b64encode("jane@doe:s3crét".encode()).decode()

    async def scenario() -> None:
        async with (
            listening(echo, tls=tls.server) as server,
            listening(connect_proxy(token if user else "")) as proxy,
        ):
            dialer = Dialer(
                f"https://localhost:{server.port}", proxy=f"http://{user}127.0.0.1:{proxy.port}"
            )
            await talk(dialer, tls.client)

            target = f"localhost:{server.port}"
            expected = f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n"
            assert proxy.heads[0].decode().startswith(expected)
            assert (b"Proxy-Authorization" in proxy.heads[0]) is bool(user)
            assert (dialer.forwards, dialer.proxy_headers) == (False, [])
            assert "s3cr" not in repr(dialer)

    run(scenario)


@pytest.mark.usefixtures("trusted_by_the_system")
def test_an_https_proxy_tunnels_tls_in_tls(run: Callable[[Work], None], tls: Contexts) -> None:
    async def scenario() -> None:
        async with (
            listening(echo, tls=tls.server) as server,
            listening(connect_proxy(), tls=tls.server) as proxy,
        ):
            dialer = Dialer(
                f"https://127.0.0.1:{server.port}", proxy=f"https://localhost:{proxy.port}"
            )
            await talk(dialer, tls.client)

    run(scenario)


def test_an_https_proxy_that_is_not_trusted_is_unreachable(
    run: Callable[[Work], None], tls: Contexts
) -> None:
    async def scenario() -> None:
        async with listening(connect_proxy(), tls=tls.server) as proxy:
            dialer = Dialer(
                "https://example.test", proxy=f"https://jane:secret@localhost:{proxy.port}"
            )
            with pytest.raises(ProxyUnreachable, match="certificate") as refused:
                await dialer.dial(User(), tls=tls.client, server_hostname="example.test")
            assert proxy.heads == []
            assert "secret" not in str(refused.value)

    run(scenario)


@pytest.mark.usefixtures("trusted_by_the_system")
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_forwards_plain_requests_without_a_tunnel(
    run: Callable[[Work], None], tls: Contexts, scheme: str
) -> None:
    async def scenario() -> None:
        async with listening(echo, tls=tls.server if scheme == "https" else None) as proxy:
            dialer = Dialer(
                "http://api.test:8080", proxy=f"{scheme}://jane:pw@localhost:{proxy.port}"
            )
            await talk(dialer)
            assert dialer.forwards
            assert dialer.proxy_headers == [("Proxy-Authorization", "Basic amFuZTpwdw==")]

    run(scenario)


REPLIES = {
    b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n": (407, "Proxy Authentication Required"),
    b"HTTP/1.0 502 Bad\x1b[31m Gateway\r\nX: y\r\n\r\n": (502, "Bad?[31m Gateway"),
    b"HTTP/1.1 302 Found\r\nLocation: http://x/\r\n\r\n": (302, "Found"),
    b"HTTP/1.1 503\r\n\r\n": (503, ""),
    b"SSH-2.0-test\r\n\r\n": (0, "the response is not HTTP"),
    b"HTTP/2 200 OK\r\n\r\n": (0, "the response is not HTTP"),
    b"HTTP/1.1 20 OK\r\n\r\n": (0, "the response is not HTTP"),
    b"HTTP/1.1 200 OK\r\n\r\nsurprise": (200, "data follows the response to CONNECT"),
    b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000: (0, "the head is longer than 65536 bytes"),
}


@pytest.mark.parametrize("reply", REPLIES, ids=[str(each) for each in range(len(REPLIES))])
def test_a_proxy_that_opens_no_tunnel_is_an_error(
    run: Callable[[Work], None], reply: bytes
) -> None:
    async def scenario() -> None:
        async with listening(connect_proxy(reply=reply)) as proxy:
            dialer = Dialer(
                "https://api.test", proxy=f"http://jane:{SECRET}@127.0.0.1:{proxy.port}"
            )
            with pytest.raises(ProxyRefused) as refused:
                await dialer.dial(User(), tls=None, server_hostname="")
            assert (refused.value.status, refused.value.reason) == REPLIES[reply]
            assert "s3cr" not in str(refused.value)

    run(scenario)


def test_a_proxy_that_is_not_there_is_unreachable(run: Callable[[Work], None]) -> None:
    async def hangs_up(
        _: Listener, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        await reader.readuntil(b"\r\n\r\n")

    async def scenario() -> None:
        async with listening(hangs_up) as proxy:
            for port, problem in [(free_port(), "refused"), (proxy.port, "closed|reset")]:
                dialer = Dialer("https://api.test", proxy=f"http://jane:{SECRET}@127.0.0.1:{port}")
                with pytest.raises(ProxyUnreachable, match=problem) as unreachable:
                    await dialer.dial(User(), tls=None, server_hostname="")
                assert "s3cr" not in str(unreachable.value)

    run(scenario)


async def test_the_target_of_a_tunnel_may_be_an_ipv6_address() -> None:
    async with listening(connect_proxy(reply=b"HTTP/1.1 403 No\r\n\r\n")) as proxy:
        dialer = Dialer("https://[2001:db8::1]:6443", proxy=f"http://127.0.0.1:{proxy.port}")
        with pytest.raises(ProxyRefused):
            await dialer.dial(User(), tls=None, server_hostname="")

        assert proxy.heads[0].startswith(b"CONNECT [2001:db8::1]:6443 HTTP/1.1\r\n")


@pytest.mark.parametrize(
    ("proxy", "problem"),
    [
        ("ftp://jane:secret@proxy.test", "ftp proxies are not supported"),
        ("http://jane:secret@proxy.test:99999", "not a URL"),
        ("http://jane:secret@:80", "no host"),
        (f"socks5://jane:{SECRET}@proxy.test", "ASCII"),
        ("socks5://jane:" + "x" * 256 + "@proxy.test", "longer than 255"),
    ],
)
def test_a_proxy_that_cannot_be_used_is_a_config_error(proxy: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem) as error:
        Dialer("https://api.test", proxy=proxy)

    assert "secret" not in str(error.value)
    assert "s3cr" not in str(error.value)
    assert "xxx" not in str(error.value)


@pytest.mark.parametrize("host", ["", "a b", "a\x01b", "api.test:99999", "[::1"])
def test_a_server_without_a_valid_host_name_is_a_config_error(host: str) -> None:
    with pytest.raises(ConfigError, match="no valid host name"):
        Dialer(f"https://{host}", proxy=None)


# ---- SOCKS


@pytest.mark.parametrize("scheme", ["socks5", "socks5h"])
@pytest.mark.parametrize("user", ["", "jane:p%40ss@"])
def test_a_socks_proxy_tunnels_and_resolves_the_name(
    run_with: Callable[[FakeNames, Work], None], tls: Contexts, scheme: str, user: str
) -> None:
    async def scenario() -> None:
        handler = socks_proxy("jane", "p@ss") if user else socks_proxy()
        async with listening(echo, tls=tls.server) as server, listening(handler) as proxy:
            dialer = Dialer(
                f"https://localhost:{server.port}",
                proxy=f"{scheme}://{user}127.0.0.1:{proxy.port}",
            )
            await talk(dialer, tls.client)
            assert proxy.heads == [f"3 localhost:{server.port}".encode()]
            assert (dialer.forwards, dialer.proxy_headers) == (False, [])

    run_with(FakeNames("127.0.0.1"), scenario)


def test_a_socks_proxy_that_refuses_is_an_error(run: Callable[[Work], None]) -> None:
    async def scenario() -> None:
        for handler, status, reason in [
            (socks_proxy(code=2), 2, "not allowed"),
            (socks_proxy("jane", "other"), 0, "authentication"),
        ]:
            async with listening(handler) as proxy:
                dialer = Dialer(
                    "https://api.test", proxy=f"socks5h://jane:secret@127.0.0.1:{proxy.port}"
                )
                with pytest.raises(ProxyRefused, match=reason) as refused:
                    await dialer.dial(User(), tls=None, server_hostname="")
                assert refused.value.status == status
                assert "secret" not in str(refused.value)

    run(scenario)


def test_a_socks_proxy_that_is_not_there_is_unreachable(run: Callable[[Work], None]) -> None:
    async def scenario() -> None:
        dialer = Dialer("https://api.test", proxy=f"socks5h://jane:secret@127.0.0.1:{free_port()}")
        with pytest.raises(ProxyUnreachable) as unreachable:
            await dialer.dial(User(), tls=None, server_hostname="")
        assert "secret" not in str(unreachable.value)

    run(scenario)


def test_without_the_library_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [each for each in sys.modules if each.startswith("python_socks")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "python_socks", None)

    with pytest.raises(ConfigError, match=r"kubeloop\[socks\]"):
        Dialer("https://api.test", proxy="socks5://proxy.test")
    Dialer("https://api.test", proxy="http://proxy.test")


# ---- a dial function of the user's


def test_the_user_s_dial_function_replaces_tcp(
    run: Callable[[Work], None], tls: Contexts, tmp_path: Path
) -> None:
    asked: list[tuple[str, int]] = []

    async def scenario() -> None:
        path = str(tmp_path / "socket")

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await echo(Listener(0), reader, writer)
            writer.close()

        async def dial(host: str, port: int) -> socket.socket:
            asked.append((host, port))
            made = socket.socket(socket.AF_UNIX)
            made.connect(path)
            return made

        server = await asyncio.start_unix_server(serve, path, ssl=tls.server)
        await talk(Dialer("https://api.test:6443", proxy=None, dial=dial), tls.client)
        server.close()
        await asyncio.sleep(0.01)

    run(scenario)

    assert asked == [("api.test", 6443)]


@pytest.mark.parametrize("scheme", ["http", "socks5h"])
def test_the_user_s_dial_function_connects_to_the_proxy(
    run: Callable[[Work], None], tls: Contexts, scheme: str
) -> None:
    async def scenario() -> None:
        asked: list[tuple[str, int]] = []
        handler = connect_proxy() if scheme == "http" else socks_proxy()

        async with listening(echo, tls=tls.server) as server, listening(handler) as proxy:

            async def dial(host: str, port: int) -> socket.socket:
                asked.append((host, port))
                return await asyncio.to_thread(socket.create_connection, ("127.0.0.1", proxy.port))

            dialer = Dialer(
                f"https://localhost:{server.port}", proxy=f"{scheme}://proxy.test:3128", dial=dial
            )
            await talk(dialer, tls.client)

        assert asked == [("proxy.test", 3128)]

    run(scenario)


# ---- cancellation


@types.coroutine
def cancelled_at(
    work: Coroutine[Any, Any, asyncio.Transport], step: int, *, late: bool
) -> Generator[Any, Any, asyncio.Transport]:
    """Run `work`, and cancel it at its wait number `step`, or (`late`) as that wait ends."""
    task = asyncio.current_task()
    assert task is not None
    waits = work.__await__()
    proceed: Callable[[], Any] = functools.partial(next, waits)
    count = 0
    while True:
        try:
            future = proceed()
        except StopIteration as end:
            result: asyncio.Transport = end.value
            return result
        if count == step:
            if late and future is not None:
                future.add_done_callback(lambda _: task.cancel())
            else:
                task.cancel()
        count += 1
        try:
            yield future
        except BaseException as error:  # noqa: BLE001, it is passed on
            proceed = functools.partial(waits.throw, error)
        else:
            proceed = functools.partial(next, waits)


async def cancel_everywhere(make: Callable[[], Dialer], tls: ssl.SSLContext | None) -> int:
    """Cancel `dial` at each of its waits; returns how many there are."""
    for step in range(200):
        for late in (False, True):
            sockets = open_sockets()
            user = User()
            dialing = make().dial(user, tls=tls, server_hostname="localhost")

            async def run_it(work: Any = dialing, late: bool = late, step: int = step) -> Any:
                return await cancelled_at(work, step, late=late)

            task: asyncio.Task[asyncio.Transport] = asyncio.create_task(run_it())
            await asyncio.wait([task])
            if not task.cancelled():
                task.result().abort()
                await user.until("lost")
                if late:
                    return step
                continue
            assert "made" not in user.calls
            async with asyncio.timeout(2):
                # The socket is closed in the next step of the loop; the servers follow.
                while open_sockets() > sockets:
                    await asyncio.sleep(0.001)
            others = {each for each in asyncio.all_tasks() if "Race" in repr(each)}
            assert not others
    raise AssertionError("dial does not end")


WAYS = ["plain", "tls", "names", "proxy", "https proxy", "socks", "dial function"]


@pytest.mark.usefixtures("trusted_by_the_system")
@pytest.mark.parametrize("way", WAYS)
def test_a_dial_cancelled_at_any_wait_leaves_no_socket(
    run_with: Callable[[FakeNames, Work], None],
    tls: Contexts,
    way: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kubeloop.rest.dial._STAGGER", 0.0)
    names = (
        FakeNames("127.0.0.1", "10.0.0.1", "127.0.0.2")
        if way == "names"
        else FakeNames("127.0.0.1")
    )

    async def scenario() -> None:
        async with AsyncExitStack() as stack:
            server_tls = None if way == "plain" else tls.server
            server = await stack.enter_async_context(listening(echo, tls=server_tls))
            proxy: str | None = None
            dial: DialFunction | None = None
            if way in {"proxy", "https proxy", "socks"}:
                handler = socks_proxy() if way == "socks" else connect_proxy()
                outer = tls.server if way == "https proxy" else None
                listener = await stack.enter_async_context(listening(handler, tls=outer))
                scheme = {"proxy": "http", "https proxy": "https", "socks": "socks5"}[way]
                proxy = f"{scheme}://localhost:{listener.port}"
            if way == "dial function":
                dial = connect_by_hand
            host = "api.test" if way == "names" else "127.0.0.1"
            waits = await cancel_everywhere(
                lambda: Dialer(f"https://{host}:{server.port}", proxy=proxy, dial=dial),
                None if way == "plain" else tls.client,
            )
            assert waits >= (1 if way == "plain" else 2)

    run_with(names, scenario)


async def connect_by_hand(host: str, port: int) -> socket.socket:
    made = socket.socket()
    made.setblocking(False)
    try:
        await asyncio.get_running_loop().sock_connect(made, (host, port))
    except BaseException:
        made.close()
        raise
    return made


def test_a_dial_cancelled_while_the_server_is_silent_leaves_no_socket(
    run: Callable[[Work], None], tls: Contexts
) -> None:
    async def scenario() -> None:
        async with listening(silent) as server:
            for proxy in (None, f"http://127.0.0.1:{server.port}"):
                dialer = Dialer(f"https://127.0.0.1:{server.port}", proxy=proxy)
                dialing = asyncio.create_task(
                    dialer.dial(User(), tls=tls.client, server_hostname="localhost")
                )
                async with asyncio.timeout(2):
                    while not server.open:
                        await asyncio.sleep(0.001)
                    dialing.cancel()
                    await asyncio.gather(dialing, return_exceptions=True)
                    while server.open:
                        await asyncio.sleep(0.001)

    run(scenario)


# --- the end of a connection


class PausingUser(asyncio.Protocol):
    """Pauses at its first bytes, and counts all of them."""

    def __init__(self) -> None:
        self.size = 0
        self.ended = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        if not self.size:
            self.transport.pause_reading()
        self.size += len(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended.set_result(exc)


@pytest.mark.parametrize("size", [10_000, 200_000, 1_000_000])
def test_a_server_that_closes_while_reading_is_paused_loses_no_bytes(
    run: Callable[[Work], None], tls: Contexts, size: int
) -> None:
    """kube-apiserver closes a stream at once, in the middle of what a slow reader has to read."""
    closed = threading.Event()

    def serve(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with tls.server.wrap_socket(connection, server_side=True) as secured:
            secured.sendall(bytes(size))
        closed.set()

    async def scenario() -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            thread = threading.Thread(target=serve, args=(listener,))
            thread.start()
            dialer = Dialer(f"https://localhost:{listener.getsockname()[1]}", proxy=None)
            user = PausingUser()
            transport = await dialer.dial(user, tls=tls.client, server_hostname="localhost")
            await asyncio.to_thread(closed.wait, 1)
            for _ in range(20):
                await asyncio.sleep(0.001)  # the event loop sees the end, if it reads it
            transport.resume_reading()
            await user.ended
            await asyncio.to_thread(thread.join)
        assert user.size == size

    run(scenario)
