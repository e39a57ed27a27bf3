"""A create without a check of ownership.

The ConfigMap of a site has the name of the site. If one exists, the controller assumes that an
earlier attempt of its own has created it, and writes its content. After a crash between the
status and the ConfigMap this is wrong: meanwhile a person has created one with that name, and
loses its data.
"""

from __future__ import annotations

from examples.buggy.kinds import Site, SiteStatus, page_of
from kubeloop import AlreadyExists, ClusterConfig, Context, Manager, ObjectKey
from kubeloop.meta import set_controller
from kubeloop.wire.core.v1 import ConfigMap


async def reconcile(key: ObjectKey, ctx: Context) -> None:
    site = ctx.get(Site, key)
    if site is None:
        return
    site.status = SiteStatus(phase="Created")
    site = await ctx.update_status(site)
    page = page_of(site)
    set_controller(page, site)
    pages = ctx.client.core_v1.config_maps(key.namespace)
    try:
        await pages.create(page)
    except AlreadyExists:
        await pages.update(page, unconditional=True)  # bug: it may have another owner


def make_manager(config: ClusterConfig) -> Manager:
    manager = Manager(config)
    manager.controller(Site, owns=[ConfigMap], install_crd=True)(reconcile)
    return manager
