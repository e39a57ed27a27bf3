"""A loop that handles each event once; a controller without kubeloop's runtime.

Plain asyncio and a client: for each new ConfigMap with the label `site` it creates a Secret. An
error of the server is logged, and the loop goes on with the next event. The one that failed does
not come back, so the Secret is missing until the next restart.
"""

from __future__ import annotations

import logging

from kubeloop import AlreadyExists, ApiError, Client, ClusterConfig
from kubeloop.wire.core.v1 import ConfigMap, Secret
from kubeloop.wire.meta.v1 import ObjectMeta

log = logging.getLogger(__name__)


async def main(config: ClusterConfig) -> None:
    async with Client(config) as client:
        async for event in client.core_v1.config_maps().watch(selector="site"):
            if event.type == "ADDED":
                try:
                    await add_secret(client, event.object)
                except ApiError as error:  # bug: this event does not come back
                    log.warning("%s: %s", event.object.metadata.name, error)


async def add_secret(client: Client, page: ConfigMap) -> None:
    secret = Secret(metadata=ObjectMeta(name=page.metadata.name), string_data={"user": "admin"})
    try:
        await client.core_v1.secrets().create(secret)
    except AlreadyExists:
        log.info("%s: has its secret", page.metadata.name)
