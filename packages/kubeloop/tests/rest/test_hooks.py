"""Headers for all requests, hooks around each attempt, and a function that opens connections."""

from __future__ import annotations

import asyncio
import socket

import pytest

from kubeloop import Client
from kubeloop.config import ClusterConfig
from kubeloop.errors import ApiError, ConnectError, NotFound
from kubeloop.rest import (
    IncomingResponse,
    Request,
    RESTClient,
    SendRequest,
    path_request,
    resource_request,
)
from tests.support.clocks import InstantClock
from tests.support.scripted_server import PODS, ScriptedServer, chunked, client_for, reply

GET = path_request("GET", "/x")


async def test_headers_of_the_client_are_sent_with_every_request(server: ScriptedServer) -> None:
    server.respond(reply(), chunked(b"a", end="whole"), reply())
    async with client_for(server, headers={"X-Team": "shop", "user-agent": "mine"}) as rest:
        await rest.send(GET)
        await rest.stream(GET).read()
        await rest.send(path_request("GET", "/x", headers={"x-team": "own"}))

    assert [each.header("X-Team") for each in server.received] == ["shop", "shop", "own"]
    assert [each.all_of("User-Agent") for each in server.received] == [["mine"]] * 3


async def test_headers_and_hooks_are_options_of_a_client(server: ScriptedServer) -> None:
    server.respond(reply(404))
    seen: list[str] = []

    async def observe(request: Request, send: SendRequest) -> IncomingResponse:
        response = await send(request)
        seen.append(f"{request.action}: {response.status}")
        return response

    config = ClusterConfig(server=server.url)
    async with Client(config, headers={"X-Team": "shop"}, hooks=[observe]) as client:
        with pytest.raises(NotFound):
            await client.core_v1.pods("shop").get("web")

    assert seen == ["GET pods/web in shop: 404"]
    assert server.received[0].header("X-Team") == "shop"


async def test_hooks_may_change_a_request_and_see_each_attempt(
    server: ScriptedServer, hurried: InstantClock
) -> None:
    server.respond(reply(503, headers={"Retry-After": "1"}), reply(body=b"done"))
    order: list[str] = []

    async def outer(request: Request, send: SendRequest) -> IncomingResponse:
        order.append("outer")
        return await send(request.with_headers({"X-Attempt": str(len(order))}))

    async def inner(request: Request, send: SendRequest) -> IncomingResponse:
        order.append("inner")
        return await send(request.with_params({"pretty": "1"}))

    async with client_for(server, hooks=[outer, inner], clock=hurried) as rest:
        assert (await rest.send(GET)).body == b"done"

    assert order == ["outer", "inner", "outer", "inner"]
    assert [each.target for each in server.received] == ["/x?pretty=1"] * 2
    assert [each.header("X-Attempt") for each in server.received] == ["1", "3"]


async def test_a_hook_may_change_the_head_of_a_response(server: ScriptedServer) -> None:
    server.respond(reply(404, body=b'{"a": 1}'))

    async def found(request: Request, send: SendRequest) -> IncomingResponse:
        response = await send(request)
        response.status = 200
        return response

    async with client_for(server, hooks=[found]) as rest:
        response = await rest.send(GET)

    assert (response.status, response.body) == (200, b'{"a": 1}')


async def test_a_hook_sees_no_credentials_and_its_error_reaches_the_caller(
    server: ScriptedServer,
) -> None:
    server.respond(reply())
    seen: list[str] = []

    async def refuse(request: Request, send: SendRequest) -> IncomingResponse:
        seen.append(f"{request!r}{request.headers}")
        raise PermissionError("not on Fridays")

    async with client_for(server, hooks=[refuse], config={"token": "s3cret"}) as rest:
        with pytest.raises(PermissionError, match="not on Fridays"):
            await rest.send(GET)
        assert rest.stats().in_flight == 0

    assert "s3cret" not in seen[0]
    assert not server.received


async def test_hooks_are_called_for_watches(server: ScriptedServer) -> None:
    server.respond(chunked(b'{"type":"ADDED","object":{}}\n', end="whole"))
    seen: list[str] = []

    async def observe(request: Request, send: SendRequest) -> IncomingResponse:
        seen.append(request.verb)
        return await send(request)

    watching = resource_request("watch", PODS)
    async with client_for(server, hooks=[observe]) as rest, rest.watch(watching) as watch:
        assert (await anext(watch)).type == "ADDED"

    assert seen == ["watch"]


async def test_a_function_of_the_user_opens_the_connections(server: ScriptedServer) -> None:
    server.respond(reply(body=b"by tunnel"))
    dialled: list[tuple[str, int]] = []

    async def tunnel(host: str, port: int) -> socket.socket:
        dialled.append((host, port))
        connected = socket.socket()
        connected.setblocking(False)
        await asyncio.get_running_loop().sock_connect(connected, ("127.0.0.1", server.port))
        return connected

    config = ClusterConfig(server="http://api.cluster.example:6443")
    async with RESTClient(config, dial=tunnel) as rest:
        assert (await rest.send(GET)).body == b"by tunnel"
        await rest.send(GET)

    assert dialled == [("api.cluster.example", 6443)]
    assert server.received[0].header("Host") == "api.cluster.example:6443"


async def test_a_tunnel_that_fails_is_a_connect_error() -> None:
    async def tunnel(host: str, port: int) -> socket.socket:
        raise ConnectionRefusedError(111, "refused")

    async with RESTClient(ClusterConfig(server="http://api.example"), dial=tunnel) as rest:
        with pytest.raises(ConnectError, match="no connection"):
            await rest.send(GET)


async def test_an_unsuccessful_response_after_a_hook_is_the_server_s_error(
    server: ScriptedServer,
) -> None:
    server.respond(reply(409, {"kind": "Status", "status": "Failure", "reason": "Conflict"}))

    async def observe(request: Request, send: SendRequest) -> IncomingResponse:
        return await send(request)

    async with client_for(server, hooks=[observe]) as rest:
        with pytest.raises(ApiError) as caught:
            await rest.send(GET)
    assert caught.value.code == 409


@pytest.mark.parametrize("then", ["raises", "sends again"])
async def test_a_response_that_a_hook_does_not_return_leaves_no_connection_in_use(
    then: str, server: ScriptedServer
) -> None:
    server.respond(chunked(b"x", status=500, end="hang"), reply(body=b"second"))

    async def hook(request: Request, send: SendRequest) -> IncomingResponse:
        await send(request)
        if then == "raises":
            raise LookupError("no")
        return await send(request)

    async with client_for(server, hooks=[hook]) as rest:
        if then == "raises":
            with pytest.raises(LookupError):
                await rest.send(GET)
        else:
            assert (await rest.send(GET)).body == b"second"
        await server.until(lambda seen: seen.closed == 1)
