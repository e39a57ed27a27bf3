"""Invalid input from a server: logged with the key, counted, and tolerated."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from kubeloop.cache import RawPage, SharedInformer
from kubeloop.errors import DecodeError, ResponseTooLarge
from kubeloop.kit import ManualClock, running
from kubeloop.wire import Raw, RawEvent
from kubeloop.wire.core.v1 import Pod
from tests.cache.objects import key
from tests.support.change_history import ChangeHistory, cached_versions
from tests.support.model_server import TOO_OLD, ModelServer

BAD_LABELS = {"name": "bad", "namespace": "shop", "resourceVersion": "99", "labels": [1]}


def bad(**metadata: Any) -> dict[str, Any]:
    return {"kind": "Pod", "apiVersion": "v1", "metadata": BAD_LABELS | metadata}


async def test_a_list_that_is_cut_short_is_requested_again(clock: ManualClock) -> None:
    class Cutting(ModelServer):
        cuts = 1

        async def list(self, **options: Any) -> RawPage:
            page = await super().list(**options)
            if self.cuts:
                self.cuts -= 1
                raise DecodeError("list pods: the text is not a list: it was cut off")
            return page

    server = Cutting(streams_lists=False)
    server.put("a")
    pods = SharedInformer(server, dict, clock=clock, sync_timeout=5)
    history = ChangeHistory()
    pods.add_handler(on_change=history)
    entering = asyncio.create_task(pods.__aenter__())
    await clock.advance(2)
    await entering

    assert cached_versions(pods) == server.state() == history.now
    assert pods.stats().reflector.errors == 1
    await pods.__aexit__(None, None, None)


async def test_an_event_that_does_not_decode_leads_to_a_list(
    server: ModelServer, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    async with SharedInformer(server, dict, clock=clock) as pods:
        server.say("MODIFIED", bad())
        server.put("good")
        await clock.advance(2)

        assert cached_versions(pods) == server.state()
        assert server.count("stream") == 2
        assert pods.stats().reflector.left_out.unreadable == 1
        assert "shop/bad" in caplog.text


async def test_an_object_that_never_decodes_is_left_out_and_the_rest_is_cached(
    clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    """It is named and counted, and leads to no second list."""
    server = ModelServer()
    server.put("good")
    server._objects[key("bad")] = bad()
    async with SharedInformer(server, dict, clock=clock) as pods:
        assert [entry.key.name for entry in pods.lister.metadata()] == ["good"]
        assert server.count("list") == 1  # the stream could not be read; the list decided
        assert "shop/bad: left out of the cache" in caplog.text

        server.say("MODIFIED", bad())
        server.put("good")
        await clock.advance(5)

        assert server.count("list") == 1
        assert pods.lister.count() == 1


async def test_the_last_valid_state_stays_where_a_list_has_an_invalid_one(
    clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    server = ModelServer()
    server.put("web")
    history = ChangeHistory()
    pods = SharedInformer(server, dict, clock=clock)
    pods.add_handler(on_change=history)
    async with pods:
        before = cached_versions(pods)
        server._objects[key("web")] = bad(name="web")
        server.say("MODIFIED", bad(name="web"))
        await clock.advance(2)

        assert cached_versions(pods) == before
        assert history.now == before
        assert "its last readable state stays" in caplog.text

        server.delete("web")
        server.cut()
        await clock.advance(40)
        assert cached_versions(pods) == {} == history.now


async def test_an_object_without_a_name_is_left_out_of_a_list(
    clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    class Nameless(ModelServer):
        async def list(self, **options: Any) -> RawPage:
            page = await super().list(**options)
            return RawPage([*page.items, b'{"metadata": {"namespace": "shop"}}'], page.version)

    server = Nameless(streams_lists=False)
    server.put("a")
    async with SharedInformer(server, dict, clock=clock) as pods:
        assert cached_versions(pods) == server.state()
        assert pods.stats().reflector.left_out.unkeyed == 1
        assert "without a name" in caplog.text


async def test_of_two_objects_with_one_key_the_later_is_stored_and_notified_of_once(
    clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    class Twice(ModelServer):
        async def list(self, **options: Any) -> RawPage:
            page = await super().list(**options)
            return RawPage([*page.items, *page.items], page.version)

    server = Twice(streams_lists=False)
    server.put("a")
    history = ChangeHistory()
    pods = SharedInformer(server, dict, clock=clock)
    registration = pods.add_handler(on_change=history)
    async with pods:
        await clock.settle()

        assert history.now == cached_versions(pods) == server.state()
        assert registration.stats().failures == 0
        assert pods.stats().store.duplicates == 1
        assert "shop/a: twice in one list" in caplog.text


async def test_an_index_function_that_raises_leaves_one_object_out_of_that_index(
    server: ModelServer, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    server.put("a", zone="z")
    server.put("b")
    index = {"zone": lambda pod: [pod["metadata"]["labels"]["zone"]]}
    async with SharedInformer(server, dict, index=index, clock=clock) as pods:
        assert pods.lister.count() == 2
        assert len(pods.lister.by_index("zone", "z")) == 1
        assert "shop/b: not in the index 'zone'" in caplog.text
        assert pods.stats().store.indexes["zone"].failures == 1


async def test_a_delete_that_the_transform_fails_on_leads_to_a_list_that_misses_the_object(
    clock: ManualClock,
) -> None:
    server = ModelServer()
    server.put("a")
    fails = False

    def trim(pod: dict[str, Any]) -> dict[str, Any] | None:
        return None if fails else pod

    pods = SharedInformer(server, dict, clock=clock, transform=trim)
    history = ChangeHistory()
    pods.add_handler(on_change=history)
    async with pods:
        fails = True
        server.delete("a")
        await clock.advance(5)

        assert cached_versions(pods) == server.state() == {}
        assert history.lines == ["Added a", "Deleted a"]
        assert "transform shop/a" in pods.stats().reflector.last_error


class Interrupted(ModelServer):
    """A server whose client is cancelled in the middle of a list, from outside."""

    async def list(self, **options: Any) -> RawPage:
        if not self.count("list"):
            await super().list(**options)
            raise asyncio.CancelledError
        return await super().list(**options)


async def test_a_source_that_is_cancelled_is_called_again(clock: ManualClock) -> None:
    """Only the owner ends a reflector; another cancellation is a failed attempt."""
    server = Interrupted(streams_lists=False)
    server.put("a")
    pods = SharedInformer(server, dict, clock=clock)
    async with running(pods):
        await clock.advance(5)

        assert cached_versions(pods) == server.state()
        assert pods.stats().reflector.errors == 1
        assert "was cancelled" in pods.stats().reflector.last_error


async def test_a_transform_that_is_cancelled_has_failed(clock: ManualClock) -> None:
    server = ModelServer()

    def asking(pod: dict[str, Any]) -> dict[str, Any]:
        if pod["metadata"]["name"] == "bad":
            raise asyncio.CancelledError
        return pod

    pods = SharedInformer(server, dict, clock=clock, transform=asking)
    async with pods:
        server.put("bad")
        server.put("good")
        await clock.settle()

        assert [each.key.name for each in pods.lister.metadata()] == ["good"]
        assert pods.stats().reflector.left_out.untransformed == 1


async def test_a_handler_does_not_receive_an_object_that_is_not_valid_as_its_type(
    server: ModelServer, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    received: list[str] = []
    pods = SharedInformer(server, Pod, clock=clock)
    registration = pods.add_handler(on_add=lambda pod: received.append(pod.metadata.name))
    async with pods:
        server.say("ADDED", {**bad(labels={}), "spec": "no object"})
        server.put("good")
        await clock.settle()

        assert received == ["good"]
        assert registration.stats().failures == 1
        assert "shop/bad" in caplog.text


async def test_garbage_in_place_of_an_object_leads_to_a_list(
    server: ModelServer, clock: ManualClock
) -> None:
    class Garbling(ModelServer):
        garbage = 1

        async def _events(self, at: int, *, initial: bool) -> Any:
            async for each in super()._events(at, initial=initial):
                if self.garbage and each.type == "ADDED":
                    self.garbage -= 1
                    yield RawEvent("ADDED", Raw(b'{"metadata": nonsense'))
                else:
                    yield each

    garbling = Garbling()
    garbling.put("a")
    async with SharedInformer(garbling, dict, clock=clock) as pods:
        assert cached_versions(pods) == garbling.state()
        assert garbling.count("list") == 1


async def test_an_event_that_is_too_large_leads_to_a_list(clock: ManualClock) -> None:
    class Flooding(ModelServer):
        floods = 1

        async def _events(self, at: int, *, initial: bool) -> AsyncIterator[RawEvent]:
            if self.floods and not initial:
                self.floods -= 1
                raise ResponseTooLarge("watch pods: an event is larger than 64 MB")
            async for each in super()._events(at, initial=initial):
                yield each

    server = Flooding(streams_lists=False)
    async with SharedInformer(server, dict, clock=clock) as pods:
        server.put("a")
        await clock.advance(5)

        assert server.count("list") == 2
        assert cached_versions(pods) == server.state()


async def test_a_list_that_is_too_large_is_retried_and_the_cache_stays(
    clock: ManualClock,
) -> None:
    server = ModelServer(streams_lists=False)
    server.put("a")
    async with SharedInformer(server, dict, clock=clock) as pods:
        before = cached_versions(pods)
        server.compact()
        server.say("ERROR", TOO_OLD)
        server.fail(*(ResponseTooLarge("list pods: larger than 1 GB") for _ in range(3)))
        await clock.advance(2)
        assert "larger than 1 GB" in pods.stats().reflector.last_error
        assert cached_versions(pods) == before

        server.put("b")
        await clock.advance(60)

        assert cached_versions(pods) == server.state()
