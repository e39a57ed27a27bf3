"""The fix of `missed_delete`: a finalizer.

The server keeps the site until its finalizer is removed, however often the controller restarts.
The finalizer is added before the record is created, and removed after the record was deleted.
"""

from __future__ import annotations

from examples.buggy.kinds import Site, page_of
from kubeloop import ClusterConfig, Context, Manager, ObjectKey


async def reconcile(key: ObjectKey, ctx: Context) -> None:
    records = ctx.client.core_v1.config_maps("dns")
    site = ctx.get(Site, key)
    if site is None:
        return

    async def remove_record(_: Site) -> None:
        await records.delete(f"{key.namespace}-{key.name}", missing_ok=True)

    site = await ctx.finalizer(site, "example.com/dns", remove_record)
    if site is None:
        return
    record = page_of(site, name=f"{key.namespace}-{key.name}")
    record.metadata.namespace = "dns"
    await records.apply(record)


def make_manager(config: ClusterConfig) -> Manager:
    manager = Manager(config)
    manager.controller(Site, install_crd=True)(reconcile)
    return manager
