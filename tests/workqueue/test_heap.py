"""The heap that finds its keys again, against a plain dict."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop.workqueue.heap import KeyHeap

steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(0, 8), st.integers(0, 5)),
        st.tuples(st.just("discard"), st.integers(0, 8), st.just(0)),
        st.tuples(st.sampled_from(["pop", "first"]), st.just(0), st.just(0)),
    ),
    min_size=40,  # hypothesis is fond of short lists, and here they show nothing
    max_size=400,
)


@given(steps)
def test_the_heap_says_what_a_sorted_dict_would(actions: list[tuple[str, int, int]]) -> None:
    heap: KeyHeap[int] = KeyHeap()
    model: dict[int, tuple[int, int]] = {}

    for turn, (action, key, rank) in enumerate(actions):
        if action == "put":
            heap.put(key, rank, turn)
            model[key] = (rank, turn)
        elif action == "discard":
            heap.discard(key)
            model.pop(key, None)
        elif action == "first":
            assert heap.first() == min((rank for rank, _ in model.values()), default=None)
        elif model:
            first = min(model, key=lambda known: model[known])
            assert heap.pop() == first
            del model[first]
        assert len(heap) == len(model)
        assert all((key in heap) == (key in model) for key in range(9))


def test_nothing_can_be_taken_from_an_empty_heap() -> None:
    heap: KeyHeap[int] = KeyHeap()
    heap.put(1, 1, 1)
    heap.discard(1)

    with pytest.raises(IndexError):
        heap.pop()
