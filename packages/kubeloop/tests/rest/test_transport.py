"""The connections of requests, and the secrets that others must not see."""

from __future__ import annotations

import asyncio
import base64
import gc
import socket
import weakref
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from kubeloop.config import AuthProvider, ClusterConfig
from kubeloop.errors import (
    ApiError,
    ClientClosed,
    ConfigError,
    ConnectError,
    TimeoutExceeded,
    TransportError,
)
from kubeloop.rest import (
    KEEP_ALIVE,
    Request,
    RESTClient,
    ServerWarning,
    Timeouts,
    path_request,
    resource_request,
)
from tests.support.clocks import InstantClock
from tests.support.scripted_server import (
    PODS,
    ReceivedRequest,
    ScriptedServer,
    ServerConnection,
    chunked,
    client_for,
    hang,
    reply,
    serving,
)

GET = path_request("GET", "/x")


async def test_nothing_is_opened_before_the_first_request(tmp_path: Path) -> None:
    """The client may be created anywhere, even without a loop; a missing file is an error later."""
    rest = RESTClient(ClusterConfig(server="https://h", ca_file=str(tmp_path / "no"), token="x"))

    with pytest.raises(ConfigError, match="reading the CA"):
        await rest.send(GET)
    await rest.aclose()
    await rest.aclose()


async def test_a_closed_client_says_so(server: ScriptedServer) -> None:
    server.respond(reply())
    async with client_for(server) as rest:
        await rest.send(GET)

    with pytest.raises(TransportError, match="the client is closed"):
        await rest.send(GET)


async def test_connections_are_kept_and_used_again(server: ScriptedServer) -> None:
    """TRN-9: a little shorter than the server keeps them, so that no POST uses a connection that the server closes."""
    server.respond(reply())
    async with client_for(server) as rest:
        for _ in range(5):
            await rest.send(GET)

    assert server.connections == 1
    assert KEEP_ALIVE == 85.0


async def test_many_watches_do_not_block_requests(server: ScriptedServer) -> None:
    """Needs 12: a hidden limit of 100 connections would hang here."""
    server.respond(*[chunked(end="hang")] * 120, reply())
    async with client_for(server) as rest:
        watches = [rest.watch(resource_request("watch", PODS)) for _ in range(120)]
        await asyncio.gather(*(watch.open() for watch in watches))

        await rest.send(GET)
        for watch in watches:
            watch.close()


async def test_a_large_body_is_sent_whole(server: ScriptedServer) -> None:
    server.respond(reply())
    body = b"x" * (3 * 2**20)
    async with client_for(server) as rest:
        await rest.send(path_request("POST", "/x", body=body))

    assert server.received[0].body == body


async def test_warnings_reach_the_request_s_handler_first(server: ScriptedServer) -> None:
    """REST-65, REST-66, REST-C17: code 199 reaches a handler, too."""
    server.respond(reply(404, headers=[("Warning", '199 - "a"'), ("Warning", '299 - "b"')]))
    mine: list[ServerWarning] = []
    client_s: list[ServerWarning] = []
    async with client_for(server, warnings=client_s.append) as rest:
        for handler in (mine.append, None):
            with pytest.raises(ApiError):
                await rest.send(GET, warnings=handler)
        with pytest.raises(ApiError):
            await rest.stream(GET).read()

    assert [warning.text for warning in mine] == ["a", "b"]
    assert [warning.text for warning in client_s] == ["a", "b", "a", "b"]


async def test_a_handler_that_fails_does_not_fail_the_request(
    server: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.respond(reply(headers={"Warning": '299 - "a"'}))

    def fails(_: ServerWarning) -> None:
        raise KeyError("oops")

    async with client_for(server, warnings=fails) as rest:
        await rest.send(GET)

    assert "GET /x: the warning handler failed" in caplog.messages


async def test_a_redirect_within_the_server_is_followed_for_reading(server: ScriptedServer) -> None:
    server.respond(reply(301, headers={"Location": "/y?hash=1"}), reply(body=b"moved"))
    async with client_for(server, config={"token": "t"}) as rest:
        assert (await rest.send(GET)).body == b"moved"

    assert [received.target for received in server.received] == ["/x", "/y?hash=1"]


@pytest.mark.parametrize(
    ("method", "location"),
    [
        ("GET", "http://elsewhere.example/"),
        ("POST", "/y"),
        ("GET", ""),
        ("GET", "http://[::1"),
        ("GET", "/\u00e9"),
    ],
)
async def test_other_redirects_are_responses(
    method: str, location: str, server: ScriptedServer
) -> None:
    """No other server gets credentials, a write is not repeated, an invalid target is not followed."""
    server.respond(reply(302, headers={"Location": location}))
    async with client_for(server, config={"token": "t"}) as rest:
        with pytest.raises(ApiError) as caught:
            await rest.send(path_request(method, "/x"))

    assert caught.value.code == 302
    assert len(server.received) == 1


@pytest.mark.parametrize(
    ("locations", "received"),
    [(["/x"], 1), (["/y", "/x"], 2), (["/y", "y"], 2), (["/y", "/z", "/y"], 3)],
)
async def test_redirects_that_lead_in_a_circle_are_an_error_at_once(
    locations: list[str], received: int, server: ScriptedServer
) -> None:
    server.respond(*[reply(302, headers={"Location": location}) for location in locations])
    async with client_for(server, config={"token": "t"}) as rest:
        with pytest.raises(TransportError, match="the redirects lead in a circle: /x -> /") as it:
            await rest.send(GET)

    assert len(server.received) == received
    assert "GET /x" in str(it.value)


async def test_redirects_without_end_are_an_error_after_four(
    server: ScriptedServer, hurried: InstantClock
) -> None:
    async def onward(received: ReceivedRequest, connection: ServerConnection) -> None:
        await reply(302, headers={"Location": f"{received.target}0"})(received, connection)

    server.respond(onward)
    async with client_for(server, clock=hurried) as rest:
        with pytest.raises(TransportError, match="still redirected after 4 redirects"):
            await rest.send(GET)

    assert len(server.received) == 5


async def test_all_redirects_together_take_no_longer_than_the_call_may(
    server: ScriptedServer,
) -> None:
    clock = InstantClock()

    async def onward(received: ReceivedRequest, connection: ServerConnection) -> None:
        await clock.sleep(4)
        await reply(302, headers={"Location": f"{received.target}0"})(received, connection)

    server.respond(onward)
    async with client_for(server, clock=clock) as rest:
        with pytest.raises(TimeoutExceeded):
            await rest.send(path_request("GET", "/x", timeout=10))

    assert len(server.received) <= 4


# --- proxies


async def test_a_proxy_is_asked_with_its_own_credentials_and_never_ours() -> None:
    """TRN-11: http through a proxy."""
    async with serving() as proxy:
        proxy.respond(reply(body=b"by proxy"))
        config = ClusterConfig(
            server="http://api.example:8080",
            proxy_url=f"http://me:p%40ss@127.0.0.1:{proxy.port}",
        )
        async with RESTClient(config) as rest:
            assert (await rest.send(GET)).body == b"by proxy"

    received = proxy.received[0]
    assert received.target == "http://api.example:8080/x"
    token = base64.b64encode(b"me:p@ss").decode()
    assert received.header("Proxy-Authorization") == f"Basic {token}"


async def test_https_goes_through_a_tunnel_and_shows_the_proxy_nothing() -> None:
    """TRN-11: the proxy refuses the tunnel, and the error reports it."""
    async with serving() as proxy:
        proxy.respond(reply(407))
        config = ClusterConfig(
            server="https://api.example:6443",
            token="s3cret",
            proxy_url=f"http://me:pass@127.0.0.1:{proxy.port}",
        )
        async with RESTClient(config) as rest:
            with pytest.raises(ConnectError, match="the proxy responded with 407") as caught:
                await rest.send(GET)

    received = proxy.received[0]
    assert (received.method, received.target) == ("CONNECT", "api.example:6443")
    assert received.header("Authorization") is None
    assert received.header("Proxy-Authorization") is not None
    assert "pass@" not in str(caught.value)


async def test_a_missing_proxy_is_reported() -> None:
    config = ClusterConfig(server="http://api.example", proxy_url="http://127.0.0.1:1")
    async with RESTClient(config) as rest:
        with pytest.raises(ConnectError, match="no connection to the proxy"):
            await rest.send(GET)


def test_an_unsupported_kind_of_proxy_is_rejected() -> None:
    """TRN-11: Proxy: explicit function or `proxy-url`, else environment."""
    with pytest.raises(ConfigError, match="is not a valid proxy") as caught:
        ClusterConfig(server="http://api.example", proxy_url="gopher://u:p@127.0.0.1:1")
    assert "u:p" not in str(caught.value)


@pytest.mark.parametrize(
    ("config", "url"),
    [
        ({"server": "127.0.0.1:8080"}, "http://127.0.0.1:8080/x"),
        ({"server": "h:1", "insecure_skip_tls_verify": True, "token": "t"}, "https://h:1/x"),
        ({"server": "http://h/prefix?a=b#c"}, "http://h/prefix/x"),
        ({"server": "http://h/prefix/"}, "http://h/prefix/x"),
    ],
)
def test_every_url_is_below_the_server_s_address(config: dict[str, Any], url: str) -> None:
    """REST-2, REST-3, REST-5, REST-C1: base URL: query and fragment are dropped."""
    assert RESTClient(ClusterConfig(**config)).url(GET) == url


@pytest.mark.parametrize("server", ["host/server", "http://h:port"])
def test_what_is_not_an_address_is_rejected_before_anything_is_opened(server: str) -> None:
    """REST-1, REST-C1: a versioned client needs both a group version and a serializer registry."""
    with pytest.raises(ConfigError):
        RESTClient(ClusterConfig(server=server))


def test_a_client_that_is_forgotten_is_gone() -> None:
    """X-6, TRN-14: there is no cache of transports that could hold it."""
    rest = RESTClient(ClusterConfig(server="http://h"))
    gone = weakref.ref(rest)

    del rest
    gc.collect()

    assert gone() is None


async def test_a_user_in_the_address_yields_to_the_credentials(server: ScriptedServer) -> None:
    """As in Go: an existing header takes precedence."""
    server.respond(reply())
    address = server.url.replace("://", "://user:hidden@")
    for config in (ClusterConfig(server=address, token="t"), ClusterConfig(server=address)):
        async with RESTClient(config) as rest:
            await rest.send(GET)

    sent = [received.header("Authorization") for received in server.received]
    assert sent == ["Bearer t", "Basic dXNlcjpoaWRkZW4="]


@pytest.mark.parametrize(
    "config",
    [
        {"server": "http://a..b:1"},
        {"server": f"http://{'a' * 300}:1"},
    ],
)
async def test_what_cannot_be_sent_is_a_kubeloop_error(
    config: dict[str, Any], server: ScriptedServer
) -> None:
    server.respond(reply())
    async with RESTClient(ClusterConfig(**{"server": server.url} | config)) as rest:
        with pytest.raises(TransportError, match="GET /x"):
            await rest.send(GET)

    assert not server.received


async def test_a_user_agent_that_no_header_carries_is_a_kubeloop_error(
    server: ScriptedServer,
) -> None:
    server.respond(reply())
    config = ClusterConfig(server=server.url)
    async with RESTClient(config, user_agent="a\r\nb") as rest:
        with pytest.raises(TransportError, match="GET /x"):
            await rest.send(GET)
    with pytest.raises(ConfigError, match="user_agent: it has a line break"):
        config.replace(user_agent="a\r\nb")

    assert not server.received


# --- secrets


async def test_no_secret_is_in_a_log_an_error_or_a_repr(
    server: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    """REST-9, TRN-23: at every level."""
    server.respond(reply(403), hang)
    late = path_request("POST", "/x", body=b"s3cret").replace(timeouts=Timeouts(response=0.05))
    texts = []
    with caplog.at_level(0):
        async with client_for(server, config={"token": "s3cret"}) as rest:
            for request in (GET, late):
                with pytest.raises((ApiError, TransportError)) as caught:
                    await rest.send(request)
                texts += [str(caught.value), repr(caught.value), repr(request)]
            texts += [repr(rest), repr(rest.stats()), repr(rest.config)]

    assert "s3cret" not in "\n".join(texts + caplog.messages)
    assert "GET /x: 403" in caplog.text


@pytest.mark.parametrize("opens", [RESTClient.send, RESTClient.websocket])
async def test_no_secret_is_in_what_an_error_was_caused_by(
    opens: Callable[[RESTClient, Request], Awaitable[object]], server: ScriptedServer
) -> None:
    """REST-9: the HTTP library's own errors would show the headers of their request."""
    server.respond(rubbish, reply(403))
    async with client_for(server, config={"token": "s3cret"}) as rest:
        for _ in range(2):
            with pytest.raises((ApiError, TransportError)) as caught:
                await opens(rest, GET)

            assert "s3cret" not in "".join(map(_all_of, (caught.value, caught.value.__cause__)))


def _all_of(error: BaseException | None) -> str:
    return f"{error}{error!r}{getattr(error, '__dict__', None)}"


async def rubbish(_: ReceivedRequest, connection: ServerConnection) -> None:
    await connection.send(b"SSH-2.0-OpenSSH\r\n")
    connection.cut()


async def test_each_request_is_logged_for_debugging(
    server: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    """TRN-23, REST-C22: what, the code, how long; headers and bodies never."""
    server.respond(reply())
    with caplog.at_level(10, logger="kubeloop.rest"):
        async with client_for(server) as rest:
            await rest.send(resource_request("get", PODS, namespace="shop", name="web"))

    assert caplog.messages[0].startswith("GET pods/web in shop: 200 in ")


async def test_a_configuration_that_cannot_be_used_leaves_nothing_open() -> None:
    config = ClusterConfig(server="https://h", auth_provider=AuthProvider(name="gone"))
    rest = RESTClient(config)

    with pytest.raises(ConfigError, match='auth-provider "gone" is not known'):
        await rest.__aenter__()

    del rest
    gc.collect()  # an unclosed session would warn, and a warning is an error here


async def test_closing_twice_is_safe_while_a_connection_is_being_opened() -> None:
    """A function of the user may take long to clean up."""
    began, may_end = asyncio.Event(), asyncio.Event()

    async def dial(_host: str, _port: int) -> socket.socket:
        began.set()
        try:
            return await asyncio.Future()
        finally:
            await may_end.wait()

    rest = RESTClient(ClusterConfig(server="http://127.0.0.1:1"), environ={}, dial=dial)
    sending = asyncio.create_task(rest.send(GET))
    await began.wait()
    await rest.aclose()
    await rest.aclose()
    may_end.set()
    with pytest.raises(ClientClosed):
        await sending


async def test_the_fragment_of_a_redirect_is_not_sent(server: ScriptedServer) -> None:
    server.respond(reply(302, headers={"Location": "/y?a=1#part"}), reply())
    async with client_for(server) as rest:
        await rest.send(GET)

    assert server.received[1].target == "/y?a=1"
