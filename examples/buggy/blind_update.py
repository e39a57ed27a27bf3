"""An update instead of a patch.

The controller takes the ConfigMap from its cache, changes the page and sends the whole object,
without its version, because a conflict would only mean a retry. If the cache is stale, this also
sends the old values of all other fields: what another writer has just changed is undone.
"""

from __future__ import annotations

from examples.buggy.kinds import Site, page_of
from kubeloop import ClusterConfig, Context, Manager, ObjectKey
from kubeloop.wire.core.v1 import ConfigMap


async def reconcile(key: ObjectKey, ctx: Context) -> None:
    site = ctx.get(Site, key)
    if site is None:
        return
    page = ctx.get(ConfigMap, key)
    if page is None:
        await ctx.client.apply(page_of(site), owner=site)
    elif page.data != {"page": site.spec.page}:
        page.data = {"page": site.spec.page}
        pages = ctx.client.core_v1.config_maps(key.namespace)
        await pages.update(page, unconditional=True)  # bug: overwrites every field


def make_manager(config: ClusterConfig) -> Manager:
    manager = Manager(config)
    manager.controller(Site, owns=[ConfigMap], install_crd=True)(reconcile)
    return manager
