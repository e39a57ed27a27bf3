"""A controller for any kind, named on the command line, that labels its objects.

    python examples/dynamic_controller.py v1 ConfigMap
    python examples/dynamic_controller.py example.com/v1 Website

The kind needs no class, and need not exist yet: the controller waits for it.
"""

from __future__ import annotations

import sys

from kubeloop import Context, Manager, ObjectKey, run
from kubeloop.meta import GroupVersionKind

LABEL = "example.com/seen"


def manager_for(kind: GroupVersionKind) -> Manager:
    manager = Manager()

    @manager.controller(kind)
    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        obj = ctx.get(kind, key)  # a dict
        if obj is None or LABEL in (obj["metadata"].get("labels") or {}):
            return
        objects = ctx.client.resource(kind, namespace=key.namespace or None)
        patch = {"metadata": {"labels": {LABEL: "true"}}}
        await objects.patch(key.name, patch, type="merge")
        print(f"{kind.kind} {key}: labelled", flush=True)

    return manager


if __name__ == "__main__":
    api_version, kind = sys.argv[1:] or ("v1", "ConfigMap")
    run(manager_for(GroupVersionKind.of(api_version, kind)).run())
