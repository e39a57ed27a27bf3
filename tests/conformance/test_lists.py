"""Lists: their shape, order, pages and versions."""

from __future__ import annotations

import pytest

from tests.conformance.raw_client import RawClient
from tests.conformance.samples import config_map

MAPS = "configmaps"


async def several(api: RawClient, names: str = "abcde") -> list[str]:
    """Create objects, and return the versions they got."""
    return [
        (await api.create(api.at(MAPS), config_map(name))).meta["resourceVersion"] for name in names
    ]


async def test_a_list_has_the_kind_of_a_list_and_a_version(api: RawClient) -> None:
    versions = await several(api)

    reply = await api.get(api.at(MAPS))

    assert (reply.body["kind"], reply.body["apiVersion"]) == ("ConfigMapList", "v1")
    assert int(reply.meta["resourceVersion"]) >= int(versions[-1])


async def test_items_of_a_list_have_no_kind_and_no_version(api: RawClient) -> None:
    """API-43: list items and the remaining count."""
    await several(api, "a")

    item = (await api.get(api.at(MAPS))).items[0]

    assert not {"kind", "apiVersion"} & item.keys()


async def test_an_empty_list_has_an_empty_array(api: RawClient) -> None:
    assert (await api.get(api.at(MAPS))).body["items"] == []


async def test_a_list_is_in_the_order_of_names(api: RawClient) -> None:
    await several(api, "cabed")

    assert (await api.get(api.at(MAPS))).names == list("abcde")


async def test_a_list_over_all_namespaces_has_all_objects(api: RawClient) -> None:
    await several(api, "a")
    other = f"{api.namespace}-other"
    await api.create("/api/v1/namespaces", {"metadata": {"name": other}})
    await api.create(f"/api/v1/namespaces/{other}/{MAPS}", config_map("b"))

    found = await api.get(f"/api/v1/{MAPS}")

    places = {(item["metadata"]["namespace"], item["metadata"]["name"]) for item in found.items}
    assert {(api.namespace, "a"), (other, "b")} <= places


async def test_a_list_of_a_missing_namespace_is_empty(api: RawClient) -> None:
    reply = await api.get(f"/api/v1/namespaces/nowhere/{MAPS}")

    assert (reply.code, reply.items) == (200, [])


async def test_a_page_has_limit_items_and_the_remaining_count(api: RawClient) -> None:
    await several(api)

    page = await api.get(api.at(MAPS), limit=2)

    assert page.names == ["a", "b"]
    assert page.meta["remainingItemCount"] == 3
    assert page.meta["continue"]


async def test_pages_together_are_the_list(api: RawClient) -> None:
    await several(api)

    names, token = [], ""
    while True:
        page = await api.get(api.at(MAPS), limit=2, continue_=token)
        names += page.names
        token = page.meta.get("continue", "")
        if not token:
            break

    assert names == list("abcde")


async def test_the_last_page_has_no_token_and_no_remaining_count(api: RawClient) -> None:
    await several(api)
    first = await api.get(api.at(MAPS), limit=3)

    last = await api.get(api.at(MAPS), limit=3, continue_=first.meta["continue"])

    assert not {"continue", "remainingItemCount"} & last.meta.keys()


async def test_a_limit_that_fits_exactly_leaves_no_token(api: RawClient) -> None:
    await several(api)

    page = await api.get(api.at(MAPS), limit=5)

    assert not {"continue", "remainingItemCount"} & page.meta.keys()


async def test_later_pages_show_the_version_of_the_first(api: RawClient) -> None:
    await several(api)
    first = await api.get(api.at(MAPS), limit=2)
    await api("DELETE", api.at(MAPS, "d"))
    await several(api, "x")

    second = await api.get(api.at(MAPS), limit=10, continue_=first.meta["continue"])

    assert second.names == ["c", "d", "e"]
    assert second.meta["resourceVersion"] == first.meta["resourceVersion"]


async def test_a_page_with_a_selector_has_no_remaining_count(api: RawClient) -> None:
    """API-43: list items and the remaining count."""
    for name in "abc":
        await api.create(api.at(MAPS), config_map(name, labels={"x": "y"}))

    page = await api.get(api.at(MAPS), limit=1, labelSelector="x=y")

    assert page.names == ["a"]
    assert "remainingItemCount" not in page.meta
    assert page.meta["continue"]


async def test_pages_of_a_selection_skip_what_is_not_selected(api: RawClient) -> None:
    for name in "abcdef":
        await api.create(api.at(MAPS), config_map(name, labels={"x": str("ace".count(name))}))

    first = await api.get(api.at(MAPS), limit=2, labelSelector="x=1")
    second = await api.get(
        api.at(MAPS), limit=2, labelSelector="x=1", continue_=first.meta["continue"]
    )

    assert (first.names, second.names) == (["a", "c"], ["e"])
    assert "continue" not in second.meta


async def test_a_limit_of_zero_is_no_limit(api: RawClient) -> None:
    await several(api)

    assert (await api.get(api.at(MAPS), limit=0)).names == list("abcde")


async def test_an_exact_list_shows_that_version(api: RawClient) -> None:
    """API-42: resource version semantics."""
    versions = await several(api)

    reply = await api.get(api.at(MAPS), resourceVersion=versions[2], resourceVersionMatch="Exact")

    assert reply.names == ["a", "b", "c"]
    assert reply.meta["resourceVersion"] == versions[2]


async def test_the_pages_of_an_exact_list_show_that_version(api: RawClient) -> None:
    """API-42: resource version semantics."""
    versions = await several(api)

    first = await api.get(
        api.at(MAPS), resourceVersion=versions[3], resourceVersionMatch="Exact", limit=2
    )
    second = await api.get(api.at(MAPS), continue_=first.meta["continue"])

    assert (first.names, second.names) == (["a", "b"], ["c", "d"])


@pytest.mark.parametrize("match", ["NotOlderThan", ""])
async def test_a_list_not_older_than_a_version_has_it(api: RawClient, match: str) -> None:
    """API-42: resource version semantics."""
    versions = await several(api)

    query = {"resourceVersion": versions[-1], "resourceVersionMatch": match}
    reply = await api.get(api.at(MAPS), **query)

    assert reply.names == list("abcde")


async def test_a_list_at_version_zero_succeeds(api: RawClient) -> None:
    """API-42: resource version semantics."""
    reply = await api.get(api.at(MAPS), resourceVersion="0")

    assert reply.code == 200
    assert reply.meta["resourceVersion"] != "0"


async def test_a_get_not_older_than_a_version_has_it(api: RawClient) -> None:
    versions = await several(api, "a")

    reply = await api.get(api.at(MAPS, "a"), resourceVersion=versions[0])

    assert (reply.code, reply.meta["name"]) == (200, "a")


async def test_a_get_at_a_future_version_is_rejected(api: RawClient) -> None:
    await several(api, "a")

    reply = await api.get(api.at(MAPS, "a"), resourceVersion="99999999")

    assert (reply.code, reply.reason) == (504, "Timeout")
    assert reply.causes == [("", "ResourceVersionTooLarge")]


async def test_items_in_a_list_of_a_custom_kind_have_their_kind(
    api: RawClient, widgets: object
) -> None:
    path = api.at("conformance.example.com/v1/widgets")
    version = "conformance.example.com/v1"
    body = {"apiVersion": version, "kind": "Widget", "metadata": {"name": "a"}, "spec": {"size": 1}}
    await api.create(path, body)

    reply = await api.get(path)

    assert (reply.body["kind"], reply.body["apiVersion"]) == ("WidgetList", version)
    assert (reply.items[0]["kind"], reply.items[0]["apiVersion"]) == ("Widget", version)


async def test_a_selection_by_name_is_a_list_of_one(api: RawClient) -> None:
    await several(api)

    assert (await api.get(api.at(MAPS), fieldSelector="metadata.name=c")).names == ["c"]
