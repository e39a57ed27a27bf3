"""What an error of a list or a watch means for whoever mirrors a collection.

Promises: plain questions about an error, answered in one place; what is none of these ends
a round and nothing more.
Elsewhere: what is done about it (`reflector`).
"""

from __future__ import annotations

from typing import final

from kubeloop.errors import (
    Cause,
    DecodeError,
    Gone,
    InternalError,
    KubeError,
    Timeout,
    find_api_error,
    has_cause,
    is_api_error,
)
from kubeloop.kit import Clock
from kubeloop.meta import is_newer, is_valid_version

__all__ = [
    "InternalErrorWindow",
    "UnreadableEvent",
    "VersionWentBack",
    "VeryShortWatch",
    "WatchListInconsistent",
    "is_expired",
    "is_older",
    "is_too_large",
    "needs_newest",
]

_TOO_LARGE = "Too large resource version"  # what servers before 1.19 say instead of a cause
_QUIET = 60.0  # seconds without internal errors, after which the patience begins anew


@final
class VeryShortWatch(KubeError):
    """A watch ended at once and brought nothing."""


@final
class VersionWentBack(KubeError):
    """The server is at an older version than it was: it has lost, or been given, a history."""


@final
class UnreadableEvent(DecodeError):
    """An event's object cannot be read: a new list tells what it should have told."""


@final
class WatchListInconsistent(KubeError):
    """The state that was streamed is not the one that a list of the same version has."""


def is_expired(error: BaseException) -> bool:
    """Whether a version or a page token is too old for the server."""
    return is_api_error(error, Gone)


def is_too_large(error: BaseException) -> bool:
    """Whether the server has not yet come as far as the version asked for."""
    if has_cause(error, Cause.RESOURCE_VERSION_TOO_LARGE):
        return True
    found = find_api_error(error)
    if not isinstance(found, Timeout):
        return False
    said = [found.status.message, *(cause.message for cause in found.causes)]
    return any(_TOO_LARGE in (text or "") for text in said)


def needs_newest(error: BaseException) -> bool:
    """Whether the version we know is of no use: only the newest state will do."""
    return is_expired(error) or is_too_large(error)


def is_older(version: str, than: str) -> bool:
    """Whether a version is certainly older; what does not compare is not."""
    return is_valid_version(version) and is_valid_version(than) and is_newer(than, than=version)


@final
class InternalErrorWindow:
    """For how long a watch that ends with an internal error is begun again at once.

    The window opens with the first one and closes `patience` later; after a minute without
    any it may open again.
    """

    def __init__(self, patience: float, clock: Clock) -> None:
        self._patience = patience
        self._clock = clock
        self._first = self._last = float("-inf")

    def allows(self, error: BaseException) -> bool:
        """Note an error; whether to try again at once."""
        if not is_api_error(error, InternalError):
            return False
        now = self._clock.now()
        if now - self._last >= _QUIET:
            self._first = now
        self._last = now
        return now - self._first < self._patience
