"""What the page is told: values, ready to be shown.

Promises: data only, small enough to be sent every second.
Elsewhere: how they are found (`collect`), how they look (`page/page.js`).
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from .health import Health
from .journal import Line
from .showing import DiffLine

__all__ = [
    "About",
    "Controller",
    "Difference",
    "Election",
    "Handler",
    "Index",
    "Mirror",
    "Object",
    "Other",
    "Queue",
    "Snapshot",
    "Totals",
]


class About(msgspec.Struct, frozen=True):
    """The process."""

    name: str
    pid: int
    host: str
    kubeloop: str
    python: str
    started: str
    state: str  # of the managers, where there are any; how many run, where they differ


class Handler(msgspec.Struct, frozen=True):
    """Somebody who is told of changes."""

    name: str
    waiting: int
    told: int
    merged: int
    failures: int
    controller: str  # whose it is, where it is one's


class Index(msgspec.Struct, frozen=True):
    name: str
    values: int
    failures: int


class Mirror(msgspec.Struct, frozen=True):
    """An informer: from the server to its handlers."""

    id: str
    owner: str  # its manager, where there are several
    kind: str
    group: str
    scope: str  # which part of the collection; empty for all of it
    health: Health
    # the reflector
    state: str
    event_age: float | None
    lists: int
    watches: int
    events: int
    errors: int
    last_error: str
    failures: int  # attempts in a row that have failed
    failing_for: float | None  # seconds; None: the last attempt succeeded
    rate: list[float]  # events a second
    # the delta queue
    deltas: int
    taken: int
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
    phase: str
    queued: int
    in_work: int
    waiting: int
    retries: int
    longest: float
    depth: list[float]


class Controller(msgspec.Struct, frozen=True):
    """A controller, with its queue."""

    name: str
    owner: str  # its manager, where there are several
    health: Health
    state: str
    workers: int
    active: tuple[str, ...]
    succeeded: int
    failed: int
    terminal: int
    timed_out: int
    waiting_for_cache: tuple[str, ...]  # keys that wait until a cache has seen what they wrote
    longest_cache_wait: float  # seconds
    last_error: str
    rate: list[float]  # tries a second
    failures: list[float]
    bounds: list[float | None]  # seconds; the last has no bound
    heat: list[list[int]]  # for each moment: how many tries took how long
    median: float | None
    slowest: float | None  # 99 of 100 took no longer
    queue: Queue


class Election(msgspec.Struct, frozen=True):
    name: str
    health: Health
    state: str
    identity: str
    leader: str
    writes: int
    failures: int
    last_error: str
    remaining: float | None  # seconds for which this process leads without a renewal


class Other(msgspec.Struct, frozen=True):
    """A part of another kind, as it describes itself."""

    name: str
    values: Mapping[str, str]


class Totals(msgspec.Struct, frozen=True):
    """The whole process in a few numbers."""

    objects: int
    bytes: int
    events: list[float]
    reconciles: list[float]
    depth: list[float]
    errors: list[float]
    requests: list[float]


class Snapshot(msgspec.Struct, frozen=True):
    """Everything at one moment."""

    about: About
    at: str
    totals: Totals
    mirrors: tuple[Mirror, ...]
    controllers: tuple[Controller, ...]
    queues: tuple[Queue, ...]
    elections: tuple[Election, ...]
    others: tuple[Other, ...]
    silent: Mapping[str, str]
    lines: tuple[Line, ...]


class Difference(msgspec.Struct, frozen=True):
    """One change of an object."""

    type: str
    at: str
    version: str
    lines: tuple[DiffLine, ...]


class Object(msgspec.Struct, frozen=True):
    """An object and what became of it; without `yaml` when it is gone."""

    cache: str
    kind: str
    namespace: str
    name: str
    version: str
    yaml: str | None
    changes: tuple[Difference, ...]  # the newest first
