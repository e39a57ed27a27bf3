"""Clients of the API: by class, by group and resource, or by name with dicts.

Guarantees: one client for all kinds, fully typed; `edit` and `modify` send only what changed;
fields that are newer than the models survive.
See also: `kubeloop.rest` (HTTP), `kubeloop.discovery` (what the server serves),
`kubeloop.runtime` (informers).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubeloop._lazy import lazy_names

if TYPE_CHECKING:
    from ._generated.clientset import Clientset
    from .access import Access, AccessRule, AccessRules
    from .apply_set import AppliedSet, ApplySet, PrunedObject, PruneFailed
    from .client import APIClient, DynamicClient
    from .collection import ALL_NAMESPACES
    from .drain import DrainFailed, DrainPlan, DrainRefused, DrainStep
    from .extraction import extract
    from .kinds import (
        CertificateSigningRequestClient,
        DaemonSetClient,
        NamespaceClient,
        NodeClient,
        ScalableClient,
        ServiceAccountClient,
        ServiceClient,
        WorkloadClient,
    )
    from .lists import ObjectList, Table, TableColumn, TableRow, WatchEvent
    from .manifests import AnyObject, ApplyErrors
    from .metadata import MetadataClient, PartialObjectMetadata
    from .object_client import ObjectClient
    from .options import ClientOptions, ListOptions, WatchOptions, event_selector
    from .ownership import ObjectTree
    from .paging import Pager
    from .pod_run import RunInterrupted, RunResult
    from .pods import PodClient
    from .resource import ResourceClient
    from .rollout import Revision, Rollout, RolloutFailed
    from .rollout_decision import RolloutProblem, RolloutStatus, rollout_status
    from .scale import ScaleClient
    from .subresources import Proxy, ScaleSubresource, SubresourceClient
    from .wait import WaitTimeout, until
    from .writer import retry_on_conflict

    # isort: split
    # For other packages of kubeloop; not public.
    from .cluster import AnyKind as AnyKind
    from .collection import RawCollection as RawCollection
    from .drain import DrainOptions as DrainOptions
    from .drain import PlanOptions as PlanOptions
    from .formats import ReadFormat as ReadFormat
    from .kinds import client_class as client_class
    from .lists import ACCEPT_TABLE as ACCEPT_TABLE
    from .lists import IncludeObject as IncludeObject
    from .manifests import Manifest as Manifest
    from .manifests import ManifestEntry as ManifestEntry
    from .manifests import apply_order as apply_order
    from .manifests import manifest_entries as manifest_entries
    from .metadata import METADATA_AS_PROTOBUF as METADATA_AS_PROTOBUF
    from .object_codecs import ACCEPT_PROTOBUF as ACCEPT_PROTOBUF
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
    from .wait import WatchClosed as WatchClosed
    from .writer import is_conflict as is_conflict
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "._generated.clientset": "Clientset",
            ".access": "Access AccessRule AccessRules",
            ".apply_set": "AppliedSet ApplySet PruneFailed PrunedObject",
            ".client": "APIClient DynamicClient",
            ".cluster": "AnyKind",
            ".collection": "ALL_NAMESPACES RawCollection",
            ".drain": ("DrainFailed DrainOptions DrainPlan DrainRefused DrainStep PlanOptions"),
            ".extraction": "extract",
            ".formats": "ReadFormat",
            ".kinds": (
                "CertificateSigningRequestClient DaemonSetClient NamespaceClient NodeClient "
                "ScalableClient ServiceAccountClient ServiceClient WorkloadClient client_class"
            ),
            ".lists": (
                "ACCEPT_TABLE IncludeObject ObjectList Table TableColumn TableRow WatchEvent"
            ),
            ".manifests": (
                "AnyObject ApplyErrors Manifest ManifestEntry apply_order manifest_entries"
            ),
            ".metadata": "METADATA_AS_PROTOBUF MetadataClient PartialObjectMetadata",
            ".object_client": "ObjectClient",
            ".object_codecs": "ACCEPT_PROTOBUF PatchBody PatchType",
            ".options": (
                "ApplyOptions ClientOptions DeleteOptions FieldSelection LabelSelection "
                "ListArguments ListOptions Propagation Selectors VersionMatch WatchOptions "
                "WriteOptions event_selector"
            ),
            ".ownership": "ObjectTree",
            ".paging": "PAGE_SIZE Pager",
            ".pod_run": "RunInterrupted RunResult",
            ".pods": "PodClient",
            ".resource": "ResourceClient",
            ".rollout": "Revision Rollout RolloutFailed",
            ".rollout_decision": "RolloutProblem RolloutStatus rollout_status",
            ".scale": "ScaleClient",
            ".subresources": "Proxy ScaleSubresource SubresourceClient proxy_name",
            ".wait": "EventCondition WaitTimeout WatchClosed until",
            ".writer": "is_conflict retry_on_conflict",
        },
    )

__all__ = [
    "ALL_NAMESPACES",
    "APIClient",
    "Access",
    "AccessRule",
    "AccessRules",
    "AnyObject",
    "AppliedSet",
    "ApplyErrors",
    "ApplySet",
    "CertificateSigningRequestClient",
    "ClientOptions",
    "Clientset",
    "DaemonSetClient",
    "DrainFailed",
    "DrainPlan",
    "DrainRefused",
    "DrainStep",
    "DynamicClient",
    "ListOptions",
    "MetadataClient",
    "NamespaceClient",
    "NodeClient",
    "ObjectClient",
    "ObjectList",
    "ObjectTree",
    "Pager",
    "PartialObjectMetadata",
    "PodClient",
    "Proxy",
    "PruneFailed",
    "PrunedObject",
    "ResourceClient",
    "Revision",
    "Rollout",
    "RolloutFailed",
    "RolloutProblem",
    "RolloutStatus",
    "RunInterrupted",
    "RunResult",
    "ScalableClient",
    "ScaleClient",
    "ScaleSubresource",
    "ServiceAccountClient",
    "ServiceClient",
    "SubresourceClient",
    "Table",
    "TableColumn",
    "TableRow",
    "WaitTimeout",
    "WatchEvent",
    "WatchOptions",
    "WorkloadClient",
    "event_selector",
    "extract",
    "retry_on_conflict",
    "rollout_status",
    "until",
]
