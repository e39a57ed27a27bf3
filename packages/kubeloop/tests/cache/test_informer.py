"""The shared informer: lifecycle, sync, reading, waiting (CCH-74 to CCH-79, CCH-86 to CCH-88)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from kubeloop.cache import (
    CacheMutated,
    Change,
    Delta,
    DeltaApplier,
    DeltaFIFO,
    DeltaType,
    EntryCodec,
    IndexConflict,
    Indexer,
    InformerState,
    InformerStopped,
    Notification,
    NotSynced,
    Scope,
    SharedInformer,
    UnknownIndex,
    pager,
    reflector,
)
from kubeloop.cache.changes import LIMIT
from kubeloop.errors import InvalidArgument
from kubeloop.kit import ManualClock, TaskOwner
from kubeloop.wire.core.v1 import Pod
from tests.cache.objects import entry
from tests.support.change_history import ChangeHistory, cached_versions
from tests.support.model_server import ModelServer, expired, refusal


async def test_the_block_starts_with_the_first_list_and_ends_with_nothing_running(
    server: ModelServer,
) -> None:
    """CCH-79, CCH-87, X-7: the lifecycle of an informer."""
    server.put("web", node="node-7", app="web")
    server.put("db", app="db")
    pods = SharedInformer(server, Pod, index={"node": "spec.nodeName"})
    before = (pods.has_synced, pods.last_sync_version)

    async with pods:
        assert [pod.metadata.name for pod in pods.lister.list("app=web")] == ["web"]
        assert [pod.metadata.name for pod in pods.lister.by_index("node", "node-7")] == ["web"]
        assert before == (False, "")
        assert (pods.has_synced, pods.last_sync_version) == (True, "12")

    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert server.open_watches == 0
    assert pods.lister.count() == 2  # it can still be read


async def test_waiting_for_the_first_list_has_a_deadline(
    server: ModelServer, clock: ManualClock
) -> None:
    server.fail(*(refusal(403, "Forbidden") for _ in range(100)))
    pods = SharedInformer(server, Pod, clock=clock, sync_timeout=30)

    entering = asyncio.create_task(pods.__aenter__())
    await clock.advance(30)

    with pytest.raises(NotSynced, match="first list of pods"):
        await entering
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_an_informer_runs_once(server: ModelServer, caplog: pytest.LogCaptureFixture) -> None:
    """CCH-75, CCH-C29: a second run() is logged."""
    pods = SharedInformer(server, Pod)
    async with pods:
        await pods.run()
        assert "the informer is running" in caplog.text
    await pods.run()

    assert pods.state is InformerState.STOPPED
    with pytest.raises(InformerStopped):
        pods.add_handler(on_add=print)
    with pytest.raises(InformerStopped):
        await pods.add_indexers({"x": "spec.nodeName"})
    with pytest.raises(InformerStopped):
        await pods.__aenter__()


async def test_of_two_callers_that_start_an_informer_one_does(server: ModelServer) -> None:
    """CCH-75: the other gets an error, and nothing is left running."""
    pods: SharedInformer[dict[str, Any]] = SharedInformer(server, dict)

    async def live() -> str:
        async with pods:
            return "lived"

    found = await asyncio.gather(live(), live(), return_exceptions=True)

    assert found[0] == "lived"
    assert isinstance(found[1], InformerStopped)
    assert pods.state is InformerState.STOPPED
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_waiting_ends_with_an_error_when_the_informer_stops(
    server: ModelServer, clock: ManualClock
) -> None:
    pods = SharedInformer(server, Pod, clock=clock)
    server.fail(*(refusal(500, "InternalError") for _ in range(9)))
    run = asyncio.create_task(pods.run())
    wait = asyncio.create_task(pods.wait_synced())
    await clock.settle()

    run.cancel()
    await asyncio.wait([run, wait])

    assert isinstance(wait.exception(), InformerStopped)


async def test_a_watch_gap_leads_to_deletes_without_a_final_state(
    server: ModelServer, clock: ManualClock
) -> None:
    """CCH-C12, CCH-42: with the last known state, and a flag in place of a type."""
    server.put("web", app="web")
    deleted: list[Any] = []
    pods = SharedInformer(server, dict, clock=clock)
    pods.add_handler(on_change=lambda change: deleted.append(change) if change.new is None else 0)
    async with pods:
        server.fail(expired())
        server.delete("web")
        server.compact()
        server._history.clear()  # the delete is never sent
        server.cut()
        await clock.advance(2)

        (change,) = deleted
        assert not change.last_state_known
        assert change.old["metadata"]["labels"] == {"app": "web"}


async def test_a_received_delete_has_the_final_state(
    server: ModelServer, clock: ManualClock
) -> None:
    """CCH-C36: that of the watch event."""
    server.put("web")
    gone: list[dict[str, Any]] = []
    pods = SharedInformer(server, dict, clock=clock)
    pods.add_handler(on_delete=gone.append)
    async with pods:
        server.delete("web")
        await clock.settle()

        assert gone[0]["metadata"]["resourceVersion"] == "12"


async def test_an_added_object_that_is_there_is_updated_and_an_updated_that_is_not_is_added(
    server: ModelServer, clock: ManualClock
) -> None:
    """CCH-40: the store decides."""
    server.put("web")
    lines: list[str] = []
    pods = SharedInformer(server, dict, clock=clock)
    pods.add_handler(on_change=lambda change: lines.append(f"{change.type} {change.key.name}"))
    async with pods:
        for kind, name, uid in (("ADDED", "web", "u1"), ("MODIFIED", "new", "u2")):
            metadata = {"name": name, "namespace": "shop", "resourceVersion": "99", "uid": uid}
            server.say(kind, {"kind": "Pod", "apiVersion": "v1", "metadata": metadata})
        await clock.settle()

        assert lines == ["Added web", "Updated web", "Added new"]


async def test_handlers_are_notified_of_the_delete_of_an_unknown_object(
    server: ModelServer, clock: ManualClock
) -> None:
    """CCH-41, CCH-35: RealFIFO drops nothing."""
    received: list[Any] = []
    pods = SharedInformer(server, dict, clock=clock)
    pods.add_handler(on_change=received.append)
    async with pods:
        metadata = {"name": "ghost", "namespace": "shop", "resourceVersion": "99"}
        server.say("DELETED", {"kind": "Pod", "apiVersion": "v1", "metadata": metadata})
        await clock.settle()

        assert [str(change.type) for change in received] == ["Deleted"]


async def test_a_handler_finds_its_change_in_the_store(
    server: ModelServer, clock: ManualClock
) -> None:
    """CCH-42: the whole first list, and then each change."""
    server.put("a")
    server.put("b")
    seen: list[int] = []
    pods = SharedInformer(server, dict, clock=clock)
    pods.add_handler(on_add=lambda _: seen.append(pods.lister.count()))
    async with pods:
        server.put("c")
        server.put("d")
        await clock.settle()

        assert seen == [2, 2, 3, 4]


def test_all_changes_of_a_batch_are_in_the_store_before_the_first_notification() -> None:
    """CCH-44: a batch is applied before handlers are called."""
    pods = Indexer(EntryCodec(dict))
    seen: list[tuple[str, int]] = []

    def notify(notifications: Sequence[Notification]) -> None:
        seen.extend((each.key.name, len(pods)) for each in notifications)

    apply = DeltaApplier(pods, lambda: [notify])
    deltas = [Delta(DeltaType.ADDED, each.key, each) for each in (entry("a"), entry("b"))]
    apply(deltas, is_initial=False)

    assert seen == [("a", 2), ("b", 2)]


async def test_bookmarks_move_the_store(server: ModelServer, clock: ManualClock) -> None:
    """CCH-36, CCH-15: the version of the store."""
    async with SharedInformer(server, dict, clock=clock) as pods:
        server.version = 50
        server.bookmark()
        await clock.settle()

        assert pods.indexer.version == "50"
        assert pods.stats().reflector.event_age == 0


async def test_a_transform_is_applied_before_the_first_read(
    server: ModelServer, clock: ManualClock
) -> None:
    """CCH-86, INF-C8: labels are gone everywhere, and versions are tracked."""

    def bare(pod: dict[str, Any]) -> dict[str, Any]:
        del pod["metadata"]["labels"]
        return pod

    server.put("web", app="web")
    received: list[dict[str, Any]] = []
    pods = SharedInformer(server, dict, transform=bare, clock=clock)
    pods.add_handler(on_add=received.append)
    async with pods:
        server.put("db", app="db")
        await clock.settle()

        assert [("labels" in pod["metadata"]) for pod in received] == [False, False]
        assert pods.lister.list("app=web") == []
        assert pods.last_sync_version == "12"


async def test_a_transform_may_drop_versions_without_losing_track_of_them(
    server: ModelServer, clock: ManualClock
) -> None:
    """INF-C8: waiting for a write works, and changes are no resyncs."""

    def trim(pod: dict[str, Any]) -> dict[str, Any]:
        return {"metadata": {"name": pod["metadata"]["name"]}}

    server.put("web")
    pods = SharedInformer(server, dict, transform=trim, clock=clock)
    changes: list[Change[dict[str, Any]]] = []
    pods.add_handler(on_change=changes.append)
    async with pods:
        version = server.put("web")

        await pods.wait_for_version(version)

        assert cached_versions(pods) == server.state()
        assert [change.is_resync for change in changes] == [False, False]
        assert [pod["metadata"] for pod in pods.lister.list()] == [{"name": "web"}]


async def test_indexes_can_be_added_while_it_runs(server: ModelServer) -> None:
    """CCH-C3, CCH-13: with the stored objects."""
    server.put("web", node="node-7")
    async with SharedInformer(server, Pod) as pods:
        with pytest.raises(UnknownIndex):
            pods.lister.by_index("node", "node-7")

        await pods.add_indexers({"node": "spec.nodeName"})

        assert len(pods.lister.by_index("node", "node-7")) == 1
        with pytest.raises(IndexConflict):
            await pods.add_indexers({"node": "spec.nodeName"})


class _Spec(msgspec.Struct, rename="camel"):
    node_name: str = ""


class _View(msgspec.Struct):
    spec: _Spec


@pytest.mark.parametrize("store_as", ["bytes", "objects", "compressed"])
@pytest.mark.parametrize("of", [Pod, dict, _View])
async def test_objects_have_the_requested_type_in_every_storage_format(
    server: ModelServer, of: type[Any], store_as: Any
) -> None:
    server.put("web", node="node-7")

    async with SharedInformer(server, of, store_as=store_as, index={"n": "spec.nodeName"}) as pods:
        (found,) = pods.lister.by_index("n", "node-7")

        assert type(found) is of


async def test_a_mutation_of_a_shared_object_makes_the_informer_fail(
    server: ModelServer, clock: ManualClock
) -> None:
    server.put("web")
    pods = SharedInformer(server, dict, store_as="objects", detect_mutations=True, clock=clock)

    async def change_one() -> None:
        async with pods:
            pods.lister.list()[0]["metadata"]["name"] = "other"
            await clock.sleep(60)

    changing = asyncio.create_task(change_one())
    await clock.advance(1)

    with pytest.raises(CacheMutated, match="shop/web in the cache was changed"):
        await changing


async def test_a_write_can_be_waited_for(server: ModelServer, clock: ManualClock) -> None:
    async with SharedInformer(server, dict, clock=clock) as pods:
        wait = asyncio.create_task(
            pods.get("web", namespace="shop", resource_version="11", timeout=5)
        )
        await clock.settle()
        assert not wait.done()

        version = server.put("web")
        found = await wait

        assert version == "11"
        assert found is not None
        await pods.wait_for_version("11")  # seen already: at once


async def test_waiting_for_a_write_has_a_deadline(server: ModelServer, clock: ManualClock) -> None:
    async with SharedInformer(server, dict, clock=clock) as pods:
        wait = asyncio.create_task(pods.wait_for_version("99", timeout=5))
        await clock.advance(5)

        with pytest.raises(NotSynced, match="version 99 of pods: not within 5 s"):
            await wait
        with pytest.raises(InvalidArgument, match="not a number"):
            await pods.wait_for_version("")


async def test_a_condition_is_checked_after_each_change_of_the_cache(
    server: ModelServer, clock: ManualClock
) -> None:
    async with SharedInformer(server, dict, clock=clock) as pods:
        wait = asyncio.create_task(pods.wait_until(lambda: pods.lister.count() == 2))
        late = asyncio.create_task(pods.wait_until(lambda: False, what="rain", timeout=5))
        server.put("web")
        await clock.settle()
        assert not wait.done()
        server.put("other")
        await wait

        await clock.advance(5)
        with pytest.raises(NotSynced, match="wait for rain: not within 5 s"):
            await late


async def test_a_list_that_is_older_than_the_cache_counts_as_a_rewind(
    server: ModelServer, clock: ManualClock
) -> None:
    async with SharedInformer(server, dict, clock=clock) as pods:
        pods.indexer.replace([], "30")
        pods.indexer.replace([], "40")
        assert pods.indexer.store.rewinds == 0
        pods.indexer.replace([], "35")

        assert pods.indexer.store.rewinds == 1
        assert pods.indexer.store.replacements == 4


async def test_versions_are_compared_as_numbers(server: ModelServer, clock: ManualClock) -> None:
    async with SharedInformer(server, dict, clock=clock) as pods:
        server.version = 99
        server.put("web")
        await clock.settle()

        await pods.wait_for_version("9")
        await pods.wait_for_version("100", timeout=0)


async def test_an_informer_may_use_another_delta_queue(
    server: ModelServer, clock: ManualClock
) -> None:
    server.put("web")
    history = ChangeHistory()
    pods = SharedInformer(server, dict, queue=DeltaFIFO, clock=clock)
    pods.add_handler(on_change=history)
    async with pods:
        server.put("db")
        server.delete("web")
        await clock.settle()

        assert cached_versions(pods) == server.state() == history.now


async def test_processing_that_fails_is_retried_after_a_second(
    server: ModelServer, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    """CCH-74: the controller retries."""
    pods = SharedInformer(server, dict, clock=clock)
    async with pods:
        add = pods.indexer.store.add
        pods.indexer.store.add = None  # type: ignore[method-assign, assignment] # breaks it
        server.put("web")
        await clock.settle()
        assert pods.lister.count() == 0
        assert pods.stats().controller.failures == 1

        pods.indexer.store.add = add  # type: ignore[method-assign] # repairs it
        await clock.advance(1)

        assert cached_versions(pods) == server.state()


async def test_an_unfiltered_cache_of_secrets_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with SharedInformer(ModelServer(scope=Scope("secrets")), dict):
        assert "secrets: the cache holds all of the cluster" in caplog.text

    caplog.clear()
    async with SharedInformer(ModelServer(scope=Scope("secrets", namespace="shop")), dict):
        assert caplog.text == ""


def test_a_misspelt_option_is_an_error_that_names_it(server: ModelServer) -> None:
    with pytest.raises(TypeError, match=r"SharedInformer\(\) got .* argument 'resink'"):
        SharedInformer(server, dict, resink=1.0)  # type: ignore[call-arg]


async def test_cancelling_the_start_leaves_nothing(server: ModelServer, clock: ManualClock) -> None:
    """X-7: no task, no connection."""
    server.fail(*(refusal(500, "InternalError") for _ in range(99)))
    for turns in range(12):
        pods: SharedInformer[dict[str, Any]] = SharedInformer(server, dict, clock=clock)
        entering = asyncio.create_task(pods.__aenter__())
        for _ in range(turns):
            await asyncio.sleep(0)
        entering.cancel()
        await asyncio.wait([entering])

        assert entering.cancelled()
        assert pods.state is not InformerState.RUNNING
        assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_the_loop_is_never_blocked_for_long_while_many_objects_load() -> None:
    """The goal is 20 ms for 100,000 objects; here a tenth of them, with tolerance for a busy machine."""
    server = ModelServer()
    for number in range(5_000):
        server.put(f"pod-{number}", app="web")
    longest, stopping = 0.0, False

    async def beat() -> None:
        nonlocal longest
        while not stopping:
            before = time.thread_time()  # what others do on the machine does not count
            await asyncio.sleep(0)
            longest = max(longest, time.thread_time() - before)

    pods = SharedInformer(server, dict)
    pods.add_key_handler(lambda key: None)
    async with TaskOwner() as tasks:
        tasks.spawn(beat(), name="beat")
        async with pods:
            stopping = True

    assert pods.lister.count() == 5_000
    assert longest < 0.1


async def test_options_are_set_when_an_informer_is_created(
    server: ModelServer, clock: ManualClock
) -> None:
    """CCH-76: there are no setters, so none can be called too late."""
    received: list[Exception] = []
    server.fail(refusal(403, "Forbidden"), refusal(403, "Forbidden"))
    pods = SharedInformer(server, dict, clock=clock, on_watch_error=received.append)
    assert not [name for name in dir(pods) if name.startswith("set_")]

    async with TaskOwner() as tasks:
        tasks.spawn(pods.run(), name="informer")
        await clock.advance(2)

    assert [type(error).__name__ for error in received] == ["Forbidden"]


def test_the_numbers_are_client_gos() -> None:
    """X-8, CCH-47, CCH-48, CCH-49: delays, page size and backlog."""
    assert (reflector.BACKOFF.duration, reflector.BACKOFF.factor) == (0.8, 2.0)
    assert (reflector.BACKOFF.jitter, reflector.BACKOFF.steps, reflector.BACKOFF.cap) == (1, 38, 30)
    assert (reflector.BACKOFF_RESET, reflector.MIN_WATCH_TIMEOUT) == (120.0, 300.0)
    assert (pager.PAGE_SIZE, LIMIT) == (500, 1024)


async def test_a_write_is_waited_for_ten_seconds_by_default(
    server: ModelServer, clock: ManualClock
) -> None:
    async with SharedInformer(server, dict, clock=clock) as pods:
        waits = [
            asyncio.create_task(pods.wait_for_version("99")),
            asyncio.create_task(pods.get("web", resource_version="99")),
        ]
        await clock.advance(9.9)
        assert not any(wait.done() for wait in waits)
        await clock.advance(0.2)

        for wait in waits:
            with pytest.raises(NotSynced, match="not within 10 s"):
                await wait


async def test_the_age_of_the_last_event_is_in_the_stats(
    server: ModelServer, clock: ManualClock
) -> None:
    async with SharedInformer(server, dict, clock=clock) as pods:
        await clock.advance(40)
        assert pods.stats().reflector.event_age == 40

        server.put("web")
        await clock.advance(3)

        assert pods.stats().reflector.event_age == 3
