"""Simulates nodes and workload controllers: deployments roll out, pods run, jobs complete.

    async with APIServer() as server, Workloads(server.config):
        ...

Each kind has a module: pure functions decide, a reconcile function writes. `pods` holds what
they share, `simulation` starts their controllers.
"""

from __future__ import annotations

# For tests of kubeloop; not public.
from .pod_lifecycle import OUTCOME as OUTCOME
from .simulation import Workloads

__all__ = ["Workloads"]
