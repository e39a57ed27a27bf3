"""Watched tables, with servers that end each watch at once."""

from __future__ import annotations

import json
from contextlib import aclosing
from urllib.parse import parse_qs, urlsplit

from kubeloop.clients import APIClient
from kubeloop.runtime import Client
from kubeloop.wire.core.v1 import ConfigMap, Pod
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_cli.table_watch import Changed, changes_after, watch_table
from kubeloop_testing import APIServer
from tests.support.clocks import InstantClock
from tests.support.scripted_server import (
    ReceivedRequest,
    ServerConnection,
    chunked,
    client_for,
    reply,
    serving,
)

TABLE = {"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": {"resourceVersion": "5"}}
ROW = {"cells": ["a"], "object": {"metadata": {"name": "a", "resourceVersion": "6"}}}


async def test_a_server_that_ends_each_watch_after_one_event_is_not_stormed() -> None:
    """At most five watches within two seconds, although each of them brings something."""
    clock = InstantClock()
    moments: list[float] = []

    async def answer(asked: ReceivedRequest, line: ServerConnection) -> None:
        if "watch" not in parse_qs(urlsplit(asked.target).query):
            await reply(body=TABLE | {"columnDefinitions": [], "rows": []})(asked, line)
            return
        moments.append(clock.now())
        event = {"type": "MODIFIED", "object": TABLE | {"rows": [ROW]}}
        await chunked(json.dumps(event).encode() + b"\n")(asked, line)

    async with serving() as server:
        server.respond(answer)
        async with client_for(server, clock=clock) as rest:
            pods = APIClient(rest=rest).resource(Pod, namespace="shop")
            async with aclosing(watch_table(rest, pods)) as changes:  # type: ignore[arg-type] # as tables
                seen = 0
                async for change in changes:
                    seen += isinstance(change, Changed)
                    if seen == 20:
                        break

    assert len(moments) == 20
    assert all(later - first >= 2 for first, later in zip(moments, moments[5:], strict=False))


async def test_what_changed_while_a_version_expired_is_reported(
    kube_client: Client, kube_server: APIServer
) -> None:
    maps = kube_client.core_v1.config_maps("default")
    await maps.create(ConfigMap(metadata=ObjectMeta(name="old")))
    resource = kube_client.dynamic.resource("v1", "ConfigMap", namespace="default")
    listed = await resource.list_all()
    await maps.create(ConfigMap(metadata=ObjectMeta(name="new")))
    kube_server.expire_history()

    async with aclosing(changes_after(listed, resource, {})) as changes:
        event, obj = await anext(changes)

    assert (event, obj["metadata"]["name"]) == ("MODIFIED", "new")
