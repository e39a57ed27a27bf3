"""The fix of `status_before_work`: first the work, then the status.

The status reports what was observed. The work is idempotent, so that it is done again whenever
the status could not be written.
"""

from __future__ import annotations

from examples.buggy.kinds import Site, SiteStatus, page_of
from kubeloop import ClusterConfig, Context, Manager, ObjectKey
from kubeloop.wire.core.v1 import ConfigMap


async def reconcile(key: ObjectKey, ctx: Context) -> None:
    site = ctx.get(Site, key)
    if site is None:
        return
    await ctx.client.apply(page_of(site), owner=site)
    site.status = SiteStatus(phase="Published")
    await ctx.update_status(site)


def make_manager(config: ClusterConfig) -> Manager:
    manager = Manager(config)
    manager.controller(Site, owns=[ConfigMap], install_crd=True)(reconcile)
    return manager
