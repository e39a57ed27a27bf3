"""Watching and waiting, on an embedded server over HTTP."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from kubeloop.clients import APIClient, WaitTimeout, WatchOptions
from kubeloop.config import ClusterConfig
from kubeloop.errors import Expired, InvalidArgument
from kubeloop.kit import ManualClock
from kubeloop.wire.core.v1 import ConfigMap, Pod
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_testing.server.faults import Match
from kubeloop_testing.server.service import Service

from .conftest import a_pod, until_watched


def a_map(name: str, **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, labels={"mine": "yes"}), data=data)


async def test_changes_come_typed_and_in_order(client: APIClient) -> None:
    """TYP-2, DYN-10: path and parameters: create POST collection."""
    maps = client.resource(ConfigMap)
    page = await maps.list()

    async with aclosing(maps.watch(resource_version=page.version, selector="mine")) as events:
        await maps.create(a_map("a"))
        await maps.patch("a", {"data": {"k": "v"}}, type="merge")
        await maps.delete("a")
        seen = [await anext(events) for _ in range(3)]

    assert [event.type for event in seen] == ["ADDED", "MODIFIED", "DELETED"]
    assert seen[1].object.data == {"k": "v"}
    assert isinstance(seen[0].object, ConfigMap)


async def test_without_a_version_what_is_there_comes_first(client: APIClient) -> None:
    maps = client.resource(ConfigMap)
    await maps.create(a_map("a"))

    async with aclosing(maps.watch(selector="mine")) as events:
        first = await anext(events)
        await maps.create(a_map("b"))
        second = await anext(events)

    assert [(each.type, each.object.metadata.name) for each in (first, second)] == [
        ("ADDED", "a"),
        ("ADDED", "b"),
    ]


async def test_a_broken_stream_is_resumed_without_loss(server: Service, hasty: APIClient) -> None:
    """WTC-1, WTC-C1: RetryWatcher(initialRV, watcher): initial RV "" or "0" is an error."""
    maps = hasty.resource(ConfigMap)
    page = await maps.list()

    async with aclosing(maps.watch(resource_version=page.version, selector="mine")) as events:
        await maps.create(a_map("a"))
        assert (await anext(events)).object.metadata.name == "a"
        server.drop_connections()
        await maps.create(a_map("b"))
        assert (await anext(events)).object.metadata.name == "b"


async def test_an_expired_version_is_an_error(server: Service, client: APIClient) -> None:
    """WTC-3: list, and watch from there."""
    maps = client.resource(ConfigMap)
    page = await maps.list()
    await maps.create(a_map("a"))
    server.expire_history()

    with pytest.raises(Expired):
        await anext(maps.watch(resource_version=page.version))


async def test_a_version_that_names_no_state_is_rejected(client: APIClient) -> None:
    """WTC-1: RetryWatcher(initialRV, watcher): initial RV "" or "0" is an error."""
    for since in ("", "0"):
        with pytest.raises(InvalidArgument):
            await anext(client.resource(ConfigMap).watch(resource_version=since))


async def test_a_watch_of_dicts_and_of_metadata(client: APIClient) -> None:
    """DYN-10, DYN-11: watch events carry unstructured objects."""
    page = await client.resource(ConfigMap).list()
    await client.resource(ConfigMap).create(a_map("a", k="v"))

    plain = await anext(client.resource("v1", "ConfigMap").watch(resource_version=page.version))
    partial = await anext(client.metadata(ConfigMap).watch(resource_version=page.version))

    assert plain.object["data"] == {"k": "v"}
    assert plain.object["kind"] == "ConfigMap"
    assert partial.object.metadata.name == "a"


async def test_the_raw_form_is_bytes(client: APIClient) -> None:
    maps = client.resource(ConfigMap)
    await maps.create(a_map("a"))

    page = await maps.raw.list()
    async with await maps.raw.watch(WatchOptions(initial_events=True, selector="mine")) as watch:
        event = await anext(watch)
    async with await maps.raw.items() as items:
        texts = [item async for item in items]

    assert b'"a"' in bytes(event.object)
    assert len(texts) == len(page.items or [])


async def test_being_cancelled_ends_a_watch_at_once(server: Service, client: APIClient) -> None:
    """X-7: a cancelled call leaves nothing open."""
    page = await client.resource(ConfigMap).list()
    task = asyncio.ensure_future(
        anext(client.resource(ConfigMap).watch(resource_version=page.version))
    )
    await until_watched(server)

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


async def test_until_each_condition_was_met(client: APIClient) -> None:
    """WTC-7: until = RetryWatcher + UntilWithoutRetry."""
    maps = client.resource(ConfigMap)
    page = await maps.list()
    await maps.create(a_map("a"))
    await maps.delete("a")

    found = await maps.until(
        lambda event: event.type == "ADDED",
        lambda event: event.type == "DELETED",
        resource_version=page.version,
        selector="mine",
    )

    assert found is not None
    assert found.object.metadata.name == "a"


async def test_waiting_for_a_condition_a_path_a_function_and_an_end(client: APIClient) -> None:
    """WTC-7: the object may not exist yet."""
    pods = client.resource(Pod)

    async def happen() -> None:
        await pods.create(a_pod())
        status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
        await pods.status.patch("web", {"status": status}, type="merge")

    task = asyncio.ensure_future(happen())
    ready = await pods.wait_for("web", condition="Ready", timeout=4)
    await task

    assert ready.status.phase == "Running"
    assert (await pods.wait_for("web", jsonpath="{.status.phase}=Running")).metadata.uid
    running = await pods.wait_for("web", function=lambda pod: pod.status.phase == "Running")
    assert running.metadata.name == "web"
    deleting = asyncio.ensure_future(pods.delete("web", grace_period=0))
    await pods.wait_for("web", deleted=True, timeout=4)
    await deleting


@pytest.mark.parametrize(
    ("name", "seen"), [("web", r"phase\} is Pending"), ("gone", "no such object")]
)
async def test_waiting_in_vain_says_what_was_seen_last(
    server: Service, client: APIClient, name: str, seen: str
) -> None:
    await client.resource(Pod).create(a_pod())
    clock = ManualClock()

    async with APIClient(client.config, clock=clock) as patient:
        pods = patient.resource(Pod)
        waiting = asyncio.create_task(
            pods.wait_for(name, jsonpath="{.status.phase}=Running", timeout=60)
        )
        await until_watched(server)
        await clock.advance(60)
        with pytest.raises(
            WaitTimeout, match=f"pods/{name}: not met within 60 s.*{seen}"
        ) as caught:
            await waiting

    assert isinstance(caught.value, TimeoutError)


@pytest.mark.parametrize(
    ("kind", "among"),
    [(("v1", "Pod"), "pods"), (("example.com/v1", "Website"), "an unresolved kind")],
)
async def test_a_server_that_does_not_respond_is_not_taken_for_one_without_the_object(
    server: Service, kind: tuple[str, str], among: str
) -> None:
    clock = ManualClock()
    server.faults.hold()

    async with APIClient(ClusterConfig(server=server.url), clock=clock) as client:
        waiting = asyncio.create_task(
            client.resource(*kind).wait_for("web", condition="Ready", timeout=10)
        )
        while not server.faults.requests:
            await asyncio.sleep(0)
        await clock.advance(10)

        with pytest.raises(WaitTimeout, match=f"web \\({among}.*the server did not respond"):
            await waiting


async def test_without_time_an_object_is_looked_at_once(client: APIClient) -> None:
    pods = client.resource(Pod)
    made = await pods.create(a_pod())

    with pytest.raises(WaitTimeout, match=r"phase\} is Pending"):
        await pods.wait_for("web", jsonpath="{.status.phase}=Running", timeout=0)
    there = await pods.wait_for("web", jsonpath="{.status.phase}=Pending", timeout=0)
    await pods.wait_for("gone", deleted=True, timeout=0)

    assert there.metadata.uid == made.metadata.uid


async def test_waiting_continues_after_an_expired_version(
    server: Service, hasty: APIClient
) -> None:
    """WTC-7, WTC-C5: the object was deleted and created again in a watch gap."""
    maps = hasty.resource(ConfigMap)
    await maps.create(a_map("a"))
    waiting = asyncio.ensure_future(maps.wait_for("a", deleted=True, timeout=4))
    await until_watched(server)

    release = server.faults.hold(Match(verb="watch"))
    server.drop_connections()
    await maps.delete("a")
    await maps.create(a_map("a"))
    server.expire_history()
    release()

    await waiting
