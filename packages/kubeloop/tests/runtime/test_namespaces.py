"""A manager whose caches are about some namespaces, and about no others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from kubeloop.cache import StorageFormat
from kubeloop.errors import InvalidArgument
from kubeloop.kit import running
from kubeloop.meta import GroupVersionKind, ObjectKey
from kubeloop.runtime import Client, Context, Manager
from kubeloop.wire.core.v1 import ConfigMap, Namespace, Node
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_testing import APIServer, User

from .websites import until

Managed = Callable[..., Manager]

SHOP, BLOG, OTHER = (ObjectKey(place, "one") for place in ("shop", "blog", "other"))


@pytest.fixture
async def filled(client: Client) -> Client:
    """A server with three namespaces, and a map called `one` in each."""
    for key in (SHOP, BLOG, OTHER):
        await client.resource(Namespace).create(Namespace(metadata=ObjectMeta(name=key.namespace)))
        await made(client, key)
    return client


async def made(client: Client, key: ObjectKey) -> None:
    labels = {"place": key.namespace}
    config = ConfigMap(metadata=ObjectMeta(name=key.name, labels=labels), data={"at": str(key)})
    await client.resource(ConfigMap, namespace=key.namespace).create(config)


async def test_only_the_named_namespaces_are_cached_and_reconciled(
    managed: Managed, filled: Client, server: APIServer
) -> None:
    manager = managed(namespace=["shop", "blog"])
    seen: set[ObjectKey] = set()

    @manager.controller(ConfigMap)
    async def reconcile(key: ObjectKey, ctx: Context) -> None:
        assert ctx.get(ConfigMap, key) is not None
        seen.add(key)

    async with running(manager):
        await until(lambda: seen == {SHOP, BLOG})
        await made(filled, ObjectKey("other", "two"))
        await made(filled, ObjectKey("blog", "two"))
        await until(lambda: len(seen) == 3)

    assert seen == {SHOP, BLOG, ObjectKey("blog", "two")}
    paths = {seen.path for seen in server.requests if seen.method == "GET"}
    assert "/api/v1/configmaps" not in paths


@pytest.mark.parametrize("store_as", ["bytes", "compressed", "objects"])
async def test_several_namespaces_read_as_one(
    managed: Managed, filled: Client, store_as: StorageFormat
) -> None:
    manager = managed()
    manager.cache(ConfigMap, namespace=["shop", "blog"], index={"at": "data.at"}, store_as=store_as)
    manager.controller(ConfigMap)(_nothing)

    async with running(manager):
        await manager.wait_ready(timeout=4)
        lister = manager.lister(ConfigMap)

        assert sorted(lister.keys()) == [BLOG, SHOP]
        assert [each.metadata.namespace for each in lister.list("place=shop")] == ["shop"]
        assert [each.data["at"] for each in lister.list(namespace="blog")] == ["blog/one"]
        assert lister.list(namespace="other") == []
        assert lister.get(OTHER) is None
        assert (SHOP in lister, OTHER in lister, len(lister)) == (True, False, 2)
        assert [each.metadata.namespace for each in lister.by_index("at", "blog/one")] == ["blog"]
        assert lister.index_values("at") == ["blog/one", "shop/one"]
        assert [each.data["at"] async for each in lister.each("place=blog")] == ["blog/one"]
        assert lister.in_namespace("shop").get("one") is not None
        assert len(manager.stats().informers) == 2


@pytest.mark.parametrize("kind", [Node, GroupVersionKind("", "v1", "Node")], ids=["class", "name"])
async def test_a_kind_without_namespaces_is_read_once(
    managed: Managed, client: Client, kind: Any
) -> None:
    await client.resource(Node).create(Node(metadata=ObjectMeta(name="one")))
    manager = managed(namespace=["shop", "blog"])
    manager.controller(kind)(_nothing)

    async with running(manager):
        await manager.wait_ready(timeout=4)
        lister = manager.lister(kind)

        assert lister.keys() == [ObjectKey("", "one")]
        assert len(lister.list()) == len(lister) == 1
        assert lister.get(ObjectKey("", "one")) is not None


async def _nothing(key: ObjectKey, ctx: Context) -> None:
    """Nothing is to be done."""


@pytest.mark.parametrize("given", [[], ["shop", ""], ["Shop"], "no such/place", [5]], ids=repr)
def test_invalid_namespaces_are_rejected(managed: Managed, given: Sequence[Any]) -> None:
    with pytest.raises(InvalidArgument, match=r"."):
        managed(namespace=given)
    with pytest.raises(InvalidArgument, match=r"."):
        managed().cache(ConfigMap, namespace=given)


ROLES = """
apiVersion: v1
kind: Namespace
metadata: {name: %(place)s}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: %(place)s}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get, list, watch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader, namespace: %(place)s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: controller}]
"""


async def test_a_role_in_each_namespace_is_all_that_the_account_needs() -> None:
    tokens = {"secret": User("controller")}
    async with APIServer(rbac=True, tokens=tokens) as server:
        async with Client(server.config) as admin:
            for key in (SHOP, BLOG):
                await admin.apply(ROLES % {"place": key.namespace})
                await made(admin, key)
        config = server.config.replace(token="secret")
        manager = Manager(
            config, namespace=["shop", "blog"], signals=False, tune_gc=False, logs=False
        )
        manager.controller(ConfigMap)(_nothing)

        async with running(manager):
            await manager.wait_ready(timeout=4)

            assert sorted(manager.lister(ConfigMap).keys()) == [BLOG, SHOP]
