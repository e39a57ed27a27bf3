"""Metrics under client-go's names (CCH-17, CCH-39, CCH-99)."""

from __future__ import annotations

import asyncio
from typing import Any

from prometheus_client import CollectorRegistry

from kubeloop.cache import CACHE_METRIC_NAMES, Change, PrometheusCacheMetrics, SharedInformer
from kubeloop.kit import ManualClock, running
from tests.support.model_server import ModelServer, refused


def value(registry: CollectorRegistry, name: str, **labels: str) -> float | None:
    return registry.get_sample_value(name, {"name": "mine", "resource": "pods", **labels})


async def test_the_work_of_an_informer_is_counted(server: ModelServer, clock: ManualClock) -> None:
    """CCH-17, CCH-39: lists, watches, deltas and versions."""
    registry = CollectorRegistry()
    metrics = PrometheusCacheMetrics(registry)
    server.streams_lists = False
    server.put("web")

    async def never(change: Change[Any]) -> None:
        await asyncio.Event().wait()

    pods = SharedInformer(server, dict, clock=clock, metrics=metrics, name="mine", backlog=1)
    pods.add_handler(on_change=never, name="slow")
    async with pods:
        for _ in range(4):
            server.put("web")
        await clock.settle()
        server.cut()
        await clock.settle()

        assert value(registry, "informer_store_resource_version") == 15
        assert value(registry, "informer_processing_latency_seconds_count") is not None
        assert value(registry, "informer_queued_items") is not None
        assert value(registry, "informer_handler_queued_items", handler="slow") == 2
        assert value(registry, "informer_handler_merged_items_total", handler="slow") == 2
        assert value(registry, "reflector_lists_total") == 1
        assert value(registry, "reflector_items_per_list_sum") == 1
        assert value(registry, "reflector_watches_total") == 1
        assert value(registry, "reflector_short_watches_total") == 0
        assert value(registry, "reflector_last_resource_version") == 15

    assert value(registry, "reflector_lists_total") is None  # CCH-99: released with the informer


async def test_failed_attempts_are_counted_and_the_gauge_shows_those_in_a_row(
    server: ModelServer, clock: ManualClock
) -> None:
    registry = CollectorRegistry()
    metrics = PrometheusCacheMetrics(registry)
    server.streams_lists = False
    server.fail(refused(), refused())
    pods = SharedInformer(server, dict, clock=clock, metrics=metrics, name="mine")
    async with running(pods):
        await clock.settle()
        assert value(registry, "reflector_consecutive_failures") == 1

        await clock.advance(1.6)
        assert value(registry, "reflector_consecutive_failures") == 2

        await clock.advance(60)
        assert value(registry, "reflector_consecutive_failures") == 0
        assert value(registry, "reflector_failures_total") == 2


async def test_only_the_first_informer_of_a_name_and_resource_is_counted(
    server: ModelServer, clock: ManualClock
) -> None:
    """CCH-99: and none without a name."""
    registry = CollectorRegistry()
    metrics = PrometheusCacheMetrics(registry)
    for name in ("mine", "mine", ""):
        SharedInformer(server, dict, clock=clock, metrics=metrics, name=name)

    assert value(registry, "reflector_lists_total") == 0
    metrics.release("mine", "pods")
    metrics.release("mine", "pods")
    assert value(registry, "reflector_lists_total") is None


def test_the_names_are_client_gos() -> None:
    """CCH-39: the metrics have client-go's names."""
    assert {
        "informer_queued_items",
        "informer_processing_latency_seconds",
        "informer_store_resource_version",
    } <= set(CACHE_METRIC_NAMES)
