"""The guarantees of a store of objects, rule by rule."""

from __future__ import annotations

from typing import Any

import pytest

from kubeloop.cache import (
    EntryCodec,
    IndexConflict,
    Indexer,
    PartlyApplied,
    StorageFormat,
    ThreadSafeStore,
    TransformFailed,
    UnkeyedObject,
    free_in_steps,
)
from kubeloop.cache.store import version_number
from kubeloop.errors import InvalidArgument
from kubeloop.selectors import NOTHING, parse_labels
from kubeloop.wire.core.v1 import Pod
from tests.cache.objects import entry, key, pod


@pytest.fixture(params=["bytes", "objects", "compressed"])
def pods(request: pytest.FixtureRequest) -> Indexer[Pod]:
    store_as: StorageFormat = request.param
    return Indexer(EntryCodec(Pod, store_as=store_as))


def named(found: list[Any]) -> set[str]:
    return {each.metadata.name for each in found}


def test_add_and_update_are_the_same(pods: Indexer[Pod]) -> None:
    """CCH-6: both store the object."""
    first, second = entry("web", version="1"), entry("web", version="2")
    pods = Indexer(EntryCodec(Pod))

    assert pods.update(first) is None
    assert pods.add(second) is first
    assert pods.update(first) is second
    assert len(pods) == 1


def test_stored_objects_can_be_read(pods: Indexer[Pod]) -> None:
    """CCH-6: get, list and keys."""
    for name in ("a", "b"):
        pods.add(pods.codec.parse(pod(name)))

    found = pods.get(key("a"))

    assert found is not None
    assert found.metadata.name == "a"
    assert named(pods.list()) == {"a", "b"}
    assert set(pods.keys()) == {key("a"), key("b")}
    assert key("a") in pods
    assert pods.get(key("c")) is None


def test_objects_can_be_stored_without_encoding(pods: Indexer[Pod]) -> None:
    made = Pod.from_dict({"metadata": {"name": "web", "namespace": "shop"}})

    pods.add(made)
    pods.delete(made)

    assert pods.list() == []


def test_deleting_what_is_not_there_is_no_error(pods: Indexer[Pod]) -> None:
    """CCH-6: a delete of a missing key does nothing."""
    assert pods.delete(key("web")) is None


def test_an_object_without_a_name_is_rejected(pods: Indexer[Pod]) -> None:
    """CCH-4: the error says what is missing."""
    with pytest.raises(UnkeyedObject):
        pods.add(Pod.from_dict({"metadata": {"namespace": "shop"}}))

    assert len(pods) == 0


def test_replace_swaps_everything(pods: Indexer[Pod]) -> None:
    """CCH-7: the old objects are gone, indexes included; the caller gets them."""
    take = pods.codec.parse
    pods.replace([take(pod("a", namespace="one")), take(pod("b", namespace="two"))], "5")

    before = pods.replace([take(pod("c", namespace="two"))], "9")

    assert set(before) == {key("a", "one"), key("b", "two")}
    assert named(pods.list()) == {"c"}
    assert pods.index_values("namespace") == ["two"]
    assert pods.version == "9"


def test_resync_of_a_store_does_nothing(pods: Indexer[Pod]) -> None:
    """CCH-7: a store has no handlers."""
    pods.add(pods.codec.parse(pod("a")))

    pods.resync()

    assert named(pods.list()) == {"a"}


def test_of_two_objects_with_one_key_the_later_is_stored_and_counted(
    pods: Indexer[Pod], caplog: pytest.LogCaptureFixture
) -> None:
    take = pods.codec.parse

    pods.replace([take(pod("a", version="1")), take(pod("a", version="2"))], "9")

    stored = pods.entry(key("a"))
    assert stored is not None
    assert stored.version == "2"
    assert pods.stats().duplicates == 1
    assert "shop/a" in caplog.text


async def test_a_replacement_in_steps_ends_like_one_at_once(pods: Indexer[Pod]) -> None:
    """CCH-7: readers see the old objects until the end."""
    take = pods.codec.parse
    await pods.replace_in_steps([take(pod(f"p{n}")) for n in range(350)], "7")

    assert len(pods) == 350
    assert len(pods.by_index("namespace", "shop")) == 350
    assert pods.version == "7"


def test_a_replacement_that_is_not_finished_changes_nothing() -> None:
    store = ThreadSafeStore()
    store.add(entry("a"))

    replacement = store.replacement([entry("b"), entry("c")], "9")
    more = replacement.step(1)

    assert more
    assert store.keys() == [key("a")]
    replacement.finish()
    assert store.keys() == [key("b"), key("c")]


def test_the_version_follows_every_change() -> None:
    """CCH-15: from the object, from the list, from a bookmark; a bare delete leaves it."""
    store = ThreadSafeStore()
    seen = [store.version]

    store.add(entry("a", version="1"))
    seen.append(store.version)
    store.update(entry("a", version="2"))
    seen.append(store.version)
    store.delete(key("a"), version="3")
    seen.append(store.version)
    store.delete(key("b"))
    seen.append(store.version)
    store.replace([entry("c", version="4")], "8")
    seen.append(store.version)
    store.bookmark("12")
    seen.append(store.version)

    assert seen == ["", "1", "2", "3", "3", "8", "12"]


def test_a_transaction_applies_all_its_operations() -> None:
    """CCH-16: in order; the version is that of the last item."""
    store = ThreadSafeStore()
    a1, a2, b = entry("a", version="1"), entry("a", version="2"), entry("b", version="3")

    replaced = store.transaction([("add", a1), ("update", a2), ("add", b), ("delete", a2)])

    assert replaced == [None, a1, None, a2]
    assert store.keys() == [key("b")]
    assert store.version == "2"


def test_a_transaction_skips_and_reports_objects_without_a_key(pods: Indexer[Pod]) -> None:
    """CCH-16: the rest is applied; the error has positions, count and causes."""
    good = Pod.from_dict({"metadata": {"name": "a"}})
    nameless = Pod.from_dict({"metadata": {}})

    with pytest.raises(PartlyApplied) as caught:
        pods.transaction([("add", good), ("add", nameless), ("delete", nameless), ("update", good)])

    assert caught.value.applied == [0, 3]
    assert caught.value.total == 4
    assert [type(error) for error in caught.value.failures.values()] == [UnkeyedObject] * 2
    assert named(pods.list()) == {"a"}


@pytest.mark.parametrize(
    ("version", "number"),
    [
        ("", None),
        ("12", 12),
        ("abc", None),
        ("1234567890123456789", 567890123456789),
        ("1.5", None),
    ],
)
def test_a_version_becomes_the_value_of_a_gauge(version: str, number: int | None) -> None:
    """CCH-17: the last 15 digits; what is no number is not reported."""
    assert version_number(version) == number


def test_a_transform_changes_the_stored_object() -> None:
    """CCH-8: on add, update and replace."""

    def marked(given: dict[str, Any]) -> dict[str, Any]:
        return given | {"seen": True}

    store = Indexer(EntryCodec(dict), transform=marked)
    store.add(entry("a"))
    store.replace([entry("a"), entry("b")], "1")

    assert [each["seen"] for each in store.list()] == [True, True]


def test_a_transform_that_fails_leaves_the_store_as_it_was() -> None:
    """CCH-8: for a replacement, nothing of it is stored."""

    def picky(given: dict[str, Any]) -> dict[str, Any] | None:
        return None if given["metadata"]["name"] == "bad" else given

    store = Indexer(EntryCodec(dict), transform=picky)
    store.add(entry("a", version="1"))

    for act in (
        lambda: store.add(entry("bad")),
        lambda: store.replace([entry("b"), entry("bad")], "9"),
    ):
        with pytest.raises(TransformFailed):
            act()

    assert store.keys() == [key("a")]
    assert store.version == "1"


def test_lists_match_labels_and_namespaces(pods: Indexer[Pod]) -> None:
    """CCH-90, CCH-91: by selector; an empty namespace means all."""
    take = pods.codec.parse
    for name, namespace, app in [("a", "x", "web"), ("b", "y", "web"), ("c", "x", "api")]:
        pods.add(take(pod(name, namespace=namespace, labels={"app": app})))

    assert named(pods.list("app=web")) == {"a", "b"}
    assert named(pods.list(parse_labels("app!=web"))) == {"c"}
    assert named(pods.list({"app": "web"}, namespace="x")) == {"a"}
    assert named(pods.list(namespace="x")) == {"a", "c"}
    assert named(pods.list()) == {"a", "b", "c"}
    assert pods.list(NOTHING) == []


def test_a_selector_that_does_not_parse_is_the_callers_error(pods: Indexer[Pod]) -> None:
    """CCH-C32: never "everything"."""
    with pytest.raises(InvalidArgument):
        pods.list("app in web")


def test_stats_have_objects_bytes_and_version() -> None:
    store = ThreadSafeStore()
    one, two = entry("a", version="1"), entry("b", version="2", labels={"x": "y" * 40})
    store.add(one)
    store.add(two)
    store.add(entry("a", version="3"))
    store.delete(key("a"))

    stats = store.stats()

    assert (stats.objects, stats.bytes, stats.version) == (1, len(two.content), "3")
    assert stats.indexes["namespace"].values == 1


def test_an_object_that_is_updated_keeps_one_key() -> None:
    store = ThreadSafeStore()
    store.add(entry("a", version="1"))
    store.add(entry("a", version="2"))

    stored = store.get(key("a"))

    assert stored is not None
    assert stored.key is store.keys()[0]


async def test_replaced_objects_can_be_freed_in_steps() -> None:
    entries = [entry(f"p{number}") for number in range(250)]

    await free_in_steps(entries)

    assert entries == []


def test_a_store_has_the_indexers_that_it_is_created_with() -> None:
    store = ThreadSafeStore({"node": lambda pod: [pod.label_map.get("node", "")]})
    store.add(entry("web", labels={"node": "n1"}))

    store.add_indexers({"uid": lambda pod: [pod.uid]})

    assert store.index_names() == ("namespace", "node", "uid")
    assert [found.key for found in store.by_index("node", "n1")] == [key("web")]
    assert store.index_values("uid") == [store.entries()[0].uid]
    with pytest.raises(IndexConflict):
        store.add_indexers({"node": lambda pod: []})
