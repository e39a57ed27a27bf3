"""An election on the embedded API server, over HTTP."""

from __future__ import annotations

import asyncio
from typing import final

import aiohttp
import pytest

from kubeloop.election import ElectionTimes, LeaderElector, LeadershipLost
from kubeloop.errors import ConnectError, api_error
from kubeloop.kit import ManualClock
from kubeloop.wire.coordination.v1 import Lease
from kubeloop.wire.meta.v1 import Status
from kubeloop_testing.server import Service

LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
# The lease changes its holder quickly, and none expires because this process had to wait.
QUICK = ElectionTimes(lease_duration=60.0, renew_deadline=40.0, retry_period=0.05)


@final
class HttpLeases:
    """A minimal client of leases."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    async def get(self, name: str, /) -> Lease:
        return await self._send("GET", f"{LEASES}/{name}")

    async def create(self, lease: Lease, /) -> Lease:
        return await self._send("POST", LEASES, lease)

    async def update(self, lease: Lease, /) -> Lease:
        return await self._send("PUT", f"{LEASES}/{lease.metadata.name}", lease)

    async def _send(self, method: str, path: str, lease: Lease | None = None) -> Lease:
        body = lease.to_json() if lease is not None else None
        headers = {"Content-Type": "application/json"}
        try:
            async with self._session.request(method, path, data=body, headers=headers) as response:
                content = await response.read()
        except aiohttp.ClientError as error:
            raise ConnectError(f"{method} {path}: {error}") from error
        if response.status >= 400:
            raise api_error(f"{method} {path}", Status.from_json(content))
        return Lease.from_json(content)


async def test_leadership_passes_from_one_to_the_next() -> None:
    """X-5, LEA-11, LEA-C5: over real HTTP, with real time."""
    terms: list[tuple[str, int]] = []
    inside: set[str] = set()

    async def lead_once(elector: LeaderElector) -> None:
        async with elector.leadership() as leadership:
            assert inside == set()
            inside.add(elector.identity)
            terms.append((elector.identity, leadership.transitions))
            await asyncio.sleep(0)
            inside.remove(elector.identity)

    async with Service() as server, aiohttp.ClientSession(server.url) as session:
        electors = [
            LeaderElector(HttpLeases(session), "web", identity=f"e{n}", times=QUICK)
            for n in range(3)
        ]
        await asyncio.gather(*map(lead_once, electors))

        assert sorted(who for who, _ in terms) == ["e0", "e1", "e2"]
        assert [number for _, number in terms] == [0, 1, 2]
        lease = await HttpLeases(session).get("web")
        assert lease.spec.holder_identity == ""


async def test_losing_the_server_ends_leadership_in_time() -> None:
    """LEA-C7: the work is cancelled before another may lead."""
    clock = ManualClock()
    async with Service() as server, aiohttp.ClientSession(server.url) as session:
        elector = LeaderElector(HttpLeases(session), "web", identity="me", clock=clock)

        async def lead() -> None:
            async with elector.leadership():
                await server.refuse_connections()
                while True:
                    await clock.advance(0.1)

        with pytest.raises(LeadershipLost, match="not renewed within 10 s"):
            await lead()
        await server.accept_connections()

    assert clock.now() == pytest.approx(elector.times.renew_deadline, abs=0.1)
