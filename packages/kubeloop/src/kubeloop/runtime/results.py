"""What a reconcile function returns or raises, and the outcome that the controller sees in it.

Guarantees: pure; every result of a function, valid or not, is exactly one outcome.
See also: `controller` (acts on the outcome).
"""

from __future__ import annotations

import asyncio
import math
from typing import TypeAlias, final

import msgspec

from kubeloop.errors import Conflict, InvalidArgument, KubeError
from kubeloop.meta import ObjectKey
from kubeloop.wire import get_logger

__all__ = [
    "Done",
    "Failed",
    "Outcome",
    "ReconcileTimeout",
    "Requeue",
    "Result",
    "TerminalError",
    "as_exception",
    "error_text",
    "is_delay",
    "log_failure",
    "not_awaitable",
    "outcome_of",
]

log = get_logger(__name__)


@final
class Result(msgspec.Struct, frozen=True, kw_only=True):
    """When to reconcile the key again (controller-runtime: `reconcile.Result`).

        return Result(requeue_after=30)   # in 30 seconds
        return Result(requeue=True)       # after the rate limiter's delay

    `Result()` and None mean: when something changes.

    Raises:
        InvalidArgument: the seconds are not a number, or negative.
    """

    requeue_after: float | None = None
    requeue: bool = False

    def __post_init__(self) -> None:
        if self.requeue_after is not None and not is_delay(self.requeue_after):
            raise InvalidArgument(
                f"requeue after {self.requeue_after!r}: give seconds, zero or more"
            )


class TerminalError(KubeError):
    """Raised by a reconcile function if a retry cannot help, only a change of the object.

    ```python
    raise TerminalError("spec.image: no such registry")
    ```
    """


@final
class ReconcileTimeout(KubeError, TimeoutError):
    """A reconcile took longer than its controller allows, and was cancelled."""


class Done(msgspec.Struct, frozen=True):
    """Nothing to do until something changes."""


class Requeue(msgspec.Struct, frozen=True):
    """Add the key again: after some seconds, or after the rate limiter's delay."""

    after: float | None = None


class Failed(msgspec.Struct, frozen=True):
    """The function raised; `terminal` if a retry cannot help."""

    error: Exception
    terminal: bool = False


Outcome: TypeAlias = Done | Requeue | Failed

_DONE = Done()


def outcome_of(result: object) -> Outcome:
    """The outcome of what a function returned; an invalid result is a terminal failure."""
    match result:
        case None:
            return _DONE
        case Result(requeue_after=None, requeue=requeue):
            return Requeue() if requeue else _DONE
        case Result(requeue_after=after):
            return Requeue(after)
    return Failed(
        InvalidArgument(f"reconcile returned {result!r} (return a Result, or nothing)"),
        terminal=True,
    )


def not_awaitable(result: object) -> Outcome:
    """The outcome of a function that is not `async def`."""
    what = f"reconcile returned {result!r}, which cannot be awaited (write `async def`, no `yield`)"
    return Failed(InvalidArgument(what), terminal=True)


def as_exception(error: BaseException) -> Exception:
    """An ordinary exception for one that would end more than this reconcile."""
    cancelled = isinstance(error, asyncio.CancelledError)
    what = "cancelled from inside" if cancelled else f"{type(error).__name__}: {error_text(error)}"
    wrapped = KubeError(what) if cancelled else RuntimeError(what)
    wrapped.__cause__ = error
    return wrapped


def error_text(error: BaseException) -> str:
    """The text of an error, or its class; a user's `__str__` may fail as well."""
    try:
        return str(error) or type(error).__name__
    except Exception:  # noqa: BLE001 - of the user's class
        return type(error).__name__


def log_failure(
    name: str, key: ObjectKey, error: Exception, attempt: int, *, terminal: bool
) -> None:
    """Log a failed reconcile; a traceback only for errors that are not kubeloop's."""
    text = error_text(error)
    if terminal:
        log.error("%s %s: reconcile failed, will not retry until a change: %s", name, key, text)
    elif isinstance(error, Conflict):
        log.info("%s %s: conflict, will retry (attempt %d): %s", name, key, attempt, text)
    elif isinstance(error, KubeError):
        log.warning(
            "%s %s: reconcile failed, will retry (attempt %d): %s", name, key, attempt, text
        )
    else:
        log.error(
            "%s %s: reconcile failed, will retry (attempt %d)", name, key, attempt, exc_info=error
        )


def is_delay(value: object) -> bool:
    """Whether it is a finite number of seconds, zero or more."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) and value >= 0
