"""What queues report, under client-go's names."""

from __future__ import annotations

import logging
import re

import prometheus_client
import pytest

from kubeloop.kit import ManualClock
from kubeloop.workqueue import (
    DelayingQueue,
    PriorityQueue,
    PrometheusQueueMetrics,
    RateLimitingQueue,
    WorkQueue,
)

from .conftest import RecordedMetrics, Tasks, process_all

NAMES = (
    "workqueue_adds_total",
    "workqueue_depth",
    "workqueue_longest_running_processor_seconds",
    "workqueue_queue_duration_seconds",
    "workqueue_retries_total",
    "workqueue_unfinished_work_seconds",
    "workqueue_work_duration_seconds",
)


@pytest.fixture
def recorded() -> RecordedMetrics:
    return RecordedMetrics()


@pytest.fixture
def named(clock: ManualClock, recorded: RecordedMetrics) -> RateLimitingQueue[str]:
    return RateLimitingQueue(name="pods", clock=clock, metrics=recorded)


async def test_the_time_from_add_to_get_and_from_get_to_done_is_measured(
    named: RateLimitingQueue[str], recorded: RecordedMetrics, clock: ManualClock
) -> None:
    """WKQ-17, WKQ-C9: metrics."""
    named.add("web")
    await clock.advance(5e-5)
    named.get_nowait()
    await clock.advance(25e-6)
    named.done("web")

    assert recorded.queue_durations == [pytest.approx(5e-5)]
    assert recorded.work_durations == [pytest.approx(25e-6)]
    assert recorded.names == {"pods"}


def test_an_add_of_a_queued_key_is_not_counted(
    named: RateLimitingQueue[str], recorded: RecordedMetrics
) -> None:
    """WKQ-18: what counts as an add."""
    for _ in range(5):
        named.add("web")

    assert (recorded.adds, recorded.depths[-1]) == (1, 1)


def test_adds_while_processing_count_once_and_raise_the_depth(
    named: RateLimitingQueue[str], recorded: RecordedMetrics
) -> None:
    """WKQ-18, WKQ-C9: what counts as an add."""
    named.add("web")
    named.get_nowait()
    for _ in range(5):
        named.add("web")
    during = recorded.depths[-1]
    named.done("web")
    named.get_nowait()

    assert (recorded.adds, during, recorded.depths[-1]) == (2, 1, 0)


async def test_the_queue_duration_of_a_key_added_while_processing_starts_with_the_add(
    named: RateLimitingQueue[str], recorded: RecordedMetrics, clock: ManualClock
) -> None:
    """WKQ-17, as client-go measures it."""
    named.add("web")
    named.get_nowait()
    named.add("web")
    await clock.advance(3)
    named.done("web")
    named.get_nowait()

    assert recorded.queue_durations == [0, 3]


async def test_every_delayed_add_counts_as_a_retry_even_with_a_delay_of_zero(
    named: RateLimitingQueue[str], recorded: RecordedMetrics
) -> None:
    """WKQ-17: metrics."""
    named.add("plain")
    named.add("a", after=1)
    named.add("a", after=2)
    named.add("b", after=0)
    named.add_rate_limited("c")

    assert recorded.retries == 4
    assert recorded.adds == 2


async def test_keys_in_processing_are_reported_every_500_ms_until_shutdown(
    named: RateLimitingQueue[str], recorded: RecordedMetrics, clock: ManualClock, tasks: Tasks
) -> None:
    """WKQ-17: metrics."""
    for key in ("a", "b"):
        named.add(key)
    running = tasks.start(named.run())
    named.get_nowait()
    await clock.advance(0.25)
    named.get_nowait()

    await clock.advance(0.75)
    named.shut_down()
    await clock.advance(1)

    assert recorded.processing == [(0.75, 0.5), (1.75, 1.0)]
    assert running.done()


async def test_a_key_whose_delay_is_over_counts_in_the_depth_while_all_workers_are_busy(
    named: RateLimitingQueue[str], recorded: RecordedMetrics, clock: ManualClock, tasks: Tasks
) -> None:
    """WKQ-17: metrics."""
    tasks.start(named.run())
    named.add("web", after=0.3)

    await clock.advance(0.5)

    assert recorded.depths[-1] == 1


@pytest.mark.parametrize("name", ["", "pods"])
def test_only_a_named_queue_with_metrics_reports(name: str, clock: ManualClock) -> None:
    """WKQ-17: metrics."""
    recorded = RecordedMetrics()
    queue: WorkQueue[str] = WorkQueue(name=name, clock=clock, metrics=recorded)
    silent: WorkQueue[str] = WorkQueue(name=name, clock=clock)

    for each in (queue, silent):
        each.add("web")
        process_all(each)

    assert recorded.adds == (1 if name else 0)


async def test_run_of_a_queue_without_metrics_returns(clock: ManualClock) -> None:
    await DelayingQueue(name="pods", clock=clock).run()


def test_a_priority_queue_counts_a_key_when_it_is_ready(
    recorded: RecordedMetrics, clock: ManualClock
) -> None:
    """WKQ-17, WKQ-20: metrics."""
    queue: PriorityQueue[str] = PriorityQueue(name="pods", clock=clock, metrics=recorded)
    queue.add("a", after=5)
    queue.add("b", priority=3)
    queue.add("b", priority=4)

    assert (recorded.adds, recorded.retries, recorded.depths[-1]) == (1, 1, 1)


def test_an_error_of_the_metrics_loses_no_key_and_is_logged_once(
    clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    class Failing(RecordedMetrics):
        def count_add(self, name: str) -> None:
            raise RuntimeError("no")

        def observe_queue_duration(self, name: str, seconds: float) -> None:
            raise RuntimeError("no")

    queue: WorkQueue[str] = WorkQueue(name="pods", clock=clock, metrics=Failing())

    with caplog.at_level(logging.INFO):
        for key in ("a", "b"):
            queue.add(key)
        taken = process_all(queue)

    assert taken == ["a", "b"]
    assert [record.getMessage() for record in caplog.records] == [
        "queue pods: reporting metrics failed"
    ]


@pytest.mark.parametrize("name", [name for name in NAMES if "duration" not in name])
def test_every_metric_of_a_queue_is_zero_before_its_first_key(name: str) -> None:
    """WKQ-17: as in client-go, because rate() starts with the first value it sees."""
    registry = prometheus_client.CollectorRegistry()

    RateLimitingQueue(name="pods", metrics=PrometheusQueueMetrics(registry))

    assert registry.get_sample_value(name, {"name": "pods"}) == 0


async def test_prometheus_sees_client_gos_names(clock: ManualClock, tasks: Tasks) -> None:
    """WKQ-17: metrics."""
    registry = prometheus_client.CollectorRegistry()
    queue: RateLimitingQueue[str] = RateLimitingQueue(
        name="pods", clock=clock, metrics=PrometheusQueueMetrics(registry)
    )
    tasks.start(queue.run())
    for key in ("a", "b", "c"):
        queue.add(key)
    queue.add_rate_limited("d")
    queue.get_nowait()
    queue.get_nowait()
    await clock.advance(0.5)
    queue.done("a")

    def value(name: str, **labels: str) -> float | None:
        return registry.get_sample_value(name, {"name": "pods", **labels})

    assert value("workqueue_depth") == 2
    assert value("workqueue_adds_total") == 4
    assert value("workqueue_queue_duration_seconds_count") == 2
    assert value("workqueue_work_duration_seconds_sum") == 0.5
    assert value("workqueue_work_duration_seconds_bucket", le="1e-08") == 0
    assert value("workqueue_work_duration_seconds_bucket", le="1.0") == 1
    assert value("workqueue_unfinished_work_seconds") == 1.0
    assert value("workqueue_longest_running_processor_seconds") == 0.5
    assert value("workqueue_retries_total") == 1


def test_the_names_and_buckets_are_client_gos() -> None:
    """WKQ-17: metrics."""
    registry = prometheus_client.CollectorRegistry()
    RateLimitingQueue(name="pods", metrics=PrometheusQueueMetrics(registry))
    samples = [sample for metric in registry.collect() for sample in metric.samples]

    names = {re.sub("_(bucket|sum|count|created)$", "", sample.name) for sample in samples}
    buckets = {
        float(sample.labels["le"])
        for sample in samples
        if sample.name == "workqueue_work_duration_seconds_bucket"
    }

    assert names - {"workqueue_adds", "workqueue_retries"} == set(NAMES)
    assert sorted(buckets) == pytest.approx([*(1e-8 * 10**i for i in range(10)), float("inf")])
