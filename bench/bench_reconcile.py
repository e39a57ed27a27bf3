"""From a watch event on the socket to the start of its reconcile, beside client-go.

Between kube-apiserver and each controller stands a relay, which notes the moment when it hands
the server's bytes to the controller's socket; the controller notes the moment when reconcile
begins. One pod is changed at a time, and the next when that one has been reconciled and a
moment has passed: no event waits for another, and both controllers are asleep when one comes.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

from bench.cluster import client_go, cluster_with, missing_assets
from bench.controllers import commands, reconciling
from bench.etcd_writer import PodWriter
from bench.measure import Row, figures, ratios
from bench.relay import Relay
from bench.scale import count

NAME = "from an event to its reconcile"
GOAL = "from the socket to the start of reconcile in 1.5 of client-go's time"

PODS = 500
EVENTS = count("RECONCILES", 200, full=1_000)
ROUNDS = 3
REST = 0.005  # seconds between two events


def run() -> list[Row]:
    """An informer, a queue and one worker each; they take turns."""
    program = None if missing_assets() else client_go()
    if program is None:
        return [Row(NAME, missing_assets() or "skipped: no Go here to build client-go with")]
    contestants = commands(program, pods=PODS)
    runs: dict[str, list[float]] = {name: [] for name in contestants}
    with cluster_with(PODS) as cluster, tempfile.TemporaryDirectory() as folder:
        port = urlsplit(cluster.url).port
        assert port is not None  # it has one of its own
        for number in range(ROUNDS):
            for name, command in contestants.items():
                with Relay(port) as relay:
                    path = _through(relay, cluster.kubeconfig, port, Path(folder))
                    writer = PodWriter(cluster.etcd)
                    taken = _latencies(command, path, relay, writer, f"{name}-{number}")
                runs[name].append(statistics.median(taken) / 1e3)
    us, them = runs["kubeloop"], runs["client-go"]
    return [
        ratios(f"median of {EVENTS}, kubeloop / client-go", us, them, at_most=1.5),
        *(figures(f"median of {EVENTS}, {name}", found, "µs") for name, found in runs.items()),
    ]


def _through(relay: Relay, kubeconfig: Path, port: int, folder: Path) -> Path:
    """A kubeconfig that leads through the relay; the certificate is good for any port."""
    path = folder / "kubeconfig"
    path.touch(mode=0o600)
    path.write_text(kubeconfig.read_text().replace(f":{port}", f":{relay.port}"))
    return path


def _latencies(
    command: list[str], kubeconfig: Path, relay: Relay, writer: PodWriter, mark: str
) -> list[int]:
    taken = []
    with reconciling(command, kubeconfig) as reconciler:
        for number in range(EVENTS):
            time.sleep(REST)
            sent = time.time_ns()
            writer.change(number % PODS, f"{mark}-{number}")
            begun = reconciler.await_mark(f"{mark}-{number}").at
            taken.append(begun - relay.last_before(begun, after=sent))
    return taken
