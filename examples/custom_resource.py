"""Define a kind as a class, install its CRD, and use typed objects.

Run it with `python examples/custom_resource.py`; the CRD remains in the cluster.
"""

from __future__ import annotations

from kubeloop import UNSET, Client, Model, Resource, run
from kubeloop.crd import crd_of
from kubeloop.wire import Column
from kubeloop.wire.meta.v1 import ObjectMeta


class WebsiteSpec(Model):
    image: str
    replicas: int = 1
    domains: list[str] = UNSET  # optional: not sent until it is set, reads as empty


class WebsiteStatus(Model):
    ready: bool = False


class Website(
    Resource,
    group="example.com",
    version="v1",
    plural="websites",
    short_names=("site",),
    columns=(Column("Image", ".spec.image"), Column("Ready", ".status.ready", type="boolean")),
):
    spec: WebsiteSpec
    status: WebsiteStatus | None = None


async def main() -> None:
    async with Client() as client:
        await client.apply(crd_of(Website))  # returns when the server serves the new kind
        sites = client.resource(Website)
        await sites.create_or_update(shop())

        async with sites.edit("shop") as site:
            site.spec.domains.append("www.shop.example.com")
        async with sites.status.edit("shop") as site:
            site.status = WebsiteStatus(ready=True)

        for site in await sites.list():
            ready = site.status is not None and site.status.ready
            print(site.metadata.name, site.spec.image, site.spec.domains, "ready" if ready else "")
        await sites.delete("shop")


def shop() -> Website:
    return Website(
        metadata=ObjectMeta(name="shop"),
        spec=WebsiteSpec(image="nginx:1.29", replicas=2, domains=["shop.example.com"]),
    )


if __name__ == "__main__":
    run(main())
