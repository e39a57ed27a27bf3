"""Standing as a candidate where the control plane chooses the leader.

Promises: the candidate's object is there and fresh: made when it is missing, renewed every
five minutes, and at once when the control plane asks for a sign of life; failures are tried
again, sooner at first and later and later.
Elsewhere: leading once the lease names us (`elector`, with `coordinated=True`).
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
    "RENEW_EVERY",
    "Candidacy",
    "CandidateChange",
    "CandidateStats",
    "CandidateStore",
]

log = get_logger(__name__)

RENEW_EVERY: Final = 300.0
"""Seconds between two renewals that nobody asked for."""

# The limits of a controller's queue: 5 ms doubling to 1000 s, and ten a second in all.
_DELAYS: Final = Backoff(duration=0.005, factor=2.0, steps=64, cap=1000.0)
_RATE: Final = 10.0
_BURST: Final = 100


class CandidateChange(Protocol):
    """One change that a watch reports."""

    @property
    def type(self) -> str: ...
    @property
    def object(self) -> LeaseCandidate: ...


class CandidateStore(Protocol):
    """What a candidacy asks of a client for lease candidates in one namespace."""

    async def get(self, name: str, /) -> LeaseCandidate: ...
    async def create(self, candidate: LeaseCandidate, /) -> LeaseCandidate: ...
    async def update(self, candidate: LeaseCandidate, /) -> LeaseCandidate: ...
    def watch(self, *, field_selector: str) -> AsyncGenerator[CandidateChange, None]: ...


class CandidateStats(msgspec.Struct, frozen=True):
    """What a candidacy has done."""

    renewals: int
    failures: int  # in a row
    last_error: str


@final
class Candidacy:
    """Keeps one candidate's object fresh while `run()` runs (client-go: `LeaseCandidate`).

    Raises:
        InvalidArgument: no name or no lease.
    """

    def __init__(
        self,
        store: CandidateStore,
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
        self._store = store
        self._name = name
        self._spec = LeaseCandidateSpec(
            lease_name=lease,
            binary_version=binary_version,
            emulation_version=emulation_version or None,
            strategy=strategy,
        )
        self._clock: Clock = clock or SystemClock()
        self._asked = asyncio.Event()
        self._watch_delays = _DELAYS.delays()
        self._renewals = 0
        self._failures = 0
        self._last_error = ""

    async def run(self) -> None:
        """Be a candidate until cancelled; the object is left behind for the server to expire."""
        async with TaskOwner() as tasks:
            tasks.spawn(self._listen(), name=f"{self} pings")
            await self._keep_fresh()

    def stats(self) -> CandidateStats:
        return CandidateStats(self._renewals, self._failures, self._last_error)

    async def _keep_fresh(self) -> None:
        delays = _DELAYS.delays()
        bucket = TokenBucket(_RATE, _BURST, clock=self._clock)
        while True:
            self._asked.clear()
            if await self._succeeds(self._renew_once):
                delays.reset()
                await self._wait(RENEW_EVERY)
            else:
                await self._clock.sleep(max(delays.next(), bucket.reserve()))

    async def _renew_once(self) -> None:
        spec = copy.deepcopy(self._spec)
        spec.renew_time = MicroTime.of(self._clock.time())
        try:
            known = await self._store.get(self._name)
        except NotFound:
            metadata = ObjectMeta(name=self._name)
            await self._store.create(LeaseCandidate(metadata=metadata, spec=spec))
        else:
            spec.ping_time = known.spec.ping_time
            known.spec = spec
            await self._store.update(known)
        self._renewals += 1

    async def _listen(self) -> None:
        while True:
            await self._succeeds(self._follow)
            # Short after news, longer each time the watch ends without any.
            await self._clock.sleep(self._watch_delays.next())

    async def _follow(self) -> None:
        changes = self._store.watch(field_selector=f"metadata.name={self._name}")
        async with aclosing(changes):
            async for change in changes:
                self._watch_delays.reset()
                if change.type == "DELETED" or _is_asked(change.object.spec):
                    self._asked.set()

    async def _succeeds(self, step: Callable[[], Awaitable[None]]) -> bool:
        try:
            await step()
        except Exception as error:  # noqa: BLE001 - the store is not ours; tried again
            self._failures += 1
            self._last_error = str(error) or type(error).__name__
            log.info("%s: failed, to be tried again: %s", self, self._last_error)
            return False
        self._failures = 0
        return True

    async def _wait(self, seconds: float) -> None:
        try:
            async with self._clock.timeout(seconds):
                await self._asked.wait()
        except TimeoutError:
            pass

    def __repr__(self) -> str:
        return f"candidate {self._name} for {self._spec.lease_name}"


def _is_asked(spec: LeaseCandidateSpec) -> bool:
    if spec.ping_time is None:
        return False
    return spec.renew_time is None or spec.ping_time > spec.renew_time
