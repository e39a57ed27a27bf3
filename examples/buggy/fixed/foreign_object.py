"""The fix of `foreign_object`: an object of another owner is left alone.

`create` is atomic: only one writer gets the name. If the name is taken, the controller reads
the object and looks at its controller reference. It waits while the object has another owner.
"""

from __future__ import annotations

from examples.buggy.kinds import Site, SiteStatus, page_of
from kubeloop import AlreadyExists, ClusterConfig, Context, Manager, ObjectKey, Result
from kubeloop.meta import is_controlled_by, set_controller
from kubeloop.wire.core.v1 import ConfigMap


async def reconcile(key: ObjectKey, ctx: Context) -> Result | None:
    site = ctx.get(Site, key)
    if site is None:
        return None
    site.status = SiteStatus(phase="Created")
    site = await ctx.update_status(site)
    page = page_of(site)
    set_controller(page, site)
    pages = ctx.client.core_v1.config_maps(key.namespace)
    try:
        await pages.create(page)
    except AlreadyExists:
        existing = await pages.get(key.name)
        if not is_controlled_by(existing, site):
            return Result(requeue_after=10)
        existing.data = page.data
        await pages.update(existing)
    return None


def make_manager(config: ClusterConfig) -> Manager:
    manager = Manager(config)
    manager.controller(Site, owns=[ConfigMap], install_crd=True)(reconcile)
    return manager
