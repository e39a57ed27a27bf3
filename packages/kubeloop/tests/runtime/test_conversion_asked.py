"""Versions of a kind, converted when kube-apiserver requests it.

For `--kube envtest`: the embedded server does not support conversion webhooks.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kubeloop.crd import crd_of
from kubeloop.errors import ApiError
from kubeloop.kit import running
from kubeloop.meta import ObjectKey
from kubeloop.runtime import Client, Context, Manager, WebhookServer
from kubeloop.wire import Model, Resource
from kubeloop.wire.apiextensions.v1 import CustomResourceDefinition
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_testing import APIServer
from kubeloop_testing.server.access.certs import Authority

from .websites import until

pytestmark = pytest.mark.timeout(90)


class OldSpec(Model):
    host: str
    count: int = 1


class OldShop(Resource, group="shops.example.com", version="v1beta1", kind="Shop", plural="shops"):
    spec: OldSpec


class ShopSpec(Model):
    hosts: list[str]
    replicas: int = 1


class Shop(Resource, group="shops.example.com", version="v1", plural="shops"):
    spec: ShopSpec


def converting(certificates: Path) -> WebhookServer:
    webhooks = WebhookServer("127.0.0.1:0", certificates=certificates)

    @webhooks.convert(OldShop, Shop)
    def to_new(old: OldShop) -> Shop:
        return Shop(spec=ShopSpec(hosts=[old.spec.host], replicas=old.spec.count))

    @webhooks.convert(Shop, OldShop)
    def to_old(new: Shop) -> OldShop:
        if not new.spec.hosts:
            raise ValueError("spec.hosts: none to keep")
        return OldShop(spec=OldSpec(host=new.spec.hosts[0], count=new.spec.replicas))

    return webhooks


@pytest.fixture
async def webhooks(
    kube_server: object, kube_client: Client, tmp_path: Path
) -> AsyncIterator[WebhookServer]:
    """Conversion functions that the server is configured to call."""
    if isinstance(kube_server, APIServer):
        pytest.skip("the embedded server calls no conversion webhooks (--kube envtest does)")
    authority = Authority()
    authority.server().write(tmp_path)
    definitions = kube_client.resource(CustomResourceDefinition)
    serving = converting(tmp_path)
    async with running(serving):
        crd = crd_of(OldShop, Shop)
        url = f"https://{await serving.address()}"
        crd.spec.conversion = serving.conversion(url=url, ca=authority.pem)
        await kube_client.apply(crd)
        yield serving
        await definitions.delete("shops.shops.example.com")
        await definitions.wait_for("shops.shops.example.com", deleted=True, timeout=60)


async def test_an_object_is_written_in_one_version_and_read_in_the_other(
    webhooks: WebhookServer, kube_client: Client, kube_namespace: str
) -> None:
    old = kube_client.resource(OldShop, namespace=kube_namespace)
    new = kube_client.resource(Shop, namespace=kube_namespace)
    metadata = ObjectMeta(name="one", labels={"tier": "front"})

    made = await old.create(OldShop(metadata=metadata, spec=OldSpec(host="a.example", count=3)))
    found = await new.get("one")
    found.spec.replicas = 5
    await new.update(found)
    again = await old.get("one")

    assert (found.spec.hosts, found.metadata.labels) == (["a.example"], {"tier": "front"})
    assert (again.spec.host, again.spec.count) == ("a.example", 5)
    assert again.metadata.uid == made.metadata.uid
    assert webhooks.stats().converted > 0


async def test_a_failed_conversion_is_an_error_of_the_request(
    webhooks: WebhookServer, kube_client: Client, kube_namespace: str
) -> None:
    new = kube_client.resource(Shop, namespace=kube_namespace)
    await new.create(Shop(metadata=ObjectMeta(name="two"), spec=ShopSpec(hosts=[])))

    with pytest.raises(ApiError, match=r"spec\.hosts: none to keep"):
        await kube_client.resource(OldShop, namespace=kube_namespace).get("two")

    await new.delete("two")


async def test_a_controller_of_one_version_sees_objects_of_the_other(
    webhooks: WebhookServer, kube_client: Client, kube_namespace: str
) -> None:
    manager = Manager(kube_client, namespace=kube_namespace, signals=False, logs=False)
    seen: dict[ObjectKey, list[str]] = {}

    @manager.controller(Shop)
    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        shop = ctx.get(Shop, key)
        if shop is not None:
            seen[key] = shop.spec.hosts

    old = kube_client.resource(OldShop, namespace=kube_namespace)
    async with running(manager):
        await manager.wait_ready(timeout=30)
        await old.create(OldShop(metadata=ObjectMeta(name="three"), spec=OldSpec(host="b.example")))
        await until(lambda: seen)

    assert seen == {ObjectKey(kube_namespace, "three"): ["b.example"]}
