"""One call and its attempts: send, decide, back off, send again.

Guarantees: `retry` decides about every retry; every wait uses the clock; each attempt is
counted, also one that fails.
See also: `transport` (single attempts), `client` (what the response means).
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
from .incoming import IncomingResponse, sooner
from .limits import InFlightSlot, RequestRateLimiter
from .liveness import PROBE_PATH
from .metrics import NO_RESPONSE, RequestMetrics
from .request import Request, path_request
from .retry import Call, UrlBackoff, delay_after_failure, delay_after_response, retry_after_of
from .timeouts import Timeouts
from .transport import PreparedRequest, Transport

__all__ = ["AttemptStats", "Attempts"]

log = get_logger(__name__)

_PROBE = path_request("GET", PROBE_PATH)


class AttemptStats(msgspec.Struct, frozen=True):
    """The attempts so far."""

    attempts: int  # retries included
    retries: int
    failures: int  # attempts without a response


@final
class Attempts:
    """Sends requests with retries, and returns the head of the last response."""

    def __init__(
        self,
        transport: Transport,
        *,
        clock: Clock,
        codec: Codec,
        timeouts: Timeouts,
        max_retries: int,
        timeout: float = 0.0,
        rate_limiter: RequestRateLimiter | None = None,
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
        self._timeout = timeout  # sent to the server if the request has none
        self._rate_limiter = rate_limiter
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

    async def wait_for_rate_limiter(self, request: Request, deadline: float | None = None) -> None:
        """Wait until the rate limiter, if there is one, admits the request."""
        if self._rate_limiter is None:
            return
        waited = await self._rate_limiter.wait(request.action, deadline=deadline)
        if self._metrics is not None:
            self._metrics.observe_rate_limiter(
                verb=request.method, host=self._transport.host, seconds=waited
            )

    async def open(
        self,
        request: Request,
        call: Call,
        deadline: float | None,
        *,
        slot: InFlightSlot | None = None,
    ) -> IncomingResponse:
        """Return the head of the last response, whatever its status.

        `slot` is released between two attempts. Safe to cancel: the connection is closed; the
        server may have executed the request.

        Raises:
            TransportError: there was no response.
        """
        given = request.max_retries
        left = self._max_retries if given is None else max(given, 0)
        backoff = self._backoff.fresh() if self._backoff else None
        url = self.url(request)
        # Bounds the retries of attempts that time out: ten of them would take 13 minutes.
        seconds = (request.timeouts or self._timeouts).response
        give_up = None if seconds is None else self._clock.now() + seconds
        first, before = True, ""
        while True:
            try:
                incoming = await self._attempt(request, url, deadline, first=first)
            except TransportError as error:
                wait = delay_after_failure(error, call=call, method=request.method, left=left)
                last = give_up if isinstance(error, TimeoutExceeded) else None
                if wait is None or _is_too_late(self._clock, wait, sooner(deadline, last)):
                    raise _with_earlier_failure(error, before) from error.__cause__
                before = error.summary
                status = 0
            else:
                status = incoming.status
                if status < 300:
                    return incoming
                incoming.before = before
                wait = delay_after_response(
                    status,
                    retry_after_of(incoming.headers.get("Retry-After")),
                    left=left,
                    random=self._random,
                )
                if wait is None or _is_too_late(self._clock, wait, deadline):
                    return incoming
                before = ""  # the next response says at least as much
                await incoming.discard()
            if backoff is not None:
                backoff.record(status)
                wait = max(wait, backoff.delay)
            left -= 1
            first = False
            self._retries += 1
            if slot is not None:
                await slot.release()
            await self._clock.sleep(wait)
            await self.wait_for_rate_limiter(request, deadline)
            if slot is not None:
                await slot.acquire()

    async def probe(self) -> None:
        """Send a probe: no in-flight slot, rate limiter, metrics or backoff.

        Returns when there is any response. Safe to cancel: the connection is closed.

        Raises:
            ConfigError: there is no usable certificate.
            TransportError: there was no response.
        """
        prepared = PreparedRequest(_PROBE, self.url(_PROBE), "*/*", "", self._timeouts, within=None)
        try:
            await self._transport.probe(prepared)
        except StreamBroken:
            # The server may close an idle connection at the moment at which it is reused.
            await self._transport.probe(prepared)

    async def _attempt(
        self, request: Request, url: str, deadline: float | None, *, first: bool
    ) -> IncomingResponse:
        timeouts = request.timeouts or self._timeouts
        self._requests += 1
        began = self._clock.now()
        code = NO_RESPONSE
        try:
            incoming = await self._transport.exchange(
                PreparedRequest(
                    request,
                    url,
                    self._codec.accept,
                    self._codec.content_type,
                    timeouts,
                    timeouts.response,
                    deadline,
                )
            )
            code = str(incoming.status)
        except TransportError:
            self._failures += 1
            raise
        finally:
            if self._metrics is not None:
                self._metrics.count_attempt(
                    code=code, method=request.method, host=self._transport.host, retry=not first
                )
            if log.isEnabledFor(logging.DEBUG):
                seconds = self._clock.now() - began
                log.debug("%s: %s in %.0f ms", request.action, code, seconds * 1000)
        return incoming


def _is_too_late(clock: Clock, wait: float, deadline: float | None) -> bool:
    """Whether the call ends before the next attempt: then this result says more."""
    return deadline is not None and clock.now() + wait >= deadline


def _with_earlier_failure(error: TransportError, before: str) -> TransportError:
    """The error with the failure of an earlier attempt, if that was another one."""
    if not before or before == error.summary:
        return error
    combined = type(error)(f"{error.summary} (before that: {before})")
    return combined.with_hint(error.hint, python=error.python_hint)
