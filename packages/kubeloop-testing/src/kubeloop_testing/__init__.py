"""API servers to test against: one in this process, and a real control plane.

    async with APIServer() as server:       # pure Python, starts within milliseconds
        client = server.client()

    async with ControlPlane() as plane:     # etcd and kube-apiserver, from their binaries
        client = plane.client()

    async with APIServer() as server, Workloads(server.config):
        ...                                 # deployments roll out, pods run

Each name is imported when it is first used. pytest loads the fixtures by itself (`plugin`).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .api_server import APIServer
    from .control_plane import ControlPlane

    # For tests and tools of kubeloop; not public.
    from .control_plane import ControlPlaneFailed as ControlPlaneFailed
    from .control_plane import assets_folder as assets_folder
    from .existing_cluster import Server
    from .kubelet import Kubelet
    from .server.faults import Faults, Match, Reply, SeenRequest
    from .server.identity import User
    from .server.kubelet.files import File, FileTree, Folder, Link
    from .server.kubelet.processes import Process, TerminalSize
    from .server.service import StoredChange
    from .server.statuses import StatusError
    from .simulation.simulate import SimulationFailed, simulate
    from .simulation.world import SimulatedProcess, World
    from .threads import running_in_thread
    from .unit_context import reconcile_context
    from .workloads import Workloads

__all__ = [
    "APIServer",
    "ControlPlane",
    "Faults",
    "File",
    "FileTree",
    "Folder",
    "Kubelet",
    "Link",
    "Match",
    "Process",
    "Reply",
    "SeenRequest",
    "Server",
    "SimulatedProcess",
    "SimulationFailed",
    "StatusError",
    "StoredChange",
    "TerminalSize",
    "User",
    "Workloads",
    "World",
    "reconcile_context",
    "running_in_thread",
    "simulate",
]

__version__ = "0.2.0"

_MODULES = {
    "APIServer": "api_server",
    "ControlPlane": "control_plane",
    "ControlPlaneFailed": "control_plane",
    "Faults": "server.faults",
    "File": "server.kubelet.files",
    "FileTree": "server.kubelet.files",
    "Folder": "server.kubelet.files",
    "Kubelet": "kubelet",
    "Link": "server.kubelet.files",
    "Match": "server.faults",
    "Process": "server.kubelet.processes",
    "SimulatedProcess": "simulation.world",
    "SimulationFailed": "simulation.simulate",
    "StatusError": "server.statuses",
    "StoredChange": "server.service",
    "TerminalSize": "server.kubelet.processes",
    "Reply": "server.faults",
    "SeenRequest": "server.faults",
    "Server": "existing_cluster",
    "User": "server.identity",
    "Workloads": "workloads",
    "World": "simulation.world",
    "assets_folder": "control_plane",
    "reconcile_context": "unit_context",
    "running_in_thread": "threads",
    "simulate": "simulation.simulate",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_MODULES[name]}", __name__), name)
