"""The fix of `forgotten_child`: every reconcile ensures every child.

`apply` changes nothing if nothing differs, so that nothing has to be remembered.
"""

from __future__ import annotations

from examples.buggy.kinds import Site, page_of
from kubeloop import ClusterConfig, Context, Manager, ObjectKey
from kubeloop.wire.core.v1 import ConfigMap, Secret
from kubeloop.wire.meta.v1 import ObjectMeta


async def reconcile(key: ObjectKey, ctx: Context) -> None:
    site = ctx.get(Site, key)
    if site is None:
        return
    secret = Secret(metadata=ObjectMeta(name=key.name), string_data={"user": "admin"})
    await ctx.client.apply(page_of(site), owner=site)
    await ctx.client.apply(secret, owner=site)


def make_manager(config: ClusterConfig) -> Manager:
    manager = Manager(config)
    manager.controller(Site, owns=[ConfigMap, Secret], install_crd=True)(reconcile)
    return manager
