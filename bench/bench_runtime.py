"""Controllers: from an event to its reconcile, a hundred thousand keys, and doing nothing."""

from __future__ import annotations

import asyncio
import itertools
import statistics
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from bench.embedded_server import serving
from bench.measure import Row, figure
from kubeloop.cache import ListWatch, RawPage, Scope, SharedInformer, Watchable
from kubeloop.events import FakeRecorder
from kubeloop.kit import SystemClock, TaskOwner, running
from kubeloop.kit import run as run_loop
from kubeloop.meta import ObjectKey
from kubeloop.runtime import Client, Context, Manager, tune_garbage_collector
from kubeloop.runtime.caches import CacheDeclaration, Caches
from kubeloop.runtime.context import Environment
from kubeloop.runtime.controller import Controller
from kubeloop.runtime.specs import ControllerSpec
from kubeloop.wire import Raw, RawEvent
from kubeloop.wire.apps.v1 import Deployment
from kubeloop.wire.batch.v1 import Job
from kubeloop.wire.core.v1 import ConfigMap, Node, Pod, Service

NAME = "runtime: controllers"
GOAL = "8 workers never hold the loop for 20 ms; an idle manager uses under 0.5 % of a core"

EVENTS = 2_000
KEYS = 100_000
WORKERS = 8
IDLE = 10.0


def run() -> list[Row]:
    """The first two without a server, so that nothing but the way of a key is measured."""
    latency = run_loop(_latency())
    with tune_garbage_collector():  # as a manager has it: a full round over such a heap takes 40 ms
        held, wall, seconds = run_loop(_many())
    with serving(pods=200):
        idle = run_loop(_idle())
    hold = f"longest hold of the loop, {KEYS:,} keys, {WORKERS} workers"
    return [
        Row(f"{hold}, CPU", f"{held * 1000:.1f} ms", "at most 20 ms", ok=held <= 0.020),
        Row("idle manager, five informers, CPU", f"{idle:.2%}", "under 0.5 %", ok=idle < 0.005),
        figure("from an event's bytes to its reconcile, median", latency * 1e6, "µs"),
        figure(f"{hold}, wall", wall * 1000, "ms"),
        figure("from a list to the last reconcile", KEYS / seconds, "keys/s"),
    ]


class Source(ListWatch):
    """A collection in memory: `count` objects, and events that are put into it."""

    streams_lists = False
    scope = Scope(resource="configmaps", namespace="shop", kind="ConfigMap", api_version="v1")

    def __init__(self, count: int) -> None:
        self._items = [_object(f"old-{number}", 1) for number in range(count)]
        self.events: asyncio.Queue[RawEvent] = asyncio.Queue()

    async def list(
        self, *, resource_version: str, resource_version_match: str, limit: int, page: str
    ) -> RawPage:
        del resource_version, resource_version_match, limit, page  # everything, always
        return RawPage(self._items, "1")

    async def watch(
        self, *, resource_version: str, bookmarks: bool, timeout_seconds: int, initial_events: bool
    ) -> AsyncIterator[RawEvent]:
        del resource_version, bookmarks, timeout_seconds, initial_events
        while True:
            yield await self.events.get()


def _object(name: str, version: int) -> bytes:
    metadata = {"namespace": "shop", "name": name, "uid": name, "resourceVersion": str(version)}
    data = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata, "data": {"a": "b" * 500}}
    return msgspec.json.encode(data)


class FakeInformerClient:
    """A client whose informers read from a source."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def informer(
        self, _kind: Watchable, /, *, model: type[Any] = dict, **_: Any
    ) -> SharedInformer[Any]:
        return SharedInformer(self._source, model)


@asynccontextmanager
async def _controlled(source: Source, reconcile: Callable[..., Any]) -> AsyncIterator[Controller]:
    spec = ControllerSpec(name="maps", kind=ConfigMap, reconcile=reconcile, workers=WORKERS)
    caches = Caches(FakeInformerClient(source), [CacheDeclaration(kind=ConfigMap, model=ConfigMap)])
    client: Any = None  # nothing is written
    environment = Environment(client, caches, SystemClock())
    controller = Controller(spec, environment, recorder=FakeRecorder())
    async with TaskOwner() as tasks:
        for informer in caches:
            tasks.spawn(informer.run(), name="informer")
        tasks.spawn(controller.run(), name="controller")
        yield controller


async def _latency() -> float:
    """Median seconds from an event's bytes to the start of its reconcile."""
    source, begun = Source(0), asyncio.Event()
    moment = 0.0

    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        nonlocal moment
        del key, ctx
        moment = time.perf_counter()
        begun.set()

    taken: list[float] = []
    async with _controlled(source, reconcile) as controller:
        await controller.wait_started()
        for number in range(EVENTS):
            begun.clear()
            event = RawEvent("ADDED", Raw(_object(f"new-{number}", number + 2)))
            sent = time.perf_counter()
            source.events.put_nowait(event)
            await begun.wait()
            taken.append(moment - sent)
    return statistics.median(taken)


async def _many() -> tuple[float, float, float]:
    """The longest hold in CPU and in wall seconds, and the seconds for all keys."""
    left, done = KEYS, asyncio.Event()

    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        nonlocal left
        assert ctx.get(ConfigMap, key) is not None
        left -= 1
        if not left:
            done.set()

    cpu, wall = [time.thread_time()], [time.perf_counter()]
    source = Source(KEYS)
    began = time.perf_counter()
    async with _controlled(source, reconcile):
        cpu, wall = [time.thread_time()], [time.perf_counter()]
        while not done.is_set():
            await asyncio.sleep(0)
            cpu.append(time.thread_time())
            wall.append(time.perf_counter())
    return _longest_step(cpu), _longest_step(wall), wall[-1] - began


def _longest_step(moments: list[float]) -> float:
    return max(after - before for before, after in itertools.pairwise(moments))


async def _idle() -> float:
    """The part of a core that a manager with five informers uses while nothing happens."""
    async with Client() as client:
        manager = Manager(client, leader_election="bench", signals=False, logs=False)
        for kind in (Pod, Deployment, Service, Job, Node):
            manager.controller(kind)(_nothing)
        async with running(manager):
            await manager.wait_ready()
            await asyncio.sleep(1.0)
            began = time.process_time()
            await asyncio.sleep(IDLE)
            return (time.process_time() - began) / IDLE


async def _nothing(key: ObjectKey, ctx: Context) -> None:
    """Nothing is to be done."""
