"""The fix of `stale_delete`: before it deletes, the controller reads from the server.

The cache is good enough to decide that nothing has to be done. A delete cannot be undone, so it
needs the current state, and it names the uid of the object that was judged.
"""

from __future__ import annotations

from examples.buggy.kinds import Site
from kubeloop import ClusterConfig, Context, Manager, ObjectKey, WatchSource
from kubeloop.wire.core.v1 import ConfigMap


async def reconcile(key: ObjectKey, ctx: Context) -> None:
    page = ctx.get(ConfigMap, key)
    if page is None:
        return
    site = ObjectKey(key.namespace, (page.metadata.labels or {})["site"])
    if ctx.get(Site, site) is None:
        sites = ctx.client.resource(Site, namespace=key.namespace)
        if not await sites.exists(site.name):
            pages = ctx.client.core_v1.config_maps(key.namespace)
            await pages.delete(key.name, missing_ok=True, expected_uid=page.metadata.uid)


def make_manager(config: ClusterConfig) -> Manager:
    manager = Manager(config)

    def pages_of(site: Site) -> list[ObjectKey]:
        pages = manager.lister(ConfigMap).list(f"site={site.metadata.name}")
        return [ObjectKey.of(page) for page in pages]

    manager.cache(ConfigMap, selector="site")
    manager.install_crd(Site)
    manager.controller(ConfigMap, watches=[WatchSource(Site, to=pages_of)])(reconcile)
    return manager
