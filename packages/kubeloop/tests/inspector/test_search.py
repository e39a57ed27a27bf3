"""Searching objects in caches."""

from __future__ import annotations

import pytest

from kubeloop.errors import InvalidArgument
from kubeloop.inspector.search import PAGE, Caches, Query, search
from kubeloop.runtime import Client
from kubeloop.wire.core.v1 import ConfigMap, Namespace, Secret
from kubeloop.wire.meta.v1 import ObjectMeta

from .pages import a_config, a_secret


@pytest.fixture
async def client_with_objects(client: Client) -> Client:
    await client.apply(Namespace(metadata=ObjectMeta(name="shop")))
    for config in (a_config("web-1"), a_config("web-2", namespace="shop"), a_config("cart-1")):
        await client.apply(config)
    await client.apply(a_secret())
    return client


@pytest.mark.parametrize(
    ("query", "names"),
    [
        (Query(), ["cart-1", "web-1", "web-2"]),
        (Query(name="WEB"), ["web-1", "web-2"]),
        (Query(namespace="shop"), ["web-2"]),
        (Query(labels="app in (cart, api)"), ["cart-1"]),
        (Query(name="1", labels="app=web"), ["web-1"]),
        (Query(namespace="nowhere"), []),
    ],
)
async def test_objects_are_found_by_name_namespace_and_labels(
    client_with_objects: Client, query: Query, names: list[str]
) -> None:
    async with client_with_objects.informer(ConfigMap, selector="app") as configs:
        found = search({"configmaps": configs}, query)

    assert [row.name for row in found.rows] == names
    assert found.total == len(names)
    assert found.namespaces == ("default", "shop")


async def test_all_caches_are_searched_unless_one_is_named(client_with_objects: Client) -> None:
    async with (
        client_with_objects.informer(ConfigMap, selector="app") as configs,
        client_with_objects.informer(Secret, namespace="default") as secrets,
    ):
        caches: Caches = {"configmaps": configs, "secrets": secrets}
        all_rows = search(caches, Query())
        one_cache = search(caches, Query(cache="secrets"))

    assert {row.kind for row in all_rows.rows} == {"ConfigMap", "Secret"}
    assert [row.name for row in one_cache.rows] == ["database"]


async def test_a_row_has_metadata_and_the_creation_time(
    client_with_objects: Client,
) -> None:
    async with client_with_objects.informer(ConfigMap, selector="app=cart") as configs:
        (row,) = search({"configmaps": configs}, Query()).rows

    assert (row.namespace, row.labels, row.is_deleting) == ("default", {"app": "cart"}, False)
    assert row.created.endswith("Z")


async def test_results_beyond_a_page_are_on_the_next(client: Client) -> None:
    for at in range(PAGE + 2):
        await client.apply(a_config(f"web-{at:03}"))

    async with client.informer(ConfigMap, selector="app=web") as configs:
        first = search({"": configs}, Query())
        second = search({"": configs}, Query(after=PAGE))

    assert (first.total, len(first.rows)) == (PAGE + 2, PAGE)
    assert [row.name for row in second.rows] == [f"web-{PAGE:03}", f"web-{PAGE + 1:03}"]


async def test_an_invalid_selector_is_an_error(
    client_with_objects: Client,
) -> None:
    async with client_with_objects.informer(ConfigMap, namespace="shop") as configs:
        with pytest.raises(InvalidArgument):
            search({"configmaps": configs}, Query(labels="app in"))
