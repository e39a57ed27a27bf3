"""Reading as protobuf: what a client requests, and what it does when that is not enough."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any, cast

import msgspec
import pytest

from kubeloop.clients import APIClient
from kubeloop.config import ClusterConfig
from kubeloop.errors import InvalidArgument, NotAcceptable
from kubeloop.wire import protobuf_descriptors
from kubeloop.wire.core.v1 import ConfigMap, Pod
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop.wire.protobuf_codec import PROTOBUF
from kubeloop.wire.protobuf_writing import (
    envelope,
    list_item,
    list_start,
    message_bytes,
    watch_frame,
)
from kubeloop_testing.server.faults import Match, Reply, SeenRequest
from kubeloop_testing.server.service import Service
from tests.support.clocks import FastClock

from .conftest import CRD, a_pod

NEW = b"\xba\x3e\x03new"  # field 999: no model has it
MAP: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "a", "namespace": "default", "uid": "1", "resourceVersion": "5"},
    "data": {"k": "v"},
    "future": {"kept": True},
}


@pytest.fixture
async def by_protobuf(server: Service) -> AsyncIterator[APIClient]:
    config = ClusterConfig(server=server.url, namespace="default")
    async with APIClient(config, format="protobuf", clock=FastClock()) as connected:
        yield connected


def accepted(server: Service, verb: str) -> list[str]:
    """The first format that each request of a verb accepts."""
    return [
        seen.headers["Accept"].partition(",")[0].partition(";")[0]
        for seen in server.faults.requests
        if seen.verb == verb
    ]


def future_server(seen: SeenRequest) -> Reply | None:
    """Responds as a server with a field in ConfigMaps that our models do not have."""
    if seen.resource != "configmaps":
        return None
    is_protobuf = seen.headers["Accept"].startswith(PROTOBUF)
    message = message_bytes("core_v1.ConfigMap", MAP) + NEW
    head = {"resourceVersion": "5"}
    match seen.verb, is_protobuf:
        case "get", True:
            return Reply(body=envelope("v1", "ConfigMap", message), content_type=PROTOBUF)
        case "get", False:
            return Reply(body=MAP)
        case "list", True:
            body = envelope("v1", "ConfigMapList", list_start(head) + list_item(message))
            return Reply(body=body, content_type=PROTOBUF)
        case "list", False:
            items = {"kind": "ConfigMapList", "apiVersion": "v1", "metadata": head, "items": [MAP]}
            return Reply(body=items)
        case "watch", True:
            known = message_bytes(
                "core_v1.ConfigMap", {**MAP, "metadata": {"name": "z", "resourceVersion": "4"}}
            )
            frames = watch_frame("ADDED", envelope("v1", "ConfigMap", known))
            frames += watch_frame("MODIFIED", envelope("v1", "ConfigMap", message))
            return Reply(body=frames, content_type=f"{PROTOBUF};stream=watch")
    assert seen.query["resourceVersion"] == ["4"]
    return Reply(body=msgspec.json.encode({"type": "MODIFIED", "object": MAP}) + b"\n")


async def test_built_in_kinds_are_requested_as_protobuf_and_writes_are_json(
    server: Service, by_protobuf: APIClient
) -> None:
    """REST-45: protobuf first, JSON as the fallback."""
    pods = by_protobuf.resource(Pod)
    created = await pods.create(a_pod(app="web"))

    assert await pods.get("web") == created
    assert (await pods.list()).items == [created]
    assert accepted(server, "get") == accepted(server, "list") == [PROTOBUF]
    assert accepted(server, "create") == ["application/json"]


async def test_json_is_the_default(server: Service, client: APIClient) -> None:
    await client.resource(Pod).list()

    assert accepted(server, "list") == ["application/json"]


async def test_other_kinds_are_json(server: Service, by_protobuf: APIClient) -> None:
    await by_protobuf.apply(CRD)

    assert (await by_protobuf.resource("example.com/v1", "Website").list()).items == []
    assert accepted(server, "list")[-1] == "application/json"


async def test_metadata_is_requested_as_protobuf(server: Service, by_protobuf: APIClient) -> None:
    """DYN-11: for custom resources too, because metadata is a built-in kind."""
    await by_protobuf.resource(Pod).create(a_pod(app="web"))

    (found,) = (await by_protobuf.metadata(Pod).list()).items

    assert found.metadata.labels == {"app": "web"}
    assert accepted(server, "list") == [PROTOBUF]


async def test_changes_are_watched_as_protobuf(server: Service, by_protobuf: APIClient) -> None:
    maps = by_protobuf.resource(ConfigMap)
    version = (await maps.list()).version

    async with aclosing(maps.watch(resource_version=version)) as events:
        await maps.create(ConfigMap(metadata=ObjectMeta(name="a"), data={"k": "v"}))
        await maps.delete("a")
        seen = [await anext(events) for _ in range(2)]

    assert [event.type for event in seen] == ["ADDED", "DELETED"]
    assert seen[1].object.data == {"k": "v"}
    assert accepted(server, "watch") == [PROTOBUF]


@pytest.mark.parametrize("code", [406, 415])
async def test_a_refused_format_is_remembered(
    server: Service, by_protobuf: APIClient, caplog: pytest.LogCaptureFixture, code: int
) -> None:
    server.faults.fail(code, times=1, match=Match(resource="pods"))
    pods = by_protobuf.resource(Pod)

    with caplog.at_level(logging.WARNING):
        await pods.list()
        await pods.list()

    assert accepted(server, "list") == [PROTOBUF, "application/json", "application/json"]
    assert by_protobuf.stats().json_only == ("pods",)
    (line,) = [text for text in caplog.messages if "JSON from now on" in text]
    assert line.startswith("pods are read as JSON from now on")


async def test_a_refusal_of_json_is_raised(server: Service, client: APIClient) -> None:
    server.faults.fail(406, times=1)

    with pytest.raises(NotAcceptable):
        await client.resource(Pod).list()


async def test_an_object_with_unknown_fields_is_read_again_as_json(
    server: Service, by_protobuf: APIClient
) -> None:
    server.faults.reactors.append(future_server)

    found = await by_protobuf.resource(ConfigMap).get("a")

    assert found.to_dict()["future"] == {"kept": True}
    assert accepted(server, "get") == [PROTOBUF, "application/json"]
    assert by_protobuf.stats().json_only == ("configmaps",)


async def test_a_list_with_unknown_fields_is_read_again_as_json(
    server: Service, by_protobuf: APIClient
) -> None:
    server.faults.reactors.append(future_server)

    (found,) = (await by_protobuf.resource(ConfigMap).list()).items

    assert found.to_dict()["future"] == {"kept": True}
    assert accepted(server, "list") == [PROTOBUF, "application/json"]


async def test_item_by_item_an_object_with_unknown_fields_is_read_as_json(
    server: Service, by_protobuf: APIClient
) -> None:
    server.faults.reactors.append(future_server)

    (found,) = [each async for each in by_protobuf.resource(ConfigMap).each()]

    assert found.to_dict()["future"] == {"kept": True}
    assert accepted(server, "get") == ["application/json"]


async def test_a_watch_goes_on_as_json_before_an_event_with_unknown_fields(
    server: Service, by_protobuf: APIClient
) -> None:
    server.faults.reactors.append(future_server)

    async with aclosing(by_protobuf.resource(ConfigMap).watch(resource_version="3")) as events:
        first, second = await anext(events), await anext(events)

    assert (first.type, first.object.metadata.name) == ("ADDED", "z")
    assert (second.type, second.object.to_dict()["future"]) == ("MODIFIED", {"kept": True})
    assert accepted(server, "watch") == [PROTOBUF, "application/json"]


async def test_without_upb_json_is_requested(
    server: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("google.protobuf.internal.api_implementation.Type", lambda: "python")
    protobuf_descriptors.is_available.cache_clear()
    config = ClusterConfig(server=server.url, namespace="default")
    try:
        async with APIClient(config, format="protobuf") as client:
            await client.resource(Pod).list()
    finally:
        protobuf_descriptors.is_available.cache_clear()

    assert accepted(server, "list") == ["application/json"]
    assert any("not upb" in text for text in caplog.messages)


async def test_an_unknown_format_is_rejected() -> None:
    with pytest.raises(InvalidArgument, match="expected 'json' or 'protobuf'"):
        APIClient(format=cast("Any", "cbor"))
