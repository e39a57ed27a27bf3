"""Whether a request is sent again, and when: the decision, without the waiting.

Promises: pure. An answer is retried when it is 429 or 5xx and says `Retry-After` in
seconds, whatever the method: the server has not done what was asked. The wait is never
shorter than `SHORTEST_RETRY_AFTER`, and an answer that asks for more than
`LONGEST_RETRY_AFTER` is handed to the caller. A failure on the
way is retried only where repeating cannot do harm: reading, and opening a watch.
Elsewhere: the loop that asks (`client`), retries on conflict (`kubeloop.clients`).
"""

from __future__ import annotations

import os
import random as chance
from collections.abc import Mapping
from enum import Enum
from typing import final

from kubeloop.errors import StreamBroken, TimeoutExceeded, TransportError
from kubeloop.kit import Random

__all__ = [
    "LONGEST_RETRY_AFTER",
    "MAX_RETRIES",
    "SHORTEST_RETRY_AFTER",
    "TRANSPORT_DELAY",
    "Call",
    "UrlBackoff",
    "retry_after_of",
    "wait_after_answer",
    "wait_after_failure",
]

MAX_RETRIES = 10
# `Retry-After: 0` would make a storm of its retries: all clients at once, and again at once.
SHORTEST_RETRY_AFTER = 0.1
# A server or proxy that asks for more must not put a watch to sleep for a day.
LONGEST_RETRY_AFTER = 300.0
# An answer that never came names no delay.
TRANSPORT_DELAY = 1.0


class Call(Enum):
    """What kind of call a request is part of."""

    SEND = "send"
    WATCH = "watch"
    STREAM = "stream"


def wait_after_answer(
    status: int, retry_after: int | None, *, left: int, random: Random = chance.random
) -> float | None:
    """The seconds to wait after this answer; None when it is the last word.

    `left` says how many retries there still are. The shortest waits have jitter.
    """
    if left <= 0 or retry_after is None or not (status == 429 or status >= 500):
        return None
    if retry_after > LONGEST_RETRY_AFTER:
        return None
    return max(float(retry_after), SHORTEST_RETRY_AFTER * (1 + random()))


def wait_after_failure(
    failure: TransportError, *, call: Call, method: str, left: int
) -> float | None:
    """The seconds to wait after this failure; None when it is the last word.

    No connection at all is never retried here: whoever calls knows better for how long.
    """
    return TRANSPORT_DELAY if left > 0 and is_retryable(failure, call=call, method=method) else None


def is_retryable(failure: TransportError, *, call: Call, method: str) -> bool:
    """Whether another attempt can do no harm and may do better."""
    match call:
        case Call.SEND:
            return method == "GET" and isinstance(failure, StreamBroken)
        case Call.WATCH:
            return isinstance(failure, StreamBroken | TimeoutExceeded)
        case Call.STREAM:
            return False


def retry_after_of(header: str | None) -> int | None:
    """The seconds in a `Retry-After` header; a date there counts as nothing."""
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

    def note(self, status: int) -> None:
        """Count an answer; zero stands for none."""
        if status == 429 or status > 499:
            self._delay = min(self._delay * 2 or self._base, self._longest)
        else:
            self._delay = 0.0
