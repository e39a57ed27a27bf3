"""The fix of `leader_work`: the work is awaited inside the term.

`leadership()` cancels its block when the lease is lost, and with it everything that the block
awaits. The next term continues with what is left.
"""

from __future__ import annotations

import asyncio
import logging
import uuid

from kubeloop import Client, ClusterConfig, KubeError
from kubeloop.election import LeaderElector, LeadershipLost
from kubeloop.wire.coordination.v1 import Lease

log = logging.getLogger(__name__)


async def main(config: ClusterConfig) -> None:
    async with Client(config) as client:
        leases, identity = client.resource(Lease), f"migration-{uuid.uuid4()}"
        elector = LeaderElector(leases, "migration", identity=identity)
        while True:
            try:
                async with elector.leadership():
                    await migrate(client)
                    await asyncio.Event().wait()
            except LeadershipLost as error:
                log.warning("%s", error)


async def migrate(client: Client) -> None:
    is_done = False
    while not is_done:
        try:
            is_done = await migrate_one(client)
        except KubeError as error:
            log.warning("will retry: %s", error)
        await asyncio.sleep(3)


async def migrate_one(client: Client) -> bool:
    pages = client.core_v1.config_maps()
    for page in await pages.list(selector="format=1", limit=1):
        change = {"metadata": {"labels": {"format": "2"}}}
        await pages.patch(page.metadata.name, change, type="merge")
        return False
    return True
