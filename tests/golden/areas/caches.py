"""Stores, their indexes, expiring caches, and the queues between reflector and store."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

from kubeloop.cache import (
    Batch,
    Delta,
    DeltaFIFO,
    DeltaQueue,
    DeltaType,
    Entry,
    EntryCodec,
    ExpirationCache,
    Indexer,
    KnownObjects,
    MutationCache,
    QueueClosed,
    RealFIFO,
    UnknownIndex,
    older_than,
)
from kubeloop.kit import ManualClock
from kubeloop.meta import ObjectKey
from tests.golden.case import Area, Case

_EIGHTHS = [125, 500, 875, 1000, 1125, 5000]  # of a second: exact in floats
_NAMES = ["a", "b", "c"]


def _item(source: random.Random, version: int, name: str = "") -> dict[str, str]:
    return {
        "name": name or source.choice(_NAMES),
        "namespace": source.choice(["shop", "shop", "bank"]),
        "uid": source.choice(["1", "2"]),
        "version": str(version),
        "node": source.choice(["", "n1", "n2"]),
    }


def _store_steps(seed: int) -> list[dict[str, Any]]:
    source = random.Random(seed)
    steps: list[dict[str, Any]] = []
    for version in range(1, 15):
        do = source.choice(["add", "add", "update", "update", "delete", "replace"])
        if do == "replace":
            items = [_item(source, version, name) for name in source.sample(_NAMES, k=2)]
            steps.append({"do": do, "items": items, "value": str(version)})
        else:
            steps.append({"do": do, "item": _item(source, version)})
        steps.append({"do": source.choice(["list", "keys"])})
        steps.append({"do": "get", "value": f"shop/{source.choice(_NAMES)}"})
    return steps


def _index_case(seed: int) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = []
    for step in _store_steps(seed):
        steps.append(step)
        if step["do"] in ("add", "update", "delete", "replace"):
            for index, value in (("node", "n1"), ("node", ""), ("namespace", "shop")):
                steps.append({"do": "byIndex", "expect": index, "value": value})
                steps.append({"do": "indexKeys", "expect": index, "value": value})
            steps.append({"do": "indexValues", "expect": "node"})
            steps.append({"do": "byIndex", "expect": "none", "value": "x"})
    return steps


def _expiration_case(seed: int) -> list[dict[str, Any]]:
    source = random.Random(seed)
    steps: list[dict[str, Any]] = []
    for step in _store_steps(seed):
        if step["do"] != "keys":  # those of expired objects are listed until they are read
            steps.append(step)
        if source.random() < 0.4:
            steps.append({"do": "advance", "by": source.choice(_EIGHTHS)})
    return steps


def _queue_case(seed: int) -> list[dict[str, Any]]:
    """A consistent history of one server: only existing objects are changed or deleted."""
    source = random.Random(seed)
    there: dict[str, dict[str, str]] = {}
    steps: list[dict[str, Any]] = []
    for version in range(1, 26):
        name = source.choice(_NAMES)
        item = {"name": name, "namespace": "shop", "uid": "1", "version": str(version), "node": ""}
        match source.randrange(8):
            case 0 | 1 if name not in there:
                there[name] = item
                steps.append({"do": "add", "item": item})
            case 0 | 1 | 2 if name in there:
                there[name] = item
                steps.append({"do": "update", "item": item})
            case 3 if name in there:
                del there[name]
                steps.append({"do": "delete", "item": item})
            case 4:
                there = {each: there[each] for each in sorted(there) if source.random() < 0.7}
                steps.append(
                    {"do": "replace", "items": list(there.values()), "value": str(version)}
                )
            case 5:
                steps.append({"do": "resync"})
            case _:
                steps.append({"do": "pop"})
        steps.append({"do": "synced"})
    return steps


_ODD_QUEUES: list[list[dict[str, Any]]] = [
    [],
    [{"do": "pop"}],
    [{"do": "resync"}, {"do": "synced"}],
    [{"do": "replace", "items": [], "value": "1"}, {"do": "synced"}],
    [{"do": "delete", "item": {"name": "a", "namespace": "shop", "uid": "1", "version": "1"}}],
    [{"do": "update", "item": {"name": "a", "namespace": "shop", "uid": "1", "version": "1"}}],
    [
        {"do": "add", "item": {"name": "a", "namespace": "shop", "uid": "1", "version": "1"}},
        {"do": "delete", "item": {"name": "a", "namespace": "shop", "uid": "1", "version": "2"}},
        {"do": "delete", "item": {"name": "a", "namespace": "shop", "uid": "1", "version": "3"}},
        {"do": "add", "item": {"name": "a", "namespace": "shop", "uid": "2", "version": "4"}},
        {"do": "replace", "items": [], "value": "5"},
        {"do": "replace", "items": [], "value": "6"},
    ],
    [
        {
            "do": "replace",
            "items": [{"name": "a", "namespace": "shop", "uid": "1", "version": "1"}],
            "value": "1",
        },
        {"do": "replace", "items": [], "value": "2"},
        {"do": "synced"},
        {"do": "pop"},
        {"do": "synced"},
    ],
]


_WEB = {"name": "web", "namespace": "shop", "uid": "1"}
_ON_N1 = {"do": "byIndex", "expect": "node", "value": "n1"}
_ON_N2 = {"do": "byIndex", "expect": "node", "value": "n2"}


def _mutations(stored: list[str], written: list[str]) -> list[dict[str, Any]]:
    """Steps for `web` on nodes such as `1@n1`: in the store, then as own writes."""
    steps: list[dict[str, Any]] = []
    for do, states in (("update", stored), ("mutation", written)):
        for version, _, node in (state.partition("@") for state in states):
            steps.append({"do": do, "item": {**_WEB, "version": version, "node": node}})
    return [*steps, {"do": "get", "value": "shop/web"}, _ON_N1, _ON_N2]


_MUTATIONS = [
    _mutations([], []),
    _mutations([], ["2@n1"]),  # not in the store yet
    _mutations(["1@n1"], []),
    _mutations(["1@n1"], ["2@n1"]),
    _mutations(["1@n1"], ["2@n2"]),  # the write moves it
    _mutations(["1@"], ["2@n1"]),  # the write adds the value
    _mutations(["1@n1"], ["2@"]),  # the write removes the value
    _mutations(["3@n1"], ["2@n1"]),  # the store is newer
    _mutations(["3@n2"], ["2@n1"]),
    _mutations(["2@n1"], ["2@n1"]),
    _mutations(["1@n1"], ["3@n1", "2@n2"]),  # responses in another order
]


def _cases() -> Iterator[Case]:
    for steps, adds in itertools.product(_MUTATIONS, (True, False)):
        yield Case("mutations.steps", {"adds": adds, "steps": steps})
    for seed in range(20):
        yield Case("indexer.steps", _index_case(seed))
    for seed, ttl in itertools.product(range(15), (1000, 3000)):
        yield Case("expiring.steps", {"ttl": ttl, "steps": _expiration_case(seed)})
    for seed in range(60):
        yield Case("deltaFIFO.steps", _queue_case(seed))
        yield Case("realFIFO.steps", _queue_case(seed))
    for steps in _ODD_QUEUES:
        yield Case("deltaFIFO.steps", steps)
        yield Case("realFIFO.steps", steps)


def _object(item: dict[str, str]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": item["name"],
            "namespace": item["namespace"],
            "uid": item["uid"],
            "resourceVersion": item["version"],
        },
        "spec": {"nodeName": item["node"]} if item.get("node") else {},
    }


def _display(found: list[dict[str, Any]]) -> list[str]:
    return sorted(f"{ObjectKey.of(each)}@{each['metadata']['resourceVersion']}" for each in found)


def _store_step(store: Any, step: dict[str, Any]) -> Any:
    match step["do"]:
        case "add":
            store.add(_object(step["item"]))
        case "update":
            getattr(store, "update", store.add)(_object(step["item"]))
        case "delete":
            store.delete(_object(step["item"]))
        case "replace":
            store.replace([_object(each) for each in step["items"]], step["value"])
        case "list":
            return _display(store.list())
        case "keys":
            return sorted(map(str, store.keys()))
        case "get":
            found = store.get(ObjectKey.parse(step["value"]))
            return None if found is None else _display([found])[0]
    return None


def _indexer_steps(steps: list[dict[str, Any]]) -> list[Any]:
    def node(obj: dict[str, Any]) -> list[str]:
        name = obj.get("spec", {}).get("nodeName")
        return [name] if name else []

    indexer: Indexer[dict[str, Any]] = Indexer(EntryCodec(dict), {"node": node})
    return [_index_step(indexer, step) for step in steps]


def _index_step(indexer: Indexer[dict[str, Any]], step: dict[str, Any]) -> Any:
    try:
        match step["do"]:
            case "byIndex":
                return _display(indexer.by_index(step["expect"], step["value"]))
            case "indexKeys":
                return sorted(map(str, indexer.keys_by_index(step["expect"], step["value"])))
            case "indexValues":
                return sorted(indexer.index_values(step["expect"]))
    except UnknownIndex:
        return "refused"
    return _store_step(indexer, step)


def _mutation_steps(given: Any) -> list[Any]:
    store: Indexer[dict[str, Any]] = Indexer(EntryCodec(dict), {"node": "spec.nodeName"})
    writes = MutationCache(store, include_adds=given["adds"])
    return [_mutation_step(store, writes, step) for step in given["steps"]]


def _mutation_step(
    store: Indexer[dict[str, Any]], writes: MutationCache[dict[str, Any]], step: dict[str, Any]
) -> Any:
    match step["do"]:
        case "mutation":
            writes.mutation(_object(step["item"]))
            return None
        case "byIndex":
            return _display(writes.by_index(step["expect"], step["value"]))
        case "get":
            return _store_step(writes, step)
    return _store_step(store, step)


async def _run_expiration_cache(given: Any) -> list[Any]:
    clock = ManualClock()
    cache: ExpirationCache[ObjectKey, dict[str, Any]] = ExpirationCache(
        ObjectKey.of, expired=older_than(given["ttl"] / 1000), clock=clock
    )
    found: list[Any] = []
    for step in given["steps"]:
        if step["do"] == "advance":
            await clock.advance(step["by"] / 1000)
            found.append(None)
        else:
            found.append(_store_step(cache, step))
    return found


class _KnownObjects:
    """The popped objects, in the order of the Go program."""

    def __init__(self) -> None:
        self.held: dict[ObjectKey, Entry] = {}

    def keys(self) -> list[ObjectKey]:
        return sorted(self.held, key=str)

    def entry(self, key: ObjectKey) -> Entry | None:
        return self.held.get(key)

    def apply(self, delta: Delta) -> None:
        if delta.type is DeltaType.DELETED:
            self.held.pop(delta.key, None)
        elif delta.entry is not None:
            self.held[delta.key] = delta.entry


_codec = EntryCodec(dict)


def _queue_steps(make: Callable[[KnownObjects], DeltaQueue]) -> Callable[[Any], Any]:
    def answer(steps: list[dict[str, Any]]) -> Any:
        known = _KnownObjects()
        queue = make(known)
        found = [_queue_step(queue, known, step) for step in steps]
        queue.close()
        rest = []
        while popped := _pop(queue, known):
            rest.append(popped)
        return {"steps": found, "rest": rest, "synced": _has_synced(queue)}

    return answer


def _has_synced(queue: Any) -> bool:
    """Whether it is a property or, as it was, a method."""
    has_synced = queue.has_synced
    return bool(has_synced() if callable(has_synced) else has_synced)


def _entry(item: dict[str, str]) -> Entry:
    return _codec.parse(json.dumps(_object(item)).encode())


def _queue_step(queue: DeltaQueue, known: _KnownObjects, step: dict[str, Any]) -> Any:
    match step["do"]:
        case "add":
            queue.add(_entry(step["item"]))
        case "update":
            queue.update(_entry(step["item"]))
        case "delete":
            queue.delete(_entry(step["item"]))
        case "replace":
            queue.replace([_entry(each) for each in step["items"]], step["value"])
        case "resync":
            queue.resync()
        case "synced":
            return _has_synced(queue)
        case "pop":
            return _pop(queue, known)
    return None


def _pop(queue: DeltaQueue, known: _KnownObjects) -> list[Any]:
    try:
        batch: Batch | None = queue.take_nowait()
    except QueueClosed:
        return []
    if batch is None:
        return []
    for delta in batch.deltas:
        known.apply(delta)
    queue.done(batch)
    return [[delta.type.value, _delta(delta), batch.is_initial] for delta in batch.deltas]


def _delta(delta: Delta) -> list[Any]:
    entry = delta.entry
    if entry is None:
        return [str(delta.key), None, None, False]
    return [str(delta.key), entry.uid, entry.version, delta.last_state_known]


AREA = Area(
    _cases,
    {
        "indexer.steps": _indexer_steps,
        "mutations.steps": _mutation_steps,
        "expiring.steps": lambda given: asyncio.run(_run_expiration_cache(given)),
        "deltaFIFO.steps": _queue_steps(DeltaFIFO),
        "realFIFO.steps": _queue_steps(RealFIFO),
    },
)
