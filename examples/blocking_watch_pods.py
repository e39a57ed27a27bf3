"""Pods of all namespaces and their changes, until Ctrl-C, without asyncio.

`python examples/blocking_watch_pods.py app=web` shows those that the label selector selects,
without a selector it shows all.
"""

from __future__ import annotations

import contextlib
import sys
import time

from kubeloop import ALL_NAMESPACES, Expired
from kubeloop.blocking import Client


def main() -> None:
    labels = sys.argv[1] if len(sys.argv) > 1 else None
    with Client() as client:
        while True:
            try:
                show(client, labels)
            except Expired:
                # The server has forgotten where the watch was: begin again with what there is.
                print("some changes were missed; this is what there is now:", flush=True)
                time.sleep(1)  # not too often, should it forget at once


def show(client: Client, labels: str | None) -> None:
    """What is there comes first, as ADDED; broken connections are resumed without loss."""
    for event in client.core_v1.pods(ALL_NAMESPACES).watch(selector=labels):
        pod = event.object
        print(
            f"{event.type:<9} {pod.metadata.namespace}/{pod.metadata.name}"
            f" {pod.status.phase or 'Unknown'} on {pod.spec.node_name or 'no node'}",
            flush=True,
        )


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
