"""What can go wrong, each as a block: it is wrong inside, and mended at the end.

Promises: where a fault can be felt by the informer, most blocks last until it was.
Elsewhere: what has to hold afterwards (`world`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from random import Random
from typing import final

from kubeloop.config import ClusterConfig
from kubeloop.testing import APIServer
from kubeloop.testing.server.faults import Match, Reply
from kubeloop.testing.server.statuses import expired

from .world import World

__all__ = ["EMBEDDED", "LINE", "Embedded", "Fault", "may_nest"]

Block = AbstractAsyncContextManager[None]
Fault = Callable[[World, Random], Block]

WATCH = Match(verb="watch")
ODD = (
    Reply(200, b"<html>Please sign in</html>", content_type="text/html"),
    Reply(200, b""),
    Reply(200, b"{"),
    Reply(200, b'{"type":"ADDED","object":'),
    Reply(200, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 500}),
    Reply(200, {"type": "ADDED", "object": {"kind": "ConfigMap", "metadata": {}}}),
    Reply(200, {"type": "BOOKMARK", "object": {"kind": "ConfigMap", "metadata": {}}}),
    Reply(200, {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": None}),
    Reply(302, b"", headers={"Location": "https://example.com/"}),
    Reply(401, {"kind": "Status", "apiVersion": "v1", "reason": "Unauthorized", "code": 401}),
    Reply(403, {"kind": "Status", "apiVersion": "v1", "reason": "Forbidden", "code": 403}),
    Reply(404, b"404 page not found", content_type="text/plain"),
    Reply(503, b"no healthy upstream", content_type="text/plain"),
)
TARGETS = (WATCH, Match(verb="list"), Match())


# --- faults of the line and of this process: with any server


@asynccontextmanager
async def cut_lines(world: World, random: Random) -> AsyncIterator[None]:
    world.cut_lines()
    yield


@asynccontextmanager
async def dead_lines(world: World, random: Random) -> AsyncIterator[None]:
    """Half-open: nobody is told, and nothing comes through."""
    sent = world.client.stats().requests
    world.proxy.is_dead = True
    yield
    if random.random() < 0.7:
        await world.until(lambda: world.client.stats().requests > sent)
    world.proxy.is_dead = False


@asynccontextmanager
async def short_lines(world: World, random: Random) -> AsyncIterator[None]:
    """Handshakes, lists and watches break off at any byte."""
    sent = world.client.stats().requests
    world.proxy.breaks_after = random.randint(1, 8000)
    world.cut_lines()
    yield
    if random.random() < 0.7:
        await world.until(lambda: world.client.stats().requests > sent + 1)
    world.proxy.breaks_after = None


@asynccontextmanager
async def refused_lines(world: World, random: Random) -> AsyncIterator[None]:
    errors = world.informer.stats().reflector.errors
    await world.on_the_line(world.proxy.refuse())
    yield
    if random.random() < 0.7:
        await world.until(lambda: world.informer.stats().reflector.errors > errors)
    await world.on_the_line(world.proxy.accept())


@asynccontextmanager
async def a_slow_handler(world: World, random: Random) -> AsyncIterator[None]:
    """It holds up nobody else."""
    world.slow.hold()
    yield
    for _ in range(random.randint(0, 3)):
        await world.write(random, most=6)
    await world.is_true_again(slow_too=False)
    world.slow.let_go()


@asynccontextmanager
async def a_night(world: World, random: Random) -> AsyncIterator[None]:
    """The machine slept: its clocks went on, and the lines are gone, or seem to be there."""
    yield
    world.clock.oversleep(random.choice([50, 200, 40_000]))
    if random.random() < 0.5:
        world.cut_lines()


@asynccontextmanager
async def another_date(world: World, random: Random) -> AsyncIterator[None]:
    world.clock.jump_wall(random.choice([-86_400, -60, 60, 86_400]))
    yield
    world.cut_lines()


# --- faults that only the embedded server has


@final
class Embedded:
    """The embedded server, with credentials in files that somebody rotates."""

    def __init__(self, server: APIServer, folder: Path) -> None:
        self.server = server
        self.port = int(server.url.rpartition(":")[2])
        self._token_file = folder / "token"
        self._ca_file = folder / "ca.crt"
        self.write_token()
        self.write_ca()

    def config(self, port: int) -> ClusterConfig:
        return ClusterConfig(
            server=f"https://127.0.0.1:{port}",
            token_file=str(self._token_file),
            ca_file=str(self._ca_file),
        )

    def write_token(self) -> None:
        self._token_file.write_text(self.server.service.token)

    def write_ca(self) -> None:
        self._ca_file.write_bytes(self.server.service.ca or b"")

    # --- processes and connections

    @asynccontextmanager
    async def restart(self, world: World, random: Random) -> AsyncIterator[None]:
        await self.server.restart()
        yield

    @asynccontextmanager
    async def lost_data(self, world: World, random: Random) -> AsyncIterator[None]:
        """It comes back with nothing, and its versions begin anew.

        Once they have caught up with ours, nobody can tell such a server from the old one:
        so it has to be found out before anything is written.
        """
        await self.server.restart(keep_data=False)
        await world.is_true_again()
        yield

    @asynccontextmanager
    async def refused(self, world: World, random: Random) -> AsyncIterator[None]:
        await self.server.refuse_connections()
        yield
        await self.server.accept_connections()

    @asynccontextmanager
    async def dropped(self, world: World, random: Random) -> AsyncIterator[None]:
        self.server.drop_connections()
        yield

    @asynccontextmanager
    async def half_open(self, world: World, random: Random) -> AsyncIterator[None]:
        """It accepts connections and never answers."""
        sent = world.client.stats().requests
        self.server.faults.half_open = True
        self.server.drop_connections()
        yield
        await world.until(lambda: world.client.stats().requests > sent)
        self.server.faults.heal()

    # --- history

    @asynccontextmanager
    async def forgotten_history(self, world: World, random: Random) -> AsyncIterator[None]:
        """What happened while nobody could watch is told by no watch: 410."""
        self.server.faults.fail(503, times=None, match=WATCH)
        self.server.drop_connections()
        yield
        self.server.expire_history()
        self.server.faults.heal()

    @asynccontextmanager
    async def storm_of_410(self, world: World, random: Random) -> AsyncIterator[None]:
        times = random.randint(1, 6)
        refusal = expired("The resourceVersion for the provided watch is too old.")
        self.server.faults.refuse(refusal, times=times, match=random.choice(TARGETS[:2]))
        async with self._felt(world, random, requests=times):
            yield

    # --- answers

    @asynccontextmanager
    async def busy(self, world: World, random: Random) -> AsyncIterator[None]:
        times = random.randint(1, 6)
        self.server.faults.fail(
            429, times=times, retry_after=random.randint(0, 2), match=random.choice(TARGETS)
        )
        async with self._felt(world, random, requests=times):
            yield

    @asynccontextmanager
    async def broken(self, world: World, random: Random) -> AsyncIterator[None]:
        times = random.randint(1, 6)
        code = random.choice([500, 502, 503, 504])
        self.server.faults.fail(
            code, times=times, retry_after=random.randint(0, 1), match=random.choice(TARGETS)
        )
        async with self._felt(world, random, requests=times):
            yield

    @asynccontextmanager
    async def no_streamed_lists(self, world: World, random: Random) -> AsyncIterator[None]:
        self.server.faults.fail(422, times=random.randint(1, 2), match=WATCH)
        async with self._felt(world, random, requests=1):
            yield

    @asynccontextmanager
    async def odd_answers(self, world: World, random: Random) -> AsyncIterator[None]:
        """Somebody else answers in the server's place: a proxy, a portal, another program."""
        reply = random.choice(ODD)
        verbs = random.choice([{"watch"}, {"list"}, {"watch", "list"}])
        reactors = self.server.faults.reactors
        reactors.append(lambda seen: reply if seen.verb in verbs else None)
        async with self._felt(world, random, requests=random.randint(1, 4)):
            yield
        reactors.clear()

    @asynccontextmanager
    async def late_answers(self, world: World, random: Random) -> AsyncIterator[None]:
        self.server.faults.answer_delay = random.choice([1.0, 20.0, 100.0])
        self.server.drop_connections()
        yield
        self.server.faults.heal()

    # --- streams

    @asynccontextmanager
    async def cut_by_bytes(self, world: World, random: Random) -> AsyncIterator[None]:
        self.server.faults.cut_streams(after_bytes=random.randint(1, 1500))
        async with self._felt(world, random, requests=2):
            yield

    @asynccontextmanager
    async def cut_by_events(self, world: World, random: Random) -> AsyncIterator[None]:
        self.server.faults.cut_streams(after_events=random.randint(1, 4))
        async with self._felt(world, random, requests=1):
            yield

    @asynccontextmanager
    async def watches_that_end(self, world: World, random: Random) -> AsyncIterator[None]:
        self.server.faults.close_watches = True
        async with self._felt(world, random, requests=3):
            yield

    @asynccontextmanager
    async def held_watches(self, world: World, random: Random) -> AsyncIterator[None]:
        release = self.server.faults.hold(WATCH)
        async with self._felt(world, random, requests=1):
            yield
        release()

    @asynccontextmanager
    async def late_events(self, world: World, random: Random) -> AsyncIterator[None]:
        self.server.faults.delivery_delay = random.choice([1.0, 20.0])
        yield
        if random.random() < 0.5:
            self.server.drop_connections()
        self.server.faults.heal()

    # --- credentials

    @asynccontextmanager
    async def another_token(self, world: World, random: Random) -> AsyncIterator[None]:
        """The file follows at once, or after everybody was refused for a while."""
        self.server.rotate_token()
        late = random.random() < 0.5
        if not late:
            self.write_token()
        self.server.drop_connections()
        yield
        if late:
            self.write_token()

    @asynccontextmanager
    async def another_certificate(self, world: World, random: Random) -> AsyncIterator[None]:
        self.server.rotate_certificate()
        if random.random() < 0.7:
            self.server.drop_connections()
        yield

    @asynccontextmanager
    async def another_ca(self, world: World, random: Random) -> AsyncIterator[None]:
        world.lines_allowed += 2
        self.server.rotate_ca()
        self.write_ca()
        if random.random() < 0.7:
            self.server.drop_connections()
        yield

    @asynccontextmanager
    async def _felt(self, world: World, random: Random, *, requests: int) -> AsyncIterator[None]:
        """Drop all connections, and mostly last until so many requests have met the fault."""
        self.server.faults.clear_record()
        self.server.drop_connections()
        yield
        if random.random() < 0.7:
            seen = self.server.faults.requests
            await world.until(lambda: len(seen) >= requests)
        self.server.faults.heal()

    def all(self) -> dict[str, Fault]:
        return {**LINE, **{name: getattr(self, name) for name in EMBEDDED}}


LINE: dict[str, Fault] = {
    fault.__name__: fault
    for fault in (
        cut_lines,
        dead_lines,
        short_lines,
        refused_lines,
        a_slow_handler,
        a_night,
        another_date,
    )
}
EMBEDDED = (
    "restart",
    "lost_data",
    "refused",
    "dropped",
    "half_open",
    "forgotten_history",
    "storm_of_410",
    "busy",
    "broken",
    "no_streamed_lists",
    "odd_answers",
    "late_answers",
    "cut_by_bytes",
    "cut_by_events",
    "watches_that_end",
    "held_watches",
    "late_events",
    "another_token",
    "another_certificate",
    "another_ca",
)

# Inside these, another one cannot be felt; and these themselves need a server that is well.
_SILENT = frozenset(
    {"dead_lines", "short_lines", "refused_lines", "refused", "half_open", "compacted"}
)
_SOUND = frozenset({"lost_data", "a_slow_handler"})


def may_nest(outer: str, inner: str) -> bool:
    """Whether two faults may happen at once, one inside the other."""
    return outer not in _SILENT and inner not in _SOUND and outer != inner
