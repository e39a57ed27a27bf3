"""What a simulated test can do, and which oracle fails it. Each is a simulated test itself."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kubeloop import Client
from kubeloop.config import ClusterConfig
from kubeloop.errors import InvalidArgument
from kubeloop.meta import ObjectKey
from kubeloop.runtime import Context, Manager, Result
from kubeloop.wire.core.v1 import ConfigMap
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_testing import World, simulate

from . import fresh_state

pytestmark = pytest.mark.timeout(60)  # a worker process starts

_starts: list[int] = []  # of this copy of the module


def config_map(name: str, **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default"), data=data)


def names(world: World) -> list[str]:
    return sorted(each.metadata.name or "" for each in world.objects(ConfigMap))


async def make_counter(config: ClusterConfig) -> None:
    """Writes how often each module has been used, and then waits."""
    _starts.append(1)
    fresh_state.starts.append(1)
    async with Client(config) as client:
        counts = {"own": str(len(_starts)), "other": str(len(fresh_state.starts))}
        await client.apply(config_map("counts", **counts))
        await asyncio.Event().wait()


async def make_other(config: ClusterConfig) -> None:
    async with Client(config) as client:
        await client.apply(config_map("upgraded"))
        await asyncio.Event().wait()


class Graceful:
    """Has `run` and `stop`, as a manager, and writes while it stops."""

    def __init__(self, config: ClusterConfig) -> None:
        self._config = config
        self._stopped = asyncio.Event()

    def stop(self) -> None:
        self._stopped.set()

    async def run(self) -> None:
        async with Client(self._config) as client:
            await self._stopped.wait()
            await client.apply(config_map("stopped"))


def make_graceful(config: ClusterConfig) -> Graceful:
    return Graceful(config)


@simulate(runs=1)
async def test_a_process_starts_again_after_a_crash_with_its_module_imported_again(
    world: World,
) -> None:
    process = world.run(make_counter)
    await world.settle()
    crashed_at = world.now
    process.crash()
    assert not process.is_running
    await world.eventually(lambda: process.is_running)
    await world.settle()

    assert process.starts == 2
    assert world.now - crashed_at < 120
    (counts,) = world.objects(ConfigMap)
    assert counts.data == {"own": "1", "other": "2"}, "only its own module is imported again"


@simulate(runs=1)
async def test_modules_named_as_fresh_are_imported_again_and_others_are_shared(
    world: World,
) -> None:
    process = world.run(make_counter, fresh=[fresh_state.__name__])
    await world.settle()
    process.crash()
    await world.eventually(lambda: process.is_running)
    await world.settle()

    (counts,) = world.objects(ConfigMap)
    assert counts.data == {"own": "1", "other": "1"}


@simulate(runs=1)
async def test_processes_are_upgraded_paused_stopped_and_run_as_replicas(world: World) -> None:
    first = world.run(make_counter, name="first", replicas=2)
    await world.settle()
    assert first.starts == 1
    first.upgrade(make_other)
    await world.settle()
    assert names(world) == ["counts", "upgraded"]

    first.pause(30)
    states = [first.is_running]
    await asyncio.sleep(31)
    assert [*states, first.is_running] == [False, True]

    graceful = world.run(make_graceful)
    await world.settle()
    await graceful.stop()
    assert not graceful.is_running
    assert "stopped" in names(world), "it stops in order"
    await asyncio.sleep(60)
    assert graceful.starts == 1, "what is stopped does not start again"

    for name in ("first", "first-2", "two words"):
        with pytest.raises(InvalidArgument):
            world.run(make_other, name=name)


@simulate(runs=1)
async def test_the_test_reads_objects_and_time_and_waits_for_conditions(world: World) -> None:
    assert world.now == 0
    configs = world.client.resource(ConfigMap, namespace="default")
    await configs.create(config_map("one"))
    seen: list[int] = []
    world.always(lambda: seen.append(len(world.objects(ConfigMap))), name="counts")
    asyncio.get_running_loop().call_later(
        300, lambda: asyncio.ensure_future(configs.create(config_map("two")))
    )
    await world.eventually(lambda: len(names(world)) == 2)

    assert 300 <= world.now < 302
    assert seen == [2]
    assert world.objects(ConfigMap, namespace="other") == []


# --- failures


def make_endless(config: ClusterConfig) -> Manager:
    manager = Manager(config, signals=False, logs=False)
    manager.cache(ConfigMap, namespace="default")

    @manager.controller(ConfigMap, name="endless")
    async def reconcile(key: ObjectKey, ctx: Context) -> Result:
        return Result(requeue_after=1)

    return manager


async def make_flapping(config: ClusterConfig) -> None:
    async with Client(config) as client:
        number = 0
        while True:
            number += 1
            await client.apply(config_map("flapping", number=str(number)))
            await asyncio.sleep(5)


async def make_broken(config: ClusterConfig) -> None:
    raise KeyError(config.server)


async def make_deadlock(_: ClusterConfig) -> None:
    lock = asyncio.Lock()
    await lock.acquire()
    await lock.acquire()


async def _hot_loop(world: World) -> None:
    world.run(make_endless)
    await world.client.resource(ConfigMap).create(config_map("shop"))
    await world.settle()


async def _settles(world: World) -> None:
    world.run(make_flapping)
    await world.settle(within=600)


async def _unhandled_error(world: World) -> None:
    world.run(make_broken)
    await world.settle()


async def _always(world: World) -> None:
    world.always(lambda: not world.objects(ConfigMap), name="empty")
    await world.client.resource(ConfigMap).create(config_map("shop"))


async def _eventually(world: World) -> None:
    await world.eventually(lambda: bool(world.objects(ConfigMap)), within=30)


async def _test(world: World) -> None:
    assert world.now == 1, "a message"


CASES = {
    "hot loop": (_hot_loop, "endless: endless reconciles default/shop without end"),
    "settles": (_settles, "objects still change after 600 s"),
    "unhandled error": (_unhandled_error, "broken ended: KeyError"),
    "always": (_always, "empty is not true after configmaps default/shop"),
    "eventually": (_eventually, "is not true after 30 s"),
    "test": (_test, "AssertionError: a message"),
}


@simulate(runs=1)
async def failing(world: World, case: str) -> None:
    await CASES[case][0](world)


@pytest.mark.parametrize("case", CASES)
def test_the_oracle_that_fails_a_run_says_why(case: str) -> None:
    simulation: Any = vars(failing)["simulation"]

    found = simulation.explore({"case": case}).failure

    assert found is not None
    assert found.oracle == case
    assert CASES[case][1] in found.message
    assert found.faults == ()
