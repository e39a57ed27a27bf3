"""Faults of every kind for the processes of a simulated world, in an order that a seed decides.

Guarantees: every kind occurs once before any occurs again; several faults overlap; after
`Chaos.disturb` all faults have ended, except connections that are lost for good.
See also: `campaign_runs` (what is disturbed), tests/campaign (the same over real HTTPS).
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, TypeAlias, final

from kubeloop_testing.server.faults import Match, Reaction, SeenRequest, error_for
from kubeloop_testing.server.statuses import expired
from kubeloop_testing.simulation.determinism import set_skew
from kubeloop_testing.simulation.network import Connection, connection
from kubeloop_testing.simulation.world import SimulatedProcess, World
from tests.campaign.faults import ODD, TARGETS, WATCH

__all__ = ["FAULTS", "Chaos", "End", "StartFault"]

End: TypeAlias = Callable[[], Awaitable[object] | None] | None
"""Ends a fault; None for one that ends by itself."""
StartFault: TypeAlias = "Callable[[Chaos, str], Awaitable[End]]"
"""Starts a fault that affects the process of a name."""

# Virtual seconds that a fault lasts, and between two faults.
LASTS = (0.0, 0.01, 0.3, 2.0, 8.0, 30.0)
BETWEEN = (0.0, 0.0, 0.003, 0.05, 1.0, 4.0)


@final
class _Rule:
    """What happens to requests of one process."""

    def __init__(
        self,
        target: str,
        match: Match,
        times: int,
        act: Callable[[SeenRequest], Reaction | Awaitable[Reaction]],
    ) -> None:
        self.target = target
        self.match = match
        self.times = times
        self.act = act


@final
class Chaos:
    """Disturbs processes of a world."""

    def __init__(
        self,
        world: World,
        processes: Sequence[SimulatedProcess],
        kinds: Mapping[str, StartFault],
        random: Random,
    ) -> None:
        self.world = world
        self.random = random
        self.processes = {each.name: each for each in processes}
        self.counts: Counter[str] = Counter()
        self._kinds = kinds
        self._deck = self._endless_deck()
        self._rules: list[_Rule] = []
        world.server.faults.reactors.append(self._react)

    @property
    def server(self) -> Any:
        return self.world.server

    @property
    def count(self) -> int:
        """The faults so far."""
        return self.counts.total()

    async def disturb(self, write: Callable[[], Awaitable[object]]) -> None:
        """Start one to four faults, which overlap, and end them; `write` in between."""
        ends: list[Callable[[], Awaitable[object] | None]] = []
        for _ in range(self.random.randint(1, 4)):
            kind = next(self._deck)
            target = self.random.choice(list(self.processes))
            self._begin(kind, target)
            end = await self._kinds[kind](self, target)
            await write()
            if end is not None:
                ends.append(end)
            await asyncio.sleep(self.random.choice(BETWEEN))
        self.random.shuffle(ends)
        for each in ends:
            await asyncio.sleep(self.random.choice(LASTS))
            await write()
            result = each()
            if result is not None:
                await result
        self._rules.clear()
        self.server.faults.heal()

    async def lose_data(self) -> None:
        """Restart the server without its data; no other fault at the same time."""
        self._begin("lost_data", "")
        await self.server.restart(keep_data=False)
        for name in self.processes:
            self.world.injector.own_writes.forget(name)

    def _begin(self, kind: str, target: str) -> None:
        self.counts[kind] += 1
        self.world.injector.fired += 1
        self.world.note(target, "fault", kind)

    def links(self, target: str) -> list[Connection]:
        return self.world.network.of(target)

    def respond(
        self,
        target: str,
        act: Callable[[SeenRequest], Reaction | Awaitable[Reaction]],
        *,
        times: int,
        match: Match = TARGETS[-1],
    ) -> None:
        """Act on the next requests of a process that match, and let it send some."""
        self._rules.append(_Rule(target, match, times, act))

    def reset(self, target: str) -> None:
        for link in self.links(target):
            link.reset()

    async def _react(self, seen: SeenRequest) -> Reaction:
        link = connection()
        if link is None or link.process is None:
            return None
        for rule in self._rules:
            if rule.times and rule.target == link.process.name and rule.match.fits(seen):
                rule.times -= 1
                found = rule.act(seen)
                return await found if isinstance(found, Awaitable) else found
        return None

    def _endless_deck(self) -> Iterator[str]:
        names = sorted(self._kinds)
        while True:
            yield from self.random.sample(names, len(names))


# --- the network


async def reset_connections(chaos: Chaos, target: str) -> End:
    chaos.reset(target)
    return None


async def partition(chaos: Chaos, target: str) -> End:
    """No data passes, and neither end gets an error; all of it arrives at the end."""
    chaos.world.network.partition(target)
    return lambda: chaos.world.network.heal(target)


async def one_way(chaos: Chaos, target: str) -> End:
    """What one side sends is held until the end."""
    is_server = chaos.random.random() < 0.5
    ends = [each.server if is_server else each.client for each in chaos.links(target)]
    for each in ends:
        each.block()

    def end() -> None:
        for each in ends:
            each.unblock()

    return end


async def lost_connections(chaos: Chaos, target: str) -> End:
    """A middlebox has forgotten the connections: nothing passes, for good."""
    for link in chaos.links(target):
        link.client.block()
        link.server.block()
    return None


async def slow_network(chaos: Chaos, target: str) -> End:
    chaos.world.network.slow(target, chaos.random.choice([0.5, 5.0, 20.0]))
    return lambda: chaos.world.network.slow(target, 0.0)


async def cut_connections(chaos: Chaos, target: str) -> End:
    """Every new connection is cut after a number of bytes."""
    chaos.world.network.cuts[target] = chaos.random.randint(1, 6000)
    chaos.reset(target)

    def end() -> None:
        chaos.world.network.cuts.pop(target, None)

    return end


async def cut_now(chaos: Chaos, target: str) -> End:
    """The open connections are cut after a few more bytes."""
    for link in chaos.links(target):
        link.bytes_left = chaos.random.randint(0, 2000)
    return None


# --- the process


async def crash(chaos: Chaos, target: str) -> End:
    chaos.processes[target].crash()
    return None


async def pause(chaos: Chaos, target: str) -> End:
    chaos.processes[target].pause(chaos.random.choice([0.5, 12.0, 50.0]))
    return None


async def another_date(chaos: Chaos, target: str) -> End:
    set_skew(target, chaos.random.choice([-86_400.0, -60.0, 60.0, 86_400.0]))
    return None


# --- the server


async def restart(chaos: Chaos, target: str) -> End:
    await chaos.server.restart()
    return None


async def refused_connections(chaos: Chaos, target: str) -> End:
    await chaos.server.refuse_connections()
    return chaos.server.accept_connections  # type: ignore[no-any-return]


async def dropped_connections(chaos: Chaos, target: str) -> End:
    chaos.server.drop_connections()
    return None


async def half_open(chaos: Chaos, target: str) -> End:
    """The server accepts connections and never responds."""
    chaos.server.faults.half_open = True
    chaos.reset(target)

    def end() -> None:
        chaos.server.faults.half_open = False

    return end


async def compacted_history(chaos: Chaos, target: str) -> End:
    """The changes of the watch gap are compacted: 410."""
    chaos.respond(target, lambda seen: _raise(error_for(503, 0, seen)), times=9, match=WATCH)
    chaos.reset(target)
    return chaos.server.expire_history  # type: ignore[no-any-return]


async def storm_of_410(chaos: Chaos, target: str) -> End:
    error = expired("The resourceVersion for the provided watch is too old.")
    chaos.respond(
        target,
        lambda _: _raise(error),
        times=chaos.random.randint(1, 6),
        match=chaos.random.choice(TARGETS[:2]),
    )
    chaos.reset(target)
    return None


async def errors(chaos: Chaos, target: str) -> End:
    code = chaos.random.choice([429, 500, 502, 503, 504])
    after = chaos.random.randint(0, 2)
    chaos.respond(
        target,
        lambda seen: _raise(error_for(code, after, seen)),
        times=chaos.random.randint(1, 6),
        match=chaos.random.choice(TARGETS),
    )
    if chaos.random.random() < 0.7:
        chaos.reset(target)
    return None


async def conflicts(chaos: Chaos, target: str) -> End:
    verb = chaos.random.choice(["create", "update", "patch", "delete"])
    chaos.respond(
        target,
        lambda seen: _raise(error_for(409, 0, seen)),
        times=chaos.random.randint(1, 4),
        match=Match(verb=verb),
    )
    return None


async def no_streamed_lists(chaos: Chaos, target: str) -> End:
    chaos.respond(
        target,
        lambda seen: _raise(error_for(422, 0, seen)),
        times=chaos.random.randint(1, 2),
        match=WATCH,
    )
    chaos.reset(target)
    return None


async def odd_responses(chaos: Chaos, target: str) -> End:
    """Another program responds instead of the server: a proxy or a login portal."""
    reply = chaos.random.choice(ODD)
    chaos.respond(
        target,
        lambda _: reply,
        times=chaos.random.randint(1, 4),
        match=chaos.random.choice(TARGETS[:2]),
    )
    chaos.reset(target)
    return None


async def late_responses(chaos: Chaos, target: str) -> End:
    chaos.server.faults.response_delay = chaos.random.choice([1.0, 20.0, 100.0])
    if chaos.random.random() < 0.5:
        chaos.reset(target)

    def end() -> None:
        chaos.server.faults.response_delay = 0.0

    return end


async def lost_responses(chaos: Chaos, target: str) -> End:
    """Requests are handled, and their responses are lost with the connection."""

    def lose(_: SeenRequest) -> None:
        link = connection()
        assert link is not None, "a request comes by a connection"
        link.bytes_left = chaos.random.choice([0, 1, 100])

    chaos.respond(target, lose, times=chaos.random.randint(1, 3))
    return None


async def cut_streams(chaos: Chaos, target: str) -> End:
    if chaos.random.random() < 0.5:
        chaos.server.faults.cut_streams(after_bytes=chaos.random.randint(1, 1500))
    else:
        chaos.server.faults.cut_streams(after_events=chaos.random.randint(1, 4))
    chaos.reset(target)
    return None


async def watches_that_end(chaos: Chaos, target: str) -> End:
    chaos.server.faults.close_watches = True
    chaos.reset(target)

    def end() -> None:
        chaos.server.faults.close_watches = False

    return end


async def held_requests(chaos: Chaos, target: str) -> End:
    released = asyncio.Event()

    async def hold(_: SeenRequest) -> None:
        await released.wait()

    chaos.respond(target, hold, times=9, match=chaos.random.choice(TARGETS))
    if chaos.random.random() < 0.7:
        chaos.reset(target)
    return released.set


async def late_events(chaos: Chaos, target: str) -> End:
    chaos.server.faults.delivery_delay = chaos.random.choice([1.0, 20.0])

    def end() -> None:
        chaos.server.faults.delivery_delay = 0.0

    return end


def _raise(error: Exception) -> None:
    raise error


FAULTS: dict[str, StartFault] = {
    each.__name__: each
    for each in (
        reset_connections,
        partition,
        one_way,
        lost_connections,
        slow_network,
        cut_connections,
        cut_now,
        crash,
        pause,
        another_date,
        restart,
        refused_connections,
        dropped_connections,
        half_open,
        compacted_history,
        storm_of_410,
        errors,
        conflicts,
        no_streamed_lists,
        odd_responses,
        late_responses,
        lost_responses,
        cut_streams,
        watches_that_end,
        held_requests,
        late_events,
    )
}
