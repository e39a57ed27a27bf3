"""Create or update a ConfigMap, change and remove keys, without asyncio.

Run it with `python examples/blocking_configmap.py`; it deletes what it creates.
"""

from __future__ import annotations

from kubeloop.blocking import Client, ResourceClient
from kubeloop.wire.core.v1 import ConfigMap
from kubeloop.wire.meta.v1 import ObjectMeta

NAME = "example-settings"


def main() -> None:
    with Client() as client:
        configmaps = client.core_v1.config_maps()
        configmaps.create_or_update(
            ConfigMap(metadata=ObjectMeta(name=NAME), data={"color": "green", "size": "small"})
        )
        change(configmaps)
        change_with_a_patch(configmaps)
        for key, value in configmaps.get(NAME).data.items():
            print(f"{key}={value}")
        configmaps.delete(NAME)


def change(configmaps: ResourceClient[ConfigMap]) -> None:
    """Send only what changed; other clients' changes of other keys are preserved."""
    with configmaps.edit(NAME) as settings:
        settings.data["color"] = "blue"
        del settings.data["size"]


def change_with_a_patch(configmaps: ResourceClient[ConfigMap]) -> None:
    """Patch without reading; in a merge patch, None would remove a key."""
    configmaps.patch(NAME, {"data": {"shape": "round"}}, type="merge")


if __name__ == "__main__":
    main()
