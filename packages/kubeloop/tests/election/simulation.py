"""A simulation of candidates with their own clocks and a faulty network.

Everything runs on one `ManualClock`, the true time. A candidate's clock runs at a rate of
its own; a candidate can be stopped like a process, and then neither its timers nor its
responses reach it. A request that its sender gave up may still arrive.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import final

import msgspec

from kubeloop.election import ElectionTimes, LeaderElector, Leadership, LeadershipLost, Leading
from kubeloop.errors import ApiError, ConnectError, StreamBroken
from kubeloop.kit import ManualClock, Timeout, Timer, cancel_and_wait
from kubeloop.wire.coordination.v1 import Lease
from tests.election.leases import NAME, Server, error_response


@final
class OwnClock:
    """The clock of one process: it runs at `rate`, and sleeps on while the process does."""

    def __init__(self, world: ManualClock, *, rate: float = 1.0, offset: float = 0.0) -> None:
        self._world = world
        self._rate = rate
        self._offset = offset
        self.wall_skew = 0.0
        self.stopped_until = 0.0  # true time

    def now(self) -> float:
        return self._offset + self._world.now() * self._rate

    def time(self) -> datetime:
        return self._world.time() + timedelta(seconds=self.wall_skew)

    async def sleep(self, seconds: float) -> None:
        await self._world.sleep(seconds / self._rate)
        await self.running()

    @asynccontextmanager
    async def timeout(self, seconds: float | None) -> AsyncIterator[Timeout]:
        async with asyncio.timeout(None) as bound:
            watcher = asyncio.create_task(self._expire(bound, seconds))
            try:
                yield bound
            finally:
                await cancel_and_wait(watcher)

    def timer(self, seconds: float, callback: Callable[[], None]) -> Timer:
        return self._world.timer(seconds / self._rate, callback)

    async def running(self) -> None:
        """Wait until the process is not stopped."""
        while self.is_stopped:
            await self._world.sleep(self.stopped_until - self._world.now())

    @property
    def is_stopped(self) -> bool:
        return self.stopped_until - self._world.now() > 1e-9

    async def _expire(self, bound: asyncio.Timeout, seconds: float | None) -> None:
        if seconds is not None:
            await self.sleep(seconds)
            bound.reschedule(0)


class Network(msgspec.Struct):
    """Faults of the network of one candidate."""

    there: float = 0.0  # true seconds on the way to the server
    back: float = 0.0  # true seconds on the way back
    is_cut: bool = False
    loses_responses: bool = False
    refuses: str = ""  # a reason


@final
class Candidate:
    """A process that becomes a candidate again and again, and works while it leads."""

    def __init__(self, world: World, name: str, *, rate: float = 1.0, offset: float = 0.0) -> None:
        self._world = world
        self.name = name
        self.clock = OwnClock(world.clock, rate=rate, offset=offset)
        self.network = Network()
        self.elector = LeaderElector(
            self, NAME, identity=name, times=world.times, clock=self.clock, random=world.random
        )
        self.is_working = False
        self.rest = 0.1  # between two terms
        self._resigns = False

    async def run(self) -> None:
        while True:
            try:
                async with self.elector.leadership() as leadership:
                    await self._work(leadership)
            except LeadershipLost:
                pass
            await self.clock.sleep(self.rest)

    @property
    def is_late(self) -> bool:
        """Whether the work continues although leadership is over, by more than a rounding error."""
        state = self.elector.stats().state
        is_over = not isinstance(state, Leading) or state.until + 1e-5 < self.clock.now()
        return self.is_working and is_over

    def resign(self) -> None:
        """Let the work end by itself at its next step."""
        self._resigns = True

    async def _work(self, leadership: Leadership) -> None:
        self.is_working, self._resigns = True, False
        try:
            while not self._resigns:
                leadership.ensure()
                self._world.check(acting=self)
                await self.clock.sleep(1.5)
        finally:
            self.is_working = False

    # --- a LeaseClient

    async def get(self, name: str, /) -> Lease:
        return await self._send(self._world.server.get)

    async def create(self, lease: Lease, /) -> Lease:
        return await self._send(lambda: self._world.server.create(lease))

    async def update(self, lease: Lease, /) -> Lease:
        return await self._send(lambda: self._world.server.update(lease))

    async def _send(self, act: Callable[[], Lease]) -> Lease:
        network = self.network
        if network.is_cut:
            raise ConnectError("connection refused")
        if network.refuses:
            raise error_response("PUT lease", network.refuses)
        response = await self._world.deliver(act, after=network.there)
        await self._world.clock.sleep(network.back)
        await self.clock.running()
        if network.loses_responses or self.network.is_cut:
            raise StreamBroken("the connection ended inside the response")
        if isinstance(response, ApiError):
            raise response
        return response


@final
class World:
    """The server, the candidates, and the invariant that holds between them."""

    def __init__(self, times: ElectionTimes | None = None) -> None:
        self.clock = ManualClock()
        self.server = Server()
        self.times = times or ElectionTimes()
        self.candidates: list[Candidate] = []
        self.changes: list[tuple[float, str]] = []  # when who was found to lead
        self._tasks: list[asyncio.Task[None]] = []
        self._draws = 0

    def random(self) -> float:
        """A deterministic sequence in place of random numbers."""
        self._draws += 1
        return self._draws * 0.618 % 1.0

    def join(self, name: str, *, rate: float = 1.0, offset: float = 0.0) -> Candidate:
        candidate = Candidate(self, name, rate=rate, offset=offset)
        self.candidates.append(candidate)
        self._tasks.append(asyncio.create_task(candidate.run(), name=name))
        return candidate

    async def deliver(self, act: Callable[[], Lease], *, after: float) -> Lease | ApiError:
        """Do something at the server after a while, even if its caller no longer waits."""
        response: asyncio.Future[Lease | ApiError] = asyncio.get_running_loop().create_future()

        async def arrive() -> None:
            await self.clock.sleep(after)
            try:
                outcome: Lease | ApiError = act()
            except ApiError as error:
                outcome = error
            if not response.done():
                response.set_result(outcome)

        self._tasks.append(asyncio.create_task(arrive()))
        return await response

    async def advance(self, seconds: float) -> None:
        """Let true time pass, and look again and again."""
        goal = self.clock.now() + seconds
        while self.clock.now() < goal:
            await self.clock.advance(min(0.5, goal - self.clock.now()))
            self.check()

    def check(self, acting: Candidate | None = None) -> None:
        """X-5: at most one leads, and no other candidate works meanwhile."""
        leaders = {each.name for each in self.candidates if each.elector.is_leader}
        assert len(leaders) <= 1, f"{leaders} lead at {self.clock.now()}"
        if acting is not None:
            assert leaders == {acting.name}, f"{acting.name} works, {leaders} lead"
            if not self.changes or self.changes[-1][1] != acting.name:
                self.changes.append((self.clock.now(), acting.name))
            return
        # A stopped process does not know yet; it does nothing either.
        late = {each.name for each in self.candidates if each.is_late and not each.clock.is_stopped}
        assert not late, f"{late} work, {leaders} lead at {self.clock.now()}"

    @property
    def leader(self) -> Candidate | None:
        return next((each for each in self.candidates if each.elector.is_leader), None)

    async def end(self) -> None:
        for candidate in self.candidates:
            candidate.network = Network()
            candidate.clock.stopped_until = 0.0
        for task in self._tasks:
            task.cancel()
        await self.clock.advance(200)
        for task in self._tasks:
            if task.done() and not task.cancelled():
                task.result()  # raises what the invariant found
