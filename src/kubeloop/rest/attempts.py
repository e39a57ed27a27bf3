"""One call and its attempts: sent, judged, waited for, sent again.

Promises: retries are those of `retry`, no more; every wait is the clock's; each attempt
is counted, whatever became of it.
Elsewhere: single exchanges (`transport`), what the answer means (`client`).
"""

from __future__ import annotations

import logging
import random as chance
from typing import final

import msgspec

from kubeloop.errors import StreamBroken, TimeoutExceeded, TransportError
from kubeloop.kit import Clock, Random
from kubeloop.wire import get_logger

from .codec import Codec
from .incoming import Incoming, sooner
from .limits import Place, Throttle
from .liveness import PROBE_PATH
from .metrics import NO_ANSWER, RequestMetrics
from .request import Request, path_request
from .retry import Call, UrlBackoff, retry_after_of, wait_after_answer, wait_after_failure
from .timeouts import Timeouts
from .transport import Errand, Transport

__all__ = ["AttemptStats", "Attempts"]

log = get_logger(__name__)

_PROBE = path_request("GET", PROBE_PATH)


class AttemptStats(msgspec.Struct, frozen=True):
    """What was tried so far."""

    attempts: int  # the first ones and the others
    retries: int
    failures: int  # attempts without an answer


@final
class Attempts:
    """Gets the head of an answer, in as many attempts as are allowed."""

    def __init__(
        self,
        transport: Transport,
        *,
        clock: Clock,
        codec: Codec,
        timeouts: Timeouts,
        max_retries: int,
        timeout: float = 0.0,
        throttle: Throttle | None = None,
        backoff: UrlBackoff | None = None,
        metrics: RequestMetrics | None = None,
        random: Random = chance.random,
    ) -> None:
        self._transport = transport
        self._base = transport.base_url.rstrip("/")
        self._clock = clock
        self._codec = codec
        self._timeouts = timeouts
        self._max_retries = max(max_retries, 0)
        self._timeout = timeout  # told to the server where a request says nothing
        self._throttle = throttle
        self._backoff = backoff
        self._metrics = metrics
        self._random = random
        self._requests = 0
        self._retries = 0
        self._failures = 0

    def url(self, request: Request) -> str:
        """The whole URL that the request goes to."""
        return request.url(self._base, timeout=self._timeout)

    def stats(self) -> AttemptStats:
        return AttemptStats(attempts=self._requests, retries=self._retries, failures=self._failures)

    async def turn(self, request: Request, deadline: float | None = None) -> None:
        """Wait until the limiter, if there is one, lets the request pass."""
        if self._throttle is None:
            return
        waited = await self._throttle.wait(request.action, deadline=deadline)
        if self._metrics is not None:
            self._metrics.rate_limited(
                verb=request.method, host=self._transport.host, seconds=waited
            )

    async def open(
        self, request: Request, call: Call, deadline: float | None, *, place: Place | None = None
    ) -> Incoming:
        """The head of the last answer, be it yes or no; between attempts `place` is left.

        Safe to cancel: the connection is closed; what was sent may have been done.

        Raises:
            TransportError: there was none.
        """
        given = request.max_retries
        left = self._max_retries if given is None else max(given, 0)
        backoff = self._backoff.fresh() if self._backoff else None
        url = self.url(request)
        # Attempts that time out are repeated only so long: ten of them would be 13 minutes.
        answer = (request.timeouts or self._timeouts).answer
        give_up = None if answer is None else self._clock.now() + answer
        first, before = True, ""
        while True:
            try:
                incoming = await self._attempt(request, url, deadline, first=first)
            except TransportError as error:
                wait = wait_after_failure(error, call=call, method=request.method, left=left)
                last = give_up if isinstance(error, TimeoutExceeded) else None
                if wait is None or _is_too_late(self._clock, wait, sooner(deadline, last)):
                    raise _mentioning(error, before) from error.__cause__
                before = error.summary
                status = 0
            else:
                status = incoming.status
                if status < 300:
                    return incoming
                incoming.before = before
                wait = wait_after_answer(
                    status,
                    retry_after_of(incoming.headers.get("Retry-After")),
                    left=left,
                    random=self._random,
                )
                if wait is None or _is_too_late(self._clock, wait, deadline):
                    return incoming
                before = ""  # the server says the same again, or something better
                await incoming.discard()
            if backoff is not None:
                backoff.note(status)
                wait = max(wait, backoff.delay)
            left -= 1
            first = False
            self._retries += 1
            if place is not None:
                await place.leave()
            await self._clock.sleep(wait)
            await self.turn(request, deadline)
            if place is not None:
                await place.take()

    async def probe(self) -> None:
        """Ask the server for a sign of life: no slot, no limiter, no metrics, no backoff.

        Returns when there is any response. Safe to cancel: the connection is closed.

        Raises:
            ConfigError: there is no usable certificate.
            TransportError: no response came.
        """
        errand = Errand(_PROBE, self.url(_PROBE), "*/*", "", self._timeouts, within=None)
        try:
            await self._transport.probe(errand)
        except StreamBroken:
            # The server may end a kept connection at the moment at which it is used.
            await self._transport.probe(errand)

    async def _attempt(
        self, request: Request, url: str, deadline: float | None, *, first: bool
    ) -> Incoming:
        timeouts = request.timeouts or self._timeouts
        self._requests += 1
        began = self._clock.now()
        code = NO_ANSWER
        try:
            incoming = await self._transport.exchange(
                Errand(
                    request,
                    url,
                    self._codec.accept,
                    self._codec.content_type,
                    timeouts,
                    timeouts.answer,
                    deadline,
                )
            )
            code = str(incoming.status)
        except TransportError:
            self._failures += 1
            raise
        finally:
            if self._metrics is not None:
                self._metrics.attempt(
                    code=code, method=request.method, host=self._transport.host, retry=not first
                )
            if log.isEnabledFor(logging.DEBUG):
                seconds = self._clock.now() - began
                log.debug("%s: %s in %.0f ms", request.action, code, seconds * 1000)
        return incoming


def _is_too_late(clock: Clock, wait: float, deadline: float | None) -> bool:
    """Whether the call would be over before the next attempt: then this answer says more."""
    return deadline is not None and clock.now() + wait >= deadline


def _mentioning(error: TransportError, before: str) -> TransportError:
    """The error with what an earlier attempt came to, where that is something else."""
    if not before or before == error.summary:
        return error
    mentioning = type(error)(f"{error.summary} (before that: {before})")
    return mentioning.with_hint(error.hint, python=error.python_hint)
