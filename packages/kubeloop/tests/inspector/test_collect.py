"""The values of the page, computed from stats."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from kubeloop.cache import InformerState, InformerStats, OutageStats, ReflectorState
from kubeloop.election import ElectorStats, Leading, LockStats, Standby
from kubeloop.errors import InvalidArgument
from kubeloop.inspector.collect import collect, numbers, quantile
from kubeloop.inspector.health import Health, controller_health, informer_health
from kubeloop.inspector.journal import (
    MAX_ENTRIES,
    Journal,
    JournalEntry,
    changes_between,
    entry_of_event,
)
from kubeloop.inspector.model import Failing, Process, Snapshot
from kubeloop.inspector.samples import Sample, check_parts, take_sample
from kubeloop.inspector.timeline import SPAN, Timeline, total
from kubeloop.meta import ObjectKey
from kubeloop.runtime import Client, ControllerStats, FailingKey, ManagerState, ManagerStats
from kubeloop.wire.core.v1 import ConfigMap, Event, ObjectReference
from kubeloop.workqueue import PriorityQueue, QueueStats, WorkQueue

PROCESS = Process("shop", 1, "here", "0", "3", "2030-01-01T00:00:00Z", "")
NOW = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.fixture
def stats(client: Client) -> InformerStats:
    """The stats of an informer that is not started."""
    return client.informer(ConfigMap, index={"colour": "data.colour"}).stats()


def a_controller(**more: Any) -> ControllerStats:
    queue: WorkQueue[str] = PriorityQueue(name="website")
    about = {"name": "website", "state": "running", "workers": 2, "active": (), "last_error": ""}
    counts = dict.fromkeys(("succeeded", "failed", "terminal", "timed_out"), 0)
    return ControllerStats(**{**about, **counts, "queue": queue.stats(), **more})


def an_elector(state: Any, **more: Any) -> ElectorStats:
    return ElectorStats(state, "other", LockStats(1, 0, 0, ""), "lease", "me", **more)


def page_of(sample: Sample, timeline: Timeline | None = None, *entries: JournalEntry) -> Snapshot:
    timeline = timeline or Timeline()
    return collect(sample, timeline, entries, process=PROCESS, at="", now=10.0)


def with_reflector(stats: InformerStats, **changes: Any) -> InformerStats:
    reflector = msgspec.structs.replace(stats.reflector, **changes)
    return msgspec.structs.replace(stats, reflector=reflector, state=InformerState.RUNNING)


# --- health


async def test_a_controller_with_parked_keys_is_degraded_and_shows_them() -> None:
    stats = a_controller(waiting_for_cache=("default/shop",), longest_cache_wait=12.0)

    (page,) = page_of(Sample(controllers={"website": stats})).controllers

    assert page.health is Health.DEGRADED
    assert page.waiting_for_cache == ("default/shop",)
    assert page.longest_cache_wait == 12.0


@pytest.mark.parametrize(
    ("state", "has_synced", "health"),
    [
        (ReflectorState.WATCHING, True, Health.HEALTHY),
        (ReflectorState.WAITING, True, Health.FAILING),
        (ReflectorState.WAITING, False, Health.FAILING),
        (ReflectorState.CONNECTING, True, Health.DEGRADED),
        (ReflectorState.LISTING, True, Health.DEGRADED),
        (ReflectorState.LISTING, False, Health.PENDING),
        (ReflectorState.NEW, False, Health.PENDING),
    ],
)
async def test_an_informer_that_receives_no_changes_is_failing(
    stats: InformerStats, state: ReflectorState, has_synced: bool, health: Health
) -> None:
    now = msgspec.structs.replace(with_reflector(stats, state=state), has_synced=has_synced)

    assert informer_health(now) is health


@pytest.mark.parametrize(("failures", "health"), [(1, Health.DEGRADED), (2, Health.FAILING)])
async def test_an_informer_with_two_failures_is_failing_also_during_the_next_attempt(
    stats: InformerStats, failures: int, health: Health
) -> None:
    outage = OutageStats(
        failures=failures, seconds=70, without_response=70, error="refused", code=0
    )
    failing = with_reflector(
        stats, state=ReflectorState.CONNECTING, outage=outage, last_error="refused"
    )
    failing = msgspec.structs.replace(failing, has_synced=True)

    informer = page_of(Sample(informers={"pods": failing})).informers[0]

    assert informer.health is health
    assert (informer.failures, informer.failing_for) == (failures, 70)
    assert informer.last_error == "refused"


async def test_a_stopped_informer_is_not_failing(stats: InformerStats) -> None:
    stopped = msgspec.structs.replace(stats, state=InformerState.STOPPED)

    assert informer_health(stopped) is Health.STOPPED


async def test_a_controller_is_degraded_for_some_seconds_after_a_failure() -> None:
    assert controller_health(a_controller(), [1.0, 0.0]) is Health.DEGRADED
    assert controller_health(a_controller(), [1.0, *[0.0] * 10]) is Health.HEALTHY
    assert controller_health(a_controller(state="waiting for caches"), []) is Health.PENDING


# --- time series


def test_rates_are_per_second() -> None:
    timeline = Timeline()

    for now, count in ((0.0, 10), (1.0, 12), (3.0, 18), (4.0, 2)):
        timeline.record(now, {"events": count})

    assert timeline.rates("events") == [2.0, 3.0, 0.0]
    assert timeline.values("events") == [10, 12, 18, 2]


def test_a_timeline_is_bounded_and_drops_series_that_end() -> None:
    timeline = Timeline()
    for at in range(3 * SPAN):
        timeline.record(float(at), {"events": at})

    assert len(timeline.values("events")) == SPAN
    assert len(timeline.rates("events")) == SPAN

    timeline.record(1000.0, {})
    assert timeline.values("events") == []


def test_a_series_that_starts_later_has_rates_for_its_time_only() -> None:
    timeline = Timeline()
    timeline.record(0.0, {})
    timeline.record(5.0, {"late": 0})
    timeline.record(6.0, {"late": 4})

    assert timeline.rates("late") == [4.0]
    assert total([[1.0, 2.0, 3.0], timeline.rates("late")]) == [1.0, 2.0, 7.0]


@pytest.mark.parametrize(
    ("counts", "part", "seconds"),
    [
        ({}, 0.5, None),
        ({1.0: 0, math.inf: 0}, 0.5, None),
        ({1.0: 10, 2.0: 0}, 0.5, 0.5),
        ({1.0: 1, 2.0: 1}, 0.99, 1.98),
        ({1.0: 1, math.inf: 9}, 0.99, 1.0),  # the last bucket has no upper bound
    ],
)
def test_a_quantile_is_computed_from_counts(
    counts: dict[float, float], part: float, seconds: float | None
) -> None:
    assert quantile(counts, part) == seconds


# --- the page


async def test_an_informer_is_shown_from_the_reflector_to_its_handlers(client: Client) -> None:
    async with client.informer(ConfigMap, namespace="default") as configs:
        configs.add_key_handler(lambda _: None, name="controller website")
        configs.add_key_handler(lambda _: None, name="mine")

        (informer,) = page_of(take_sample([configs])).informers

    assert (informer.id, informer.kind, informer.scope) == (
        "configmaps in default",
        "ConfigMap",
        "in default",
    )
    assert informer.health is Health.HEALTHY
    assert [(each.name, each.controller) for each in informer.handlers] == [
        ("controller website", "website"),
        ("mine", ""),
    ]


async def test_the_handlers_of_the_inspector_are_not_shown(client: Client) -> None:
    informer = client.informer(ConfigMap)
    informer.add_key_handler(lambda _: None, name="inspector")

    assert page_of(take_sample([informer])).informers[0].handlers == ()


async def test_a_controller_is_shown_with_the_durations_of_its_reconciles() -> None:
    timeline, sample = Timeline(), Sample()
    for now, fast, slow in ((0.0, 0, 0), (1.0, 8, 2)):
        durations = {0.1: fast, 1.0: slow, math.inf: 0}
        sample.controllers["website"] = a_controller(succeeded=fast + slow, durations=durations)
        timeline.record(now, numbers(sample))

    (controller,) = page_of(sample, timeline).controllers

    assert controller.rate == [10.0]
    assert controller.heatmap == [[8, 2, 0]]
    assert controller.bounds == [0.1, 1.0, None]
    assert controller.median == pytest.approx(0.0625)


async def test_a_leader_is_shown_with_the_remaining_time_of_its_lease() -> None:
    sample = Sample(elections=[an_elector(Leading(until=18.0, expires=20.0, transitions=1))])

    (election,) = page_of(sample).elections

    assert (election.state, election.remaining, election.identity) == ("leading", 8.0, "me")


def test_two_parts_with_the_same_name_get_different_names() -> None:
    queues: list[WorkQueue[str]] = [WorkQueue(name="keys"), WorkQueue(name="keys")]

    assert [queue.name for queue in page_of(take_sample(queues)).queues] == ["keys", "keys~2"]


class FixedStats(msgspec.Struct):
    """A part with the given stats."""

    value: object

    def stats(self) -> object:
        return self.value


def a_manager(
    client: Client, identity: str, state: str = "running", **controller: Any
) -> FixedStats:
    """A manager with an informer for its only controller."""
    informer = client.informer(ConfigMap, namespace="shop")
    informer.add_key_handler(lambda _: None, name="controller website")
    elector = msgspec.structs.replace(an_elector(Standby()), identity=identity)
    stats = ManagerStats(
        ManagerState(state),
        False,
        informers=(informer.stats(),),
        controllers=(a_controller(informers=(informer.name,), **controller),),
        election=elector,
    )
    return FixedStats(stats)


async def test_of_two_managers_each_cache_belongs_to_its_own_controller(client: Client) -> None:
    page = page_of(take_sample([a_manager(client, "alice"), a_manager(client, "bob")]))

    assert [each.handlers[0].controller for each in page.informers] == ["website", "website~2"]
    assert [(each.name, each.manager) for each in page.controllers] == [
        ("website", "alice"),
        ("website~2", "bob"),
    ]
    assert [each.manager for each in page.informers] == ["alice", "bob"]


async def test_running_managers_are_first(client: Client) -> None:
    states = {"alice": "ended", "bob": "running", "carol": "starting"}
    managers = [a_manager(client, name, state) for name, state in states.items()]

    page = page_of(take_sample(managers))

    assert [each.name for each in page.managers] == ["bob", "carol", "alice"]
    assert [each.manager for each in page.controllers] == ["bob", "carol", "alice"]
    assert [each.manager for each in page.informers] == ["bob", "carol", "alice"]


async def test_a_controller_has_its_failing_keys_and_the_caches_of_their_objects(
    client: Client,
) -> None:
    key = FailingKey(ObjectKey("shop", "web"), "no disk", 3, is_terminal=False, age=1.23)
    managers = [a_manager(client, "alice"), a_manager(client, "bob", failing=(key,) * 150)]

    first, second = page_of(take_sample(managers)).controllers

    assert first.caches == {"shop": "configmaps in shop"}
    assert second.caches == {"shop": "configmaps in shop~2"}
    assert (len(second.failing), second.failing_total) == (100, 150)
    assert second.failing[0] == Failing("shop/web", "no disk", 3, is_terminal=False, age=1.2)


async def test_a_single_manager_has_no_name_on_the_page(client: Client) -> None:
    page = page_of(take_sample([a_manager(client, "alice")]))

    assert (page.informers[0].manager, page.controllers[0].manager) == ("", "")


@pytest.mark.parametrize(
    ("states", "state"),
    [(["running", "running"], "running"), (["ended", "running"], "1 of 2 running")],
)
async def test_managers_in_different_states_are_counted(
    client: Client, states: list[str], state: str
) -> None:
    managers = [a_manager(client, each, each) for each in states]

    assert page_of(take_sample(managers)).process.state == state


def test_a_queue_without_a_name_is_shown_by_its_type() -> None:
    assert [queue.name for queue in page_of(take_sample([WorkQueue[str]()])).queues] == [
        "WorkQueue 1"
    ]


def test_any_part_with_stats_is_shown() -> None:
    class Mine:
        name = "mine"

        def stats(self) -> object:
            return JournalEntry("a", "b", "c", "d")

    (other,) = page_of(take_sample([Mine()])).others

    assert other.name == "mine"
    assert other.values["subject"] == "c"


def test_a_part_whose_stats_fail_is_named_and_the_others_are_shown() -> None:
    class Failing:
        def stats(self) -> object:
            raise ConnectionError("gone")

    sample = take_sample([Failing(), WorkQueue[str](name="keys")])

    assert page_of(sample).unreadable == {"Failing 1": "gone"}
    assert [queue.name for queue in page_of(sample).queues] == ["keys"]


@pytest.mark.parametrize("parts", [(), (object(),), (WorkQueue[str](), None)])
def test_an_object_without_stats_is_rejected_in_one_line(parts: tuple[object, ...]) -> None:
    with pytest.raises(InvalidArgument, match=r"^inspector: .*\(pass .*\)$"):
        check_parts(parts)


async def test_retries_of_a_queue_are_counted() -> None:
    queue: PriorityQueue[str] = PriorityQueue()
    queue.add("web", after=60)
    queue.add("api", rate_limited=True)
    queue.add("db")

    stats: QueueStats = queue.stats()

    assert stats.retries == 2


# --- the journal


async def test_an_error_and_the_recovery_are_entries(stats: InformerStats) -> None:
    before = Sample(informers={"pods": with_reflector(stats, state=ReflectorState.WATCHING)})
    failing = Sample(
        informers={
            "pods": with_reflector(
                stats, state=ReflectorState.WAITING, errors=2, last_error="refused"
            )
        }
    )
    recovered = Sample(
        informers={"pods": with_reflector(stats, state=ReflectorState.WATCHING, errors=2)}
    )

    assert list(changes_between(before, failing)) == [
        JournalEntry("process", "error", "pods", "refused", count=2)
    ]
    assert list(changes_between(failing, recovered)) == [
        JournalEntry("process", "info", "pods", "watching again")
    ]
    assert list(changes_between(recovered, recovered)) == []


async def test_failures_and_state_changes_of_a_controller_are_entries() -> None:
    before = Sample(controllers={"website": a_controller(state="waiting for caches")})
    now = Sample(controllers={"website": a_controller(failed=1, last_error="shop/web: no")})

    assert [entry.text for entry in changes_between(before, now)] == ["shop/web: no", "running"]


async def test_changes_of_leadership_are_entries() -> None:
    waiting = Sample(elections=[an_elector(Standby())])
    leading = Sample(elections=[an_elector(Leading(1.0, 2.0, 1))])

    assert [entry.text for entry in changes_between(waiting, leading)] == ["this process leads"]
    assert [entry.text for entry in changes_between(leading, waiting)] == [
        "this process no longer leads"
    ]


def test_a_repeated_entry_is_shown_once_with_a_count() -> None:
    journal = Journal()

    for text in ("refused", "other", "refused"):
        journal.add([JournalEntry("process", "error", "pods", text)], NOW)

    assert [(entry.text, entry.count) for entry in journal] == [("refused", 2), ("other", 1)]


def test_a_journal_is_bounded() -> None:
    journal = Journal()

    journal.add(
        [JournalEntry("process", "error", "pods", str(at)) for at in range(2 * MAX_ENTRIES)], NOW
    )

    assert len(list(journal)) == MAX_ENTRIES


def test_an_event_is_an_entry() -> None:
    involved = ObjectReference(kind="Pod", namespace="shop", name="web")
    event = Event(involved_object=involved, type="Warning", reason="BackOff", message="it crashed")

    entry = entry_of_event(event)

    assert (entry.level, entry.subject, entry.text) == (
        "warning",
        "Pod shop/web",
        "BackOff: it crashed",
    )
