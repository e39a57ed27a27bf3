"""The journal of the page: errors and state changes of the parts, and recorded events.

Guarantees: bounded; a repeated entry is shown once, with a count.
See also: `collect` (the current values).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import final

import msgspec

from kubeloop.election import ElectorStats, Leading
from kubeloop.runtime import ControllerStats
from kubeloop.wire import format_time
from kubeloop.wire.core.v1 import Event

from .health import Health, informer_health
from .samples import Sample

__all__ = ["MAX_ENTRIES", "Journal", "JournalEntry", "changes_between", "entry_of_event"]

MAX_ENTRIES = 200
_COMPARED = 20  # recent entries that are searched for a repetition
_UNHEALTHY = (Health.FAILING, Health.DEGRADED)


class JournalEntry(msgspec.Struct, frozen=True):
    """One error, state change or event."""

    source: str  # process, event
    level: str  # error, warning, info
    subject: str
    text: str
    at: str = ""
    count: int = 1
    kind: str = ""  # of the object of an event
    key: str = ""  # of the object that it is about, if any


@final
class Journal:
    """The last entries."""

    def __init__(self) -> None:
        self._entries: deque[JournalEntry] = deque(maxlen=MAX_ENTRIES)

    def add(self, entries: Iterable[JournalEntry], at: datetime) -> None:
        for entry in entries:
            self._add(msgspec.structs.replace(entry, at=format_time(at)))

    def __iter__(self) -> Iterator[JournalEntry]:
        """Newest first."""
        return reversed(self._entries)

    def _add(self, entry: JournalEntry) -> None:
        content = (entry.source, entry.subject, entry.text)
        for old, _ in zip(reversed(self._entries), range(_COMPARED), strict=False):
            if (old.source, old.subject, old.text) == content:
                self._entries.remove(old)
                entry = msgspec.structs.replace(entry, count=old.count + entry.count)
                break
        self._entries.append(entry)


def entry_of_event(event: Event) -> JournalEntry:
    """A Kubernetes event as an entry."""
    involved = event.involved_object
    name = f"{involved.namespace}/{involved.name}" if involved.namespace else involved.name or ""
    return JournalEntry(
        source="event",
        level="warning" if event.type == "Warning" else "info",
        subject=f"{involved.kind} {name}",
        text=f"{event.reason}: {event.message}",
        kind=involved.kind or "",
        key=name,
    )


def changes_between(before: Sample, now: Sample) -> Iterator[JournalEntry]:
    """The errors and state changes between two samples."""
    for name, informer in now.informers.items():
        old = before.informers.get(name, informer)
        reflector, previous = informer.reflector, old.reflector
        if reflector.errors > previous.errors:
            yield _error(name, reflector.last_error, reflector.errors - previous.errors)
        if informer_health(old) in _UNHEALTHY and informer_health(informer) is Health.HEALTHY:
            yield _info(name, "watching again")
        for handler, was in zip(informer.handlers, old.handlers, strict=False):
            if handler.name == was.name and handler.failures > was.failures:
                count = handler.failures - was.failures
                yield _error(
                    name, f"handler {handler.name} failed (see the log of the process)", count
                )
    for name, controller in now.controllers.items():
        yield from _controller_entries(name, before.controllers.get(name, controller), controller)
    for elector, was_elector in zip(now.elections, before.elections, strict=False):
        yield from _election_entries(was_elector, elector)
    for name, error in now.unreadable.items():
        yield _error(name, f"stats() failed: {error}")


def _controller_entries(
    name: str, old: ControllerStats, now: ControllerStats
) -> Iterator[JournalEntry]:
    if now.failed > old.failed:
        key, _, _ = now.last_error.partition(": ")
        yield _error(name, now.last_error, now.failed - old.failed, key=key)
    if now.state != old.state:
        yield _info(name, now.state)


def _election_entries(old: ElectorStats, now: ElectorStats) -> Iterator[JournalEntry]:
    name = now.name or "election"
    if now.lock.failures > old.lock.failures:
        yield _error(name, now.lock.last_error, now.lock.failures - old.lock.failures)
    if isinstance(now.state, Leading) and not isinstance(old.state, Leading):
        yield _info(name, "this process leads")
    elif isinstance(old.state, Leading) and not isinstance(now.state, Leading):
        yield _info(name, "this process no longer leads")
    elif now.leader != old.leader and now.leader and now.leader != now.identity:
        yield _info(name, f"{now.leader} leads")


def _error(subject: str, text: str, count: int = 1, *, key: str = "") -> JournalEntry:
    return JournalEntry("process", "error", subject, text, count=count, key=key)


def _info(subject: str, text: str) -> JournalEntry:
    return JournalEntry("process", "info", subject, text)
