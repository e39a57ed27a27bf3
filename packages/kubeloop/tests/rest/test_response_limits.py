"""How much of a response is read: by its kind, counted after decompression."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import Callable
from typing import Any

import pytest

from kubeloop.config import ClusterConfig
from kubeloop.discovery import DiscoveryClient
from kubeloop.errors import (
    ApiError,
    DecodeError,
    Forbidden,
    InternalError,
    InvalidArgument,
    KubeError,
    ResponseTooLarge,
    StreamBroken,
    TransportError,
)
from kubeloop.rest import (
    Request,
    ResponseLimits,
    RESTClient,
    fetch,
    path_request,
    resource_request,
)
from kubeloop.rest.decompression import PIECE
from kubeloop.rest.response_limits import DEFAULT_RESPONSE_LIMITS, RATIO_APPLIES_FROM
from tests.support.scripted_server import (
    PODS,
    ReceivedRequest,
    Reply,
    ScriptedServer,
    ServerConnection,
    chunked,
    client_for,
    reply,
    serving,
)

MIB = 2**20
GET = resource_request("get", PODS, namespace="shop", name="web")
LIST = resource_request("list", PODS, namespace="shop")
RAW = path_request("GET", "/configz")
GZIP = {"Content-Encoding": "gzip"}
TIGHT = ResponseLimits(error=1000, object=2000, document=3000, list=4000, event=500)


def bomb(size: int) -> bytes:
    """Much JSON in few bytes."""
    return gzip.compress(b'{"kind":"Pod","x":"' + b"a" * size + b'"}')


def endless(head: str, part: bytes) -> Reply:
    """A body that continues until the client disconnects."""

    async def answer(_: ReceivedRequest, connection: ServerConnection) -> None:
        await connection.send(f"HTTP/1.1 200 OK\r\n{head}\r\n".encode())
        while True:
            await connection.send(part)

    return answer


async def _all_items(rest: RESTClient) -> list[bytes]:
    return [item async for item in rest.items(LIST)]


@pytest.mark.parametrize(
    ("request_", "limit"),
    [(GET, "object=..."), (RAW, "document=..."), (LIST, "list=...")],
    ids=["object", "document", "list"],
)
@pytest.mark.parametrize("packed", [True, False], ids=["gzip", "plain"])
async def test_a_response_beyond_the_limit_of_its_kind_is_an_error_that_names_the_limit(
    request_: Request, limit: str, packed: bool, server: ScriptedServer
) -> None:
    body = bomb(5000) if packed else b" " * 5000
    server.respond(reply(body=body, headers=GZIP if packed else {}))

    async with client_for(server, response_limits=TIGHT) as rest:
        with pytest.raises(ResponseTooLarge) as caught:
            await rest.send(request_)

    assert request_.action in str(caught.value)
    assert f"ResponseLimits({limit})" in str(caught.value)


async def test_a_response_of_just_its_limit_is_read(server: ScriptedServer) -> None:
    server.respond(reply(body=b"{}".ljust(2000)), reply(body=gzip.compress(b"{}".ljust(2000))))

    async with client_for(server, response_limits=TIGHT) as rest:
        assert len((await rest.send(GET)).body) == 2000


async def test_the_error_of_an_oversized_body_keeps_its_code(server: ScriptedServer) -> None:
    server.respond(reply(403, bomb(10 * MIB), headers=GZIP))

    async with client_for(server) as rest:
        with pytest.raises(Forbidden, match="body was not read: the response is larger than 4194"):
            await rest.send(GET)
        with pytest.raises(Forbidden, match="body was not read"):
            await rest.watch(resource_request("watch", PODS)).open()
        with pytest.raises(Forbidden, match="body was not read"):
            await rest.stream(RAW).open()


async def test_an_error_in_an_encoding_that_was_not_requested_keeps_its_code(
    server: ScriptedServer,
) -> None:
    server.respond(reply(500, b"\x00", headers={"Content-Encoding": "br"}))

    async with client_for(server) as rest:
        with pytest.raises(InternalError, match="Content-Encoding 'br'"):
            await rest.send(GET)


async def test_a_body_is_decompressed_in_pieces_with_the_event_loop_running_in_between(
    server: ScriptedServer,
) -> None:
    """Counted in steps of the event loop, which do not depend on the load of the machine."""
    server.respond(reply(body=bomb(16 * MIB), headers=GZIP))
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with client_for(server) as rest:
        counting = asyncio.get_running_loop().create_task(count())
        body = (await rest.send(GET)).body
        counting.cancel()

    assert len(body) > 16 * MIB
    assert turns >= 16 * MIB / PIECE


async def test_a_list_that_only_decompression_makes_large_is_an_error(
    server: ScriptedServer,
) -> None:
    """Lists may be large, and then their compressed bytes are many, too."""
    item = b'{"x":"' + b"a" * MIB + b'"},'
    body = b'{"items":[' + (RATIO_APPLIES_FROM // MIB + 4) * item
    server.respond(reply(body=gzip.compress(body), headers=GZIP))

    async with client_for(server) as rest:
        with pytest.raises(ResponseTooLarge, match="grows more than 200 times by decompression"):
            await rest.send(LIST)
        with pytest.raises(ResponseTooLarge, match="grows more than 200 times"):
            await _all_items(rest)


async def test_limits_can_be_lifted(server: ScriptedServer) -> None:
    server.respond(reply(body=bomb(RATIO_APPLIES_FROM + 1), headers=GZIP))
    lifted = ResponseLimits(list=None, compression_ratio=None)

    async with client_for(server, response_limits=lifted) as rest:
        assert len((await rest.send(LIST)).body) > RATIO_APPLIES_FROM


@pytest.mark.parametrize(
    "answer",
    [
        endless("Content-Type: application/json\r\n", b" " * 1000),
        endless("Transfer-Encoding: chunked\r\n", b"3e8\r\n" + b" " * 1000 + b"\r\n"),
        endless("Content-Encoding: gzip\r\n", gzip.compress(b" " * 1000)),
        endless("Content-Length: 1000000000000\r\n", b" " * 1000),
    ],
    ids=["until-close", "chunked", "gzip-members", "content-length"],
)
@pytest.mark.parametrize(
    "ask",
    [
        lambda rest: rest.send(GET),
        _all_items,
        lambda rest: rest.stream(GET).read(),
    ],
    ids=["send", "items", "read"],
)
async def test_a_body_without_end_is_an_error_and_its_connection_is_closed(
    answer: Reply, ask: Callable[[RESTClient], Any], server: ScriptedServer
) -> None:
    server.respond(answer)

    async with client_for(server, response_limits=TIGHT) as rest:
        with pytest.raises(ResponseTooLarge):
            await ask(rest)
        await server.until(lambda it: it.closed == 1)


async def test_gzip_members_that_hold_nothing_are_an_error(server: ScriptedServer) -> None:
    server.respond(endless("Content-Encoding: gzip\r\n", gzip.compress(b"") * 50))

    async with client_for(server) as rest:
        with pytest.raises(StreamBroken, match="too many empty gzip members"):
            await rest.send(GET)


@pytest.mark.parametrize(
    ("encoding", "body", "match"),
    [
        ("gzip, gzip", gzip.compress(gzip.compress(b"{}")), "Content-Encoding 'gzip, gzip'"),
        ("deflate", zlib.compress(b"{}"), "Content-Encoding 'deflate'"),
        ("br", b"x", "Content-Encoding 'br'"),
        ("gzip", gzip.compress(b"{}") + b"garbage", "cannot decompress"),
        ("gzip", gzip.compress(b"{}")[:-4], "is incomplete"),
        ("gzip", b"{}", "cannot decompress"),
    ],
)
async def test_a_body_that_cannot_be_decompressed_is_a_transport_error(
    encoding: str, body: bytes, match: str, server: ScriptedServer
) -> None:
    server.respond(reply(body=body, headers={"Content-Encoding": encoding}))

    async with client_for(server) as rest:
        with pytest.raises(TransportError, match=match):
            await rest.send(GET)


async def test_fewer_bytes_than_content_length_says_are_a_broken_stream(
    server: ScriptedServer,
) -> None:
    async def answer(_: ReceivedRequest, connection: ServerConnection) -> None:
        await connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}")
        connection.cut()

    server.respond(answer)

    async with client_for(server) as rest:
        with pytest.raises(StreamBroken):
            await rest.send(GET)


async def test_more_bytes_than_content_length_says_are_not_taken_for_the_next_response(
    server: ScriptedServer,
) -> None:
    async def answer(_: ReceivedRequest, connection: ServerConnection) -> None:
        await connection.send(
            b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
            b'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"planted"'
        )

    server.respond(answer)

    async with client_for(server) as rest:
        for _ in range(3):
            assert (await rest.send(GET)).body == b"{}"


@pytest.mark.parametrize(
    "head",
    [b"X-Filler: %s\r\n" % (b"x" * 1000), b"x" * 1000],
    ids=["headers", "one-line"],
)
async def test_a_head_without_end_is_an_error(head: bytes, server: ScriptedServer) -> None:
    async def answer(_: ReceivedRequest, connection: ServerConnection) -> None:
        await connection.send(b"HTTP/1.1 200 OK\r\n")
        while True:
            await connection.send(head)

    server.respond(answer)

    async with client_for(server) as rest:
        with pytest.raises(TransportError):
            await rest.send(GET)
        await server.until(lambda it: it.closed == 1)


async def test_informational_responses_without_end_are_an_error(
    server: ScriptedServer,
) -> None:
    async def answer(_: ReceivedRequest, connection: ServerConnection) -> None:
        while True:
            await connection.send(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100)

    server.respond(answer)

    async with client_for(server) as rest:
        with pytest.raises(TransportError, match="more than 32 interim responses"):
            await rest.send(GET)


async def test_what_a_proxy_sends_for_connect_is_bounded() -> None:
    async def babble(_: ReceivedRequest, connection: ServerConnection) -> None:
        await connection.send(b"HTTP/1.1 200 OK\r\n")
        while True:
            await connection.send(b"X-Filler: " + b"x" * 1000 + b"\r\n")

    async with serving() as proxy:
        proxy.respond(babble)
        config = ClusterConfig(server="https://cluster.test", token="t", proxy_url=proxy.url)
        async with RESTClient(config, environ={}) as rest:
            with pytest.raises(TransportError):
                await rest.send(GET)
            await proxy.until(lambda it: it.closed == 1)


async def test_an_event_beyond_its_limit_ends_the_watch_with_an_error(
    server: ScriptedServer,
) -> None:
    server.respond(chunked(b'{"type":"ADDED","object":{"x":"' + b"a" * 600, end="hang"))

    async with client_for(server, response_limits=TIGHT) as rest:
        with pytest.raises(InternalError, match="larger than 500 bytes, the limit for events"):
            await anext(rest.watch(resource_request("watch", PODS)))


async def test_a_watch_and_a_log_may_be_longer_than_any_limit(server: ScriptedServer) -> None:
    event = b'{"type":"ADDED","object":{"x":"' + b"a" * 300 + b'"}}\n'
    server.respond(chunked(*[event] * 50), chunked(*[b"a line\n"] * 2000))

    async with client_for(server, response_limits=TIGHT) as rest:
        watch = rest.watch(resource_request("watch", PODS))
        assert len([each async for each in watch]) == 50
        log = rest.stream(resource_request("get", PODS, namespace="a", name="b", subresource="log"))
        assert len([line async for line in log.lines()]) == 2000


async def test_an_item_beyond_the_limit_of_an_object_is_an_error(server: ScriptedServer) -> None:
    body = b'{"items":[{"x":"' + b"a" * 2500 + b'"}]}'
    server.respond(chunked(body[:2200], body[2200:]))

    async with client_for(server, response_limits=TIGHT) as rest:
        with pytest.raises(DecodeError, match="larger than 2000 bytes, the limit for an object"):
            await anext(rest.items(LIST))


async def test_many_small_items_in_one_chunk_are_not_taken_for_a_large_one(
    server: ScriptedServer,
) -> None:
    items = [b'{"a":%d}' % n if n % 3 else b'{"b":{"c":[%d]}}' % n for n in range(300)]
    body = b'{"items":[' + b",".join(items) + b"]}"
    server.respond(chunked(body[:-1], body[-1:]))

    async with client_for(server, response_limits=TIGHT) as rest:
        assert await _all_items(rest) == items


async def test_what_follows_the_items_of_a_list_is_bounded(server: ScriptedServer) -> None:
    async def answer(_: ReceivedRequest, connection: ServerConnection) -> None:
        await connection.send(b'HTTP/1.1 200 OK\r\n\r\n{"items":[{}],"x":"')
        while True:
            await connection.send(b"a" * MIB)

    server.respond(answer)

    async with client_for(server) as rest:
        with pytest.raises(DecodeError, match="more than 4 MiB after its items"):
            await _all_items(rest)


async def test_discovery_is_bounded(server: ScriptedServer) -> None:
    server.respond(reply(body=bomb(10 * MIB), headers=GZIP))

    async with client_for(server, response_limits=ResponseLimits(document=MIB)) as rest:
        discovery = DiscoveryClient(rest)
        calls: list[Callable[[], Any]] = [
            discovery.discover,
            discovery.version,
            discovery.openapi_v2,
            discovery.openapi.paths,
        ]
        for call in calls:
            with pytest.raises(ResponseTooLarge, match="document"):
                await call()


async def test_what_an_issuer_sends_is_bounded_after_decompression(server: ScriptedServer) -> None:
    server.respond(reply(body=bomb(10 * MIB), headers=GZIP))

    with pytest.raises(ResponseTooLarge, match="larger than"):
        await fetch("GET", server.url, headers={}, body=b"", ca=b"")
    server.respond(reply(body=bomb(10), headers=GZIP))
    fetched = await fetch("GET", server.url, headers={}, body=b"", ca=b"")

    assert fetched.body.startswith(b'{"kind"')
    assert server.received[0].header("Accept-Encoding") == "identity"


DEEP = b"[" * 200_000 + b"]" * 200_000


@pytest.mark.parametrize(
    "ask",
    [
        lambda rest: _decode_text(rest, GET),
        lambda rest: _decode_text(rest, LIST),
        lambda rest: anext(rest.items(LIST)),
        lambda rest: anext(rest.watch(resource_request("watch", PODS))),
        lambda rest: DiscoveryClient(rest).discover(),
        lambda rest: DiscoveryClient(rest).version(),
        lambda rest: DiscoveryClient(rest).openapi.paths(),
    ],
    ids=["get", "list", "items", "watch", "discovery", "version", "openapi"],
)
@pytest.mark.parametrize(
    "body",
    [
        DEEP,
        b'{"kind":"PodList","items":[{"spec":' + DEEP + b"}]}",
        b'{"type":"ERROR","object":' + DEEP + b"}\n",
        b'{"type":\n"ERROR","object":' + DEEP + b"\n\n",
        b'{"kind":"APIGroupList","groups":' + DEEP + b',"paths":' + DEEP + b',"major":' + DEEP,
    ],
    ids=["bare", "list", "event", "event-lines", "fields"],
)
async def test_json_that_is_nested_too_deeply_is_a_kubeloop_error(
    ask: Callable[[RESTClient], Any], body: bytes, server: ScriptedServer
) -> None:
    server.respond(reply(body=body))

    async with client_for(server) as rest:
        with pytest.raises((KubeError, StopAsyncIteration)):
            await ask(rest)


async def _decode_text(rest: RESTClient, request: Request) -> None:
    answer = await rest.send(request)
    if request is LIST:
        for item in answer.split().items or ():
            rest.codec.decode(dict, bytes(item))
    answer.decode(dict)


@pytest.mark.parametrize("status", [404, 500])
async def test_an_error_that_is_nested_too_deeply_keeps_its_code(
    status: int, server: ScriptedServer
) -> None:
    server.respond(reply(status, b'{"kind":"Status","status":"Failure","details":' + DEEP + b"}"))

    async with client_for(server) as rest:
        with pytest.raises(ApiError) as caught:
            await rest.send(GET)

    assert caught.value.code == status


@pytest.mark.parametrize("option", ResponseLimits.__struct_fields__)
def test_a_limit_that_allows_nothing_is_rejected(option: str) -> None:
    with pytest.raises(InvalidArgument, match=f"{option}=0"):
        ResponseLimits(**{option: 0})


def test_every_kind_of_request_has_a_finite_limit_by_default() -> None:
    limits = DEFAULT_RESPONSE_LIMITS
    kinds = {
        request: limits.for_success(request).option
        for request in (
            GET,
            LIST,
            RAW,
            resource_request("create", PODS, namespace="a", body=b"{}"),
            resource_request("deletecollection", PODS, namespace="a"),
            resource_request("GET", PODS, namespace="a"),
            resource_request("GET", PODS, namespace="a", name="b", subresource="proxy"),
        )
    }

    assert list(kinds.values()) == [
        *("object", "list", "document", "object", "list", "list", "document"),
    ]
    assert None not in [getattr(limits, name) for name in limits.__struct_fields__]
