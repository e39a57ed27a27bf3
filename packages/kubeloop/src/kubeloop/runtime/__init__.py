"""Clients with informers, controllers, and the manager that runs them.

Guarantees: a kind is cached because it was declared, never because it was read; a key is
reconciled by one worker at a time; a runnable that fails ends the manager with its error.
Names are imported when they are first used: a script with a client loads no manager.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubeloop._lazy import lazy_names

if TYPE_CHECKING:
    from .admission import AdmissionRequest, Denied
    from .caches import NotCached
    from .certificates import ServingCertificate
    from .client import Client, InformerOptions
    from .context import Context
    from .handlers import WatchSource
    from .health import Unhealthy
    from .leader_election import LeaderElection
    from .lifecycle import RunnableEnded, ShutdownTimeout
    from .manager import Manager
    from .outcomes import ReconcileReport
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
    from .results import ReconcileTimeout, Result, TerminalError
    from .specs import Reconcile
    from .updates import ensure_finalizer, update_status
    from .webhook_server import WebhookServer

    # isort: split
    # For other packages of kubeloop; not public.
    from .admission import Operation as Operation
    from .assembly import ManagerState as ManagerState
    from .assembly import ManagerStats as ManagerStats
    from .client import CacheOptions as CacheOptions
    from .context import open_context as open_context
    from .controller import ControllerStats as ControllerStats
    from .controller import FailingKey as FailingKey
    from .handlers import MapFunction as MapFunction
    from .health import HealthReport as HealthReport
    from .metrics import RECONCILE_METRIC_NAMES as RECONCILE_METRIC_NAMES
    from .outcomes import observe_outcomes as observe_outcomes
    from .process import log_in_background as log_in_background
    from .process import tune_garbage_collector as tune_garbage_collector
    from .results import Failed as Failed
    from .updates import Cleanup as Cleanup
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            ".admission": "AdmissionRequest Denied Operation",
            ".assembly": "ManagerState ManagerStats",
            ".caches": "NotCached",
            ".certificates": "ServingCertificate",
            ".client": "CacheOptions Client InformerOptions",
            ".context": "Context open_context",
            ".controller": "ControllerStats FailingKey",
            ".handlers": "MapFunction WatchSource",
            ".health": "HealthReport Unhealthy",
            ".leader_election": "LeaderElection",
            ".lifecycle": "RunnableEnded ShutdownTimeout",
            ".manager": "Manager",
            ".metrics": "RECONCILE_METRIC_NAMES",
            ".outcomes": "ReconcileReport observe_outcomes",
            ".predicates": (
                "Predicate all_of annotations_changed any_of generation_changed "
                "labels_changed matching none_of version_changed"
            ),
            ".process": "log_in_background tune_garbage_collector",
            ".results": "Failed ReconcileTimeout Result TerminalError",
            ".specs": "Reconcile",
            ".updates": "Cleanup ensure_finalizer update_status",
            ".webhook_server": "WebhookServer",
        },
    )

__all__ = [
    "AdmissionRequest",
    "Client",
    "Context",
    "Denied",
    "InformerOptions",
    "LeaderElection",
    "Manager",
    "NotCached",
    "Predicate",
    "Reconcile",
    "ReconcileReport",
    "ReconcileTimeout",
    "Result",
    "RunnableEnded",
    "ServingCertificate",
    "ShutdownTimeout",
    "TerminalError",
    "Unhealthy",
    "WatchSource",
    "WebhookServer",
    "all_of",
    "annotations_changed",
    "any_of",
    "ensure_finalizer",
    "generation_changed",
    "labels_changed",
    "matching",
    "none_of",
    "update_status",
    "version_changed",
]
