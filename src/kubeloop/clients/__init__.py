"""Clients for every kind of the API: by class, by group and resource, or by name, as dicts.

Promises: one client for all kinds, fully typed; a change sends what was changed; fields
that are newer than the models survive.
Elsewhere: HTTP (`kubeloop.rest`), what the server serves (`kubeloop.discovery`), cached
reads (`kubeloop.runtime`).
"""

from __future__ import annotations

from ._generated.clientset import Clientset, Resources
from .applying import Appliable, ApplyErrors, Manifest, ManifestEntry, entries_in, in_order
from .client import APIClient, DynamicClient
from .collection import ALL_NAMESPACES, RawCollection
from .extraction import extract
from .forms import DEFAULT_MANAGER, PatchBody, PatchType
from .lists import (
    ACCEPT_TABLE,
    EventType,
    IncludeObject,
    ObjectList,
    Table,
    TableColumn,
    TableRow,
    WatchEvent,
)
from .metadata import MetadataClient, PartialObjectMetadata
from .options import (
    ApplyOptions,
    DeleteOptions,
    FieldSelection,
    FieldValidation,
    LabelSelection,
    ListArguments,
    ListOptions,
    Propagation,
    Selectors,
    VersionMatch,
    WatchOptions,
    WriteOptions,
    about,
)
from .paging import PAGE_SIZE, Pager
from .resource import ResourceClient
from .scale import ScaleClient
from .subresources import Proxy, ScaleVerbs, SubresourceClient, proxy_name
from .waiting import EventCondition, WaitTimeout, WatchClosed, until
from .writer import is_conflict, retry_on_conflict

__all__ = [
    "ACCEPT_TABLE",
    "ALL_NAMESPACES",
    "DEFAULT_MANAGER",
    "PAGE_SIZE",
    "APIClient",
    "Appliable",
    "ApplyErrors",
    "ApplyOptions",
    "Clientset",
    "DeleteOptions",
    "DynamicClient",
    "EventCondition",
    "EventType",
    "FieldSelection",
    "FieldValidation",
    "IncludeObject",
    "LabelSelection",
    "ListArguments",
    "ListOptions",
    "Manifest",
    "ManifestEntry",
    "MetadataClient",
    "ObjectList",
    "Pager",
    "PartialObjectMetadata",
    "PatchBody",
    "PatchType",
    "Propagation",
    "Proxy",
    "RawCollection",
    "ResourceClient",
    "Resources",
    "ScaleClient",
    "ScaleVerbs",
    "Selectors",
    "SubresourceClient",
    "Table",
    "TableColumn",
    "TableRow",
    "VersionMatch",
    "WaitTimeout",
    "WatchClosed",
    "WatchEvent",
    "WatchOptions",
    "WriteOptions",
    "about",
    "entries_in",
    "extract",
    "in_order",
    "is_conflict",
    "proxy_name",
    "retry_on_conflict",
    "until",
]
