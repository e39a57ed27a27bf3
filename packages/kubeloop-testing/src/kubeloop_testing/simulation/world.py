"""The world of a simulated test: a server, a client, and processes that may end at any moment.

Guarantees: a process that crashes runs nothing more, not even a `finally`; the server keeps what
it has acknowledged; the test's own requests are never disturbed.
See also: `scenarios` (faults), `oracles` (what is checked), `simulate` (the decorator).
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import itertools
import random
import re
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from types import ModuleType
from typing import Any, TypeAlias, TypeVar, cast, final

from kubeloop.config import ClusterConfig
from kubeloop.election import LeadershipLost
from kubeloop.errors import InvalidArgument, KubeError
from kubeloop.meta import GroupResource, GroupVersionResource
from kubeloop.rest import RESTClient, Timeouts
from kubeloop.runtime import Client, Failed, ReconcileReport, observe_outcomes
from kubeloop.workqueue import QueueShutDown, QueueStats

from ..api_server import APIServer
from ..server.faults import SeenRequest
from .determinism import set_skew
from .injector import Injector
from .loop import Incarnation, SimulatedLoop, context_of
from .network import SERVER_NAME, Network
from .places import place_of_error
from .scenarios import ExpectedFailure, Failure, Scenario
from .sealing import SERVER_PORT
from .timeline import Timeline

__all__ = ["Factory", "RunFailed", "SimulatedProcess", "World"]

T = TypeVar("T")
Factory: TypeAlias = Callable[[ClusterConfig], Any]
"""Makes what a process runs: an object with `run()`, such as a `Manager`, or a coroutine."""

_NAME = re.compile(r"[A-Za-z0-9._-]+")  # it is a part of the text of a scenario
_RESTART = (1.0, 5.0)  # virtual seconds until a process starts again
_HOT = 0.5  # reconciles of one key per second that do not end
_MOST_CHANGES = 400  # of one object until it settles
_MOST_STARTS = 10  # of a process that ends with errors in an undisturbed run
_EXPECTED = (KubeError, OSError, TimeoutError, LeadershipLost)


class RunFailed(Exception):
    """An oracle has found a failure; the run ends."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


@final
class SimulatedProcess:
    """A process of the simulation; `World.run` starts it.

    It starts again by itself after it crashed or failed, as a pod does.
    """

    def __init__(self, world: World, name: str, factory: Factory, *, fresh: Sequence[str]) -> None:
        self._world = world
        self.name = name
        self._factory = factory
        self._fresh = tuple(fresh)
        self.starts = 0
        self._incarnation: Incarnation | None = None
        self._running: Any = None  # what the factory has made
        self._ended: asyncio.Future[None] | None = None
        self.is_stopped = False
        self.last_error = ""  # that ended it
        self._supervisor: asyncio.Task[None] | None = None

    @property
    def is_running(self) -> bool:
        """Whether it runs now: not crashed, not paused, not stopped."""
        one = self._incarnation
        return one is not None and not one.is_dead and not one.is_paused

    def crash(self) -> None:
        """End it now: its tasks are never resumed, and its connections are reset."""
        one = self._incarnation
        if one is not None and not one.is_dead:
            self._world.note(self.name, "process", "crashes")
            self._world.keep_active(0.0)
            self._world.loop.kill(one)
            self._end()

    async def stop(self, *, within: float = 30.0) -> None:
        """Stop it as a SIGTERM does, and kill it after `within` virtual seconds.

        If cancelled, it may go on.
        """
        self.is_stopped = True
        one, ended = self._incarnation, self._ended
        if one is None or ended is None or ended.done():
            return
        stop = getattr(self._running, "stop", None)
        if stop is not None:
            context_of(one).run(stop)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(within):
                    await asyncio.shield(ended)
        self.crash()

    def upgrade(self, factory: Factory) -> None:
        """Replace the code: it crashes, and starts again from another factory."""
        self._factory = factory
        self.crash()

    def pause(self, seconds: float) -> None:
        """Run nothing of it for that many virtual seconds."""
        one = self._incarnation
        if one is not None and not one.is_dead:
            self._world.keep_active(seconds)
            self._world.injector.leases.on_pause(self.name, self._world.now + seconds)
            self._world.loop.pause(one)
            self._world.loop.call_later(seconds, self._world.loop.resume, one)

    def start(self) -> None:
        """Start it; `World.run` does this."""
        self._supervisor = self._world.loop.create_task(self._supervise(), name=f"run {self.name}")

    def _end(self) -> None:
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(None)

    async def _supervise(self) -> None:
        world = self._world
        while not self.is_stopped:  # it may be stopped while it waits for its next start
            self.starts += 1
            self._incarnation = one = Incarnation(self.name, self.starts)
            self._ended = world.loop.create_future()
            world.process_starts(self.name)
            with observe_outcomes(self._on_outcome):
                context = context_of(one)
            task = world.loop.create_task(self._main(), name=f"main {one}", context=context)
            task.add_done_callback(self._on_end, context=context_of(None))
            await self._ended
            one.is_dead = True
            await asyncio.sleep(world.chance.uniform(*_RESTART))

    async def _main(self) -> None:
        factory = _imported_again(self._factory, self._fresh)
        self._running = made = factory(self._world.config)
        run = getattr(made, "run", None)
        await (run() if run is not None else made)

    def _on_outcome(self, report: ReconcileReport) -> None:
        self._world.on_reconcile(self.name, report)

    def _on_end(self, task: asyncio.Task[None]) -> None:
        one = self._incarnation
        if one is None or one.is_dead:
            return
        error = None if task.cancelled() else task.exception()
        self._world.note(self.name, "process", f"ends: {error!r}" if error else "ends")
        self._world.loop.kill(one)
        if error is not None:
            self.last_error = _text(error)
            is_endless = not self._world.scenario.faults and self.starts > _MOST_STARTS
            if is_endless or not isinstance(error, _EXPECTED):
                times = f" {self.starts} times" if self.starts > 1 else ""
                self._world.report_unhandled(self.name, f"{self.name} ended{times}", error)
        self._end()

    def lost_errors(self) -> Iterator[BaseException]:
        """The errors of its tasks that ended, and that nothing has awaited."""
        one = self._incarnation
        if one is None or one.is_dead:
            return
        for task in sorted(cast("Any", one.tasks), key=lambda each: each.serial):
            # What asyncio would log when the task is freed; the program may keep it for ever.
            if task.done() and not task.cancelled() and task._log_traceback:
                error = task.exception()
                assert error is not None, "there is a traceback to log"
                yield error


@final
class _FailingKey:
    """A key of a controller whose last reconcile failed."""

    def __init__(self) -> None:
        self.count = 0
        self.outcome: Failed | None = None  # the last
        self.at = 0.0  # virtual seconds of the last failure

    def is_older_than(self, change: float) -> bool:
        """Whether it was not tried since a change, and will be."""
        return self.at <= change and self.outcome is not None and not self.outcome.terminal


@final
class World:
    """What a simulated test is given."""

    def __init__(
        self,
        loop: SimulatedLoop,
        scenario: Scenario,
        *,
        is_traced: bool = False,
        expected: Sequence[ExpectedFailure] = (),
    ) -> None:
        self.loop = loop
        self.scenario = scenario
        self.chance = random.Random(f"world {scenario.seed}")
        self.is_traced = is_traced
        self.timeline = Timeline(self)
        self._server = APIServer(port=SERVER_PORT, allow_hosts=[SERVER_NAME])
        self._client: Client | None = None
        self._processes: dict[str, SimulatedProcess] = {}
        self._always: list[tuple[str, Callable[[], object]]] = []
        self._workloads: asyncio.Task[None] | None = None
        self.reconciles: Counter[tuple[str, str, str]] = Counter()  # process, controller and key
        # The queues of controllers by process and name, from their first reconcile on.
        self._queues: dict[tuple[str, str], Callable[[], QueueStats]] = {}
        self.errors: dict[str, None] = {}
        self._expected = tuple(expected)
        self._failing: dict[tuple[str, str, str], _FailingKey] = {}  # as `reconciles`
        self._settled_at: float | None = None  # nothing has changed since then
        self.failure: Failure | None = None
        self._has_failed = asyncio.Event()
        self.injector = Injector(self, scenario.faults)

    # --- for the test

    @property
    def client(self) -> Client:
        """A client of the server, whose requests are never disturbed."""
        assert self._client is not None, "the world has begun"
        return self._client

    @property
    def config(self) -> ClusterConfig:
        """The configuration of the server, which is given to each factory."""
        return self._server.config

    @property
    def now(self) -> float:
        """Virtual seconds since the beginning."""
        return self.loop.time()

    def run(
        self, factory: Factory, *, name: str = "", replicas: int = 1, fresh: Sequence[str] = ()
    ) -> SimulatedProcess:
        """Run a process, which the simulation kills and starts again.

        Each start calls `factory` with the configuration of the server. Its module is imported
        again for that, and so are the modules that `fresh` names; all others are shared by all
        processes. With `replicas`, returns the first.

        Raises: InvalidArgument when the name is in use, or not a word.
        """
        name = name or _name_of(factory)
        if not _NAME.fullmatch(name):
            raise InvalidArgument(f"run {name!r}: the name has other characters than a-z 0-9 . _ -")
        if any(
            each.kind == "second-replica" and each.target == name for each in self.scenario.faults
        ):
            replicas = max(2, replicas)
            self.injector.fired += 1
        made = []
        for number in range(1, replicas + 1):
            own = name if number == 1 else f"{name}-{number}"
            if own in self._processes:
                raise InvalidArgument(f"run {own}: the name is in use (give another name=)")
            process = SimulatedProcess(self, own, factory, fresh=fresh)
            self._processes[own] = process
            made.append(process)
        for fault in self.scenario.faults:
            if fault.kind == "clock-skew" and fault.target == name:
                set_skew(name, fault.seconds)
        for process in made:
            process.start()
        return made[0]

    async def settle(self, *, quiet: float = 60.0, within: float = 3600.0) -> None:
        """Wait until there is nothing left to do.

        That is: for `quiet` virtual seconds no object has changed, leases and events aside, no
        process has started and no fault has lasted, and all processes run. The run fails if
        that takes longer than `within` virtual seconds, or if a controller then still reconciles
        a key more often than every two seconds.
        If cancelled, nothing is left behind.
        """
        if self._settled_at is not None and self.injector.active_until <= self._settled_at:
            return
        end = self.now + within
        changes = self.injector.changes.copy()
        while True:
            before = self.reconciles.copy()
            since = self.now
            await self._sleep_while_few_change(quiet, changes)
            is_quiet = self.injector.active_until <= since
            if is_quiet and all(
                each.is_running or each.is_stopped for each in self._processes.values()
            ):
                break
            if self.now > end:
                raise RunFailed(Failure("settles", self._describe_unrest(within)))
        for (process, controller, key), count in (self.reconciles - before).items():
            if count > quiet * _HOT:
                message = (
                    f"{process}: {controller} reconciles {key} without end: {count} times in"
                    f" {quiet:g} s in which nothing changed"
                )
                raise RunFailed(Failure("hot loop", message))
        for (process, name), queue in self._queues.items():
            ready = queue().ready
            if ready and self._processes[process].is_running:
                message = f"{process}: {ready} keys still wait in the queue of {name}"
                raise RunFailed(Failure("settles", message))
        self._settled_at = since

    def _describe_unrest(self, seconds: float) -> str:
        ended = [
            f"{each.name} has started {each.starts} times, because it ended with {each.last_error}"
            for each in self._processes.values()
            if each.last_error
        ]
        writes = f"objects still change after {seconds:g} s: {self.timeline.last_writes()}"
        return "; ".join([writes, *ended])

    async def _sleep_while_few_change(self, seconds: float, before: Counter[str]) -> None:
        for _ in range(10):
            await asyncio.sleep(seconds / 10)
            for name, count in (self.injector.changes - before).items():
                if count > _MOST_CHANGES:
                    what = f"{name} has changed {count} times: {self.timeline.last_writes()}"
                    raise RunFailed(Failure("settles", what))

    def objects(self, kind: type[T], *, namespace: str = "") -> list[T]:
        """The objects of a kind that the server stores now, without a request."""
        return self._server.objects(cast("Any", kind), namespace=namespace)

    def always(self, check: Callable[[], object], name: str = "") -> None:
        """Call `check` after every write: if it is false or raises, the run fails."""
        self._always.append((name or _name_of(check), check))

    async def eventually(
        self, check: Callable[[], object | Awaitable[object]], *, within: float = 600.0
    ) -> None:
        """Wait until `check` is true; the run fails after `within` virtual seconds.

        If cancelled, nothing is left behind.
        """
        end = self.now + within
        while True:
            found = check()
            if isinstance(found, Awaitable):
                found = await found
            if found:
                return
            if self.now > end:
                name = _name_of(check)
                raise RunFailed(Failure("eventually", f"{name} is not true after {within:g} s"))
            await asyncio.sleep(0.5)

    # --- for the simulation

    @property
    def network(self) -> Network:
        return self.loop.network

    @property
    def version(self) -> int:
        """The version of the server's store."""
        return self._server.version

    @property
    def server(self) -> APIServer:
        return self._server

    async def execute(self, test: Callable[[World], Coroutine[Any, Any, object]]) -> None:
        """Run the test, and wait for the end of all work. Raises: RunFailed, or the test's."""
        self.loop.set_exception_handler(self._on_loop_error)
        # Never left: after a run its worker process ends, and closes nothing in order.
        server = await self._server.__aenter__()
        server.subscribe(self.injector.on_change)
        server.faults.reactors.append(self.injector.react)
        # It waits as long as it takes: for a kind whose CRD a process installs, through any fault.
        timeouts = Timeouts(response=None, total=None)
        self._client = Client(rest=RESTClient(server.config, timeouts=timeouts))
        running = self.loop.create_task(self._run_test(test), name="the test")
        failing = self.loop.create_task(self._wait_for_failure(), name="the oracles")
        await asyncio.wait([running, failing], return_when=asyncio.FIRST_COMPLETED)
        if self.failure is not None:
            raise RunFailed(self.failure)
        running.result()

    async def _wait_for_failure(self) -> None:
        await self._has_failed.wait()

    async def _run_test(self, test: Callable[[World], Coroutine[Any, Any, object]]) -> None:
        await test(self)
        await self.settle()
        if not self.scenario.faults:
            await self._wait_for_retries()
        for process in self._processes.values():
            for error in process.lost_errors():
                self.report_lost(process.name, f"a task of {process.name} ended", error)

    async def _wait_for_retries(self, within: float = 3600.0) -> None:
        """Wait until each key that fails has been tried since the last change."""
        end = self.now + within
        while self.now < end and any(
            each.is_older_than(self.injector.active_until) for each in self._failing_now().values()
        ):
            await asyncio.sleep(10.0)
            await self.settle()

    def _failing_now(self) -> dict[tuple[str, str, str], _FailingKey]:
        return {
            (process, controller, key): failing
            for (process, controller, key), failing in self._failing.items()
            if not self._processes[process].is_stopped
        }

    def describe_failing(self) -> Iterator[str]:
        """The keys whose last reconcile failed, with what a report says about each."""
        for (process, controller, key), failing in self._failing_now().items():
            assert failing.outcome is not None, "it has failed"
            error = failing.outcome.error
            times = "once" if failing.count == 1 else f"{failing.count} times in a row"
            name = type(error).__name__
            yield (
                f"{process}: {controller} still fails for {key} at the end, {times}, the last time"
                f" with {_text(error)}\nIf that is right, say so:"
                f" @simulate(expect_failing={{{key!r}: {name}}})"
            )

    def report_unhandled(self, process: str, what: str, error: BaseException) -> None:
        """End the run with an error of a process, unless the test expects it."""
        if not self._is_expected([process], error):
            self.report(Failure("unhandled error", f"{what}: {_text(error)}"))

    def report_lost(self, process: str, what: str, error: BaseException) -> None:
        """End the run with an error that nothing handles.

        A fault explains errors of requests; a process of an undisturbed run has no excuse.
        """
        is_explained = self.scenario.faults or not process or isinstance(error, QueueShutDown)
        if not is_explained or not isinstance(error, _EXPECTED):
            self.report_unhandled(process, what, error)

    def on_logged_error(self, process: str, message: str, error: BaseException) -> None:
        """Kubeloop has caught an error, in a handler of an informer for example."""
        if isinstance(error, _EXPECTED) or self._is_expected([process], error):
            return
        if self.scenario.faults:
            self.errors[f"{_text(error)}: {message}"] = None
        else:
            self.report(Failure("unhandled error", f"{message}: {_text(error)}"))

    def _is_expected(self, names: Sequence[str], error: BaseException) -> bool:
        return any(each.covers(names, error) for each in self._expected)

    def report(self, failure: Failure | None) -> None:
        """End the run with a failure."""
        if failure is not None and self.failure is None:
            self.note("", "check", f"{failure.oracle}: {failure.message}")
            self.failure = failure
            self._has_failed.set()

    def note(self, process: str, kind: str, text: str) -> None:
        self.timeline.add(process, kind, text)

    def crash(self, name: str) -> None:
        if name in self._processes:
            self._processes[name].crash()

    def pause(self, name: str, seconds: float) -> None:
        if name in self._processes:
            self._processes[name].pause(seconds)

    def expire_history(self) -> None:
        self._server.service.expire_history()

    def keep_active(self, seconds: float) -> None:
        """Something happens that `settle` must wait for, for so many seconds."""
        self.injector.active_until = max(self.injector.active_until, self.now + seconds)

    def process_starts(self, name: str) -> None:
        self.note(name, "process", f"starts ({self._processes[name].starts})")
        self.keep_active(0.0)
        self._queues = {key: queue for key, queue in self._queues.items() if key[0] != name}
        self._failing = {key: each for key, each in self._failing.items() if key[0] != name}
        self.injector.leases.forget(name)
        self.injector.own_writes.forget(name)

    def check_always(self, what: str) -> None:
        """Call what the test has registered, after a write of `what`."""
        for name, check in self._always:
            try:
                is_true = check()
            except Exception as error:  # noqa: BLE001 - of the test's function
                self.report(Failure("always", f"{name} failed after {what}: {_text(error)}"))
            else:
                if is_true is False:
                    self.report(Failure("always", f"{name} is not true after {what}"))

    def is_served(self, seen: SeenRequest) -> bool:
        resource = GroupVersionResource(seen.group, seen.version, seen.resource)
        return self._server.serves(resource)

    def stored_version(self, seen: SeenRequest) -> int:
        """The version of the object of a request; 0 if it does not exist."""
        resource = GroupResource(seen.group, seen.resource)
        obj = self._server.find(resource, seen.name, namespace=seen.namespace)
        return int(obj["metadata"]["resourceVersion"]) if obj is not None else 0

    def start_workloads(self) -> None:
        """Start the controllers of deployments, pods and so on, once."""
        if self._workloads is None:
            context = context_of(Incarnation("cluster", 1))
            self._workloads = self.loop.create_task(
                self._run_workloads(), name="workloads", context=context
            )

    async def _run_workloads(self) -> None:
        from ..workloads import Workloads

        async with Workloads(self.config):
            await self.loop.create_future()

    def on_reconcile(self, process: str, report: ReconcileReport) -> None:
        """A controller of a process has reconciled a key."""
        name, key, outcome = report.controller, str(report.key), report.outcome
        self._queues[process, name] = report.queue
        self.reconciles[process, name, key] += 1
        if not isinstance(outcome, Failed):
            self._failing.pop((process, name, key), None)
            self.note(process, "reconcile", f"{name} {key}: {outcome!r}")
            return
        error = outcome.error
        self.note(process, "reconcile", f"{name} {key}: failed: {type(error).__name__}: {error}")
        if self._is_expected([key, f"{name} {key}"], error):
            self._failing.pop((process, name, key), None)
            return
        self.errors[_text(error)] = None
        failing = self._failing.setdefault((process, name, key), _FailingKey())
        failing.count += 1
        failing.outcome = outcome
        failing.at = self.now

    def _on_loop_error(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if error is None:
            self.report(Failure("unhandled error", str(context.get("message", ""))))
        else:
            process = getattr(context.get("task") or context.get("future"), "process", None)
            name = process.name if process is not None else ""
            self.report_lost(name, str(context.get("message", "")), error)


def _name_of(function: Callable[..., object]) -> str:
    name = str(getattr(function, "__name__", type(function).__name__))
    return name.removeprefix("make_").replace("_", "-").strip("<>")


def _text(error: BaseException) -> str:
    place = place_of_error(error)
    return f"{type(error).__name__}: {error}{f' ({place})' if place else ''}"


# --- modules

_copies = itertools.count(1)


def _imported_again(factory: Factory, fresh: Sequence[str]) -> Factory:
    """The same function of a new copy of its module."""
    qualname = getattr(factory, "__qualname__", "")
    module = sys.modules.get(getattr(factory, "__module__", ""))
    if module is None or not qualname or "<" in qualname or module.__name__ == "builtins":
        return factory
    if hasattr(factory, "__self__"):  # a method belongs to an object of the old module
        return factory
    with _forgotten(fresh):
        found: Any = _copy_of(module)
        for name in qualname.split("."):
            found = getattr(found, name)
    return cast("Factory", found)


def _copy_of(module: ModuleType) -> ModuleType:
    if module.__file__ is None:
        return module
    # A name of its own: annotations are looked up in the module of that name, at any later time.
    name = f"{module.__name__} (copy {next(_copies)})"
    spec = importlib.util.spec_from_file_location(
        name,
        module.__file__,
        submodule_search_locations=getattr(module, "__path__", None),
    )
    assert spec is not None, "a module with a file has a spec"
    assert spec.loader is not None, "a module with a file has a loader"
    sys.modules[name] = made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@contextlib.contextmanager
def _forgotten(names: Sequence[str]) -> Iterator[None]:
    """Import modules again in the block; the old ones are back afterwards."""
    kept = {
        name: module
        for name, module in sys.modules.items()
        if any(name == each or name.startswith(f"{each}.") for each in names)
    }
    # `from package import module` looks at the attribute of the package first.
    attributes = [
        (parent, name.rpartition(".")[2], module)
        for name, module in kept.items()
        if (parent := sys.modules.get(name.rpartition(".")[0])) is not None
    ]
    for name in kept:
        del sys.modules[name]
    for parent, name, _ in attributes:
        vars(parent).pop(name, None)
    try:
        yield
    finally:
        sys.modules.update(kept)
        for parent, name, module in attributes:
            setattr(parent, name, module)
