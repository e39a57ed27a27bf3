"""Small nouns for the tests of HTTP: a server that follows a script, clocks, certificates."""

from __future__ import annotations

import asyncio
import datetime as dt
import ipaddress
import json
import socket
import ssl
import struct
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from kubeloop.config import ClusterConfig
from kubeloop.kit import ManualClock, Timeout, listen
from kubeloop.rest import RESTClient
from kubeloop.wire import ResourceInfo

PODS = ResourceInfo(
    group="", version="v1", plural="pods", kind="Pod", singular="pod", namespaced=True
)
NODES = ResourceInfo(
    group="", version="v1", plural="nodes", kind="Node", singular="node", namespaced=False
)
DEPLOYMENTS = ResourceInfo(
    group="apps",
    version="v1",
    plural="deployments",
    kind="Deployment",
    singular="deployment",
    namespaced=True,
)


class ReceivedRequest(NamedTuple):
    """A request as it arrived."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        found = [value for key, value in self.headers if key.lower() == name.lower()]
        return ", ".join(found) if found else None

    def all_of(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key.lower() == name.lower()]


class ServerConnection:
    """The server's end of one connection, in the middle of a response."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    def cut(self) -> None:
        """End the connection properly, in the middle of whatever it is."""
        self.writer.close()

    def reset(self) -> None:
        """End the connection with a reset."""
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    async def hang(self) -> None:
        """Say nothing until the client goes away."""
        while await self.reader.read(65536):
            pass


Reply = Callable[[ReceivedRequest, ServerConnection], Awaitable[None]]


def reply(
    status: int = 200,
    body: Any = b"{}",
    *,
    content_type: str | None = "application/json",
    headers: Mapping[str, str] | list[tuple[str, str]] = (),  # type: ignore[assignment] # empty is empty
) -> Reply:
    """A whole response."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    pairs = list(headers.items() if isinstance(headers, Mapping) else headers)
    if content_type is not None:
        pairs.append(("Content-Type", content_type))
    pairs.append(("Content-Length", str(len(data))))

    async def answer(_: ReceivedRequest, connection: ServerConnection) -> None:
        head = "".join(f"{name}: {value}\r\n" for name, value in pairs)
        await connection.send(f"HTTP/1.1 {status} Reason\r\n{head}\r\n".encode() + data)

    return answer


def chunked(*chunks: bytes, status: int = 200, end: str = "whole") -> Reply:
    """A response in chunks that ends `whole`, `cut`, `reset` or `hang`."""

    async def answer(_: ReceivedRequest, connection: ServerConnection) -> None:
        await connection.send(
            f"HTTP/1.1 {status} OK\r\nContent-Type: application/json\r\n"
            "Transfer-Encoding: chunked\r\n\r\n".encode()
        )
        for chunk in chunks:
            await connection.send(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        if end == "whole":
            await connection.send(b"0\r\n\r\n")
        elif end == "cut":
            connection.cut()
        elif end == "reset":
            connection.reset()
        else:
            await connection.hang()

    return answer


async def cut(_: ReceivedRequest, connection: ServerConnection) -> None:
    """No answer at all: the connection is closed."""
    connection.cut()


async def reset(_: ReceivedRequest, connection: ServerConnection) -> None:
    """No answer at all: the connection is reset."""
    connection.reset()


async def hang(_: ReceivedRequest, connection: ServerConnection) -> None:
    """No answer at all, and no end."""
    await connection.hang()


class Script:
    """A server that answers each request with the next step; the last one for ever."""

    def __init__(self, *, tls: ssl.SSLContext | None = None) -> None:
        self.steps: list[Reply] = []
        self.received: list[ReceivedRequest] = []
        self.connections = 0
        self.closed = 0  # connections that the client, or a step, has ended
        self.peers: list[Any] = []  # the client's certificate for each connection
        self.port = 0
        self._tls = tls
        self._lines: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._changed = asyncio.Event()

    def respond(self, *steps: Reply) -> None:
        self.steps = list(steps)

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    async def until(self, condition: Callable[[Script], bool]) -> None:
        """Wait until the server has seen what the test waits for."""
        while not condition(self):
            self._changed.clear()
            await self._changed.wait()

    def new_line(self) -> asyncio.BaseProtocol:
        return asyncio.StreamReaderProtocol(asyncio.StreamReader(), self._accept)

    async def end_lines(self) -> None:
        lines = dict(self._lines)
        for task, writer in lines.items():
            task.cancel()
            writer.transport.abort()
        await asyncio.gather(*lines, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Known from its first moment: a task that is ended before it began closes nothing."""
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._lines[task] = writer
        task.add_done_callback(self._lines.pop)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        secure = writer.get_extra_info("ssl_object")
        self.peers.append(secure.getpeercert() if secure else None)
        try:
            while (received := await self._read(reader)) is not None:
                self.received.append(received)
                self._changed.set()
                step = self.steps.pop(0) if len(self.steps) > 1 else self.steps[0]
                await step(received, ServerConnection(reader, writer))
                if writer.is_closing():
                    break
        except (ConnectionError, ssl.SSLError, asyncio.CancelledError):
            pass
        finally:
            self.closed += 1
            self._changed.set()
            if not writer.is_closing():
                writer.transport.abort()

    async def _read(self, reader: asyncio.StreamReader) -> ReceivedRequest | None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        first, *lines = head.rstrip().split("\r\n")
        method, target, _ = first.split(" ", 2)
        headers = [(name, value) for name, _, value in (line.partition(": ") for line in lines)]
        length = next((int(v) for n, v in headers if n.lower() == "content-length"), 0)
        body = await reader.readexactly(length)
        return ReceivedRequest(method, target, headers, body)


class InstantClock:
    """A clock on which sleeping takes no time at all, and which remembers how long it was."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self._now = 0.0

    def now(self) -> float:
        return self._now

    def time(self) -> dt.datetime:
        return dt.datetime(2030, 1, 1, tzinfo=dt.UTC)

    async def sleep(self, seconds: float) -> None:
        if seconds > 0:
            self.slept.append(seconds)
            self._now += seconds
        await asyncio.sleep(0)

    def timeout(self, seconds: float | None) -> AbstractAsyncContextManager[Timeout]:
        return asyncio.timeout(seconds)


@asynccontextmanager
async def serving(*, tls: ssl.SSLContext | None = None) -> AsyncIterator[Script]:
    script = Script(tls=tls)
    async with listen(
        script.new_line, "127.0.0.1", 0, finish=script.end_lines, tls=tls
    ) as script.port:
        yield script


_RELAY = """
import socket, sys, threading

def pump(one, other):
    while chunk := one.recv(65536):
        other.sendall(chunk)

with socket.create_server(("127.0.0.1", 0)) as listener:
    print(listener.getsockname()[1], flush=True)
    while True:
        client, _ = listener.accept()
        server = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
        for pair in ((client, server), (server, client)):
            threading.Thread(target=pump, args=pair, daemon=True).start()
"""


@contextmanager
def relay_process(port: int) -> Iterator[tuple[str, int]]:
    """A proxy in a process of its own, that can be stopped: its URL and its process id."""
    process = subprocess.Popen(
        [sys.executable, "-I", "-c", _RELAY, str(port)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}", process.pid
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def client_for(server: Script, **options: Any) -> RESTClient:
    """A client for a server without TLS; options of the configuration are in `config`."""
    config = options.pop("config", {})
    return RESTClient(ClusterConfig(server=server.url, **config), environ={}, **options)


@pytest.fixture
async def server() -> AsyncIterator[Script]:
    async with serving() as script:
        yield script


@pytest.fixture
def hurried() -> InstantClock:
    return InstantClock()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


async def eventually(condition: Callable[[], bool]) -> None:
    """Let the loop turn until sockets have been read and the condition holds."""
    while not condition():
        await asyncio.sleep(0)


class Issued(NamedTuple):
    certificate: bytes
    key: bytes


class Authority:
    """A certificate authority for tests."""

    def __init__(self, name: str = "test CA") -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        certificate = (
            _unsigned(self._name, self._name, self._key.public_key(), days=365)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(
                x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False
            )
            .add_extension(_SIGNS, critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.pem = certificate.public_bytes(serialization.Encoding.PEM)

    def issue(self, name: str, *, days: int = 30, address: str = "127.0.0.1") -> Issued:
        key = ec.generate_private_key(ec.SECP256R1())
        alternatives = x509.SubjectAlternativeName(
            [x509.DNSName(name), x509.IPAddress(ipaddress.ip_address(address))]
        )
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        certificate = (
            _unsigned(subject, self._name, key.public_key(), days=days)
            .add_extension(alternatives, critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()),
                critical=False,
            )
            .sign(self._key, hashes.SHA256())
        )
        return Issued(
            certificate.public_bytes(serialization.Encoding.PEM),
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            ),
        )

    def server_context(
        self,
        directory: Path,
        *,
        name: str = "localhost",
        days: int = 30,
        address: str = "127.0.0.1",
    ) -> ssl.SSLContext:
        """A server's context; it asks for client certificates of this authority."""
        issued = self.issue(name, days=days, address=address)
        (directory / "server.pem").write_bytes(issued.certificate + issued.key)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(directory / "server.pem")
        context.load_verify_locations(cadata=self.pem.decode())
        context.verify_mode = ssl.CERT_OPTIONAL
        return context


def _unsigned(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, *, days: int
) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=60))
        .not_valid_after(now + dt.timedelta(days=days))
    )


_SIGNS = x509.KeyUsage(
    digital_signature=False,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=True,
    encipher_only=False,
    decipher_only=False,
)


@pytest.fixture(scope="session")
def authority() -> Authority:
    return Authority()
