"""Whether a request is sent again, and when: the decision, without the waiting.

Promises: pure. An answer is retried when it is 429 or 5xx and says `Retry-After` in
seconds, whatever the method: the server has not done what was asked. A failure on the
way is retried only where repeating cannot do harm: reading, and opening a watch.
Elsewhere: the loop that asks (`client`), retries on conflict (`kubeloop.clients`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import Enum
from typing import final

from kubeloop.machinery import StreamBroken, TimeoutExceeded, TransportError

__all__ = [
    "MAX_RETRIES",
    "TRANSPORT_DELAY",
    "Call",
    "UrlBackoff",
    "retry_after_of",
    "wait_after_answer",
    "wait_after_failure",
]

MAX_RETRIES = 10
# An answer that never came names no delay.
TRANSPORT_DELAY = 1.0


class Call(Enum):
    """What kind of call a request is part of."""

    SEND = "send"
    WATCH = "watch"
    STREAM = "stream"


def wait_after_answer(status: int, retry_after: int | None, *, left: int) -> float | None:
    """The seconds to wait after this answer; None when it is the last word.

    `left` says how many retries there still are.
    """
    if left <= 0 or retry_after is None or not (status == 429 or status >= 500):
        return None
    return float(retry_after)


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
