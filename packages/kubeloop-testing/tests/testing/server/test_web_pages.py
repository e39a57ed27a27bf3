"""A web page cannot use the embedded server with any request that a browser sends."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator

import aiohttp
import pytest

from kubeloop.errors import InvalidArgument
from kubeloop.wire.core.v1 import Secret
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_testing import APIServer, User

SECRET = "/api/v1/namespaces/default/secrets/database"
CONFIGMAPS = "/api/v1/namespaces/default/configmaps"


@pytest.fixture
async def server() -> AsyncIterator[APIServer]:
    async with APIServer() as started:
        secret = Secret(metadata=ObjectMeta(name="database"), data={"password": b"swordfish"})
        await started.client().core_v1.secrets().create(secret)
        yield started


async def sent(server: APIServer, head: str, body: str = "") -> str:
    """The response to a hand-written request."""
    host, _, port = server.url.partition("://")[2].rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        writer.write(f"{head}\r\nConnection: close\r\n\r\n{body}".encode())
        return (await reader.read()).decode()
    finally:
        writer.close()
        await writer.wait_closed()


@pytest.mark.parametrize(
    "head",
    [
        "GET {path} HTTP/1.1\r\nHost: evil.example.com",
        "GET {path} HTTP/1.1\r\nHost: evil.example.com:{port}",
        "GET http://evil.example.com{path} HTTP/1.1\r\nHost: localhost",
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example.com",
        "GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\nOrigin: http://localhost:3000",
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nOrigin: null",
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: cross-site",
        (
            "GET {path} HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example.com"
            "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13"
            "\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
        ),
        (
            "OPTIONS {path} HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example.com"
            "\r\nAccess-Control-Request-Method: DELETE"
        ),
    ],
)
async def test_a_request_that_a_page_may_have_sent_reads_nothing(
    server: APIServer, head: str
) -> None:
    recorded = len(server.requests)
    port = server.url.rpartition(":")[2]

    response = await sent(server, head.format(path=SECRET, port=port))

    assert response.startswith("HTTP/1.1 403 ")
    assert '"reason":"Forbidden"' in response
    assert "Access-Control-Allow" not in response
    assert "c3dvcmRmaXNo" not in response  # the password, as JSON has it
    assert len(server.requests) == recorded


@pytest.mark.parametrize("head", ["", "\r\nHost: localhost\r\nHost: evil.example.com"])
async def test_a_request_without_exactly_one_host_reads_nothing(
    server: APIServer, head: str
) -> None:
    response = await sent(server, f"GET {SECRET} HTTP/1.1{head}")

    assert " 400 Bad Request" in response.partition("\r\n")[0]
    assert "c3dvcmRmaXNo" not in response


async def test_a_html_form_changes_nothing(server: APIServer) -> None:
    body = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"evil"}}'
    head = (
        f"POST {CONFIGMAPS} HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example.com"
        f"\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}"
    )

    response = await sent(server, head, body)

    assert response.startswith("HTTP/1.1 403 ")
    assert not await server.client().core_v1.config_maps("default").exists("evil")


async def test_the_refusal_says_what_to_do(server: APIServer) -> None:
    response = await sent(server, "GET /version HTTP/1.1\r\nHost: dev.example.com")

    assert "'dev.example.com' is not a name of this server" in response
    assert "allow_hosts=, or --allow-host of kubeloop serve" in response


async def test_a_name_that_was_allowed_is_answered() -> None:
    async with APIServer(allow_hosts=["dev.example.com"]) as server:
        allowed = await sent(server, "GET /version HTTP/1.1\r\nHost: dev.example.com")
        other = await sent(server, "GET /version HTTP/1.1\r\nHost: evil.example.com")

    assert allowed.startswith("HTTP/1.1 200 ")
    assert other.startswith("HTTP/1.1 403 ")


async def test_without_roles_and_tokens_tls_changes_nothing_about_it() -> None:
    async with APIServer(tls=True) as server, aiohttp.ClientSession() as session:
        assert server.service.ca is not None
        trusted = ssl.create_default_context(cadata=server.service.ca.decode())
        origin = {"Origin": "https://evil.example.com"}
        async with session.get(f"{server.url}/version", ssl=trusted, headers=origin) as response:
            assert response.status == 403
        async with session.get(f"{server.url}/version", ssl=trusted) as response:
            assert response.status == 200


@pytest.mark.parametrize(
    "options",
    [{"rbac": True, "tls": False}, {"tokens": {"t": User("jane")}, "tls": False}],
)
async def test_a_server_that_asks_for_credentials_answers_to_any_name(
    options: dict[str, object],
) -> None:
    async with APIServer(**options) as server:  # type: ignore[arg-type]  # parameters of the test
        response = await sent(
            server,
            "GET /version HTTP/1.1\r\nHost: kube.example.com"
            f"\r\nAuthorization: Bearer {server.service.token}",
        )

    assert response.startswith("HTTP/1.1 200 ")


async def test_optional_tokens_do_not_lift_the_guard() -> None:
    tokens = {"t": User("jane")}
    async with APIServer(tokens=tokens, tls=False, anonymous_auth=True) as server:
        response = await sent(server, "GET /version HTTP/1.1\r\nHost: evil.example.com")

    assert response.startswith("HTTP/1.1 403 ")


def test_an_allowed_host_that_is_none_is_refused_before_anything_starts() -> None:
    with pytest.raises(InvalidArgument, match=r"allow_hosts: 'http://x' is not a host"):
        APIServer(allow_hosts=["http://x"])


async def test_a_server_listens_on_loopback_by_default(server: APIServer) -> None:
    assert server.url.startswith("http://127.0.0.1:")
