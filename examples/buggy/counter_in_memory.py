"""A name from a counter in memory.

The pages are `page-1`, `page-2`, and so on. The controller counts them in memory, and remembers
the name of each site until its status has it. After a restart it begins with `page-1` again: the
next site gets the page of another one.
"""

from __future__ import annotations

import itertools

from examples.buggy.kinds import Site, SiteStatus, page_of
from kubeloop import ClusterConfig, Context, Manager, ObjectKey

numbers = itertools.count(1)
names: dict[ObjectKey, str] = {}


async def reconcile(key: ObjectKey, ctx: Context) -> None:
    site = ctx.get(Site, key)
    if site is None or (site.status and site.status.page):
        return
    if key not in names:
        names[key] = f"page-{next(numbers)}"  # bug: a restart forgets it
    await ctx.client.apply(page_of(site, name=names[key]))
    site.status = SiteStatus(page=names[key])
    await ctx.update_status(site)


def make_manager(config: ClusterConfig) -> Manager:
    manager = Manager(config)
    manager.controller(Site, install_crd=True)(reconcile)
    return manager
