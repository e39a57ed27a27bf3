"""Discovery: groups and resources of a server, mapping of kinds to resources, OpenAPI.

Guarantees: a group version that fails does not affect the others; every cache can be
invalidated.
See also: `kubeloop.rest` (requests), `kubeloop.clients` (objects).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubeloop._lazy import lazy_names

from .errors import AmbiguousMatch, GroupDiscoveryFailed, NoKindMatch, NoMatch, NoResourceMatch

# isort: split
# For other packages of kubeloop; not public.
from .errors import EmptyGroupVersion as EmptyGroupVersion
from .errors import NotInCache as NotInCache
from .errors import StaleGroupVersion as StaleGroupVersion
from .errors import failed_groups as failed_groups

if TYPE_CHECKING:
    from .client import DiscoveryClient, OpenApiV3, VersionInfo
    from .deferred_mapper import DeferredMapper
    from .disk_cache import DiskCache, cached_discovery
    from .groups import ApiGroup, ApiResource, DiscoveryResult
    from .mapper import RESTMapper
    from .memory_cache import MemoryCache
    from .shortcuts import expand_categories, expand_shortcut

    # isort: split
    # For other packages of kubeloop; not public.
    from .client import TIMEOUT as TIMEOUT
    from .client import Discovery as Discovery
    from .client import OpenApiPath as OpenApiPath
    from .deferred_mapper import MapperStats as MapperStats
    from .disk_cache import DEFAULT_TTL as DEFAULT_TTL
    from .files import DocumentCache as DocumentCache
    from .groups import namespaced_only as namespaced_only
    from .groups import preferred_resources as preferred_resources
    from .mapper import MapperErrors as MapperErrors
    from .mapper import UnionMapper as UnionMapper
    from .mapper import guess_plural as guess_plural
    from .memory_cache import is_transient as is_transient
    from .parsing import ACCEPT_AGGREGATED as ACCEPT_AGGREGATED
    from .parsing import ACCEPT_JSON as ACCEPT_JSON
    from .parsing import ACCEPT_NO_PEER as ACCEPT_NO_PEER
    from .parsing import is_aggregated as is_aggregated
    from .parsing import parse_aggregated as parse_aggregated
    from .parsing import parse_core_versions as parse_core_versions
    from .parsing import parse_groups as parse_groups
    from .parsing import parse_resources as parse_resources
    from .shortcuts import expand_category as expand_category
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            ".client": "Discovery DiscoveryClient OpenApiPath OpenApiV3 TIMEOUT VersionInfo",
            ".deferred_mapper": "DeferredMapper MapperStats",
            ".disk_cache": "DEFAULT_TTL DiskCache cached_discovery",
            ".files": "DocumentCache",
            ".groups": ("ApiGroup ApiResource DiscoveryResult namespaced_only preferred_resources"),
            ".mapper": "MapperErrors RESTMapper UnionMapper guess_plural",
            ".memory_cache": "MemoryCache is_transient",
            ".parsing": (
                "ACCEPT_AGGREGATED ACCEPT_JSON ACCEPT_NO_PEER is_aggregated "
                "parse_aggregated parse_core_versions parse_groups parse_resources"
            ),
            ".shortcuts": "expand_categories expand_category expand_shortcut",
        },
    )

__all__ = [
    "AmbiguousMatch",
    "ApiGroup",
    "ApiResource",
    "DeferredMapper",
    "DiscoveryClient",
    "DiscoveryResult",
    "DiskCache",
    "GroupDiscoveryFailed",
    "MemoryCache",
    "NoKindMatch",
    "NoMatch",
    "NoResourceMatch",
    "OpenApiV3",
    "RESTMapper",
    "VersionInfo",
    "cached_discovery",
    "expand_categories",
    "expand_shortcut",
]
