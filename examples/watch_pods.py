"""Print the pods of all namespaces and their changes, until Ctrl-C.

`python examples/watch_pods.py app=web` selects pods by label; without a
selector it shows all.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys

from kubeloop import ALL_NAMESPACES, Client, Expired, run


async def main() -> None:
    selector = sys.argv[1] if len(sys.argv) > 1 else None
    async with Client() as client:
        while True:
            try:
                await show(client, selector)
            except Expired:
                # The version has expired: start again with the current state.
                print("some changes were missed; the current state follows:", flush=True)
                await asyncio.sleep(1)  # avoids a busy loop


async def show(client: Client, selector: str | None) -> None:
    """Print existing pods as ADDED, then changes; a broken watch is resumed without loss."""
    async for event in client.core_v1.pods(ALL_NAMESPACES).watch(selector=selector):
        pod = event.object
        print(
            f"{event.type:<9} {pod.metadata.namespace}/{pod.metadata.name}"
            f" {pod.status.phase or 'Unknown'} on {pod.spec.node_name or 'no node'}",
            flush=True,
        )


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        run(main())
