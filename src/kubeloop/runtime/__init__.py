"""Brings the rooms together: clients with caches, controllers, and the process around them.

Promises: a kind is cached because it was declared, never because it was read; a key is
reconciled by one worker at a time; a part that fails ends the process with its cause.
Nothing is imported before it is asked for: a script that wants a client loads no manager.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .admission import AdmissionRequest, Denied, Operation, UserInfo
    from .assembly import ManagerStats
    from .caches import NotCached
    from .certificates import ServingCertificate
    from .client import Client, InformerOptions
    from .context import Context
    from .controller import ControllerStats
    from .elections import LeaderElection
    from .finalizer import Cleanup, finalized
    from .handlers import MapFunction, WatchSource
    from .health import Check, HealthReport, Unhealthy
    from .life import RunnableEnded, ShutdownTimeout
    from .manager import GRACE, Manager
    from .metrics import RECONCILE_METRIC_NAMES
    from .predicates import (
        Predicate,
        all_of,
        annotations_changed,
        any_of,
        generation_changed,
        labels_changed,
        matching,
        none_of,
        version_changed,
    )
    from .process import log_in_background, tune_garbage_collector
    from .results import ReconcileTimeout, Result, TerminalError
    from .sources import ClientListWatch
    from .specs import RECONCILE_TIMEOUT, Reconcile
    from .status import update_status
    from .webhook_server import WebhookServer, WebhookStats

__all__ = [
    "GRACE",
    "RECONCILE_METRIC_NAMES",
    "RECONCILE_TIMEOUT",
    "AdmissionRequest",
    "Check",
    "Cleanup",
    "Client",
    "ClientListWatch",
    "Context",
    "ControllerStats",
    "Denied",
    "HealthReport",
    "InformerOptions",
    "LeaderElection",
    "Manager",
    "ManagerStats",
    "MapFunction",
    "NotCached",
    "Operation",
    "Predicate",
    "Reconcile",
    "ReconcileTimeout",
    "Result",
    "RunnableEnded",
    "ServingCertificate",
    "ShutdownTimeout",
    "TerminalError",
    "Unhealthy",
    "UserInfo",
    "WatchSource",
    "WebhookServer",
    "WebhookStats",
    "all_of",
    "annotations_changed",
    "any_of",
    "finalized",
    "generation_changed",
    "labels_changed",
    "log_in_background",
    "matching",
    "none_of",
    "tune_garbage_collector",
    "update_status",
    "version_changed",
]

_HOMES = {
    **dict.fromkeys(("AdmissionRequest", "Denied", "Operation", "UserInfo"), "admission"),
    "ManagerStats": "assembly",
    "NotCached": "caches",
    "ServingCertificate": "certificates",
    **dict.fromkeys(("Client", "InformerOptions"), "client"),
    "Context": "context",
    "ControllerStats": "controller",
    **dict.fromkeys(("RECONCILE_TIMEOUT", "Reconcile"), "specs"),
    "LeaderElection": "elections",
    **dict.fromkeys(("Cleanup", "finalized"), "finalizer"),
    **dict.fromkeys(("MapFunction", "WatchSource"), "handlers"),
    **dict.fromkeys(("Check", "HealthReport", "Unhealthy"), "health"),
    **dict.fromkeys(("RunnableEnded", "ShutdownTimeout"), "life"),
    **dict.fromkeys(("GRACE", "Manager"), "manager"),
    "RECONCILE_METRIC_NAMES": "metrics",
    **dict.fromkeys(
        (
            "Predicate",
            "all_of",
            "annotations_changed",
            "any_of",
            "generation_changed",
            "labels_changed",
            "matching",
            "none_of",
            "version_changed",
        ),
        "predicates",
    ),
    **dict.fromkeys(("tune_garbage_collector", "log_in_background"), "process"),
    **dict.fromkeys(("ReconcileTimeout", "Result", "TerminalError"), "results"),
    "ClientListWatch": "sources",
    "update_status": "status",
    **dict.fromkeys(("WebhookServer", "WebhookStats"), "webhook_server"),
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value  # found once, an ordinary name from then on
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
