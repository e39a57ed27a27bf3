"""Objects of every built-in kind are equal, whether they were read as JSON or as protobuf."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from kubeloop.clients import ALL_NAMESPACES, APIClient
from kubeloop.errors import NotFound
from kubeloop.wire import class_for, resources
from kubeloop.wire.core.v1 import ConfigMap, Namespace
from kubeloop.wire.protobuf import from_protobuf
from kubeloop.wire.protobuf_codec import decode_envelope, message_reader, split_protobuf_list
from tests.conformance.cases.zero_values import CASES
from tests.conformance.conftest import ADMIN
from tests.conformance.raw_client import RawClient
from tests.conformance.samples import config_map
from tests.conformance.servers import Server
from tests.conformance.widgets import WIDGETS, CustomKind

pytestmark = pytest.mark.one_format

PROTOBUF = "application/vnd.kubernetes.protobuf"
# Their conditions are made for each request.
_VOLATILE = {"ComponentStatus"}


@pytest_asyncio.fixture(loop_scope="session")
async def by_protobuf(server: Server, api: RawClient) -> AsyncIterator[APIClient]:
    """As `client`, which reads JSON."""
    config = server.config(*ADMIN).replace(namespace=api.namespace)
    async with APIClient(config, format="protobuf") as connected:
        yield connected


@pytest.mark.parametrize("name", sorted(CASES))
async def test_objects_of_both_formats_are_equal(api: RawClient, name: str) -> None:
    """A sparse object of each built-in kind, with its status, in every version that is served."""
    for method, path, body, *headers in CASES[name]:
        if method == "GET" and "?" not in path:
            await _compare(api, path)
        elif method != "GET":
            raw = body if isinstance(body, str) else msgspec.json.encode(body).decode()
            text = raw.replace("{ns}", api.namespace).encode() if body is not None else None
            await api(method, path, text, headers=dict(*headers))


async def _compare(api: RawClient, path: str) -> None:
    """Read the object or the list at a path in both formats."""
    json = await api("GET", path)
    protobuf = await api("GET", path, headers={"Accept": PROTOBUF})
    assert json.code == protobuf.code
    assert protobuf.headers["Content-Type"] == PROTOBUF
    if json.code != 200:
        assert from_protobuf(protobuf.raw)["message"] == json.message
        return
    group, _, version = json.body["apiVersion"].rpartition("/")
    cls = class_for(group, version, json.body["kind"].removesuffix("List"))
    assert cls is not None
    if "items" not in json.body:
        assert decode_envelope(cls, protobuf.raw) == cls.from_json(json.raw)
        return
    found = split_protobuf_list(protobuf.raw)
    items = [message_reader(cls).decode(bytes(item)) for item in found.items or ()]
    assert items == [cls.from_dict(item) for item in json.items]


async def test_every_list_is_equal_in_both_formats(
    client: APIClient, by_protobuf: APIClient
) -> None:
    """What a new cluster holds: roles, flow schemas, priority classes and others."""
    compared = 0
    for cls in _listed_kinds():
        try:
            # Something may change between the two reads.
            for _ in range(3):
                one = await by_protobuf.resource(cls, namespace=ALL_NAMESPACES).list()
                other = await client.resource(cls, namespace=ALL_NAMESPACES).list()
                if one.items == other.items:
                    break
        except NotFound:
            continue  # a version that is not served by default
        assert one.items == other.items, cls
        compared += len(one.items)

    assert compared > 50
    assert by_protobuf.stats().json_only == ()


def _listed_kinds() -> list[Any]:
    found = [
        class_for(info.group, info.version, info.kind)
        for info in resources()
        if "list" in info.verbs and info.kind not in _VOLATILE
    ]
    return [cls for cls in found if cls is not None]


async def test_an_object_is_read_listed_and_watched_as_protobuf(
    api: RawClient, by_protobuf: APIClient
) -> None:
    maps = by_protobuf.resource(ConfigMap)
    version = (await maps.list()).version
    for name in ("a", "b", "c"):
        await api.create(api.at("configmaps"), config_map(name, color="blue"))

    events = []
    async with contextlib.aclosing(maps.watch(resource_version=version)) as watch:
        async for event in watch:
            if event.object.metadata.name in {"a", "b", "c"}:
                events.append(event)
            if len(events) == 3:
                break

    assert [event.type for event in events] == ["ADDED"] * 3
    assert await maps.get("b") == events[1].object
    wanted = [event.object.metadata.name for event in events]
    each = [found.metadata.name async for found in maps.each(page_size=2)]
    assert [name for name in each if name in wanted] == wanted
    assert [found.metadata.name for found in (await maps.list_all(page_size=2))] == each


async def test_metadata_is_equal_in_both_formats(
    client: APIClient, by_protobuf: APIClient, api: RawClient
) -> None:
    one = await by_protobuf.metadata(Namespace).get(api.namespace)

    assert one == await client.metadata(Namespace).get(api.namespace)
    assert one.metadata.labels["conformance"] == "yes"


@pytest.mark.parametrize("accept", [PROTOBUF, f"{PROTOBUF},application/json"])
async def test_an_error_is_protobuf_as_well(api: RawClient, accept: str) -> None:
    reply = await api("GET", api.at("configmaps", "missing"), headers={"Accept": accept})

    status = from_protobuf(reply.raw)
    assert (reply.code, reply.headers["Content-Type"]) == (404, PROTOBUF)
    assert (status["kind"], status["reason"], status["code"]) == ("Status", "NotFound", 404)
    assert status["details"] == {"name": "missing", "kind": "configmaps"}


async def test_an_error_of_protobuf_is_the_error_of_json(by_protobuf: APIClient) -> None:
    with pytest.raises(NotFound, match='configmaps "missing" not found'):
        await by_protobuf.resource(ConfigMap).get("missing")


async def test_metadata_of_a_custom_object_is_protobuf_but_the_object_is_not(
    api: RawClient, widgets: CustomKind
) -> None:
    await api.create(
        api.at(WIDGETS), {"apiVersion": "conformance.example.com/v1", "kind": "Widget",
                          "metadata": {"name": "w"}, "spec": {"size": 1}}
    )  # fmt: skip
    partial = f"{PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

    metadata = await api("GET", api.at(WIDGETS, "w"), headers={"Accept": partial})
    whole = await api("GET", api.at(WIDGETS, "w"), headers={"Accept": PROTOBUF})

    assert from_protobuf(metadata.raw)["metadata"]["name"] == "w"
    assert whole.code == 406
