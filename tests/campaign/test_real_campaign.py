"""A short campaign against a real control plane (`--kube envtest`): its lines, and compaction.

SOAK_FAULTS and SOAK_SEED are as for the embedded server; a tenth of the faults happen here.
"""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from random import Random
from typing import final

import aiohttp
import msgspec
import pytest

from kubeloop.config import ClusterConfig
from kubeloop.testing import ControlPlane
from kubeloop.testing.threads import LoopThread

from .campaign import FAULTS, SEED, live_through, order
from .faults import LINE, Fault
from .leftovers import all_that_is_open
from .world import CONFIG_MAPS, POD_TEMPLATES, Subject, World, world_at

pytestmark = [pytest.mark.campaign, pytest.mark.timeout(180 + FAULTS)]

SPEED = 100.0  # the server's own clock is not ours, and its answers take longer
LEAST = 2 * (len(LINE) + 1)


@final
class Real:
    """kube-apiserver and etcd, reached with the administrator's certificate."""

    def __init__(self, plane: ControlPlane) -> None:
        self._plane = plane
        self.port = int(plane.url.rpartition(":")[2])

    def config(self, port: int) -> ClusterConfig:
        server = f"https://127.0.0.1:{port}"
        return msgspec.structs.replace(self._plane.config, server=server)

    @asynccontextmanager
    async def compacted(self, world: World, random: Random) -> AsyncIterator[None]:
        """What happened while nobody could watch is forgotten: 410."""
        await world.on_the_line(world.proxy.refuse())
        yield
        await self._compact(await world.newest_version())
        await world.on_the_line(world.proxy.accept())

    async def _compact(self, version: str) -> None:
        etcd = f"{self._plane.etcd_url}/v3/kv/compaction"
        async with (
            aiohttp.ClientSession() as session,
            session.post(etcd, json={"revision": version, "physical": True}) as answer,
        ):
            said = await answer.text()
            assert answer.status == 200 or "has been compacted" in said, said

    def all(self) -> dict[str, Fault]:
        return {**LINE, "compacted": self.compacted}


@pytest.fixture(scope="module")
def real(request: pytest.FixtureRequest) -> Iterator[tuple[Real, LoopThread]]:
    if request.config.getoption("--kube") != "envtest":
        pytest.skip("a campaign against a real control plane (--kube envtest)")
    # Straight from etcd, so that a compaction expires watches.
    uncached = ControlPlane(api_server_flags=["--watch-cache-sizes=podtemplates#0"])
    with LoopThread() as thread, thread.running(uncached) as plane:
        yield Real(plane), thread


@pytest.mark.parametrize(
    "subject", [CONFIG_MAPS, POD_TEMPLATES], ids=lambda subject: str(subject.kind.__name__)
)
async def test_after_each_fault_the_cache_is_what_a_fresh_list_says_and_nothing_is_left(
    real: tuple[Real, LoopThread], subject: Subject
) -> None:
    """X-1, X-2, X-7."""
    place, thread = real
    gc.collect()
    before = all_that_is_open()
    kinds = order(place.all(), count=max(FAULTS // 20, LEAST), seed=SEED)

    async with world_at(place, thread=thread, speed=SPEED, subject=subject) as world:
        await live_through(world, place.all(), kinds, seed=f"{SEED}.{subject.kind.__name__}")

    await world.leaves_nothing(since=before)
