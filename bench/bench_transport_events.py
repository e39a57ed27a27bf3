"""Events of a real API server that arrive one by one, and the first list of many pods.

All informers run at the same time, each on the pods of a namespace of its own, and take turns: the
pods of one are changed, each change an event, then those of the next. Who has no turn sleeps. How
many events a client finds in one read depends on the machine and is half of their cost; so turns
are short and many, and a busy machine is the same for all.

From an event to its reconcile: between the server and each controller stands a relay, which notes
the moment when it hands the server's bytes to the controller's socket; the controller notes the
moment when reconcile begins. The controllers take turns with every event, and the next one comes
a moment after a reconcile: no event waits for another, and both are asleep when one comes.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import final
from urllib.parse import urlsplit

from bench.cluster import Cluster, client_go, cluster_with, cost_of, missing_assets, ours
from bench.controllers import Reconciler, commands, reconciling
from bench.etcd_writer import PodWriter, change_pods
from bench.line_process import TURNS_TIMEOUT, line_process
from bench.measure import Row, figures, ratio_of_turns
from bench.relay import Relay
from bench.scale import count
from kubeloop import run as run_loop

NAME = "transport: events"
GOAL = (
    "CPU for an event within 0.55 of client-go's with protobuf (keys) and 0.8 (decoded); from the "
    "socket to the start of reconcile in client-go's time; a cold sync for half of its CPU"
)

NAMESPACES = 12  # of the pods
EACH = 200  # pods of a namespace
EVENTS = 300  # in a turn
TURNS = count("EVENT_TURNS", 50, full=100)
RECONCILES = count("RECONCILES", 400, full=1_000)
REST = 0.005  # seconds between two events
SYNCED = count("PODS", 20_000)
SYNCS = count("SYNCS", 7, full=11)

GO, KEYS, DECODED, ASYNCIO = "client-go protobuf", "keys", "decoded", "keys, asyncio"

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


def _events(cluster: Cluster, program: Path) -> Runs:
    """CPU seconds of each turn."""
    contestants = {
        GO: [str(program), f"--kubeconfig={cluster.kubeconfig}"],
        KEYS: ours(),
        DECODED: ours("--handler=new"),
        ASYNCIO: ours("--asyncio"),
    }
    options = (f"--objects={EACH}", f"--events={EVENTS}", "--turns")
    runs: dict[str, list[float]] = {name: [] for name in contestants}
    with ExitStack() as stack:
        processes = [
            stack.enter_context(
                line_process(
                    [*command, *options, f"--namespace=team-{number}"], timeout=TURNS_TIMEOUT
                )
            )
            for number, command in enumerate(contestants.values())
        ]
        for process in processes:
            process.line()  # it has synced
        for turn in range(TURNS + 1):
            for number, (name, process) in enumerate(zip(runs, processes, strict=True)):
                pods = range(number, NAMESPACES * EACH, NAMESPACES)
                run_loop(change_pods(cluster.etcd, EVENTS, mark=str(turn), pods=pods))
                cost, _ = cost_of(process.line())
                if turn:  # the first is for warming up
                    runs[name].append(cost.cpu)
    return runs


def _event_rows(runs: Runs) -> Iterator[Row]:
    what = "an event"
    yield ratio_of_turns(f"{what}, keys, CPU / {GO}", runs[KEYS], runs[GO], at_most=0.55)
    yield ratio_of_turns(f"{what}, decoded, CPU / {GO}", runs[DECODED], runs[GO], at_most=0.8)
    yield ratio_of_turns(f"{what}, keys, CPU, uvloop / asyncio", runs[KEYS], runs[ASYNCIO])
    for name, costs in runs.items():
        yield figures(f"{what}, {name}", [cost / EVENTS * 1e6 for cost in costs], "µs CPU")


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
        # Pods are spread over the namespaces in turn.
        writer.change(which % EACH * NAMESPACES + self._namespace, mark)
        begun = self._reconciler.await_mark(mark).at
        return (begun - self._relay.last_before(begun, after=sent)) / 1e9


@contextmanager
def _relayed(cluster: Cluster, command: list[str], namespace: int) -> Iterator[RelayedController]:
    port = urlsplit(cluster.url).port
    assert port is not None  # it has one of its own
    with Relay(port) as relay, tempfile.TemporaryDirectory() as folder:
        # The certificate is good for any port.
        path = Path(folder, "kubeconfig")
        path.touch(mode=0o600)
        path.write_text(cluster.kubeconfig.read_text().replace(f":{port}", f":{relay.port}"))
        with reconciling([*command, f"--namespace=team-{namespace}"], path) as reconciler:
            yield RelayedController(reconciler, relay, namespace)


def _reconciles(cluster: Cluster, program: Path) -> Runs:
    """Seconds for each event."""
    contestants = commands(program, pods=EACH)
    runs: dict[str, list[float]] = {name: [] for name in contestants}
    writer = PodWriter(cluster.etcd)
    with ExitStack() as stack:
        controllers = {
            name: stack.enter_context(_relayed(cluster, command, namespace))
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
