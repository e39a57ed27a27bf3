"""How many requests one call sends, whatever the server responds."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest

from kubeloop.config import Identity
from kubeloop.errors import KubeError
from kubeloop.rest import RESTClient, path_request, resource_request
from tests.support.clocks import InstantClock
from tests.support.scripted_server import (
    PODS,
    ReceivedRequest,
    Reply,
    ScriptedServer,
    ServerConnection,
    chunked,
    client_for,
    cut,
    reply,
    reset,
    serving,
)

WATCH = resource_request("watch", PODS, params={"watch": True})


def busy(status: int, seconds: int) -> Reply:
    return reply(status, headers={"Retry-After": str(seconds)})


async def onward(received: ReceivedRequest, connection: ServerConnection) -> None:
    """A redirect to a place that was not seen before."""
    path = received.target.partition("?")[0]
    await reply(302, headers={"Location": f"{path}0"})(received, connection)


FAULTS: dict[str, Reply] = {
    "429": reply(429),
    "429 after 0": busy(429, 0),
    "429 after 1": busy(429, 1),
    "500": reply(500),
    "500 after 0": busy(500, 0),
    "503 after 0": busy(503, 0),
    "503 after 1": busy(503, 1),
    "401": reply(401),
    "redirect": onward,
    "reset": reset,
    "cut": cut,
    "cut in the body": chunked(b"{", end="cut"),
}
CALLS: dict[str, Callable[[RESTClient], Awaitable[object]]] = {
    "get": lambda rest: rest.send(path_request("GET", "/x")),
    "list": lambda rest: rest.send(resource_request("list", PODS)),
    "watch": lambda rest: rest.watch(WATCH).open(),
    "stream": lambda rest: rest.stream(path_request("GET", "/x")).read(),
    "create": lambda rest: rest.send(path_request("POST", "/x", body=b"{}")),
    "without retries": lambda rest: rest.send(path_request("GET", "/x", max_retries=0)),
    "websocket": lambda rest: rest.websocket(path_request("GET", "/x")),
}


class NewTokens:
    """Credentials that have another token after each refresh."""

    def __init__(self) -> None:
        self._number = 0

    async def identity(self) -> Identity:
        return Identity(authorization=f"Bearer {self._number}")

    async def refresh(self, rejected: Identity) -> None:
        self._number += 1


async def times_of_requests(call: str, faults: tuple[str, ...]) -> list[float]:
    """When the requests of one call arrive, at a server that repeats these faults."""
    clock, times = InstantClock(), list[float]()
    steps = itertools.cycle(FAULTS[fault] for fault in faults)

    async def fail(received: ReceivedRequest, connection: ServerConnection) -> None:
        times.append(clock.now())
        await next(steps)(received, connection)

    async with serving() as server:
        server.respond(fail)
        async with client_for(server, clock=clock, credentials=NewTokens()) as rest:
            with suppress(KubeError):
                await CALLS[call](rest)
    return times


def most_within(seconds: float, times: list[float]) -> int:
    return max(sum(0 <= time - start < seconds for time in times) for start in times)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("fault", FAULTS)
async def test_a_server_gets_at_most_five_requests_of_a_call_within_two_seconds(
    fault: str, call: str
) -> None:
    """Whatever it responds, and whatever else it responds in turn; and 11 in total."""
    for other in [*FAULTS][: [*FAULTS].index(fault) + 1]:
        times = await times_of_requests(call, (fault, other))

        assert most_within(2.0, times) <= 5, other
        assert len(times) <= 11, other


async def test_retries_redirects_and_new_credentials_have_one_budget() -> None:
    for faults in itertools.permutations(("429 after 1", "401", "redirect")):
        assert len(await times_of_requests("get", faults)) <= 11


async def test_a_call_without_retries_follows_a_redirect_and_refreshes_its_credentials(
    server: ScriptedServer, hurried: InstantClock
) -> None:
    server.respond(onward, reply(401), onward, reply(body=b"found"))
    async with client_for(server, clock=hurried, credentials=NewTokens()) as rest:
        found = await rest.send(path_request("GET", "/x", max_retries=0))

    assert found.body == b"found"
    assert [each.target for each in server.received] == ["/x", "/x0", "/x", "/x0"]
    assert hurried.slept == [1.0]  # the first requests follow at once
