"""What a reconcile function says when it is through with a key."""

from __future__ import annotations

import math
from typing import final

import msgspec

from kubeloop.errors import InvalidArgument, KubeError

__all__ = ["ReconcileTimeout", "Result", "TerminalError", "is_delay"]


@final
class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What comes next: nothing, the key once more after a while, or soon.

        return Result(requeue_after=30)   # look again in half a minute
        return Result(requeue=True)       # look again soon, later and later each time

    Nothing (None) says the same as `Result()`: done until something changes.

    Raises:
        InvalidArgument: the seconds are no number, or negative.
    """

    requeue_after: float | None = None
    requeue: bool = False

    def __post_init__(self) -> None:
        if self.requeue_after is not None and not is_delay(self.requeue_after):
            raise InvalidArgument(
                f"requeue after {self.requeue_after!r}: give seconds, zero or more"
            )


class TerminalError(KubeError):
    """Raised by a reconcile function that no further try can help: only a change can.

    ```python
    raise TerminalError("spec.image: no such registry")
    ```
    """


@final
class ReconcileTimeout(KubeError, TimeoutError):
    """A reconcile took longer than its controller allows, and was cancelled."""


def is_delay(given: object) -> bool:
    """Whether it is a number of seconds, zero or more, that comes to an end."""
    if isinstance(given, bool) or not isinstance(given, int | float):
        return False
    return math.isfinite(given) and given >= 0
