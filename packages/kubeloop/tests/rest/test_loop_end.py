"""A program may end right after its client: every connection is closed by then."""

from __future__ import annotations

import asyncio
import gc
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kubeloop.config import ClusterConfig
from kubeloop.errors import ClientClosed
from kubeloop.kit import new_event_loop
from kubeloop.rest import Request, RESTClient
from kubeloop_testing.server.access.certs import Authority
from tests.support.scripted_server import ScriptedServer, client_for, hang, reply

BEGUN = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nbegun\n\r\n"


class DeafServer:
    """Sends some bytes over TLS, and then ignores everything, close_notify included."""

    def __init__(self, folder: Path) -> None:
        self.says = BEGUN
        authority = Authority()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*authority.server().write(folder))
        self._listener = context.wrap_socket(
            socket.create_server(("127.0.0.1", 0)), server_side=True
        )
        self._listener.settimeout(3)  # whatever goes wrong, the test ends
        port = self._listener.getsockname()[1]
        self.config = ClusterConfig(
            server=f"https://127.0.0.1:{port}", ca=authority.pem, anonymous=True
        )
        self.has_been_asked = threading.Event()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        connection, _ = self._listener.accept()
        with connection:
            connection.settimeout(3)
            connection.recv(65536)
            self.has_been_asked.set()
            connection.sendall(self.says)
            self._is_over.wait(3)

    def close(self) -> None:
        self._is_over.set()
        self._thread.join()
        self._listener.close()


@pytest.fixture
def deaf_server(tmp_path: Path) -> Iterator[DeafServer]:
    server = DeafServer(tmp_path)
    yield server
    server.close()


@pytest.mark.parametrize("new_loop", [new_event_loop, asyncio.new_event_loop])
def test_a_cancelled_response_leaves_no_connection_to_the_loop(
    deaf_server: DeafServer, new_loop: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    async def read_a_little() -> bytes:
        async with RESTClient(deaf_server.config) as rest:
            stream = rest.stream(Request(method="GET", path="/endless"))
            async with stream:
                return await anext(stream)

    with asyncio.Runner(loop_factory=new_loop) as runner:
        message = runner.run(read_a_little())

    assert message == b"begun\n"  # and no warning, which would be an error


@pytest.mark.parametrize("new_loop", [new_event_loop, asyncio.new_event_loop])
def test_a_cancelled_request_leaves_no_connection_to_the_loop(
    deaf_server: DeafServer, new_loop: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    deaf_server.says = b""

    async def ask_in_vain() -> None:
        async with RESTClient(deaf_server.config) as rest:
            asking = asyncio.create_task(rest.send(Request(method="GET", path="/")))
            await asyncio.to_thread(deaf_server.has_been_asked.wait, 3)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking

    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(ask_in_vain())  # and no warning, which would be an error


@pytest.mark.parametrize("turns", [1, 2, 3])
async def test_a_client_whose_closing_is_cancelled_closes_all_the_same(
    server: ScriptedServer, turns: int
) -> None:
    server.respond(reply(), reply(), hang)
    rest = client_for(server)
    get = Request(method="GET", path="/x")
    await asyncio.gather(rest.send(get), rest.send(get))
    call = asyncio.create_task(rest.send(get))
    await server.until(lambda seen: len(seen.received) == 3)

    closing = asyncio.create_task(rest.aclose())
    for _ in range(turns):
        await asyncio.sleep(0)
    closing.cancel()
    await asyncio.wait([closing, call])

    await server.until(lambda seen: seen.closed == 2)


@pytest.mark.parametrize("make_loop", [asyncio.new_event_loop, new_event_loop])
def test_a_client_that_is_closed_while_it_connects_leaves_no_socket(
    make_loop: Callable[[], asyncio.AbstractEventLoop],
) -> None:
    """At every step: a leaked socket would close its file descriptor a second time."""

    async def close_after(turns: int) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
            config = ClusterConfig(server=f"https://127.0.0.1:{port}", anonymous=True)
            rest = RESTClient(config)
            call = asyncio.create_task(rest.send(Request(method="GET", path="/x")))
            for _ in range(turns):
                await asyncio.sleep(0)
            await rest.aclose()
            with pytest.raises(ClientClosed):
                await call

    async def close_at_every_step() -> None:
        for turns in range(12):
            await close_after(turns)

    with asyncio.Runner(loop_factory=make_loop) as runner:
        runner.run(close_at_every_step())
    gc.collect()  # a socket that was left would warn, and a warning is an error here
