"""Key functions: objects under another key than namespace and name."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from kubeloop.cache import (
    DeltaFIFO,
    Entry,
    EntryCodec,
    ExpirationCache,
    Indexer,
    KeyFunc,
    MutationCache,
    PartlyApplied,
    RealFIFO,
    StorageFormat,
    Store,
    UnkeyedObject,
    index_func_to_key_func,
    older_than,
)
from kubeloop.errors import InvalidArgument
from kubeloop.meta import ObjectKey
from kubeloop.wire.core.v1 import Pod
from kubeloop.wire.meta.v1 import ObjectMeta
from tests.cache.objects import entry


class Route(msgspec.Struct):
    """An object of the program's own: no metadata, no name."""

    host: str
    port: int
    secret: str = "s3cr3t"


def by_host(route: Route) -> str:
    return route.host


def a_pod(name: str, *, uid: str) -> Pod:
    return Pod(metadata=ObjectMeta(name=name, namespace="shop", uid=uid))


@pytest.mark.parametrize("store_as", ["bytes", "objects", "compressed"])
def test_an_indexer_stores_your_objects_under_the_key_of_the_key_function(
    store_as: StorageFormat,
) -> None:
    routes = Indexer(
        EntryCodec(Route, store_as=store_as), {"port": lambda r: [str(r.port)]}, key=by_host
    )

    routes.add(Route("a.example", 80))
    routes.add(Route("b.example", 80))
    routes.update(Route("b.example", 443))

    assert routes.get(ObjectKey("", "b.example")) == Route("b.example", 443)
    assert [route.host for route in routes.by_index("port", "80")] == ["a.example"]
    routes.delete(Route("a.example", 1))
    assert routes.keys() == [ObjectKey("", "b.example")]
    routes.replace([Route("c.example", 1)], "7")
    assert routes.keys() == [ObjectKey("", "c.example")]


def test_a_key_function_may_return_a_key_with_a_namespace() -> None:
    routes = Indexer(EntryCodec(Route), key=lambda route: ObjectKey("edge", route.host))
    routes.add(Route("a.example", 80))

    assert routes.list(namespace="edge") == [Route("a.example", 80)]
    assert routes.list(namespace="core") == []


def test_an_indexer_with_a_key_function_is_a_store() -> None:
    store: Store[Route] = Indexer(EntryCodec(Route), key=by_host)
    store.add(Route("a.example", 80))

    assert store.list() == [Route("a.example", 80)]


def test_objects_of_the_api_may_be_stored_by_uid() -> None:
    pods = Indexer(EntryCodec(Pod), key=lambda pod: pod.metadata.uid or "")
    pods.add(a_pod("web", uid="u1"))
    pods.add(a_pod("web", uid="u2"))
    pods.add(pods.codec.parse(a_pod("web", uid="u3").to_json()))

    assert sorted(map(str, pods.keys())) == ["u1", "u2", "u3"]


def test_an_index_function_serves_as_a_key_function() -> None:
    routes = Indexer(EntryCodec(Route), key=index_func_to_key_func(lambda route: [route.host]))
    routes.add(Route("a.example", 80))

    assert ObjectKey("", "a.example") in routes


def test_the_key_is_that_of_the_object_before_its_transform() -> None:
    """CCH-8: the transform cannot change it."""

    def without_host(route: Route) -> Route:
        return Route("", route.port)

    routes = Indexer(EntryCodec(Route), key=by_host, transform=without_host)
    routes.add(Route("a.example", 80))

    assert routes.get(ObjectKey("", "a.example")) == Route("", 80)


def failing(given: Any) -> str:
    raise LookupError(f"no key in {given}")


def cancelling(_: Any) -> str:
    raise asyncio.CancelledError


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        (failing, "the key function raised LookupError"),
        (cancelling, "the key function raised CancelledError"),
        (lambda _: "", "the key function returned a key that is empty"),
        (lambda _: ObjectKey("shop", ""), "the key function returned a key that is empty"),
        (lambda _: None, "the key function returned a key that is of NoneType"),
        (lambda _: 7, "the key function returned a key that is of int"),
    ],
)
def test_a_key_function_that_fails_is_an_error_with_the_name_of_the_object_and_none_of_its_data(
    key: KeyFunc[Any], problem: str
) -> None:
    """CCH-4: UnkeyedObject."""
    routes, pods = Indexer(EntryCodec(Route), key=key), Indexer(EntryCodec(Pod), key=key)

    with pytest.raises(UnkeyedObject) as own:
        routes.add(Route("a.example", 80))
    with pytest.raises(UnkeyedObject) as named:
        pods.add(a_pod("web", uid="u1"))

    assert f"key of an object of type Route: {problem}" in str(own.value)
    assert f"key of Pod shop/web: {problem}" in str(named.value)
    assert "s3cr3t" not in str(own.value)
    assert len(routes) == len(pods) == 0
    assert routes.codec.stats().rejected == 1


def test_what_a_key_function_raised_is_the_cause() -> None:
    routes = Indexer(EntryCodec(Route), key=failing)

    with pytest.raises(UnkeyedObject) as refused:
        routes.add(Route("a.example", 80))

    assert isinstance(refused.value.__cause__, LookupError)


def test_a_replacement_with_an_object_that_has_no_key_leaves_the_store_as_it_was() -> None:
    routes = Indexer(EntryCodec(Route), key=by_host)
    routes.add(Route("a.example", 80))

    with pytest.raises(UnkeyedObject):
        routes.replace([Route("b.example", 80), Route("", 80)], "7")
    with pytest.raises(PartlyApplied):
        routes.transaction([("add", Route("c.example", 80)), ("add", Route("", 80))])

    assert sorted(map(str, routes.keys())) == ["a.example", "c.example"]


def test_an_expiration_cache_names_the_object_without_a_key() -> None:
    cache: ExpirationCache[str, Route] = ExpirationCache(failing, expired=older_than(10))

    for write in (cache.add, cache.update, cache.delete, lambda route: cache.replace([route])):
        with pytest.raises(UnkeyedObject, match="key of an object of type Route"):
            write(Route("a.example", 80))

    assert len(cache) == 0


def test_a_mutation_cache_uses_the_key_of_its_store() -> None:
    pods = Indexer(EntryCodec(Pod), key=lambda pod: pod.metadata.uid or "")
    mutations = MutationCache(pods, include_adds=True)
    pod = a_pod("web", uid="u1")
    pod.metadata.resource_version = "5"

    mutations.mutation(pod)

    found = mutations.get(ObjectKey("", "u1"))
    assert found is not None
    assert found.metadata.name == "web"


# --- queues


def by_uid(given: Entry) -> str:
    return given.uid


@pytest.mark.parametrize("kind", [DeltaFIFO, RealFIFO])
def test_a_queue_uses_the_keys_of_the_key_function(
    kind: type[DeltaFIFO | RealFIFO],
) -> None:
    store: Indexer[dict[str, Any]] = Indexer(EntryCodec(dict))
    queue = kind(store, key=by_uid)
    queue.add(entry("web", uid="u1"))
    queue.update(entry("web", uid="u2"))
    queue.replace([entry("web", uid="u2"), entry("web", uid="u3")], "9")
    lines: list[str] = []

    def work(deltas: Any, _: bool) -> None:
        for delta in deltas:
            lines.append(f"{delta.type} {delta.key}")
            assert delta.entry.key == delta.key
            store.delete(delta.key) if delta.type == "Deleted" else store.add(delta.entry)

    while queue.pop_nowait(work):
        pass

    assert sorted(lines) == sorted(
        ["Added u1", "Deleted u1", "Updated u2", "Replaced u2", "Replaced u3"]
    )
    assert sorted(map(str, store.keys())) == ["u2", "u3"]


@pytest.mark.parametrize("kind", [DeltaFIFO, RealFIFO])
def test_a_missed_delete_with_a_state_uses_the_key_function(
    kind: type[DeltaFIFO | RealFIFO],
) -> None:
    queue = kind(key=by_uid)
    gone = entry("web", uid="u1")
    queue.add(gone)
    queue.missed_delete(gone.key, gone)
    keys: list[str] = []

    while queue.pop_nowait(lambda deltas, _: keys.extend(delta.key.name for delta in deltas)):
        pass

    assert keys == ["u1", "u1"]


@pytest.mark.parametrize("kind", [DeltaFIFO, RealFIFO])
def test_a_queue_whose_key_function_fails_queues_nothing(
    kind: type[DeltaFIFO | RealFIFO],
) -> None:
    queue = kind(key=failing)
    given = entry("web")

    for write in (
        queue.add,
        queue.update,
        queue.delete,
        lambda each: queue.missed_delete(each.key, each),
        lambda each: queue.replace([each], "1"),
    ):
        with pytest.raises(UnkeyedObject, match="key of shop/web: the key function raised"):
            write(given)

    assert len(queue) == 0
    assert not queue.has_synced


def test_an_error_about_a_key_is_an_invalid_value() -> None:
    assert issubclass(UnkeyedObject, InvalidArgument)
