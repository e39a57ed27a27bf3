"""From what parts say to what the page shows."""

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
from kubeloop.inspector.health import Health, of_controller, of_informer
from kubeloop.inspector.journal import LINES, Journal, Line, line_of_event, news
from kubeloop.inspector.model import About, Snapshot
from kubeloop.inspector.parts import Reading, checked, read
from kubeloop.inspector.timeline import SPAN, Timeline, total
from kubeloop.runtime import Client, ControllerStats, ManagerState, ManagerStats
from kubeloop.wire.core.v1 import ConfigMap, Event, ObjectReference
from kubeloop.workqueue import PriorityQueue, QueueStats, WorkQueue

ABOUT = About("shop", 1, "here", "0", "3", "2030-01-01T00:00:00Z", "")
NOW = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.fixture
def said(client: Client) -> InformerStats:
    """What an informer says that has not begun."""
    return client.informer(ConfigMap, index={"colour": "data.colour"}).stats()


def a_controller(**more: Any) -> ControllerStats:
    queue: WorkQueue[str] = PriorityQueue(name="website")
    about = {"name": "website", "state": "running", "workers": 2, "active": (), "last_error": ""}
    counts = dict.fromkeys(("succeeded", "failed", "terminal", "timed_out"), 0)
    return ControllerStats(**{**about, **counts, "queue": queue.stats(), **more})


def an_elector(state: Any, **more: Any) -> ElectorStats:
    return ElectorStats(state, "other", LockStats(1, 0, 0, ""), "lease", "me", **more)


def shown(reading: Reading, timeline: Timeline | None = None, *lines: Line) -> Snapshot:
    timeline = timeline or Timeline()
    return collect(reading, timeline, lines, about=ABOUT, at="", now=10.0)


def changed(said: InformerStats, **reflector: Any) -> InformerStats:
    told = msgspec.structs.replace(said.reflector, **reflector)
    return msgspec.structs.replace(said, reflector=told, state=InformerState.RUNNING)


# --- how parts are


async def test_a_controller_with_parked_keys_is_degraded_and_shows_them() -> None:
    waits = a_controller(waiting_for_cache=("default/shop",), longest_cache_wait=12.0)

    (page,) = shown(Reading(controllers={"website": waits})).controllers

    assert page.health is Health.TROUBLED
    assert page.waiting_for_cache == ("default/shop",)
    assert page.longest_cache_wait == 12.0


@pytest.mark.parametrize(
    ("state", "has_synced", "health"),
    [
        (ReflectorState.WATCHING, True, Health.GOOD),
        (ReflectorState.WAITING, True, Health.BROKEN),
        (ReflectorState.WAITING, False, Health.BROKEN),
        (ReflectorState.CONNECTING, True, Health.TROUBLED),
        (ReflectorState.LISTING, True, Health.TROUBLED),
        (ReflectorState.LISTING, False, Health.WAITING),
        (ReflectorState.NEW, False, Health.WAITING),
    ],
)
async def test_a_mirror_that_does_not_hear_of_changes_is_broken(
    said: InformerStats, state: ReflectorState, has_synced: bool, health: Health
) -> None:
    now = msgspec.structs.replace(changed(said, state=state), has_synced=has_synced)

    assert of_informer(now) is health


@pytest.mark.parametrize(("failures", "health"), [(1, Health.TROUBLED), (2, Health.BROKEN)])
async def test_an_informer_with_two_failures_is_failing_also_during_the_next_attempt(
    said: InformerStats, failures: int, health: Health
) -> None:
    outage = OutageStats(failures=failures, seconds=70, unanswered=70, error="refused", code=0)
    failing = changed(said, state=ReflectorState.CONNECTING, outage=outage, last_error="refused")
    failing = msgspec.structs.replace(failing, has_synced=True)

    mirror = shown(Reading(informers={"pods": failing})).mirrors[0]

    assert mirror.health is health
    assert (mirror.failures, mirror.failing_for) == (failures, 70)
    assert mirror.last_error == "refused"


async def test_an_informer_that_has_ended_is_not_broken(said: InformerStats) -> None:
    ended = msgspec.structs.replace(said, state=InformerState.STOPPED)

    assert of_informer(ended) is Health.ENDED


async def test_a_controller_is_troubled_for_a_while_after_a_failure() -> None:
    assert of_controller(a_controller(), [1.0, 0.0]) is Health.TROUBLED
    assert of_controller(a_controller(), [1.0, *[0.0] * 10]) is Health.GOOD
    assert of_controller(a_controller(state="waiting for caches"), []) is Health.WAITING


# --- numbers over time


def test_rates_are_told_for_each_second() -> None:
    timeline = Timeline()

    for now, count in ((0.0, 10), (1.0, 12), (3.0, 18), (4.0, 2)):
        timeline.note(now, {"events": count})

    assert timeline.rates("events") == [2.0, 3.0, 0.0]
    assert timeline.values("events") == [10, 12, 18, 2]


def test_a_timeline_is_bounded_and_forgets_what_is_gone() -> None:
    timeline = Timeline()
    for at in range(3 * SPAN):
        timeline.note(float(at), {"events": at})

    assert len(timeline.values("events")) == SPAN
    assert len(timeline.rates("events")) == SPAN

    timeline.note(1000.0, {})
    assert timeline.values("events") == []


def test_a_count_that_came_later_has_rates_of_its_own_time() -> None:
    timeline = Timeline()
    timeline.note(0.0, {})
    timeline.note(5.0, {"late": 0})
    timeline.note(6.0, {"late": 4})

    assert timeline.rates("late") == [4.0]
    assert total([[1.0, 2.0, 3.0], timeline.rates("late")]) == [1.0, 2.0, 7.0]


@pytest.mark.parametrize(
    ("counts", "part", "seconds"),
    [
        ({}, 0.5, None),
        ({1.0: 0, math.inf: 0}, 0.5, None),
        ({1.0: 10, 2.0: 0}, 0.5, 0.5),
        ({1.0: 1, 2.0: 1}, 0.99, 1.98),
        ({1.0: 1, math.inf: 9}, 0.99, 1.0),  # no bound to say more
    ],
)
def test_a_quantile_is_told_from_counts(
    counts: dict[float, float], part: float, seconds: float | None
) -> None:
    assert quantile(counts, part) == seconds


# --- the page


async def test_an_informer_is_shown_from_the_reflector_to_its_handlers(client: Client) -> None:
    async with client.informer(ConfigMap, namespace="default") as configs:
        configs.add_key_handler(lambda _: None, name="controller website")
        configs.add_key_handler(lambda _: None, name="mine")

        (mirror,) = shown(read([configs])).mirrors

    assert (mirror.id, mirror.kind, mirror.scope) == (
        "configmaps in default",
        "ConfigMap",
        "in default",
    )
    assert mirror.health is Health.GOOD
    assert [(each.name, each.controller) for each in mirror.handlers] == [
        ("controller website", "website"),
        ("mine", ""),
    ]


async def test_the_inspectors_own_handlers_are_not_shown(client: Client) -> None:
    informer = client.informer(ConfigMap)
    informer.add_key_handler(lambda _: None, name="inspector")

    assert shown(read([informer])).mirrors[0].handlers == ()


async def test_a_controller_is_shown_with_the_times_of_its_tries() -> None:
    timeline, reading = Timeline(), Reading()
    for now, fast, slow in ((0.0, 0, 0), (1.0, 8, 2)):
        durations = {0.1: fast, 1.0: slow, math.inf: 0}
        reading.controllers["website"] = a_controller(succeeded=fast + slow, durations=durations)
        timeline.note(now, numbers(reading))

    (controller,) = shown(reading, timeline).controllers

    assert controller.rate == [10.0]
    assert controller.heat == [[8, 2, 0]]
    assert controller.bounds == [0.1, 1.0, None]
    assert controller.median == pytest.approx(0.0625)


async def test_a_leader_is_shown_with_the_time_it_is_safe_for() -> None:
    reading = Reading(elections=[an_elector(Leading(until=18.0, expires=20.0, transitions=1))])

    (election,) = shown(reading).elections

    assert (election.state, election.remaining, election.identity) == ("leading", 8.0, "me")


def test_two_parts_of_one_name_are_told_apart() -> None:
    queues: list[WorkQueue[str]] = [WorkQueue(name="keys"), WorkQueue(name="keys")]

    assert [queue.name for queue in shown(read(queues)).queues] == ["keys", "keys~2"]


class ASaying(msgspec.Struct):
    """A part that says what it is given to say."""

    said: object

    def stats(self) -> object:
        return self.said


def a_manager(client: Client, identity: str, state: str = "running") -> ASaying:
    """One with an informer that feeds its only controller."""
    informer = client.informer(ConfigMap)
    informer.add_key_handler(lambda _: None, name="controller website")
    elector = msgspec.structs.replace(an_elector(Standby()), identity=identity)
    said = ManagerStats(
        ManagerState(state),
        False,
        informers=(informer.stats(),),
        controllers=(a_controller(),),
        election=elector,
    )
    return ASaying(said)


async def test_of_two_managers_each_cache_feeds_the_controller_of_its_own(client: Client) -> None:
    page = shown(read([a_manager(client, "alice"), a_manager(client, "bob")]))

    assert [each.handlers[0].controller for each in page.mirrors] == ["website", "website~2"]
    assert [(each.name, each.owner) for each in page.controllers] == [
        ("website", "alice"),
        ("website~2", "bob"),
    ]
    assert [each.owner for each in page.mirrors] == ["alice", "bob"]


async def test_a_manager_that_is_alone_is_not_named(client: Client) -> None:
    page = shown(read([a_manager(client, "alice")]))

    assert (page.mirrors[0].owner, page.controllers[0].owner) == ("", "")


@pytest.mark.parametrize(
    ("states", "said"),
    [(["running", "running"], "running"), (["ended", "running"], "1 of 2 running")],
)
async def test_managers_that_differ_are_counted(
    client: Client, states: list[str], said: str
) -> None:
    managers = [a_manager(client, state, state) for state in states]

    assert shown(read(managers)).about.state == said


def test_a_queue_without_a_name_is_shown_by_its_kind() -> None:
    assert [queue.name for queue in shown(read([WorkQueue[str]()])).queues] == ["WorkQueue 1"]


def test_any_part_that_has_stats_is_shown() -> None:
    class Mine:
        name = "mine"

        def stats(self) -> object:
            return Line("a", "b", "c", "d")

    (other,) = shown(read([Mine()])).others

    assert other.name == "mine"
    assert other.values["about"] == "c"


def test_a_part_that_cannot_answer_is_named_and_the_others_are_shown() -> None:
    class Failing:
        def stats(self) -> object:
            raise ConnectionError("gone")

    reading = read([Failing(), WorkQueue[str](name="keys")])

    assert shown(reading).silent == {"Failing 1": "gone"}
    assert [queue.name for queue in shown(reading).queues] == ["keys"]


@pytest.mark.parametrize("parts", [(), (object(),), (WorkQueue[str](), None)])
def test_what_cannot_be_inspected_is_refused_in_one_line(parts: tuple[object, ...]) -> None:
    with pytest.raises(InvalidArgument, match=r"^inspector: .*\(give it .*\)$"):
        checked(parts)


async def test_retries_of_a_queue_are_counted() -> None:
    queue: PriorityQueue[str] = PriorityQueue()
    queue.add("web", after=60)
    queue.add("api", rate_limited=True)
    queue.add("db")

    said: QueueStats = queue.stats()

    assert said.retries == 2


# --- what happened


async def test_an_error_and_its_healing_are_told(said: InformerStats) -> None:
    before = Reading(informers={"pods": changed(said, state=ReflectorState.WATCHING)})
    broken = Reading(
        informers={
            "pods": changed(said, state=ReflectorState.WAITING, errors=2, last_error="refused")
        }
    )
    healed = Reading(informers={"pods": changed(said, state=ReflectorState.WATCHING, errors=2)})

    assert list(news(before, broken)) == [Line("process", "error", "pods", "refused", count=2)]
    assert list(news(broken, healed)) == [Line("process", "info", "pods", "watching again")]
    assert list(news(healed, healed)) == []


async def test_failures_of_a_controller_and_its_turns_are_told() -> None:
    before = Reading(controllers={"website": a_controller(state="waiting for caches")})
    now = Reading(controllers={"website": a_controller(failed=1, last_error="shop/web: no")})

    assert [line.text for line in news(before, now)] == ["shop/web: no", "running"]


async def test_changes_of_leadership_are_told() -> None:
    waiting = Reading(elections=[an_elector(Standby())])
    leading = Reading(elections=[an_elector(Leading(1.0, 2.0, 1))])

    assert [line.text for line in news(waiting, leading)] == ["this process leads"]
    assert [line.text for line in news(leading, waiting)] == ["this process leads no longer"]


def test_what_is_said_again_is_one_line_with_a_count() -> None:
    journal = Journal()

    for text in ("refused", "other", "refused"):
        journal.note([Line("process", "error", "pods", text)], NOW)

    assert [(line.text, line.count) for line in journal] == [("refused", 2), ("other", 1)]


def test_a_journal_is_bounded() -> None:
    journal = Journal()

    journal.note([Line("process", "error", "pods", str(at)) for at in range(2 * LINES)], NOW)

    assert len(list(journal)) == LINES


def test_an_event_is_a_line() -> None:
    about = ObjectReference(kind="Pod", namespace="shop", name="web")
    event = Event(involved_object=about, type="Warning", reason="BackOff", message="it crashed")

    line = line_of_event(event)

    assert (line.level, line.about, line.text) == ("warning", "Pod shop/web", "BackOff: it crashed")
