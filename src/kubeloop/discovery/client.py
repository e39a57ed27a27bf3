"""Asks a server what it serves.

Promises: one or two requests where the server knows aggregated discovery, one for each
group version where it does not; a group version that fails is reported and the others are
there all the same; nothing is remembered.
Elsewhere: reading the answers (`parsing`), remembering (`memory_cache`, `disk_cache`).
"""

from __future__ import annotations

import asyncio
from typing import Protocol, final

import msgspec

from kubeloop.errors import InvalidArgument, KubeError, NotFound
from kubeloop.meta import GroupVersion, GroupVersionResource
from kubeloop.rest import Request, api_path, path_request
from kubeloop.wire import decode

from .groups import (
    ApiGroup,
    ApiResource,
    Discovered,
    namespaced_only,
    preferred_resources,
    supports_version,
)
from .openapi import OpenApiV3
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
from .sending import Sender, said_by

__all__ = ["TIMEOUT", "Discovery", "DiscoveryClient", "VersionInfo", "discover_each"]

TIMEOUT = 32.0
"""Seconds for a request of discovery where nobody says; told to the server as well."""

_OPENAPI_V2 = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"


class VersionInfo(msgspec.Struct, frozen=True, rename="camel"):
    """What `/version` says."""

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
    """What can be asked of a server, or of a cache in front of one."""

    async def groups(self) -> tuple[ApiGroup, ...]: ...
    async def resources(self, version: GroupVersion) -> tuple[ApiResource, ...]: ...
    async def discover(self) -> Discovered: ...


@final
class DiscoveryClient:
    """Groups, resources, version and OpenAPI of one server, asked for each time.

    `legacy` asks in the old form only; `no_peer` asks for what this very server serves,
    and not for what others of the cluster do. Every call is safe to cancel.
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
        return (await self.overview())[0]

    async def overview(self) -> tuple[tuple[ApiGroup, ...], Discovered | None]:
        """The groups and, where the server said it all at once, everything.

        Raises: what `/apis` fails with; a missing `/api` only means: no core group.
        """
        core = await self._core()
        named = await self._ask("/apis", self._accept)
        with said_by("GET /api and /apis"):
            return self._overview(core, named)

    def _overview(
        self, core: _Answer | None, named: _Answer
    ) -> tuple[tuple[ApiGroup, ...], Discovered | None]:
        if core is not None and is_aggregated(core.content_type) != is_aggregated(
            named.content_type
        ):
            # Half an answer is none: the caller asks for every group version.
            return (*_groups_of(core, core=True), *_groups_of(named)), None
        if not is_aggregated(named.content_type):
            first = _groups_of(core, core=True) if core is not None else ()
            return (*first, *_groups_of(named)), None
        parts = [parse_aggregated(each.body) for each in (core, named) if each is not None]
        return tuple(group for part in parts for group in part.groups), _joined(parts)

    async def resources(self, version: GroupVersion) -> tuple[ApiResource, ...]:
        """The resources of one group version, parts such as `pods/status` included.

        Raises: InvalidArgument for an empty version; what the server answers, but a missing
        `v1` is an empty one.
        """
        if not version.version:
            raise InvalidArgument("discover the resources of a group version: none was given")
        path = api_path(version.group, version.version)
        try:
            answer = await self._ask(path, ACCEPT_JSON)
        except NotFound:
            if version == GroupVersion("", "v1"):
                return ()
            raise
        with said_by(f"GET {path}"):
            return parse_resources(answer.body)

    async def discover(self) -> Discovered:
        """Everything; what failed is in `failures`, after a second try."""
        found = await self._discover()
        return await self._discover() if found.failures else found

    async def preferred(
        self, *, namespaced: bool = False
    ) -> dict[GroupVersion, tuple[ApiResource, ...]]:
        """Each resource once, in the version to use; with `namespaced` only those in one."""
        chosen = preferred_resources(await self.discover())
        return namespaced_only(chosen) if namespaced else chosen

    async def version(self) -> VersionInfo:
        """The server's version."""
        answer = await self._ask("/version", ACCEPT_JSON)
        with said_by("GET /version"):
            return decode(VersionInfo, answer.body)

    async def openapi_v2(self) -> bytes:
        """The OpenAPI v2 document as it comes: protobuf."""
        return (await self._ask("/openapi/v2", _OPENAPI_V2)).body

    async def supports(self, version: GroupVersion) -> bool:
        """Whether a group version is served; a server that lists nothing is believed to."""
        return supports_version(Discovered(await self.groups()), version)

    async def serves(self, resource: GroupVersionResource) -> bool:
        """Whether a resource is served (client-go: `IsResourceEnabled`)."""
        try:
            rows = await self.resources(resource.group_version)
        except NotFound:
            return False
        return any(row.name == resource.resource for row in rows)

    async def _discover(self) -> Discovered:
        groups, found = await self.overview()
        return found if found is not None else await discover_each(self, groups)

    async def _core(self) -> _Answer | None:
        try:
            return await self._ask("/api", self._accept)
        except NotFound:  # an aggregated server may have no core group
            return None

    async def _ask(self, path: str, accept: str) -> _Answer:
        request: Request = path_request("GET", path, accept=accept, timeout=self._timeout)
        answer = await self._rest.send(request)
        return _Answer(answer.content_type, answer.body)


class _Answer(msgspec.Struct, frozen=True):
    content_type: str
    body: bytes


def _groups_of(answer: _Answer, *, core: bool = False) -> tuple[ApiGroup, ...]:
    if is_aggregated(answer.content_type):
        return parse_aggregated(answer.body).groups
    if core:
        found = parse_core_versions(answer.body)
        return (found,) if found is not None else ()
    return parse_groups(answer.body)


def _joined(parts: list[Discovered]) -> Discovered:
    resources: dict[GroupVersion, tuple[ApiResource, ...]] = {}
    failures: dict[GroupVersion, Exception] = {}
    for part in parts:
        resources |= part.resources
        failures |= part.failures
    return Discovered(tuple(group for part in parts for group in part.groups), resources, failures)


async def discover_each(source: Discovery, groups: tuple[ApiGroup, ...]) -> Discovered:
    """Ask for every group version of `groups`, all at once; failures are kept beside."""
    versions = [version for group in groups for version in group.group_versions]
    answers = await asyncio.gather(*(_attempt(source, version) for version in versions))
    resources: dict[GroupVersion, tuple[ApiResource, ...]] = {}
    failures: dict[GroupVersion, Exception] = {}
    for version, answer in zip(versions, answers, strict=True):
        if isinstance(answer, KubeError):
            failures[version] = answer
        else:
            resources[version] = answer
    return Discovered(groups, resources, failures)


async def _attempt(source: Discovery, version: GroupVersion) -> tuple[ApiResource, ...] | KubeError:
    try:
        return await source.resources(version)
    except KubeError as error:
        return error
