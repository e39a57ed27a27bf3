"""Listing: versions, pages, expiry (CCH-50 to CCH-55)."""

from __future__ import annotations

from typing import Any

import pytest

from kubeloop.cache import RawPage, Scope
from kubeloop.errors import ApiError, api_error
from kubeloop.kit import ManualClock
from kubeloop.wire.meta.v1 import Status, StatusDetails
from tests.cache.reflector_harness import requests, running_reflector
from tests.support.model_server import ModelServer, expired, refusal, too_large


@pytest.fixture
def server() -> ModelServer:
    return ModelServer(streams_lists=False)


async def test_the_first_list_accepts_any_version_of_the_server(
    server: ModelServer, clock: ManualClock
) -> None:
    """CCH-50, CCH-49, CCH-55, CCH-68: no WatchList where the client declares it unsupported."""
    server.put("web")

    async with running_reflector(server, clock) as (reflector, target):
        assert requests(server) == ["list '0' limit 500", "watch 11"]
        assert target.calls == ["replace web at 11"]
        assert reflector.last_sync_version == "11"


async def test_later_lists_start_from_the_last_version_without_pages(
    server: ModelServer, clock: ManualClock
) -> None:
    """CCH-50, CCH-51: at least the last version, and without a limit."""
    async with running_reflector(server, clock):
        server.put("web")
        await clock.settle()
        server.received.clear()
        server.fail(refusal(403, "Forbidden"))
        server.cut()
        await clock.advance(0.8)

        assert requests(server) == ["watch 11", "list '11' limit 0", "watch 11"]


async def test_a_list_that_is_too_old_is_retried_at_once_from_the_newest(
    server: ModelServer, clock: ManualClock
) -> None:
    """CCH-50, CCH-52, CCH-C14: "0", then after Expired "" in the same round."""
    server.fail(expired())

    async with running_reflector(server, clock) as (reflector, _):
        assert requests(server) == ["list '0' limit 500", "list '' limit 500", "watch 10"]
        assert clock.now() == 0
        assert reflector.stats().errors == 0


@pytest.mark.parametrize(
    "error",
    [
        too_large(),
        refusal(504, "Timeout", cause="FieldValueInvalid", message="Too large resource version"),
        refusal(504, "Timeout", message="Too large resource version: 10, current: 1"),
    ],
    ids=["a separate cause", "text in a cause", "text in the message"],
)
async def test_a_version_too_large_leads_to_the_newest(
    server: ModelServer, clock: ManualClock, error: ApiError
) -> None:
    """CCH-53, CCH-C16: however the server reports it."""
    server.fail(error)

    async with running_reflector(server, clock):
        assert requests(server)[:2] == ["list '0' limit 500", "list '' limit 500"]


async def test_the_newest_is_requested_only_until_a_list_succeeds(
    server: ModelServer, clock: ManualClock
) -> None:
    """CCH-50: a successful list clears the rejection."""
    server.fail(expired())
    async with running_reflector(server, clock):
        server.received.clear()
        server.cut()
        await clock.advance(0.8)

        assert requests(server) == ["list '10' limit 0", "watch 10"]


async def test_another_list_error_ends_the_round_and_waits(
    server: ModelServer, clock: ManualClock
) -> None:
    """CCH-52: reported, then retried after the backoff."""
    server.fail(refusal(403, "Forbidden"))
    async with running_reflector(server, clock) as (reflector, _):
        assert requests(server) == ["list '0' limit 500"]
        assert "403" in reflector.stats().last_error

        await clock.advance(0.8)

        assert requests(server)[1:] == ["list '0' limit 500", "watch 10"]


async def test_pages_are_put_together_under_the_first_ones_version(
    server: ModelServer, clock: ManualClock
) -> None:
    """CCH-51: a continue token belongs to the first page."""
    for name in "abc":
        server.put(name)
    server.page_limit = 2

    async with running_reflector(server, clock) as (_, target):
        assert requests(server)[:2] == ["list '0' limit 500", "list '' limit 500 page 13:2"]
        assert target.calls == ["replace a,b,c at 13"]


async def test_a_server_that_pages_is_listed_in_pages_again(
    server: ModelServer, clock: ManualClock
) -> None:
    """CCH-51, CCH-C15: RVs "0", then "10", "" (the further page), "10" with no limit."""
    for name in "abc":
        server.put(name)
    server.page_limit = 2
    async with running_reflector(server, clock) as (_, target):
        server.received.clear()
        server.expire_next_page = True
        server.cut()
        await clock.advance(0.8)

        assert requests(server)[:3] == [
            "list '13' limit 500",
            "list '' limit 500 page 13:2",
            "list '13' limit 0",
        ]
        assert target.calls[-1].startswith("replace a,b")


async def test_a_configured_page_size_is_always_used(
    server: ModelServer, clock: ManualClock
) -> None:
    """CCH-51: `WatchListPageSize` in client-go."""
    async with running_reflector(server, clock, page_size=7):
        server.cut()
        await clock.advance(0.8)

        limits = [each.limit for each in server.received if each.verb == "list"]
        assert limits == [7, 7]


async def test_a_table_is_an_error(clock: ManualClock) -> None:
    """CCH-54: a list of kind Table has rows and no objects."""

    class Tables(ModelServer):
        async def list(self, **_: object) -> RawPage:
            return RawPage([], "1", kind="Table")

    async with running_reflector(Tables(streams_lists=False), clock) as (reflector, target):
        assert "Table" in reflector.stats().last_error
        assert target.calls == []


async def test_a_list_of_another_kind_is_an_error_and_the_cache_stays(clock: ManualClock) -> None:
    """It may be empty, and then all objects would seem to be deleted."""

    class Odd(ModelServer):
        kind = "PodList"

        async def list(self, **options: Any) -> RawPage:
            if self.kind == "PodList":
                return await super().list(**options)
            return RawPage([], "99", kind=self.kind)

    server = Odd(streams_lists=False)
    server.put("web")
    async with running_reflector(server, clock) as (reflector, target):
        before = list(target.calls)
        server.kind = "SecretList"
        server.compact()
        server.fail(expired())
        server.cut()
        await clock.advance(5)

        assert "found a SecretList, expected a PodList" in reflector.stats().last_error
        assert target.calls == before


async def test_the_list_of_a_crd_may_be_called_anything(clock: ManualClock) -> None:
    class Named(ModelServer):
        async def list(self, **_: object) -> RawPage:
            return RawPage([], "1", kind="Websites")

    scope = Scope("websites.example.com", kind="Website", api_version="example.com/v1")
    async with running_reflector(Named(streams_lists=False, scope=scope), clock) as (
        reflector,
        target,
    ):
        assert target.calls == ["replace  at 1"]
        assert reflector.stats().errors == 0


async def test_a_list_may_be_read_while_it_arrives(clock: ManualClock) -> None:
    class Streamed:
        def __init__(self, page: RawPage) -> None:
            self.page = page
            self.left = list(page.items)
            self.closed = False

        async def batch(self) -> list[object]:
            batch, self.left = self.left[:1], self.left[1:]
            return list(batch)

        def rest(self) -> RawPage:
            assert not self.left
            return self.page

        async def aclose(self) -> None:
            self.closed = True

    class Streams(ModelServer):
        streamed: Streamed

        async def list(self, **options: object) -> Streamed:  # type: ignore[override] # both fit
            self.streamed = Streamed(await super().list(**options))  # type: ignore[arg-type]
            return self.streamed

    server = Streams(streams_lists=False)
    server.put("a")
    server.put("b")

    async with running_reflector(server, clock) as (_, target):
        assert target.calls == ["replace a,b at 12"]
        assert server.streamed.closed


@pytest.mark.parametrize(("requested", "waited"), [(20, 20), (3600, 60)])
async def test_the_servers_retry_after_is_respected_up_to_a_minute(
    server: ModelServer, clock: ManualClock, requested: int, waited: int
) -> None:
    status = Status(
        code=429, reason="TooManyRequests", details=StatusDetails(retry_after_seconds=requested)
    )
    server.fail(api_error("list", status))
    async with running_reflector(server, clock):
        await clock.advance(waited - 0.1)
        assert requests(server) == ["list '0' limit 500"]

        await clock.advance(0.2)

        assert requests(server)[1:] == ["list '0' limit 500", "watch 10"]
