"""Servers to test against: one in this process, and a real control plane beside it.

    async with APIServer() as server:       # pure Python, starts in a blink
        client = server.client()

    async with ControlPlane() as plane:     # etcd and kube-apiserver, from their binaries
        client = plane.client()

    async with APIServer() as server, Workloads(server.config):
        ...                                 # deployments roll out, pods run

Nothing is imported before it is asked for. pytest finds the fixtures by itself (`plugin`).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .api_server import APIServer
    from .control_plane import ControlPlane, ControlPlaneFailed, assets_folder
    from .server.faults import Faults, Match, Reply, SeenRequest
    from .server.identity import User
    from .server.statuses import StatusError
    from .threads import running_in_thread
    from .workloads import Workloads

__all__ = [
    "APIServer",
    "ControlPlane",
    "ControlPlaneFailed",
    "Faults",
    "Match",
    "Reply",
    "SeenRequest",
    "StatusError",
    "User",
    "Workloads",
    "assets_folder",
    "running_in_thread",
]

_HOMES = {
    "APIServer": "api_server",
    "ControlPlane": "control_plane",
    "ControlPlaneFailed": "control_plane",
    "Faults": "server.faults",
    "Match": "server.faults",
    "StatusError": "server.statuses",
    "Reply": "server.faults",
    "SeenRequest": "server.faults",
    "User": "server.identity",
    "Workloads": "workloads",
    "assets_folder": "control_plane",
    "running_in_thread": "threads",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
