"""Detects that the server of a silent watch is gone (client-go: HTTP/2 pings, TRN-10).

HTTP/1.1 has no ping inside a response. So when a watch has received nothing for a while, the
client sends a small request beside it: the probe. The kernel's keep-alive finds a machine that
is gone; a probe also finds a process that no longer runs on a machine that still does, such as
a stopped proxy or load balancer.

Guarantees: any HTTP response, whatever its code, shows that the server is alive. A watch ends
only if a probe got no response, or no connection. A probe that says nothing about the server
changes nothing. All silent watches of a client share one probe; none is sent, and no task
runs, while no watch is silent. `SilenceLimits` is pure: the time is passed in.
See also: `watch` (waits for bytes), `attempts` (what is sent), `connections` (keep-alive).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TypeAlias, final

import msgspec

from kubeloop.errors import KubeError, TimeoutExceeded, TransportError
from kubeloop.kit import Clock, cancel_and_wait
from kubeloop.wire import get_logger

from .failures import is_unreachable

__all__ = ["PROBE_PATH", "PROBE_WITHIN", "ServerProbe", "SilenceLimits", "Wait"]

log = get_logger(__name__)

# Every user may read it (system:public-info-viewer), and an overloaded kube-apiserver responds
# to it at once: its flow schema "probes" is exempt. `/version` would be queued.
PROBE_PATH = "/livez"
PROBE_WITHIN = 15.0
# After the timeout, the event loop gets a little real time to read what has arrived: if the
# process was suspended or a manual clock was moved, the timer is due before the socket is
# polled. In steps, so that a process that is suspended again loses only one of them.
CATCH_UP_STEPS = 20
CATCH_UP_STEP = 0.01

OnLost: TypeAlias = Callable[[TransportError], None]


class Wait(msgspec.Struct, frozen=True, gc=False):
    """How long to wait for bytes; None is without a bound."""

    seconds: float | None
    is_last: bool  # the stream ends then


class SilenceLimits(msgspec.Struct, frozen=True, gc=False):
    """What to do about a stream that receives nothing, and when. None is never.

    probe_after: the server is probed each time after so many seconds of silence.
    idle: the stream ends after so many seconds of silence, whatever probes say.
    """

    probe_after: float | None
    idle: float | None

    def first_wait(self) -> Wait:
        """How long to wait for bytes after bytes have arrived."""
        return self.next_wait(0.0, since=0.0, probed=0.0)

    def needs_probe(self, now: float, *, probed: float | None) -> bool:
        """Whether a stream that has been silent for `probe_after` needs a new probe.

        `probed` is when the last successful probe was sent, for any stream. The next one is due
        `probe_after` later, so that it detects a server that died since then as early as a
        separate probe would.
        """
        if probed is None or self.probe_after is None:
            return True
        # A timer may be early by a little; then it is due as well.
        return now - probed >= 0.99 * self.probe_after

    def next_wait(self, now: float, *, since: float, probed: float) -> Wait:
        """How long to wait for bytes on a stream that is silent since `since`.

        `probed` is when the probe was sent that it relies on.
        """
        rest = None if self.idle is None else since + self.idle - now
        until_probe = None if self.probe_after is None else probed + self.probe_after - now
        if until_probe is None or (rest is not None and rest <= until_probe):
            return Wait(rest, is_last=True)
        return Wait(until_probe, is_last=False)


@final
class ServerProbe:
    """Probes the server for the silent watches of one client.

    `send` sends a probe and returns when there is a response, or raises `TransportError`.
    """

    def __init__(
        self, send: Callable[[], Coroutine[object, object, None]], *, clock: Clock
    ) -> None:
        self._send = send
        self._clock = clock
        self._listeners: dict[OnLost, None] = {}  # of watches that wait for the probe, in order
        self._current: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()  # the current one, and cancelled ones
        self._sent = 0.0  # when the current probe was
        self._succeeded: float | None = None  # when the last successful probe was sent
        self._is_closed = False
        self.probes = 0

    def join(self, on_lost: OnLost, limits: SilenceLimits) -> float:
        """Probe the server, unless a probe is running or has succeeded lately.

        Returns when the probe that counts was sent. `on_lost` is called if it fails.
        """
        now = self._clock.now()
        if self._current is None or self._current.done():
            if self._succeeded is not None and not limits.needs_probe(now, probed=self._succeeded):
                return self._succeeded
            if self._is_closed:
                return now
            self._sent = now
            self._current = asyncio.create_task(self._run(), name="probe of a silent server")
            self._tasks.add(self._current)
            self._current.add_done_callback(self._tasks.discard)
        self._listeners[on_lost] = None
        # A probe that is overdue is about to fail: wait as long as after a new one.
        return now if limits.needs_probe(now, probed=self._sent) else self._sent

    def leave(self, on_lost: OnLost) -> None:
        """The watch has received something, or has ended."""
        if on_lost not in self._listeners:
            return
        del self._listeners[on_lost]
        if not self._listeners and self._current is not None:
            self._current.cancel()
            self._current = None

    async def aclose(self) -> None:
        """Cancel a running probe. Safe to repeat."""
        self._is_closed = True
        self._listeners.clear()
        self._current = None
        for task in list(self._tasks):
            await cancel_and_wait(task)

    async def _run(self) -> None:
        failure = await self._failure()
        listeners, self._listeners = self._listeners, {}
        if failure is not None:
            self._succeeded = None
            for on_lost in listeners:
                on_lost(failure)

    async def _failure(self) -> TransportError | None:
        """Probe; returns the error if it shows that the server is gone."""
        self.probes += 1
        sending = asyncio.create_task(self._send(), name="request of a probe")
        try:
            if not await self._is_done_in_time(sending):
                return TimeoutExceeded(
                    f"the server did not respond to a probe within {PROBE_WITHIN:g} s"
                    " (is the server, or a proxy in front of it, stopped or overloaded?)"
                )
            error = sending.exception()
        finally:
            if not sending.done():
                await cancel_and_wait(sending)
        if error is None:
            self._succeeded = self._sent
        elif isinstance(error, TransportError) and is_unreachable(error):
            return type(error)(f"a probe of the server failed: {error.summary}")
        elif isinstance(error, KubeError):
            log.debug("a probe of the server says nothing about it: %s", error)
        else:
            log.error("a probe of the server failed unexpectedly", exc_info=error)
        return None

    async def _is_done_in_time(self, sending: asyncio.Task[None]) -> bool:
        try:
            async with self._clock.timeout(PROBE_WITHIN):
                await asyncio.wait([sending])
        except TimeoutError:
            for _ in range(CATCH_UP_STEPS):
                if sending.done():
                    break
                await asyncio.wait([sending], timeout=CATCH_UP_STEP)
        return sending.done()
