"""A candidate of a coordinated election, in which the control plane chooses the leader.

Guarantees: the candidate's `LeaseCandidate` object exists and is current: it is created when
it is missing, and renewed every five minutes, or at once when the control plane pings it.
Failures are retried with growing delays.
See also: `elector` (leading, with `coordinated=True`).
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Final, Protocol, final

import msgspec

from kubeloop.errors import InvalidArgument, NotFound
from kubeloop.kit import Backoff, Clock, SystemClock, TaskOwner, TokenBucket
from kubeloop.wire import MicroTime, get_logger
from kubeloop.wire.coordination.v1beta1 import LeaseCandidate, LeaseCandidateSpec
from kubeloop.wire.meta.v1 import ObjectMeta

__all__ = [
    "RENEW_INTERVAL",
    "Candidate",
    "CandidateStats",
    "LeaseCandidateClient",
    "LeaseCandidateEvent",
]

log = get_logger(__name__)

RENEW_INTERVAL: Final = 300.0
"""Seconds between two renewals without a ping."""

# client-go renews through a work queue with its default limiter: 5 ms doubling up to 1000 s,
# and ten a second after a burst of 100.
_DELAYS: Final = Backoff(duration=0.005, factor=2.0, steps=64, cap=1000.0)
_RATE: Final = 10.0
_BURST: Final = 100


class LeaseCandidateEvent(Protocol):
    """One event of a watch."""

    @property
    def type(self) -> str: ...
    @property
    def object(self) -> LeaseCandidate: ...


class LeaseCandidateClient(Protocol):
    """The lease candidates of one namespace; `client.resource(LeaseCandidate)` fits."""

    async def get(self, name: str, /) -> LeaseCandidate: ...
    async def create(self, candidate: LeaseCandidate, /) -> LeaseCandidate: ...
    async def update(self, candidate: LeaseCandidate, /) -> LeaseCandidate: ...
    def watch(self, *, field_selector: str) -> AsyncGenerator[LeaseCandidateEvent, None]: ...


class CandidateStats(msgspec.Struct, frozen=True):
    """A snapshot of the counters of a candidate."""

    renewals: int
    failures: int  # in a row
    last_error: str


@final
class Candidate:
    """Keeps one `LeaseCandidate` object current while `run()` runs.

    (client-go: `leaderelection.LeaseCandidate`, which `NewCandidate` creates.)

    Raises:
        InvalidArgument: the name or the lease is empty.
    """

    def __init__(
        self,
        candidates: LeaseCandidateClient,
        name: str,
        *,
        lease: str,
        binary_version: str,
        emulation_version: str = "",
        strategy: str = "OldestEmulationVersion",
        clock: Clock | None = None,
    ) -> None:
        if not name or not lease:
            raise InvalidArgument(f"candidate {name!r} for lease {lease!r}: both need a name")
        self._candidates = candidates
        self._name = name
        self._spec = LeaseCandidateSpec(
            lease_name=lease,
            binary_version=binary_version,
            emulation_version=emulation_version or None,
            strategy=strategy,
        )
        self._clock: Clock = clock or SystemClock()
        self._pinged = asyncio.Event()
        self._watch_delays = _DELAYS.delays()
        self._renewals = 0
        self._failures = 0
        self._last_error = ""

    async def run(self) -> None:
        """Be a candidate until cancelled; the server expires the object that is left."""
        async with TaskOwner() as tasks:
            tasks.spawn(self._watch_pings(), name=f"{self} pings")
            await self._renew_forever()

    def stats(self) -> CandidateStats:
        return CandidateStats(self._renewals, self._failures, self._last_error)

    async def _renew_forever(self) -> None:
        delays = _DELAYS.delays()
        bucket = TokenBucket(_RATE, _BURST, clock=self._clock)
        while True:
            self._pinged.clear()
            if await self._try(self._renew):
                delays.reset()
                await self._wait_for_ping(RENEW_INTERVAL)
            else:
                await self._clock.sleep(max(delays.next(), bucket.reserve()))

    async def _renew(self) -> None:
        spec = copy.deepcopy(self._spec)
        spec.renew_time = MicroTime.of(self._clock.time())
        try:
            current = await self._candidates.get(self._name)
        except NotFound:
            metadata = ObjectMeta(name=self._name)
            await self._candidates.create(LeaseCandidate(metadata=metadata, spec=spec))
        else:
            spec.ping_time = current.spec.ping_time
            current.spec = spec
            await self._candidates.update(current)
        self._renewals += 1

    async def _watch_pings(self) -> None:
        while True:
            await self._try(self._watch_once)
            # Short after an event, longer each time the watch ends without one.
            await self._clock.sleep(self._watch_delays.next())

    async def _watch_once(self) -> None:
        events = self._candidates.watch(field_selector=f"metadata.name={self._name}")
        async with aclosing(events):
            async for event in events:
                self._watch_delays.reset()
                if event.type == "DELETED" or _is_pinged(event.object.spec):
                    self._pinged.set()

    async def _try(self, step: Callable[[], Awaitable[None]]) -> bool:
        try:
            await step()
        except Exception as error:  # noqa: BLE001 - of any client; retried
            self._failures += 1
            self._last_error = str(error) or type(error).__name__
            log.info("%s: attempt failed, will retry: %s", self, self._last_error)
            return False
        self._failures = 0
        return True

    async def _wait_for_ping(self, seconds: float) -> None:
        try:
            async with self._clock.timeout(seconds):
                await self._pinged.wait()
        except TimeoutError:
            pass

    def __repr__(self) -> str:
        return f"candidate {self._name} for {self._spec.lease_name}"


def _is_pinged(spec: LeaseCandidateSpec) -> bool:
    if spec.ping_time is None:
        return False
    return spec.renew_time is None or spec.ping_time > spec.renew_time
