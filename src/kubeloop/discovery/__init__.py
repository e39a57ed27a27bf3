"""What a server serves: groups, resources, the way from a name to a resource, OpenAPI.

Promises: part of a server that fails takes nothing else with it; what is remembered can
be told to be forgotten.
Elsewhere: requests (`kubeloop.rest`), reading and writing objects (`kubeloop.clients`).
"""

from __future__ import annotations

from .answer_cache import AnswerCache
from .client import TIMEOUT, Discovery, DiscoveryClient, VersionInfo, discover_each
from .deferred import DeferredMapper, MapperStats
from .disk_cache import DEFAULT_TTL, DiskCache
from .errors import (
    AmbiguousMatch,
    EmptyGroupVersion,
    GroupDiscoveryFailed,
    NoKindMatch,
    NoMatch,
    NoResourceMatch,
    NotInCache,
    StaleGroupVersion,
    failed_groups,
)
from .groups import (
    ApiGroup,
    ApiResource,
    Discovered,
    infos_in,
    namespaced_only,
    preferred_resources,
    supports_version,
)
from .mapper import RESTMapper, guess_plural
from .memory_cache import CachedDiscovery, MemoryCache, MemoryCacheStats, is_transient
from .openapi import OpenApiPath, OpenApiV3
from .parsing import (
    ACCEPT_AGGREGATED,
    ACCEPT_JSON,
    ACCEPT_NO_PEER,
    is_aggregated,
    parse_aggregated,
    parse_core_versions,
    parse_groups,
    parse_resources,
)
from .sending import Sender, Sent
from .shortcuts import OnWarning, expand_categories, expand_category, expand_shortcut
from .stack import cached_discovery
from .union import Mapper, MapperErrors, UnionMapper

__all__ = [
    "ACCEPT_AGGREGATED",
    "ACCEPT_JSON",
    "ACCEPT_NO_PEER",
    "DEFAULT_TTL",
    "TIMEOUT",
    "AmbiguousMatch",
    "AnswerCache",
    "ApiGroup",
    "ApiResource",
    "CachedDiscovery",
    "DeferredMapper",
    "Discovered",
    "Discovery",
    "DiscoveryClient",
    "DiskCache",
    "EmptyGroupVersion",
    "GroupDiscoveryFailed",
    "Mapper",
    "MapperErrors",
    "MapperStats",
    "MemoryCache",
    "MemoryCacheStats",
    "NoKindMatch",
    "NoMatch",
    "NoResourceMatch",
    "NotInCache",
    "OnWarning",
    "OpenApiPath",
    "OpenApiV3",
    "RESTMapper",
    "Sender",
    "Sent",
    "StaleGroupVersion",
    "UnionMapper",
    "VersionInfo",
    "cached_discovery",
    "discover_each",
    "expand_categories",
    "expand_category",
    "expand_shortcut",
    "failed_groups",
    "guess_plural",
    "infos_in",
    "is_aggregated",
    "is_transient",
    "namespaced_only",
    "parse_aggregated",
    "parse_core_versions",
    "parse_groups",
    "parse_resources",
    "preferred_resources",
    "supports_version",
]
