"""Events of a real API server that arrive one by one, and the first list of many pods.

All informers run at the same time, each on the pods of a namespace of its own, and take turns: the
pods of one are changed, each change an event, then those of the next. Who has no turn sleeps. How
many events a client finds in one read decides about their cost, and would depend on what else the
machine does. So a relay holds what the server sends, until a turn has all its events, and then
hands over 20 at once, or each alone, when the client has read those before. Those that come alone
wake a client that sleeps: their cost is mostly that of a cold start, which grows with the load of
the machine, and has no goal.

From an event to its reconcile: such a relay, which holds nothing back, notes the moment when it
hands the server's bytes to the controller's socket; the controller notes the moment when reconcile
begins. The controllers take turns with every event, and the next one comes a moment after a
reconcile: no event waits for another, and both are asleep when one comes.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import final
from urllib.parse import urlsplit

from bench.cluster import Cluster, client_go, cluster_with, cost_of, missing_assets, ours
from bench.controllers import Reconciler, commands, reconciling
from bench.etcd_writer import PodWriter
from bench.line_process import TIMEOUT, TURNS_TIMEOUT, LineProcess, line_process
from bench.measure import Row, figures, ratio_of_turns
from bench.relay import Relay
from bench.scale import count

NAME = "transport: events"
GOAL = (
    "CPU for an event within 0.55 of client-go's with protobuf (keys; 0.45 by protobuf) and 0.8 "
    "(decoded); from the socket to the start of reconcile in client-go's time; a cold sync for "
    "half of its CPU"
)

NAMESPACES = 12  # of the pods
EACH = 200  # pods of a namespace
EVENTS = 100  # in a turn
AT_ONCE = {"20 in a read": 20, "alone": 1}  # events that a client finds in one read
TURNS = count("EVENT_TURNS", 20, full=40)
SELDOM = 3  # every third of them also with events that come alone
RECONCILES = count("RECONCILES", 400, full=1_000)
REST = 0.005  # seconds between two events
SYNCED = count("PODS", 20_000)
SYNCS = count("SYNCS", 7, full=11)

GO, KEYS, DECODED, ASYNCIO = "client-go protobuf", "keys", "decoded", "keys, asyncio"
MESSAGES = "keys by protobuf"

Runs = Mapping[str, list[float]]


def run() -> Iterator[Row]:
    """Each informer and each controller in a process of its own."""
    program = None if missing_assets() else client_go()
    if program is None:
        yield Row(NAME, missing_assets() or "skipped: no Go here to build client-go with")
        return
    with cluster_with(NAMESPACES * EACH) as cluster:
        yield from _event_rows(_events(cluster, program))
        yield from _reconcile_rows(_reconciles(cluster, program))
        cluster.grow(SYNCED)
        yield from _sync_rows(_syncs(cluster, program))


# --- events


@final
class RelayedInformer:
    """An informer behind a relay, and the namespace whose pods it caches."""

    def __init__(self, process: LineProcess, relay: Relay, namespace: int) -> None:
        self._process = process
        self._relay = relay
        self._namespace = namespace

    def take_turn(self, writer: PodWriter, mark: str, *, at_once: int) -> float:
        """CPU seconds for `EVENTS` events, of which so many are in each read."""
        self._relay.hold()
        ends = [0]
        for event in range(EVENTS):
            writer.change(_pod(self._namespace, event), f"{mark}-{event}")
            ends.append(self._relay.await_message(ends[-1], timeout=TIMEOUT))
        self._relay.release_each(ends[at_once::at_once])
        return cost_of(self._process.line())[0].cpu


def _pod(namespace: int, which: int) -> int:
    """The number of a pod: they are spread over the namespaces in turn."""
    return which % EACH * NAMESPACES + namespace


@contextmanager
def _informer(cluster: Cluster, command: list[str], namespace: int) -> Iterator[RelayedInformer]:
    options = (f"--objects={EACH}", f"--events={EVENTS}", "--turns")
    with _relayed(cluster) as (relay, kubeconfig):
        path = str(kubeconfig)
        extra = [] if command[0] == sys.executable else [f"--kubeconfig={path}"]
        whole = [*command, *options, f"--namespace=team-{namespace}", *extra]
        env = {"KUBECONFIG": path}
        with line_process(whole, env=env, timeout=TURNS_TIMEOUT) as process:
            process.line()  # it has synced
            yield RelayedInformer(process, relay, namespace)


@contextmanager
def _relayed(cluster: Cluster) -> Iterator[tuple[Relay, Path]]:
    """A relay, and a kubeconfig that leads through it: the certificate is good for any port."""
    port = urlsplit(cluster.url).port
    assert port is not None  # it has one of its own
    with Relay(port) as relay, tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kubeconfig")
        path.touch(mode=0o600)
        path.write_text(cluster.kubeconfig.read_text().replace(f":{port}", f":{relay.port}"))
        yield relay, path


def _events(cluster: Cluster, program: Path) -> Runs:
    """CPU seconds of each turn, by contestant and events in a read."""
    contestants = {
        GO: [str(program)],
        KEYS: ours(),
        MESSAGES: ours("--format=protobuf"),
        DECODED: ours("--handler=new"),
        ASYNCIO: ours("--asyncio"),
    }
    writer = PodWriter(cluster.etcd)
    runs: dict[str, list[float]] = {f"{name}, {how}": [] for how in AT_ONCE for name in contestants}
    with ExitStack() as stack:
        informers = {
            name: stack.enter_context(_informer(cluster, command, namespace))
            for namespace, (name, command) in enumerate(contestants.items())
        }
        for turn in range(TURNS + 1):
            for how, at_once in AT_ONCE.items():
                if at_once == 1 and turn % SELDOM:
                    continue
                for name, informer in informers.items():
                    cost = informer.take_turn(writer, f"{turn}-{at_once}", at_once=at_once)
                    if turn:  # the first is for warming up
                        runs[f"{name}, {how}"].append(cost)
    return runs


def _event_rows(runs: Runs) -> Iterator[Row]:
    for how, at_once in AT_ONCE.items():
        keys, decoded, go, slow = (runs[f"{name}, {how}"] for name in (KEYS, DECODED, GO, ASYNCIO))
        messages = runs[f"{MESSAGES}, {how}"]
        goals = ((KEYS, keys, 0.55), (MESSAGES, messages, 0.45), (DECODED, decoded, 0.8))
        for name, costs, most in goals:
            what = f"an event, {name}, {how}, CPU / {GO}"
            yield ratio_of_turns(what, costs, go, at_most=most if at_once > 1 else None)
        yield ratio_of_turns(f"an event, {KEYS}, {how}, CPU, uvloop / asyncio", keys, slow)
    for name, costs in runs.items():
        yield figures(f"an event, {name}", [cost / EVENTS * 1e6 for cost in costs], "µs CPU")


# --- reconciles


@final
class RelayedController:
    """A controller behind a relay, and the namespace whose pods it reconciles."""

    def __init__(self, reconciler: Reconciler, relay: Relay, namespace: int) -> None:
        self._reconciler = reconciler
        self._relay = relay
        self._namespace = namespace

    def latency(self, writer: PodWriter, which: int, mark: str) -> float:
        """Seconds from the bytes of a change on the socket to the start of its reconcile."""
        sent = time.time_ns()
        writer.change(_pod(self._namespace, which), mark)
        begun = self._reconciler.await_mark(mark).at
        return (begun - self._relay.last_before(begun, after=sent)) / 1e9


@contextmanager
def _controller(
    cluster: Cluster, command: list[str], namespace: int
) -> Iterator[RelayedController]:
    whole = [*command, f"--namespace=team-{namespace}"]
    with _relayed(cluster) as (relay, path), reconciling(whole, path) as reconciler:
        yield RelayedController(reconciler, relay, namespace)


def _reconciles(cluster: Cluster, program: Path) -> Runs:
    """Seconds for each event."""
    contestants = commands(program, pods=EACH)
    runs: dict[str, list[float]] = {name: [] for name in contestants}
    writer = PodWriter(cluster.etcd)
    with ExitStack() as stack:
        controllers = {
            name: stack.enter_context(_controller(cluster, command, namespace))
            for namespace, (name, command) in enumerate(contestants.items())
        }
        for event in range(RECONCILES):
            for name, controller in controllers.items():
                time.sleep(REST)
                runs[name].append(controller.latency(writer, event, f"reconcile-{event}"))
    return runs


def _reconcile_rows(runs: Runs) -> Iterator[Row]:
    what = "from an event to its reconcile"
    us, them = runs["kubeloop"], runs["client-go"]
    yield ratio_of_turns(f"{what} / client-go", us, them, at_most=1.0)
    for name, taken in runs.items():
        yield Row(f"{what}, median, {name}", f"{statistics.median(taken) * 1e6:.0f} µs")


# --- cold syncs


def _syncs(cluster: Cluster, program: Path) -> Runs:
    """CPU seconds of each sync, which has a process of its own."""
    contestants = {
        "kubeloop": ours(),
        GO: [str(program), f"--kubeconfig={cluster.kubeconfig}"],
    }
    runs: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(SYNCS):
        for name, command in contestants.items():
            runs[name].append(cluster.run_informer(command).sync.cpu)
    return runs


def _sync_rows(runs: Runs) -> Iterator[Row]:
    what = f"cold sync of {SYNCED:,} pods"
    yield ratio_of_turns(f"{what}, CPU / {GO}", runs["kubeloop"], runs[GO], at_most=0.5)
    for name, costs in runs.items():
        yield figures(f"{what}, {name}", costs, "s CPU")
