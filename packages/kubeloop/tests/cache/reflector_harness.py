"""A reflector over a model server, and a target that records its calls."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from kubeloop.cache import Entry, EntryCodec, EntryDecoder, Reflector
from kubeloop.kit import ManualClock, TaskOwner
from tests.support.model_server import ModelRequest, ModelServer


class RecordingTarget:
    """A target that records its calls in short lines."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.failure: Exception | None = None

    def add(self, entry: Entry) -> None:
        self._record(f"add {entry.key.name}")

    def update(self, entry: Entry) -> None:
        self._record(f"update {entry.key.name}")

    def delete(self, entry: Entry) -> None:
        self._record(f"delete {entry.key.name}")

    def replace(self, entries: Iterable[Entry], version: str) -> None:
        self._record(f"replace {','.join(sorted(e.key.name for e in entries))} at {version}")

    def bookmark(self, version: str) -> None:
        self._record(f"bookmark {version}")

    def resync(self) -> None:
        self._record("resync")

    def _record(self, line: str) -> None:
        self.calls.append(line)
        if self.failure is not None:
            raise self.failure


@asynccontextmanager
async def running_reflector(
    server: ModelServer, clock: ManualClock, *, transform: Any = None, **options: Any
) -> AsyncIterator[tuple[Reflector, RecordingTarget]]:
    """A reflector that runs, and has run until it waits; its delays have no jitter."""
    target = RecordingTarget()
    decoder = EntryDecoder(EntryCodec(dict), transform=transform, kind=server.scope.kind)
    options.setdefault("random", lambda: 0.0)
    reflector = Reflector(server, target, decoder, clock=clock, **options)
    async with TaskOwner() as tasks:
        tasks.spawn(reflector.run(), name="reflector")
        await clock.settle()
        yield reflector, target


def request_line(request: ModelRequest) -> str:
    """A request in short: `stream 10`, `list 0 limit 500`, `watch 12`."""
    if request.verb != "list":
        return f"{request.verb} {request.version}".strip()
    page = f" page {request.page}" if request.page else ""
    return f"list {request.version!r} limit {request.limit}{page}"


def requests(server: ModelServer) -> list[str]:
    return [request_line(request) for request in server.received]
