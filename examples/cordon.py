"""Cordon and uncordon a node as kubectl does, and list its pods.

`python examples/cordon.py node-1` cordons the node; with `--undo` it uncordons it.
"""

from __future__ import annotations

import sys

from kubeloop import ALL_NAMESPACES, Client, NotFound, run


async def main() -> None:
    name = sys.argv[1] if len(sys.argv) > 1 else sys.exit(__doc__)
    async with Client() as client:
        try:
            await (uncordon if "--undo" in sys.argv else cordon)(client, name)
        except NotFound:
            nodes = await client.metadata("v1", "Node").list()
            available = ", ".join(node.metadata.name for node in nodes)
            sys.exit(f"no node {name}; available: {available or 'none'}")
        await show(client, name)


async def cordon(client: Client, name: str) -> None:
    """Use `edit`: it reads the node and sends the difference."""
    async with client.core_v1.nodes().edit(name) as node:
        node.spec.unschedulable = True


async def uncordon(client: Client, name: str) -> None:
    """Use `patch`: one request, without a read."""
    await client.core_v1.nodes().patch(name, {"spec": {"unschedulable": None}}, type="merge")


async def show(client: Client, name: str) -> None:
    node = await client.core_v1.nodes().get(name)
    print(f"{name}: {'cordoned' if node.spec.unschedulable else 'schedulable'}")
    async for pod in client.core_v1.pods(ALL_NAMESPACES).each(
        field_selector={"spec.nodeName": name}
    ):
        print(f"  {pod.metadata.namespace}/{pod.metadata.name}")


if __name__ == "__main__":
    run(main())
