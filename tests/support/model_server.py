"""A collection of the API in a hundred lines: list, watch, pages, compaction, and faults.

It does not depend on caches. Every request is recorded; `fail` and `cut` inject
faults, `heal` ends them. Everything happens on one event loop and takes no time.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from kubeloop.cache import MessageFormat, RawPage, Scope, WatchListSupport
from kubeloop.errors import ApiError, ConnectError, api_error
from kubeloop.meta import ObjectKey
from kubeloop.wire import Raw, RawEvent
from kubeloop.wire.meta.v1 import Status, StatusCause, StatusDetails

TOO_OLD = {"kind": "Status", "apiVersion": "v1", "code": 410, "reason": "Expired"}
INITIAL_END = {"k8s.io/initial-events-end": "true"}


def refusal(code: int, reason: str = "", *, message: str = "no", cause: str = "") -> ApiError:
    causes = [StatusCause(reason=cause, message=message)] if cause else []
    details = StatusDetails(causes=causes)
    return api_error("ask", Status(code=code, reason=reason, message=message, details=details))


def expired() -> ApiError:
    return refusal(410, "Expired")


def too_large() -> ApiError:
    return refusal(504, "Timeout", cause="ResourceVersionTooLarge")


def refused() -> ConnectError:
    return ConnectError("connect: connection refused")


def event(kind: str, obj: dict[str, Any]) -> RawEvent:
    return RawEvent(kind, Raw(msgspec.json.encode(obj)))


class ModelRequest(msgspec.Struct, frozen=True):
    """One request that was received."""

    verb: str  # list, watch, or stream for a watch with initial events
    version: str
    limit: int = 0
    page: str = ""


class ModelServer:
    """One collection of pods."""

    watch_list_support: WatchListSupport | None = None
    messages: MessageFormat | None = None

    def __init__(self, *, streams_lists: bool = True, scope: Scope | None = None) -> None:
        self.scope = scope or Scope("pods", kind="Pod", api_version="v1")
        self.streams_lists = streams_lists
        self.version = 10
        self.received: list[ModelRequest] = []
        self.timeouts: list[int] = []
        self.open_watches = 0
        self.cut_after: int | None = None  # events after which each watch ends
        self.page_limit: int | None = None  # at most so many in a page, whatever the request
        self.staleness = 0  # how far behind a list at "0" is
        self.expire_next_page = False
        self.lets_watch_the_future = False  # as real servers do, without a response
        self._objects: dict[ObjectKey, dict[str, Any]] = {}
        self._history: list[tuple[int, str, dict[str, Any]]] = []
        self._compacted = 0
        self._faults: deque[Exception] = deque()
        self._epoch = self._bookmarks = self._serial = 0
        self._changed = asyncio.Event()

    # --- what a test does

    def put(self, name: str, *, namespace: str = "shop", node: str = "", **labels: str) -> str:
        """Create or change a pod; returns its version."""
        key = ObjectKey(namespace, name)
        before = self._objects.get(key)
        self.version += 1
        self._serial += before is None
        metadata = {
            "name": name,
            "namespace": namespace,
            "uid": before["metadata"]["uid"] if before else f"u{self._serial}",
            "resourceVersion": str(self.version),
            "labels": labels,
        }
        obj = {"kind": "Pod", "apiVersion": "v1", "metadata": metadata, "spec": {"nodeName": node}}
        self._objects[key] = obj
        self._record("MODIFIED" if before else "ADDED", obj)
        return str(self.version)

    def delete(self, name: str, *, namespace: str = "shop") -> None:
        found = self._objects.pop(ObjectKey(namespace, name), None)
        if found is not None:
            self.version += 1
            metadata = {**found["metadata"], "resourceVersion": str(self.version)}
            self._record("DELETED", {**found, "metadata": metadata})

    def compact(self) -> None:
        """Forget all history."""
        self._compacted = self.version

    def cut(self) -> None:
        """End every open watch."""
        self._epoch += 1
        self._wake()

    def bookmark(self) -> None:
        self._bookmarks += 1
        self._wake()

    def fail(self, *errors: Exception) -> None:
        """Respond to the next requests with these."""
        self._faults.extend(errors)

    def say(self, kind: str, obj: dict[str, Any]) -> None:
        """Send an event that does not fit the stored objects."""
        self._history.append((self.version, "!" + kind, obj))
        self._wake()

    def heal(self) -> None:
        self._faults.clear()
        self.cut_after = None

    def state(self) -> dict[ObjectKey, tuple[str, str]]:
        """What there is: uid and version by key."""
        return {key: _identity(obj) for key, obj in self._objects.items()}

    def count(self, verb: str) -> int:
        return sum(request.verb == verb for request in self.received)

    # --- what a client does

    async def list(
        self, *, resource_version: str, resource_version_match: str, limit: int, page: str
    ) -> RawPage:
        self.received.append(ModelRequest("list", resource_version, limit, page))
        self._raise_fault()
        start, at = 0, self.version
        if page:
            at, start = (int(part) for part in page.split(":"))
            if at < self._compacted or self.expire_next_page:
                self.expire_next_page = False
                raise expired()
        elif resource_version_match == "Exact":
            at = int(resource_version)
        elif resource_version == "0":
            at = max(self.version - self.staleness, self._compacted, 1)
        elif resource_version and int(resource_version) > self.version:
            raise too_large()
        items = [obj for _, obj in sorted(self._state_at(at).items())]
        size = min(limit or len(items), self.page_limit or len(items)) or 1
        more = f"{at}:{start + size}" if start + size < len(items) else ""
        raw = [msgspec.json.encode(obj) for obj in items[start : start + size]]
        return RawPage(raw, str(at), more, kind="PodList")

    async def watch(
        self, *, resource_version: str, bookmarks: bool, timeout_seconds: int, initial_events: bool
    ) -> AsyncIterator[RawEvent]:
        self.received.append(
            ModelRequest("stream" if initial_events else "watch", resource_version)
        )
        self.timeouts.append(timeout_seconds)
        self._raise_fault()
        if (
            resource_version
            and int(resource_version) > self.version
            and not self.lets_watch_the_future
        ):
            raise too_large()
        self.open_watches += 1
        try:
            sent = 0
            if self.cut_after == 0:
                return
            async for each in self._events(int(resource_version or 0), initial=initial_events):
                if self.cut_after is not None and sent >= self.cut_after:
                    return
                sent += 1
                yield each
        finally:
            self.open_watches -= 1

    async def _events(self, at: int, *, initial: bool) -> AsyncIterator[RawEvent]:
        epoch, bookmarks = self._epoch, self._bookmarks
        index = len(self._history) if initial else self._index_after(at)
        if initial:
            at, state = self.version, list(self._objects.values())
            for obj in state:
                yield event("ADDED", obj)
            yield event("BOOKMARK", bookmark_of(at, INITIAL_END))
        if at < self._compacted:
            raise expired()
        while self._epoch == epoch:
            while index < len(self._history):
                version, kind, obj = self._history[index]
                if at < self._compacted and version < self._compacted:
                    yield event("ERROR", TOO_OLD)
                    return
                index, at = index + 1, max(at, version)
                yield event(kind.removeprefix("!"), obj)
            if self._bookmarks > bookmarks:
                bookmarks, at = self._bookmarks, self.version
                yield event("BOOKMARK", bookmark_of(at))
                continue
            await self._changed.wait()

    def _index_after(self, version: int) -> int:
        return next(
            (index for index, (each, _, _) in enumerate(self._history) if each > version),
            len(self._history),
        )

    def _state_at(self, version: int) -> dict[ObjectKey, dict[str, Any]]:
        if version == self.version:
            return self._objects
        state: dict[ObjectKey, dict[str, Any]] = {}
        for each, kind, obj in self._history:
            if each <= version and not kind.startswith("!"):
                key = ObjectKey(obj["metadata"]["namespace"], obj["metadata"]["name"])
                state.pop(key, None) if kind == "DELETED" else state.update({key: obj})
        return state

    def _record(self, kind: str, obj: dict[str, Any]) -> None:
        self._history.append((self.version, kind, obj))
        self._wake()

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    def _raise_fault(self) -> None:
        if self._faults:
            raise self._faults.popleft()


def _identity(obj: dict[str, Any]) -> tuple[str, str]:
    return obj["metadata"]["uid"], obj["metadata"]["resourceVersion"]


def bookmark_of(version: int, annotations: dict[str, str] | None = None) -> dict[str, Any]:
    metadata = {"resourceVersion": str(version), "annotations": annotations or {}}
    return {"kind": "Pod", "apiVersion": "v1", "metadata": metadata}
