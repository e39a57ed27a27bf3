"""The faults of a campaign: each is a block, which removes its fault at the end.

Guarantees: most blocks last until the informer has been affected by the fault.
See also: `scenario` (the checks afterwards).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from random import Random
from typing import final

from kubeloop.config import ClusterConfig
from kubeloop_testing import APIServer
from kubeloop_testing.server.faults import Match, Reply
from kubeloop_testing.server.statuses import expired

from .scenario import Scenario

__all__ = ["EMBEDDED", "NETWORK", "ODD", "TARGETS", "WATCH", "Embedded", "Fault", "may_nest"]

Block = AbstractAsyncContextManager[None]
Fault = Callable[[Scenario, Random], Block]

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


# --- faults of the network and of this process: with any server


@asynccontextmanager
async def reset_connections(scenario: Scenario, random: Random) -> AsyncIterator[None]:
    scenario.reset_connections()
    yield


@asynccontextmanager
async def silent_connections(scenario: Scenario, random: Random) -> AsyncIterator[None]:
    """Half-open connections: no data passes, and neither end gets an error."""
    sent = scenario.client.stats().requests
    scenario.proxy.is_silent = True
    yield
    if random.random() < 0.7:
        await scenario.until(lambda: scenario.client.stats().requests > sent)
    scenario.proxy.is_silent = False


@asynccontextmanager
async def short_connections(scenario: Scenario, random: Random) -> AsyncIterator[None]:
    """Handshakes, lists and watches are cut at any byte."""
    sent = scenario.client.stats().requests
    scenario.proxy.breaks_after = random.randint(1, 8000)
    scenario.reset_connections()
    yield
    if random.random() < 0.7:
        await scenario.until(lambda: scenario.client.stats().requests > sent + 1)
    scenario.proxy.breaks_after = None


@asynccontextmanager
async def refused_connections(scenario: Scenario, random: Random) -> AsyncIterator[None]:
    errors = scenario.informer.stats().reflector.errors
    await scenario.in_proxy_loop(scenario.proxy.refuse())
    yield
    if random.random() < 0.7:
        await scenario.until(lambda: scenario.informer.stats().reflector.errors > errors)
    await scenario.in_proxy_loop(scenario.proxy.accept())


@asynccontextmanager
async def a_slow_handler(scenario: Scenario, random: Random) -> AsyncIterator[None]:
    """A slow handler does not delay the others."""
    scenario.slow.hold()
    yield
    for _ in range(random.randint(0, 3)):
        await scenario.write(random, most=6)
    await scenario.wait_until_consistent(slow_too=False)
    scenario.slow.release()


@asynccontextmanager
async def a_suspend(scenario: Scenario, random: Random) -> AsyncIterator[None]:
    """The machine was suspended: the clocks went on, and connections are gone or half-open."""
    yield
    scenario.clock.oversleep(random.choice([50, 200, 40_000]))
    if random.random() < 0.5:
        scenario.reset_connections()


@asynccontextmanager
async def another_date(scenario: Scenario, random: Random) -> AsyncIterator[None]:
    scenario.clock.jump_wall(random.choice([-86_400, -60, 60, 86_400]))
    yield
    scenario.reset_connections()


# --- faults that only the embedded server has


@final
class Embedded:
    """The embedded server, with credentials in files that are rotated."""

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
    async def restart(self, scenario: Scenario, random: Random) -> AsyncIterator[None]:
        await self.server.restart()
        yield

    @asynccontextmanager
    async def lost_data(self, scenario: Scenario, random: Random) -> AsyncIterator[None]:
        """The server restarts empty, and its versions start again at 1.

        Once they have caught up with the old ones, such a server cannot be distinguished
        from the old one: so the informer must detect it before anything is written.
        """
        await self.server.restart(keep_data=False)
        await scenario.wait_until_consistent()
        yield

    @asynccontextmanager
    async def refused(self, scenario: Scenario, random: Random) -> AsyncIterator[None]:
        await self.server.refuse_connections()
        yield
        await self.server.accept_connections()

    @asynccontextmanager
    async def dropped(self, scenario: Scenario, random: Random) -> AsyncIterator[None]:
        self.server.drop_connections()
        yield

    @asynccontextmanager
    async def half_open(self, scenario: Scenario, random: Random) -> AsyncIterator[None]:
        """It accepts connections and never responds."""
        sent = scenario.client.stats().requests
        self.server.faults.half_open = True
        self.server.drop_connections()
        yield
        await scenario.until(lambda: scenario.client.stats().requests > sent)
        self.server.faults.heal()

    # --- history

    @asynccontextmanager
    async def compacted_history(self, scenario: Scenario, random: Random) -> AsyncIterator[None]:
        """The changes of the watch gap are compacted: 410."""
        self.server.faults.fail(503, times=None, match=WATCH)
        self.server.drop_connections()
        yield
        self.server.expire_history()
        self.server.faults.heal()

    @asynccontextmanager
    async def storm_of_410(self, scenario: Scenario, random: Random) -> AsyncIterator[None]:
        times = random.randint(1, 6)
        error = expired("The resourceVersion for the provided watch is too old.")
        self.server.faults.refuse(error, times=times, match=random.choice(TARGETS[:2]))
        async with self._felt(scenario, random, requests=times):
            yield

    # --- responses

    @asynccontextmanager
    async def busy(self, scenario: Scenario, random: Random) -> AsyncIterator[None]:
        times = random.randint(1, 6)
        self.server.faults.fail(
            429, times=times, retry_after=random.randint(0, 2), match=random.choice(TARGETS)
        )
        async with self._felt(scenario, random, requests=times):
            yield

    @asynccontextmanager
    async def broken(self, scenario: Scenario, random: Random) -> AsyncIterator[None]:
        times = random.randint(1, 6)
        code = random.choice([500, 502, 503, 504])
        self.server.faults.fail(
            code, times=times, retry_after=random.randint(0, 1), match=random.choice(TARGETS)
        )
        async with self._felt(scenario, random, requests=times):
            yield

    @asynccontextmanager
    async def no_streamed_lists(self, scenario: Scenario, random: Random) -> AsyncIterator[None]:
        self.server.faults.fail(422, times=random.randint(1, 2), match=WATCH)
        async with self._felt(scenario, random, requests=1):
            yield

    @asynccontextmanager
    async def odd_responses(self, scenario: Scenario, random: Random) -> AsyncIterator[None]:
        """Another program responds instead of the server: a proxy or a login portal."""
        reply = random.choice(ODD)
        verbs = random.choice([{"watch"}, {"list"}, {"watch", "list"}])
        reactors = self.server.faults.reactors
        reactors.append(lambda seen: reply if seen.verb in verbs else None)
        async with self._felt(scenario, random, requests=random.randint(1, 4)):
            yield
        reactors.clear()

    @asynccontextmanager
    async def late_responses(self, scenario: Scenario, random: Random) -> AsyncIterator[None]:
        self.server.faults.response_delay = random.choice([1.0, 20.0, 100.0])
        self.server.drop_connections()
        yield
        self.server.faults.heal()

    # --- streams

    @asynccontextmanager
    async def cut_by_bytes(self, scenario: Scenario, random: Random) -> AsyncIterator[None]:
        self.server.faults.cut_streams(after_bytes=random.randint(1, 1500))
        async with self._felt(scenario, random, requests=2):
            yield

    @asynccontextmanager
    async def cut_by_events(self, scenario: Scenario, random: Random) -> AsyncIterator[None]:
        self.server.faults.cut_streams(after_events=random.randint(1, 4))
        async with self._felt(scenario, random, requests=1):
            yield

    @asynccontextmanager
    async def watches_that_end(self, scenario: Scenario, random: Random) -> AsyncIterator[None]:
        self.server.faults.close_watches = True
        async with self._felt(scenario, random, requests=3):
            yield

    @asynccontextmanager
    async def held_watches(self, scenario: Scenario, random: Random) -> AsyncIterator[None]:
        release = self.server.faults.hold(WATCH)
        async with self._felt(scenario, random, requests=1):
            yield
        release()

    @asynccontextmanager
    async def late_events(self, scenario: Scenario, random: Random) -> AsyncIterator[None]:
        self.server.faults.delivery_delay = random.choice([1.0, 20.0])
        yield
        if random.random() < 0.5:
            self.server.drop_connections()
        self.server.faults.heal()

    # --- credentials

    @asynccontextmanager
    async def another_token(self, scenario: Scenario, random: Random) -> AsyncIterator[None]:
        """The file is written at once, or after requests were rejected for a while."""
        self.server.rotate_token()
        late = random.random() < 0.5
        if not late:
            self.write_token()
        self.server.drop_connections()
        yield
        if late:
            self.write_token()

    @asynccontextmanager
    async def another_certificate(self, scenario: Scenario, random: Random) -> AsyncIterator[None]:
        self.server.rotate_certificate()
        if random.random() < 0.7:
            self.server.drop_connections()
        yield

    @asynccontextmanager
    async def another_ca(self, scenario: Scenario, random: Random) -> AsyncIterator[None]:
        scenario.connections_allowed += 2
        self.server.rotate_ca()
        self.write_ca()
        if random.random() < 0.7:
            self.server.drop_connections()
        yield

    @asynccontextmanager
    async def _felt(
        self, scenario: Scenario, random: Random, *, requests: int
    ) -> AsyncIterator[None]:
        """Drop all connections, and mostly last until the fault has applied to some requests."""
        self.server.faults.clear_record()
        self.server.drop_connections()
        yield
        if random.random() < 0.7:
            seen = self.server.faults.requests
            await scenario.until(lambda: len(seen) >= requests)
        self.server.faults.heal()

    def all(self) -> dict[str, Fault]:
        return {**NETWORK, **{name: getattr(self, name) for name in EMBEDDED}}


NETWORK: dict[str, Fault] = {
    fault.__name__: fault
    for fault in (
        reset_connections,
        silent_connections,
        short_connections,
        refused_connections,
        a_slow_handler,
        a_suspend,
        another_date,
    )
}
EMBEDDED = (
    "restart",
    "lost_data",
    "refused",
    "dropped",
    "half_open",
    "compacted_history",
    "storm_of_410",
    "busy",
    "broken",
    "no_streamed_lists",
    "odd_responses",
    "late_responses",
    "cut_by_bytes",
    "cut_by_events",
    "watches_that_end",
    "held_watches",
    "late_events",
    "another_token",
    "another_certificate",
    "another_ca",
)

# Inside the first ones no other fault has an effect; the second ones need a working server.
_SILENT = frozenset(
    {
        "silent_connections",
        "short_connections",
        "refused_connections",
        "refused",
        "half_open",
        "compacted",
    }
)
_SOUND = frozenset({"lost_data", "a_slow_handler"})


def may_nest(outer: str, inner: str) -> bool:
    """Whether two faults may happen at once, one inside the other."""
    return outer not in _SILENT and inner not in _SOUND and outer != inner
