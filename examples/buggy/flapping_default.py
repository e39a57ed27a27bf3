"""A defaulted field that flaps.

The controller compares the Service with the one it wants, and updates it if they differ. They
always differ: the server has set `type`, `clusterIP`, `protocol` and more. Each update changes the
annotation, and so leads to the next reconcile.
"""

from __future__ import annotations

from examples.buggy.kinds import Site
from kubeloop import ClusterConfig, Context, Manager, ObjectKey
from kubeloop.meta import set_controller
from kubeloop.wire.core.v1 import Service, ServicePort, ServiceSpec
from kubeloop.wire.meta.v1 import ObjectMeta


async def reconcile(key: ObjectKey, ctx: Context) -> None:
    site = ctx.get(Site, key)
    if site is None:
        return
    services = ctx.client.core_v1.services(key.namespace)
    desired, existing = service_of(site), ctx.get(Service, key)
    if existing is None:
        await services.create(desired)
    elif existing.spec != desired.spec:  # bug: the server has added defaults
        existing.spec.ports = desired.spec.ports
        existing.metadata.annotations = {"example.com/updated": ctx.now().isoformat()}
        await services.update(existing)


def service_of(site: Site) -> Service:
    ports = [ServicePort(port=80)]
    spec = ServiceSpec(selector={"site": site.metadata.name}, ports=ports)
    metadata = ObjectMeta(name=site.metadata.name, namespace=site.metadata.namespace)
    service = Service(metadata=metadata, spec=spec)
    set_controller(service, site)
    return service


def make_manager(config: ClusterConfig) -> Manager:
    manager = Manager(config)
    manager.controller(Site, owns=[Service], install_crd=True)(reconcile)
    return manager
