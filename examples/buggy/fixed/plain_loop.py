"""The fix of `plain_loop`: an event is done when its work has succeeded.

The loop tries again, and waits longer each time. A loop that must not wait for one object needs
a queue: `examples/workqueue.py` shows it.
"""

from __future__ import annotations

import asyncio
import logging

from kubeloop import AlreadyExists, ApiError, Client, ClusterConfig
from kubeloop.wire.core.v1 import ConfigMap, Secret
from kubeloop.wire.meta.v1 import ObjectMeta

log = logging.getLogger(__name__)


async def main(config: ClusterConfig) -> None:
    async with Client(config) as client:
        async for event in client.core_v1.config_maps().watch(selector="site"):
            delay = 0.1
            while event.type == "ADDED":
                try:
                    await add_secret(client, event.object)
                    break
                except ApiError as error:
                    log.warning("%s: will retry: %s", event.object.metadata.name, error)
                await asyncio.sleep(delay)
                delay = min(delay * 2, 60)


async def add_secret(client: Client, page: ConfigMap) -> None:
    secret = Secret(metadata=ObjectMeta(name=page.metadata.name), string_data={"user": "admin"})
    try:
        await client.core_v1.secrets().create(secret)
    except AlreadyExists:
        log.info("%s: has its secret", page.metadata.name)
