"""The runs of our own campaign: an informer, a controller, an election, a work queue.

A run is one of a simulated test; its seed selects the subject and everything that happens. It fails
by `assert`, or by an oracle of the simulation.
See also: `chaos` (the faults), `test_campaign` and `test_determinism` (start the runs).
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import suppress
from random import Random
from typing import Any, Protocol, final

from kubeloop.cache import Change, SharedInformer
from kubeloop.config import ClusterConfig
from kubeloop.election import LeaderElector, Leadership, LeadershipLost, Leading
from kubeloop.errors import KubeError
from kubeloop.kit import SystemClock
from kubeloop.meta import GroupResource, ObjectKey, set_controller
from kubeloop.runtime import Client, Context, Manager
from kubeloop.wire.coordination.v1 import Lease
from kubeloop.wire.core.v1 import ConfigMap, Secret
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop.workqueue import PriorityQueue, QueueShutDown, RateLimitingQueue
from kubeloop_testing import simulate
from kubeloop_testing.server.faults import Reaction, SeenRequest
from kubeloop_testing.simulation.loop import Incarnation, current_process
from kubeloop_testing.simulation.network import connection
from kubeloop_testing.simulation.scenarios import Failure
from kubeloop_testing.simulation.world import World
from tests.support.change_history import ChangeHistory, Identity, cached_versions

from .chaos import FAULTS, Chaos, End, StartFault

__all__ = ["FAULTS_PER_RUN", "SUBJECTS", "campaign_run", "short_run"]

FAULTS_PER_RUN = 100
SHORT = 8  # faults of a short run
NAMES = tuple("abcdef")
WITHIN = 1800.0  # virtual seconds in which everything is consistent again after faults


class Subject(Protocol):
    """What is disturbed, and what must be true afterwards."""

    chaos: Chaos
    survives_lost_data: bool  # the server's, whose versions begin again

    async def write(self) -> None:
        """Change some objects."""
        ...

    def problem(self) -> str:
        """What is not yet as it must be; empty if nothing is."""
        ...


async def _live(world: World, faults: int) -> None:
    name = list(SUBJECTS)[world.scenario.seed % len(SUBJECTS)]
    random = Random(f"campaign {world.scenario.seed}")
    subject = SUBJECTS[name](world, random)
    await _wait_until_consistent(world, subject)
    while subject.chaos.count < faults:
        await subject.write()
        await subject.chaos.disturb(subject.write)
        await subject.write()
        await _wait_until_consistent(world, subject)
        if subject.survives_lost_data and random.random() < 0.05:
            # It must be detected before the versions have caught up with the old ones.
            await subject.chaos.lose_data()
            await _wait_until_consistent(world, subject)
    for each in subject.chaos.processes.values():
        await each.stop()
    # The digest is of the bytes on the network, and a queue sends none.
    data = {"at": repr(world.now), "end": repr(random.random())}
    end = ConfigMap(metadata=ObjectMeta(name="end"), data=data)
    await world.client.resource(ConfigMap, namespace="default").create(end)


async def _wait_until_consistent(world: World, subject: Subject) -> None:
    end, step = world.now + WITHIN, 0.02
    while problem := subject.problem():
        if world.now > end:
            faults = ", ".join(subject.chaos.counts)
            raise AssertionError(f"{WITHIN:g} s after the last fault: {problem} (after {faults})")
        await asyncio.sleep(step)
        step = min(2.0, step * 1.3)


@simulate()
async def campaign_run(world: World) -> None:
    await _live(world, FAULTS_PER_RUN)


@simulate()
async def short_run(world: World) -> None:
    await _live(world, SHORT)


# --- what the subjects share


@final
class Writer:
    """Writes config maps as another user of the server."""

    def __init__(self, world: World, random: Random) -> None:
        self._world = world
        self._random = random
        self._turn = 0

    async def write(self, *, most: int = 2) -> None:
        """Change up to `most` objects; writes that a fault prevents are skipped."""
        for _ in range(self._random.randint(0, most)):
            # A server that does not respond must not end the faults.
            with suppress(KubeError, TimeoutError):
                async with asyncio.timeout(3.0):
                    await self._change(self._random.choice(NAMES))

    async def _change(self, name: str) -> None:
        objects = self._world.client.resource(ConfigMap, namespace="default")
        if self._random.random() < 0.3:
            await objects.delete(name, missing_ok=True)
            return
        self._turn += 1
        meta = ObjectMeta(name=name)
        await objects.create_or_update(ConfigMap(metadata=meta, data={"value": str(self._turn)}))


def _stored_objects(world: World, plural: str) -> list[dict[str, Any]]:
    return world.server.objects(GroupResource("", plural), namespace="default")


def _identities(world: World, plural: str) -> dict[ObjectKey, Identity]:
    metas = [each["metadata"] for each in _stored_objects(world, plural)]
    return {
        ObjectKey(each["namespace"], each["name"]): (each["uid"], str(each["resourceVersion"]))
        for each in metas
        if each["name"] in NAMES
    }


# --- an informer


class SlowHandler:
    """A handler that can be held; its later notifications must be consistent, too."""

    def __init__(self) -> None:
        self.story = ChangeHistory()
        self.released = asyncio.Event()
        self.released.set()

    async def __call__(self, change: Change[Any]) -> None:
        await self.released.wait()
        self.story(change)


@final
class InformerSubject:
    """An informer with a quick and a slow handler; its cache equals the server's objects."""

    survives_lost_data = True

    def __init__(self, world: World, random: Random) -> None:
        self._world = world
        self.write = Writer(world, random).write
        self._format = random.choice(["json", "protobuf"])
        self._informer: SharedInformer[Any] | None = None
        self._story = ChangeHistory()
        self._slow = SlowHandler()
        self._failures: Callable[[], list[int]] = list
        kinds: dict[str, StartFault] = {**FAULTS, "a_slow_handler": self._hold_handler}
        self.chaos = Chaos(world, [world.run(self._make, name="reader")], kinds, random)

    def _make(self, config: ClusterConfig) -> Coroutine[Any, Any, None]:
        return self._read(config)

    async def _read(self, config: ClusterConfig) -> None:
        async with Client(config) as client:
            source = client.list_watch(ConfigMap, namespace="default", format=self._format)  # type: ignore[arg-type]
            informer: SharedInformer[Any] = SharedInformer(source, ConfigMap, backlog=4)
            self._informer, self._story, self._slow = informer, ChangeHistory(), SlowHandler()
            registrations = [
                informer.add_handler(on_change=self._story, name="quick"),
                informer.add_handler(on_change=self._slow, name="slow"),
            ]
            self._failures = lambda: [each.stats().failures for each in registrations]
            async with informer:
                await asyncio.get_running_loop().create_future()

    async def _hold_handler(self, chaos: Chaos, target: str) -> End:
        slow = self._slow
        slow.released.clear()
        return slow.released.set

    def problem(self) -> str:
        informer, expected = self._informer, _identities(self._world, "configmaps")
        if informer is None:
            return "the informer has not started"
        assert not any(self._failures()), f"inconsistent notifications: {self._story.lines[-5:]}"
        for name, all_found in (
            ("the cache", cached_versions(informer)),
            ("the quick handler", self._story.now),
            ("the slow handler", self._slow.story.now),
        ):
            found = {key: each for key, each in all_found.items() if key.name in NAMES}
            if found != expected:
                return f"{name} has {found}, the server {expected}; {informer.stats()}"
        return ""


# --- a controller


@final
class ControllerSubject:
    """A controller that keeps a Secret for each ConfigMap."""

    # It writes: the versions catch up with the old ones before the caches have noticed.
    survives_lost_data = False

    def __init__(self, world: World, random: Random) -> None:
        self._world = world
        self._random = random
        self.write = Writer(world, random).write
        self._manager: Manager | None = None
        self._broken = 0  # reconciles that are to fail
        self._hanging = False
        kinds: dict[str, StartFault] = {
            **FAULTS,
            "failing_reconciles": self._break,
            "hanging_reconciles": self._hang,
        }
        self.chaos = Chaos(world, [world.run(self._make, name="controller")], kinds, random)

    async def _break(self, chaos: Chaos, target: str) -> End:
        self._broken = self._random.randint(1, 5)
        return None

    async def _hang(self, chaos: Chaos, target: str) -> End:
        self._hanging = True

        def end() -> None:
            self._hanging = False

        return end

    def _make(self, config: ClusterConfig) -> Manager:
        self._manager = manager = Manager(config, namespace="default")
        working: set[ObjectKey] = set()
        written: dict[ObjectKey, int] = {}  # acknowledged writes of this process

        @manager.controller(ConfigMap, owns=[Secret], workers=3, timeout=60)
        async def reconcile(key: ObjectKey, ctx: Context) -> None:
            if key.name not in NAMES:
                return
            if key in working:
                self._fail(f"{key} is reconciled twice at once")
            working.add(key)
            try:
                await self._reconcile(key, ctx, written)
            finally:
                working.discard(key)

        return manager

    async def _reconcile(self, key: ObjectKey, ctx: Context, written: dict[ObjectKey, int]) -> None:
        parent, child = ctx.get(ConfigMap, key), ctx.get(Secret, key)
        informer = ctx._environment.caches.informers(Secret)[0]
        reached = int(informer.indexer.version or 0)
        if written.get(key, 0) > reached:
            self._fail(f"{key}: the cache has {reached}, its own write was {written[key]}")
        if self._hanging:
            await asyncio.sleep(self._random.choice([1.0, 30.0, 100.0]))
        await asyncio.sleep(self._random.choice([0.0, 0.0, 0.01, 1.0]))
        if self._broken:
            self._broken -= 1
            raise RuntimeError("a reconcile that fails")
        if parent is None:
            return
        value = {"value": (parent.data or {})["value"]}
        secrets = ctx.client.resource(Secret, namespace="default")
        if child is not None and child.metadata.annotations == value:
            return
        meta = ObjectMeta(name=key.name, namespace="default", annotations=value)
        if key.name in NAMES[:2]:
            done = await ctx.client.apply(Secret(metadata=meta), owner=parent)
        elif child is None:
            new = Secret(metadata=meta)
            set_controller(new, parent)
            done = await secrets.create(new)
        else:
            child.metadata.annotations = value
            done = await secrets.update(child)
        written[key] = int(done.metadata.resource_version)

    def _fail(self, message: str) -> None:
        self._world.report(Failure("campaign", message))

    def problem(self) -> str:
        wanted = {
            each["metadata"]["name"]: each["data"]
            for each in _stored_objects(self._world, "configmaps")
            if each["metadata"]["name"] in NAMES
        }
        found = {
            each["metadata"]["name"]: each["metadata"].get("annotations")
            for each in _stored_objects(self._world, "secrets")
        }
        if found != wanted:
            return f"the secrets are {found}, expected {wanted}"
        return self._cache_problem()

    def _cache_problem(self) -> str:
        assembly = self._manager._assembly if self._manager is not None else None
        if assembly is None:
            return "the manager has not started"
        for kind, plural in ((ConfigMap, "configmaps"), (Secret, "secrets")):
            expected = _identities(self._world, plural)
            for informer in assembly.caches.informers(kind):
                found = cached_versions(informer)
                if {key: each for key, each in found.items() if key.name in NAMES} != expected:
                    return f"the cache of {plural} has {found}, the server {expected}"
        return ""


# --- an election


@final
class ElectionSubject:
    """Three replicas that write only while they lead; never two lead at once."""

    survives_lost_data = False

    def __init__(self, world: World, random: Random) -> None:
        self._world = world
        self._random = random
        self._electors: dict[str, tuple[Incarnation, LeaderElector]] = {}
        self._offset = SystemClock().now() - world.now  # of the electors' clock
        # A process that was paused may still act in the second in which it resumes.
        self._paused_until: dict[str, float] = {}
        self.terms = 0
        replicas = [world.run(self._make, name=f"replica-{number}") for number in (1, 2, 3)]
        self.chaos = Chaos(world, replicas, {**FAULTS, "pause": self._pause}, random)
        world.server.faults.reactors.append(self._check_write)
        self._watcher = world.loop.create_task(self._watch(), name="watch for two leaders")

    def _make(self, config: ClusterConfig) -> Coroutine[Any, Any, None]:
        return self._compete(config)

    async def _compete(self, config: ClusterConfig) -> None:
        process = current_process()
        assert process is not None
        async with Client(config) as client:
            leases = client.resource(Lease, namespace="default")
            identity = f"{process.name} {process.number}"
            elector = LeaderElector(leases, "work", identity=identity)
            self._electors[process.name] = (process, elector)
            while True:
                with suppress(LeadershipLost):
                    async with elector.leadership() as leadership:
                        self.terms += 1
                        await self._work(client, leadership, process.name)

    async def _work(self, client: Client, leadership: Leadership, name: str) -> None:
        objects = client.resource(ConfigMap, namespace="default")
        number = 0
        while True:
            number += 1
            leadership.ensure()
            with suppress(KubeError):
                data = {"by": name, "number": str(number)}
                await objects.create_or_update(
                    ConfigMap(metadata=ObjectMeta(name="work"), data=data)
                )
            await asyncio.sleep(self._random.choice([0.5, 6.0]))

    async def write(self) -> None:
        await asyncio.sleep(self._random.choice([0.0, 0.5]))

    def _leaders(self) -> list[str]:
        return [
            name
            for name, (process, elector) in self._electors.items()
            if not process.is_dead and elector.is_leader
        ]

    async def _watch(self) -> None:
        while True:
            self._check_leaders()
            await asyncio.sleep(0.25)

    def _check_leaders(self) -> None:
        leaders = self._leaders()
        if len(leaders) > 1:
            self._world.report(Failure("campaign", f"{' and '.join(leaders)} lead at once"))

    def _check_write(self, seen: SeenRequest) -> Reaction:
        link = connection()
        self._check_leaders()
        if link is None or link.process is None or seen.resource != "configmaps":
            return None
        if seen.verb not in {"create", "update", "patch"}:
            return None
        process, elector = self._electors[link.process.name]
        state = elector.stats().state
        sent = link.client.sent_at
        late = sent + self._offset - (state.until if isinstance(state, Leading) else 0.0)
        if (
            process is link.process
            and late > 1e-6
            and sent > self._paused_until.get(process.name, 0.0) + 1.0
        ):
            message = f"{process} sent {seen.verb} {late:.3f} s after its own deadline ({state})"
            self._world.report(Failure("campaign", message))
        return None

    async def _pause(self, chaos: Chaos, target: str) -> End:
        seconds = self._random.choice([0.5, 12.0, 50.0])
        chaos.processes[target].pause(seconds)
        until = max(self._paused_until.get(target, 0.0), self._world.now + seconds)
        self._paused_until[target] = until
        # That oracle knows of no pauses; `_check_write` does, and its deadline is earlier.
        self._world.injector.leases.forget(target)
        return None

    def problem(self) -> str:
        leaders = self._leaders()
        return "" if len(leaders) == 1 else f"{len(leaders)} leaders"


# --- a work queue


@final
class QueueSubject:
    """Workers that fail, hang and are cancelled; every key that was added is processed."""

    survives_lost_data = False

    def __init__(self, world: World, random: Random) -> None:
        self._world = world
        self._random = random
        self._queue: RateLimitingQueue[str] | PriorityQueue[str] | None = None
        self._kind = random.choice([RateLimitingQueue, PriorityQueue])
        self._wanted: Counter[str] = Counter()
        self._seen: Counter[str] = Counter()
        self._working: set[str] = set()
        self._workers: list[asyncio.Task[None]] = []
        self._failing = 0
        self._slow = 0.0
        kinds: dict[str, StartFault] = {
            "cancelled_worker": self._cancel,
            "cancelled_workers": self._cancel_all,
            "failing_work": self._break,
            "slow_work": self._slow_down,
            "pause": FAULTS["pause"],
            "drained_queue": self._drain,
        }
        self.chaos = Chaos(world, [world.run(self._make, name="workers")], kinds, random)

    def _make(self, config: ClusterConfig) -> Coroutine[Any, Any, None]:
        return self._run()

    async def _run(self) -> None:
        while True:
            self._queue = queue = self._kind()
            for name, count in self._wanted.items():
                if self._seen[name] < count:
                    queue.add(name)
            self._workers = []
            async with asyncio.TaskGroup() as group:
                group.create_task(self._supervise(queue))

    async def _supervise(self, queue: Any) -> None:
        while not queue.is_shutting_down:
            for each in self._workers:
                if each.done() and not each.cancelled():
                    assert isinstance(each.exception(), QueueShutDown), each.exception()
            self._workers = [each for each in self._workers if not each.done()]
            while len(self._workers) < 3:
                task = asyncio.get_running_loop().create_task(self._work(queue))
                self._workers.append(task)
            await asyncio.wait(self._workers, return_when=asyncio.FIRST_COMPLETED)
        await queue.drain()
        assert not self._working, "a drained queue has no key in processing"

    async def _work(self, queue: Any) -> None:
        while True:
            async with queue.item() as key:
                assert key not in self._working, f"{key} is processed twice at once"
                self._working.add(key)
                wanted = self._wanted[key]
                try:
                    await asyncio.sleep(self._slow * self._random.random())
                    if self._failing:
                        self._failing -= 1
                        queue.add_rate_limited(key)
                        continue
                    self._seen[key] = max(self._seen[key], wanted)
                    queue.forget(key)
                except asyncio.CancelledError:
                    queue.add(key)
                    raise
                finally:
                    self._working.discard(key)

    async def _cancel(self, chaos: Chaos, target: str) -> End:
        if self._workers:
            self._random.choice(self._workers).cancel()
        return None

    async def _cancel_all(self, chaos: Chaos, target: str) -> End:
        for each in self._workers:
            each.cancel()
        return None

    async def _break(self, chaos: Chaos, target: str) -> End:
        self._failing = self._random.randint(1, 6)
        return None

    async def _slow_down(self, chaos: Chaos, target: str) -> End:
        self._slow = self._random.choice([0.01, 1.0, 10.0])

        def end() -> None:
            self._slow = 0.0

        return end

    async def _drain(self, chaos: Chaos, target: str) -> End:
        if self._queue is not None:
            self._queue.shut_down()
        return None

    async def write(self) -> None:
        queue = self._queue
        for _ in range(self._random.randint(0, 5)):
            name = self._random.choice(NAMES)
            self._wanted[name] += 1
            if queue is None:
                continue
            match self._random.randint(0, 3):
                case 0:
                    queue.add(name)
                case 1:
                    queue.add_threadsafe(name)
                case 2:
                    queue.add(name, after=self._random.choice([0.0, 0.5, 5.0]))
                case _:
                    queue.add(name, rate_limited=True)
        await asyncio.sleep(0)

    def problem(self) -> str:
        late = {name: count for name, count in self._wanted.items() if self._seen[name] < count}
        # Without stats() of the queue, which make delayed keys ready.
        return f"not processed: {late}, seen {self._seen}" if late else ""


SUBJECTS: dict[str, Callable[[World, Random], Subject]] = {
    "informer": InformerSubject,
    "controller": ControllerSubject,
    "election": ElectionSubject,
    "queue": QueueSubject,
}
