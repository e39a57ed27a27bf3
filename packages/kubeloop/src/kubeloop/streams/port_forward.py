"""Local listeners whose connections go to ports of a pod.

Guarantees: each local connection has a connection of its own to the pod; both directions end
separately; an error of one connection ends that connection only. A local connection whose
connection to the pod fails or is lost is reset (RST), logged and counted: it never ends as if the
pod had closed it. When the block ends, listeners are closed and connections that are open reset.
See also: `tunnel` (connections to a pod).
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
import struct
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import final

import msgspec

from kubeloop.errors import InvalidArgument, KubeError, NotFound, TransportError
from kubeloop.kit import Backoff, TaskOwner, whole_number
from kubeloop.wire import get_logger

from .pods import NoReadyPod, PodAccess, TargetPod, find_pod, port_in_pod
from .process import UnsupportedByServer
from .tunnel import PortConnection, Tunnel, open_tunnel

__all__ = [
    "ForwardedPort",
    "PortForward",
    "PortForwardStats",
    "bind_addresses",
    "forward_ports",
    "open_port",
    "parse_port",
]

log = get_logger(__name__)

_CHUNK = 64 * 1024
_BACKLOG = 128
# For `reconnect`: about 30 s, in which a pod is replaced.
_BACKOFF = Backoff(duration=0.25, factor=1.6, jitter=0.2, steps=10, cap=5.0)
_ATTEMPTS = 12


class ForwardedPort(msgspec.Struct, frozen=True):
    """A local port, and the port of the target that it leads to."""

    local: int
    remote: int


class PortForwardStats(msgspec.Struct, frozen=True):
    """Numbers of one forward."""

    pod: str
    open: int
    accepted: int
    failed: int  # reset: the pod, the tunnel or the local peer ended them before their end
    tunnels: int  # opened so far


def parse_port(spec: int | str) -> ForwardedPort:
    """The ports of `8080` (a free local port), `"8080"`, `"8888:8080"` or `":8080"`.

    Raises: InvalidArgument.
    """
    if isinstance(spec, int):
        local, remote = "0", str(spec)
    else:
        local, colon, remote = spec.partition(":")
        if not colon:
            remote = local
        local = local or "0"
    found = [-1 if (number := whole_number(each)) is None else number for each in (local, remote)]
    if not (0 <= found[0] < 65536 and 0 < found[1] < 65536):
        raise InvalidArgument(
            f"port {spec!r}: expected 8080, '8888:8080' or ':8080', with ports from 1 to 65535"
        )
    return ForwardedPort(*found)


def bind_addresses(addresses: Sequence[str]) -> list[tuple[str, bool]]:
    """The IP addresses to listen on, sorted, and whether each of them must be available.

    Raises: InvalidArgument for a name other than localhost.
    """
    found: dict[str, bool] = {}
    for address in addresses:
        if address == "localhost":
            for each in ("127.0.0.1", "::1"):
                found.setdefault(each, False)
            continue
        try:
            found[str(ipaddress.ip_address(address))] = True
        except ValueError as error:
            raise InvalidArgument(
                f"address {address!r}: expected an IP address or localhost"
            ) from error
    if not found:
        raise InvalidArgument("port-forward: no address to listen on")
    return sorted(found.items())


@final
class PortForward:
    """Open listeners; `port` is the first local port."""

    def __init__(
        self, forwarder: _Forwarder, listeners: Sequence[tuple[str, ForwardedPort]]
    ) -> None:
        self._forwarder = forwarder
        self.listeners = tuple(listeners)  # by local address: localhost may have two
        self.ports = tuple(dict.fromkeys(port for _, port in listeners))

    @property
    def port(self) -> int:
        """The local port, of the first forwarded port."""
        return self.ports[0].local

    def stats(self) -> PortForwardStats:
        return self._forwarder.stats()

    def __repr__(self) -> str:
        pairs = ", ".join(f"{each.local} to {each.remote}" for each in self.ports)
        return f"PortForward({pairs})"


@asynccontextmanager
async def forward_ports(
    access: PodAccess,
    target: str,
    ports: Sequence[int | str],
    *,
    addresses: Sequence[str],
    reconnect: bool,
) -> AsyncIterator[PortForward]:
    """See `PodClient.port_forward`."""
    if not ports:
        raise InvalidArgument(f"port-forward to {target}: no port is given")
    pairs = [parse_port(each) for each in ports]
    bound_to = bind_addresses(addresses)
    async with TaskOwner() as tasks:
        forwarder = _Forwarder(access, target, tasks, reconnect=reconnect)
        try:
            await forwarder.connect(pairs[0].remote)
            listening = await _listen(forwarder, pairs, bound_to)
            yield PortForward(forwarder, listening)
        finally:
            forwarder.close()


@asynccontextmanager
async def open_port(access: PodAccess, target: str, port: int) -> AsyncIterator[PortConnection]:
    """See `PodClient.open_connection`."""
    found = await find_pod(access, target)
    number = port_in_pod(found, parse_port(port).remote)
    tunnel = await open_tunnel(access, found.name, number)
    try:
        async with TaskOwner(on_failure=_log_failure) as tasks:
            tasks.spawn(tunnel.run(), name=f"tunnel to {found.name}")
            connection = await tunnel.open(number)
            try:
                yield connection
            finally:
                connection.close()
    finally:
        tunnel.abort()


def _log_failure(name: str, error: Exception) -> None:
    log.debug("%s: %s", name, error)  # the connection raises it


async def _listen(
    forwarder: _Forwarder, pairs: list[ForwardedPort], addresses: list[tuple[str, bool]]
) -> list[tuple[str, ForwardedPort]]:
    found: list[tuple[str, ForwardedPort]] = []
    problems: list[str] = []
    for pair in pairs:
        local = pair.local
        for address, is_required in addresses:
            try:
                local = await forwarder.listen(address, local, pair.remote)
            except OSError as error:
                problems.append(f"{address}:{local}: {error.strerror or error}")
                if is_required:
                    log.warning("cannot listen on %s", problems[-1])
                continue
            found.append((address, ForwardedPort(local, pair.remote)))
    if not found:
        raise InvalidArgument(f"port-forward: cannot listen: {'; '.join(problems)}")
    return found


@final
class _Forwarder:
    """Accepts local connections and connects each with the pod."""

    def __init__(
        self, access: PodAccess, target: str, tasks: TaskOwner, *, reconnect: bool
    ) -> None:
        self._access = access
        self._target = target
        self._tasks = tasks
        self._reconnect = reconnect
        self._found = TargetPod(target)
        self._tunnel: Tunnel | None = None
        self._connecting = asyncio.Lock()
        self._servers: list[asyncio.Server] = []
        self._open = self._accepted = self._failed = self._tunnels = 0

    async def connect(self, port: int) -> Tunnel:
        """The current tunnel, or a new one to a pod of the target."""
        async with self._connecting:
            if self._tunnel is not None and self._tunnel.is_open:
                return self._tunnel
            found = await find_pod(self._access, self._target)
            number = port_in_pod(found, port)
            tunnel = await open_tunnel(self._access, found.name, number)
            if self._tunnel is not None:
                self._tunnel.abort()
                log.info("port-forward to %s: using pod %s", self._target, found.name)
            self._tunnel, self._found = tunnel, found
            self._tunnels += 1
            self._tasks.spawn(self._run(tunnel), name=f"tunnel to {found.name}")
            return tunnel

    async def listen(self, address: str, port: int, remote: int) -> int:
        """Listen on an address; returns the local port. Raises: OSError."""
        port_in_pod(self._found, remote)
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        listener = socket.socket(family, socket.SOCK_STREAM)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listener.bind((address, port))

            def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                self._accept(remote, reader, writer)

            server = await asyncio.start_server(
                accept, sock=listener, backlog=_BACKLOG, start_serving=False
            )
        except BaseException:
            listener.close()
            raise
        try:
            # The event loop has the socket from here on: only the server can close it, or the
            # loop takes the next connection with the same number for this one.
            await server.start_serving()
        except BaseException:
            server.close()
            raise
        self._servers.append(server)
        return int(server.sockets[0].getsockname()[1])

    def close(self) -> None:
        """Stop to listen, and close the tunnel; the owner of the tasks ends the connections."""
        for server in self._servers:
            server.close()
        if self._tunnel is not None:
            self._tunnel.abort()

    def stats(self) -> PortForwardStats:
        return PortForwardStats(
            self._found.name, self._open, self._accepted, self._failed, self._tunnels
        )

    async def _run(self, tunnel: Tunnel) -> None:
        try:
            await tunnel.run()
        except TransportError as error:
            if not self._reconnect:
                raise
            log.info("%s; will connect again", error)

    def _accept(
        self, remote: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._accepted += 1

        def reset(_: object) -> None:
            if not writer.is_closing():
                _reset(writer)

        try:
            task = self._tasks.spawn(
                self._serve(remote, reader, writer), name=f"connection {self._accepted}"
            )
        except RuntimeError:  # the block is ending
            reset(None)
        else:
            task.add_done_callback(reset)  # also if it is cancelled before it starts

    async def _serve(
        self, remote: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._open += 1
        is_complete = False
        try:
            connection = await self._dial(remote)
            try:
                await _copy_both(connection, reader, writer)
            finally:
                connection.close()
            writer.close()
            is_complete = True
        # Both directions may fail, which is a group.
        except* OSError as errors:  # the local peer is gone
            log.info("connection to port %d of %s: %s", remote, self._target, errors.exceptions[0])
        except* KubeError as errors:
            error = errors.exceptions[0]
            log.warning("connection to port %d of %s: %s", remote, self._target, error)
        finally:
            self._open -= 1
            self._failed += not is_complete

    async def _dial(self, remote: int) -> PortConnection:
        delays = _BACKOFF.delays()
        attempts = _ATTEMPTS if self._reconnect else 1
        for attempt in range(1, attempts + 1):
            try:
                tunnel = await self.connect(remote)
                return await tunnel.open(port_in_pod(self._found, remote))
            except (NotFound, NoReadyPod, TransportError) as error:
                if attempt == attempts:
                    raise
                log.info("port-forward to %s: %s; will retry", self._target, error)
            await self._access.requests.rest.clock.sleep(delays.next())
        raise AssertionError("the last attempt raises")


async def _copy_both(
    connection: PortConnection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    async with TaskOwner() as tasks:
        sending = tasks.spawn(_send(connection, reader), name="to the pod")
        async for chunk in connection:
            writer.write(chunk)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
        await sending


async def _send(connection: PortConnection, reader: asyncio.StreamReader) -> None:
    while chunk := await reader.read(_CHUNK):
        await connection.write(chunk)
    try:
        await connection.write_eof()
    except UnsupportedByServer:
        log.debug("%r: the end of the input cannot be passed on", connection)


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close with RST instead of FIN, so that the peer cannot take a part for the whole."""
    local = writer.get_extra_info("socket")
    if local is not None:
        # On, with a linger time of 0; Windows has numbers of 16 bits.
        linger = struct.pack("hh" if sys.platform == "win32" else "ii", 1, 0)
        with contextlib.suppress(OSError):  # it is gone
            local.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    writer.transport.abort()
