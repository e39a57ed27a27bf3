"""The notifications of a shared informer for scripted responses of a server."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Iterator
from typing import Any

from kubeloop.cache import Change, ChangeType, Entry, RawPage, Scope, SharedInformer
from kubeloop.errors import api_error, failure
from kubeloop.kit import ManualClock, TaskOwner
from kubeloop.meta import ObjectKey
from kubeloop.wire import Raw, RawEvent
from tests.golden.case import Area, Case

_LAST = "the-end"
_LIMIT = 600.0  # seconds of the manual clock


def _item(name: str, version: int, uid: str = "1") -> dict[str, str]:
    return {"name": name, "namespace": "shop", "uid": uid, "version": str(version), "node": ""}


def _list(version: int, *items: dict[str, str]) -> dict[str, Any]:
    return {"items": list(items), "version": str(version), "error": 0}


def _failed(code: int) -> dict[str, Any]:
    return {"items": [], "version": "", "error": code}


def _watch(*events: tuple[str, dict[str, str]], end: str = "") -> dict[str, Any]:
    return {"events": [{"type": sort, "item": item} for sort, item in events], "end": end}


def _end(version: int) -> tuple[str, dict[str, str]]:
    return "ADDED", _item(_LAST, version)


def _history(lists: list[Any], *watches: Any) -> Case:
    return Case("informer.history", {"lists": lists, "watches": list(watches)})


_A, _B = _item("a", 1), _item("b", 2)


def _cases() -> Iterator[Case]:
    yield _history([_list(5)], _watch(_end(6)))
    yield _history([_list(5, _A, _B)], _watch(_end(6)))
    yield _history([_list(5, _B, _A)], _watch(_end(6)))
    yield _history(
        [_list(5, _A)],
        _watch(
            ("ADDED", _item("b", 6)),
            ("MODIFIED", _item("a", 7)),
            ("MODIFIED", _item("b", 8)),
            ("DELETED", _item("a", 9)),
            _end(10),
        ),
    )
    # Events that contradict the known state.
    yield _history([_list(5)], _watch(("MODIFIED", _item("a", 6)), _end(7)))
    yield _history([_list(5)], _watch(("DELETED", _item("a", 6)), _end(7)))
    yield _history([_list(5, _A)], _watch(("ADDED", _item("a", 6)), _end(7)))
    yield _history([_list(5, _A)], _watch(("MODIFIED", _A), _end(7)))
    yield _history([_list(5, _A)], _watch(("ADDED", _A), _end(7)))
    # A new object under an old name, seen and not seen.
    yield _history(
        [_list(5, _A)],
        _watch(("DELETED", _item("a", 6)), ("ADDED", _item("a", 7, "2")), _end(8)),
    )
    yield _history([_list(5, _A)], _watch(("MODIFIED", _item("a", 6, "2")), _end(7)))
    yield _history([_list(5, _A)], _watch(("ADDED", _item("a", 6, "2")), _end(7)))
    # Bookmarks cause no notification.
    yield _history([_list(5, _A)], _watch(("BOOKMARK", _item("", 6)), _end(7)))
    for seed in range(120):
        yield _random_history(seed)
    yield from _gaps()


def _random_history(seed: int) -> Case:
    """One list and one watch; sometimes with a contradicting event of the same uid."""
    source = random.Random(seed)
    there = {
        name: _item(name, number) for number, name in enumerate("abc", 1) if source.random() < 0.6
    }
    listed = _list(5, *source.sample(list(there.values()), k=len(there)))
    events = []
    uids = dict.fromkeys("abcd", 1)
    for version in range(6, 26):
        name = source.choice("abcd")
        item = _item(name, version, str(uids[name]))
        sort = "MODIFIED" if name in there else "ADDED"
        if name in there and source.random() < 0.4:
            sort = "DELETED"
            uids[name] += 1  # the next object of this name is a new one
        elif source.random() < 0.1:
            sort = source.choice(["ADDED", "MODIFIED", "BOOKMARK"])
        if sort == "DELETED":
            there.pop(name, None)
        elif sort != "BOOKMARK":
            there[name] = item
        events.append((sort, item))
    return _history([listed], _watch(*events, _end(30)))


def _gaps() -> Iterator[Case]:
    expired = _watch(end="expired")
    seen = _watch(("MODIFIED", _item("a", 6)), end="expired")
    finish = _watch(_end(21))
    for after in (
        _list(20, _A),
        _list(20, _item("a", 15)),
        _list(20),
        _list(20, _item("b", 15)),
        _list(20, _A, _item("b", 15)),
        _list(20, _item("a", 15, "2")),
        _list(20, _item("b", 14), _item("a", 15)),
    ):
        yield _history([_list(5, _A), after], expired, finish)
        yield _history([_list(5, _A), after], seen, finish)
    yield _history([_failed(500), _list(5, _A)], finish)
    yield _history([_failed(403), _list(5, _A)], finish)
    closed = _watch(("ADDED", _item("b", 6)), end="closed")
    yield _history([_list(5, _A)], closed, _watch(("DELETED", _item("b", 7)), _end(8)))
    yield _history(
        [_list(5, _A), _list(20, _item("a", 15, "2"))],
        _watch(("DELETED", _item("a", 6)), end="expired"),
        finish,
    )
    yield _history(
        [_list(5, _A, _B), _list(20, _item("c", 11), _item("b", 12))],
        _watch(("MODIFIED", _item("b", 6)), end="expired"),
        finish,
    )


def _text(item: dict[str, str]) -> bytes:
    metadata = {
        "name": item["name"],
        "namespace": item["namespace"],
        "uid": item["uid"],
        "resourceVersion": item["version"],
    }
    return json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": metadata}).encode()


class _ScriptedSource:
    """Responds to each list and each watch in turn, like the server of the Go program."""

    streams_lists = False
    watch_list_support = messages = None

    def __init__(self, history: Any) -> None:
        self.scope = Scope("pods", kind="Pod", api_version="v1")
        self._history = history
        self._lists = self._watches = 0

    async def list(
        self, *, resource_version: str, resource_version_match: str, limit: int, page: str
    ) -> RawPage:
        lists = self._history["lists"]
        found = lists[min(self._lists, len(lists) - 1)]
        self._lists += 1
        if found["error"]:
            reason = {403: "Forbidden", 500: "InternalError"}[found["error"]]
            raise api_error("LIST pods", failure(reason, "no"))
        return RawPage([_text(each) for each in found["items"]], found["version"])

    async def watch(
        self, *, resource_version: str, bookmarks: bool, timeout_seconds: int, initial_events: bool
    ) -> AsyncIterator[RawEvent]:
        index = self._watches
        self._watches += 1
        if index >= len(self._history["watches"]):
            await asyncio.Event().wait()
        script = self._history["watches"][index]
        for event in script["events"]:
            yield RawEvent(event["type"], Raw(_text(event["item"])))
        match script["end"]:
            case "expired":
                raise api_error("WATCH pods", failure("Expired", "too old"))
            case "closed":
                return
        await asyncio.Event().wait()


def _display(obj: dict[str, Any], *, known: bool = True) -> list[Any]:
    metadata = obj["metadata"]
    return [str(ObjectKey.of(obj)), metadata["uid"], metadata["resourceVersion"], known]


def _call(change: Change[dict[str, Any]]) -> list[Any]:
    match change.type:
        case ChangeType.ADDED:
            assert change.new is not None
            return ["add", _display(change.new), change.is_initial]
        case ChangeType.DELETED:
            assert change.old is not None
            return ["delete", _display(change.old, known=change.last_state_known)]
    assert change.old is not None
    assert change.new is not None
    return ["update", _display(change.old), _display(change.new)]


async def _run_informer(history: Any) -> Any:
    clock = ManualClock()
    informer: SharedInformer[dict[str, Any]] = SharedInformer(
        _ScriptedSource(history), dict, clock=clock
    )
    calls: list[Any] = []

    def on_change(change: Change[dict[str, Any]]) -> None:
        calls.append(_call(change))

    informer.add_handler(on_change=on_change)
    async with TaskOwner() as tasks:
        tasks.spawn(informer.run(), name="informer")
        while not (calls and _LAST in calls[-1][1][0]):
            assert clock.now() < _LIMIT, calls
            await clock.advance(1.0)
        held: list[Entry] = informer.indexer.entries()
        store = sorted(f"{entry.key}@{entry.version}" for entry in held)
    return {"calls": calls, "store": store}


AREA = Area(_cases, {"informer.history": lambda given: asyncio.run(_run_informer(given))})
