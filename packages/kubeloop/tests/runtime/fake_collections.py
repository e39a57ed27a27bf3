"""Informers without a server: collections that tests fill, and a client of them."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from kubeloop.cache import RawPage, Scope, SharedInformer, Watchable
from kubeloop.errors import Expired
from kubeloop.kit import Clock
from kubeloop.meta import ObjectKey
from kubeloop.runtime.kinds import canonical_kind
from kubeloop.wire import Raw, RawEvent, Resource, resource_of
from kubeloop.wire.meta.v1 import Status


class FakeCollection:
    """One collection, which `put` and `drop` change.

    While `lags` is set, the watch delivers nothing before `deliver()`.
    """

    streams_lists = False
    watch_list_support = messages = None
    lags = False

    def __init__(self, cls: type[Resource]) -> None:
        info = resource_of(cls)
        self.scope = Scope(resource=info.plural, kind=info.kind, api_version=info.api_version)
        self._type = {"apiVersion": info.api_version, "kind": info.kind}
        self._objects: dict[ObjectKey, dict[str, Any]] = {}
        self._events: asyncio.Queue[RawEvent | Exception] = asyncio.Queue()
        self._undelivered: deque[RawEvent] = deque()
        self.version = 0

    def put(self, obj: Resource | dict[str, Any], **metadata: Any) -> ObjectKey:
        """Add an object, or change the one of its name; `metadata` is set besides."""
        self.version += 1
        return self.put_raw(obj, version=str(self.version), **metadata)

    def put_raw(
        self, obj: Resource | dict[str, Any], *, version: str, **metadata: Any
    ) -> ObjectKey:
        """As `put`, with this resource version."""
        data = obj.to_dict() if isinstance(obj, Resource) else dict(obj)
        defaults = {"namespace": "default", "uid": f"uid of {data['metadata']['name']}"}
        numbered = {"resourceVersion": version}
        data = {
            **self._type,
            **data,
            "metadata": {**defaults, **data["metadata"], **metadata, **numbered},
        }
        key = ObjectKey.of(data)
        self._notify("MODIFIED" if key in self._objects else "ADDED", data)
        self._objects[key] = data
        return key

    def drop(self, key: ObjectKey) -> None:
        self.version += 1
        data = self._objects.pop(key)
        data["metadata"]["resourceVersion"] = str(self.version)
        self._notify("DELETED", data)

    def deliver(self, count: int | None = None) -> None:
        """Let the watch deliver the oldest events that it holds back, or all of them."""
        for _ in range(len(self._undelivered) if count is None else count):
            if self._undelivered:
                self._events.put_nowait(self._undelivered.popleft())

    def bookmark(self) -> None:
        self._notify("BOOKMARK", {**self._type, "metadata": {"resourceVersion": str(self.version)}})

    def restore(self, version: int) -> None:
        """Restore the server from a backup of that version: all objects are gone."""
        self.version = version
        self._objects.clear()
        self.expire()

    def expire(self) -> None:
        """End the watch with 410, which makes the informer list again."""
        self._undelivered.clear()
        self._events.put_nowait(Expired("WATCH", Status(code=410, reason="Expired")))

    async def list(
        self, *, resource_version: str, resource_version_match: str, limit: int, page: str
    ) -> RawPage:
        while not self._events.empty():  # the list contains them
            self._events.get_nowait()
        self._undelivered.clear()
        items = [msgspec.json.encode(each) for each in self._objects.values()]
        self.version = self.version or 1
        return RawPage(items, str(self.version))

    async def watch(
        self, *, resource_version: str, bookmarks: bool, timeout_seconds: int, initial_events: bool
    ) -> AsyncIterator[RawEvent]:
        while True:
            event = await self._events.get()
            if isinstance(event, Exception):
                raise event
            yield event

    def _notify(self, kind: str, data: dict[str, Any]) -> None:
        event = RawEvent(kind, Raw(msgspec.json.encode(data)))
        if self.lags:
            self._undelivered.append(event)
        else:
            self._events.put_nowait(event)


class FakeInformerClient:
    """A client that only creates informers."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.sources: dict[Any, FakeCollection] = {}

    def source(self, cls: type[Resource]) -> FakeCollection:
        return self.sources.setdefault(canonical_kind(cls), FakeCollection(cls))

    def informer(
        self, kind: Watchable, /, *, model: type[Any] = dict, resync: float = 0.0, **others: Any
    ) -> SharedInformer[Any]:
        assert isinstance(kind, type)
        return SharedInformer(self.source(kind), model, resync=resync, clock=self._clock)
