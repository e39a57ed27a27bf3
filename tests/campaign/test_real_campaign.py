"""A short campaign against a real control plane (`--kube envtest`): network and compaction.

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
from kubeloop_testing import ControlPlane
from kubeloop_testing.threads import LoopThread

from .campaign import FAULTS, SEED, order, run_campaign
from .faults import NETWORK, Fault
from .leftovers import open_resources
from .scenario import CONFIG_MAPS, POD_TEMPLATES, Scenario, Subject, scenario_at

pytestmark = [pytest.mark.campaign, pytest.mark.timeout(180 + FAULTS)]

SPEED = 100.0  # the server has the real clock, and its responses take longer
LEAST = 2 * (len(NETWORK) + 1)


@final
class Real:
    """kube-apiserver and etcd, with the administrator's certificate."""

    def __init__(self, plane: ControlPlane) -> None:
        self._plane = plane
        self.port = int(plane.url.rpartition(":")[2])

    def config(self, port: int) -> ClusterConfig:
        server = f"https://127.0.0.1:{port}"
        return msgspec.structs.replace(self._plane.config, server=server)

    @asynccontextmanager
    async def compacted(self, scenario: Scenario, random: Random) -> AsyncIterator[None]:
        """The changes of the watch gap are compacted: 410."""
        await scenario.in_proxy_loop(scenario.proxy.refuse())
        yield
        await self._compact(await scenario.newest_version())
        await scenario.in_proxy_loop(scenario.proxy.accept())

    async def _compact(self, version: str) -> None:
        etcd = f"{self._plane.etcd_url}/v3/kv/compaction"
        async with (
            aiohttp.ClientSession() as session,
            session.post(etcd, json={"revision": version, "physical": True}) as response,
        ):
            text = await response.text()
            assert response.status == 200 or "has been compacted" in text, text

    def all(self) -> dict[str, Fault]:
        return {**NETWORK, "compacted": self.compacted}


@pytest.fixture(scope="module")
def real(request: pytest.FixtureRequest) -> Iterator[tuple[Real, LoopThread]]:
    if request.config.getoption("--kube") != "envtest":
        pytest.skip("a campaign against a real control plane (--kube envtest)")
    # Without the watch cache, so that a compaction of etcd expires watches.
    uncached = ControlPlane(api_server_flags=["--watch-cache-sizes=podtemplates#0"])
    with LoopThread() as thread, thread.running(uncached) as plane:
        yield Real(plane), thread


@pytest.mark.parametrize(
    "subject", [CONFIG_MAPS, POD_TEMPLATES], ids=lambda subject: str(subject.kind.__name__)
)
async def test_after_each_fault_the_cache_is_what_a_fresh_list_says_and_nothing_is_left(
    real: tuple[Real, LoopThread], subject: Subject
) -> None:
    """X-1, X-2, X-7: outages, expired versions and leftovers, with a real server."""
    cluster, thread = real
    gc.collect()
    before = open_resources()
    kinds = order(cluster.all(), count=max(FAULTS // 20, LEAST), seed=SEED)

    async with scenario_at(cluster, thread=thread, speed=SPEED, subject=subject) as scenario:
        await run_campaign(scenario, cluster.all(), kinds, seed=f"{SEED}.{subject.kind.__name__}")

    await scenario.wait_until_closed(since=before)
