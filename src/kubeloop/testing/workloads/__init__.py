"""A cluster that moves: deployments roll out, pods run, jobs complete, without any machine.

    async with APIServer() as server, Workloads(server.config):
        ...

One module for each kind: what has to be done is decided in plain functions, and a controller
does it. `pods` holds what they have in common, `simulation` puts them together.
"""

from __future__ import annotations

from .pod_life import OUTCOME
from .simulation import Workloads, WorkloadsStats

__all__ = ["OUTCOME", "Workloads", "WorkloadsStats"]
