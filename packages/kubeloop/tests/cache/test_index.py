"""Indexes: by field path, by label, by function; from the start and added later."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from kubeloop.cache import (
    Entry,
    EntryCodec,
    IndexConflict,
    Indexer,
    StorageFormat,
    ThreadSafeStore,
    UnknownIndex,
    index_func_to_key_func,
)
from kubeloop.cache.index import Index, by_label, label_of_path
from kubeloop.cache.indexer import STEP
from kubeloop.errors import InvalidArgument
from kubeloop.selectors import parse_labels
from kubeloop.wire.core.v1 import Pod
from tests.cache.objects import block_loop, entry, key, pod


def store_of(*texts: bytes, by: Any, store_as: StorageFormat = "bytes") -> Indexer[Pod]:
    indexer = Indexer(EntryCodec(Pod, store_as=store_as), by)
    for text in texts:
        indexer.add(indexer.codec.parse(text))
    return indexer


def apps(given: Pod) -> list[str]:
    return given.metadata.labels.get("apps", "").split(".") if given.metadata.labels else []


def names(found: list[Pod]) -> list[str]:
    return sorted(each.metadata.name for each in found)


@pytest.mark.parametrize("store_as", ["bytes", "objects", "compressed"])
def test_objects_are_found_by_a_field(store_as: StorageFormat) -> None:
    """CCH-9: by the projection; objects without a value are in no bucket."""
    by = {"node": "spec.nodeName"}
    store = store_of(pod("a", node="n1"), pod("b", node="n2"), pod("c"), by=by, store_as=store_as)

    assert names(store.by_index("node", "n1")) == ["a"]
    assert store.keys_by_index("node", "n2") == [key("b")]
    assert sorted(store.index_values("node")) == ["n1", "n2"]
    assert [each.key.name for each in store.entries_by_index("node", "n1")] == ["a"]


def test_an_object_with_two_values_is_found_by_both() -> None:
    """CCH-9, CCH-C1: and by the one that is left; an empty value is removed."""
    store = store_of(pod("a", labels={"apps": "x.y"}), by={"apps": apps})
    both = store.index_values("apps")

    store.add(store.codec.parse(pod("a", labels={"apps": "y"})))

    assert sorted(both) == ["x", "y"]
    assert store.index_values("apps") == ["y"]
    assert store.by_index("apps", "x") == []
    assert names(store.by_index("apps", "y")) == ["a"]


def test_an_update_moves_an_object_and_a_read_returns_the_new_one() -> None:
    """CCH-10: old values out, new ones in; an equal value returns the newer object."""
    store = store_of(pod("a", node="n1", version="1"), by={"node": "spec.nodeName"})

    store.add(store.codec.parse(pod("a", node="n1", version="2")))
    same = [each.version for each in store.entries_by_index("node", "n1")]
    store.add(store.codec.parse(pod("a", node="n2", version="3")))

    assert same == ["2"]
    assert store.index_values("node") == ["n2"]


def test_a_deleted_object_leaves_every_index() -> None:
    """CCH-10: empty sets are removed."""
    store = store_of(pod("a", node="n1"), by={"node": "spec.nodeName", "apps": apps})

    store.delete(key("a"))

    assert [store.index_values(name) for name in store.index_names()] == [[], [], []]


@pytest.mark.parametrize("error", [RuntimeError, asyncio.CancelledError])
def test_an_index_function_that_raises_leaves_only_that_index_without_the_object(
    error: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    """CCH-11: reported with the key and counted, where client-go panics."""

    def picky(given: Pod) -> list[str]:
        if given.metadata.name == "bad":
            raise error("no")
        return ["fine"]

    store = store_of(pod("bad", node="n1"), pod("good"), by={"p": picky, "node": "spec.nodeName"})

    assert names(store.list()) == ["bad", "good"]
    assert names(store.by_index("p", "fine")) == ["good"]
    assert names(store.by_index("node", "n1")) == ["bad"]
    assert store.stats().indexes["p"].failures == 1
    assert "shop/bad" in caplog.text


@pytest.mark.parametrize("result", ["text", [7], None])
def test_an_index_function_must_return_texts(result: Any) -> None:
    """CCH-11: anything else counts as a failure."""
    store = store_of(pod("a"), by={"odd": lambda _: result})

    assert store.stats().indexes["odd"].failures == 1
    assert len(store) == 1


def test_an_index_function_with_varying_results_leaves_nothing_behind() -> None:
    """CCH-10: the remembered values are removed."""
    results = iter(["one", "two", "three"])
    store = store_of(pod("a"), by={"mood": lambda _: [next(results)]})

    store.add(store.codec.parse(pod("a", version="2")))

    assert store.index_values("mood") == ["two"]


def test_an_unknown_index_is_an_error_and_an_unknown_value_is_not() -> None:
    """CCH-12: only the values of an unknown index are simply none."""
    store = store_of(pod("a", node="n"), by={"node": "spec.nodeName"})

    for read in (
        lambda: store.by_index("nod", "n"),
        lambda: store.keys_by_index("nod", "n"),
        lambda: store.index("nod", entry("a")),
    ):
        with pytest.raises(UnknownIndex, match="nod"):
            read()
    assert store.by_index("node", "elsewhere") == []
    assert store.keys_by_index("node", "elsewhere") == []
    assert store.index_values("nod") == []


def test_index_returns_objects_that_share_a_value_each_once() -> None:
    """CCH-12: the union over the object's values."""
    store = store_of(
        pod("a", labels={"apps": "x.y"}),
        pod("b", labels={"apps": "y.x"}),
        pod("c", labels={"apps": "z"}),
        by={"apps": apps},
    )
    example = Pod.from_json(pod("new", labels={"apps": "x.y"}))

    assert names(store.index("apps", example)) == ["a", "b"]


def test_keys_of_an_index_are_sorted() -> None:
    """CCH-12: IndexKeys is sorted."""
    store = store_of(*(pod(name, node="n") for name in "cab"), by={"node": "spec.nodeName"})

    assert store.keys_by_index("node", "n") == [key("a"), key("b"), key("c")]


def test_indexes_added_later_contain_the_stored_objects() -> None:
    """CCH-13, CCH-C3: by path and by function."""
    store = store_of(pod("a", node="n1", labels={"apps": "x"}), by={})

    store.add_indexers({"node": "spec.nodeName", "apps": apps})
    store.add(store.codec.parse(pod("b", node="n1")))

    assert names(store.by_index("node", "n1")) == ["a", "b"]
    assert names(store.by_index("apps", "x")) == ["a"]


def test_objects_encoded_before_an_index_and_stored_after_it_are_indexed() -> None:
    """CCH-13: nothing is missing because it was in the queue."""
    store = store_of(by={})
    on_its_way = store.codec.parse(pod("a", node="n1"))

    store.add_indexers({"node": "spec.nodeName"})
    store.add(on_its_way)
    store.add(store.codec.parse(pod("a", node="n2")))

    assert store.index_values("node") == ["n2"]


def test_an_index_name_can_be_used_once() -> None:
    """CCH-13, CCH-C2: a conflict, and none of the new ones is added."""
    store = store_of(pod("a"), by={"node": "spec.nodeName"})

    with pytest.raises(IndexConflict, match="node"):
        store.add_indexers({"phase": "status.phase", "node": "spec.nodeName"})

    assert store.index_names() == ("namespace", "node")


def test_an_invalid_path_adds_no_index() -> None:
    store = store_of(pod("a"), by={})

    with pytest.raises(InvalidArgument, match="nodeNam"):
        store.add_indexers({"phase": "status.phase", "node": "spec.nodeNam"})

    assert store.index_names() == ("namespace",)


async def test_an_index_is_built_in_steps_during_writes() -> None:
    """CCH-13: the end is as if it had been built at the end."""
    store = store_of(*(pod(f"p{n}", node=f"n{n % 3}") for n in range(400)), by={})
    build = asyncio.create_task(
        store.add_indexers_in_steps(
            {"node": "spec.nodeName", "f": lambda p: [p.spec.node_name or ""]}
        )
    )
    await asyncio.sleep(0)

    assert "node" not in store.index_names()
    store.add(store.codec.parse(pod("p0", node="moved")))
    store.add(store.codec.parse(pod("p399", node="moved")))
    store.delete(key("p1"))
    store.add(store.codec.parse(pod("new", node="n1")))
    await build

    for name in ("node", "f"):
        assert names(store.by_index(name, "moved")) == ["p0", "p399"]
        found = [each for value in store.index_values(name) for each in store.by_index(name, value)]
        assert names(found) == names(store.list())


async def test_an_index_build_survives_a_replacement() -> None:
    """CCH-13: it starts again with the new objects."""
    store = store_of(*(pod(f"p{n}", node="old") for n in range(300)), by={})
    build = asyncio.create_task(store.add_indexers_in_steps({"node": "spec.nodeName"}))
    await asyncio.sleep(0)

    store.replace([store.codec.parse(pod(f"q{n}", node="new")) for n in range(300)], "9")
    await build

    assert store.index_values("node") == ["new"]
    assert len(store.by_index("node", "new")) == 300


async def test_a_cancelled_build_adds_no_index() -> None:
    store = store_of(*(pod(f"p{n}", node="n") for n in range(300)), by={})
    build = asyncio.create_task(store.add_indexers_in_steps({"node": "spec.nodeName"}))
    await asyncio.sleep(0)

    build.cancel()
    await asyncio.wait([build])

    assert build.cancelled()
    assert store.index_names() == ("namespace",)
    store.add_indexers({"node": "spec.nodeName"})
    assert len(store.by_index("node", "n")) == 300


@pytest.mark.parametrize("store_as", ["bytes", "objects", "compressed"])
@pytest.mark.parametrize("later", [False, True])
def test_an_index_may_use_a_standard_field(later: bool, store_as: StorageFormat) -> None:
    by = {"uid": "metadata.uid", "node": "spec.nodeName", "generation": "metadata.generation"}
    store = store_of(pod("a", node="n1"), by={} if later else by, store_as=store_as)
    if later:
        store.add_indexers(by)
    store.add(store.codec.parse(pod("b", node="n1", generation=7)))

    assert names(store.by_index("uid", "uid-of-a")) == ["a"]
    assert names(store.by_index("node", "n1")) == ["a", "b"]
    assert names(store.by_index("generation", "7")) == ["b"]


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize("spec", ["a text", 5, [{"port": {"name": "web"}}], {"port": 80}])
def test_an_object_that_a_path_does_not_fit_is_stored_all_the_same(
    later: bool, spec: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """It is missing from that one index, as after a failure of a function."""
    by = {"port": "spec.port.name", "uid": "metadata.uid"}
    store: Indexer[dict[str, Any]] = Indexer(EntryCodec(dict), {} if later else by)
    metadata = {"name": "a", "namespace": "shop", "uid": "1"}
    store.add(store.codec.parse(msgspec.json.encode({"metadata": metadata, "spec": spec})))
    if later:
        store.add_indexers(by)

    assert store.index_values("port") == []
    assert store.keys_by_index("uid", "1") == [key("a")]
    assert store.codec.stats().unindexable > 0
    assert "shop/a: not indexed" in caplog.text
    store.delete(key("a"))
    assert store.index_values("uid") == []


@pytest.mark.parametrize("later", [False, True])
async def test_slow_index_functions_do_not_block_the_loop(later: bool) -> None:
    """Each call does; all of them together must not."""
    example = 0

    def slow(given: Pod) -> list[str]:
        nonlocal example
        example += 1
        block_loop()
        return [given.metadata.name]

    store = store_of(*(pod(f"p{n}") for n in range(30 * later)), by={} if later else {"f": slow})
    found = [store.codec.parse(pod(f"p{n}")) for n in range(30)]
    work = asyncio.create_task(
        store.add_indexers_in_steps({"f": slow}) if later else replaced(store, found)
    )
    while not work.done():
        before = example
        await asyncio.sleep(0)

        assert example - before <= STEP
    assert len(store.index_values("f")) == 30


async def replaced(store: Indexer[Pod], entries: list[Entry]) -> None:
    await store.replace_in_steps(entries, "9")


def test_an_index_added_during_a_replacement_is_in_it() -> None:
    store = ThreadSafeStore()
    replacement = store.replacement([entry("a", labels={"app": "x"}), entry("b")], "1")
    replacement.step(1)

    store.add_indexes(Index("app", by_label("app"), label="app"))
    replacement.finish()

    assert store.keys_by_index("app", "x") == [key("a")]


def test_the_namespace_index_is_built_in() -> None:
    """CCH-14, INF-3: also where there is no namespace."""
    store = store_of(pod("a", namespace="x"), pod("n", namespace=""), by={})

    assert sorted(store.index_values("namespace")) == ["", "x"]
    assert names(store.by_index("namespace", "x")) == ["a"]


def test_an_index_function_serves_as_a_key_if_it_returns_one_value() -> None:
    """CCH-14: none or several are an error."""
    key_of = index_func_to_key_func(str.split)

    assert key_of("one") == "one"
    for text in ("", "one two"):
        with pytest.raises(InvalidArgument, match="expected one value"):
            key_of(text)


@pytest.mark.parametrize(
    ("path", "label"),
    [
        ("metadata.labels.app", "app"),
        ("metadata.labels['app.kubernetes.io/name']", "app.kubernetes.io/name"),
        ('metadata.labels["a"]', "a"),
        ("metadata.labels", None),
        ("spec.selector.app", None),
        ("metadata.labels.a.b", None),
    ],
)
def test_a_path_to_a_label_is_recognized(path: str, label: str | None) -> None:
    assert label_of_path(path) == label


def test_a_selector_for_one_value_only_checks_objects_with_that_value() -> None:
    """CCH-90: a list by an indexed label reads the index, then matches the rest."""
    looked_at = 0

    class Counting(dict[str, str]):
        def get(self, *args: Any) -> Any:
            nonlocal looked_at
            looked_at += 1
            return super().get(*args)

    store = ThreadSafeStore()
    store.add_indexes(Index("app", by_label("app"), label="app"))
    for number in range(50):
        labels = Counting({"app": f"a{number % 10}", "n": str(number)})
        store.add(msgspec.structs.replace(entry(f"p{number}"), label_map=labels))
    looked_at = 0

    found = store.entries(parse_labels("app=a3,n=13"))

    assert [each.key.name for each in found] == ["p13"]
    assert looked_at <= 10


def test_a_label_index_of_an_indexer_serves_its_selectors() -> None:
    store = store_of(
        pod("a", labels={"app": "x"}),
        pod("b", labels={"app": "y"}),
        pod("c"),
        by={"app": "metadata.labels.app"},
    )

    assert names(store.list("app=x")) == ["a"]
    assert names(store.list("app in (x)")) == ["a"]
    assert names(store.list("app=gone")) == []
    assert names(store.list("app!=x")) == ["b", "c"]
    assert names(store.list("app=y", namespace="elsewhere")) == []
