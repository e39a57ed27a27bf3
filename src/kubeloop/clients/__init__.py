"""Clients of the API: by class, by group and resource, or by name with dicts.

Guarantees: one client for all kinds, fully typed; `edit` and `modify` send only what changed;
fields that are newer than the models survive.
See also: `kubeloop.rest` (HTTP), `kubeloop.discovery` (what the server serves),
`kubeloop.runtime` (informers).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from ._generated.clientset import Clientset
from .client import APIClient, DynamicClient
from .collection import ALL_NAMESPACES
from .extraction import extract
from .lists import ObjectList, Table, TableColumn, TableRow, WatchEvent
from .manifests import AnyObject, ApplyErrors
from .metadata import MetadataClient, PartialObjectMetadata
from .options import ListOptions, WatchOptions, event_selector
from .paging import Pager
from .resource import ResourceClient
from .scale import ScaleClient
from .subresources import Proxy, SubresourceClient
from .wait import WaitTimeout, until
from .writer import retry_on_conflict

# For other packages of kubeloop; not public.
# isort: split
from .collection import RawCollection as RawCollection
from .lists import ACCEPT_TABLE as ACCEPT_TABLE
from .lists import IncludeObject as IncludeObject
from .manifests import ManifestEntry as ManifestEntry
from .manifests import apply_order as apply_order
from .manifests import manifest_entries as manifest_entries
from .object_codecs import PatchBody as PatchBody
from .object_codecs import PatchType as PatchType
from .options import ApplyOptions as ApplyOptions
from .options import DeleteOptions as DeleteOptions
from .options import FieldSelection as FieldSelection
from .options import LabelSelection as LabelSelection
from .options import ListArguments as ListArguments
from .options import Propagation as Propagation
from .options import Selectors as Selectors
from .options import VersionMatch as VersionMatch
from .options import WriteOptions as WriteOptions
from .paging import PAGE_SIZE as PAGE_SIZE
from .subresources import proxy_name as proxy_name
from .wait import EventCondition as EventCondition

if TYPE_CHECKING:  # imported when they are first used
    from .access import Access, AccessRule, AccessRules
    from .drain import DrainFailed, DrainPlan, DrainRefused, DrainStep

    # For other packages of kubeloop; not public.
    # isort: split
    from .drain import DrainOptions as DrainOptions
    from .drain import PlanOptions as PlanOptions

    # isort: split
    from .ownership import ObjectTree
    from .pod_run import RunInterrupted, RunResult
    from .rollout import Revision, Rollout, RolloutFailed
    from .rollout_decision import RolloutProblem, RolloutStatus, rollout_status

__all__ = [
    "ALL_NAMESPACES",
    "APIClient",
    "Access",
    "AccessRule",
    "AccessRules",
    "AnyObject",
    "ApplyErrors",
    "Clientset",
    "DrainFailed",
    "DrainPlan",
    "DrainRefused",
    "DrainStep",
    "DynamicClient",
    "ListOptions",
    "MetadataClient",
    "ObjectList",
    "ObjectTree",
    "Pager",
    "PartialObjectMetadata",
    "Proxy",
    "ResourceClient",
    "Revision",
    "Rollout",
    "RolloutFailed",
    "RolloutProblem",
    "RolloutStatus",
    "RunInterrupted",
    "RunResult",
    "ScaleClient",
    "SubresourceClient",
    "Table",
    "TableColumn",
    "TableRow",
    "WaitTimeout",
    "WatchEvent",
    "WatchOptions",
    "event_selector",
    "extract",
    "retry_on_conflict",
    "rollout_status",
    "until",
]
from .manifests import Manifest as Manifest
from .wait import WatchClosed as WatchClosed
from .writer import is_conflict as is_conflict

_MODULES = {
    "Access": "access",
    "AccessRule": "access",
    "AccessRules": "access",
    "ObjectTree": "ownership",
    "RunInterrupted": "pod_run",
    "RunResult": "pod_run",
    "DrainFailed": "drain",
    "DrainOptions": "drain",
    "DrainPlan": "drain",
    "DrainRefused": "drain",
    "DrainStep": "drain",
    "PlanOptions": "drain",
    "Revision": "rollout",
    "Rollout": "rollout",
    "RolloutFailed": "rollout",
    "RolloutProblem": "rollout_decision",
    "RolloutStatus": "rollout_decision",
    "rollout_status": "rollout_decision",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_MODULES[name]}", __name__), name)
