"""Create or update a ConfigMap, change one key of it and remove another.

Run it with `python examples/configmap.py`; it deletes what it creates.
"""

from __future__ import annotations

from kubeloop import Client, run
from kubeloop.clients import ResourceClient
from kubeloop.wire.core.v1 import ConfigMap
from kubeloop.wire.meta.v1 import ObjectMeta

NAME = "example-settings"


async def main() -> None:
    async with Client() as client:
        configmaps = client.core_v1.config_maps()
        await configmaps.create_or_update(
            ConfigMap(metadata=ObjectMeta(name=NAME), data={"color": "green", "size": "small"})
        )
        await change(configmaps)
        await change_with_a_patch(configmaps)
        for key, value in (await configmaps.get(NAME)).data.items():
            print(f"{key}={value}")
        await configmaps.delete(NAME)


async def change(configmaps: ResourceClient[ConfigMap]) -> None:
    """Send only what changed; other clients' changes of other keys are preserved."""
    async with configmaps.edit(NAME) as settings:
        settings.data["color"] = "blue"
        del settings.data["size"]


async def change_with_a_patch(configmaps: ResourceClient[ConfigMap]) -> None:
    """Patch without reading; in a merge patch, None would remove a key."""
    await configmaps.patch(NAME, {"data": {"shape": "round"}}, type="merge")


if __name__ == "__main__":
    run(main())
