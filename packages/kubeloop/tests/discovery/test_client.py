"""Discovery of a server, aggregated and legacy."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

import pytest

from kubeloop.discovery import (
    ACCEPT_AGGREGATED,
    ACCEPT_JSON,
    ACCEPT_NO_PEER,
    TIMEOUT,
    ApiGroup,
    DiscoveryClient,
    GroupDiscoveryFailed,
    StaleGroupVersion,
    failed_groups,
    namespaced_only,
    parse_aggregated,
    preferred_resources,
)
from kubeloop.errors import (
    DecodeError,
    Forbidden,
    InvalidArgument,
    NotFound,
    ServiceUnavailable,
    StreamBroken,
)
from kubeloop.meta import GroupVersion, GroupVersionResource

from .conftest import (
    V2,
    ScriptedResponse,
    ScriptedServer,
    aggregated,
    group,
    legacy_groups,
    legacy_resources,
    resource,
)

V1 = GroupVersion("", "v1")
APPS = GroupVersion("apps", "v1")


async def test_aggregated_discovery_takes_two_requests(modern: ScriptedServer) -> None:
    """DSC-2: `/api`, then `/apis`, each requested as aggregated discovery first."""
    found = await DiscoveryClient(modern).discover()

    assert modern.paths == ["/api", "/apis"]
    assert {request.accept for request in modern.received} == {
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
    }
    assert [each.name for each in found.groups] == ["", "apps"]
    assert [row.name for row in found.resources[APPS]] == ["deployments", "deployments/scale"]


async def test_each_request_has_a_timeout_that_is_sent_to_the_server(
    modern: ScriptedServer,
) -> None:
    """DSC-1: 32 seconds."""
    await DiscoveryClient(modern).groups()

    assert modern.received[0].url("http://h") == "http://h/api?timeout=32s"
    assert TIMEOUT == 32.0


@pytest.mark.parametrize(
    ("options", "accept"),
    [
        ({}, ACCEPT_AGGREGATED),
        ({"legacy": True}, ACCEPT_JSON),
        ({"no_peer": True}, ACCEPT_NO_PEER),
    ],
)
async def test_the_form_that_is_asked_for_can_be_chosen(
    modern: ScriptedServer, options: dict[str, bool], accept: str
) -> None:
    """DSC-2: legacy requests plain JSON, no-peer the server's own resources first."""
    await DiscoveryClient(modern, **options).groups_and_maybe_resources()

    assert {request.accept for request in modern.received} == {accept}
    assert ACCEPT_NO_PEER.index("profile=nopeer") < ACCEPT_NO_PEER.index(ACCEPT_AGGREGATED)


async def test_a_server_without_a_core_group_is_fine(modern: ScriptedServer) -> None:
    """DSC-5, DSC-C1: `/api` may be missing."""
    modern.say("/api", 404)

    found = await DiscoveryClient(modern).discover()

    assert [each.name for each in found.groups] == ["apps"]
    assert APPS in found.resources


@pytest.mark.parametrize(
    ("path", "answer", "error"), [("/api", 403, Forbidden), ("/apis", 404, NotFound)]
)
async def test_any_other_failure_of_the_two_fails(
    modern: ScriptedServer, path: str, answer: int, error: type[Exception]
) -> None:
    """DSC-5, DSC-C1: `/api` 404 is tolerated (no core group); any other error at `/api`."""
    modern.say(path, answer)

    with pytest.raises(error):
        await DiscoveryClient(modern).discover()


async def test_half_an_aggregated_response_is_none(modern: ScriptedServer) -> None:
    """DSC-6: every group version is requested then."""
    modern.say("/apis", legacy_groups(("apps", ["v1"])))
    modern.say("/api/v1", legacy_resources("v1", ("pods", "Pod")))
    modern.say("/apis/apps/v1", legacy_resources("apps/v1", ("deployments", "Deployment")))

    found = await DiscoveryClient(modern).discover()

    assert modern.paths[2:] == ["/api/v1", "/apis/apps/v1"]
    assert [row.name for row in found.resources[APPS]] == ["deployments"]


async def test_a_legacy_server_is_asked_for_each_group_version(old: ScriptedServer) -> None:
    """DSC-7, DSC-11, DSC-C2: in the order of groups and versions."""
    found = await DiscoveryClient(old).discover()

    assert old.paths == ["/api", "/apis", "/api/v1", "/apis/apps/v1"]
    assert found.groups == (ApiGroup("", ("v1",), "v1"), ApiGroup("apps", ("v1",), "v1"))
    assert list(found.resources) == [V1, APPS]


async def test_a_group_version_that_fails_is_reported_and_the_others_are_there(
    old: ScriptedServer,
) -> None:
    """DSC-11, DSC-12, DSC-C3: everything is tried twice, and no more."""
    old.say("/apis", legacy_groups(("apps", ["v1"]), ("metrics.k8s.io", ["v1beta1"])))
    old.say("/apis/metrics.k8s.io/v1beta1", 503)

    found = await DiscoveryClient(old).discover()

    assert old.paths.count("/apis/metrics.k8s.io/v1beta1") == 2
    assert list(found.resources) == [V1, APPS]
    assert isinstance(found.failures[GroupVersion("metrics.k8s.io", "v1beta1")], ServiceUnavailable)


async def test_a_broken_connection_of_one_group_is_its_own(old: ScriptedServer) -> None:
    """DSC-11: transport errors count as failures of the group version too."""
    old.say("/apis/apps/v1", StreamBroken("GET /apis/apps/v1: cut"))

    found = await DiscoveryClient(old).discover()

    assert list(found.failures) == [APPS]


async def test_the_error_lists_what_failed_in_order_and_carries_the_rest(
    old: ScriptedServer,
) -> None:
    """DSC-14: sorted by group version; found through errors that wrap it."""
    old.say("/apis", legacy_groups(("z.io", ["v1"]), ("apps", ["v1"]), ("b.io", ["v1"])))
    found = await DiscoveryClient(old).discover()

    with pytest.raises(GroupDiscoveryFailed) as caught:
        found.check()

    text = str(caught.value)
    assert text.index("b.io/v1: ") < text.index("z.io/v1: ")
    assert caught.value.found is found
    wrapped = RuntimeError("outer")
    wrapped.__cause__ = caught.value
    assert set(failed_groups(wrapped)) == set(found.failures)
    assert failed_groups(RuntimeError("other")) == {}


async def test_a_stale_version_is_a_failure(modern: ScriptedServer) -> None:
    """DSC-8, DSC-C4: aggregated conversion."""
    modern.say(
        "/apis", aggregated(group("apps", v2="Stale", v1=[resource("deployments", "D")])), V2
    )

    found = await DiscoveryClient(modern).discover()

    assert found.groups[1].preferred == "v1"
    assert isinstance(found.failures[GroupVersion("apps", "v2")], StaleGroupVersion)


async def test_a_missing_v1_is_an_empty_one(old: ScriptedServer) -> None:
    """DSC-10: only for the core group; no version at all is a mistake."""
    client = DiscoveryClient(old)
    old.say("/api/v1", 404)

    assert await client.resources(V1) == ()
    with pytest.raises(NotFound):
        await client.resources(GroupVersion("gone.io", "v1"))
    with pytest.raises(InvalidArgument):
        await client.resources(GroupVersion())


def test_preferred_resources_come_once_each() -> None:
    """DSC-13, DSC-C6: the preferred version's, else the first version that has it."""
    found = parse_aggregated(
        __import__("msgspec").json.encode(
            aggregated(
                group(
                    "shop.io",
                    v2=[resource("orders", "Order")],
                    v1=[
                        resource("orders", "Order"),
                        resource("carts", "Cart", namespaced=False),
                    ],
                    v1beta1=[resource("orders", "Order")],
                )
            )
        )
    )

    chosen = preferred_resources(found)

    named = {str(version): [row.name for row in rows] for version, rows in chosen.items()}
    assert named == {"shop.io/v2": ["orders"], "shop.io/v1": ["carts"], "shop.io/v1beta1": []}
    assert [str(version) for version in namespaced_only(chosen)] == ["shop.io/v2"]


async def test_parts_are_no_preferred_resources(modern: ScriptedServer) -> None:
    """DSC-13: preferred resources: for each."""
    chosen = await DiscoveryClient(modern).preferred(namespaced=True)

    assert [row.name for row in chosen[APPS]] == ["deployments"]


async def test_the_servers_version(server: ScriptedServer) -> None:
    """DSC-15: also if a newer server sends unknown fields."""
    server.say("/version", {"major": "1", "gitVersion": "v1.37.2", "novelty": True})

    assert str(await DiscoveryClient(server).version()) == "v1.37.2"


async def test_openapi_v2_is_asked_for_as_protobuf(server: ScriptedServer) -> None:
    """DSC-15: server version: GET `/version`, JSON. OpenAPI v2."""
    server.say("/openapi/v2", {})

    assert await DiscoveryClient(server).openapi_v2() == b"{}"
    assert server.received[0].accept == "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"


async def test_a_version_is_supported_when_listed_or_when_nothing_is(
    old: ScriptedServer,
) -> None:
    """DSC-16: ServerSupportsVersion: ok if listed."""
    client = DiscoveryClient(old)

    assert await client.supports(APPS)
    assert not await client.supports(GroupVersion("apps", "v9"))
    old.say("/api", {"versions": []})
    old.say("/apis", {"groups": []})
    assert await client.supports(GroupVersion("apps", "v9"))


async def test_a_missing_group_version_serves_nothing(old: ScriptedServer) -> None:
    """DSC-16: ServerSupportsVersion: ok if listed."""
    client = DiscoveryClient(old)

    assert await client.serves(GroupVersionResource("apps", "v1", "deployments"))
    assert not await client.serves(GroupVersionResource("apps", "v1", "things"))
    assert not await client.serves(GroupVersionResource("gone.io", "v1", "things"))


@pytest.mark.parametrize("path", ["/version", "/apis", "/api/v1", "/openapi/v3"])
async def test_a_response_that_cannot_be_read_is_named(path: str, modern: ScriptedServer) -> None:
    modern.answers[path] = ScriptedResponse(b"<html>log in</html>", "text/html")
    client = DiscoveryClient(modern)
    asking: dict[str, Callable[[], Awaitable[object]]] = {
        "/version": client.version,
        "/apis": client.groups,
        "/api/v1": partial(client.resources, GroupVersion("", "v1")),
        "/openapi/v3": client.openapi.paths,
    }

    with pytest.raises(DecodeError, match=f"GET .*{path}: .*is this the API server"):
        await asking[path]()
