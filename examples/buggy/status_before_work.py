"""A status that is written before the work.

The status says that the page of a site is published, and a site with such a status needs no more
work. It is written first: if the work after it fails, the retry finds the status and does nothing.
"""

from __future__ import annotations

from examples.buggy.kinds import Site, SiteStatus, page_of
from kubeloop import ClusterConfig, Context, Manager, ObjectKey
from kubeloop.wire.core.v1 import ConfigMap


async def reconcile(key: ObjectKey, ctx: Context) -> None:
    site = ctx.get(Site, key)
    if site is None or (site.status and site.status.phase == "Published"):
        return
    site.status = SiteStatus(phase="Published")
    site = await ctx.update_status(site)  # bug: it is not published yet
    await ctx.client.apply(page_of(site), owner=site)


def make_manager(config: ClusterConfig) -> Manager:
    manager = Manager(config)
    manager.controller(Site, owns=[ConfigMap], install_crd=True)(reconcile)
    return manager
