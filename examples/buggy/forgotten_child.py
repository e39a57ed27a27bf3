"""A child that is forgotten after a crash between two writes.

A site needs a ConfigMap and a Secret. The controller takes the ConfigMap as the sign that both
exist, and handles errors with care: it deletes the ConfigMap, and the retry creates both. But a
crash is not an exception. After a crash between the two writes the ConfigMap exists, and the
Secret is never created.
"""

from __future__ import annotations

from examples.buggy.kinds import Site, page_of
from kubeloop import ClusterConfig, Context, KubeError, Manager, ObjectKey
from kubeloop.wire.core.v1 import ConfigMap, Secret
from kubeloop.wire.meta.v1 import ObjectMeta


async def reconcile(key: ObjectKey, ctx: Context) -> None:
    site = ctx.get(Site, key)
    if site is None or ctx.get(ConfigMap, key) is not None:  # bug: one is not both
        return
    secret = Secret(metadata=ObjectMeta(name=key.name), string_data={"user": "admin"})
    try:
        await ctx.client.apply(page_of(site), owner=site)
        await ctx.client.apply(secret, owner=site)
    except KubeError:
        pages = ctx.client.core_v1.config_maps(key.namespace)
        await pages.delete(key.name, missing_ok=True)
        raise


def make_manager(config: ClusterConfig) -> Manager:
    manager = Manager(config)
    manager.controller(Site, owns=[ConfigMap, Secret], install_crd=True)(reconcile)
    return manager
