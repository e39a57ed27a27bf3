"""The two servers of the suite, behind one small interface.

Guarantees: both servers support the whole interface; a server runs for the whole run, and its
data is discarded with it.
See also: sending requests (`raw_client`).
"""

from __future__ import annotations

import asyncio
import ssl
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Protocol, final

import aiohttp

from kubeloop.config import ClusterConfig
from kubeloop_testing.control_plane import ControlPlane
from kubeloop_testing.server import Service
from kubeloop_testing.server.access.certs import KeyPair, load_into
from kubeloop_testing.server.kubelet.programs import ContainerMatch, PortHandler

__all__ = ["CONTROLLERS", "UNCACHED", "Server", "embedded", "envtest"]

# kube-apiserver runs without a watch cache for this resource, so that its history can expire.
UNCACHED = "podtemplates"
# The embedded server has these built in; kube-apiserver needs kube-controller-manager.
CONTROLLERS = ("garbage-collector-controller", "namespace-controller")


class Server(Protocol):
    """What the suite needs of a server in addition to HTTP."""

    name: str
    url: str

    async def session(self, user: str = "", groups: tuple[str, ...] = ()) -> aiohttp.ClientSession:
        """A session of a user with a certificate; without a user, without credentials."""
        ...

    def config(self, user: str, groups: tuple[str, ...]) -> ClusterConfig:
        """The configuration of a kubeloop client of that user."""
        ...

    async def expire(self, version: str) -> None:
        """Compact the history of `UNCACHED` up to `version`."""
        ...

    def listen(self, port: int, handler: PortHandler) -> None:
        """Serve connections to this port of any pod."""
        ...


@final
class _Sessions:
    """One session for each user, closed at the end."""

    def __init__(self, issuer: Service | ControlPlane, stack: AsyncExitStack) -> None:
        self._issuer = issuer
        self._stack = stack
        self._known: dict[tuple[str, tuple[str, ...]], aiohttp.ClientSession] = {}

    async def of(self, user: str, groups: tuple[str, ...]) -> aiohttp.ClientSession:
        if (user, groups) not in self._known:
            pair = self._issuer.client_certificate(user, groups) if user else None
            assert self._issuer.ca is not None  # both serve TLS
            connector = aiohttp.TCPConnector(ssl=_context(self._issuer.ca, pair), limit=50)
            session = aiohttp.ClientSession(
                connector=connector, headers={"User-Agent": "conformance/1.0 (test)"}
            )
            self._known[user, groups] = await self._stack.enter_async_context(session)
        return self._known[user, groups]

    def config(self, url: str, user: str, groups: tuple[str, ...]) -> ClusterConfig:
        pair = self._issuer.client_certificate(user, groups)
        assert self._issuer.ca is not None  # both serve TLS
        return ClusterConfig(
            server=url,
            ca=self._issuer.ca,
            client_certificate=pair.certificate,
            client_key=pair.key,
        )


def _context(ca: bytes, pair: KeyPair | None) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=ca.decode())
    if pair is not None:
        load_into(context, pair)
    return context


@final
class _Embedded:
    name = "embedded"

    def __init__(self, service: Service, sessions: _Sessions) -> None:
        self._service = service
        self._sessions = sessions
        self.url = service.url

    async def session(self, user: str = "", groups: tuple[str, ...] = ()) -> aiohttp.ClientSession:
        return await self._sessions.of(user, groups)

    def config(self, user: str, groups: tuple[str, ...]) -> ClusterConfig:
        return self._sessions.config(self.url, user, groups)

    async def expire(self, version: str) -> None:
        self._service.expire_history()

    def listen(self, port: int, handler: PortHandler) -> None:
        self._service.programs.add_port(port, ContainerMatch(), handler)


@final
class _Envtest:
    name = "envtest"

    def __init__(self, plane: ControlPlane, sessions: _Sessions, network: _PodNetwork) -> None:
        self._plane = plane
        self._network = network
        self._sessions = sessions
        self.url = plane.url

    async def session(self, user: str = "", groups: tuple[str, ...] = ()) -> aiohttp.ClientSession:
        return await self._sessions.of(user, groups)

    def config(self, user: str, groups: tuple[str, ...]) -> ClusterConfig:
        return self._sessions.config(self.url, user, groups)

    async def expire(self, version: str) -> None:
        etcd = f"{self._plane.etcd_url}/v3/kv/compaction"
        async with (
            aiohttp.ClientSession() as session,
            session.post(etcd, json={"revision": version, "physical": True}) as response,
        ):
            assert response.status == 200, await response.text()

    def listen(self, port: int, handler: PortHandler) -> None:
        self._network.handlers[port] = handler


_EGRESS = """
apiVersion: apiserver.k8s.io/v1beta1
kind: EgressSelectorConfiguration
egressSelections:
- name: cluster
  connection: {proxyProtocol: HTTPConnect, transport: {uds: {udsName: %s}}}
"""


@final
class _PodNetwork:
    """The network of the pods of kube-apiserver: a proxy that it connects through.

    No address but loopback is ever connected to.
    """

    def __init__(self, folder: Path) -> None:
        self.handlers: dict[int, PortHandler] = {}
        self._socket = folder / "egress.sock"
        self.config = folder / "egress.yaml"
        self.config.write_text(_EGRESS % self._socket)

    async def start(self) -> asyncio.Server:
        return await asyncio.start_unix_server(self._connect, self._socket)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        handler = self.handlers.get(int(head.split()[1].rpartition(":")[2]))
        try:
            if handler is None:
                writer.write(b"HTTP/1.1 503 connection refused\r\n\r\n")
                return
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            await handler(reader, writer)
        finally:
            writer.close()


@asynccontextmanager
async def embedded() -> AsyncIterator[Server]:
    """The embedded server, with TLS and roles."""
    async with AsyncExitStack() as stack:
        service = await stack.enter_async_context(Service(tls=True, rbac=True))
        yield _Embedded(service, _Sessions(service, stack))


@asynccontextmanager
async def envtest(*, controllers: Sequence[str] = ()) -> AsyncIterator[Server]:
    """A real kube-apiserver with its own etcd."""
    async with AsyncExitStack() as stack:
        network = _PodNetwork(Path(stack.enter_context(tempfile.TemporaryDirectory())))
        stack.push_async_callback(_close, await network.start())
        flags = (
            f"--watch-cache-sizes={UNCACHED}#0",
            f"--egress-selector-config-file={network.config}",
        )
        plane = ControlPlane(api_server_flags=flags, controllers=controllers)
        await stack.enter_async_context(plane)
        yield _Envtest(plane, _Sessions(plane, stack), network)


async def _close(server: asyncio.Server) -> None:
    server.close()
    await server.wait_closed()
