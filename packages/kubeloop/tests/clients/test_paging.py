"""Collections in pages."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any, cast

import pytest

from kubeloop.clients import PAGE_SIZE, ClientOptions, ListOptions, ObjectList, Pager
from kubeloop.clients.collection import Collection
from kubeloop.clients.object_codecs import TypedCodec
from kubeloop.clients.paging import read_page
from kubeloop.errors import DecodeError, Expired, Gone, InvalidArgument, api_error, failure
from kubeloop.rest import RESTClient
from kubeloop.wire import Raw, RawList, resource_of
from kubeloop.wire.core.v1 import Pod
from kubeloop.wire.meta.v1 import ListMeta

from .conftest import Recorder


class Source:
    """A collection of numbers that is read in pages, whose tokens may expire."""

    def __init__(self, count: int, *, forget: int = 0, going_on: str = "") -> None:
        self.count = count
        self.forget = forget  # the number of the request that is responded to with Expired
        self.going_on = going_on
        self.asked: list[ListOptions] = []

    async def fetch(self, options: ListOptions) -> ObjectList[int]:
        self.asked.append(options)
        if len(self.asked) == self.forget:
            status = failure("Expired", "too old")
            if self.going_on:
                status.metadata = ListMeta(continue_=self.going_on)
            raise api_error("GET numbers", status)
        start = int(options.next_page or 0)
        end = min(start + options.limit, self.count) if options.limit else self.count
        more = str(end) if end < self.count else ""
        return ObjectList(list(range(start, end)), "7", more, self.count - end or None)


async def collected(items: AsyncIterator[int]) -> list[int]:
    return [item async for item in items]


async def test_501_items_take_two_requests() -> None:
    """WTC-9, WTC-10, WTC-C6: pages of 500; the second has the token and no version."""
    source = Source(501)

    found, paged = await Pager(source.fetch).list(
        ListOptions(resource_version="5", resource_version_match="NotOlderThan")
    )

    assert (len(found), found.version, paged, PAGE_SIZE) == (501, "7", True, 500)
    first, second = source.asked
    assert (first.limit, first.resource_version, first.resource_version_match) == (
        500,
        "5",
        "NotOlderThan",
    )
    assert (second.next_page, second.resource_version, second.resource_version_match) == (
        "500",
        "",
        None,
    )


async def test_one_page_is_the_servers_own_list() -> None:
    """WTC-10: List: first page uses the given RV/RVMatch."""
    found, paged = await Pager(Source(3).fetch).list(ListOptions())

    assert (found.items, paged) == ([0, 1, 2], False)


async def test_a_limit_in_the_options_wins_and_zero_disables_paging() -> None:
    """WTC-9: options.limit wins; when it is 0 the pager's page size (default 500) is used."""
    limited, whole = Source(10), Source(600)

    await Pager(limited.fetch).list(ListOptions(limit=4))
    await Pager(whole.fetch, page_size=0).list(ListOptions())

    assert [options.limit for options in limited.asked] == [4, 4, 4]
    assert [options.limit for options in whole.asked] == [0]
    with pytest.raises(InvalidArgument):
        Pager(whole.fetch, page_size=-1)


async def test_an_expired_page_means_one_full_list() -> None:
    """WTC-11, WTC-C7: limit 0, no token, the original version."""
    source = Source(10, forget=2)

    found, paged = await Pager(source.fetch, page_size=4).list(ListOptions(resource_version="5"))

    assert (found.items, paged) == (list(range(10)), True)
    assert (source.asked[2].limit, source.asked[2].next_page, source.asked[2].resource_version) == (
        0,
        "",
        "5",
    )


async def test_a_first_page_that_has_expired_is_an_error() -> None:
    """WTC-11, WTC-C7: expired on a continue page (not the first) with FullListIfExpired."""
    with pytest.raises(Expired):
        await Pager(Source(10, forget=1).fetch).list(ListOptions())


async def test_without_the_full_list_an_expired_page_is_an_error() -> None:
    """WTC-11: expired on a continue page (not the first) with FullListIfExpired."""
    pager = Pager(Source(10, forget=2).fetch, page_size=4, full_list_if_expired=False)

    with pytest.raises(Expired):
        await pager.list(ListOptions())
    with pytest.raises(Expired):
        await collected(
            Pager(Source(10, forget=2).fetch, page_size=4, full_list_if_expired=False).each(
                ListOptions(), key=str
            )
        )


async def test_gone_is_not_expired() -> None:
    """WTC-11: only the reason Expired counts."""

    async def fetch(options: ListOptions) -> ObjectList[int]:
        if options.next_page:
            raise api_error("GET", failure("Gone", "gone"))
        return ObjectList([1], "7", "t")

    with pytest.raises(Gone):
        await Pager(fetch).list(ListOptions())


async def test_each_item_comes_once_and_in_order() -> None:
    """WTC-12: EachListItem: streams pages, stops at the first callback error."""
    source = Source(10)

    assert await collected(Pager(source.fetch, page_size=4).each(ListOptions(), key=str)) == list(
        range(10)
    )
    assert len(source.asked) == 3


async def test_iteration_goes_on_from_where_the_server_says() -> None:
    """WTC-12, API-42: the token in the 410; nothing twice, nothing missing."""
    source = Source(10, forget=2, going_on="3")

    assert await collected(Pager(source.fetch, page_size=4).each(ListOptions(), key=str)) == list(
        range(10)
    )
    assert source.asked[2].next_page == "3"


async def test_iteration_starts_over_when_that_token_expires_too() -> None:
    source = Source(20, going_on="12")

    async def fetch(options: ListOptions) -> ObjectList[int]:
        source.forget = len(source.asked) + 1 if options.next_page else 0
        return await source.fetch(options)

    found = await collected(Pager(fetch, page_size=10).each(ListOptions(), key=lambda n: n))

    assert found == list(range(20))
    assert [options.next_page for options in source.asked] == ["", "10", "12", ""]


async def test_iteration_starts_over_without_repeating_itself() -> None:
    """WTC-11, WTC-12: here the iteration continues where client-go's ends."""
    source = Source(10, forget=3)

    assert await collected(Pager(source.fetch, page_size=4).each(ListOptions(), key=str)) == list(
        range(10)
    )
    assert (source.asked[3].limit, source.asked[3].next_page) == (0, "")


async def test_the_next_page_is_fetched_while_this_one_is_used() -> None:
    """WTC-9: one page ahead; client-go reads ten."""
    source = Source(10)

    async with aclosing(Pager(source.fetch, page_size=4).each(ListOptions(), key=str)) as items:
        await anext(items)
        await asyncio.sleep(0)
        assert len(source.asked) == 2


async def test_leaving_early_leaves_no_task() -> None:
    """X-7: a cancelled call leaves nothing open."""
    started = asyncio.Event()

    async def fetch(options: ListOptions) -> ObjectList[int]:
        if options.next_page:
            started.set()
            await asyncio.Event().wait()
        return ObjectList([1, 2], "7", "t")

    before = asyncio.all_tasks()
    async with aclosing(Pager(fetch).each(ListOptions(), key=str)) as items:
        await anext(items)
        await started.wait()

    assert asyncio.all_tasks() == before


@pytest.mark.parametrize("item", [5, None, {"metadata": 5}, {"metadata": {"uid": 7}}])
async def test_what_is_not_an_object_in_a_list_is_a_kubeloop_error(item: Any) -> None:
    recorder = Recorder({"kind": "PodList", "apiVersion": "v1", "items": [item]})

    with pytest.raises(DecodeError):
        _ = [pod async for pod in recorder.client.core_v1.pods("shop").each()]


class Stubborn:
    """Sends pages without end: all with one token, or empty ones."""

    def __init__(self, items: list[int], *, same_token: bool) -> None:
        self.items = items
        self.same_token = same_token
        self.asked = 0

    async def fetch(self, options: ListOptions) -> ObjectList[int]:
        self.asked += 1
        assert self.asked < 20, "the pager does not stop"
        return ObjectList(self.items, "7", "again" if self.same_token else f"page {self.asked}")


@pytest.mark.parametrize(
    ("source", "requests", "message"),
    [
        (Stubborn([1], same_token=True), 2, "same continue token twice"),
        (Stubborn([], same_token=False), 6, "6 pages without a new item in a row"),
        (Stubborn([1, 2], same_token=False), 7, "6 pages without a new item in a row"),
    ],
    ids=["a token that repeats", "empty pages", "one page with ever new tokens"],
)
async def test_repeating_pages_are_an_error_after_a_few(
    source: Stubborn, requests: int, message: str
) -> None:
    with pytest.raises(DecodeError, match=message):
        await Pager(source.fetch).list(ListOptions(), key=str)
    assert source.asked == requests

    source.asked = 0
    with pytest.raises(DecodeError, match=message):
        await collected(Pager(source.fetch).each(ListOptions(), key=str))
    assert source.asked == requests


async def test_a_few_empty_pages_are_no_error() -> None:
    """Servers that filter after reading may send them."""

    async def fetch(options: ListOptions) -> ObjectList[int]:
        page = int(options.next_page or 0)
        return ObjectList([page] if page % 5 == 0 else [], "7", str(page + 1) if page < 20 else "")

    found, _ = await Pager(fetch).list(ListOptions())

    assert found.items == [0, 5, 10, 15, 20]


@pytest.mark.parametrize("tune_gc", [False, True])
async def test_the_garbage_collector_is_paused_only_on_request(
    monkeypatch: pytest.MonkeyPatch, tune_gc: bool
) -> None:
    enabled: list[bool] = []
    codec = TypedCodec(Pod)
    decode_item = codec.decode_item

    def observe(item: Raw | bytes, of: RawList | None) -> Any:
        enabled.append(gc.isenabled())
        return decode_item(item, of)

    monkeypatch.setattr(codec, "decode_item", observe)
    items = [{"metadata": {"name": f"p{n}"}} for n in range(3)]
    rest = cast("RESTClient", Recorder({"kind": "PodList", "apiVersion": "v1", "items": items}))
    collection = Collection(rest, resource_of(Pod), options=ClientOptions(tune_gc=tune_gc))

    await read_page(collection, codec, ListOptions())

    assert (enabled, gc.isenabled()) == ([not tune_gc] * 3, True)


async def test_the_garbage_collector_runs_again_when_the_last_of_two_lists_is_decoded() -> None:
    items = [{"metadata": {"name": f"p{n}"}} for n in range(60)]
    states: list[bool] = []

    async def read() -> None:
        rest = cast("RESTClient", Recorder({"kind": "PodList", "apiVersion": "v1", "items": items}))
        collection = Collection(rest, resource_of(Pod), options=ClientOptions(tune_gc=True))
        await read_page(collection, TypedCodec(Pod), ListOptions())
        states.append(gc.isenabled())

    await asyncio.gather(read(), read())

    assert states[-1]
    assert gc.isenabled()


async def test_what_a_program_has_frozen_stays_frozen_after_a_list() -> None:
    async def read() -> None:
        rest = cast("RESTClient", Recorder({"kind": "PodList", "apiVersion": "v1", "items": []}))
        collection = Collection(rest, resource_of(Pod), options=ClientOptions(tune_gc=True))
        await read_page(collection, TypedCodec(Pod), ListOptions())

    gc.unfreeze()
    try:
        await read()
        without = gc.get_freeze_count()
        gc.freeze()
        frozen = gc.get_freeze_count()
        await read()

        assert without == 0
        assert gc.get_freeze_count() >= frozen / 2 > 0  # some may be gone
    finally:
        gc.freeze()  # as the tests run


async def test_the_library_for_protobuf_is_not_imported_for_lists_of_json() -> None:
    codec = TypedCodec(Pod)
    rest = cast("RESTClient", Recorder({"kind": "PodList", "apiVersion": "v1", "items": []}))

    await read_page(Collection(rest, resource_of(Pod)), codec, ListOptions())

    assert "protobuf" not in vars(codec)  # a cached property: not asked for
