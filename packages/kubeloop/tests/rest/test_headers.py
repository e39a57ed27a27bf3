"""The headers of requests: credentials, impersonation, formats."""

from __future__ import annotations

import base64
import gzip
from pathlib import Path
from typing import Any

import pytest

from kubeloop.config import (
    Credentials,
    Identity,
    Impersonation,
)
from kubeloop.errors import ConfigError, Unauthorized
from kubeloop.rest import (
    default_user_agent,
    path_request,
    resource_request,
)
from tests.support.clocks import InstantClock
from tests.support.scripted_server import (
    PODS,
    ScriptedServer,
    chunked,
    client_for,
    eventually,
    reply,
)

GET = path_request("GET", "/x")


class Renewable:
    """Credentials that return the next token after each 401."""

    def __init__(self, *tokens: str) -> None:
        self.tokens = list(tokens)
        self.refusals: list[Identity] = []
        self.epoch = 0

    async def identity(self) -> Identity:
        return Identity(authorization=f"Bearer {self.tokens[0]}", epoch=self.epoch)

    async def refresh(self, identity: Identity) -> None:
        self.refusals.append(identity)
        if len(self.tokens) > 1:
            self.tokens.pop(0)
            self.epoch += 1


_fits: type[Credentials] = Renewable


async def test_a_plain_request_carries_these_headers_and_no_others(server: ScriptedServer) -> None:
    """REST-44, REST-76, TRN-12: accept header: `AcceptContentTypes` verbatim if set."""
    server.respond(reply())
    async with client_for(server) as rest:
        await rest.send(GET)
        await rest.send(path_request("POST", "/x", body=b"{}"))

    plain = {
        "Host": f"127.0.0.1:{server.port}",
        "Accept": "application/json, */*",
        "User-Agent": default_user_agent(),
        "Accept-Encoding": "gzip",
    }
    assert dict(server.received[0].headers) == plain
    assert dict(server.received[1].headers) == plain | {
        "Content-Type": "application/json",
        "Content-Length": "2",
    }


async def test_types_can_be_chosen_for_each_request(server: ScriptedServer) -> None:
    """REST-44: a given Accept is sent unchanged."""
    server.respond(reply())
    table = "application/json;as=Table;v=v1;g=meta.k8s.io"
    async with client_for(server) as rest:
        await rest.send(
            path_request(
                "PATCH", "/x", body=b"[]", content_type="application/json-patch+json", accept=table
            )
        )

    assert server.received[0].header("Accept") == table
    assert server.received[0].header("Content-Type") == "application/json-patch+json"


async def test_compression_is_not_asked_for_when_it_is_disabled(server: ScriptedServer) -> None:
    """TRN-12: Compression: gzip is requested unless `disable-compression`."""
    server.respond(reply())
    async with client_for(server, config={"disable_compression": True}) as rest:
        await rest.send(GET)

    assert server.received[0].header("Accept-Encoding") is None


async def test_a_compressed_response_is_read(server: ScriptedServer) -> None:
    """TRN-12: Compression: gzip is requested unless `disable-compression`."""
    server.respond(reply(body=gzip.compress(b'{"a":1}'), headers={"Content-Encoding": "gzip"}))
    async with client_for(server) as rest:
        assert (await rest.send(GET)).body == b'{"a":1}'


async def test_the_user_agent_can_be_set_and_a_request_s_own_wins(server: ScriptedServer) -> None:
    """REST-76, TRN-21: user agent: `<command>/<version> (<os>/<arch>) kubernetes/<commit>`."""
    server.respond(reply())
    async with client_for(server, user_agent="mine/1") as rest:
        await rest.send(GET)
        await rest.send(path_request("GET", "/x", headers={"user-agent": "other"}))

    assert [received.all_of("User-Agent") for received in server.received] == [
        ["mine/1"],
        ["other"],
    ]


async def test_impersonation_is_sent_as_headers(server: ScriptedServer) -> None:
    """REST-74, REST-C20, TRN-19: impersonation headers: `Impersonate-User`."""
    server.respond(reply())
    who = Impersonation(
        user="jane", uid="7", groups=("a", "b"), extra={"test.example.com/thing": ("x", "y")}
    )
    async with client_for(server, config={"impersonate": who}) as rest:
        await rest.send(GET)

    received = server.received[0]
    assert received.header("Impersonate-User") == "jane"
    assert received.header("Impersonate-Uid") == "7"
    assert received.all_of("Impersonate-Group") == ["a", "b"]
    assert received.all_of("Impersonate-Extra-test.example.com%2Fthing") == ["x", "y"]


async def test_a_request_that_impersonates_itself_is_left_alone(server: ScriptedServer) -> None:
    """REST-75, TRN-21: if the request already has `Impersonate-User`."""
    server.respond(reply())
    who = Impersonation(user="jane", groups=("a",))
    async with client_for(server, config={"impersonate": who}) as rest:
        await rest.send(path_request("GET", "/x", headers={"Impersonate-User": "joe"}))

    assert server.received[0].all_of("Impersonate-User") == ["joe"]
    assert server.received[0].header("Impersonate-Group") is None


@pytest.mark.parametrize(
    ("config", "header"),
    [
        ({"token": "s3cret"}, "Bearer s3cret"),
        ({"username": "me", "password": "pw"}, "Basic " + base64.b64encode(b"me:pw").decode()),
        ({}, None),
    ],
)
async def test_credentials_become_a_header(
    config: dict[str, Any], header: str | None, server: ScriptedServer
) -> None:
    """Needs 29: a server that requires the header receives it."""
    server.respond(reply())
    async with client_for(server, config=config) as rest:
        await rest.send(GET)

    assert server.received[0].header("Authorization") == header


async def test_a_request_s_own_authorization_is_sent_unchanged(server: ScriptedServer) -> None:
    """TRN-C7, TRN-21, TRN-22: and a 401 to it renews nothing."""
    server.respond(reply(401))
    credentials = Renewable("one", "two")
    async with client_for(server, credentials=credentials) as rest:
        with pytest.raises(Unauthorized):
            await rest.send(path_request("GET", "/x", headers={"Authorization": "Bearer own"}))

    assert [received.all_of("Authorization") for received in server.received] == [["Bearer own"]]
    assert credentials.refusals == []


async def test_after_a_401_the_credentials_are_refreshed_and_the_request_repeated_once(
    server: ScriptedServer,
) -> None:
    """TRN-18: and better, the failed request itself is repeated."""
    server.respond(reply(401), reply(body=b"fine"))
    credentials = Renewable("old", "new")
    async with client_for(server, credentials=credentials) as rest:
        answer = await rest.send(path_request("POST", "/x", body=b"again"))

        assert rest.stats().credential_refreshes == 1
    assert answer.body == b"fine"
    assert [received.header("Authorization") for received in server.received] == [
        "Bearer old",
        "Bearer new",
    ]
    assert [received.body for received in server.received] == [b"again", b"again"]
    assert server.connections == 1


async def test_a_second_401_is_the_response(server: ScriptedServer) -> None:
    """TRN-18: generic token source wrapper: skipped if an Authorization header exists."""
    server.respond(reply(401))
    async with client_for(server, credentials=Renewable("a", "b", "c")) as rest:
        with pytest.raises(Unauthorized):
            await rest.send(GET)

    assert len(server.received) == 2


async def test_a_401_to_what_cannot_be_refreshed_is_the_response(server: ScriptedServer) -> None:
    """TRN-18: generic token source wrapper: skipped if an Authorization header exists."""
    server.respond(reply(401))
    async with client_for(server, config={"token": "x"}) as rest:
        with pytest.raises(Unauthorized, match="check the credentials"):
            await rest.send(GET)

    assert len(server.received) == 1


async def test_a_watch_is_opened_with_refreshed_credentials_too(server: ScriptedServer) -> None:
    """TRN-18, X-3: generic token source wrapper: skipped if an Authorization header exists."""
    server.respond(reply(401), chunked())
    async with (
        client_for(server, credentials=Renewable("old", "new")) as rest,
        rest.watch(resource_request("watch", PODS)) as watch,
    ):
        assert watch.ended is None

    assert server.received[1].header("Authorization") == "Bearer new"


async def test_a_token_file_that_is_rewritten_is_read_again(
    server: ScriptedServer, hurried: InstantClock, tmp_path: Path
) -> None:
    """REST-79, TRN-17, TRN-C4, TRN-C5: not before 50 s, and without its newline."""
    server.respond(reply())
    token = tmp_path / "token"
    token.write_text("one\n")
    async with client_for(server, clock=hurried, config={"token_file": str(token)}) as rest:
        await rest.send(GET)
        token.write_text("two\n")
        await hurried.sleep(49)
        await rest.send(GET)
        await hurried.sleep(2)
        await rest.send(GET)
        token.unlink()
        await hurried.sleep(60)
        await rest.send(GET)

    message = [received.header("Authorization") for received in server.received]
    assert message == ["Bearer one", "Bearer one", "Bearer two", "Bearer two"]


class Broken:
    """Credentials that cannot be refreshed."""

    async def identity(self) -> Identity:
        return Identity(authorization="Bearer old")

    async def refresh(self, identity: Identity) -> None:
        raise ConfigError(f"no plugin for {identity.epoch}")


@pytest.mark.parametrize("verb", ["send", "websocket"])
async def test_a_refresh_that_fails_leaves_no_connection_in_use(
    verb: str, server: ScriptedServer
) -> None:
    server.respond(chunked(b"x", status=401, end="hang"))
    async with client_for(server, credentials=Broken()) as rest:
        with pytest.raises(ConfigError, match="no plugin"):
            await (rest.send(GET) if verb == "send" else rest.websocket(GET))
        await eventually(lambda: rest._transport.stats().connections == 0)
