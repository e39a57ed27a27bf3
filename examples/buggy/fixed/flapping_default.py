"""The fix of `flapping_default`: compare only what the controller sets.

The server's defaults are fields that the controller has not decided. Server-side apply does the
same comparison on the server, and needs no code.
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
    elif ports_of(existing) != ports_of(desired):
        existing.spec.ports = desired.spec.ports
        existing.metadata.annotations = {"example.com/updated": ctx.now().isoformat()}
        await services.update(existing)


def ports_of(service: Service) -> list[int]:
    return [each.port for each in service.spec.ports or []]


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
