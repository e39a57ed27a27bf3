"""A server, a proxy that can break, a writer, and an informer that must stay correct.

Guarantees: after `wait_until_consistent` the cache equals a fresh list, so does the state that
each handler has seen, and nothing is open that was not open before the fault.
See also: `faults` (what goes wrong), `campaign` (in which order).
"""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from random import Random
from typing import Any, Protocol, TypeVar, final

import msgspec

from kubeloop.cache import Change, SharedInformer
from kubeloop.config import ClusterConfig
from kubeloop.errors import KubeError
from kubeloop.meta import ObjectKey
from kubeloop.runtime import Client
from kubeloop.wire.core.v1 import ConfigMap, Container, PodSpec, PodTemplate, PodTemplateSpec
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_testing.threads import LoopThread
from tests.support.change_history import ChangeHistory, Identity, cached_versions

from .leftovers import open_resources, task_names
from .proxy import Proxy
from .quick_clock import QuickClock

__all__ = ["CONFIG_MAPS", "POD_TEMPLATES", "SPEED", "Cluster", "Scenario", "Subject", "scenario_at"]

T = TypeVar("T")

SPEED = 300.0  # seconds of the clients' clock per real second
NAMES = tuple("abcdefgh")
DEADLINE = 20.0  # real seconds until the cache is consistent; usually a fraction of one
BACKLOG = 4
# A watch, a request beside it, and one that has just been cancelled.
CONNECTIONS = 3


class Subject(msgspec.Struct, frozen=True):
    """The kind that the informer caches, and how to create an object of it."""

    kind: type[Any]
    make: Callable[[str, str], Any]


def _config_map(name: str, value: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name), data={"value": value})


def _pod_template(name: str, value: str) -> PodTemplate:
    spec = PodSpec(containers=[Container(name="web", image=f"web:{value}")])
    return PodTemplate(metadata=ObjectMeta(name=name), template=PodTemplateSpec(spec=spec))


CONFIG_MAPS = Subject(ConfigMap, _config_map)
POD_TEMPLATES = Subject(PodTemplate, _pod_template)


class Cluster(Protocol):
    """What a campaign needs of a server besides HTTP."""

    port: int

    def config(self, port: int) -> ClusterConfig:
        """The configuration of its administrator, through that port."""
        ...


class SlowHandler:
    """A handler that can be held; its later notifications must be consistent, too."""

    def __init__(self) -> None:
        self.story = ChangeHistory()
        self._released = asyncio.Event()
        self._released.set()

    async def __call__(self, change: Change[Any]) -> None:
        await self._released.wait()
        self.story(change)

    def hold(self) -> None:
        self._released.clear()

    def release(self) -> None:
        self._released.set()


@final
class Scenario:
    """What faults apply to, and what is checked after each."""

    def __init__(
        self,
        proxy: Proxy,
        *,
        client: Client,
        direct: Client,
        clock: QuickClock,
        subject: Subject,
    ) -> None:
        self.proxy = proxy
        self.client = client
        self.clock = clock
        self._subject = subject
        self._objects = direct.resource(subject.kind, namespace="default")
        source = client.list_watch(subject.kind, namespace="default")
        self.informer: SharedInformer[Any] = SharedInformer(
            source, subject.kind, backlog=BACKLOG, clock=clock
        )
        self.story = ChangeHistory()
        self.slow = SlowHandler()
        self._registrations = [
            self.informer.add_handler(on_change=self.story, name="quick"),
            self.informer.add_handler(on_change=self.slow, name="slow"),
        ]
        self._turn = 0
        self.tasks_before: list[str] = []
        # Connections of an old TLS context are not reused; they close when they are idle.
        self.connections_allowed = CONNECTIONS

    # --- the writer

    async def write(self, random: Random, *, most: int) -> None:
        """Change up to `most` objects; writes that a fault prevents are skipped."""
        for _ in range(random.randint(0, most)):
            with suppress(KubeError):
                await self._change(random.choice(NAMES), random.choice(["put", "put", "delete"]))

    async def put(self, name: str) -> str:
        """Create or update an object, with retries; returns its version."""
        async with asyncio.timeout(DEADLINE):
            while True:
                with suppress(KubeError):
                    return await self._put(name)
                await asyncio.sleep(0.005)

    async def _change(self, name: str, how: str) -> None:
        if how == "delete":
            await self._objects.delete(name, missing_ok=True)
        else:
            await self._put(name)

    async def _put(self, name: str) -> str:
        self._turn += 1
        made = await self._objects.create_or_update(self._subject.make(name, str(self._turn)))
        return str(made.metadata.resource_version)

    # --- the proxy

    async def in_proxy_loop(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine of the proxy in its event loop."""
        assert self.proxy.loop is not None
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self.proxy.loop))

    def reset_connections(self) -> None:
        """Reset every connection of the informer's client."""
        assert self.proxy.loop is not None
        self.proxy.loop.call_soon_threadsafe(self.proxy.cut)

    # --- checks

    async def wait_until_consistent(self, *, slow_too: bool = True) -> None:
        """Wait until cache and handlers have the state of the server, and nothing extra is open."""
        try:
            async with asyncio.timeout(DEADLINE):
                while not await self._soon(self._equals(await self.truth(), slow_too=slow_too)):
                    pass  # a write came after the list
                await self.until(lambda: task_names() == self.tasks_before)
                await self.until(lambda: len(self.proxy.connections) <= self.connections_allowed)
        except TimeoutError:
            raise AssertionError(await self._report()) from None
        assert [each.stats().failures for each in self._registrations] == [0, 0], (
            "inconsistent notifications"
        )
        assert self.informer.has_synced

    async def wait_until_closed(self, *, since: Counter[str]) -> None:
        """Wait until everything that was opened since then is closed.

        Less may be open than before: servers of other tests run in other threads.
        """

        def is_so() -> bool:
            gc.collect()  # what only the collector must free does not count
            return open_resources() <= since

        with suppress(TimeoutError):
            await self.until(is_so)
        assert open_resources() - since == Counter()

    async def truth(self) -> dict[ObjectKey, Identity]:
        """A fresh list, as soon as the server returns one."""
        while True:
            with suppress(KubeError):
                found = [each.metadata for each in (await self._objects.list()).items]
                return {
                    ObjectKey(each.namespace, each.name): (each.uid, each.resource_version)
                    for each in found
                }
            await asyncio.sleep(0.005)

    async def newest_version(self) -> str:
        """The version of a fresh list."""
        version: str = (await self._objects.list()).version
        return version

    async def until(self, met: Callable[[], bool]) -> None:
        """Wait for a condition."""
        async with asyncio.timeout(DEADLINE):
            while not met():
                await asyncio.sleep(0.002)

    def _equals(self, expected: dict[ObjectKey, Identity], *, slow_too: bool) -> Callable[[], bool]:
        def met() -> bool:
            slow = self.slow.story.now if slow_too else expected
            return cached_versions(self.informer) == expected == self.story.now == slow

        return met

    async def _soon(self, met: Callable[[], bool]) -> bool:
        try:
            async with asyncio.timeout(1):
                await self.until(met)
        except TimeoutError:
            return False
        return True

    async def _report(self) -> str:
        return (
            f"{DEADLINE:g} s after the fault\nserver: {await self.truth()}\n"
            f"cache:  {cached_versions(self.informer)}\nquick:  {self.story.now}\n"
            f"slow:   {self.slow.story.now}\ntasks:  {task_names()}\n"
            f"before: {self.tasks_before}\nopen:   {len(self.proxy.connections)}\n"
            f"{self.informer.stats()}"
        )


@asynccontextmanager
async def scenario_at(
    cluster: Cluster, *, thread: LoopThread, speed: float = SPEED, subject: Subject = CONFIG_MAPS
) -> AsyncIterator[Scenario]:
    """A scenario with a server; its clients share a clock of this speed, which can jump."""
    clock = QuickClock(speed)
    with thread.running(Proxy(cluster.port)) as proxy:
        async with (
            Client(cluster.config(cluster.port), clock=clock) as direct,
            Client(cluster.config(proxy.port), clock=clock) as client,
        ):
            scenario = Scenario(proxy, client=client, direct=direct, clock=clock, subject=subject)
            async with scenario.informer:
                await scenario.until(lambda: bool(scenario.proxy.connections))
                scenario.tasks_before = task_names()
                yield scenario
