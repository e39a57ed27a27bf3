"""What queues report, and under which names."""

from __future__ import annotations

import logging

import prometheus_client
import pytest

from kubeloop.kit import ManualClock
from kubeloop.workqueue import (
    DURATION_BUCKETS,
    QUEUE_METRIC_NAMES,
    REPORT_INTERVAL,
    DelayingQueue,
    PriorityQueue,
    PrometheusQueueMetrics,
    RateLimitingQueue,
    WorkQueue,
)

from .conftest import Noted, Tasks, take_all


@pytest.fixture
def noted() -> Noted:
    return Noted()


@pytest.fixture
def named(clock: ManualClock, noted: Noted) -> RateLimitingQueue[str]:
    return RateLimitingQueue(name="pods", clock=clock, metrics=noted)


async def test_the_time_in_the_queue_and_in_work_is_measured(
    named: RateLimitingQueue[str], noted: Noted, clock: ManualClock
) -> None:
    """WKQ-17, WKQ-C9."""
    named.add("web")
    await clock.advance(5e-5)
    named.get_nowait()
    await clock.advance(25e-6)
    named.done("web")

    assert noted.waited == [pytest.approx(5e-5)]
    assert noted.worked == [pytest.approx(25e-6)]
    assert noted.names == {"pods"}


def test_adds_that_change_nothing_do_not_count(named: RateLimitingQueue[str], noted: Noted) -> None:
    """WKQ-18."""
    for _ in range(5):
        named.add("web")

    assert (noted.adds, noted.depths[-1]) == (1, 1)


def test_adds_while_in_work_count_once_and_raise_the_depth(
    named: RateLimitingQueue[str], noted: Noted
) -> None:
    """WKQ-18, WKQ-C9."""
    named.add("web")
    named.get_nowait()
    for _ in range(5):
        named.add("web")
    during = noted.depths[-1]
    named.done("web")
    named.get_nowait()

    assert (noted.adds, during, noted.depths[-1]) == (2, 1, 0)


async def test_the_wait_of_a_key_added_while_in_work_begins_with_the_add(
    named: RateLimitingQueue[str], noted: Noted, clock: ManualClock
) -> None:
    """WKQ-17, as client-go measures it."""
    named.add("web")
    named.get_nowait()
    named.add("web")
    await clock.advance(3)
    named.done("web")
    named.get_nowait()

    assert noted.waited == [0, 3]


async def test_every_add_for_later_is_a_retry_even_without_delay(
    named: RateLimitingQueue[str], noted: Noted
) -> None:
    """WKQ-17."""
    named.add("plain")
    named.add("a", after=1)
    named.add("a", after=2)
    named.add("b", after=0)
    named.add_rate_limited("c")

    assert noted.retries == 4
    assert noted.adds == 2


async def test_work_in_progress_is_reported_every_500_ms_until_shutdown(
    named: RateLimitingQueue[str], noted: Noted, clock: ManualClock, tasks: Tasks
) -> None:
    """WKQ-17."""
    for key in ("a", "b"):
        named.add(key)
    running = tasks.begin(named.run())
    named.get_nowait()
    await clock.advance(0.25)
    named.get_nowait()

    await clock.advance(0.75)
    named.shut_down()
    await clock.advance(1)

    assert REPORT_INTERVAL == 0.5
    assert noted.running == [(0.75, 0.5), (1.75, 1.0)]
    assert running.done()


async def test_keys_whose_moment_has_come_show_in_the_depth_while_all_workers_are_busy(
    named: RateLimitingQueue[str], noted: Noted, clock: ManualClock, tasks: Tasks
) -> None:
    """WKQ-17."""
    tasks.begin(named.run())
    named.add("web", after=0.3)

    await clock.advance(0.5)

    assert noted.depths[-1] == 1


@pytest.mark.parametrize("name", ["", "pods"])
def test_only_a_named_queue_with_metrics_reports(name: str, clock: ManualClock) -> None:
    """WKQ-17."""
    noted = Noted()
    queue: WorkQueue[str] = WorkQueue(name=name, clock=clock, metrics=noted)
    silent: WorkQueue[str] = WorkQueue(name=name, clock=clock)

    for each in (queue, silent):
        each.add("web")
        take_all(each)

    assert noted.adds == (1 if name else 0)


async def test_a_queue_without_metrics_has_nothing_to_run(clock: ManualClock) -> None:
    await DelayingQueue(name="pods", clock=clock).run()


def test_a_priority_queue_counts_a_key_when_it_is_ready(noted: Noted, clock: ManualClock) -> None:
    """WKQ-17, WKQ-20."""
    queue: PriorityQueue[str] = PriorityQueue(name="pods", clock=clock, metrics=noted)
    queue.add("a", after=5)
    queue.add("b", priority=3)
    queue.add("b", priority=4)

    assert (noted.adds, noted.retries, noted.depths[-1]) == (1, 1, 1)


def test_metrics_that_fail_cost_no_key_and_are_logged_once(
    clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    """Need 14: a failing part is logged and everything goes on."""

    class Failing(Noted):
        def added(self, name: str) -> None:
            raise RuntimeError("no")

        def handed_out(self, name: str, *, waited: float) -> None:
            raise RuntimeError("no")

    queue: WorkQueue[str] = WorkQueue(name="pods", clock=clock, metrics=Failing())

    with caplog.at_level(logging.INFO):
        for key in ("a", "b"):
            queue.add(key)
        taken = take_all(queue)

    assert taken == ["a", "b"]
    assert [record.getMessage() for record in caplog.records] == ["queue pods: its metrics failed"]


@pytest.mark.parametrize("name", [name for name in QUEUE_METRIC_NAMES if "duration" not in name])
def test_every_number_of_a_queue_is_zero_before_its_first_key(name: str) -> None:
    """WKQ-17: as client-go has it, for a rate counts from the number that it saw first."""
    registry = prometheus_client.CollectorRegistry()

    RateLimitingQueue(name="pods", metrics=PrometheusQueueMetrics(registry))

    assert registry.get_sample_value(name, {"name": "pods"}) == 0


async def test_prometheus_sees_client_gos_names(clock: ManualClock, tasks: Tasks) -> None:
    """WKQ-17, and need 13: no Python peer shows the depth of a queue."""
    registry = prometheus_client.CollectorRegistry()
    queue: RateLimitingQueue[str] = RateLimitingQueue(
        name="pods", clock=clock, metrics=PrometheusQueueMetrics(registry)
    )
    tasks.begin(queue.run())
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


def test_the_buckets_and_names_are_client_gos() -> None:
    """WKQ-17, X-8."""
    assert pytest.approx([1e-8 * 10**i for i in range(10)]) == list(DURATION_BUCKETS)
    assert [name.removeprefix("workqueue_") for name in QUEUE_METRIC_NAMES] == [
        "depth",
        "adds_total",
        "queue_duration_seconds",
        "work_duration_seconds",
        "unfinished_work_seconds",
        "longest_running_processor_seconds",
        "retries_total",
    ]
