"""TLS: trusted CAs, client certificates, and their rotation."""

from __future__ import annotations

import asyncio
import itertools
import json
import socket
import ssl
import struct
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, Self

import pytest

from kubeloop.config import (
    ClusterConfig,
    CredentialError,
    Identity,
    StaticCredentials,
)
from kubeloop.errors import ConnectError, StreamBroken, TransportError
from kubeloop.kit import new_event_loop
from kubeloop.rest import (
    RESTClient,
    path_request,
    resource_request,
)
from tests.support.certificates import Authority
from tests.support.clocks import InstantClock
from tests.support.scripted_server import PODS, eventually, reply, serving

GET = path_request("GET", "/x")


async def test_the_given_roots_are_the_ones_that_are_trusted(
    tmp_path: Path, authority: Authority
) -> None:
    """TRN-5: CA data given: ONLY those roots are trusted (system roots are not added)."""
    async with serving(tls=authority.server_context(tmp_path)) as server:
        server.respond(reply(body=b"safe"))
        config = ClusterConfig(server=server.url, ca=authority.pem, token="t")
        async with RESTClient(config) as rest:
            assert (await rest.send(GET)).body == b"safe"
            assert rest.stats().tls_contexts == 1


@pytest.mark.parametrize("case", ["wrong CA", "expired", "other name"])
async def test_an_untrusted_server_is_reported(
    case: str, tmp_path: Path, authority: Authority
) -> None:
    """Needs 31: the error has the reason, with verification switched on."""
    days = -1 if case == "expired" else 30
    address = "127.0.0.9" if case == "other name" else "127.0.0.1"
    context = authority.server_context(tmp_path, days=days, address=address)
    ca = Authority("another").pem if case == "wrong CA" else authority.pem
    async with serving(tls=context) as server:
        server.respond(reply())
        async with RESTClient(ClusterConfig(server=server.url, ca=ca, token="t")) as rest:
            with pytest.raises(ConnectError) as caught:
                await rest.send(GET)

    message = str(caught.value)
    assert message.startswith(f"GET /x: {server.url}: the server's certificate is not trusted: ")
    assert message.endswith("do not switch verification off)")
    assert isinstance(caught.value.__cause__, Exception)
    words = {"expired": "expired", "other name": "IP address mismatch", "wrong CA": ""}
    assert words[case] in message


async def test_the_server_name_is_used_for_verification(
    tmp_path: Path, authority: Authority
) -> None:
    """TRN-2, TRN-C6: minimum TLS version 1.2."""
    context = authority.server_context(tmp_path, name="api.internal", address="127.0.0.9")
    async with serving(tls=context) as server:
        server.respond(reply())
        config = ClusterConfig(
            server=server.url, ca=authority.pem, token="t", tls_server_name="api.internal"
        )
        async with RESTClient(config) as rest:
            assert (await rest.send(GET)).status == 200


async def test_a_port_without_tls_is_reported(authority: Authority) -> None:
    async def speaks_http(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()
        writer.close()

    listening = await asyncio.start_server(speaks_http, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    config = ClusterConfig(server=f"https://127.0.0.1:{port}", ca=authority.pem, token="t")
    async with listening, RESTClient(config) as rest:
        with pytest.raises(ConnectError, match="does this port serve https"):
            await rest.send(GET)


async def test_a_port_without_http_is_reported() -> None:
    async def speaks_ssh(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"SSH-2.0-OpenSSH_9.6\r\n")
        await writer.drain()
        writer.close()

    listening = await asyncio.start_server(speaks_ssh, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    async with listening, RESTClient(ClusterConfig(server=f"http://127.0.0.1:{port}")) as rest:
        with pytest.raises(TransportError, match="the response is not HTTP"):
            await rest.send(path_request("POST", "/x"))


async def test_a_new_client_certificate_is_shown_while_a_watch_goes_on(
    tmp_path: Path, authority: Authority, hurried: InstantClock
) -> None:
    """TRN-15, TRN-C9, X-3: new connections use the new one; open ones stay open."""
    one, two = authority.issue("one"), authority.issue("two")
    cert, key = tmp_path / "c.crt", tmp_path / "c.key"
    cert.write_bytes(one.certificate)
    key.write_bytes(one.key)
    event = b'{"type":"ADDED","object":{}}\n'
    gate = asyncio.Event()

    async def two_events(_: Any, line: Any) -> None:
        await line.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + event)
        await gate.wait()
        await line.send(event)
        line.cut()

    async with serving(tls=authority.server_context(tmp_path)) as server:
        server.respond(two_events, reply())
        config = ClusterConfig(
            server=server.url,
            ca=authority.pem,
            client_certificate_file=str(cert),
            client_key_file=str(key),
        )
        async with (
            RESTClient(config, clock=hurried) as rest,
            rest.watch(resource_request("watch", PODS)) as watch,
        ):
            assert (await anext(watch)).type == "ADDED"
            cert.write_bytes(two.certificate)
            key.write_bytes(two.key)
            await hurried.sleep(2)
            await rest.send(GET)
            gate.set()
            assert (await anext(watch)).type == "ADDED"

            assert rest.stats().tls_contexts == 2
        names = [json.dumps(peer["subject"]) for peer in server.peers]
    assert ["one" in names[0], "two" in names[1]] == [True, True]


async def test_a_new_ca_is_trusted_after_five_minutes_and_garbage_never(
    tmp_path: Path, authority: Authority, hurried: InstantClock
) -> None:
    """TRN-16, TRN-C10: X-3 for the CA."""
    other = Authority("the next CA")
    (tmp_path / "other").mkdir()
    ca = tmp_path / "ca.crt"
    ca.write_bytes(authority.pem)
    async with (
        serving(tls=authority.server_context(tmp_path)) as old,
        serving(tls=other.server_context(tmp_path / "other")) as new,
    ):
        old.respond(reply())
        new.respond(reply())
        async with RESTClient(
            ClusterConfig(server=old.url, ca_file=str(ca), anonymous=True), clock=hurried
        ) as rest:
            await rest.send(GET)
            ca.write_bytes(b"garbage")
            await hurried.sleep(301)
            await rest.send(GET)
            ca.write_bytes(other.pem)
            await hurried.sleep(301)
            with pytest.raises(ConnectError):
                await rest.send(GET)


async def test_an_insecure_connection_is_made_only_when_asked_for(
    tmp_path: Path, authority: Authority
) -> None:
    async with serving(tls=authority.server_context(tmp_path)) as server:
        server.respond(reply())
        config = ClusterConfig(server=server.url, insecure_skip_tls_verify=True, token="t")
        async with RESTClient(config) as rest:
            assert (await rest.send(GET)).status == 200


class Troubled:
    """Credentials that are not available."""

    async def identity(self) -> Identity:
        raise CredentialError("asking the vault: sealed (unseal it)")

    async def refresh(self, identity: Identity) -> None:
        raise AssertionError("there was nothing to refuse")


async def test_credentials_without_a_certificate_show_none_and_their_errors_leave_as_they_are(
    tmp_path: Path, authority: Authority
) -> None:
    """TRN-C3, TRN-6: cert callback returning nothing."""
    async with serving(tls=authority.server_context(tmp_path)) as server:
        server.respond(reply())
        config = ClusterConfig(server=server.url, ca=authority.pem, anonymous=True)
        async with RESTClient(
            config, credentials=StaticCredentials(Identity(authorization="Bearer t"))
        ) as rest:
            await rest.send(GET)
        async with RESTClient(config, credentials=Troubled()) as rest:
            with pytest.raises(CredentialError, match="sealed"):
                await rest.send(GET)

        assert server.peers in ([{}], [None])


# --- the end of the connection


class OneShotServer:
    """Responds to one request over TLS in a thread, and ends the connection as given."""

    def __init__(self, context: ssl.SSLContext, response: bytes, *, end: str) -> None:
        self._context, self._response, self._end = context, response, end
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join()
        self._listener.close()

    @property
    def has_ended(self) -> bool:
        return not self._thread.is_alive()

    def _serve(self) -> None:
        accepted, _ = self._listener.accept()
        with self._context.wrap_socket(accepted, server_side=True) as connection:
            received = b""
            while b"\r\n\r\n" not in received:
                received += connection.recv(4096)
            connection.sendall(self._response)
            if self._end == "close_notify":
                connection.setblocking(False)
                with suppress(ssl.SSLWantReadError):  # it does not wait for the client's own
                    connection.unwrap()
            elif self._end == "reset":
                linger = struct.pack("ii", 1, 0)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)


REST_OF_CONNECTION = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"
LOOPS = {"asyncio": asyncio.new_event_loop, "default": new_event_loop}
VERSIONS = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}


class Certified(NamedTuple):
    """The context of a server, and the authority of its certificate."""

    context: ssl.SSLContext
    ca: bytes


@pytest.fixture
def certified(tmp_path: Path, authority: Authority) -> Certified:
    return Certified(authority.server_context(tmp_path), authority.pem)


def receive(
    response: bytes, *, end: str, loop: str, version: str, certified: Certified
) -> bytes | TransportError:
    """The body as a client reads it that starts to read when the server has ended."""
    certified.context.maximum_version = VERSIONS[version]

    async def read(server: OneShotServer) -> bytes | TransportError:
        config = ClusterConfig(server=server.url, ca=certified.ca, token="t")
        async with RESTClient(config) as rest:
            try:
                async with rest.stream(GET) as stream:
                    await eventually(lambda: server.has_ended)
                    return b"".join([chunk async for chunk in stream])
            except TransportError as error:
                return error

    with (
        OneShotServer(certified.context, response, end=end) as server,
        asyncio.Runner(loop_factory=LOOPS[loop]) as runner,
    ):
        return runner.run(read(server))


@pytest.mark.parametrize(("loop", "version"), [*itertools.product(LOOPS, VERSIONS)])
@pytest.mark.parametrize("size", [0, 5, 600_000])
@pytest.mark.parametrize("end", ["close_notify", "fin", "reset"])
def test_a_body_that_ends_with_the_connection_is_complete_only_after_a_close_notify(
    end: str, size: int, loop: str, version: str, certified: Certified
) -> None:
    """Anyone between client and server can end the connection of TCP."""
    response = REST_OF_CONNECTION + b"x" * size

    found = receive(response, end=end, loop=loop, version=version, certified=certified)

    if end == "close_notify":
        assert found == b"x" * size
    else:
        assert isinstance(found, StreamBroken)


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("end", ["close_notify", "fin"])
@pytest.mark.parametrize("size", [5, 600_000])
def test_a_body_of_known_length_needs_no_close_notify(
    size: int, end: str, loop: str, certified: Certified
) -> None:
    head = f"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {size}\r\n\r\n".encode()

    found = receive(head + b"x" * size, end=end, loop=loop, version="1.3", certified=certified)

    assert found == b"x" * size
