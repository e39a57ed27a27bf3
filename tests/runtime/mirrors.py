"""Caches without a server: a source that is filled by hand, and a client that hands it out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from kubeloop.cache import RawPage, Scope, SharedInformer, Watchable
from kubeloop.kit import Clock
from kubeloop.machinery import ObjectKey
from kubeloop.runtime.caches import named
from kubeloop.wire import Raw, RawEvent, Resource, resource_of


class Source:
    """One collection; `put` and `drop` are what happens to it."""

    streams_lists = False

    def __init__(self, cls: type[Resource]) -> None:
        info = resource_of(cls)
        self.scope = Scope(resource=info.plural, kind=info.kind, api_version=info.api_version)
        self._said = {"apiVersion": info.api_version, "kind": info.kind}
        self._objects: dict[ObjectKey, dict[str, Any]] = {}
        self._events: asyncio.Queue[RawEvent] = asyncio.Queue()
        self.version = 0

    def put(self, obj: Resource | dict[str, Any], **metadata: Any) -> ObjectKey:
        """Add an object, or change the one of its name; `metadata` is set besides."""
        data = obj.to_dict() if isinstance(obj, Resource) else dict(obj)
        place = {"namespace": "default", "uid": f"uid of {data['metadata']['name']}"}
        self.version += 1
        version = {"resourceVersion": str(self.version)}
        data = {
            **self._said,
            **data,
            "metadata": {**place, **data["metadata"], **metadata, **version},
        }
        key = ObjectKey.of(data)
        self._tell("MODIFIED" if key in self._objects else "ADDED", data)
        self._objects[key] = data
        return key

    def drop(self, key: ObjectKey) -> None:
        self.version += 1
        data = self._objects.pop(key)
        data["metadata"]["resourceVersion"] = str(self.version)
        self._tell("DELETED", data)

    async def list(self, *, version: str, version_match: str, limit: int, page: str) -> RawPage:
        while not self._events.empty():  # the list has it already
            self._events.get_nowait()
        items = [msgspec.json.encode(each) for each in self._objects.values()]
        return RawPage(items, str(self.version or 1))

    async def watch(
        self, *, since: str, bookmarks: bool, timeout_seconds: int, initial_events: bool
    ) -> AsyncIterator[RawEvent]:
        while True:
            yield await self._events.get()

    def _tell(self, kind: str, data: dict[str, Any]) -> None:
        self._events.put_nowait(RawEvent(kind, Raw(msgspec.json.encode(data))))


class Mirrors:
    """Stands in for a client where only informers are asked for."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.sources: dict[Any, Source] = {}

    def source(self, cls: type[Resource]) -> Source:
        return self.sources.setdefault(named(cls), Source(cls))

    def informer(
        self, kind: Watchable, *, of: type[Any], resync: float = 0.0, **others: Any
    ) -> SharedInformer[Any]:
        assert isinstance(kind, type)
        return SharedInformer(self.source(kind), of, resync=resync, clock=self._clock)
