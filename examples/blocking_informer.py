"""Print how many pods a node has after each change, until Ctrl-C, without asyncio.

    python examples/blocking_informer.py

The informer sends one list and one watch request; reads of the cache send none.
"""

from __future__ import annotations

import contextlib

from kubeloop.blocking import Client
from kubeloop.cache import Change, Lister
from kubeloop.wire.core.v1 import Pod


def main() -> None:
    with Client() as client, client.informer(Pod, index={"node": "spec.nodeName"}) as pods:
        for change in pods.changes():  # existing objects come first, as adds
            for node in nodes_of(change):
                show(node, pods.lister)


def show(node: str, lister: Lister[Pod]) -> None:
    names = [key.name for key in lister.keys_by_index("node", node)]  # decodes nothing
    print(f"{node}: {len(names)} pods ({', '.join(names)})", flush=True)


def nodes_of(change: Change[Pod]) -> set[str]:
    """The nodes of the pod before and after the change; none while it is not scheduled."""
    states = (pod for pod in (change.old, change.new) if pod is not None)
    return {pod.spec.node_name for pod in states if pod.spec.node_name}


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
