"""The values that are sent to the page.

Guarantees: data only, small enough to be sent every second.
See also: `collect` (how they are computed), `page/page.js` (how they are drawn).
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from .health import Health
from .journal import JournalEntry
from .rendering import DiffLine

__all__ = [
    "Controller",
    "Difference",
    "Election",
    "Failing",
    "Handler",
    "Index",
    "Informer",
    "ManagerState",
    "Object",
    "Other",
    "Process",
    "Queue",
    "RecordingPosition",
    "Snapshot",
    "Totals",
]


class Process(msgspec.Struct, frozen=True):
    """The process that is inspected."""

    name: str
    pid: int
    host: str
    kubeloop: str
    python: str
    started: str
    state: str  # of its managers; if they differ, how many are running


class Handler(msgspec.Struct, frozen=True):
    """A handler of an informer."""

    name: str
    backlog: int
    notified: int
    merged: int
    failures: int
    controller: str  # the controller that it belongs to, if any


class Index(msgspec.Struct, frozen=True):
    name: str
    values: int
    failures: int


class Informer(msgspec.Struct, frozen=True):
    """An informer: reflector, delta queue, cache and handlers."""

    id: str
    manager: str  # empty if there is only one
    kind: str
    group: str
    namespace: str  # empty: all namespaces
    scope: str  # namespace and selectors; empty for the whole collection
    health: Health
    # the reflector
    state: str
    event_age: float | None
    lists: int
    watches: int
    events: int
    errors: int
    last_error: str
    failures: int  # failed attempts in a row
    failing_for: float | None  # seconds; None if the last attempt succeeded
    rate: list[float]  # events per second
    # the delta queue
    deltas: int
    applied: int
    # the cache
    has_synced: bool
    objects: int
    bytes: int
    store_as: str
    version: str
    indexes: tuple[Index, ...]
    # the handlers
    handlers: tuple[Handler, ...]


class Queue(msgspec.Struct, frozen=True):
    """A work queue."""

    name: str
    state: str
    ready: int
    processing: int
    delayed: int
    retries: int
    longest: float  # seconds that the oldest key is in processing
    depth: list[float]


class Failing(msgspec.Struct, frozen=True):
    """A key whose last reconcile failed."""

    key: str
    error: str
    attempts: int
    is_terminal: bool  # not retried until the object changes
    age: float  # seconds


class Controller(msgspec.Struct, frozen=True):
    """A controller, with its queue."""

    name: str
    manager: str  # empty if there is only one
    health: Health
    state: str
    workers: int
    active: tuple[str, ...]
    succeeded: int
    failed: int
    terminal: int
    timed_out: int
    waiting_for_cache: tuple[str, ...]  # parked keys: a cache does not have their writes yet
    longest_cache_wait: float  # seconds
    last_error: str
    rate: list[float]  # reconciles per second
    failures: list[float]
    bounds: list[float | None]  # upper bounds of the buckets in seconds; the last has none
    heatmap: list[list[int]]  # for each second: reconciles by bucket
    median: float | None
    p99: float | None
    queue: Queue
    failing: tuple[Failing, ...] = ()  # the newest first
    failing_total: int = 0
    caches: Mapping[str, str] = {}  # of its objects, by namespace; "" is all namespaces


class Election(msgspec.Struct, frozen=True):
    name: str
    health: Health
    state: str
    identity: str
    leader: str
    writes: int
    failures: int
    last_error: str
    remaining: float | None  # seconds until leadership ends without a renewal


class Other(msgspec.Struct, frozen=True):
    """The `stats()` of anything else."""

    name: str
    values: Mapping[str, str]


class Totals(msgspec.Struct, frozen=True):
    """Sums over the whole process."""

    objects: int
    bytes: int
    events: list[float]
    reconciles: list[float]
    depth: list[float]
    errors: list[float]
    requests: list[float]


class ManagerState(msgspec.Struct, frozen=True):
    """A manager of a process with several managers."""

    name: str
    state: str
    is_leader: bool


class RecordingPosition(msgspec.Struct, frozen=True):
    """Which step of a recording a snapshot is."""

    step: int
    steps: int
    omitted: int  # objects that are not in the recording


class Snapshot(msgspec.Struct, frozen=True):
    """The state of the process at one time."""

    process: Process
    at: str
    totals: Totals
    informers: tuple[Informer, ...]
    controllers: tuple[Controller, ...]
    queues: tuple[Queue, ...]
    elections: tuple[Election, ...]
    others: tuple[Other, ...]
    unreadable: Mapping[str, str]  # whose `stats()` failed, with the error
    journal: tuple[JournalEntry, ...]
    managers: tuple[ManagerState, ...] = ()  # the running ones first; empty if there is only one
    recording: RecordingPosition | None = None  # None if it is live


class Difference(msgspec.Struct, frozen=True):
    """One change of an object."""

    type: str
    at: str
    version: str
    lines: tuple[DiffLine, ...]


class Object(msgspec.Struct, frozen=True):
    """An object and its changes; `yaml` is None if it was deleted."""

    cache: str
    kind: str
    namespace: str
    name: str
    version: str
    yaml: str | None
    changes: tuple[Difference, ...]  # newest first
