"""How a manager ends: a part that fails, a word to stop, a signal, a cancellation."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable

import pytest

from kubeloop.kit import ManualClock, running
from kubeloop.machinery import ObjectKey
from kubeloop.runtime import Client, Context, Manager, PartEnded
from kubeloop.wire.core.v1 import ConfigMap, Event

from .sites import a_config, own_tasks, until

Managed = Callable[..., Manager]


class Part:
    """Something of a user's; it ends or fails when it is told to."""

    def __init__(self) -> None:
        self.fate: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def run(self) -> None:
        await self.fate


async def test_a_part_that_fails_ends_the_manager_with_its_cause(managed: Managed) -> None:
    manager, part = managed(), Part()
    manager.add(part)
    ended = asyncio.create_task(manager.run())
    await until(lambda: manager.stats().state == "running")

    part.fate.set_exception(OSError("the disk is full"))

    with pytest.raises(OSError, match="the disk is full"):
        await ended
    assert manager.stats().state == "ended"


async def test_a_part_that_is_cancelled_from_inside_has_failed(managed: Managed) -> None:
    class Broken:
        async def run(self) -> None:
            inner = asyncio.get_running_loop().create_future()
            inner.cancel()
            await inner

    manager = managed()
    manager.add(Broken())

    with pytest.raises(PartEnded, match="was cancelled from inside"):
        await manager.run()


async def test_a_part_may_come_to_its_end(managed: Managed) -> None:
    manager, part = managed(), Part()
    manager.add(part, leader_only=True)
    async with running(manager):
        await until(lambda: manager.stats().state == "running")
        part.fate.set_result(None)
        await asyncio.sleep(0.01)

        assert manager.stats().state == "running"


async def test_stopping_finishes_what_is_in_work(managed: Managed, client: Client) -> None:
    manager = managed()
    begun, finish, finished = asyncio.Event(), asyncio.Event(), []

    @manager.controller(ConfigMap)
    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        begun.set()
        await finish.wait()
        # The client and the recorder are still there.
        await ctx.client.resource(ConfigMap).patch(key.name, {"data": {"a": "b"}}, type="merge")
        ctx.recorder.event(ctx.get(ConfigMap, key), "Normal", "Finished", "at last")  # type: ignore[arg-type] # it is there
        finished.append(key)

    ended = asyncio.create_task(manager.run())
    await client.resource(ConfigMap).create(a_config("one"))
    await begun.wait()
    manager.stop()
    await until(lambda: manager.stats().state == "stopping")
    await client.resource(ConfigMap).create(a_config("two"))
    finish.set()
    await ended

    assert [key.name for key in finished] == ["one"]
    assert (await client.resource(ConfigMap).get("one")).data == {"a": "b"}
    assert [event.reason for event in await client.resource(Event).list()] == ["Finished"]


async def test_work_that_outlasts_the_grace_is_cancelled(
    managed: Managed, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    manager = managed(grace=0.05)
    begun = asyncio.Event()

    @manager.controller(ConfigMap)
    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        begun.set()
        await asyncio.Event().wait()

    ended = asyncio.create_task(manager.run())
    await client.resource(ConfigMap).create(a_config("one"))
    await begun.wait()
    manager.stop()
    await ended

    assert "ending: cancelled after 0.05 s: default/one" in caplog.text


async def test_a_cancelled_manager_ends_at_once_and_leaves_nothing(
    managed: Managed, client: Client
) -> None:
    """X-7: without waiting for any time to pass, with no task left and work cancelled."""
    before = own_tasks()
    manager = managed(leader_election="sites", health="127.0.0.1:0", clock=ManualClock())
    begun = asyncio.Event()

    @manager.controller(ConfigMap)
    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        begun.set()
        await asyncio.Event().wait()

    ended = asyncio.create_task(manager.run())
    await client.resource(ConfigMap).create(a_config("one"))
    await begun.wait()
    ended.cancel()
    await asyncio.wait([ended])

    assert ended.cancelled()
    assert own_tasks() == before


async def test_a_signal_ends_it_in_order(managed: Managed) -> None:
    before = signal.getsignal(signal.SIGTERM)
    manager = managed(signals=True)
    ended = asyncio.create_task(manager.run())
    await until(lambda: manager.stats().state == "running")

    signal.raise_signal(signal.SIGTERM)

    await ended
    assert signal.getsignal(signal.SIGTERM) == before


async def test_a_second_signal_does_not_wait(managed: Managed, client: Client) -> None:
    manager = managed(signals=True)
    begun = asyncio.Event()

    @manager.controller(ConfigMap)
    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        begun.set()
        await asyncio.Event().wait()

    ended = asyncio.create_task(manager.run())
    await client.resource(ConfigMap).create(a_config("one"))
    await begun.wait()
    signal.raise_signal(signal.SIGTERM)
    await until(lambda: manager.stats().state == "stopping")
    signal.raise_signal(signal.SIGTERM)

    with pytest.raises(asyncio.CancelledError):
        await ended
