"""The log of the demo: what happened and why, and its transcript.

Guarantees: entries are in order and have their time; `on_entry` is called once for each.
See also: `dashboard` (shows the entries in a terminal).
"""

from __future__ import annotations

import contextlib
import enum
import logging
from collections.abc import Callable, Iterator
from typing import final

import click
import msgspec

from kubeloop.kit import Clock

__all__ = ["DemoLog", "EntryType", "LogEntry", "entry_text", "plural", "print_entry"]


def plural(count: int, noun: str, nouns: str = "") -> str:
    """A number and its noun: `1 key`, `2 keys`, `3 watches`."""
    return f"{count} {noun if count == 1 else nouns or f'{noun}s'}"


class EntryType(enum.StrEnum):
    """What an entry reports."""

    SCENE = "scene"  # the title of a scene
    ACTION = "action"  # what the demo does to the cluster
    FAULT = "fault"  # what it breaks on purpose
    RESULT = "result"  # what was observed and counted
    REASON = "reason"  # why kubeloop behaves this way
    WARNING = "warning"  # logged by the library itself


class LogEntry(msgspec.Struct, frozen=True):
    """One sentence, `at` seconds after the start."""

    at: float
    type: EntryType
    text: str


@final
class DemoLog:
    """Collects entries; `on_entry` is called with each."""

    def __init__(
        self, *, clock: Clock, on_entry: Callable[[LogEntry], None] = lambda _: None
    ) -> None:
        self._clock = clock
        self._started = clock.now()
        self._on_entry = on_entry
        self._entries: list[LogEntry] = []
        self.scene = 0
        self.is_over = False  # all scenes have ended

    @property
    def entries(self) -> tuple[LogEntry, ...]:
        return tuple(self._entries)

    def last_scene(self) -> tuple[LogEntry, ...]:
        """The entries since the last title."""
        titles = [at for at, each in enumerate(self._entries) if each.type is EntryType.SCENE]
        return tuple(self._entries[titles[-1] :]) if titles else self.entries

    def elapsed(self) -> float:
        return self._clock.now() - self._started

    def title(self, text: str) -> None:
        self.scene += 1
        self._add(EntryType.SCENE, text)

    def action(self, text: str) -> None:
        self._add(EntryType.ACTION, text)

    def fault(self, text: str) -> None:
        self._add(EntryType.FAULT, text)

    def result(self, text: str) -> None:
        self._add(EntryType.RESULT, text)

    def reason(self, text: str) -> None:
        self._add(EntryType.REASON, text)

    def warning(self, text: str) -> None:
        self._add(EntryType.WARNING, text)

    def _add(self, kind: EntryType, text: str) -> None:
        entry = LogEntry(self.elapsed(), kind, text)
        self._entries.append(entry)
        self._on_entry(entry)

    @contextlib.contextmanager
    def capture_warnings(self) -> Iterator[None]:
        """Log the warnings of library and server here; on stderr they disturb the dashboard."""
        loggers = [logging.getLogger(name) for name in ("kubeloop", "kubeloop_testing")]
        handler = _Handler(self)
        propagates = [logger.propagate for logger in loggers]
        for logger in loggers:
            logger.propagate = False
            logger.addHandler(handler)
        try:
            yield
        finally:
            for logger, before in zip(loggers, propagates, strict=True):
                logger.removeHandler(handler)
                logger.propagate = before


@final
class _Handler(logging.Handler):
    def __init__(self, log: DemoLog) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        self._log.warning(record.getMessage())


# --- the transcript

_LABELS = {
    EntryType.ACTION: "do",
    EntryType.FAULT: "break",
    EntryType.RESULT: "see",
    EntryType.REASON: "why",
    EntryType.WARNING: "log",
}


def entry_text(entry: LogEntry) -> str:
    """An entry as a line of the transcript."""
    if entry.type is EntryType.SCENE:
        return f"\n{entry.text}"
    return f"{entry.at:6.1f} s  {_LABELS[entry.type]:>5}  {entry.text}"


def print_entry(entry: LogEntry) -> None:
    """Print an entry; click flushes, so that a pipe gets it at once."""
    click.echo(entry_text(entry))
