"""WebSockets use the same connections as other requests."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from typing import Any

import pytest

from kubeloop.errors import (
    ApiError,
    Forbidden,
    ResponseTooLarge,
    TimeoutExceeded,
    TransportError,
)
from kubeloop.kit import ManualClock
from kubeloop.rest import ResponseLimits, Timeouts, resource_request
from kubeloop.rest.connections import Connection
from tests.support.scripted_server import (
    PODS,
    ReceivedRequest,
    ScriptedServer,
    ServerConnection,
    client_for,
    cut,
    hang,
    reply,
    serving,
)

EXEC = resource_request(
    "GET", PODS, namespace="shop", name="web", subresource="exec", params={"command": ["ls", "-l"]}
)


async def switches(received: ReceivedRequest, connection: ServerConnection) -> None:
    key = (received.header("Sec-WebSocket-Key") or "") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
    accept = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
    await connection.send(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Accept: {accept}\r\nSec-WebSocket-Protocol: v5.channel.k8s.io\r\n\r\n".encode()
    )
    await connection.send(b"\x82\x03\x01hi")  # one binary frame
    await connection.reader.read(100)  # the client's close frame
    await connection.send(b"\x88\x00")
    connection.cut()


async def test_a_websocket_carries_the_credentials_and_the_protocol(server: ScriptedServer) -> None:
    """REST-52: 101 is a success."""
    server.respond(switches)
    async with client_for(server, config={"token": "t"}) as rest:
        socket = await rest.websocket(EXEC, protocols=("v5.channel.k8s.io",))
        message = await socket.receive()
        await socket.close()

    assert (socket.subprotocol, message) == ("v5.channel.k8s.io", b"\x01hi")
    received = server.received[0]
    assert received.target == "/api/v1/namespaces/shop/pods/web/exec?command=ls&command=-l"
    assert received.header("Authorization") == "Bearer t"
    assert received.header("Sec-WebSocket-Protocol") == "v5.channel.k8s.io"


async def test_a_message_of_a_websocket_is_bounded_by_the_limit_for_an_object(
    server: ScriptedServer,
) -> None:
    server.respond(switches)
    async with client_for(server, response_limits=ResponseLimits(object=2)) as rest:
        socket = await rest.websocket(EXEC, protocols=("v5.channel.k8s.io",))
        with pytest.raises(ResponseTooLarge):
            await socket.receive()
        await socket.close()


async def test_a_rejection_is_the_server_s_error(server: ScriptedServer) -> None:
    server.respond(reply(403))
    async with client_for(server) as rest:
        with pytest.raises(Forbidden, match="GET pods/web/exec in shop: 403"):
            await rest.websocket(EXEC)


@pytest.mark.parametrize(("step", "kind"), [(cut, TransportError), (hang, TimeoutExceeded)])
async def test_no_response_is_a_kubeloop_error(
    step: Any, kind: type[TransportError], server: ScriptedServer
) -> None:
    server.respond(step)
    async with client_for(server, timeouts=Timeouts(response=0.1)) as rest:
        with pytest.raises(kind):
            await rest.websocket(EXEC)


async def test_a_websocket_follows_no_redirect(server: ScriptedServer) -> None:
    """Another server must not receive credentials and commands."""
    async with serving() as elsewhere:
        elsewhere.respond(switches)
        server.respond(reply(307, headers={"Location": f"{elsewhere.url}/exec"}))
        async with client_for(server, config={"token": "t"}) as rest:
            with pytest.raises(ApiError, match="307"):
                await rest.websocket(EXEC)

        assert not elsewhere.received


async def test_a_client_that_is_closed_at_the_moment_of_the_switch_is_a_kubeloop_error(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.respond(switches)
    on_upgrade = Connection.on_upgrade

    def abort_first(self: Connection, *head: Any) -> None:
        # What `aclose` does, before the task that opens the WebSocket continues.
        asyncio.get_running_loop().call_soon(self._pool.abort)
        on_upgrade(self, *head)

    monkeypatch.setattr(Connection, "on_upgrade", abort_first)
    async with client_for(server) as rest:
        with pytest.raises(TransportError, match="the client was closed"):
            await rest.websocket(EXEC, protocols=("v5.channel.k8s.io",))


async def test_a_switch_of_protocols_that_was_not_requested_is_an_error_at_once(
    server: ScriptedServer, clock: ManualClock
) -> None:
    async def switch(_: ReceivedRequest, connection: ServerConnection) -> None:
        await connection.send(b"HTTP/1.1 101 Go\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n")
        await connection.hang()

    server.respond(switch)
    async with client_for(server, clock=clock) as rest:
        with pytest.raises(TransportError, match="which was not requested"):
            await rest.send(EXEC)
        await server.until(lambda seen: seen.closed == 1)
