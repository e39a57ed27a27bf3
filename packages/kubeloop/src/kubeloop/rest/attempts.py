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
from kubeloop.kit import Clock, ConcurrencyLimit, Random
from kubeloop.wire import get_logger

from .codec import Codec
from .incoming import IncomingResponse, sooner
from .limits import RequestRateLimiter, acquire_slot
from .liveness import PROBE_PATH
from .metrics import NO_RESPONSE, RequestMetrics
from .request import Request, path_request
from .retry import (
    Call,
    RequestBudget,
    UrlBackoff,
    delay_after_failure,
    delay_after_response,
    retry_after_of,
)
from .timeouts import Timeouts
from .transport import Transport

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
        rate_limiter: RequestRateLimiter | None = None,
        backoff: UrlBackoff | None = None,
        metrics: RequestMetrics | None = None,
        random: Random = chance.random,
    ) -> None:
        self._transport = transport
        self._exchange = transport.exchange_with_hooks if transport.hooks else transport.exchange
        self._clock = clock
        self._codec = codec
        self._timeouts = timeouts
        self._max_retries = max(max_retries, 0)
        self._rate_limiter = rate_limiter
        self._backoff = backoff
        self._metrics = metrics
        self._random = random
        self._requests = 0
        self._retries = 0
        self._failures = 0

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
        began: float,
        gate: ConcurrencyLimit | None = None,
    ) -> IncomingResponse:
        """Return the head of the last response, whatever its status.

        `began` is the current time on the clock. With `gate` each attempt holds an in-flight
        slot, which the caller releases after the last one; none is held when an error is raised.
        Safe to cancel: the connection is closed; the server may have executed the request.

        Raises:
            InFlightTimeout: no in-flight slot became free in time.
            TransportError: there was no response.
        """
        clock = self._clock
        timeouts = request.timeouts or self._timeouts
        within = timeouts.response
        budget = RequestBudget(
            self._max_retries if request.max_retries is None else request.max_retries
        )
        backoff = self._backoff.fresh() if self._backoff else None
        started, before = began, ""
        while True:
            if gate is not None and not gate.try_acquire():
                await acquire_slot(
                    gate, request, clock=clock, within=timeouts.slot, deadline=deadline
                )
                began = clock.now()
            self._requests += 1
            status, keeps_slot = 0, False
            try:
                until = deadline
                if within is not None and (deadline is None or began + within < deadline):
                    until = began + within
                incoming = await self._exchange(
                    request, self._codec, timeouts, began, until, budget=budget
                )
                status = incoming.status
                if status < 300:
                    keeps_slot = True
                    return incoming
                incoming.before = before
                wait = self._delay_after(incoming, budget.retries_left)
                if wait is None or _is_too_late(clock, wait, deadline):
                    keeps_slot = True
                    return incoming
                before = ""  # the next response says at least as much
                await incoming.discard()
            except TransportError as error:
                self._failures += 1
                left = budget.retries_left
                wait = delay_after_failure(error, call=call, method=request.method, left=left)
                # Bounds the retries of attempts that time out: ten would take 13 minutes.
                is_late = within is not None and isinstance(error, TimeoutExceeded)
                last = started + (within or 0.0) if is_late else None
                if wait is None or _is_too_late(clock, wait, sooner(deadline, last)):
                    raise _with_earlier_failure(error, before) from error.__cause__
                before = error.summary
            finally:
                if gate is not None and not keeps_slot:
                    gate.release()
                if self._metrics is not None or log.isEnabledFor(logging.DEBUG):
                    self._record(request, status, began, is_retry=budget.retries > 0)
            if backoff is not None:
                backoff.record(status)
                wait = max(wait, backoff.delay)
            budget.retries += 1
            self._retries += 1
            await clock.sleep(wait)
            await self.wait_for_rate_limiter(request, deadline)
            began = clock.now()

    def _delay_after(self, incoming: IncomingResponse, left: int) -> float | None:
        return delay_after_response(
            incoming.status,
            retry_after_of(incoming.headers.get("Retry-After")),
            left=left,
            random=self._random,
        )

    def _record(self, request: Request, status: int, began: float, *, is_retry: bool) -> None:
        """Report an attempt; a status of 0 is no response."""
        code = str(status) if status else NO_RESPONSE
        if self._metrics is not None:
            host = self._transport.host
            self._metrics.count_attempt(code=code, method=request.method, host=host, retry=is_retry)
        if log.isEnabledFor(logging.DEBUG):
            seconds = self._clock.now() - began
            log.debug("%s: %s in %.0f ms", request.action, code, seconds * 1000)

    async def probe(self) -> None:
        """Send a probe: no in-flight slot, rate limiter, metrics, hooks or backoff.

        Returns when there is any response. Safe to cancel: the connection is closed.

        Raises:
            ConfigError: there is no usable certificate.
            TransportError: there was no response.
        """
        try:
            await self._transport.probe(_PROBE, self._timeouts)
        except StreamBroken:
            # The server may close an idle connection at the moment at which it is reused.
            await self._transport.probe(_PROBE, self._timeouts)


def _is_too_late(clock: Clock, wait: float, deadline: float | None) -> bool:
    """Whether the call ends before the next attempt: then this result says more."""
    return deadline is not None and clock.now() + wait >= deadline


def _with_earlier_failure(error: TransportError, before: str) -> TransportError:
    """The error with the failure of an earlier attempt, if that was another one."""
    if not before or before == error.summary:
        return error
    combined = type(error)(f"{error.summary} (before that: {before})")
    return combined.with_hint(error.hint, python=error.python_hint)
