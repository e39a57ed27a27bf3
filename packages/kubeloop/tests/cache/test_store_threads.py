"""Reads from other threads while one thread writes: bounded work, one possible outcome."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from kubeloop.cache import EntryCodec, Indexer, SharedInformer, StorageFormat
from kubeloop.selectors import parse_labels
from tests.cache.objects import key, pod
from tests.support.model_server import ModelServer

NAMES = [f"p{number}" for number in range(40)]
ROUNDS = 60
WEB = parse_labels("app=web")


@pytest.fixture(autouse=True)
def _threads_that_take_turns_all_the_time() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def text(name: str, turn: int) -> bytes:
    """All labels and fields of one object change together, so that a mixture would show."""
    return pod(
        name, version=str(turn + 1), labels={"app": "web", "turn": str(turn)}, node=f"n{turn % 3}"
    )


def consistent(given: dict[str, dict[str, object]]) -> bool:
    labels, version = given["metadata"]["labels"], given["metadata"]["resourceVersion"]
    assert isinstance(labels, dict)
    turn = int(labels["turn"])
    return version == str(turn + 1) and given["spec"]["nodeName"] == f"n{turn % 3}"


def wrong_reads(store: Indexer[dict[str, dict[str, object]]]) -> list[str]:
    """Everything a reader can see that was never true. The objects 0 to 19 are always there."""
    wrong = []
    listed = store.list(WEB)
    if not all(map(consistent, listed)):
        wrong.append("an object is a mixture of two states")
    if len(listed) < 20 or len({each["metadata"]["name"] for each in listed}) != len(listed):
        wrong.append(f"a list of {len(listed)}: an object is missing or twice there")
    for value in ("n0", "n1", "n2"):
        found = store.by_index("node", value)
        if any(each["spec"]["nodeName"] != value for each in found):
            wrong.append("found under a value that it does not have")
    if store.get(key("p3")) is None:
        wrong.append("an object that was always there was not")
    if len(store.list(namespace="shop")) < 20:
        wrong.append("the namespace index misses objects")
    store.stats(), store.keys(), store.index_values("node"), len(store)
    return wrong


@pytest.mark.parametrize("store_as", ["bytes", "objects", "compressed"])
def test_readers_in_threads_only_see_states_that_existed(store_as: StorageFormat) -> None:
    store: Indexer[dict[str, dict[str, object]]] = Indexer(
        EntryCodec(dict, store_as=store_as), {"node": "spec.nodeName"}
    )
    take = store.codec.parse
    store.replace([take(text(name, 0)) for name in NAMES], "1")
    with reading(lambda: wrong_reads(store), threads=3) as wrong:
        for turn in range(1, ROUNDS):
            for name in NAMES:
                store.add(take(text(name, turn)))
            for name in NAMES[20:]:
                store.delete(key(name))
            if turn == ROUNDS // 2:
                store.add_indexers(
                    {"late": "spec.nodeName", "f": lambda p: [str(p["spec"]["nodeName"])]}
                )
            if turn % 5 == 0:
                store.replace([take(text(name, turn)) for name in NAMES], "9")

    assert wrong == []
    assert {each["metadata"]["name"] for each in store.list()} == set(NAMES[:20])


async def test_other_threads_may_read_the_stats_of_an_informer(server: ModelServer) -> None:
    informer: SharedInformer[dict[str, object]] = SharedInformer(server, dict)

    def look() -> list[str]:
        informer.stats()
        return []

    async with informer:
        with reading(look, threads=1) as wrong:
            for turn in range(ROUNDS):
                handlers = [informer.add_handler() for _ in range(10)]
                for name in NAMES:
                    server.put(f"{name}-{turn}")
                await asyncio.sleep(0)
                for handler in handlers:
                    handler.remove()

    assert wrong == []


@contextmanager
def reading(look: Callable[[], list[str]], *, threads: int) -> Iterator[list[str]]:
    """Call `look` in other threads during the block, and once after it; collects what was wrong.

    They end with the block, however it ends: the process could not end before them.
    """
    wrong: list[str] = []
    writing = threading.Event()
    writing.set()

    def read() -> None:
        try:
            while writing.is_set():
                wrong.extend(look())
            wrong.extend(look())
        except Exception as error:  # noqa: BLE001 - any error fails the test
            wrong.append(repr(error))

    readers = [threading.Thread(target=read) for _ in range(threads)]
    for reader in readers:
        reader.start()
    try:
        yield wrong
    finally:
        writing.clear()
        for reader in readers:
            reader.join()
