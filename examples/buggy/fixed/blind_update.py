"""The fix of `blind_update`: server-side apply sends only the fields of the controller.

It works with any cache, because it does not send what it has not decided. Where apply does not
fit, use `edit`, or `update` with the version that was read.
"""

from __future__ import annotations

from examples.buggy.kinds import Site, page_of
from kubeloop import ClusterConfig, Context, Manager, ObjectKey
from kubeloop.wire.core.v1 import ConfigMap


async def reconcile(key: ObjectKey, ctx: Context) -> None:
    site = ctx.get(Site, key)
    if site is None:
        return
    await ctx.client.apply(page_of(site), owner=site)


def make_manager(config: ClusterConfig) -> Manager:
    manager = Manager(config)
    manager.controller(Site, owns=[ConfigMap], install_crd=True)(reconcile)
    return manager
