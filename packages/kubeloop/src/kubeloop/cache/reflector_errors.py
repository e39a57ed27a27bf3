"""What an error of a list or a watch means for a reflector, and the errors that it adds.

Guarantees: pure functions that classify an error; one that fits no class starts a new list.
See also: `reflector_state` (what follows an error), `watch_list` (streaming lists).
"""

from __future__ import annotations

import asyncio
from typing import final

from kubeloop.errors import (
    Cause,
    DecodeError,
    Gone,
    InternalError,
    KubeError,
    Timeout,
    error_from_event,
    find_api_error,
    has_cause,
    is_api_error,
)
from kubeloop.kit import Clock
from kubeloop.meta import is_newer, is_valid_version
from kubeloop.wire import RawEvent, get_logger

from .list_watch import Scope

__all__ = [
    "InternalErrorWindow",
    "UnreadableEvent",
    "VersionWentBack",
    "VeryShortWatch",
    "WatchListInconsistent",
    "is_expired",
    "is_older",
    "needs_newest",
    "raise_error_event",
    "retry_after",
    "source_cancelled",
]

log = get_logger(__name__)

# In the message of servers before 1.19, in place of a cause.
_TOO_LARGE = "Too large resource version"
_QUIET = 60.0  # seconds without an internal error after which the window can open again
MAX_RETRY_AFTER = 60.0  # no server can make a reflector wait longer


@final
class VeryShortWatch(KubeError):
    """A watch ended at once, without anything new."""


@final
class VersionWentBack(KubeError):
    """The server is at an older version than before: it lost data, or was restored."""


@final
class UnreadableEvent(DecodeError):
    """The object of a watch event cannot be decoded; only a new list can replace the event."""


@final
class WatchListInconsistent(KubeError):
    """The streamed state differs from a list of the same version."""


def is_expired(error: BaseException) -> bool:
    """Whether the server no longer has the version, or the page of a continue token."""
    return is_api_error(error, Gone)


def _is_too_large(error: BaseException) -> bool:
    """Whether the server has not reached the requested version yet."""
    if has_cause(error, Cause.RESOURCE_VERSION_TOO_LARGE):
        return True
    found = find_api_error(error)
    if not isinstance(found, Timeout):
        return False
    messages = [found.status.message, *(cause.message for cause in found.causes)]
    return any(_TOO_LARGE in (message or "") for message in messages)


def needs_newest(error: BaseException) -> bool:
    """Whether the server rejects the version that we know: only the newest state is left."""
    return is_expired(error) or _is_too_large(error)


def is_older(version: str, than: str) -> bool:
    """Whether a version is certainly older; versions that do not compare are not."""
    return is_valid_version(version) and is_valid_version(than) and is_newer(than, than=version)


def retry_after(error: Exception) -> float:
    """The seconds that the server requests with `Retry-After`, within bounds; else 0."""
    response = find_api_error(error)
    return 0.0 if response is None else min(float(response.retry_after), MAX_RETRY_AFTER)


def raise_error_event(event: RawEvent, scope: Scope) -> None:
    """Raise the error of an ERROR event; an event of an unknown type is logged and skipped.

    Raises:
        ApiError: the error of the event.
        UnreadableEvent: it is an ERROR event without a Status.
    """
    if event.type != "ERROR":
        log.error("%s: unknown event type %.40r", scope, event.type)
        return
    action = f"watch {scope}"
    try:
        error = error_from_event(action, event.object)
    except DecodeError as cause:
        raise UnreadableEvent(f"{action}: an error that cannot be decoded: {cause}") from cause
    raise error


def source_cancelled(scope: Scope, error: asyncio.CancelledError) -> KubeError:
    """The error of a reflector whose source was cancelled, but not the reflector itself."""
    found = KubeError(f"reflector of {scope}: its source was cancelled")
    found.__cause__ = error
    return found


@final
class InternalErrorWindow:
    """For how long a watch that ends with an internal error is opened again at once.

    The window opens with the first error and closes `patience` seconds later; after a minute
    without any it can open again (client-go: `MaxInternalErrorRetryDuration`).
    """

    def __init__(self, patience: float, clock: Clock) -> None:
        self._patience = patience
        self._clock = clock
        self._first = self._last = float("-inf")

    def allows(self, error: BaseException) -> bool:
        """Count an error; whether to open the watch again at once."""
        if not is_api_error(error, InternalError):
            return False
        now = self._clock.now()
        if now - self._last >= _QUIET:
            self._first = now
        self._last = now
        return now - self._first < self._patience
