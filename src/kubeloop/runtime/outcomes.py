"""What came of one try to reconcile a key, and how loudly a failure is said.

Promises: nothing waits; every answer of a function, rubbish included, means exactly one of these.
Elsewhere: what follows (`controller`), what a function may say (`results`).
"""

from __future__ import annotations

import asyncio
from typing import TypeAlias

import msgspec

from kubeloop.errors import Conflict, InvalidArgument, KubeError
from kubeloop.meta import ObjectKey
from kubeloop.wire import get_logger

from .results import Result

__all__ = [
    "Again",
    "Done",
    "Failed",
    "Outcome",
    "contained",
    "judged",
    "log_failure",
    "not_awaited",
    "words",
]

log = get_logger(__name__)


class Done(msgspec.Struct, frozen=True):
    """Nothing more to do until something changes."""


class Again(msgspec.Struct, frozen=True):
    """The key once more: after so many seconds, or when the limiter says."""

    after: float | None = None


class Failed(msgspec.Struct, frozen=True):
    """It raised; `for_good` when only a change can mend it."""

    error: Exception
    for_good: bool = False


Outcome: TypeAlias = Done | Again | Failed


def judged(said: object) -> Outcome:
    """What a function's answer means; what is no answer cannot be mended by another try."""
    match said:
        case None:
            return Done()
        case Result(requeue_after=None, requeue=requeue):
            return Again() if requeue else Done()
        case Result(requeue_after=after):
            return Again(after)
    return Failed(
        InvalidArgument(f"reconcile returned {said!r} (return a Result, or nothing)"), for_good=True
    )


def not_awaited(said: object) -> Outcome:
    """What it means when there is nothing to await: the function was not written for this."""
    what = f"reconcile returned {said!r}, which cannot be awaited (write `async def`, no `yield`)"
    return Failed(InvalidArgument(what), for_good=True)


def contained(error: BaseException) -> Exception:
    """What would end more than the try, as an error that does not."""
    cancelled = isinstance(error, asyncio.CancelledError)
    what = "cancelled from inside" if cancelled else f"{type(error).__name__}: {words(error)}"
    found = KubeError(what) if cancelled else RuntimeError(what)
    found.__cause__ = error
    return found


def words(error: BaseException) -> str:
    """What an error says, or is called; its own text may fail, too."""
    try:
        return str(error) or type(error).__name__
    except Exception:  # noqa: BLE001 - the user's own
        return type(error).__name__


def log_failure(name: str, key: ObjectKey, error: Exception, tries: int, *, terminal: bool) -> None:
    what = words(error)
    if terminal:
        log.error("%s %s: given up until it changes: %s", name, key, what)
    elif isinstance(error, Conflict):
        log.info("%s %s: to be tried again (%d): %s", name, key, tries, what)
    elif isinstance(error, KubeError):
        log.warning("%s %s: failed, to be tried again (%d): %s", name, key, tries, what)
    else:
        log.error("%s %s: failed, to be tried again (%d)", name, key, tries, exc_info=error)
