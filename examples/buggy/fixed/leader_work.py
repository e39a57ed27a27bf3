"""The fix of `leader_work`: the work is awaited inside the term.

`leadership()` cancels its block when the lease is lost, and with it everything that the block
awaits. The next term continues with what is left.
"""

from __future__ import annotations

import asyncio
import uuid

from kubeloop import Client, ClusterConfig
from kubeloop.election import LeaderElector, LeadershipLost
from kubeloop.wire.coordination.v1 import Lease


async def migrate(client: Client) -> None:
    pages = client.core_v1.config_maps()
    for page in await pages.list(selector="format=1"):
        await pages.patch(
            page.metadata.name, {"metadata": {"labels": {"format": "2"}}}, type="merge"
        )
        await asyncio.sleep(3)


async def main(config: ClusterConfig) -> None:
    async with Client(config) as client:
        leases, identity = client.resource(Lease), f"migration-{uuid.uuid4()}"
        elector = LeaderElector(leases, "migration", identity=identity)
        while True:
            try:
                async with elector.leadership():
                    await migrate(client)
                    await asyncio.Event().wait()
            except LeadershipLost:
                continue
