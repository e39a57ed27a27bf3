"""Injected faults, seen from a client."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import aiohttp
import msgspec
import pytest

from kubeloop.errors import (
    ApiError,
    BadRequest,
    Conflict,
    Expired,
    Forbidden,
    InternalError,
    Invalid,
    InvalidArgument,
    MethodNotAllowed,
    NotAcceptable,
    NotFound,
    RequestEntityTooLarge,
    ServiceUnavailable,
    Timeout,
    TooManyRequests,
    Unauthorized,
    UnsupportedMediaType,
)
from kubeloop.kit import ManualClock
from kubeloop_testing import APIServer
from kubeloop_testing.server import Service
from kubeloop_testing.server.faults import Faults, Match, Reaction, Reply, SeenRequest
from kubeloop_testing.server.statuses import StatusError, forbidden
from tests.testing.server.conftest import Api
from tests.testing.server.server_objects import CONFIG_MAPS, PODS, config_map, pod


async def test_so_many_requests_fail_and_no_more(api: Api, server: Service) -> None:
    server.faults.fail(429, times=2, retry_after=3)

    response = [await api.get(PODS) for _ in range(3)]

    assert [each.code for each in response] == [429, 429, 200]
    assert response[0].headers["Retry-After"] == "3"
    assert response[0].json["details"]["retryAfterSeconds"] == 3


@pytest.mark.parametrize("path", ["/livez", "/readyz/ping", "/healthz"])
async def test_a_health_check_is_not_recorded_and_takes_no_fault(
    api: Api, server: Service, path: str
) -> None:
    """Clients probe the server at times that a test does not control."""
    server.faults.fail(503, times=1)
    before = len(server.faults.requests)

    check = await api.get(path)

    assert (check.code, len(server.faults.requests)) == (200, before)
    assert (await api.get(PODS)).code == 503


async def test_a_fault_meets_only_what_it_is_meant_for(api: Api, server: Service) -> None:
    server.faults.fail(503, times=None, match=Match(verb="create", resource="configmaps"))

    refused = await api("POST", CONFIG_MAPS, config_map("a"))
    others = await api.get(CONFIG_MAPS)
    server.faults.heal()
    healed = await api("POST", CONFIG_MAPS, config_map("a"))

    assert [refused.code, others.code, healed.code] == [503, 200, 201]


async def test_responses_are_held_until_they_are_released(api: Api, server: Service) -> None:
    release = server.faults.hold(Match(verb="list"))
    waiting = asyncio.create_task(api.get(PODS))
    await api.get("/version")  # lets the server run

    assert not waiting.done()
    release()

    assert (await waiting).code == 200


async def test_a_half_open_connection_never_answers(api: Api, server: Service) -> None:
    server.faults.half_open = True

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await api.get(PODS)


async def _until_broken(api: Api) -> bytes:
    """What a watch of pods sends before it is interrupted."""
    got = b""
    async with api.watch(PODS) as response:
        try:
            async for part in response.content.iter_any():
                got += part
        except aiohttp.ClientPayloadError:
            return got
    raise AssertionError("the stream ended properly")


@pytest.mark.parametrize("events", [1, 2])
async def test_a_stream_is_cut_after_so_many_events(api: Api, server: Service, events: int) -> None:
    for name in ("a", "b", "c"):
        await api.create(PODS, pod(name))
    server.faults.cut_streams(after_events=events)

    got = await _until_broken(api)

    assert len([msgspec.json.decode(line) for line in got.splitlines()]) == events


async def test_a_stream_is_cut_in_the_middle_of_an_event(api: Api, server: Service) -> None:
    await api.create(PODS, pod("a"))
    server.faults.cut_streams(after_bytes=10)

    assert await _until_broken(api) == b'{"type":"A'


async def test_watches_close_at_once(api: Api, server: Service) -> None:
    await api.create(PODS, pod("a"))
    server.faults.close_watches = True

    async with api.watch(PODS) as response:
        assert await response.read() == b""


async def test_events_come_late() -> None:
    clock = ManualClock()
    async with (
        Service(clock=clock) as server,
        aiohttp.ClientSession(server.url) as session,
    ):
        server.faults.delivery_delay = 5
        api = Api(session)
        await api.create(PODS, pod("a"))
        async with api.watch(PODS) as response:
            line = asyncio.create_task(response.content.readline())
            await api.get("/version")  # lets the server run
            early = line.done()
            await clock.advance(5)

            assert not early
            assert b"ADDED" in await line


async def test_a_reactor_answers_changes_and_refuses(api: Api, server: Service) -> None:
    def react(seen: SeenRequest) -> Reaction:
        match seen.verb, seen.name:
            case "get", "invented":
                return Reply(200, {"kind": "ConfigMap", "metadata": {"name": "invented"}})
            case "create", _:
                body = {**seen.json(), "data": {"by": "reactor"}}
                return msgspec.structs.replace(seen, body=msgspec.json.encode(body))
            case "delete", name:
                raise forbidden("", "configmaps", name, "not today")
        return None

    server.faults.reactors.append(react)

    invented = await api.get(f"{CONFIG_MAPS}/invented")
    created = await api.create(CONFIG_MAPS, config_map("a"))
    refused = await api("DELETE", f"{CONFIG_MAPS}/a")

    assert invented.json["metadata"]["name"] == "invented"
    assert created.json["data"] == {"by": "reactor"}
    assert (refused.code, refused.json["message"]) == (
        403,
        'configmaps "a" is forbidden: not today',
    )


async def test_a_reactor_that_fails_is_an_internal_error(api: Api, server: Service) -> None:
    def react(seen: SeenRequest) -> Reaction:
        raise ZeroDivisionError(seen.path)

    server.faults.reactors.append(react)

    response = await api.get(PODS)

    assert (response.code, response.reason) == (500, "InternalError")
    assert b"Traceback" not in response.raw
    assert b"ZeroDivision" not in response.raw


async def test_requests_are_recorded(api: Api, server: Service) -> None:
    await api.create(CONFIG_MAPS, config_map("a"), dryRun="All")

    seen = server.faults.requests[-1]

    assert (seen.verb, seen.resource, seen.namespace) == ("create", "configmaps", "default")
    assert seen.query == {"dryRun": ["All"]}
    assert seen.json()["metadata"]["name"] == "a"


async def test_refused_connections_are_refused_and_accepted_again(
    api: Api, server: Service
) -> None:
    await api.get(PODS)

    await server.refuse_connections()
    with pytest.raises(aiohttp.ClientConnectorError):
        await api.get(PODS)
    await server.accept_connections()

    assert (await api.get(PODS)).code == 200


async def test_no_other_process_gets_an_address_that_is_closed_for_a_while(
    server: Service,
) -> None:
    host, port = server.url.removeprefix("http://").split(":")

    await server.refuse_connections()
    with socket.socket() as other, pytest.raises(OSError, match="in use"):
        other.bind((host, int(port)))
    await server.accept_connections()


async def test_a_restart_ends_streams_and_keeps_or_loses_the_data(
    api: Api, server: Service
) -> None:
    """X-1: a restart, as an informer meets it."""
    await api.create(CONFIG_MAPS, config_map("a"))
    version = int((await api.get(CONFIG_MAPS)).json["metadata"]["resourceVersion"])
    async with api.watch(CONFIG_MAPS, resourceVersion=version) as response:
        await server.restart()
        with pytest.raises(aiohttp.ClientError):
            await response.read()

    kept = await api.get(f"{CONFIG_MAPS}/a")
    later = await api.create(CONFIG_MAPS, config_map("b"))
    await server.restart(keep_data=False)
    lost = await api.get(f"{CONFIG_MAPS}/a")

    assert (kept.code, lost.code) == (200, 404)
    assert int(later.json["metadata"]["resourceVersion"]) > version


async def test_dropped_connections_break_streams(api: Api, server: Service) -> None:
    async with api.watch(PODS) as response:
        server.drop_connections()
        with pytest.raises(aiohttp.ClientError):
            await response.read()

    assert (await api.get(PODS)).code == 200


async def test_a_fault_that_is_healed_while_it_applies_still_applies_once() -> None:
    faults, clock = Faults(), ManualClock()
    seen = SeenRequest("GET", "/", {}, {}, b"")

    class HealedMeanwhile:
        """As if another thread called `heal` while the server checks the fault."""

        def fits(self, seen: SeenRequest) -> bool:
            faults.heal()
            return True

    match: Any = HealedMeanwhile()
    faults.fail(500, match=match)
    with pytest.raises(StatusError):
        await faults.intercept(seen, clock)
    faults.cut_streams(after_events=1, match=match)
    cut = faults.cut_for(seen)

    assert cut is not None
    assert await faults.intercept(seen, clock) is seen
    assert faults.cut_for(seen) is None


def test_the_record_is_bounded_and_shows_no_secret() -> None:
    faults = Faults(record=2)
    for number in range(3):
        faults.record(
            SeenRequest("GET", f"/{number}", {}, {"Authorization": "Bearer secret"}, b"secret")
        )

    assert [seen.path for seen in faults.requests] == ["/1", "/2"]
    assert "secret" not in repr(faults.requests)
    faults.clear_record()
    assert not faults.requests


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (400, BadRequest), (401, Unauthorized), (403, Forbidden), (404, NotFound),
        (405, MethodNotAllowed), (406, NotAcceptable), (409, Conflict), (410, Expired),
        (413, RequestEntityTooLarge), (415, UnsupportedMediaType), (422, Invalid),
        (429, TooManyRequests), (500, InternalError), (502, InternalError),
        (503, ServiceUnavailable), (504, Timeout), (418, ApiError),
    ],
)  # fmt: skip
async def test_a_code_raises_what_a_real_answer_of_that_code_raises(
    code: int, error: type[ApiError]
) -> None:
    async with APIServer() as server:
        pods = server.client().core_v1.pods("default")
        server.faults.fail(code, times=None)

        with pytest.raises(ApiError) as raised:
            await pods.patch("web", {"metadata": {"labels": {"a": "b"}}}, type="merge")

    assert type(raised.value) is error
    assert raised.value.code == code


async def test_a_refusal_names_what_the_request_was_about(api: Api, server: Service) -> None:
    server.faults.fail(404)
    missing = (await api.get(f"{PODS}/web")).json
    server.faults.fail(409)
    taken = (await api("POST", CONFIG_MAPS, config_map("settings"))).json
    server.faults.fail(404)
    nowhere = (await api("POST", CONFIG_MAPS, config_map("settings"))).json
    server.faults.fail(422)
    wrong = (await api("POST", CONFIG_MAPS, config_map("settings"))).json
    server.faults.fail(403)
    denied = (await api.get(PODS)).json

    assert missing["message"] == 'pods "web" not found'
    assert missing["details"] == {"name": "web", "kind": "pods"}
    assert (taken["reason"], taken["details"]["name"]) == ("AlreadyExists", "settings")
    assert nowhere["message"] == 'namespaces "default" not found'
    assert wrong["details"]["kind"] == "ConfigMap"
    assert wrong["details"]["causes"][0]["reason"] == "FieldValueInvalid"
    assert 'cannot list resource "pods" in API group ""' in denied["message"]


async def test_a_body_that_cannot_be_read_meets_a_fault_too(api: Api, server: Service) -> None:
    server.faults.fail(409)

    refused = await api("POST", CONFIG_MAPS, {"kind": 5, "metadata": "none"})

    assert (refused.code, refused.json["reason"]) == (409, "AlreadyExists")


@pytest.mark.parametrize("code", [0, 200, 399, 600])
def test_a_code_that_is_no_error_is_refused(code: int) -> None:
    with pytest.raises(InvalidArgument, match="not an error code"):
        Faults().fail(code)
