"""Requests to the embedded API server, end to end."""

from __future__ import annotations

import json

import pytest

from kubeloop.config import ClusterConfig
from kubeloop.errors import AlreadyExists, Conflict, NotFound
from kubeloop.rest import (
    MERGE_PATCH,
    RESTClient,
    ResumingWatch,
    Watch,
    path_request,
    query_options,
    resource_request,
)
from kubeloop.wire import resource_of
from kubeloop.wire.core.v1 import ConfigMap
from kubeloop_testing.server.service import Service

MAPS = resource_of(ConfigMap)


def config_map(name: str, **more: object) -> bytes:
    head = {"apiVersion": "v1", "kind": "ConfigMap"}
    return json.dumps(head | {"metadata": {"name": name} | more, "data": {"a": "b"}}).encode()


async def test_objects_are_made_read_changed_and_deleted() -> None:
    """V-8, REST-25: and a 201 means that the object is new."""
    async with Service() as server, RESTClient(ClusterConfig(server=server.url)) as rest:
        create = resource_request("create", MAPS, namespace="default", body=config_map("web"))
        made = await rest.send(create)
        assert made.created
        with pytest.raises(AlreadyExists):
            await rest.send(create)
        patch = resource_request(
            "patch",
            MAPS,
            namespace="default",
            name="web",
            body=b'{"data":{"c":"d"}}',
            content_type=MERGE_PATCH,
        )
        changed = (await rest.send(patch)).decode(ConfigMap)
        assert changed.data == {"a": "b", "c": "d"}
        with pytest.raises(Conflict):
            await rest.send(
                resource_request(
                    "update",
                    MAPS,
                    namespace="default",
                    name="web",
                    body=config_map("web", resourceVersion="1"),
                )
            )
        delete = resource_request("delete", MAPS, namespace="default", name="web")
        await rest.send(delete)
        with pytest.raises(NotFound):
            await rest.send(delete)


async def test_a_watch_follows_what_a_list_began() -> None:
    """WTC-1: list, then resume from its version."""
    async with Service() as server, RESTClient(ClusterConfig(server=server.url)) as rest:
        for n in range(5):
            await rest.send(
                resource_request("create", MAPS, namespace="default", body=config_map(f"m{n}"))
            )
        request = resource_request("list", MAPS, namespace="default")
        async with rest.items(request) as items:
            names = [json.loads(item)["metadata"]["name"] async for item in items]
            version = items.rest().version

        def since(at: str) -> Watch:
            options = query_options(watch=True, resource_version=at, allow_watch_bookmarks=True)
            return rest.watch(resource_request("watch", MAPS, namespace="default", params=options))

        await rest.send(
            resource_request("create", MAPS, namespace="default", body=config_map("late"))
        )
        async with ResumingWatch(since, version) as watch:
            event = await anext(watch)

    assert names == [f"m{n}" for n in range(5)]
    assert (event.type, json.loads(bytes(event.object))["metadata"]["name"]) == ("ADDED", "late")


async def test_tls_and_a_token_are_all_it_takes() -> None:
    async with Service(tls=True, tokens={}) as server:
        config = ClusterConfig(server=server.url, ca=server.ca or b"", token=server.token)
        async with RESTClient(config) as rest:
            answer = await rest.send(path_request("GET", "/version"))

    assert "gitVersion" in answer.decode(dict)
