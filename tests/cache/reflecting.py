"""A reflector over a model server, and a target that remembers what it was told."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from tests.support.model_server import Asked, ModelServer

from kubeloop.cache import Entry, EntryCodec, EntryDecoder, Reflector
from kubeloop.kit import ManualClock, TaskOwner


class Told:
    """What a target was told, in short."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.failure: Exception | None = None

    def add(self, entry: Entry) -> None:
        self._note(f"add {entry.key.name}")

    def update(self, entry: Entry) -> None:
        self._note(f"update {entry.key.name}")

    def delete(self, entry: Entry) -> None:
        self._note(f"delete {entry.key.name}")

    def replace(self, entries: Iterable[Entry], version: str) -> None:
        self._note(f"replace {','.join(sorted(e.key.name for e in entries))} at {version}")

    def bookmark(self, version: str) -> None:
        self._note(f"bookmark {version}")

    def resync(self) -> None:
        self._note("resync")

    def _note(self, line: str) -> None:
        self.lines.append(line)
        if self.failure is not None:
            raise self.failure


@asynccontextmanager
async def reflecting(
    server: ModelServer, clock: ManualClock, *, transform: Any = None, **options: Any
) -> AsyncIterator[tuple[Reflector, Told]]:
    """A reflector that runs, and has run until it waits; its delays have no jitter."""
    told = Told()
    intake = EntryDecoder(EntryCodec(dict), transform=transform, kind=server.scope.kind)
    options.setdefault("random", lambda: 0.0)
    reflector = Reflector(server, told, intake, clock=clock, **options)
    async with TaskOwner() as tasks:
        tasks.spawn(reflector.run(), name="reflector")
        await clock.settle()
        yield reflector, told


def said(asked: Asked) -> str:
    """A request in short: `stream 10`, `list 0 limit 500`, `watch 12`."""
    if asked.verb != "list":
        return f"{asked.verb} {asked.version}".strip()
    page = f" page {asked.page}" if asked.page else ""
    return f"list {asked.version!r} limit {asked.limit}{page}"


def requests(server: ModelServer) -> list[str]:
    return [said(asked) for asked in server.asked]
