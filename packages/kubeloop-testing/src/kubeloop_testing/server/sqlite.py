"""Persists the store in a SQLite file: acknowledged writes survive even kill -9.

Guarantees: the response to a write is sent after the write is on disk, and many writes share
one transaction; after a crash the file has a state that the store was in, with all
acknowledged writes; a version is never used twice, not even one that was only visible before
the crash. Only one server at a time can use a file.
See also: `storage.store` (the objects).
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import final

from kubeloop.kit import run_to_completion
from kubeloop.wire import KubeError

from .representations.representation import head_of
from .storage.store import Change, Entry, Store, tail_of
from .values.deep_json import decode

__all__ = ["BadFile", "SqliteFile"]

_AHEAD = 10_000  # versions that are reserved on disk before they are used
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
    """The file cannot be opened, or no embedded server wrote it."""


@final
class SqliteFile:
    """The file of one store; call `load` first, then `observe` and `settle`."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="kubeloop-sqlite")
        self._lock = asyncio.Lock()
        self._pending: list[Change] = []
        self._observed = 0  # changes so far
        self._written = 0  # how many of them are on disk
        self._latest = 0
        self._reserved = 0  # versions up to this one may have been used
        self._wake = asyncio.Event()
        self._file = self._open()

    def _open(self) -> sqlite3.Connection:
        with contextlib.suppress(OSError):  # SQLite reports what is wrong with the path
            # It will contain Secrets. SQLite creates its other files with the mode of this one.
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
        """Load the objects of the file into a new store."""
        latest = 0
        for group, plural, key, version, value in self._rows():
            store.load((group, plural), _entry(key, version, value))
            latest = max(latest, version)
        found = self._file.execute("SELECT version FROM counter").fetchone()
        store.advance(max(latest, found[0] if found else 0))
        self._latest = store.version
        self._write([])

    def observe(self, change: Change) -> None:
        """Queue a change; it is on disk after `settle`."""
        self._pending.append(change)
        self._observed += 1
        self._latest = change.version
        self._wake.set()
        if change.version >= self._reserved:
            # Before the version is visible: a restart must not use it for another change.
            self._file.execute(_COUNT, (self._reserve(),))

    async def settle(self) -> None:
        """Wait until all changes so far are on disk.

        Cancelled, it still waits for the transaction that runs.
        """
        goal = self._observed
        if self._written >= goal:
            return
        await run_to_completion(self._flush(goal))

    async def run(self) -> None:
        """Write changes of controllers, which no request waits for, until cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            await self.settle()

    async def aclose(self) -> None:
        """Write all changes and close the file."""
        await self.settle()
        self._file.execute(_COUNT, (self._latest,))
        self._file.close()
        self._thread.shutdown()

    def remove(self) -> None:
        """Delete the file and the other files of SQLite; close it first."""
        for suffix in ("", "-wal", "-shm"):
            Path(f"{self._path}{suffix}").unlink(missing_ok=True)

    async def _flush(self, goal: int) -> None:
        async with self._lock:
            if self._written >= goal:
                return  # another transaction included these changes
            batch, self._pending = self._pending, []
            count = self._observed
            loop = asyncio.get_running_loop()
            try:
                await loop.run_in_executor(self._thread, self._write, batch)
            except sqlite3.Error:
                self._pending = [*batch, *self._pending]
                raise
            self._written = count

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
    obj, tail = entry.obj, entry.tail
    if entry.stored is not None:
        obj, tail = entry.stored, tail_of(entry.stored)
    head = head_of(obj["apiVersion"], obj["kind"])
    return (*change.storage, entry.key, entry.version, head + tail)


def _entry(key: str, version: int, value: bytes) -> Entry:
    obj = decode(value)
    tail = value[len(head_of(obj["apiVersion"], obj["kind"])) :]
    return Entry(key, obj, tail, version)


def _prepare(file: sqlite3.Connection) -> None:
    # Exclusive: two servers on one file would use the same versions for different changes.
    file.execute("PRAGMA locking_mode = EXCLUSIVE")
    file.execute("PRAGMA journal_mode = WAL")
    file.execute("PRAGMA synchronous = FULL")
    file.executescript(_SCHEMA)


def _hint(error: sqlite3.Error) -> str:
    if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
        return "another server uses it: stop that server, or use another file"
    return "use a file that an embedded server wrote, or a path that does not exist"
