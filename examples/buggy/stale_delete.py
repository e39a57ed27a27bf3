"""Acts on a stale cache, and deletes what is new.

People create a site and its ConfigMaps, with the label `site`. The controller deletes ConfigMaps
whose site no longer exists. The caches of two kinds are independent: if the event of a new site is
late, the controller sees a ConfigMap without a site, and deletes data that no one can restore.
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
    if ctx.get(Site, site) is None:  # bug: not in the cache is not deleted
        pages = ctx.client.core_v1.config_maps(key.namespace)
        await pages.delete(key.name, missing_ok=True)


def make_manager(config: ClusterConfig) -> Manager:
    manager = Manager(config)

    def pages_of(site: Site) -> list[ObjectKey]:
        pages = manager.lister(ConfigMap).list(f"site={site.metadata.name}")
        return [ObjectKey.of(page) for page in pages]

    manager.cache(ConfigMap, selector="site")
    manager.install_crd(Site)
    manager.controller(ConfigMap, watches=[WatchSource(Site, to=pages_of)])(reconcile)
    return manager
