"""A missed delete, without a finalizer.

Each site has a record in the namespace `dns`. An object cannot own one in another namespace, so
the controller deletes the record when the site is gone. After a crash at that moment it starts
with a list that no longer has the site: no event mentions it, and the record stays.
"""

from __future__ import annotations

from examples.buggy.kinds import Site, page_of
from kubeloop import ClusterConfig, Context, Manager, ObjectKey


async def reconcile(key: ObjectKey, ctx: Context) -> None:
    records = ctx.client.core_v1.config_maps("dns")
    site = ctx.get(Site, key)
    if site is None:  # bug: only a running controller sees this
        await records.delete(f"{key.namespace}-{key.name}", missing_ok=True)
        return
    record = page_of(site, name=f"{key.namespace}-{key.name}")
    record.metadata.namespace = "dns"
    await records.apply(record)


def make_manager(config: ClusterConfig) -> Manager:
    manager = Manager(config)
    manager.controller(Site, install_crd=True)(reconcile)
    return manager
