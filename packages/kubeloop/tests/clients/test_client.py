"""The client as a whole."""

from __future__ import annotations

import pytest

from kubeloop.clients import APIClient
from kubeloop.config import ClusterConfig
from kubeloop.discovery import NoKindMatch
from kubeloop.errors import InvalidArgument, Unauthorized
from kubeloop.meta import GroupVersionKind
from kubeloop.rest import RESTClient
from kubeloop.wire.core.v1 import Pod
from kubeloop_testing.server.service import Service

from .conftest import Recorder


async def test_nothing_is_read_or_connected_before_it_is_used() -> None:
    client = APIClient(ClusterConfig(server="http://127.0.0.1:1"))

    pods = client.resource(Pod, namespace="shop")

    assert repr(pods) == "PodClient(pods in shop)"
    assert client.stats().requests == 0
    await client.aclose()


async def test_a_rest_client_that_was_given_stays_open(server: Service) -> None:
    async with RESTClient(ClusterConfig(server=server.url)) as rest:
        async with APIClient(rest=rest) as client:
            await client.version()

        async with APIClient(rest=rest) as client:
            assert (await client.version()).major == "1"


def test_a_configuration_and_a_rest_client_exclude_each_other() -> None:
    with pytest.raises(InvalidArgument):
        APIClient(ClusterConfig(server="http://h"), rest=Recorder())  # type: ignore[arg-type] # by shape


async def test_an_unknown_kind_is_an_error_of_the_first_request(client: APIClient) -> None:
    websites = client.resource("example.com/v1", "Website")

    with pytest.raises(NoKindMatch, match=r"Website\.example\.com in v1"):
        await websites.get("a")


@pytest.mark.parametrize(("api_version", "kind"), [("", "Pod"), ("v1", ""), ("a/b/c", "Pod")])
def test_a_kind_needs_a_version_and_a_name(api_version: str, kind: str) -> None:
    with pytest.raises(InvalidArgument):
        Recorder().client.resource(api_version, kind)
    with pytest.raises(InvalidArgument):
        Recorder().client.resource(GroupVersionKind("", "", ""))


async def test_credentials_are_used(server: Service) -> None:
    """Needs, 29: a server that requires them gets them, and rejects requests without them."""
    async with Service(tls=True, rbac=True) as guarded:
        config = ClusterConfig(server=guarded.url, token=guarded.token, ca=guarded.ca or b"")
        async with APIClient(config) as client:
            assert len(await client.resource(Pod).list()) == 0
        async with APIClient(config.replace(token="wrong")) as client:
            with pytest.raises(Unauthorized):
                await client.resource(Pod).list()
