"""Keeps the store in a SQLite file: what was acknowledged survives, even kill -9.

Promises: a write is answered after it is on disk, many at a time; after a crash the file
holds a state that the store was in, with everything acknowledged; resource versions never
go back, also those that were handed out and never acknowledged. A file has one server at a
time.
Elsewhere: what is stored (`store`).
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import final

import msgspec

from kubeloop.kit import run_to_completion
from kubeloop.wire import KubeError

from .representations.representation import head_of
from .storage.store import Change, Entry, Store

__all__ = ["BadFile", "SqliteFile"]

_AHEAD = 10_000  # versions that are reserved on disk before they are handed out
_SCHEMA = """
CREATE TABLE IF NOT EXISTS objects (
    resource_group TEXT NOT NULL, plural TEXT NOT NULL, key TEXT NOT NULL,
    version INTEGER NOT NULL, value BLOB NOT NULL,
    PRIMARY KEY (resource_group, plural, key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS counter (only INTEGER PRIMARY KEY CHECK (only = 1), version INTEGER);
"""
_PUT = "INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?, ?)"
_DELETE = "DELETE FROM objects WHERE resource_group = ? AND plural = ? AND key = ?"
_COUNT = "INSERT OR REPLACE INTO counter VALUES (1, ?)"


class BadFile(KubeError):
    """The file cannot be opened or is not one of ours."""


@final
class SqliteFile:
    """One file that follows one store; `load` first, then `observe` and `settle`."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="kubeloop-sqlite")
        self._lock = asyncio.Lock()
        self._pending: list[Change] = []
        self._noted = 0  # changes that were noted, ever
        self._safe = 0  # how many of them are on disk
        self._latest = 0
        self._reserved = 0  # versions up to this one may have been handed out
        self._wake = asyncio.Event()
        self._file = self._open()

    def _open(self) -> sqlite3.Connection:
        with contextlib.suppress(OSError):  # what is wrong with the path, SQLite says
            # Secrets will be in it; SQLite makes its other files with the mode of this one.
            self._path.touch(mode=0o600)
        try:
            file = sqlite3.connect(
                self._path, isolation_level=None, check_same_thread=False, timeout=0
            )
            with contextlib.ExitStack() as stack:
                stack.callback(file.close)
                _prepare(file)
                stack.pop_all()
        except sqlite3.Error as error:
            raise BadFile(
                f"opening {self._path} for the server's data: {error} ({_hint(error)})"
            ) from error
        return file

    def load(self, store: Store) -> None:
        """Put what is in the file into a new store."""
        latest = 0
        for group, plural, key, version, value in self._rows():
            store.load((group, plural), _entry(key, version, value))
            latest = max(latest, version)
        found = self._file.execute("SELECT version FROM counter").fetchone()
        store.advance(max(latest, found[0] if found else 0))
        self._latest = store.version
        self._write([])

    def observe(self, change: Change) -> None:
        """Note a change; it is on disk after `settle`."""
        self._pending.append(change)
        self._noted += 1
        self._latest = change.version
        self._wake.set()
        if change.version >= self._reserved:
            # No version leaves the server that a restart could hand out again.
            self._file.execute(_COUNT, (self._reserve(),))

    async def settle(self) -> None:
        """Wait until everything noted so far is on disk.

        Cancelled, it still waits for the write that is under way.
        """
        goal = self._noted
        if self._safe >= goal:
            return
        await run_to_completion(self._flush(goal))

    async def run(self) -> None:
        """Put on disk what nobody waits for, until cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            await self.settle()

    async def aclose(self) -> None:
        """Put everything on disk and close the file."""
        await self.settle()
        self._file.execute(_COUNT, (self._latest,))
        self._file.close()
        self._thread.shutdown()

    def remove(self) -> None:
        """Delete the file and what SQLite keeps beside it; for one that is closed."""
        for suffix in ("", "-wal", "-shm"):
            Path(f"{self._path}{suffix}").unlink(missing_ok=True)

    async def _flush(self, goal: int) -> None:
        async with self._lock:
            if self._safe >= goal:
                return  # somebody else's write took ours along
            batch, self._pending = self._pending, []
            count = self._noted
            loop = asyncio.get_running_loop()
            try:
                await loop.run_in_executor(self._thread, self._write, batch)
            except sqlite3.Error:
                self._pending = [*batch, *self._pending]
                raise
            self._safe = count

    def _write(self, batch: Iterable[Change]) -> None:
        """One transaction; it is on disk when this returns."""
        self._file.execute("BEGIN IMMEDIATE")
        try:
            for change in batch:
                if change.new is None:
                    self._file.execute(_DELETE, (*change.storage, change.key))
                else:
                    self._file.execute(_PUT, _row(change, change.new))
            if self._latest + _AHEAD // 2 > self._reserved:
                self._file.execute(_COUNT, (self._reserve(),))
            self._file.execute("COMMIT")
        except BaseException:
            self._file.execute("ROLLBACK")
            raise

    def _reserve(self) -> int:
        self._reserved = self._latest + _AHEAD
        return self._reserved

    def _rows(self) -> Iterator[tuple[str, str, str, int, bytes]]:
        try:
            yield from self._file.execute("SELECT * FROM objects")
        except sqlite3.Error as error:
            raise BadFile(f"reading {self._path}: {error}") from error


def _row(change: Change, entry: Entry) -> tuple[str, str, str, int, bytes]:
    head = head_of(entry.obj["apiVersion"], entry.obj["kind"])
    return (*change.storage, entry.key, entry.version, head + entry.tail)


def _entry(key: str, version: int, value: bytes) -> Entry:
    obj = msgspec.json.decode(value)
    tail = value[len(head_of(obj["apiVersion"], obj["kind"])) :]
    return Entry(key, obj, tail, version)


def _prepare(file: sqlite3.Connection) -> None:
    # Two servers on one file would give the same versions to different changes.
    file.execute("PRAGMA locking_mode = EXCLUSIVE")
    file.execute("PRAGMA journal_mode = WAL")
    file.execute("PRAGMA synchronous = FULL")
    file.executescript(_SCHEMA)


def _hint(error: sqlite3.Error) -> str:
    if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
        return "another server uses it: end that one, or give another file"
    return "give the path of a file that an embedded server wrote, or of one that does not exist"
