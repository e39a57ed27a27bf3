"""Discovery: the groups, versions and resources of a server, and its OpenAPI documents.

Guarantees: one or two requests if the server supports aggregated discovery, else one for each
group version; a group version that fails is reported, and the others are returned; discovery
is not cached. An OpenAPI v3 document is requested under the hash of the index, so that HTTP
caches may keep it, and is decoded as plain JSON.
See also: `parsing` (the responses), `memory_cache` and `disk_cache`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, final
from urllib.parse import parse_qs, urlsplit

import msgspec

from kubeloop.errors import DecodeError, InvalidArgument, KubeError, NotFound
from kubeloop.meta import GroupVersion, GroupVersionResource
from kubeloop.rest import Request, api_path, path_request, uri_request
from kubeloop.wire import decode

from .groups import (
    ApiGroup,
    ApiResource,
    DiscoveryResult,
    namespaced_only,
    preferred_resources,
    supports_version,
)
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

if TYPE_CHECKING:  # imported with a cache on disk
    from .files import DocumentCache

__all__ = [
    "TIMEOUT",
    "Discovery",
    "DiscoveryClient",
    "OpenApiPath",
    "OpenApiV3",
    "Sender",
    "SentResponse",
    "VersionInfo",
    "add_request_to_errors",
    "discover_each",
]

TIMEOUT = 32.0
"""Default timeout of a request, in seconds; also sent to the server."""

_OPENAPI_V2 = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"


class VersionInfo(msgspec.Struct, frozen=True, rename="camel"):
    """The response of `/version`."""

    major: str = ""
    minor: str = ""
    git_version: str = ""
    git_commit: str = ""
    git_tree_state: str = ""
    build_date: str = ""
    go_version: str = ""
    compiler: str = ""
    platform: str = ""

    def __str__(self) -> str:
        return self.git_version


class Discovery(Protocol):
    """Discovery of a server, or of a cache in front of one."""

    async def groups(self) -> tuple[ApiGroup, ...]: ...
    async def resources(self, version: GroupVersion) -> tuple[ApiResource, ...]: ...
    async def discover(self) -> DiscoveryResult: ...


@final
class DiscoveryClient:
    """Groups, resources, version and OpenAPI of one server; each call sends a request.

    `legacy` uses no aggregated discovery; `no_peer` requests only the resources of this very
    server, without those of its peers. Every call is safe to cancel.
    """

    def __init__(
        self,
        rest: Sender,
        *,
        legacy: bool = False,
        no_peer: bool = False,
        timeout: float = TIMEOUT,
    ) -> None:
        self._rest = rest
        self._timeout = timeout
        self._accept = ACCEPT_JSON if legacy else ACCEPT_NO_PEER if no_peer else ACCEPT_AGGREGATED
        self.openapi = OpenApiV3(rest)

    async def groups(self) -> tuple[ApiGroup, ...]:
        """The groups with their versions, the core group first."""
        return (await self.groups_and_maybe_resources())[0]

    async def groups_and_maybe_resources(
        self,
    ) -> tuple[tuple[ApiGroup, ...], DiscoveryResult | None]:
        """The groups and, with aggregated discovery, all resources.

        Raises: the error of `/apis`. A missing `/api` means that there is no core group.
        """
        core = await self._core()
        named = await self._get("/apis", self._accept)
        with add_request_to_errors("GET /api and /apis"):
            return self._combine(core, named)

    def _combine(
        self, core: _Response | None, named: _Response
    ) -> tuple[tuple[ApiGroup, ...], DiscoveryResult | None]:
        if core is not None and is_aggregated(core.content_type) != is_aggregated(
            named.content_type
        ):
            # Only one of the two is aggregated: the caller requests every group version.
            return (*_groups_of(core, core=True), *_groups_of(named)), None
        if not is_aggregated(named.content_type):
            first = _groups_of(core, core=True) if core is not None else ()
            return (*first, *_groups_of(named)), None
        parts = [parse_aggregated(each.body) for each in (core, named) if each is not None]
        return tuple(group for part in parts for group in part.groups), _merge_results(parts)

    async def resources(self, version: GroupVersion) -> tuple[ApiResource, ...]:
        """The resources of one group version, with subresources such as `pods/status`.

        Raises: InvalidArgument for an empty version; ApiError, but a missing `v1` is empty.
        """
        if not version.version:
            raise InvalidArgument("discover the resources of a group version: the version is empty")
        path = api_path(version.group, version.version)
        try:
            response = await self._get(path, ACCEPT_JSON)
        except NotFound:
            if version == GroupVersion("", "v1"):
                return ()
            raise
        with add_request_to_errors(f"GET {path}"):
            return parse_resources(response.body)

    async def discover(self) -> DiscoveryResult:
        """Everything; group versions that failed twice are in `failures`."""
        found = await self._discover()
        return await self._discover() if found.failures else found

    async def preferred(
        self, *, namespaced: bool = False
    ) -> dict[GroupVersion, tuple[ApiResource, ...]]:
        """Each resource once, in its preferred version; with `namespaced` only namespaced ones."""
        chosen = preferred_resources(await self.discover())
        return namespaced_only(chosen) if namespaced else chosen

    async def version(self) -> VersionInfo:
        """The server's version."""
        response = await self._get("/version", ACCEPT_JSON)
        with add_request_to_errors("GET /version"):
            return decode(VersionInfo, response.body)

    async def openapi_v2(self) -> bytes:
        """The OpenAPI v2 document, as protobuf."""
        return (await self._get("/openapi/v2", _OPENAPI_V2)).body

    async def supports(self, version: GroupVersion) -> bool:
        """Whether a group version is served; True if the server lists none, as in client-go."""
        return supports_version(DiscoveryResult(await self.groups()), version)

    async def serves(self, resource: GroupVersionResource) -> bool:
        """Whether a resource is served (client-go: `IsResourceEnabled`)."""
        try:
            rows = await self.resources(resource.group_version)
        except NotFound:
            return False
        return any(row.name == resource.resource for row in rows)

    async def _discover(self) -> DiscoveryResult:
        groups, found = await self.groups_and_maybe_resources()
        return found if found is not None else await discover_each(self, groups)

    async def _core(self) -> _Response | None:
        try:
            return await self._get("/api", self._accept)
        except NotFound:  # an aggregated server may have no core group
            return None

    async def _get(self, path: str, accept: str) -> _Response:
        request: Request = path_request("GET", path, accept=accept, timeout=self._timeout)
        response = await self._rest.send(request)
        return _Response(response.content_type, response.body)


class _Response(msgspec.Struct, frozen=True):
    content_type: str
    body: bytes


def _groups_of(response: _Response, *, core: bool = False) -> tuple[ApiGroup, ...]:
    if is_aggregated(response.content_type):
        return parse_aggregated(response.body).groups
    if core:
        found = parse_core_versions(response.body)
        return (found,) if found is not None else ()
    return parse_groups(response.body)


def _merge_results(parts: list[DiscoveryResult]) -> DiscoveryResult:
    resources: dict[GroupVersion, tuple[ApiResource, ...]] = {}
    failures: dict[GroupVersion, Exception] = {}
    for part in parts:
        resources |= part.resources
        failures |= part.failures
    return DiscoveryResult(
        tuple(group for part in parts for group in part.groups), resources, failures
    )


async def discover_each(source: Discovery, groups: tuple[ApiGroup, ...]) -> DiscoveryResult:
    """Discover every group version of `groups` concurrently."""
    versions = [version for group in groups for version in group.group_versions]
    outcomes = await asyncio.gather(*(_attempt(source, version) for version in versions))
    resources: dict[GroupVersion, tuple[ApiResource, ...]] = {}
    failures: dict[GroupVersion, Exception] = {}
    for version, outcome in zip(versions, outcomes, strict=True):
        if isinstance(outcome, KubeError):
            failures[version] = outcome
        else:
            resources[version] = outcome
    return DiscoveryResult(groups, resources, failures)


async def _attempt(source: Discovery, version: GroupVersion) -> tuple[ApiResource, ...] | KubeError:
    try:
        return await source.resources(version)
    except KubeError as error:
        return error


class SentResponse(Protocol):
    """A successful response."""

    @property
    def body(self) -> bytes: ...
    @property
    def content_type(self) -> str: ...


class Sender(Protocol):
    """Sends a request; raises for an unsuccessful response."""

    async def send(self, request: Request, /) -> SentResponse: ...


@contextmanager
def add_request_to_errors(request: str) -> Iterator[None]:
    """Add the request to a `DecodeError` of this block."""
    try:
        yield
    except DecodeError as error:
        raise DecodeError(
            f"{request}: {error} (is this the API server, or a proxy in front of it?)"
        ) from error


# --- OpenAPI v3


class OpenApiPath(msgspec.Struct, frozen=True):
    """One entry of the index: its key, and the URL of its document."""

    key: str  # `apis/apps/v1`
    url: str  # relative to the server, with the hash

    @property
    def hash(self) -> str:
        """Changes with the document; empty if the server sends none."""
        return next(iter(parse_qs(urlsplit(self.url).query).get("hash", ())), "")


class _Entry(msgspec.Struct, rename={"url": "serverRelativeURL"}):
    url: str


class _Index(msgspec.Struct):
    paths: dict[str, _Entry] = {}


@final
class OpenApiV3:
    """The OpenAPI v3 documents of one server. The index is cached until `invalidate()`."""

    def __init__(self, rest: Sender, *, cache: DocumentCache | None = None) -> None:
        self._rest = rest
        self._cache = cache
        self._paths: dict[str, OpenApiPath] | None = None
        self._invalidations = 0

    async def paths(self) -> dict[str, OpenApiPath]:
        """The index. Safe to cancel."""
        if self._paths is not None:
            return dict(self._paths)
        invalidations = self._invalidations
        request = path_request("GET", "/openapi/v3", accept="application/json")
        response = await self._rest.send(request)
        with add_request_to_errors("GET /openapi/v3"):
            index = decode(_Index, response.body)
        found = {key: OpenApiPath(key, entry.url) for key, entry in index.paths.items()}
        if invalidations == self._invalidations:
            self._paths = found
        return dict(found)

    async def document(self, key: str | GroupVersion) -> dict[str, Any]:
        """The document of a group version, or of any other key of the index. Safe to cancel.

        Raises: InvalidArgument when the index has no such key.
        """
        name = _key(key) if isinstance(key, GroupVersion) else key
        path = (await self.paths()).get(name)
        if path is None:
            raise InvalidArgument(f"OpenAPI v3 of {name}: the server has no such document")
        text = await self._text(path)
        with add_request_to_errors(f"GET {path.url}"):
            return decode(dict[str, Any], text)

    def invalidate(self) -> None:
        """Drop the index, also that of a running request."""
        self._paths = None
        self._invalidations += 1

    async def _text(self, path: OpenApiPath) -> bytes:
        # A document under a hash never changes.
        cache = self._cache if path.hash else None
        cached = await cache.get(path.url) if cache else None
        if cached is not None:
            return cached
        response = await self._rest.send(uri_request("GET", path.url))
        if cache:
            await cache.put(path.url, response.body)
        return response.body


def _key(version: GroupVersion) -> str:
    return f"apis/{version}" if version.group else f"api/{version.version}"
