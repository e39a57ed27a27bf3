"""The pure parts of a queue: the heap, the delayed keys and the order by priority."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.workqueue.ordering import DelayedKeys, KeyHeap, PriorityOrder

steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(0, 8), st.integers(0, 5)),
        st.tuples(st.just("discard"), st.integers(0, 8), st.just(0)),
        st.tuples(st.sampled_from(["pop", "first"]), st.just(0), st.just(0)),
    ),
    min_size=40,  # hypothesis prefers short lists, which never rebuild the heap
    max_size=400,
)


@given(steps)
def test_the_heap_agrees_with_a_sorted_dict(actions: list[tuple[str, int, int]]) -> None:
    heap: KeyHeap[int] = KeyHeap()
    model: dict[int, tuple[int, int]] = {}

    for serial, (action, key, rank) in enumerate(actions):
        if action == "put":
            heap.put(key, rank, serial)
            model[key] = (rank, serial)
        elif action == "discard":
            heap.discard(key)
            model.pop(key, None)
        elif action == "first":
            assert heap.first_rank() == min((rank for rank, _ in model.values()), default=None)
        elif model:
            first = min(model, key=lambda known: model[known])
            assert heap.pop() == first
            del model[first]
        assert len(heap) == len(model)
        assert all((key in heap) == (key in model) for key in range(9))


def test_pop_of_an_empty_heap_raises() -> None:
    heap: KeyHeap[int] = KeyHeap()
    heap.put(1, 1, 1)
    heap.discard(1)

    with pytest.raises(IndexError):
        heap.pop()


adds = st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 9)), max_size=30)


@given(adds)
def test_each_delayed_key_is_ready_once_at_its_earliest_time(added: list[tuple[str, int]]) -> None:
    """WKQ-10: one entry for a key, at the earliest time."""
    delayed: DelayedKeys[str] = DelayedKeys()
    earliest: dict[str, int] = {}
    for key, ready_at in added:
        before = min(earliest.values(), default=10)
        assert delayed.add(key, ready_at) == (ready_at < before)
        earliest[key] = min(ready_at, earliest.get(key, ready_at))

    ready = {key: now for now in range(10) for key in iter(partial(delayed.pop_ready, now), None)}

    assert ready == earliest
    assert (len(delayed), delayed.next_ready_at()) == (0, None)


def test_a_discarded_delayed_key_never_becomes_ready() -> None:
    delayed: DelayedKeys[str] = DelayedKeys()
    delayed.add("soon", 1)
    delayed.add("late", 5)

    delayed.discard("soon")

    assert (delayed.pop_ready(4), delayed.next_ready_at()) == (None, 5)
    assert delayed.pop_ready(5) == "late"


def test_clearing_delayed_keys_drops_them_all() -> None:
    delayed: DelayedKeys[str] = DelayedKeys()
    delayed.add("web", 1)

    delayed.clear()

    assert (len(delayed), delayed.pop_ready(2)) == (0, None)
    assert delayed.add("web", 3)


@given(adds)
def test_keys_come_by_highest_priority_and_then_by_first_add(added: list[tuple[str, int]]) -> None:
    """WKQ-20, WKQ-21: the order of priorities."""
    order: PriorityOrder[str] = PriorityOrder()
    highest: dict[str, int] = {}  # in the order of the first adds
    for key, priority in added:
        order.raise_to(key, priority)
        (order.touch if key in highest else order.append)(key)
        highest[key] = max(priority, highest.get(key, priority))

    got = [order.popleft() for _ in range(len(order))]

    assert got == sorted(highest, key=lambda key: -highest[key])
    assert [order.priority_of(key) for key in got] == [highest[key] for key in got]


def test_the_priority_of_a_key_is_known_until_it_is_done() -> None:
    order: PriorityOrder[str] = PriorityOrder()
    order.raise_to("web", 7)
    order.append("web")

    before = order.priority_of("web")
    order.popleft()
    during = order.priority_of("web")
    order.done("web")

    assert (before, during, order.priority_of("web")) == (None, 7, None)


def test_a_key_that_is_not_retained_starts_with_a_new_priority() -> None:
    order: PriorityOrder[str] = PriorityOrder()
    for key in ("ready", "delayed"):
        order.raise_to(key, 7)
    order.append("ready")

    order.retain({"ready"})
    order.raise_to("delayed", 1)
    order.append("delayed")
    got = [order.popleft(), order.popleft()]

    assert [(key, order.priority_of(key)) for key in got] == [("ready", 7), ("delayed", 1)]
