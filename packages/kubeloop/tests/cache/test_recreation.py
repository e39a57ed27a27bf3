"""Deleted and created again during a watch gap: a delete of the old object, an add of the new."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.cache import (
    Change,
    Controller,
    Delta,
    DeltaFIFO,
    DeltaType,
    EntryCodec,
    EntryDecoder,
    Indexer,
    RealFIFO,
    Reflector,
    SharedInformer,
)
from kubeloop.cache.applier import DeltaApplier
from kubeloop.kit import ManualClock, TaskOwner
from kubeloop.meta import ObjectKey
from kubeloop.wire.core.v1 import Pod
from tests.cache.objects import entry, key
from tests.support.change_history import ChangeHistory
from tests.support.model_server import ModelServer

WEB = ObjectKey("shop", "web")


async def recreate_in_a_gap(server: ModelServer, clock: ManualClock) -> None:
    """Delete `web` and create it again; history is lost, so the informer lists again."""
    server.delete("web")
    server.put("web", app="new")
    server.compact()
    server._history.clear()
    server.cut()
    await clock.advance(2)


def replace_by_event(kind: str) -> Callable[[ModelServer, ManualClock], Any]:
    async def replace(server: ModelServer, clock: ManualClock) -> None:
        """A watch that lost the delete: the next event of the name has another uid."""
        metadata = {"name": "web", "namespace": "shop", "resourceVersion": "99", "uid": "u2"}
        server.say(kind, {"kind": "Pod", "apiVersion": "v1", "metadata": metadata})
        await clock.settle()

    return replace


GAPS = [
    pytest.param(recreate_in_a_gap, id="list"),
    pytest.param(replace_by_event("ADDED"), id="ADDED"),
    pytest.param(replace_by_event("MODIFIED"), id="MODIFIED"),
]
QUEUES = [
    pytest.param(None, id="default"),
    pytest.param(DeltaFIFO, id="DeltaFIFO"),
    pytest.param(RealFIFO, id="RealFIFO, not atomic"),
]


def summary(change: Change[Any]) -> tuple[str, str, bool, bool]:
    entry = change.new_entry or change.old_entry
    assert entry is not None
    return str(change.type), entry.uid, change.last_state_known, change.is_recreation


AS_CHANGES = [
    ("Added", "u1", True, False),
    ("Deleted", "u1", False, True),
    ("Added", "u2", True, True),
]


@pytest.mark.parametrize("queue", QUEUES)
@pytest.mark.parametrize("gap", GAPS)
async def test_a_re_creation_is_a_delete_whose_final_state_is_unknown_and_then_an_add(
    server: ModelServer, clock: ManualClock, gap: Any, queue: Any
) -> None:
    server.put("web", app="old")
    changes: list[tuple[str, str, bool, bool]] = []
    pods = SharedInformer(server, dict, clock=clock, queue=queue)
    pods.add_handler(on_change=lambda change: changes.append(summary(change)))
    async with pods:
        await gap(server, clock)

        assert changes == AS_CHANGES


@pytest.mark.parametrize("gap", GAPS)
async def test_handlers_that_free_resources_by_uid_get_on_delete_and_on_add_in_order(
    server: ModelServer, clock: ManualClock, gap: Any
) -> None:
    server.put("web", app="old")
    plain: list[str] = []
    awaited: list[str] = []

    def record(lines: list[str], verb: str) -> Callable[[dict[str, Any]], None]:
        return lambda pod: lines.append(f"{verb} {pod['metadata']['uid']}")

    async def on_add(pod: dict[str, Any]) -> None:
        record(awaited, "add")(pod)

    async def on_delete(pod: dict[str, Any]) -> None:
        await clock.sleep(1)
        record(awaited, "delete")(pod)

    pods: SharedInformer[dict[str, Any]] = SharedInformer(server, dict, clock=clock)
    pods.add_handler(on_add=record(plain, "add"), on_delete=record(plain, "delete"))
    pods.add_handler(on_add=on_add, on_delete=on_delete)
    async with pods:
        await gap(server, clock)
        await clock.advance(2)

        assert plain == awaited == ["add u1", "delete u1", "add u2"]


async def test_key_handlers_and_streams_get_both_halves(
    server: ModelServer, clock: ManualClock
) -> None:
    server.put("web")
    keys: list[ObjectKey] = []
    pods = SharedInformer(server, dict, clock=clock)
    pods.add_key_handler(keys.append)
    stream = pods.changes()
    async with pods, stream:
        await recreate_in_a_gap(server, clock)

        read = [summary(await anext(stream)) for _ in AS_CHANGES]

        assert read == AS_CHANGES
        assert keys == [WEB, WEB, WEB]


async def test_while_the_delete_is_delivered_the_cache_holds_the_new_object(
    server: ModelServer, clock: ManualClock
) -> None:
    server.put("web", app="old")
    found: list[tuple[str, Any]] = []
    pods: SharedInformer[dict[str, Any]] = SharedInformer(server, dict, clock=clock)

    def on_delete(pod: dict[str, Any]) -> None:
        now = pods.lister.get(WEB)
        found.append((pod["metadata"]["labels"]["app"], now and now["metadata"]["labels"]["app"]))

    pods.add_handler(on_delete=on_delete)
    async with pods:
        await recreate_in_a_gap(server, clock)

    assert found == [("old", "new")]


async def test_a_handler_far_behind_gets_both_halves_after_merging(
    server: ModelServer, clock: ManualClock
) -> None:
    server.put("web")
    changes: list[tuple[str, str, bool, bool]] = []

    async def slow(change: Change[Any]) -> None:
        await clock.sleep(30)
        changes.append(summary(change))

    pods = SharedInformer(server, dict, clock=clock, backlog=0)
    pods.add_handler(on_change=slow)
    async with pods:
        server.put("web", app="changed")
        await recreate_in_a_gap(server, clock)
        server.put("web", app="changed again")
        await clock.advance(300)

        assert changes == AS_CHANGES


@pytest.mark.parametrize("store_as", ["bytes", "objects", "compressed"])
async def test_objects_whose_transform_drops_the_uid_are_distinguished(
    server: ModelServer, clock: ManualClock, store_as: Any
) -> None:
    def bare(pod: Pod) -> Pod:
        pod.metadata.uid = ""
        pod.metadata.resource_version = ""
        return pod

    server.put("web")
    changes: list[tuple[str, str, bool, bool]] = []
    pods = SharedInformer(server, Pod, clock=clock, store_as=store_as, transform=bare)
    pods.add_handler(on_change=lambda change: changes.append(summary(change)))
    async with pods:
        await recreate_in_a_gap(server, clock)

        assert changes == AS_CHANGES


class OnlyNode(msgspec.Struct):
    spec: dict[str, str]


async def test_views_without_metadata_are_distinguished(
    server: ModelServer, clock: ManualClock
) -> None:
    server.put("web")
    changes: list[tuple[str, str, bool, bool]] = []
    pods = SharedInformer(server, OnlyNode, clock=clock)
    pods.add_handler(on_change=lambda change: changes.append(summary(change)))
    async with pods:
        await recreate_in_a_gap(server, clock)

        assert changes == AS_CHANGES


async def test_a_resync_after_a_re_creation_is_about_the_new_object_alone(
    server: ModelServer, clock: ManualClock
) -> None:
    server.put("web")
    history = ChangeHistory()
    pods = SharedInformer(server, dict, clock=clock, resync=5.0)
    pods.add_handler(on_change=history)
    async with pods:
        await recreate_in_a_gap(server, clock)
        await clock.advance(6)

        assert history.lines[:3] == ["Added web", "Deleted web", "Added web"]
        assert set(history.lines[3:]) == {"Updated web"}


async def test_a_delete_of_an_object_that_no_handler_knows_ends_the_one_they_know(
    server: ModelServer, clock: ManualClock
) -> None:
    """A watch that lost a delete and a creation has the delete of the second object."""
    server.put("web")
    changes: list[tuple[str, str, bool, bool]] = []
    pods = SharedInformer(server, dict, clock=clock)
    pods.add_handler(on_change=lambda change: changes.append(summary(change)))
    async with pods:
        await replace_by_event("DELETED")(server, clock)

        assert changes == [("Added", "u1", True, False), ("Deleted", "u1", False, False)]
        assert WEB not in pods.lister


async def test_objects_without_a_uid_are_not_taken_for_others(
    server: ModelServer, clock: ManualClock
) -> None:
    server.put("web")
    lines: list[str] = []
    pods = SharedInformer(server, dict, clock=clock)
    pods.add_handler(on_change=lambda change: lines.append(str(change.type)))
    async with pods:
        metadata = {"name": "web", "namespace": "shop", "resourceVersion": "99"}
        server.say("MODIFIED", {"kind": "Pod", "apiVersion": "v1", "metadata": metadata})
        await clock.settle()

        assert lines == ["Added", "Updated"]


# --- filters


@pytest.mark.parametrize("backlog", [0, 1024])
async def test_a_filtered_handler_gets_the_delete_though_the_final_state_left_the_filter(
    server: ModelServer, clock: ManualClock, backlog: int
) -> None:
    """kube-apiserver sends the last stored state; an aggregated server may send another one."""
    server.put("web", app="web")
    by_selector: list[str] = []
    by_function: list[str] = []

    def record(lines: list[str]) -> Callable[[Change[Any]], Any]:
        async def slow(change: Change[Any]) -> None:
            await clock.sleep(1)
            lines.append(str(change.type))

        return slow

    def is_web(pod: dict[str, Any]) -> bool:
        return bool(pod["metadata"]["labels"].get("app") == "web")

    pods: SharedInformer[dict[str, Any]] = SharedInformer(
        server, dict, clock=clock, backlog=backlog
    )
    pods.add_handler(on_change=record(by_selector), selector="app=web")
    pods.add_handler(on_change=record(by_function), where=is_web)
    async with pods:
        await clock.advance(2)
        final = server._objects.pop(WEB)
        server.version += 1
        metadata = {"labels": {"app": "gone"}, "resourceVersion": str(server.version)}
        server._record("DELETED", {**final, "metadata": final["metadata"] | metadata})
        await clock.advance(2)

        assert by_selector == by_function == ["Added", "Deleted"]


async def test_a_filtered_handler_gets_the_delete_though_a_merged_update_left_the_filter(
    server: ModelServer, clock: ManualClock
) -> None:
    server.put("web", app="web")
    lines: list[str] = []

    async def slow(change: Change[Any]) -> None:
        await clock.sleep(10)
        lines.append(str(change.type))

    pods = SharedInformer(server, dict, clock=clock, backlog=0)
    pods.add_handler(on_change=slow, selector="app=web")
    async with pods:
        server.put("web", app="other")
        await clock.settle()
        server.delete("web")
        await clock.advance(60)

        assert lines == ["Added", "Deleted"]


# --- queues by hand


def delta_line(delta: Delta) -> str:
    unknown = "" if delta.last_state_known else "?"
    recreation = " recreated" if delta.is_recreation else ""
    uid = delta.entry.uid if delta.entry else "-"
    return f"{delta.type}{unknown} {uid}{recreation}"


def drain(queue: DeltaFIFO | RealFIFO) -> list[str]:
    lines: list[str] = []
    while queue.pop_nowait(lambda deltas, _: lines.extend(map(delta_line, deltas))):
        pass
    return lines


def store_with(uid: str) -> Indexer[dict[str, Any]]:
    store: Indexer[dict[str, Any]] = Indexer(EntryCodec(dict))
    store.add(entry("web", uid=uid))
    return store


@pytest.mark.parametrize("kind", [DeltaFIFO, RealFIFO])
def test_a_queue_that_knows_its_store_precedes_a_new_uid_by_the_delete_of_the_old(
    kind: type[DeltaFIFO | RealFIFO],
) -> None:
    new = entry("web", uid="u2", version="5")
    lines = []
    for fill in ("add", "update", "replace"):
        queue = kind(store_with("u1"))
        queue.replace([new], "5") if fill == "replace" else getattr(queue, fill)(new)
        lines.append(drain(queue))

    deleted = "Deleted? u1 recreated"
    assert lines == [
        [deleted, "Added u2 recreated"],
        [deleted, "Updated u2 recreated"],
        [deleted, "Replaced u2 recreated"],
    ]


@pytest.mark.parametrize("kind", [DeltaFIFO, RealFIFO])
def test_a_queue_compares_with_what_waits_before_it_compares_with_the_store(
    kind: type[DeltaFIFO | RealFIFO],
) -> None:
    queue = kind(store_with("u1"))
    queue.update(entry("web", uid="u2"))
    queue.update(entry("web", uid="u2"))
    queue.delete(entry("web", uid="u2"))
    queue.add(entry("web", uid="u3"))

    assert drain(queue) == [
        "Deleted? u1 recreated",
        "Updated u2 recreated",
        "Updated u2",
        "Deleted u2",
        "Added u3",
    ]


@pytest.mark.parametrize("kind", [DeltaFIFO, RealFIFO])
def test_a_queue_compares_with_deltas_in_processing(
    kind: type[DeltaFIFO | RealFIFO],
) -> None:
    queue = kind(store_with("u0"))
    queue.delete(entry("web", uid="u0"))
    assert drain(queue) == ["Deleted u0"]
    queue.add(entry("web", uid="u0"))
    batch = queue.take_nowait()
    assert batch is not None

    queue.update(entry("web", uid="u2"))
    queue.done(batch)

    assert drain(queue) == ["Deleted? u0 recreated", "Updated u2 recreated"]


def test_a_delete_in_a_delta_queue_is_not_replaced_by_one_of_another_object() -> None:
    queue = DeltaFIFO(store_with("u1"))
    queue.replace([], "4")
    queue.delete(entry("web", uid="u2"))

    assert drain(queue) == ["Deleted? u1"]


@pytest.mark.parametrize("kind", [DeltaFIFO, RealFIFO])
def test_a_delete_of_another_uid_ends_the_object_that_the_queue_knows(
    kind: type[DeltaFIFO | RealFIFO],
) -> None:
    queue = kind(store_with("u1"))
    queue.delete(entry("web", uid="u2"))

    assert drain(queue) == ["Deleted? u1"]


def test_a_missed_delete_without_any_known_state_creates_no_notification() -> None:
    indexer: Indexer[Any] = Indexer(EntryCodec(dict))
    notifications: list[object] = []
    apply = DeltaApplier(indexer, lambda: [notifications.extend])

    apply([Delta(DeltaType.DELETED, key("web"), None, last_state_known=False)], False)

    assert notifications == []


@pytest.mark.parametrize("kind", [DeltaFIFO, RealFIFO])
async def test_a_controller_assembled_by_hand_receives_both_halves(
    server: ModelServer, clock: ManualClock, kind: type[DeltaFIFO | RealFIFO]
) -> None:
    store: Indexer[dict[str, Any]] = Indexer(EntryCodec(dict))
    queue = kind(store)
    lines: list[str] = []

    def process(deltas: Sequence[Delta], _: bool) -> None:
        for delta in deltas:
            lines.append(delta_line(delta))
            if delta.type is DeltaType.DELETED:
                store.delete(delta.key)
            elif delta.entry is not None:
                store.add(delta.entry)

    reflector = Reflector(server, queue, EntryDecoder(store.codec, kind="Pod"), clock=clock)
    server.put("web")
    async with TaskOwner() as tasks:
        tasks.spawn(Controller(reflector, queue, process, clock=clock).run(), name="controller")
        await clock.settle()
        await recreate_in_a_gap(server, clock)

        assert lines == ["Replaced u1", "Deleted? u1 recreated", "Replaced u2 recreated"]
        assert [each.uid for each in store.entries()] == ["u2"]


# --- any history


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.sampled_from("ab")),
        st.tuples(st.just("delete"), st.sampled_from("ab")),
        st.tuples(st.just("recreate"), st.sampled_from("ab")),
        st.tuples(st.just("gap"), st.none()),
        st.tuples(st.just("advance"), st.sampled_from([0.0, 1.0, 5.0])),
        st.tuples(st.just("add_handlers"), st.none()),
    ),
    max_size=20,
)


class ObjectLifetimes:
    """Checks per uid: one add, updates, at most one delete; one object of a name at a time."""

    def __init__(self) -> None:
        self.alive: dict[str, str] = {}
        self.added: list[str] = []
        self.deleted: list[str] = []

    def on_add(self, pod: dict[str, Any]) -> None:
        name, uid = pod["metadata"]["name"], pod["metadata"]["uid"]
        assert name not in self.alive, f"{uid} is added while {self.alive.get(name)} is not deleted"
        self.alive[name] = uid
        self.added.append(uid)

    def on_update(self, old: dict[str, Any], new: dict[str, Any]) -> None:
        for pod in (old, new):
            assert self.alive.get(pod["metadata"]["name"]) == pod["metadata"]["uid"]

    def on_delete(self, pod: dict[str, Any]) -> None:
        name, uid = pod["metadata"]["name"], pod["metadata"]["uid"]
        assert self.alive.pop(name, None) == uid
        self.deleted.append(uid)

    def check(self, state: dict[str, str]) -> None:
        assert self.alive == state
        assert len(self.added) == len(set(self.added))
        assert sorted(self.added) == sorted([*self.deleted, *state.values()])


async def apply_step(step: str, what: Any, server: ModelServer, clock: ManualClock) -> None:
    match step:
        case "put":
            server.put(what)
        case "delete":
            server.delete(what)
        case "recreate":
            server.delete(what)
            server.put(what)
        case "gap":
            server.compact()
            server.cut()
        case "advance":
            await clock.advance(what)


def slowly(function: Callable[..., None], clock: ManualClock) -> Callable[..., Any]:
    async def call(*pods: Any) -> None:
        await clock.sleep(2)
        function(*pods)

    return call


def add_handlers(pods: SharedInformer[dict[str, Any]], clock: ManualClock) -> list[ObjectLifetimes]:
    """A plain handler, and a slow one."""
    quick, slow = ObjectLifetimes(), ObjectLifetimes()
    pods.add_handler(on_add=quick.on_add, on_update=quick.on_update, on_delete=quick.on_delete)
    pods.add_handler(
        on_add=slowly(slow.on_add, clock),
        on_update=slowly(slow.on_update, clock),
        on_delete=slowly(slow.on_delete, clock),
    )
    return [quick, slow]


async def run_steps(steps: list[tuple[str, Any]], *, queue: Any, backlog: int) -> None:
    clock, server = ManualClock(), ModelServer()
    server.put("a")
    pods: SharedInformer[dict[str, Any]] = SharedInformer(
        server, dict, clock=clock, queue=queue, backlog=backlog
    )
    lifetimes = add_handlers(pods, clock)
    async with TaskOwner() as tasks:
        tasks.spawn(pods.run(), name="informer")
        for step, what in steps:
            if step == "add_handlers":
                lifetimes += add_handlers(pods, clock)
            else:
                await apply_step(step, what, server, clock)
        await clock.advance(400)

        state = {key.name: uid for key, (uid, _) in server.state().items()}
        assert [handler.failures for handler in pods.stats().handlers] == [0] * len(lifetimes)
        for each in lifetimes:
            each.check(state)


@pytest.mark.parametrize("backlog", [0, 1024])
@pytest.mark.parametrize("queue", QUEUES)
def test_no_two_objects_of_one_name_are_interleaved(queue: Any, backlog: int) -> None:
    @given(steps=STEPS)
    def check(steps: list[tuple[str, Any]]) -> None:
        asyncio.run(run_steps(steps, queue=queue, backlog=backlog))

    check()
