"""Lists: pages, versions, selectors."""

from __future__ import annotations

import base64
from typing import Any

import msgspec
import pytest

from kubeloop_testing.server import Service
from tests.testing.server.conftest import Api
from tests.testing.server.server_objects import CONFIG_MAPS, PODS, config_map, pod


async def _filled(api: Api, *names: str) -> None:
    for name in names:
        await api.create(CONFIG_MAPS, config_map(name))


def _names(response: Any) -> list[str]:
    return [item["metadata"]["name"] for item in response.json["items"]]


async def test_a_list_is_in_order_and_its_items_have_no_kind(api: Api) -> None:
    """API-43: items of typed lists come without kind and apiVersion."""
    await _filled(api, "b", "a", "c")

    response = await api.get(CONFIG_MAPS)

    assert response.json["kind"] == "ConfigMapList"
    assert _names(response) == ["a", "b", "c"]
    assert not {"kind", "apiVersion"} & response.json["items"][0].keys()


async def test_the_pages_of_a_list_show_one_state(api: Api) -> None:
    await _filled(api, "a", "b", "c", "d", "e")
    first = await api.get(CONFIG_MAPS, limit=2)
    await api("DELETE", f"{CONFIG_MAPS}/c")
    await _filled(api, "aa", "cc")

    second = await api.get(CONFIG_MAPS, limit=2, continue_=first.json["metadata"]["continue"])
    third = await api.get(CONFIG_MAPS, limit=2, continue_=second.json["metadata"]["continue"])

    assert [_names(page) for page in (first, second, third)] == [["a", "b"], ["c", "d"], ["e"]]
    assert first.json["metadata"]["remainingItemCount"] == 3
    versions = {page.json["metadata"]["resourceVersion"] for page in (first, second, third)}
    assert len(versions) == 1
    assert "continue" not in third.json["metadata"]


async def test_a_page_of_a_selection_does_not_count_the_rest(api: Api) -> None:
    """API-43: remainingItemCount is absent with selectors."""
    for name in ("a", "b", "c"):
        await api.create(PODS, pod(name, app="x"))

    response = await api.get(PODS, limit=1, labelSelector="app=x")

    assert "continue" in response.json["metadata"]
    assert "remainingItemCount" not in response.json["metadata"]


async def test_a_page_too_late_is_gone_but_may_go_on_inconsistently(
    api: Api, server: Service
) -> None:
    await _filled(api, "a", "b", "c")
    first = await api.get(CONFIG_MAPS, limit=1)
    await _filled(api, "bb")
    server.expire_history()

    gone = await api.get(CONFIG_MAPS, limit=1, continue_=first.json["metadata"]["continue"])
    going_on = await api.get(CONFIG_MAPS, continue_=gone.json["metadata"]["continue"])

    assert (gone.code, gone.reason) == (410, "Expired")
    assert _names(going_on) == ["b", "bb", "c"]


async def test_an_exact_version_shows_that_state(api: Api) -> None:
    """API-42: resourceVersionMatch=Exact."""
    await _filled(api, "a")
    version = (await api.get(CONFIG_MAPS)).json["metadata"]["resourceVersion"]
    await api.patch(f"{CONFIG_MAPS}/a", {"data": {"x": "1"}})
    await _filled(api, "b")

    response = await api.get(CONFIG_MAPS, resourceVersion=version, resourceVersionMatch="Exact")

    assert _names(response) == ["a"]
    assert response.json["metadata"]["resourceVersion"] == version
    assert "x" not in response.json["items"][0].get("data", {})


async def test_an_exact_version_that_is_compacted_is_gone(api: Api, server: Service) -> None:
    """API-42: 410 for a version that is too old."""
    version = (await api.get(CONFIG_MAPS)).json["metadata"]["resourceVersion"]
    await _filled(api, "a")
    server.expire_history()

    response = await api.get(CONFIG_MAPS, resourceVersion=version, resourceVersionMatch="Exact")

    assert (response.code, response.reason) == (410, "Expired")


async def test_a_version_from_the_future_is_too_large(api: Api) -> None:
    response = await api.get(CONFIG_MAPS, resourceVersion="999999")

    assert (response.code, response.reason) == (504, "Timeout")
    assert response.json["message"].startswith(
        "Timeout: Too large resource version: 999999, current:"
    )
    assert response.json["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"
    assert response.headers["Retry-After"] == "1"


async def test_version_zero_and_not_older_than_give_the_latest_state(api: Api) -> None:
    await _filled(api, "a", "b")

    zero = await api.get(CONFIG_MAPS, resourceVersion="0", limit=1)
    later = await api.get(CONFIG_MAPS, resourceVersion="1", resourceVersionMatch="NotOlderThan")

    assert _names(zero) == _names(later) == ["a", "b"]


@pytest.mark.parametrize(
    ("query", "code", "message"),
    [
        ({"limit": "x"}, 400, 'strconv.ParseInt: parsing "x": invalid syntax'),
        ({"limit": "9" * 30}, 400, "value out of range"),
        ({"resourceVersion": "abc"}, 400, "invalid resource version"),
        ({"continue_": "!!!"}, 400, "continue key is not valid"),
        ({"labelSelector": "a in ("}, 400, "unable to parse requirement"),
        ({"fieldSelector": "a"}, 400, "can't understand 'a'"),
        ({"fieldSelector": "spec.color=red"}, 400, "is not a known field selector"),
        ({"resourceVersionMatch": "Exact"}, 422, "is forbidden unless resourceVersion is provided"),
        (
            {"resourceVersionMatch": "Exact", "resourceVersion": "0"},
            422,
            'resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
        ),
        ({"resourceVersionMatch": "x", "resourceVersion": "1"}, 422, "Unsupported value"),
        ({"sendInitialEvents": "true"}, 422, "sendInitialEvents is forbidden for list"),
    ],
)
async def test_absurd_options_are_refused(
    api: Api, query: dict[str, str], code: int, message: str
) -> None:
    """API-14: among others, a field that is not selectable."""
    response = await api.get(CONFIG_MAPS, **query)

    assert response.code == code
    assert message in response.json["message"]


async def test_a_continue_token_that_leads_out_of_its_namespace_is_rejected(api: Api) -> None:
    token = base64.urlsafe_b64encode(b'{"v":"meta.k8s.io/v1","rv":5,"start":"../other/x"}').decode()

    response = await api.get(CONFIG_MAPS, continue_=token.rstrip("="))

    assert response.code == 400


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"labelSelector": "app=x"}, ["a"]),
        ({"labelSelector": "app!=x"}, ["b", "c"]),
        ({"labelSelector": "app in (x,y),!tier"}, ["a"]),
        ({"fieldSelector": "metadata.name=b"}, ["b"]),
        ({"fieldSelector": "status.phase=Pending"}, ["a", "b", "c"]),
        ({"fieldSelector": "spec.nodeName=", "labelSelector": "tier"}, ["b"]),
        ({"fieldSelector": "spec.nodeName!="}, []),
    ],
)
async def test_selectors_choose(api: Api, query: dict[str, str], expected: list[str]) -> None:
    """API-5, API-13: labels and fields."""
    await api.create(PODS, pod("a", app="x"))
    await api.create(PODS, pod("b", app="y", tier="1"))
    await api.create(PODS, pod("c"))

    assert _names(await api.get(PODS, **query)) == expected


async def test_a_list_of_all_namespaces_is_ordered_as_etcd_orders_it(api: Api) -> None:
    for namespace in ("a-b", "a"):
        await api.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
        await api.create(f"/api/v1/namespaces/{namespace}/secrets", {"metadata": {"name": "s"}})

    response = await api.get("/api/v1/secrets")

    assert [item["metadata"]["namespace"] for item in response.json["items"]] == ["a-b", "a"]


async def test_a_big_answer_is_compressed_for_who_accepts_that(api: Api) -> None:
    await api.create(CONFIG_MAPS, config_map("a", x="y" * 200_000))

    response = await api.get(CONFIG_MAPS, headers={"Accept-Encoding": "gzip"})
    plain = await api.get(CONFIG_MAPS, headers={"Accept-Encoding": "identity"})

    assert response.headers.get("Content-Encoding") == "gzip"
    assert "Content-Encoding" not in plain.headers
    assert response.json == plain.json


@pytest.mark.parametrize("encoding", ["gzip", "identity"])
async def test_a_large_list_is_sent_in_parts_and_complete(api: Api, encoding: str) -> None:
    names = [f"map-{number:03}" for number in range(150)]
    for name in names:
        await api.create(CONFIG_MAPS, config_map(name, x="y" * 10_000))

    headers = {"Accept-Encoding": encoding}
    async with api.session.get(CONFIG_MAPS, headers=headers) as response:
        found = msgspec.json.decode(await response.read())

    assert response.headers.get("Content-Encoding", "identity") == encoding
    assert response.headers["Transfer-Encoding"] == "chunked"
    assert (found["kind"], found["apiVersion"]) == ("ConfigMapList", "v1")
    assert [each["metadata"]["name"] for each in found["items"]] == names
