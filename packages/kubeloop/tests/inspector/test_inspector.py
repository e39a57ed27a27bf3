"""The inspector: in a manager, alone, and with failures."""

from __future__ import annotations

import asyncio
import logging
import re
import socket
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kubeloop.cache import SharedInformerFactory
from kubeloop.errors import ConfigError, InvalidArgument
from kubeloop.inspector import Inspector, running_inspectors
from kubeloop.inspector.inspector import INTERVAL
from kubeloop.kit import ManualClock, cancel_and_wait, running
from kubeloop.meta import ObjectKey
from kubeloop.runtime import Client, Context, Manager, Result
from kubeloop.wire.core.v1 import ConfigMap, Secret
from kubeloop.workqueue import WorkQueue
from kubeloop_testing import APIServer, Match
from tests.support.clocks import FastClock

from .pages import (
    PASSWORD,
    a_config,
    a_secret,
    json_of,
    open_session,
    snapshots,
    text_of,
    until,
    wait_for_version,
)

DOCS = Path(__file__).parents[4] / "docs" / "how-to" / "inspector.md"


@pytest.fixture
def manager(server: APIServer) -> Manager:
    made = Manager(server.config, signals=False, tune_gc=False, logs=False)

    @made.controller(ConfigMap, name="painter")
    async def reconcile(key: ObjectKey, ctx: Context) -> Result | None:
        config = ctx.get(ConfigMap, key)
        if config is not None and config.data and "colour" in config.data:
            ctx.recorder.event(config, "Normal", "Painted", "painted %s", config.data["colour"])
        return None

    return made


# --- in a manager


async def test_the_parts_of_a_manager_are_on_the_page(manager: Manager, client: Client) -> None:
    inspector = Inspector(manager, name="shop")
    manager.add(inspector)
    async with running(manager):
        await manager.wait_ready(timeout=4)
        await until(lambda: inspector.stats().address)
        await client.apply(a_config("web", colour="blue"))
        async with open_session(inspector.url) as session, session.get("/stream") as response:
            async for now in snapshots(response):
                if any("Painted" in entry["text"] for entry in now["journal"]):
                    break

    assert now["process"]["name"] == "shop"
    assert now["process"]["state"] == "running"
    assert [each["id"] for each in now["informers"]] == ["configmaps"]
    assert [each["name"] for each in now["controllers"]] == ["painter"]
    assert now["controllers"][0]["succeeded"] > 0
    stats = manager.stats().controllers[0]
    assert sum(stats.durations.values()) == stats.succeeded + stats.failed


async def test_a_port_in_use_does_not_stop_the_manager(
    manager: Manager, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        inspector = Inspector(manager, port=taken.getsockname()[1])
        manager.add(inspector)
        async with running(manager):
            await manager.wait_ready(timeout=4)
            await until(lambda: "continues without it" in caplog.text)
            assert manager.stats().state == "running"

    (line,) = [each for each in caplog.records if "inspector" in each.name]
    assert (line.levelno, line.exc_info) == (logging.ERROR, None)


async def test_a_manager_is_shown_after_it_has_started(manager: Manager) -> None:
    clock = ManualClock()
    async with Inspector(manager, clock=clock) as inspector:
        before = msgspec.json.decode(inspector.snapshot())
        async with running(manager):
            await manager.wait_ready(timeout=4)
            await clock.advance(INTERVAL)
            after = msgspec.json.decode(inspector.snapshot())

    assert (before["informers"], before["process"]["state"]) == ([], "new")
    assert len(after["informers"]) == 1


# --- alone


async def test_informers_and_queues_are_shown_without_a_manager(client: Client) -> None:
    async with (
        client.informer(ConfigMap, namespace="default") as configs,
        Inspector(configs, WorkQueue[str](name="keys")) as inspector,
    ):
        now = msgspec.json.decode(inspector.snapshot())

    assert [each["kind"] for each in now["informers"]] == ["ConfigMap"]
    assert [queue["name"] for queue in now["queues"]] == ["keys"]


async def test_informers_created_later_are_shown(client: Client) -> None:
    clock = ManualClock()
    async with SharedInformerFactory(client) as factory, Inspector(factory, clock=clock) as page:
        factory.informer(ConfigMap)
        await clock.advance(INTERVAL)

        now = msgspec.json.decode(page.snapshot())

    assert [each["id"] for each in now["informers"]] == ["configmaps"]


async def test_it_leaves_nothing_behind(client: Client) -> None:
    async with client.informer(ConfigMap, namespace="default") as configs:
        async with Inspector(configs) as inspector:
            assert [each.address for each in running_inspectors()] == [inspector.stats().address]
            assert [each.name for each in configs.stats().handlers] == ["inspector"]

        assert configs.stats().handlers == ()
        assert running_inspectors() == []


async def test_it_can_be_started_once() -> None:
    inspector = Inspector(WorkQueue[str]())
    async with inspector:
        pass

    with pytest.raises(InvalidArgument, match="started before"):
        await inspector.__aenter__()


async def test_alone_a_port_in_use_is_an_error() -> None:
    async with Inspector(WorkQueue[str]()) as first:
        port = int(first.url.rstrip("/").rpartition(":")[2])
        with pytest.raises(ConfigError, match="inspector: listen on"):
            await Inspector(WorkQueue[str](), port=port).__aenter__()


async def test_cancelling_it_stops_it(client: Client) -> None:
    inspector = Inspector(WorkQueue[str]())
    task = asyncio.create_task(inspector.run())
    await until(lambda: inspector.stats().address)

    await cancel_and_wait(task)

    assert running_inspectors() == []


async def test_beyond_loopback_a_token_is_created_and_never_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    async with Inspector(WorkQueue[str](), host="0.0.0.0") as inspector:
        token = inspector.url.partition("?token=")[2]
        async with (
            open_session(inspector.stats().address) as session,
            session.get("/search") as response,
        ):
            assert response.status == 401

    assert len(token) > 20
    assert token not in caplog.text
    assert token not in repr(inspector)
    assert token not in repr(inspector.stats())


# --- objects


async def test_an_object_is_shown_with_its_changes(client: Client) -> None:
    await client.apply(a_config("web", colour="blue"))
    async with (
        client.informer(ConfigMap, namespace="default") as configs,
        Inspector(configs) as inspector,
    ):
        changed = await client.apply(a_config("web", colour="red"))
        await wait_for_version(configs, changed.metadata.resource_version)
        await until(lambda: inspector.stats().history.objects)
        parameters = {"cache": "configmaps in default", "namespace": "default", "name": "web"}
        found = await json_of(inspector.url, "/object", **parameters)
        await client.resource(ConfigMap).delete("web")
        await until(lambda: configs.lister.get("web", namespace="default") is None)
        await until(lambda: configs.stats().handlers[0].backlog == 0)
        gone = await json_of(inspector.url, "/object", **parameters)

    assert "colour: red" in found["yaml"]
    (change,) = found["changes"]
    assert ["-", "  colour: blue"] in change["lines"]
    assert ["+", "  colour: red"] in change["lines"]
    assert gone["yaml"] is None
    assert [change["type"] for change in gone["changes"]] == ["Deleted", "Updated"]


@pytest.mark.parametrize("store_as", ["bytes", "objects"])
@pytest.mark.parametrize("model", ["Secret", "metadata", "dict"])
async def test_the_values_of_a_secret_never_leave_the_process(
    client: Client, model: str, store_as: Any
) -> None:
    await client.apply(a_secret("old-secret"))
    if model == "metadata":
        informer: Any = client.informer(Secret, metadata_only=True, store_as=store_as)
    else:
        informer = client.informer(
            Secret, model=dict if model == "dict" else Secret, store_as=store_as
        )
    async with informer, Inspector(informer) as inspector:
        changed = await client.apply(a_secret())
        await wait_for_version(informer, changed.metadata.resource_version)
        await until(lambda: inspector.stats().history.objects)
        page = await text_of(
            inspector.url, "/object", cache="secrets", namespace="default", name="database"
        )
        rows = await text_of(inspector.url, "/search")
        snapshot = inspector.snapshot().decode()

    assert '"changes":[{' in page
    assert "hidden" in page
    for text in (page, rows, snapshot):
        assert PASSWORD not in text
        assert "c3dvcmRmaXNo" not in text, "also in base64"
        assert "old-secret" not in text
        assert "b2xkLXNlY3JldA" not in text


@pytest.mark.parametrize(
    ("path", "query", "text"),
    [
        ("/search", {"cache": "nope"}, "no cache 'nope'"),
        ("/search", {"labels": "=="}, "error"),
        ("/object", {"cache": "nope", "name": "web"}, "404"),
        ("/object", {"cache": "configmaps in default", "name": "nope"}, "404"),
    ],
)
async def test_a_missing_cache_or_object_is_reported(
    client: Client, path: str, query: dict[str, str], text: str
) -> None:
    async with (
        client.informer(ConfigMap, namespace="default") as configs,
        Inspector(configs) as inspector,
    ):
        body = await text_of(inspector.url, path, **query)

    assert text in body
    assert "Traceback" not in body


async def test_a_failing_watch_and_its_recovery_are_shown(server: APIServer) -> None:
    clock = FastClock()
    async with (
        Client(server.config, clock=clock) as client,
        client.informer(ConfigMap, namespace="default") as configs,
        Inspector(configs, clock=clock) as inspector,
        open_session(inspector.url) as session,
        session.get("/stream") as response,
    ):
        stream = snapshots(response)
        for verb in ("watch", "list"):
            match = Match(verb=verb, resource="configmaps")
            server.faults.fail(500, times=None, match=match)
        server.drop_connections()
        while (failing := await anext(stream))["informers"][0]["health"] != "failing":
            pass
        server.faults.heal()
        while (recovered := await anext(stream))["journal"][0]["text"] != "watching again":
            pass

    assert failing["informers"][0]["last_error"]
    assert recovered["informers"][0]["health"] == "healthy"


# --- the files of the page


@pytest.mark.parametrize("name", ["index.html", "page.css", "page.js", "icon.svg"])
def test_the_page_loads_nothing_else_and_is_small(name: str) -> None:
    text = resources.files("kubeloop.inspector").joinpath("page", name).read_text("utf-8")

    origins = set(re.findall(r"https?://[^\s\"'`)]+", text))
    assert origins <= {"http://www.w3.org/2000/svg"}, "nothing is loaded from other hosts"
    assert not re.search(r"innerHTML|insertAdjacentHTML|document\.write|\beval\(", text)
    assert len(text) < 48_000


async def test_it_listens_on_loopback_and_needs_no_token_there() -> None:
    async with Inspector(WorkQueue[str]()) as inspector:
        assert inspector.url.startswith("http://127.0.0.1:")
        assert "token" not in inspector.url
        async with (
            open_session(inspector.stats().address) as session,
            session.get("/search") as response,
        ):
            assert response.status == 200
