"""The inspector as a whole: in a manager, alone, and in bad company."""

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
from kubeloop.inspector import EVERY, Inspector, running_inspectors
from kubeloop.kit import ManualClock, cancel_and_wait, running
from kubeloop.meta import ObjectKey
from kubeloop.runtime import Client, Context, Manager, Result
from kubeloop.testing import APIServer, Match
from kubeloop.wire.core.v1 import ConfigMap, Secret
from kubeloop.workqueue import WorkQueue
from tests.runtime.conftest import FastClock

from .shop import PASSWORD, a_config, a_secret, asking, json_of, reached, snapshots, text_of, until

DOCS = Path(__file__).parents[2] / "docs" / "inspector.md"


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


async def test_a_managers_parts_are_on_the_page(manager: Manager, client: Client) -> None:
    inspector = Inspector(manager, name="shop")
    manager.add(inspector)
    async with running(manager):
        await manager.wait_ready(timeout=4)
        await until(lambda: inspector.stats().address)
        await client.apply(a_config("web", colour="blue"))
        async with asking(inspector.url) as session, session.get("/stream") as answer:
            async for now in snapshots(answer):
                if any("Painted" in line["text"] for line in now["lines"]):
                    break

    assert now["about"]["name"] == "shop"
    assert now["about"]["state"] == "running"
    assert [mirror["id"] for mirror in now["mirrors"]] == ["configmaps"]
    assert [each["name"] for each in now["controllers"]] == ["painter"]
    assert now["controllers"][0]["succeeded"] > 0
    said = manager.stats().controllers[0]
    assert sum(said.durations.values()) == said.succeeded + said.failed


async def test_a_port_in_use_does_not_end_the_manager(
    manager: Manager, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        inspector = Inspector(manager, port=taken.getsockname()[1])
        manager.add(inspector)
        async with running(manager):
            await manager.wait_ready(timeout=4)
            await until(lambda: "goes on without it" in caplog.text)
            assert manager.stats().state == "running"

    (line,) = [each for each in caplog.records if "inspector" in each.name]
    assert (line.levelno, line.exc_info) == (logging.ERROR, None)


async def test_a_manager_that_has_not_begun_is_shown_when_it_has(manager: Manager) -> None:
    clock = ManualClock()
    async with Inspector(manager, clock=clock) as inspector:
        before = msgspec.json.decode(inspector.snapshot())
        async with running(manager):
            await manager.wait_ready(timeout=4)
            await clock.advance(EVERY)
            after = msgspec.json.decode(inspector.snapshot())

    assert (before["mirrors"], before["about"]["state"]) == ([], "new")
    assert len(after["mirrors"]) == 1


# --- alone


async def test_informers_and_queues_are_shown_without_a_manager(client: Client) -> None:
    async with (
        client.informer(ConfigMap, namespace="default") as configs,
        Inspector(configs, WorkQueue[str](name="keys")) as inspector,
    ):
        now = msgspec.json.decode(inspector.snapshot())

    assert [mirror["kind"] for mirror in now["mirrors"]] == ["ConfigMap"]
    assert [queue["name"] for queue in now["queues"]] == ["keys"]


async def test_informers_that_a_factory_makes_later_are_shown(client: Client) -> None:
    clock = ManualClock()
    async with SharedInformerFactory(client) as factory, Inspector(factory, clock=clock) as page:
        factory.informer(ConfigMap)
        await clock.advance(EVERY)

        now = msgspec.json.decode(page.snapshot())

    assert [mirror["id"] for mirror in now["mirrors"]] == ["configmaps"]


async def test_it_leaves_nothing_behind(client: Client) -> None:
    async with client.informer(ConfigMap, namespace="default") as configs:
        async with Inspector(configs) as inspector:
            assert [each.address for each in running_inspectors()] == [inspector.stats().address]
            assert [each.name for each in configs.stats().handlers] == ["inspector"]

        assert configs.stats().handlers == ()
        assert running_inspectors() == []


async def test_it_lives_once() -> None:
    inspector = Inspector(WorkQueue[str]())
    async with inspector:
        pass

    with pytest.raises(InvalidArgument, match="lives once"):
        await inspector.__aenter__()


async def test_alone_a_port_in_use_is_an_error() -> None:
    async with Inspector(WorkQueue[str]()) as first:
        port = int(first.url.rstrip("/").rpartition(":")[2])
        with pytest.raises(ConfigError, match="inspector: listen at"):
            await Inspector(WorkQueue[str](), port=port).__aenter__()


async def test_cancelled_it_ends(client: Client) -> None:
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
        async with asking(inspector.stats().address) as session, session.get("/search") as answer:
            assert answer.status == 401

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
        await reached(configs, changed.metadata.resource_version)
        await until(lambda: inspector.stats().history.objects)
        asked = {"cache": "configmaps in default", "namespace": "default", "name": "web"}
        found = await json_of(inspector.url, "/object", **asked)
        await client.resource(ConfigMap).delete("web")
        await until(lambda: configs.lister.get("web", namespace="default") is None)
        await until(lambda: configs.stats().handlers[0].waiting == 0)
        gone = await json_of(inspector.url, "/object", **asked)

    assert "colour: red" in found["yaml"]
    (change,) = found["changes"]
    assert ["-", "  colour: blue"] in change["lines"]
    assert ["+", "  colour: red"] in change["lines"]
    assert gone["yaml"] is None
    assert [change["type"] for change in gone["changes"]] == ["Deleted", "Updated"]


@pytest.mark.parametrize("store_as", ["bytes", "objects"])
@pytest.mark.parametrize("form", ["Secret", "metadata", "dict"])
async def test_the_values_of_a_secret_never_leave_the_process(
    client: Client, form: str, store_as: Any
) -> None:
    await client.apply(a_secret("old-secret"))
    if form == "metadata":
        informer: Any = client.informer(Secret, metadata_only=True, store_as=store_as)
    else:
        informer = client.informer(
            Secret, model=dict if form == "dict" else Secret, store_as=store_as
        )
    async with informer, Inspector(informer) as inspector:
        changed = await client.apply(a_secret())
        await reached(informer, changed.metadata.resource_version)
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
        assert "c3dvcmRmaXNo" not in text, "nor in base64"
        assert "old-secret" not in text
        assert "b2xkLXNlY3JldA" not in text


@pytest.mark.parametrize(
    ("path", "query", "said"),
    [
        ("/search", {"cache": "nope"}, "there is no cache 'nope'"),
        ("/search", {"labels": "=="}, "error"),
        ("/object", {"cache": "nope", "name": "web"}, "404"),
        ("/object", {"cache": "configmaps in default", "name": "nope"}, "404"),
    ],
)
async def test_what_is_not_there_is_said_in_one_line(
    client: Client, path: str, query: dict[str, str], said: str
) -> None:
    async with (
        client.informer(ConfigMap, namespace="default") as configs,
        Inspector(configs) as inspector,
    ):
        answer = await text_of(inspector.url, path, **query)

    assert said in answer
    assert "Traceback" not in answer


async def test_a_broken_watch_is_seen_and_its_healing_too(server: APIServer) -> None:
    hasty = FastClock()
    async with (
        Client(server.config, clock=hasty) as client,
        client.informer(ConfigMap, namespace="default") as configs,
        Inspector(configs, clock=hasty) as inspector,
        asking(inspector.url) as session,
        session.get("/stream") as answer,
    ):
        told = snapshots(answer)
        for verb in ("watch", "list"):
            match = Match(verb=verb, resource="configmaps")
            server.faults.fail(500, times=None, match=match)
        server.drop_connections()
        while (broken := await anext(told))["mirrors"][0]["health"] != "broken":
            pass
        server.faults.heal()
        while (healed := await anext(told))["lines"][0]["text"] != "watching again":
            pass

    assert broken["mirrors"][0]["last_error"]
    assert healed["mirrors"][0]["health"] == "good"


# --- the page's own files


@pytest.mark.parametrize("name", ["index.html", "page.css", "page.js", "icon.svg"])
def test_the_page_is_ours_alone_and_small(name: str) -> None:
    text = resources.files("kubeloop.inspector").joinpath("page", name).read_text("utf-8")

    origins = set(re.findall(r"https?://[^\s\"'`)]+", text))
    assert origins <= {"http://www.w3.org/2000/svg"}, "nothing is loaded from elsewhere"
    assert not re.search(r"innerHTML|insertAdjacentHTML|document\.write|\beval\(", text)
    assert len(text) < 48_000


async def test_it_listens_on_loopback_and_needs_no_token_there() -> None:
    async with Inspector(WorkQueue[str]()) as inspector:
        assert inspector.url.startswith("http://127.0.0.1:")
        assert "token" not in inspector.url
        async with asking(inspector.stats().address) as session, session.get("/search") as answer:
            assert answer.status == 200
