"""Clients for every kind of the API: by class, by group and resource, or by name, as dicts.

Promises: one client for all kinds, fully typed; a change sends what was changed; fields
that are newer than the models survive.
Elsewhere: HTTP (`kubeloop.rest`), what the server serves (`kubeloop.discovery`), cached
reads (`kubeloop.runtime`).
"""

from __future__ import annotations

from ._generated.clientset import Clientset, Resources
from .actions import about
from .applying import Appliable, ApplyErrors, Manifest, ManifestEntry, entries_in, in_order
from .client import Client, DynamicClient
from .collection import ALL
from .conflicts import is_conflict, retry_on_conflict
from .extraction import extract
from .lists import EventType, ObjectList, WatchEvent
from .metadata import MetadataClient, PartialObjectMetadata
from .options import (
    FieldSelection,
    FieldValidation,
    LabelSelection,
    ListOptions,
    Propagation,
    VersionMatch,
    WatchOptions,
)
from .paging import PAGE_SIZE, Pager
from .proxy import Proxy, proxy_name
from .raw import RawCollection
from .resource import ResourceClient
from .scale import ScaleClient
from .subresources import ScaleVerbs, SubresourceClient
from .tables import ACCEPT_TABLE, IncludeObject, Table, TableColumn, TableRow
from .verbs import DEFAULT_MANAGER, PatchBody, PatchType
from .waiting import WaitTimeout
from .watching import EventCondition, WatchClosed, until

__all__ = [
    "ACCEPT_TABLE",
    "ALL",
    "DEFAULT_MANAGER",
    "PAGE_SIZE",
    "Appliable",
    "ApplyErrors",
    "Client",
    "Clientset",
    "DynamicClient",
    "EventCondition",
    "EventType",
    "FieldSelection",
    "FieldValidation",
    "IncludeObject",
    "LabelSelection",
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
    "SubresourceClient",
    "Table",
    "TableColumn",
    "TableRow",
    "VersionMatch",
    "WaitTimeout",
    "WatchClosed",
    "WatchEvent",
    "WatchOptions",
    "about",
    "entries_in",
    "extract",
    "in_order",
    "is_conflict",
    "proxy_name",
    "retry_on_conflict",
    "until",
]
