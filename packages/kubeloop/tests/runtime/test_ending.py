"""How a manager ends: a runnable that fails, stop(), a signal, a cancellation."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from collections.abc import AsyncIterator, Callable

import aiohttp
import pytest

from kubeloop.kit import ManualClock, SystemClock, running
from kubeloop.meta import ObjectKey
from kubeloop.runtime import (
    AdmissionRequest,
    Client,
    Context,
    Manager,
    RunnableEnded,
    ShutdownTimeout,
    WebhookServer,
)
from kubeloop.wire.coordination.v1 import Lease
from kubeloop.wire.core.v1 import ConfigMap, Event
from kubeloop_testing import APIServer, Match

from .websites import a_config, own_tasks, until

Managed = Callable[..., Manager]


class FakeRunnable:
    """A runnable of a user; the test decides when it ends or fails."""

    def __init__(self) -> None:
        self.outcome: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def run(self) -> None:
        await self.outcome


async def test_a_runnable_that_fails_ends_the_manager_with_its_error(managed: Managed) -> None:
    manager, runnable = managed(), FakeRunnable()
    manager.add(runnable)
    ended = asyncio.create_task(manager.run())
    await until(lambda: manager.stats().state == "running")

    runnable.outcome.set_exception(OSError("the disk is full"))

    with pytest.raises(OSError, match="the disk is full"):
        await ended
    assert manager.stats().state == "ended"


async def test_a_runnable_that_is_cancelled_from_inside_has_failed(managed: Managed) -> None:
    class Broken:
        async def run(self) -> None:
            inner = asyncio.get_running_loop().create_future()
            inner.cancel()
            await inner

    manager = managed()
    manager.add(Broken())

    with pytest.raises(RunnableEnded, match="was cancelled from inside"):
        await manager.run()


async def test_a_runnable_may_end(managed: Managed) -> None:
    manager, runnable = managed(), FakeRunnable()
    manager.add(runnable, leader_only=True)
    async with running(manager):
        await until(lambda: manager.stats().state == "running")
        runnable.outcome.set_result(None)
        await asyncio.sleep(0.01)

        assert manager.stats().state == "running"


async def test_stopping_finishes_running_reconciles(managed: Managed, client: Client) -> None:
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

    assert "stopping: cancelled after 0.05 s: default/one" in caplog.text


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


@pytest.mark.parametrize("turns", range(0, 45, 3))
async def test_work_that_ends_when_it_is_cancelled_is_not_blamed_for_an_early_second_signal(
    managed: Managed, turns: int
) -> None:
    """`timeout` and some supervisors send two signals within milliseconds."""
    manager, before = managed(signals=True), signal.getsignal(signal.SIGTERM)

    @manager.controller(ConfigMap)
    async def reconcile(key: ObjectKey, ctx: Context) -> None: ...

    ended = asyncio.create_task(manager.run())
    await manager.wait_ready()

    signal.raise_signal(signal.SIGTERM)
    for _ in range(turns):
        await asyncio.sleep(0)
    if signal.getsignal(signal.SIGTERM) != before:  # it has not ended yet
        signal.raise_signal(signal.SIGTERM)

    with contextlib.suppress(asyncio.CancelledError):
        await ended  # raises no ShutdownTimeout
    assert manager.stats().state == "ended"


# --- work that ignores cancellation


class Stubborn:
    """Waits, and swallows every cancellation until `let_go()`."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.cancelled = 0
        self._done = False
        self._tasks: set[asyncio.Task[object]] = set()

    async def run(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.begun.set()
        while not self._done:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.cancelled += 1

    async def let_go(self) -> None:
        self._done = True
        while left := [task for task in self._tasks if not task.done()]:
            for task in left:
                task.cancel()
            await asyncio.sleep(0)
        await ManualClock().settle()

    def __repr__(self) -> str:
        return "a stubborn runnable"


@pytest.fixture
async def stubborn() -> AsyncIterator[Stubborn]:
    made = Stubborn()
    yield made
    await made.let_go()


def employ(stubborn: Stubborn, manager: Manager, how: str) -> None:
    """Have a manager run it, in one of the ways that there are."""
    if how == "runnable":
        manager.add(stubborn)
    elif how == "leader's runnable":
        manager.add(stubborn, leader_only=True)
    else:
        controller = manager.controller(ConfigMap, leader_only=how == "leader's reconcile")

        @controller
        async def reconcile(key: ObjectKey, ctx: Context) -> None:
            if key.name == "one" and how != "handler":
                await stubborn.run()


async def until_stubborn(stubborn: Stubborn, manager: Manager, client: Client, how: str) -> None:
    await until(lambda: manager.stats().state == "running")
    if how == "handler":

        async def handle(config: ConfigMap) -> None:
            await stubborn.run()

        manager.informers[0].add_handler(on_add=handle, name="slow handler")
    await client.resource(ConfigMap).create(a_config("one"))
    await stubborn.begun.wait()


EMPLOYMENTS = ["reconcile", "leader's reconcile", "runnable", "leader's runnable", "handler"]


@pytest.mark.parametrize("how", EMPLOYMENTS)
async def test_work_that_ignores_cancellation_ends_the_manager_with_an_error_that_names_it(
    managed: Managed, client: Client, stubborn: Stubborn, how: str
) -> None:
    manager = managed(grace=30, clock=(clock := ManualClock()))
    employ(stubborn, manager, how)
    ended = asyncio.create_task(manager.run())
    await until_stubborn(stubborn, manager, client, how)

    manager.stop()
    await until(lambda: manager.stats().state == "stopping")
    if "reconcile" in how:
        await clock.advance(30)
    assert not ended.done()
    await clock.advance(2.4)
    assert stubborn.cancelled <= 1
    await clock.advance(2.7)

    with pytest.raises(ShutdownTimeout) as found:
        await ended
    (name,) = found.value.running
    assert name in {"configmap default/one", "a stubborn runnable", "slow handler of configmaps"}
    assert stubborn.cancelled >= 2
    assert manager.stats().state == "ended"


async def test_a_lease_is_left_to_expire_while_a_worker_still_runs(
    managed: Managed, client: Client, stubborn: Stubborn
) -> None:
    manager = managed(grace=1, leader_election="sites", clock=(clock := ManualClock()))
    employ(stubborn, manager, "leader's reconcile")
    ended = asyncio.create_task(manager.run())
    await until_stubborn(stubborn, manager, client, "leader's reconcile")
    manager.stop()
    await until(lambda: manager.stats().state == "stopping")
    await clock.advance(6.1)
    with pytest.raises(ShutdownTimeout):
        await ended

    leases = client.resource(Lease)
    before = await leases.get("sites")
    await clock.advance(5)
    await asyncio.sleep(0.05)
    await clock.advance(60)
    await stubborn.let_go()

    assert before.spec.holder_identity
    assert await leases.get("sites") == before
    assert not manager.is_leader


async def test_a_lost_lease_ends_the_manager_although_its_work_does_not(
    managed: Managed, client: Client, stubborn: Stubborn
) -> None:
    manager = managed(leader_election="sites", clock=(clock := ManualClock()))
    employ(stubborn, manager, "leader's reconcile")
    ended = asyncio.create_task(manager.run())
    await until_stubborn(stubborn, manager, client, "leader's reconcile")

    other = {"spec": {"holderIdentity": "other"}}
    await client.resource(Lease).patch("sites", other, type="merge")
    while not ended.done():
        await clock.advance(1)
        await asyncio.sleep(0.002)

    with pytest.raises(ShutdownTimeout, match="default/one"):
        await ended


async def test_a_cancelled_manager_is_cancelled_although_its_work_does_not_end(
    managed: Managed, client: Client, stubborn: Stubborn
) -> None:
    manager = managed(clock=(clock := ManualClock()))
    employ(stubborn, manager, "reconcile")
    ended = asyncio.create_task(manager.run())
    await until_stubborn(stubborn, manager, client, "reconcile")

    ended.cancel()
    await clock.advance(4.9)
    assert not ended.done()
    await clock.advance(0.2)

    with pytest.raises(asyncio.CancelledError) as found:
        await ended
    assert isinstance(found.value.__cause__, ShutdownTimeout)


async def test_a_further_signal_does_not_wait_for_work_that_ignores_cancellation(
    managed: Managed, client: Client, stubborn: Stubborn
) -> None:
    manager = managed(signals=True, clock=ManualClock())
    employ(stubborn, manager, "reconcile")
    ended = asyncio.create_task(manager.run())
    await until_stubborn(stubborn, manager, client, "reconcile")

    signal.raise_signal(signal.SIGTERM)
    await until(lambda: manager.stats().state == "stopping")
    signal.raise_signal(signal.SIGTERM)
    await until(lambda: stubborn.cancelled)
    signal.raise_signal(signal.SIGTERM)

    with pytest.raises(asyncio.CancelledError):
        await ended


@pytest.mark.timeout(20)  # the web server gives it a second
@pytest.mark.parametrize("caller", ["waits", "has hung up"])
async def test_a_webhook_in_flight_that_ignores_cancellation_is_named_and_does_not_keep_the_manager(
    managed: Managed, stubborn: Stubborn, caller: str
) -> None:
    webhooks = WebhookServer("127.0.0.1:0", clock=SystemClock())
    manager = managed(clock=(clock := ManualClock()))

    @webhooks.validate(ConfigMap)
    async def check(config: ConfigMap, request: AdmissionRequest[ConfigMap]) -> None:
        await stubborn.run()

    manager.add(webhooks)
    ended = asyncio.create_task(manager.run())
    url = f"http://{await webhooks.address()}/validate--v1-configmap"
    review_request = {
        "uid": "1",
        "kind": {},
        "resource": {},
        "operation": "CREATE",
        "name": "one",
        "namespace": "shop",
        "object": {"metadata": {"name": "one"}},
    }
    review = {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": review_request,
    }
    async with aiohttp.ClientSession() as http:
        asking = asyncio.create_task(http.post(url, json=review))
        await stubborn.begun.wait()
        if caller == "has hung up":
            asking.cancel()
        manager.stop()
        await until(lambda: stubborn.cancelled)
        await clock.advance(5.1)

        with pytest.raises(ShutdownTimeout) as found:
            await ended
        assert found.value.running == (f"{webhooks!r} /validate--v1-configmap shop/one",)
        with pytest.raises((aiohttp.ClientError, asyncio.CancelledError)):
            await asking


async def test_events_are_written_although_work_does_not_end(
    managed: Managed, client: Client, stubborn: Stubborn
) -> None:
    manager = managed(grace=0, clock=(clock := ManualClock()))

    @manager.controller(ConfigMap)
    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        config = ctx.get(ConfigMap, key)
        assert config is not None
        ctx.recorder.event(config, "Normal", "Begun", "at last")
        await stubborn.run()

    ended = asyncio.create_task(manager.run())
    await client.resource(ConfigMap).create(a_config("one"))
    await stubborn.begun.wait()
    manager.stop()
    await until(lambda: manager.stats().state == "stopping")
    await clock.advance(5.1)

    with pytest.raises(ShutdownTimeout):
        await ended
    assert [event.reason for event in await client.resource(Event).list()] == ["Begun"]


async def test_a_manager_ends_within_the_grace_and_ten_seconds_whatever_hangs(
    managed: Managed, server: APIServer, client: Client, stubborn: Stubborn
) -> None:
    """Work that ignores cancellation, and events that cannot be written."""
    manager = managed(grace=30, clock=(clock := ManualClock()))

    @manager.controller(ConfigMap)
    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        config = ctx.get(ConfigMap, key)
        assert config is not None
        ctx.recorder.event(config, "Normal", "Begun", "at last")
        await stubborn.run()

    server.faults.hold(Match(resource="events"))
    ended = asyncio.create_task(manager.run())
    await client.resource(ConfigMap).create(a_config("one"))
    await stubborn.begun.wait()
    manager.stop()
    await until(lambda: manager.stats().state == "stopping")

    for seconds in (30, 2.5, 2.5):
        assert not ended.done()
        await clock.advance(seconds)
    assert not ended.done()  # the event is still waited for
    await clock.advance(5)

    with pytest.raises(ShutdownTimeout):
        await ended
    server.faults.heal()


async def test_a_lease_that_cannot_be_released_does_not_keep_the_manager(
    managed: Managed, server: APIServer
) -> None:
    manager = managed(leader_election="sites", clock=(clock := ManualClock()))
    ended = asyncio.create_task(manager.run())
    await until(lambda: manager.is_leader)

    server.faults.hold(Match(resource="leases"))
    manager.stop()
    await until(lambda: not manager.is_leader)  # it is being released
    await clock.advance(5)
    await clock.advance(5)

    with contextlib.suppress(ShutdownTimeout):  # whether or not the release timed out first
        await ended
    assert clock.now() == 10
    server.faults.heal()


async def test_runnables_work_until_the_reconciles_have_ended(
    managed: Managed, client: Client
) -> None:
    manager, runnable = managed(), FakeRunnable()
    manager.add(runnable)
    begun, finish = asyncio.Event(), asyncio.Event()

    @manager.controller(ConfigMap)
    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        begun.set()
        await finish.wait()

    ended = asyncio.create_task(manager.run())
    await client.resource(ConfigMap).create(a_config("one"))
    await begun.wait()
    manager.stop()
    await until(lambda: manager.stats().state == "stopping")
    assert not runnable.outcome.done()
    finish.set()
    await ended

    assert runnable.outcome.cancelled()


async def test_a_reconcile_that_waits_for_a_thread_ends_when_it_is_cancelled(
    managed: Managed, client: Client
) -> None:
    manager = managed(grace=0)
    begun, finish = threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        finish.wait()

    @manager.controller(ConfigMap)
    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        await asyncio.to_thread(work)

    ended = asyncio.create_task(manager.run())
    await client.resource(ConfigMap).create(a_config("one"))
    await until(begun.is_set)
    manager.stop()
    try:
        await ended  # without an error, and although the thread still runs
        assert not finish.is_set()
    finally:
        finish.set()
