"""Makes the faults of a run happen, and records what the processes did.

It sees every request that reaches the server, with the connection it came by, and through that
the process that sent it; and every write that is stored.

Guarantees: without faults it changes nothing; a fault happens at most once.
See also: `scenarios` (the faults as data), `oracles` (what is checked with the record).
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, final

import msgspec

from ..server.faults import Reaction, SeenRequest, error_for
from ..server.service import StoredChange
from ..server.statuses import StatusError, service_unavailable
from .network import Connection, connection
from .oracles import LeaseWatch, OwnWrites
from .scenarios import Fault, Write

if TYPE_CHECKING:
    from .world import World

__all__ = ["TEST", "Injector", "is_noise"]

TEST: Final = "test"  # the name of the test among the processes
_WRITES: Final = frozenset({"create", "update", "patch", "delete", "deletecollection"})
# Renewals, events and questions about permissions are no steps of a controller's work.
_NOISE: Final = frozenset({"leases", "events"})
_WORKLOADS: Final = frozenset(
    {"deployments", "statefulsets", "daemonsets", "replicasets", "jobs", "pods", "services"}
)
_SLOW_FOR: Final = 60.0  # virtual seconds of a slow network
_GIVE_UP: Final = 80.0  # virtual seconds until a client no longer waits for a response
# Virtual seconds that a request of the test waits for its kind: longer than several faults.
_WAIT_FOR_KIND: Final = 300.0


def is_noise(resource: str) -> bool:
    """Whether objects of a resource say nothing about the work of a controller."""
    return resource in _NOISE or resource.endswith("reviews")


@final
class Injector:
    """The reactor of the simulated server."""

    def __init__(self, world: World, faults: tuple[Fault, ...]) -> None:
        self._world = world
        self._faults: dict[tuple[str, int], list[Fault]] = {}
        for fault in faults:
            if fault.number:
                self._faults.setdefault(fault.trigger, []).append(fault)
            elif fault.at:
                world.loop.call_at(fault.at, self._fire_timed, fault)
        self.writes: list[Write] = []
        self._counts: Counter[str] = Counter()
        self._windows: list[tuple[Fault, float]] = []  # faults that last, with their end
        self._stale: dict[tuple[str, str], int] = {}  # process and resource, to a version
        self.watched: dict[tuple[str, str], None] = {}
        self.lists_at_zero: dict[tuple[str, str], None] = {}
        self.fired = 0
        self.changes: Counter[str] = Counter()  # by object
        self.active_until = 0.0  # virtual time of the last change, or of the end of the last fault
        self.leases = LeaseWatch()
        self.own_writes = OwnWrites()

    # --- what the server stores

    def on_change(self, change: StoredChange) -> None:
        """Called after every write that is stored."""
        plural = change.resource.resource
        if is_noise(plural) or _changes_nothing(change):
            return
        self.active_until = max(self.active_until, self._world.now)
        self.changes[f"{plural} {change.key}"] += 1
        self._world.check_always(f"{change.resource} {change.key}")

    # --- what the server receives

    async def react(self, seen: SeenRequest) -> Reaction:
        """Called for every request, before the server handles it."""
        link = connection()
        if link is None:
            return None
        name = link.process.name if link.process is not None else TEST
        if name == TEST:
            await self._wait_for_kind(seen)
        if seen.verb in _WRITES:
            return self._on_write(seen, link, name)
        if seen.verb in {"list", "watch"}:
            return await self._on_read(seen, link, name)
        return None

    def _on_write(self, seen: SeenRequest, link: Connection, name: str) -> Reaction:
        world = self._world
        if seen.resource == "leases":
            self._on_lease(seen, link, name)
            return None
        if is_noise(seen.resource) or _is_dry_run(seen):
            return None
        if seen.resource in _WORKLOADS:
            world.start_workloads()
        self._counts[name] += 1
        write = Write(name, self._counts[name], world.now, _describe(seen))
        index = len(self.writes)
        self.writes.append(write)
        sent = link.client.sent_at
        world.report(self.leases.check(name, sent, write.text))
        world.report(self.own_writes.check(name, seen, sent))
        loses = self._fire(write, seen, link)

        def on_response(data: bytes) -> bool:
            code = int(data[9:12]) if data[9:12].isdigit() else 0
            self.writes[index] = msgspec.structs.replace(write, code=code)
            world.note(name, "write", f"{write.number}: {write.text} → {code}")
            if loses is not None:
                return loses()
            if code < 300:
                version = world.stored_version(seen)

                def on_arrival() -> None:  # a response that is lost acknowledges nothing
                    self.own_writes.acknowledge(name, seen, version, world.now)

                link.on_arrival = on_arrival
            return False

        link.on_response = on_response
        return None

    def _on_lease(self, seen: SeenRequest, link: Connection, name: str) -> None:
        if self._in_window("lost-lease", name) is not None:
            raise service_unavailable("the server is currently unable to handle the request")
        if seen.verb == "delete":
            return
        sent = link.client.sent_at

        def on_response(data: bytes) -> bool:
            if data[9:10] == b"2":
                self.leases.on_renewal(name, seen, sent)
            return False

        link.on_response = on_response

    async def _on_read(self, seen: SeenRequest, link: Connection, name: str) -> Reaction:
        resource = seen.resource
        if seen.verb == "watch":
            link.watches = resource
            if link.process is not None:
                self.watched[name, resource] = None
                if self._world.is_traced:
                    link.on_watch_bytes = self._world.timeline.watch_reader(name, resource)
        elif seen.query.get("resourceVersion") == ["0"] and link.process is not None:
            self.lists_at_zero[name, resource] = None
        blackout = self._in_window("unobserved", name, resource)
        if blackout is not None:
            await asyncio.sleep(blackout - self._world.now)
        late = self._in_window("late-watch", name, resource)
        if late is not None and seen.verb == "watch":
            self._hold(link, late)
        version = self._stale.pop((name, resource), 0)
        if version and seen.verb == "list" and seen.query.get("resourceVersion") == ["0"]:
            return self._older(seen, version)
        return None

    def _older(self, seen: SeenRequest, version: int) -> SeenRequest:
        query = {**seen.query, "resourceVersion": [str(version)]}
        query["resourceVersionMatch"] = ["Exact"]
        return msgspec.structs.replace(seen, query=query)

    async def _wait_for_kind(self, seen: SeenRequest) -> None:
        """Let a request of the test wait until its kind is served, such as one of a new CRD."""
        until = self._world.now + _WAIT_FOR_KIND
        while seen.resource and self._world.now < until:
            if self._world.is_served(seen):
                return
            await asyncio.sleep(0.1)

    # --- faults

    def _fire(self, write: Write, seen: SeenRequest, link: Connection) -> Callable[[], bool] | None:
        """Start the faults of a write; returns what loses its response, if one does.

        Raises: StatusError when the write is not to be done.
        """
        loses = None
        rejection: StatusError | None = None
        for fault in self._faults.pop((write.process, write.number), ()):
            self.fired += 1
            self._world.note(fault.target, "fault", fault.describe(write.text))
            is_own = fault.target == write.process
            match fault.kind:
                case "crash-before":
                    self._world.crash(fault.target)
                    if is_own:
                        rejection = service_unavailable("the client has crashed")
                case "crash-after" if is_own:
                    loses = self._crash_later(fault.target)
                case "crash-after":
                    asyncio.get_running_loop().call_later(0.02, self._world.crash, fault.target)
                case "error":
                    rejection = error_for(fault.code, 1 if fault.code == 429 else 0, seen)
                case "lost-response":
                    loses = self._reset_later(link)
                case "no-response":
                    loses = self._silence(link)
                case _:
                    self._fire_lasting(fault)
        if rejection is not None:
            index = len(self.writes) - 1
            code = int(rejection.status.get("code", 0))
            self.writes[index] = msgspec.structs.replace(write, code=code)
            self._world.note(write.process, "write", f"{write.number}: {write.text} → not done")
            raise rejection
        return loses

    def _crash_later(self, target: str) -> Callable[[], bool]:
        def crash() -> bool:
            self._world.crash(target)
            return True

        return crash

    def _silence(self, link: Connection) -> Callable[[], bool]:
        def silence() -> bool:
            link.server.block()  # for good: the client has to notice by itself
            end = self._world.now + _GIVE_UP
            self.active_until = max(self.active_until, end)
            return True

        return silence

    def _fire_timed(self, fault: Fault) -> None:
        self.fired += 1
        self._world.note(fault.target, "fault", fault.describe())
        if fault.kind == "crash":
            self._world.crash(fault.target)
        else:
            self._fire_lasting(fault)

    def _reset_later(self, link: Connection) -> Callable[[], bool]:
        def reset() -> bool:
            asyncio.get_running_loop().call_soon(link.reset)
            return True

        return reset

    def _fire_lasting(self, fault: Fault) -> None:
        world, loop = self._world, asyncio.get_running_loop()
        end = world.now + (_SLOW_FOR if fault.kind == "slow-network" else fault.seconds)
        self.active_until = max(self.active_until, end)
        network = world.network
        match fault.kind:
            case "cut-watches":
                self._cut(fault.target, "")
            case "late-watch":
                self._windows.append((fault, end))
                for link in network.of(fault.target):
                    if link.watches and fault.resource in {"", link.watches}:
                        self._hold(link, end)
            case "unobserved":
                self._windows.append((fault, end))
                self._cut(fault.target, fault.resource)
                loop.call_at(end - 0.001, world.expire_history)
            case "stale-list":
                self._stale[fault.target, fault.resource] = world.version
                world.crash(fault.target)
            case "partition":
                network.partition(fault.target)
                loop.call_at(end, network.heal, fault.target)
            case "slow-network":
                network.slow(fault.target, fault.seconds)
                loop.call_at(end, network.slow, fault.target, 0.0)
            case "lost-lease":
                self._windows.append((fault, end))
            case "pause":
                world.pause(fault.target, fault.seconds)

    def _in_window(self, kind: str, target: str, resource: str = "") -> float | None:
        """When the fault of that kind ends that is going on now, if there is one."""
        if not self._windows:
            return None
        now = self._world.now
        self._windows = [each for each in self._windows if each[1] > now]
        for fault, end in self._windows:
            if (fault.kind, fault.target) == (kind, target) and fault.resource in {"", resource}:
                return end
        return None

    def _cut(self, target: str, resource: str) -> None:
        for link in self._world.network.of(target):
            if link.watches and resource in {"", link.watches}:
                link.reset()

    def _hold(self, link: Connection, end: float) -> None:
        link.server.block()
        asyncio.get_running_loop().call_at(end, link.server.unblock)


def _describe(seen: SeenRequest) -> str:
    group = f".{seen.group}" if seen.group else ""
    part = f"/{seen.subresource}" if seen.subresource else ""
    name = seen.name or _name_in(seen)
    where = f"{seen.namespace}/{name}" if seen.namespace else name
    how = seen.verb
    if seen.verb == "patch" and "apply-patch" in seen.headers.get("Content-Type", ""):
        how = "apply"
    return f"{how} {seen.resource}{group}{part} {where}"


class _Metadata(msgspec.Struct):
    name: str = ""
    generate_name: str = msgspec.field(default="", name="generateName")


class _Named(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


def _name_in(seen: SeenRequest) -> str:
    try:
        found = msgspec.json.decode(seen.body, type=_Named).metadata
    except msgspec.DecodeError:
        return "?"
    return found.name or f"{found.generate_name}*"


def _is_dry_run(seen: SeenRequest) -> bool:
    return bool(seen.query.get("dryRun"))


def _changes_nothing(change: StoredChange) -> bool:
    return change.old is not None and change.old == change.new
