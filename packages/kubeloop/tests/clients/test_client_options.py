"""The options of a client that opens its own REST client."""

from __future__ import annotations

from typing import Any

import pytest

from kubeloop import blocking, runtime
from kubeloop.clients import APIClient, ClientOptions
from kubeloop.config import ClusterConfig
from kubeloop.errors import InvalidArgument, TimeoutExceeded
from kubeloop.kit import TokenBucket
from kubeloop.rest import JsonCodec, RESTClient, ServerWarning
from kubeloop_testing.server.faults import Reply
from kubeloop_testing.server.service import Service
from tests.support.clocks import InstantClock

from .conftest import Recorder

NOWHERE = ClusterConfig(server="http://127.0.0.1:1", timeout=60)


async def test_a_call_ends_with_the_time_that_the_client_was_given(server: Service) -> None:
    server.faults.hold()

    async with APIClient(ClusterConfig(server=server.url), request_timeout=0.05) as client:
        with pytest.raises(TimeoutExceeded):
            await client.version()


async def test_the_timeout_is_sent_to_the_server(server: Service) -> None:
    """An argument takes precedence over the configuration."""
    config = ClusterConfig(server=server.url, timeout=60)

    async with APIClient(config, request_timeout=7) as client:
        await client.version()

    assert server.faults.requests[-1].query == {"timeout": ["7s"]}


async def test_requests_beyond_the_limit_wait_for_their_turn(server: Service) -> None:
    clock = InstantClock()

    async with APIClient(ClusterConfig(server=server.url), rate_limit=0.5, clock=clock) as client:
        await client.version()
        await client.version()

    assert clock.slept == [2.0]


async def test_a_limiter_of_ones_own_can_serve_several_clients(server: Service) -> None:
    clock = InstantClock()
    shared = TokenBucket(1, 1, clock=clock)
    config = ClusterConfig(server=server.url)

    for _ in range(2):
        async with APIClient(config, rate_limit=shared, clock=clock) as client:
            await client.version()

    assert clock.slept == [1.0]


async def test_warnings_of_the_server_reach_the_handler(server: Service) -> None:
    version = {"major": "1", "minor": "37"}
    message = {"Warning": '299 - "use something newer"'}
    server.faults.reactors.append(lambda _: Reply(body=version, headers=message))
    received: list[ServerWarning] = []

    async with APIClient(ClusterConfig(server=server.url), warnings=received.append) as client:
        await client.version()

    assert [warning.text for warning in received] == ["use something newer"]


@pytest.mark.parametrize("make", [APIClient, blocking.Client])
@pytest.mark.parametrize(
    "options",
    [{"request_timeout": 0}, {"request_timeout": -1.0}, {"rate_limit": 0}, {"rate_limit": -5}],
)
def test_a_number_without_a_meaning_is_rejected_at_once(make: Any, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument, match="more than 0"):
        make(NOWHERE, **options)


@pytest.mark.parametrize("make", [APIClient, blocking.Client])
@pytest.mark.parametrize(
    "options", [{"request_timeout": 5}, {"rate_limit": 5}, {"warnings": print}, {"config": NOWHERE}]
)
def test_a_rest_client_brings_its_own_settings(make: Any, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument, match="not both"):
        make(rest=Recorder, **options)


class YamlCodec:
    """A codec for another format than JSON."""

    content_type = accept = "application/yaml"

    def __init__(self) -> None:
        json = JsonCodec()
        self.reads, self.encode = json.reads, json.encode
        self.decode, self.events = json.decode, json.events


@pytest.mark.parametrize("make", [APIClient, runtime.Client])
def test_a_rest_client_for_another_format_than_json_is_rejected(make: Any) -> None:
    """Lists, watches and informers read JSON: a codec would only make the server send more."""
    with pytest.raises(InvalidArgument, match="codec that writes application/yaml"):
        make(rest=RESTClient(NOWHERE, codec=YamlCodec()))


def test_a_client_over_another_one_has_its_tuning() -> None:
    client = APIClient(NOWHERE, tune_gc=True)

    over = runtime.Client.over(client)

    assert over.options == client.options == ClientOptions(tune_gc=True)
