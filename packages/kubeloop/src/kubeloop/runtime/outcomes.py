"""Reports the outcomes of reconciles to observers: for metrics, traces and tests.

Guarantees: an observer is called once for each reconcile that has ended, before its key is added
to the queue again; what it raises is logged with the key, and changes nothing.
See also: `results` (the outcomes), `controller` (calls the observers).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias, final

import msgspec

from kubeloop.meta import ObjectKey
from kubeloop.wire import get_logger
from kubeloop.workqueue import QueueStats

from .results import Failed, Outcome

__all__ = [
    "OutcomeObserver",
    "ReconcileReport",
    "notify_observers",
    "observe_outcomes",
    "observers_of_context",
]

log = get_logger(__name__)


@final
class ReconcileReport(msgspec.Struct, frozen=True, kw_only=True):
    """A reconcile that has ended. Fields may be added to it."""

    controller: str  # its name
    key: ObjectKey
    outcome: Outcome
    attempt: int  # failures of the key, and requeues, before this reconcile
    seconds: float
    queue: Callable[[], QueueStats]  # the controller's queue, whenever it is called

    @property
    def error(self) -> Exception | None:
        """What the function raised, if it failed."""
        return self.outcome.error if isinstance(self.outcome, Failed) else None


OutcomeObserver: TypeAlias = Callable[[ReconcileReport], object]

_observers: ContextVar[tuple[OutcomeObserver, ...]] = ContextVar("outcome observers", default=())


@contextmanager
def observe_outcomes(observer: OutcomeObserver) -> Iterator[None]:
    """Observe each manager that starts in the block, or in a task that starts there.

    For programs that run the managers of others; your own takes `Manager(on_outcome=)`.
    """
    token = _observers.set((*_observers.get(), observer))
    try:
        yield
    finally:
        _observers.reset(token)


def observers_of_context() -> tuple[OutcomeObserver, ...]:
    """The observers of the current context."""
    return _observers.get()


def notify_observers(observers: Sequence[OutcomeObserver], report: ReconcileReport) -> None:
    for observer in observers:
        try:
            observer(report)
        # Synchronous code cannot be cancelled: a CancelledError from it is an ordinary error.
        except (Exception, asyncio.CancelledError):
            log.exception(
                "%s %s: the observer of outcomes failed, continuing", report.controller, report.key
            )
