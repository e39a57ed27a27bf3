"""How soon a controller sees new writes after kube-apiserver was killed and started again.

Both controllers live through the same restart, and each restart has new ones, so that no wait
of an earlier one is left in their backoff. The clock starts when the server says that it is
ready and a pod has been changed, and stops when the reconcile of that pod begins; what the
server itself needs to come up is not in it. How long each still waits then is a matter of
luck, for both of them: it is the rest of a delay that is drawn between 0.8 s and 6.4 s.
"""

from __future__ import annotations

import statistics
import time
from contextlib import ExitStack
from pathlib import Path

from bench.cluster import Cluster, client_go, cluster_with, missing_assets
from bench.controllers import commands, reconciling
from bench.etcd_writer import PodWriter
from bench.measure import Row, figures, ratio
from bench.scale import count

NAME = "after a restart of the server"
GOAL = "new writes are seen as soon as client-go, with the same delays, sees them"

PODS = 2_000
ROUNDS = count("RESTARTS", 3, full=7)
SETTLED = 1.5  # seconds; a watch that ends within its first one counts as a failure of its own


def run() -> list[Row]:
    """The server is killed, not asked to end, on the same etcd."""
    program = None if missing_assets() else client_go()
    if program is None:
        return [Row(NAME, missing_assets() or "skipped: no Go here to build client-go with")]
    runs: dict[str, list[float]] = {}
    with cluster_with(PODS) as cluster:
        for number in range(ROUNDS):
            for name, waited in _restarted(cluster, program, f"restart-{number}").items():
                runs.setdefault(name, []).append(waited)
    return [
        ratio("kubeloop / client-go, medians", *(statistics.median(runs[name]) for name in runs)),
        *(figures(f"ready until seen, {name}", found, "s") for name, found in runs.items()),
    ]


def _restarted(cluster: Cluster, program: Path, mark: str) -> dict[str, float]:
    """Seconds that each controller waited."""
    with ExitStack() as stack:
        reconcilers = {
            name: stack.enter_context(reconciling(command, cluster.kubeconfig))
            for name, command in commands(program, pods=PODS).items()
        }
        time.sleep(SETTLED)
        cluster.restart_server()
        sent = time.time_ns()
        PodWriter(cluster.etcd).change(0, mark)
        return {
            name: (reconciler.await_mark(mark).at - sent) / 1e9
            for name, reconciler in reconcilers.items()
        }
