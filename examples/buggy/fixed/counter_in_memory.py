"""The fix of `counter_in_memory`: the name follows from the object.

A name that is computed from the object is the same after every restart, and no two sites of a
namespace have the same. If a name must be a number, let the server decide: create the object,
and try the next number if it exists.
"""

from __future__ import annotations

from examples.buggy.kinds import Site, SiteStatus, page_of
from kubeloop import ClusterConfig, Context, Manager, ObjectKey
from kubeloop.wire.core.v1 import ConfigMap


async def reconcile(key: ObjectKey, ctx: Context) -> None:
    site = ctx.get(Site, key)
    if site is None or (site.status and site.status.page):
        return
    page = await ctx.client.apply(page_of(site, name=f"page-{key.name}"), owner=site)
    site.status = SiteStatus(page=page.metadata.name)
    await ctx.update_status(site)


def make_manager(config: ClusterConfig) -> Manager:
    manager = Manager(config)
    manager.controller(Site, owns=[ConfigMap], install_crd=True)(reconcile)
    return manager
