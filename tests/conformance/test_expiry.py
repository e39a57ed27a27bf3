"""History that is gone: 410, and how a client may go on."""

from __future__ import annotations

from typing import Any

from tests.conformance.caller import Caller, Reply
from tests.conformance.servers import UNCACHED, Server


def template(name: str) -> dict[str, Any]:
    spec = {"containers": [{"name": "main", "image": "nginx"}]}
    return {"metadata": {"name": name}, "template": {"spec": spec}}


async def first_page(api: Caller, server: Server) -> Reply:
    """The first of two pages; when it returns, its version is history."""
    for name in "abcd":
        await api.create(api.at(UNCACHED), template(name))
    page = await api.get(api.at(UNCACHED), limit=2)
    last = await api.create(api.at(UNCACHED), template("e"))
    await server.expire(last.meta["resourceVersion"])
    return page


async def test_an_expired_page_is_answered_with_410_and_a_token_to_go_on(
    api: Caller, server: Server
) -> None:
    """API-42"""
    page = await first_page(api, server)

    reply = await api.get(api.at(UNCACHED), limit=2, continue_=page.meta["continue"])

    assert (reply.code, reply.reason) == (410, "Expired")
    assert reply.message.startswith(
        "The provided continue parameter is too old to display a consistent list result."
    )
    assert reply.meta["continue"]


async def test_the_token_of_an_expired_page_goes_on_after_it_with_what_is_there_now(
    api: Caller, server: Server
) -> None:
    """API-42"""
    page = await first_page(api, server)
    refused = await api.get(api.at(UNCACHED), limit=2, continue_=page.meta["continue"])

    reply = await api.get(api.at(UNCACHED), continue_=refused.meta["continue"])

    assert reply.names == ["c", "d", "e"]


async def test_an_exact_list_of_expired_history_is_410(api: Caller, server: Server) -> None:
    """API-42"""
    page = await first_page(api, server)

    reply = await api.get(
        api.at(UNCACHED),
        resourceVersion=page.meta["resourceVersion"],
        resourceVersionMatch="Exact",
    )

    assert (reply.code, reply.reason) == (410, "Expired")
    assert reply.message.startswith("The resourceVersion for the provided list is too old")


async def test_a_watch_from_expired_history_is_told_410_within_the_stream(
    api: Caller, server: Server
) -> None:
    """API-42, API-44"""
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
    api: Caller, server: Server
) -> None:
    """API-42"""
    page = await first_page(api, server)

    reply = await api.get(
        api.at(UNCACHED),
        resourceVersion=page.meta["resourceVersion"],
        resourceVersionMatch="NotOlderThan",
    )

    assert reply.names == ["a", "b", "c", "d", "e"]
