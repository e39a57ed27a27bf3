"""A network in memory: listeners, connections with latency, cuts and partitions.

Guarantees: bytes of one direction of a connection arrive in order and unchanged, or not at all;
a writer is paused while its peer does not read; every latency comes from the seed. `digest` is
the hash of all bytes, with their times and directions.
See also: `loop` (who calls this).
"""

from __future__ import annotations

import asyncio
import contextvars
import errno
import hashlib
import random
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, cast, final

if TYPE_CHECKING:
    from .loop import Incarnation, SimulatedLoop

__all__ = [
    "SERVER_NAME",
    "Address",
    "Connection",
    "Endpoint",
    "FakeSocket",
    "Listening",
    "Network",
    "connection",
]

Address: TypeAlias = tuple[str, int]
_Item: TypeAlias = "bytes | _Mark"

SERVER_NAME = "kubernetes.simulation.invalid"
"""The host of the simulated server in kubeconfigs: no other network resolves it."""

_LATENCY = (0.0001, 0.005)  # seconds
_HIGH_WATER = 256 * 1024  # bytes on the way before a writer is paused
_LOOPBACK = "127.0.0.1"
_ANY = "0.0.0.0"  # noqa: S104 - no socket is bound
_CONNECT_TIMEOUT = 127.0  # seconds; Linux gives up a connection attempt after that


class _Mark:
    """What follows the bytes of a connection: its end, or its reset."""


_END, _RESET = _Mark(), _Mark()

# The connection whose bytes the server handles now.
_connection: contextvars.ContextVar[Connection | None] = contextvars.ContextVar(
    "kubeloop_simulated_connection", default=None
)


def connection() -> Connection | None:
    """The connection of the request that the server handles now."""
    return _connection.get()


@final
class FakeSocket:
    """What transports and servers return as their socket."""

    family = socket.AF_INET
    type = socket.SOCK_STREAM
    proto = socket.IPPROTO_TCP

    def __init__(self, me: Address, peer: Address | None) -> None:
        self._me = me
        self._peer = peer

    def getsockname(self) -> Address:
        return self._me

    def getpeername(self) -> Address:
        if self._peer is None:
            raise OSError(errno.ENOTCONN, "not connected")
        return self._peer

    def setsockopt(self, *_: Any) -> None:
        pass

    def getsockopt(self, *_: Any) -> int:
        return 0

    def fileno(self) -> int:
        return -1

    def close(self) -> None:
        pass

    def shutdown(self, how: int) -> None:
        pass


@final
class Endpoint(asyncio.Transport):
    """One end of a connection."""

    def __init__(
        self,
        link: Connection,
        protocol: asyncio.BaseProtocol,
        context: contextvars.Context,
        *,
        me: Address,
        peer: Address,
    ) -> None:
        super().__init__({"sockname": me, "peername": peer, "socket": FakeSocket(me, peer)})
        self._link = link
        self._protocol = protocol
        self.context = context
        self._peer: Endpoint | None = None
        self._is_closing = False
        self._has_sent_end = False
        self._has_ended = False  # connection_lost was called
        self._is_paused = False
        self._arrived: list[_Item] = []  # while reading is paused
        self._on_the_way = 0  # bytes that the peer has not read
        self._is_writer_paused = False
        self.last = 0.0  # when the last item that was sent arrives
        self.sent_at = 0.0
        self.held: list[_Item] = []  # what was sent while the direction is blocked
        self.blocks = 0

    def pair(self, peer: Endpoint) -> None:
        self._peer = peer

    # --- asyncio's transport

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._protocol = protocol

    def get_protocol(self) -> asyncio.BaseProtocol:
        return self._protocol

    def is_closing(self) -> bool:
        return self._is_closing

    def is_reading(self) -> bool:
        return not self._is_paused and not self._is_closing

    def pause_reading(self) -> None:
        self._is_paused = True

    def resume_reading(self) -> None:
        if self._is_paused:
            self._is_paused = False
            self._link.loop.call_soon(self._drain, context=self.context)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self._is_closing or self._has_sent_end or not data:
            return
        self._on_the_way += len(data)
        self._send(bytes(data))
        if self._on_the_way > _HIGH_WATER and not self._is_writer_paused:
            self._is_writer_paused = True
            self._protocol.pause_writing()

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        if not self._is_closing and not self._has_sent_end:
            self._has_sent_end = True
            self._send(_END)

    def get_write_buffer_size(self) -> int:
        return 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def get_write_buffer_limits(self) -> tuple[int, int]:
        return (_HIGH_WATER // 4, _HIGH_WATER)

    def close(self) -> None:
        if not self._is_closing:
            self.write_eof()
            self._lose(None)

    def abort(self) -> None:
        if not self._is_closing:
            self._has_sent_end = True
            self._send(_RESET)
            self._lose(None)

    # --- sending

    def _send(self, item: _Item) -> None:
        self.sent_at = self._link.loop.time()
        if isinstance(item, bytes):
            if self._link.observe(self, item):
                return
            item = self._link.cut(item)
            if not item:
                return
        if self.blocks:
            self.held.append(item)
        else:
            self._schedule(item)

    def _schedule(self, item: _Item) -> None:
        link, peer = self._link, self._peer
        assert peer is not None, "a connection has two ends"
        self.last = max(self.last, link.loop.time() + link.latency())
        link.loop.call_at(self.last, peer.arrive, item, context=peer.context)

    def block(self) -> None:
        """Hold everything that is sent from now on."""
        self.blocks += 1

    def unblock(self) -> None:
        """Send what was held."""
        self.blocks -= 1
        if not self.blocks:
            held, self.held = self.held, []
            for item in held:
                self._schedule(item)

    # --- receiving

    def arrive(self, item: _Item) -> None:
        """Called by the loop, in the context of this end."""
        if self._has_ended:
            return
        if self._is_paused or self._arrived:
            self._arrived.append(item)
            return
        self._deliver(item)

    def _drain(self) -> None:
        while self._arrived and not self._is_paused and not self._has_ended:
            self._deliver(self._arrived.pop(0))

    def _deliver(self, item: _Item) -> None:
        if item is _RESET:
            error = ConnectionResetError(errno.ECONNRESET, "Connection reset by peer")
            self._is_closing = self._has_sent_end = True
            self._end(error)
        elif item is _END:
            if not self._is_closing and not cast("asyncio.Protocol", self._protocol).eof_received():
                self.close()
        elif not self._is_closing:
            data = cast("bytes", item)
            self._link.network.record(self._link, data)
            assert self._peer is not None, "a connection has two ends"
            self._peer.delivered(len(data))
            if self._link.on_arrival is not None and self is self._link.client:
                on_arrival, self._link.on_arrival = self._link.on_arrival, None
                on_arrival()
            self._receive(data)

    def _receive(self, data: bytes) -> None:
        protocol = self._protocol
        if not isinstance(protocol, asyncio.BufferedProtocol):
            cast("asyncio.Protocol", protocol).data_received(data)
            return
        while data:
            buffer = memoryview(protocol.get_buffer(len(data)))
            size = min(len(buffer), len(data))
            buffer[:size] = data[:size]
            protocol.buffer_updated(size)
            data = data[size:]
            if self._is_paused and data:
                self._arrived.insert(0, data)
                return

    def delivered(self, size: int) -> None:
        self._on_the_way -= size
        if self._is_writer_paused and self._on_the_way <= _HIGH_WATER // 4:
            self._is_writer_paused = False
            self._link.loop.call_soon(self._protocol.resume_writing, context=self.context)

    # --- the end

    def _lose(self, error: Exception | None) -> None:
        self._is_closing = True
        self._link.loop.call_soon(self._end, error, context=self.context)

    def _end(self, error: Exception | None) -> None:
        if not self._has_ended:
            self._has_ended = True
            self._link.forget()
            self._protocol.connection_lost(error)

    def lose_process(self) -> None:
        """The process of this end was killed: the operating system resets the connection."""
        if not self._is_closing:
            self._is_closing = self._has_sent_end = self._has_ended = True
            self._send(_RESET)
            self._link.forget()


@final
class Connection:
    """A connection of a client to a listener; the simulation cuts, delays and observes it."""

    def __init__(
        self, loop: SimulatedLoop, network: Network, number: int, process: Incarnation | None
    ) -> None:
        self.loop = loop
        self.network = network
        self.number = number
        self.process = process  # the client's
        self.client: Endpoint
        self.server: Endpoint
        self.delay = 0.0  # seconds that are added to each latency
        self.bytes_left: int | None = None  # in both directions, before it is reset
        # Called with the first bytes that the server sends after a request; True: they are lost.
        self.on_response: Callable[[bytes], bool] | None = None
        # Called when the client has received what `on_response` was called with, whole.
        self.on_arrival: Callable[[], None] | None = None
        self.watches = ""  # the resource, while the connection carries a watch
        self.on_watch_bytes: Callable[[bytes], None] | None = None

    def latency(self) -> float:
        return self.network.latency() + self.delay

    def observe(self, sender: Endpoint, data: bytes) -> bool:
        """See what is sent; True if it is lost."""
        if sender is not self.server:
            return False
        if self.on_watch_bytes is not None:
            self.on_watch_bytes(data)
        if self.on_response is None:
            return False
        on_response, self.on_response = self.on_response, None
        self.on_arrival = None
        return on_response(data)

    def cut(self, data: bytes) -> bytes:
        """The part of what is sent that arrives: the connection breaks at `bytes_left`."""
        if self.bytes_left is None:
            return data
        part = data[: self.bytes_left]
        if len(part) < len(data):
            self.on_arrival = None
            # After what was sent before: the latest of both directions.
            at = max(self.loop.time(), self.client.last, self.server.last) + self.latency()
            self.loop.call_at(at, self.reset)
        self.bytes_left -= len(part)
        return part

    def reset(self) -> None:
        """Reset both ends, as a broken middlebox does."""
        for end in (self.client, self.server):
            end.context.run(end.arrive, _RESET)

    def forget(self) -> None:
        self.network.connections.pop(self.number, None)


@final
class Listening(asyncio.AbstractServer):
    """A listener of the network, as `create_server` returns it."""

    def __init__(
        self,
        loop: SimulatedLoop,
        where: Address,
        factory: Callable[[], asyncio.BaseProtocol],
        context: contextvars.Context,
    ) -> None:
        self._loop = loop
        self._where = where
        self.factory = factory
        self.context = context
        self.sockets = [FakeSocket(where, None)]

    def close(self) -> None:
        self._loop.network.unlisten(self._where, self)

    def close_clients(self) -> None:
        pass

    def abort_clients(self) -> None:
        pass

    def is_serving(self) -> bool:
        return self._loop.network.is_listening(self._where, self)

    async def start_serving(self) -> None:
        pass

    async def serve_forever(self) -> None:
        await self._loop.create_future()

    async def wait_closed(self) -> None:
        pass

    def get_loop(self) -> asyncio.AbstractEventLoop:
        return self._loop


@final
class Network:
    """All listeners and connections of one simulation."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._listeners: dict[Address, Listening] = {}
        self._port = 40_000
        self._number = 0
        self.connections: dict[int, Connection] = {}
        self._partitioned: dict[str, int] = {}  # names of processes
        # Names of processes, to the bytes after which each of their new connections is reset.
        self.cuts: dict[str, int] = {}
        self._digest = hashlib.blake2b(digest_size=16)
        self.messages = 0

    @property
    def digest(self) -> str:
        """The hash of everything that has arrived so far, with the time of each arrival."""
        return self._digest.hexdigest()

    def latency(self) -> float:
        return self._chance.uniform(*_LATENCY)

    def record(self, link: Connection, data: bytes) -> None:
        self.messages += 1
        self._digest.update(b"%d %.9f " % (link.number, link.loop.time()))
        self._digest.update(data)

    def address(self, host: str, port: int) -> Address:
        if not port:
            self._port += 1
            port = self._port
        return (host or _ANY, port)

    # --- listeners

    def listen(
        self,
        loop: SimulatedLoop,
        where: Address,
        factory: Callable[[], asyncio.BaseProtocol],
        context: contextvars.Context,
    ) -> Listening:
        if where in self._listeners:
            raise OSError(errno.EADDRINUSE, f"address already in use: {where}")
        found = self._listeners[where] = Listening(loop, where, factory, context)
        return found

    def unlisten(self, where: Address, listening: Listening) -> None:
        if self._listeners.get(where) is listening:
            del self._listeners[where]

    def is_listening(self, where: Address, listening: Listening) -> bool:
        return self._listeners.get(where) is listening

    # --- connections

    async def connect(
        self, loop: SimulatedLoop, where: Address, protocol: asyncio.BaseProtocol
    ) -> Endpoint:
        """Connect after one round trip.

        Raises: ConnectionRefusedError when nothing listens, TimeoutError in a partition.
        """
        from .loop import current_process

        if where[0] == SERVER_NAME:
            where = (_LOOPBACK, where[1])
        process = current_process()
        name = process.name if process is not None else ""
        until = loop.time() + _CONNECT_TIMEOUT
        while True:
            await asyncio.sleep(self.latency() + self.latency())
            if not self._partitioned.get(name):
                break
            if loop.time() >= until:
                raise TimeoutError(errno.ETIMEDOUT, f"connection timed out: {where}")
            await asyncio.sleep(1.0)
        listening = self._listeners.get(where) or self._listeners.get((_ANY, where[1]))
        if listening is None:
            raise ConnectionRefusedError(errno.ECONNREFUSED, f"connection refused: {where}")
        self._number += 1
        self._port += 1
        me = (_LOOPBACK, self._port)
        link = Connection(loop, self, self._number, process)
        link.bytes_left = self.cuts.get(name)
        context = listening.context.copy()
        context.run(_connection.set, link)
        served = context.run(listening.factory)
        link.client = Endpoint(link, protocol, contextvars.copy_context(), me=me, peer=where)
        link.server = Endpoint(link, served, context, me=where, peer=me)
        link.client.pair(link.server)
        link.server.pair(link.client)
        self.connections[link.number] = link
        context.run(served.connection_made, link.server)
        protocol.connection_made(link.client)
        return link.client

    def of(self, name: str) -> list[Connection]:
        """The connections that a process has opened."""
        return [
            each
            for each in list(self.connections.values())
            if each.process is not None and each.process.name == name
        ]

    def reset_all(self, process: Incarnation) -> None:
        """Reset the connections of a process that was killed."""
        for link in list(self.connections.values()):
            if link.process is process:
                link.client.lose_process()

    def slow(self, name: str, seconds: float) -> None:
        """Add to the latency of the open connections of a process."""
        for link in self.of(name):
            link.delay = seconds

    def partition(self, name: str) -> None:
        """Hold everything between a process and all others, until `heal`."""
        self._partitioned[name] = self._partitioned.get(name, 0) + 1
        for link in self.of(name):
            link.client.block()
            link.server.block()

    def heal(self, name: str) -> None:
        """Send what was held."""
        self._partitioned[name] -= 1
        for link in self.of(name):
            for end in (link.client, link.server):
                if end.blocks:
                    end.unblock()
