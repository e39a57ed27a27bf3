"""What happened in the demo, and why, line by line.

Promises: lines are kept in order with the second they were said at; whoever listens hears
each once.
Elsewhere: how they are shown (`dashboard`, `transcript`).
"""

from __future__ import annotations

import contextlib
import enum
import logging
from collections.abc import Callable, Iterator
from typing import final

import msgspec

from kubeloop.kit import Clock

__all__ = ["Line", "Mark", "Narrator"]


class Mark(enum.StrEnum):
    """What a line is about."""

    SCENE = "scene"  # a title
    DID = "did"  # what the demo does to the cluster
    BROKE = "broke"  # what it breaks on purpose
    SAW = "saw"  # what came of it, as counted
    WHY = "why"  # what there is to learn
    LOG = "log"  # what the library itself logged


class Line(msgspec.Struct, frozen=True):
    """One sentence, said `at` so many seconds after the beginning."""

    at: float
    mark: Mark
    text: str


@final
class Narrator:
    """Takes down what happens; `heard` is called with every line."""

    def __init__(self, *, clock: Clock, heard: Callable[[Line], None] = lambda _: None) -> None:
        self._clock = clock
        self._began = clock.now()
        self._heard = heard
        self._lines: list[Line] = []
        self.scene = 0
        self.is_over = False  # everything was told

    @property
    def lines(self) -> tuple[Line, ...]:
        return tuple(self._lines)

    def last_scene(self) -> tuple[Line, ...]:
        """The lines since the last title."""
        titles = [place for place, line in enumerate(self._lines) if line.mark is Mark.SCENE]
        return tuple(self._lines[titles[-1] :]) if titles else self.lines

    def elapsed(self) -> float:
        return self._clock.now() - self._began

    def title(self, text: str) -> None:
        self.scene += 1
        self._note(Mark.SCENE, text)

    def did(self, text: str) -> None:
        self._note(Mark.DID, text)

    def broke(self, text: str) -> None:
        self._note(Mark.BROKE, text)

    def saw(self, text: str) -> None:
        self._note(Mark.SAW, text)

    def why(self, text: str) -> None:
        self._note(Mark.WHY, text)

    def logged(self, text: str) -> None:
        self._note(Mark.LOG, text)

    def _note(self, mark: Mark, text: str) -> None:
        line = Line(self.elapsed(), mark, text)
        self._lines.append(line)
        self._heard(line)

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Take down the library's warnings, which would disturb the picture elsewhere."""
        logger = logging.getLogger("kubeloop")
        handler = _Listener(self)
        propagates, logger.propagate = logger.propagate, False
        logger.addHandler(handler)
        try:
            yield
        finally:
            logger.removeHandler(handler)
            logger.propagate = propagates


@final
class _Listener(logging.Handler):
    def __init__(self, narrator: Narrator) -> None:
        super().__init__(logging.WARNING)
        self._narrator = narrator

    def emit(self, record: logging.LogRecord) -> None:
        self._narrator.logged(record.getMessage())
