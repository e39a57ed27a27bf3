"""A server, a line to it that can break, one who writes, and an informer that must not care.

Promises: what `is_true_again` returns from holds: the cache is what a fresh list says, so is
the story that each handler was told, and nothing is open that was not before the fault.
Elsewhere: what goes wrong (`faults`), in which order (`campaign`).
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
from tests.support.change_history import ChangeHistory, Identity, cached_versions

from kubeloop.cache import Change, SharedInformer
from kubeloop.config import ClusterConfig
from kubeloop.errors import KubeError
from kubeloop.meta import ObjectKey
from kubeloop.runtime import Client
from kubeloop.testing.threads import LoopThread
from kubeloop.wire.core.v1 import ConfigMap, Container, PodSpec, PodTemplate, PodTemplateSpec
from kubeloop.wire.meta.v1 import ObjectMeta

from .leftovers import all_that_is_open, task_names
from .proxy import Proxy
from .quick_clock import QuickClock

__all__ = ["CONFIG_MAPS", "POD_TEMPLATES", "SPEED", "Place", "Subject", "World", "world_at"]

T = TypeVar("T")

SPEED = 300.0  # seconds of a client's clock in one of ours
NAMES = tuple("abcdefgh")
DEADLINE = 20.0  # real seconds for the truth to come back; it takes a fraction of one
BACKLOG = 4
# A watch, a request beside it, and one that has just been given up.
LINES = 3


class Subject(msgspec.Struct, frozen=True):
    """The kind that is mirrored, and how one of it is made."""

    kind: type[Any]
    make: Callable[[str, str], Any]


def _config_map(name: str, value: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name), data={"value": value})


def _pod_template(name: str, value: str) -> PodTemplate:
    spec = PodSpec(containers=[Container(name="web", image=f"web:{value}")])
    return PodTemplate(metadata=ObjectMeta(name=name), template=PodTemplateSpec(spec=spec))


CONFIG_MAPS = Subject(ConfigMap, _config_map)
POD_TEMPLATES = Subject(PodTemplate, _pod_template)


class Place(Protocol):
    """What a campaign needs of a server beside HTTP."""

    port: int

    def config(self, port: int) -> ClusterConfig:
        """How to reach it as its administrator, through that port."""
        ...


class SlowHandler:
    """A handler that can be made to wait; what it is told then has to make sense as well."""

    def __init__(self) -> None:
        self.story = ChangeHistory()
        self._may_go_on = asyncio.Event()
        self._may_go_on.set()

    async def __call__(self, change: Change[Any]) -> None:
        await self._may_go_on.wait()
        self.story(change)

    def hold(self) -> None:
        self._may_go_on.clear()

    def let_go(self) -> None:
        self._may_go_on.set()


@final
class World:
    """What faults happen to, and what is checked after each."""

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
        self._told = [
            self.informer.add_handler(on_change=self.story, name="quick"),
            self.informer.add_handler(on_change=self.slow, name="slow"),
        ]
        self._turn = 0
        self.tasks_before: list[str] = []
        # Connections of an old TLS context are not used again, and go when they are idle.
        self.lines_allowed = LINES

    # --- who writes

    async def write(self, random: Random, *, most: int) -> None:
        """Change up to so many objects; what a fault keeps from happening does not happen."""
        for _ in range(random.randint(0, most)):
            with suppress(KubeError):
                await self._change(random.choice(NAMES), random.choice(["put", "put", "delete"]))

    async def put(self, name: str) -> str:
        """Make or change an object, however long it takes; returns its version."""
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

    # --- the line

    async def on_the_line(self, work: Coroutine[Any, Any, T]) -> T:
        """Do something with the proxy, in its own loop."""
        assert self.proxy.loop is not None
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self.proxy.loop))

    def cut_lines(self) -> None:
        """Break every connection of the informer's client."""
        assert self.proxy.loop is not None
        self.proxy.loop.call_soon_threadsafe(self.proxy.cut)

    # --- what has to hold

    async def is_true_again(self, *, slow_too: bool = True) -> None:
        """Wait until the cache and the stories are what the server has, and nothing is left."""
        try:
            async with asyncio.timeout(DEADLINE):
                while not await self._soon(self._equals(await self.truth(), slow_too=slow_too)):
                    pass  # somebody's last write came after the list
                await self.until(lambda: task_names() == self.tasks_before)
                await self.until(lambda: len(self.proxy.lines) <= self.lines_allowed)
        except TimeoutError:
            raise AssertionError(await self._complaint()) from None
        assert [each.stats().failures for each in self._told] == [0, 0], "a story makes no sense"
        assert self.informer.has_synced

    async def leaves_nothing(self, *, since: Counter[str]) -> None:
        """Wait until all that was opened since then is closed.

        What was open before may be gone: servers of other tests live on in other threads.
        """

        def is_so() -> bool:
            gc.collect()  # who only waits for the collector is not left
            return all_that_is_open() <= since

        with suppress(TimeoutError):
            await self.until(is_so)
        assert all_that_is_open() - since == Counter()

    async def truth(self) -> dict[ObjectKey, Identity]:
        """What a fresh list says, as soon as the server gives one."""
        while True:
            with suppress(KubeError):
                found = [each.metadata for each in (await self._objects.list()).items]
                return {
                    ObjectKey(each.namespace, each.name): (each.uid, each.resource_version)
                    for each in found
                }
            await asyncio.sleep(0.005)

    async def newest_version(self) -> str:
        """The version that a fresh list has."""
        return (await self._objects.list()).version

    async def until(self, met: Callable[[], bool]) -> None:
        """Wait for a condition. Safe to cancel."""
        async with asyncio.timeout(DEADLINE):
            while not met():
                await asyncio.sleep(0.002)

    def _equals(self, wanted: dict[ObjectKey, Identity], *, slow_too: bool) -> Callable[[], bool]:
        def met() -> bool:
            told = self.slow.story.now if slow_too else wanted
            return cached_versions(self.informer) == wanted == self.story.now == told

        return met

    async def _soon(self, met: Callable[[], bool]) -> bool:
        try:
            async with asyncio.timeout(1):
                await self.until(met)
        except TimeoutError:
            return False
        return True

    async def _complaint(self) -> str:
        return (
            f"{DEADLINE:g} s after the fault\nserver: {await self.truth()}\n"
            f"cache:  {cached_versions(self.informer)}\ntold:   {self.story.now}\n"
            f"slow:   {self.slow.story.now}\ntasks:  {task_names()}\n"
            f"before: {self.tasks_before}\nlines:  {len(self.proxy.lines)}\n"
            f"{self.informer.stats()}"
        )


@asynccontextmanager
async def world_at(
    place: Place, *, thread: LoopThread, speed: float = SPEED, subject: Subject = CONFIG_MAPS
) -> AsyncIterator[World]:
    """A world around a server; its clients have one clock of `speed`, which can jump."""
    clock = QuickClock(speed)
    with thread.running(Proxy(place.port)) as proxy:
        async with (
            Client(place.config(place.port), clock=clock) as direct,
            Client(place.config(proxy.port), clock=clock) as client,
        ):
            world = World(proxy, client=client, direct=direct, clock=clock, subject=subject)
            async with world.informer:
                await world.until(lambda: bool(world.proxy.lines))
                world.tasks_before = task_names()
                yield world
