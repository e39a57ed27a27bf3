"""Factories: sharing, starting, waiting, stopping."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from kubeloop.cache import (
    IndexConflict,
    InformerState,
    NotSynced,
    Scope,
    SharedInformer,
    SharedInformerFactory,
    Watchable,
)
from kubeloop.errors import ApiError, InvalidArgument
from kubeloop.kit import ManualClock
from kubeloop.meta import GroupVersionResource
from kubeloop.wire import Resource
from kubeloop.wire.core.v1 import ConfigMap, Node, Pod
from tests.support.model_server import ModelServer, refusal

SITES = GroupVersionResource("example.com", "v1", "sites")


class _View(msgspec.Struct):
    spec: dict[str, Any]


class Cluster:
    """A client: a model server for each requested collection."""

    def __init__(self) -> None:
        self.servers: list[ModelServer] = []

    def list_watch(
        self,
        kind: Watchable,
        *,
        namespace: str,
        selector: str,
        field_selector: str,
        metadata_only: bool,
        format: str | None,  # noqa: A002 - what it is
    ) -> ModelServer:
        name = kind.__name__.lower() + "s" if isinstance(kind, type) else "sites.example.com"
        place = "" if kind is Node else namespace
        scope = Scope(name, place, selector, field_selector)
        self.servers.append(ModelServer(scope=scope))
        return self.servers[-1]


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


@pytest.fixture
def factory(cluster: Cluster, clock: ManualClock) -> SharedInformerFactory:
    return SharedInformerFactory(cluster, clock=clock)


async def test_equal_requests_share_one_informer_one_list_and_one_watch(
    cluster: Cluster, factory: SharedInformerFactory
) -> None:
    """INF-1, INF-C1: informers are shared."""
    async with factory:
        first, second = factory.informer(Pod), factory.informer(Pod)
        factory.start()
        (await factory.wait_synced(timeout=5)).check()

        assert first is second
        assert len(cluster.servers) == 1
        assert len(cluster.servers[0].received) == 1


async def test_different_requests_are_not_shared(factory: SharedInformerFactory) -> None:
    """INF-1, INF-8: by kind, namespace, selectors and model."""
    informers: list[SharedInformer[Any]] = [
        factory.informer(Pod),
        factory.informer(Node),
        factory.informer(Pod, namespace="shop"),
        factory.informer(Pod, selector="app=web"),
        factory.informer(Pod, field_selector="spec.nodeName=n"),
        factory.informer(Pod, model=_View),
        factory.informer(SITES),
        factory.metadata_informer(Pod),
    ]

    assert len({id(informer) for informer in informers}) == len(informers)
    assert factory.informer(Pod, selector={"app": "web"}) is informers[3]
    assert factory.informer(SITES) is informers[6]
    assert informers[6].indexer.codec.model is dict
    assert informers[7].indexer.codec.model is Resource


async def test_an_informer_has_its_own_watch_error_handler_or_the_factory_s(
    cluster: Cluster, clock: ManualClock
) -> None:
    of_all: list[Exception] = []
    of_nodes: list[Exception] = []
    async with SharedInformerFactory(cluster, on_watch_error=of_all.append, clock=clock) as factory:
        factory.informer(Pod)
        factory.informer(Node, on_watch_error=of_nodes.append)
        for code, server in zip((403, 401), cluster.servers, strict=True):
            server.fail(*[refusal(code, "Forbidden")] * 2)
        factory.start()
        await clock.advance(2)

    assert {error.code for error in of_all if isinstance(error, ApiError)} == {403}
    assert {error.code for error in of_nodes if isinstance(error, ApiError)} == {401}


def test_a_shared_informer_does_not_change_its_watch_error_handler(
    factory: SharedInformerFactory,
) -> None:
    """CCH-76: there are no setters, so none can be called too late."""
    received: list[Exception] = []
    pods = factory.informer(Pod, on_watch_error=print)

    assert factory.informer(Pod) is factory.informer(Pod, on_watch_error=print) is pods
    with pytest.raises(InvalidArgument, match="calls another on_watch_error"):
        factory.informer(Pod, on_watch_error=received.append)


async def test_start_starts_the_informers_that_exist_by_then(
    factory: SharedInformerFactory, clock: ManualClock
) -> None:
    """INF-1, INF-4, INF-C2, INF-C3: each once."""
    async with factory:
        pods = factory.informer(Pod)
        factory.start()
        factory.start()
        nodes = factory.informer(Node)

        result = await factory.wait_synced(timeout=5)
        assert dict(result.synced) == {"pods": True}
        assert nodes.state is InformerState.NEW

        factory.start()
        assert await factory.wait_synced(timeout=5)
        assert (pods.state, nodes.state) == (InformerState.RUNNING, InformerState.RUNNING)
        assert factory.stats().started == 2


async def test_the_namespace_and_the_selectors_of_a_factory_apply_to_all_informers(
    cluster: Cluster, clock: ManualClock
) -> None:
    """INF-2, INF-C6, INF-C7, INF-9: cluster-wide kinds ignore the namespace."""
    factory = SharedInformerFactory(
        cluster, namespace="shop", selector="app=web", field_selector="a=b", clock=clock
    )

    factory.informer(Pod)
    factory.informer(Node)
    factory.informer(Pod, namespace="", selector="")

    assert [str(server.scope) for server in cluster.servers] == [
        "pods in shop (app=web,a=b)",
        "nodes (app=web,a=b)",
        "pods (a=b)",
    ]


async def test_the_namespace_index_is_there(factory: SharedInformerFactory) -> None:
    """INF-3: the namespace index is built in."""
    assert factory.informer(Node).indexer.index_names() == ("namespace",)


async def test_kinds_may_have_different_resync_periods(
    cluster: Cluster, clock: ManualClock
) -> None:
    """INF-2, INF-C4: resync_of."""
    factory = SharedInformerFactory(cluster, resync=3600.0, resync_of={Pod: 10.0}, clock=clock)

    assert factory.informer(Pod).add_handler().stats().resync == 10.0
    assert factory.informer(Node).add_handler().stats().resync == 3600.0


async def test_a_transform_of_a_factory_applies_to_all_informers(
    cluster: Cluster, clock: ManualClock
) -> None:
    """INF-2: factory options are defaults."""

    def bare(pod: Any) -> Any:
        pod.metadata.labels = {}
        return pod

    factory = SharedInformerFactory(cluster, transform=bare, clock=clock)
    async with factory:
        pods = factory.informer(Pod)
        cluster.servers[0].put("web", app="web")
        factory.start()
        (await factory.wait_synced(timeout=5)).check()

        assert pods.lister.metadata()[0].labels == {}


async def test_a_second_request_may_add_indexes_but_not_change_the_storage(
    factory: SharedInformerFactory,
) -> None:
    pods = factory.informer(Pod, index={"node": "spec.nodeName"})

    factory.informer(Pod, index={"phase": "status.phase"}, store_as="bytes")

    assert pods.indexer.index_names() == ("namespace", "node", "phase")
    with pytest.raises(IndexConflict):
        factory.informer(Pod, index={"node": "spec.nodeName"})
    with pytest.raises(InvalidArgument, match="it stores objects as bytes"):
        factory.informer(Pod, store_as="objects")


async def test_an_informer_that_never_syncs_is_named(
    cluster: Cluster, factory: SharedInformerFactory, clock: ManualClock
) -> None:
    """INF-5, INF-C9, CCH-88: by the result of wait_synced."""
    async with factory:
        factory.informer(Pod)
        factory.informer(Node)
        cluster.servers[1].fail(*(refusal(403, "Forbidden") for _ in range(99)))
        factory.start()
        waiting = asyncio.create_task(factory.wait_synced(timeout=30))
        await clock.advance(30)
        result = await waiting

        assert dict(result.synced) == {"pods": True, "nodes": False}
        assert not result
        with pytest.raises(NotSynced, match="nodes"):
            result.check()


async def test_of_two_informers_of_one_name_both_have_to_sync(
    cluster: Cluster, factory: SharedInformerFactory, clock: ManualClock
) -> None:
    """INF-C9: such as objects and metadata of one kind."""
    async with factory:
        factory.informer(Pod)
        factory.metadata_informer(Pod)
        cluster.servers[0].fail(*(refusal(403, "Forbidden") for _ in range(99)))
        factory.start()
        waiting = asyncio.create_task(factory.wait_synced(timeout=30))
        await clock.advance(30)

        assert (await waiting).missing == ("pods",)


async def test_the_end_of_the_block_stops_all_informers(
    cluster: Cluster, factory: SharedInformerFactory
) -> None:
    """INF-6, X-7: no task is left."""
    async with factory:
        pods = factory.informer(Pod)
        factory.start()
        await factory.wait_synced(timeout=5)

    assert pods.state is InformerState.STOPPED
    assert cluster.servers[0].open_watches == 0
    assert asyncio.all_tasks() == {asyncio.current_task()}
    factory.informer(Node)
    factory.start()
    assert len(factory.stats().informers) == 2
    assert factory.stats().started == 1


async def test_shut_down_before_the_start_nothing_starts(
    cluster: Cluster, factory: SharedInformerFactory
) -> None:
    """INF-C5, INF-6: start() does nothing after the shutdown."""
    async with factory:
        factory.informer(Pod)
        await factory.aclose()
        factory.start()

        assert cluster.servers[0].received == []
    assert factory.stats().is_shut_down


async def test_a_factory_that_is_not_open_cannot_start(factory: SharedInformerFactory) -> None:
    with pytest.raises(InvalidArgument, match="not open"):
        factory.start()


async def test_the_report_lists_caches_and_warns_of_large_ones(
    cluster: Cluster, factory: SharedInformerFactory
) -> None:
    async with factory:
        factory.informer(Pod, namespace="shop", selector="app=web")
        factory.informer(ConfigMap)
        cluster.servers[0].put("web", app="web")
        factory.start()
        (await factory.wait_synced(timeout=5)).check()
        report = factory.report()

    assert report.objects == 1
    assert report.bytes > 100
    assert report.rows[0].selectors == "app=web"
    assert report.rows[0].has_synced
    assert len(report.warnings) == 1
    assert str(report).splitlines()[0].split() == [
        *("RESOURCE", "NAMESPACE", "SELECTORS", "FORMAT", "OBJECTS", "KB", "SYNCED")
    ]
    assert "warning: configmaps: the cache holds all of the cluster" in str(report)


async def test_a_kind_that_the_client_does_not_know_raises_its_error(clock: ManualClock) -> None:
    """INF-7: the client's error is not wrapped."""

    class Unknowing(Cluster):
        def list_watch(self, kind: Watchable, **_: Any) -> ModelServer:
            raise InvalidArgument(f"no resource for {kind}")

    factory = SharedInformerFactory(Unknowing(), clock=clock)

    with pytest.raises(InvalidArgument, match="no resource"):
        factory.informer(SITES)
    assert factory.stats().informers == ()


def test_an_informer_is_shared_only_if_it_drops_the_same_fields() -> None:
    factory = SharedInformerFactory(Cluster(), drop=("status",))
    pods = factory.informer(Pod)

    assert pods.drop == ("status",)
    assert factory.informer(Pod, drop=["status"]) is pods
    assert factory.informer(Node, drop=()).drop == ()
    with pytest.raises(InvalidArgument, match="drops other fields"):
        factory.informer(Pod, drop=())
