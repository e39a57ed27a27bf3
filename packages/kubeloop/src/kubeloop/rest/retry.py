"""Whether a request is retried, after which delay, and how many requests a call may send.

Guarantees: pure. A response with 429 or 5xx and `Retry-After` in seconds is retried for any
method: the server has not executed the request. The delay is at least `SHORTEST_RETRY_AFTER`; a
response with more than `LONGEST_RETRY_AFTER` is returned to the caller. A failure of
the transport is retried only if that is safe: for a GET, and for opening a watch. Retries,
redirects and requests with refreshed credentials have one budget.
See also: `attempts` (the loop), `transport` (redirects), `kubeloop.clients` (retries on conflict).
"""

from __future__ import annotations

import os
import random as chance
from collections import deque
from collections.abc import Mapping
from enum import Enum
from typing import final

from kubeloop.errors import StreamBroken, TimeoutExceeded, TransportError
from kubeloop.kit import Random

__all__ = [
    "LONGEST_RETRY_AFTER",
    "MAX_REDIRECTS",
    "MAX_RETRIES",
    "SHORTEST_RETRY_AFTER",
    "TRANSPORT_DELAY",
    "Call",
    "RequestBudget",
    "RequestSpacing",
    "UrlBackoff",
    "delay_after_failure",
    "delay_after_response",
    "retry_after_of",
]

MAX_RETRIES = 10
# More than one is a mistake of a server or a proxy.
MAX_REDIRECTS = 4
# With `Retry-After: 0` all clients would retry at once, and again at once.
SHORTEST_RETRY_AFTER = 1.0
_AT_ONCE = 3  # a request, a redirect, and the request with refreshed credentials
_ROUNDING = 1e-6  # seconds that are no more than the error of a sum
# A server or proxy that sends more must not delay a watch for a day.
LONGEST_RETRY_AFTER = 300.0
# A missing response has no `Retry-After`.
TRANSPORT_DELAY = 1.0


class Call(Enum):
    """Which method of `RESTClient` sends a request."""

    SEND = "send"
    WATCH = "watch"
    STREAM = "stream"


@final
class RequestBudget:
    """The requests that one call may send: attempts, redirects, and those after a 401.

    Only the first of them follow each other at once: whatever a server responds, it gets at most
    five requests of a call within two seconds.
    """

    __slots__ = ("_limit", "_max_retries", "retries", "sent")

    def __init__(self, max_retries: int) -> None:
        self._max_retries = max_retries
        # A call without retries may be redirected, and refresh its credentials.
        self._limit = max(max_retries, MAX_REDIRECTS) + 1
        self.sent = 0
        self.retries = 0

    @property
    def left(self) -> int:
        return max(self._limit - self.sent, 0)  # a hook may send more

    @property
    def retries_left(self) -> int:
        return min(self._max_retries - self.retries, self.left)

    @property
    def delay(self) -> float:
        """The seconds before a redirect is followed, or refreshed credentials are sent."""
        return 0.0 if self.sent < _AT_ONCE else SHORTEST_RETRY_AFTER


@final
class RequestSpacing:
    """At most `burst` requests begin within `window` seconds, of all calls that share it.

    For a caller that repeats calls itself: redirects and refreshed credentials count as well,
    which only the transport knows.
    """

    def __init__(self, *, burst: int = 5, window: float = 2.0) -> None:
        self._window = window
        self._begins: deque[float] = deque(maxlen=burst)

    def delay(self, now: float) -> float:
        """The seconds until one more request may begin."""
        if len(self._begins) < (self._begins.maxlen or 0):
            return 0.0
        wait = self._begins[0] + self._window - now
        return wait if wait > _ROUNDING else 0.0

    def begin(self, now: float) -> None:
        """Record that a request begins."""
        self._begins.append(now)


def delay_after_response(
    status: int, retry_after: int | None, *, left: int, random: Random = chance.random
) -> float | None:
    """The seconds before the retry; None for no retry.

    `left` is the number of retries left. A `Retry-After` of zero is a second, with jitter.
    """
    if left <= 0 or retry_after is None or not (status == 429 or status >= 500):
        return None
    if retry_after > LONGEST_RETRY_AFTER:
        return None
    return float(retry_after) or SHORTEST_RETRY_AFTER * (1 + random())


def delay_after_failure(
    failure: TransportError, *, call: Call, method: str, left: int
) -> float | None:
    """The seconds before the retry; None for no retry.

    A failure to connect is never retried here: the caller decides how long to try.
    """
    return TRANSPORT_DELAY if left > 0 and is_retryable(failure, call=call, method=method) else None


def is_retryable(failure: TransportError, *, call: Call, method: str) -> bool:
    """Whether another attempt is safe and may succeed."""
    match call:
        case Call.SEND:
            return method == "GET" and isinstance(failure, StreamBroken)
        case Call.WATCH:
            return isinstance(failure, StreamBroken | TimeoutExceeded)
        case Call.STREAM:
            return False


def retry_after_of(header: str | None) -> int | None:
    """The seconds in a `Retry-After` header; None for a date, as in client-go."""
    if not header:
        return None
    text = header.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


@final
class UrlBackoff:
    """Growing delays of one request while its server is overloaded (client-go: `URLBackoff`).

    Off unless the environment sets both of its variables, to whole seconds.
    """

    def __init__(self, base: float, longest: float) -> None:
        self._base = base
        self._longest = longest
        self._delay = 0.0

    @classmethod
    def from_environ(cls, environ: Mapping[str, str] | None = None) -> UrlBackoff | None:
        variables = os.environ if environ is None else environ
        try:
            base = int(variables["KUBE_CLIENT_BACKOFF_BASE"])
            longest = int(variables["KUBE_CLIENT_BACKOFF_DURATION"])
        except (KeyError, ValueError):
            return None
        return cls(base, longest)

    @property
    def delay(self) -> float:
        """The seconds to wait before the next attempt."""
        return self._delay

    def fresh(self) -> UrlBackoff:
        """The same settings for another request."""
        return UrlBackoff(self._base, self._longest)

    def record(self, status: int) -> None:
        """Record the status of an attempt; zero if there was no response."""
        if status == 429 or status > 499:
            self._delay = min(self._delay * 2 or self._base, self._longest)
        else:
            self._delay = 0.0
