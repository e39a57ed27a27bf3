"""What happened lately: errors and turning points of the parts, and events that they recorded.

Promises: bounded; what is said again and again is one line with a count.
Elsewhere: how parts are (`collect`).
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

from .health import Health, of_informer
from .parts import Reading

__all__ = ["LINES", "Journal", "Line", "line_of_event", "news"]

LINES = 200
_LOOKED_AT = 20  # lines in which a repetition is looked for
_NOT_WELL = (Health.BROKEN, Health.TROUBLED)


class Line(msgspec.Struct, frozen=True):
    """One thing that happened."""

    source: str  # process, event
    level: str  # error, warning, info
    about: str
    text: str
    at: str = ""
    count: int = 1


@final
class Journal:
    """The last lines."""

    def __init__(self) -> None:
        self._lines: deque[Line] = deque(maxlen=LINES)

    def note(self, lines: Iterable[Line], at: datetime) -> None:
        for line in lines:
            self._note(msgspec.structs.replace(line, at=format_time(at)))

    def __iter__(self) -> Iterator[Line]:
        """The newest first."""
        return reversed(self._lines)

    def _note(self, line: Line) -> None:
        said = (line.source, line.about, line.text)
        for old, _ in zip(reversed(self._lines), range(_LOOKED_AT), strict=False):
            if (old.source, old.about, old.text) == said:
                self._lines.remove(old)
                line = msgspec.structs.replace(line, count=old.count + line.count)
                break
        self._lines.append(line)


def line_of_event(event: Event) -> Line:
    """An event of the API as a line."""
    about = event.involved_object
    where = f"{about.namespace}/{about.name}" if about.namespace else about.name or ""
    return Line(
        source="event",
        level="warning" if event.type == "Warning" else "info",
        about=f"{about.kind} {where}",
        text=f"{event.reason}: {event.message}",
    )


def news(before: Reading, now: Reading) -> Iterator[Line]:
    """What has changed from one reading to the next that a reader should hear of."""
    for name, informer in now.informers.items():
        old = before.informers.get(name, informer)
        told, known = informer.reflector, old.reflector
        if told.errors > known.errors:
            yield _error(name, told.last_error, told.errors - known.errors)
        if of_informer(old) in _NOT_WELL and of_informer(informer) is Health.GOOD:
            yield _info(name, "watching again")
        for handler, was in zip(informer.handlers, old.handlers, strict=False):
            if handler.name == was.name and handler.failures > was.failures:
                count = handler.failures - was.failures
                yield _error(name, f"the handler {handler.name} failed (the log says how)", count)
    for name, controller in now.controllers.items():
        yield from _of_controller(name, before.controllers.get(name, controller), controller)
    for elector, was_elector in zip(now.elections, before.elections, strict=False):
        yield from _of_election(was_elector, elector)
    for name, why in now.silent.items():
        yield _error(name, f"stats() failed: {why}")


def _of_controller(name: str, old: ControllerStats, now: ControllerStats) -> Iterator[Line]:
    if now.failed > old.failed:
        yield _error(name, now.last_error, now.failed - old.failed)
    if now.state != old.state:
        yield _info(name, now.state)


def _of_election(old: ElectorStats, now: ElectorStats) -> Iterator[Line]:
    name = now.name or "election"
    if now.lock.failures > old.lock.failures:
        yield _error(name, now.lock.last_error, now.lock.failures - old.lock.failures)
    if isinstance(now.state, Leading) and not isinstance(old.state, Leading):
        yield _info(name, "this process leads")
    elif isinstance(old.state, Leading) and not isinstance(now.state, Leading):
        yield _info(name, "this process leads no longer")
    elif now.leader != old.leader and now.leader and now.leader != now.identity:
        yield _info(name, f"{now.leader} leads")


def _error(about: str, text: str, count: int = 1) -> Line:
    return Line("process", "error", about, text, count=count)


def _info(about: str, text: str) -> Line:
    return Line("process", "info", about, text)
