"""TLS: trusted CAs, client certificates, and their rotation."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from kubeloop.config import (
    ClusterConfig,
    CredentialError,
    Identity,
    StaticCredentials,
)
from kubeloop.errors import ConnectError, TransportError
from kubeloop.rest import (
    RESTClient,
    path_request,
    resource_request,
)
from tests.support.certificates import Authority
from tests.support.clocks import InstantClock
from tests.support.scripted_server import PODS, reply, serving

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
