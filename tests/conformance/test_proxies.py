"""The proxies of pods, services and nodes, with a port that responds."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from typing import Any
from urllib.parse import quote, unquote

import msgspec
import pytest

from tests.conformance.raw_client import RawClient, Response
from tests.conformance.servers import Server

pytestmark = [pytest.mark.one_format, pytest.mark.timeout(60)]

PORT, PAGES, SOCKETS, SILENT, CLOSED = 8080, 8081, 8082, 8083, 8084
ADDRESS = "10.1.2.3"
PAGE = (
    b'<html><a href="/x">x</a><A HREF=/y  class=q>y</A><!-- <a href="/c"> --><img src="a.png">'
    b'<img src="/b.png"/><a href="http://example.com/z">z</a><script>"<a href=/n>"</script></html>'
)


async def _read(reader: asyncio.StreamReader) -> tuple[list[str], dict[str, str], bytes]:
    """The words of the request line, the headers and the body of a request."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    line, *lines = head.strip().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (x.partition(":") for x in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return line.split(" "), headers, body


def _write(
    writer: asyncio.StreamWriter, body: bytes, *headers: str, status: str = "200 OK"
) -> None:
    lines = (f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers)
    writer.write("\r\n".join([*lines, "", ""]).encode() + body)


async def _echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    (method, target, _), headers, body = await _read(reader)
    echo = {"method": method, "target": target, "headers": headers, "body": body.decode()}
    _write(writer, b"" if method == "HEAD" else msgspec.json.encode(echo), "X-Own: 1")
    await writer.drain()


async def _pages(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    (_, target, _), _, _ = await _read(reader)
    if target == "/page":
        _write(writer, PAGE, "Content-Type: text/html; charset=utf-8")
    elif target == "/headers":
        cors = ("Access-Control-Allow-Origin: *", "Access-Control-Allow-Methods: GET")
        _write(writer, b"teapot", "Cache-Control: max-age=1", *cors, status="418 I'm a teapot")
    else:
        _write(writer, b"", f"Location: {unquote(target.partition('?')[2])}", status="302 Found")
    await writer.drain()


async def _sockets(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    _, headers, _ = await _read(reader)
    text = headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
    key = base64.b64encode(hashlib.sha1(text.encode()).digest()).decode()  # RFC 6455
    lines = ("Upgrade: websocket", "Connection: Upgrade", f"Sec-WebSocket-Accept: {key}")
    writer.write("\r\n".join(["HTTP/1.1 101 Switching Protocols", *lines, "", ""]).encode())
    while data := await reader.read(1000):
        # A message that fits: the mask of a client is removed from its frame.
        mask, payload = data[2:6], data[6:]
        plain = bytes(byte ^ mask[at % 4] for at, byte in enumerate(payload))
        writer.write(bytes([data[0], data[1] & 0x7F]) + plain)
        await writer.drain()


async def _silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await _read(reader)


@pytest.fixture(autouse=True)
def ports(server: Server) -> None:
    handlers = {PORT: _echo, PAGES: _pages, SOCKETS: _sockets, SILENT: _silent}
    for port, handler in handlers.items():
        server.listen(port, handler)


async def _run_pod(api: RawClient) -> str:
    """A pod with an address; returns its path."""
    container = {"name": "app", "image": "i", "ports": [{"containerPort": PORT}]}
    pod = {"metadata": {"name": "web"}, "spec": {"containers": [container]}}
    await api.create(api.at("pods"), pod)
    status = {"podIP": ADDRESS, "podIPs": [{"ip": ADDRESS}]}
    assert (await api.patch(api.at("pods", "web", "status"), {"status": status})).code == 200
    return api.at("pods", "web")


def _seen(reply: Response) -> dict[str, Any]:
    assert reply.code == 200, reply
    return dict(msgspec.json.decode(reply.raw))


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
async def test_a_request_is_passed_on(api: RawClient, method: str) -> None:
    path = await _run_pod(api)
    headers = {"X-Mine": "a", "Authorization": "Bearer x", "Keep-Alive": "5"}
    body = b'{"a": 1}' if method in {"POST", "PUT", "PATCH"} else None

    reply = await api(
        method, f"{path}/proxy/a/b?c=1&d=%20e", body, headers=headers,
        as_user="ann", as_groups=("system:masters",),
    )  # fmt: skip

    seen = _seen(reply)
    assert (seen["method"], seen["target"]) == (method, "/a/b?c=1&d=%20e")
    assert seen["body"] == (body or b"").decode()
    sent = seen["headers"]
    assert sent["x-mine"] == "a"
    assert sent["user-agent"] == "conformance/1.0 (test)"
    assert sent["x-forwarded-for"] == "127.0.0.1"
    assert sent["x-forwarded-uri"] == f"{path}/proxy/a/b"
    assert sent["host"] in api.url
    assert not sent.keys() & {
        *("authorization", "impersonate-user", "impersonate-group", "keep-alive"),
        *("x-forwarded-host", "x-forwarded-proto"),
    }
    assert reply.headers["X-Own"] == "1"
    assert reply.headers["Audit-Id"]


@pytest.mark.parametrize(
    ("rest", "target"),
    [
        ("/", "/"),
        ("//", "/"),
        ("//a//b/", "/a/b/"),
        ("/a%2Fb", "/a/b"),
        ("/a/../b", "/b"),
        ("/%E2%82%AC(x)!*;,'@", "/%E2%82%AC%28x%29%21%2A;,%27@"),
        ("/proxy/proxy?", "/proxy/proxy"),
    ],
)
async def test_a_path_is_cleaned_and_escaped(api: RawClient, rest: str, target: str) -> None:
    path = await _run_pod(api)

    assert _seen(await api.get(f"{path}/proxy{rest}"))["target"] == target


@pytest.mark.parametrize("query", ["", "?a=b%20c"])
async def test_without_a_path_a_get_is_redirected_to_the_root(api: RawClient, query: str) -> None:
    path = await _run_pod(api)

    reply = await api("GET", f"{path}/proxy{query}", allow_redirects=False)
    posted = await api("POST", f"{path}/proxy{query}", b"")

    assert (reply.code, reply.raw) == (301, b"")
    assert reply.headers["Location"] == f"{path}/proxy/{query}"
    assert _seen(posted)["target"] == f"/{query}"
    assert _seen(posted)["headers"]["x-forwarded-uri"] == f"{path}/proxy/"


async def test_a_head_has_no_body(api: RawClient) -> None:
    path = await _run_pod(api)

    reply = await api("HEAD", f"{path}/proxy/a")

    assert (reply.code, reply.raw, reply.headers["X-Own"]) == (200, b"", "1")


@pytest.mark.parametrize(
    ("location", "rewritten"),
    [
        ("/a/?b=1", "{path}/proxy/a/?b=1"),
        (f"http://{ADDRESS}:{PAGES}/a", "{path}/proxy/a"),
        ("a", "a"),
        ("http://example.com/a", "http://example.com/a"),
    ],
)
async def test_a_redirect_stays_within_the_proxy(
    api: RawClient, location: str, rewritten: str
) -> None:
    path = f"{await _run_pod(api)}:{PAGES}"

    reply = await api("GET", f"{path}/proxy/to?{quote(location)}", allow_redirects=False)

    assert reply.code == 302
    assert reply.headers["Location"] == rewritten.format(path=path)


async def test_status_and_headers_are_passed_back_except_cors(api: RawClient) -> None:
    path = f"{await _run_pod(api)}:{PAGES}"

    reply = await api.get(f"{path}/proxy/headers")

    assert (reply.code, reply.raw) == (418, b"teapot")
    assert reply.headers.getall("Cache-Control") == ["no-cache, private", "max-age=1"]
    assert not [name for name in reply.headers if name.startswith("Access-Control")]


async def test_links_of_a_page_stay_within_the_proxy(api: RawClient) -> None:
    path = f"{await _run_pod(api)}:{PAGES}"

    reply = await api.get(f"{path}/proxy/page")

    assert reply.raw.decode() == (
        f'<html><a href="{path}/proxy/x">x</a><a href="{path}/proxy/y" class="q">y</A>'
        f'<!-- <a href="/c"> --><img src="a.png"><img src="{path}/proxy/b.png"/>'
        '<a href="http://example.com/z">z</a><script>"<a href=/n>"</script></html>'
    )


async def test_a_websocket_is_passed_on(api: RawClient) -> None:
    path = f"{await _run_pod(api)}:{SOCKETS}"

    async with api.connect(f"{path}/proxy/ws") as socket:
        await socket.send_str("hello")
        assert await socket.receive_str() == "hello"
        await socket.send_str("again")
        assert await socket.receive_str() == "again"


@pytest.mark.parametrize("port", [SILENT, CLOSED])
async def test_a_port_that_does_not_respond_is_503(api: RawClient, port: int) -> None:
    path = f"{await _run_pod(api)}:{port}"

    reply = await api.get(f"{path}/proxy/a")

    assert (reply.code, reply.reason) == (503, "ServiceUnavailable")
    assert reply.message.startswith("error trying to reach service: ")
    assert reply.message.endswith("EOF") == (port == SILENT)


@pytest.mark.parametrize("name", ["web:80", "web:http", "http:web:80", "http:web:http"])
async def test_a_service_is_passed_on_to_a_ready_pod(api: RawClient, name: str) -> None:
    await _run_pod(api)
    spec = {"ports": [{"name": "http", "port": 80}, {"name": "other", "port": 81}]}
    await api.create(api.at("services"), {"metadata": {"name": "web"}, "spec": spec})
    target = {"kind": "Pod", "namespace": api.namespace, "name": "web"}
    slices = {
        "metadata": {"name": "web-a", "labels": {"kubernetes.io/service-name": "web"}},
        "addressType": "IPv4",
        "endpoints": [
            {"addresses": ["10.1.2.9"], "conditions": {"ready": True}},
            {"addresses": [ADDRESS], "conditions": {"ready": False}, "targetRef": target},
            {"addresses": [ADDRESS], "targetRef": target},
        ],
        "ports": [{"name": "http", "port": PORT}],
    }
    await api.create(api.at("discovery.k8s.io/v1/endpointslices"), slices)
    path = api.at("services", name, "proxy", "healthz")
    async with asyncio.timeout(10):
        while (reply := await api.get(path)).code == 503:  # kube-apiserver caches slices
            await asyncio.sleep(0.05)

    seen = _seen(reply)
    assert seen["target"] == "/healthz"
    assert seen["headers"]["x-forwarded-uri"] == path
    assert (await api.get(api.at("services", "web:81", "proxy", ""))).code == 503
