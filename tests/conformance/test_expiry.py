"""Expired history: 410, and how a client can continue."""

from __future__ import annotations

from typing import Any

from tests.conformance.raw_client import RawClient, Response
from tests.conformance.servers import UNCACHED, Server


def template(name: str) -> dict[str, Any]:
    spec = {"containers": [{"name": "main", "image": "nginx"}]}
    return {"metadata": {"name": name}, "template": {"spec": spec}}


async def first_page(api: RawClient, server: Server) -> Response:
    """The first of two pages; its version has expired when this returns."""
    for name in "abcd":
        await api.create(api.at(UNCACHED), template(name))
    page = await api.get(api.at(UNCACHED), limit=2)
    last = await api.create(api.at(UNCACHED), template("e"))
    await server.expire(last.meta["resourceVersion"])
    return page


async def test_an_expired_page_is_410_with_a_new_continue_token(
    api: RawClient, server: Server
) -> None:
    """API-42: resource version semantics."""
    page = await first_page(api, server)

    reply = await api.get(api.at(UNCACHED), limit=2, continue_=page.meta["continue"])

    assert (reply.code, reply.reason) == (410, "Expired")
    assert reply.message.startswith(
        "The provided continue parameter is too old to display a consistent list result."
    )
    assert reply.meta["continue"]


async def test_the_token_of_an_expired_page_continues_with_the_current_state(
    api: RawClient, server: Server
) -> None:
    """API-42: resource version semantics."""
    page = await first_page(api, server)
    refused = await api.get(api.at(UNCACHED), limit=2, continue_=page.meta["continue"])

    reply = await api.get(api.at(UNCACHED), continue_=refused.meta["continue"])

    assert reply.names == ["c", "d", "e"]


async def test_an_exact_list_of_expired_history_is_410(api: RawClient, server: Server) -> None:
    """API-42: resource version semantics."""
    page = await first_page(api, server)

    reply = await api.get(
        api.at(UNCACHED),
        resourceVersion=page.meta["resourceVersion"],
        resourceVersionMatch="Exact",
    )

    assert (reply.code, reply.reason) == (410, "Expired")
    assert reply.message.startswith("The resourceVersion for the provided list is too old")


async def test_a_watch_from_expired_history_gets_410_as_an_event(
    api: RawClient, server: Server
) -> None:
    """API-42, API-44: resource version semantics."""
    page = await first_page(api, server)

    oldest = page.items[0]["metadata"]["resourceVersion"]
    async with api.watch(api.at(UNCACHED), resourceVersion=oldest) as watch:
        event = await watch.next()

    assert watch.code == 200
    assert event["type"] == "ERROR"
    assert event["object"]["kind"] == "Status"
    assert (event["object"]["code"], event["object"]["reason"]) == (410, "Expired")
    assert event["object"]["status"] == "Failure"


async def test_a_list_not_older_than_expired_history_is_the_newest(
    api: RawClient, server: Server
) -> None:
    """API-42: resource version semantics."""
    page = await first_page(api, server)

    reply = await api.get(
        api.at(UNCACHED),
        resourceVersion=page.meta["resourceVersion"],
        resourceVersionMatch="NotOlderThan",
    )

    assert reply.names == ["a", "b", "c", "d", "e"]
