"""The client that a program holds: every kind, by class, by name or by its group's method.

Promises: nothing is connected or read before the first request; one transport serves all;
kinds that are built in or have a class are never looked up on the server.
Elsewhere: the verbs (`resource`), the groups' methods (`_generated.clientset`), cached
reads (`kubeloop.runtime`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack, final, overload

import msgspec

from kubeloop.config import ClusterConfig
from kubeloop.errors import (
    ConfigError,
    InvalidArgument,
    KubeError,
    NotFound,
    TransportError,
    Unauthorized,
)
from kubeloop.kit import Clock, Limiter, SystemClock, TokenBucket, poll
from kubeloop.meta import GroupVersion, GroupVersionKind, GroupVersionResource, Owner
from kubeloop.rest import (
    JSON,
    RequestSender,
    ResponseLimits,
    RESTClient,
    RESTStats,
    WarningHandler,
)
from kubeloop.wire import Kind, ResourceInfo, resource_for, resource_of, resources

from ._generated.clientset import Clientset
from .applying import (
    Appliable,
    Manifest,
    Outcome,
    entries_in,
    in_order,
    is_crd,
    served_versions,
)
from .collection import Collection, Lookup
from .forms import DictForm, TypedForm
from .metadata import MetadataClient
from .options import ApplyOptions, WriteOptions, check_keywords
from .resource import ResourceClient
from .scale import ScaleClient
from .waiting import WaitTimeout

if TYPE_CHECKING:  # for those who look kinds up, and not for every script
    from kubeloop.discovery import DeferredMapper, DiscoveryClient, MemoryCache, VersionInfo

__all__ = ["APIClient", "DynamicClient"]

K = TypeVar("K", bound=Kind)

_CRD_TIMEOUT = 60.0
_CRD_POLL = 0.1

AnyKind = type[Kind] | str | GroupVersionResource | GroupVersionKind


class APIClient(Clientset):
    """All of one cluster.

        async with Client() as client:                 # kubeconfig, or the pod's own account
            pods = client.resource(Pod, namespace="shop")
            deployments = client.apps_v1.deployments("shop")

    A namespace of None is the configuration's, `ALL` all of them. `field_manager` is who
    owns what is written, where a call does not say. `request_timeout` bounds each call, with
    its retries, in seconds; `rate_limit` is how many requests may go out a second (twice as
    many at once after a pause), or a limiter of yours; `response_limits` are the response size
    limits; `warnings` hears what the server warns
    of. Whoever needs more gives a `rest` of their own.
    """

    def __init__(
        self,
        config: ClusterConfig | None = None,
        *,
        rest: RequestSender | None = None,
        field_manager: str = "",
        request_timeout: float | None = None,
        rate_limit: float | Limiter | None = None,
        response_limits: ResponseLimits | None = None,
        warnings: WarningHandler | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._rest_options = _RESTOptions(
            config=config,
            clock=clock,
            request_timeout=request_timeout,
            rate_limit=rate_limit,
            response_limits=response_limits,
            warnings=warnings,
        )
        if rest is not None and not self._rest_options.is_default:
            raise InvalidArgument(
                "client: give a REST client, or what one is made of, not both"
                " (RESTClient takes limits, timeouts and handlers of warnings)"
            )
        if rest is not None and rest.codec.content_type != JSON:
            raise InvalidArgument(
                f"client: its REST client has a codec for {rest.codec.content_type}, but clients,"
                " lists and informers read and write JSON (leave out `codec`)"
            )
        self._given = rest
        self._field_manager = field_manager

    # --- its life

    async def __aenter__(self) -> Self:
        if self._given is None:
            await self._own_rest.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close every connection; a REST client that was given is its giver's. Safe to repeat."""
        if self._given is None:
            await self._own_rest.aclose()

    def stats(self) -> RESTStats:
        """What was asked of the server so far."""
        return self.rest.stats()

    @cached_property
    def rest(self) -> RequestSender:
        """Sends requests that have no verb here: a `RESTClient`, unless another was given.

        Raises: ConfigError when no configuration was given and none can be found.
        """
        return self._own_rest if self._given is None else self._given

    @property
    def config(self) -> ClusterConfig:
        return self.rest.config

    @property
    def namespace(self) -> str:
        """The namespace where none is given."""
        return self.config.namespace

    def __repr__(self) -> str:
        return f"Client({self.rest!r})"

    # --- collections

    @overload
    def resource(self, kind: type[K], /, *, namespace: str | None = ...) -> ResourceClient[K]: ...
    @overload
    def resource(
        self, api_version: str, kind: str, /, *, namespace: str | None = ...
    ) -> ResourceClient[dict[str, Any]]: ...
    @overload
    def resource(
        self, kind: GroupVersionKind | GroupVersionResource, /, *, namespace: str | None = ...
    ) -> ResourceClient[dict[str, Any]]: ...
    def resource(
        self, what: AnyKind, kind: str = "", /, *, namespace: str | None = None
    ) -> ResourceClient[Any]:
        """The objects of a kind: typed for a class, as dicts for a name.

        A name that is not built in is looked up on the server, at the first request.
        """
        collection = self._collection(what, kind, namespace)
        form = TypedForm(what) if isinstance(what, type) else DictForm()
        return ResourceClient(collection, form)

    def metadata(
        self, what: AnyKind, kind: str = "", /, *, namespace: str | None = None
    ) -> MetadataClient:
        """The metadata of the objects of a kind, which is named as for `resource`."""
        return MetadataClient(self._collection(what, kind, namespace))

    @cached_property
    def dynamic(self) -> DynamicClient:
        """Every kind as dicts, also those that have a class."""
        return DynamicClient(self)

    @cached_property
    def scales(self) -> ScaleClient:
        """Scales of anything that has one."""
        return ScaleClient(self.rest, self.mapper, self._cache, field_manager=self._field_manager)

    # --- what the server is

    @cached_property
    def discovery(self) -> DiscoveryClient:
        """What the server serves, asked each time."""
        from kubeloop.discovery import TIMEOUT, DiscoveryClient

        return DiscoveryClient(self.rest, timeout=self.config.timeout or TIMEOUT)

    @cached_property
    def mapper(self) -> DeferredMapper:
        """From names to resources, remembered; the server is asked again for unknown ones."""
        from kubeloop.discovery import DeferredMapper

        return DeferredMapper(self._cache, trust_fresh=False)

    async def version(self) -> VersionInfo:
        """The server's version. Safe to cancel."""
        return await self.discovery.version()

    # --- many at once

    @overload
    async def apply(self, what: K, **options: Unpack[ApplyOptions]) -> K: ...
    @overload
    async def apply(
        self, what: dict[str, Any], **options: Unpack[ApplyOptions]
    ) -> dict[str, Any]: ...
    @overload
    async def apply(
        self,
        what: Iterable[Appliable] | str | bytes | Path,
        *,
        kinds: Sequence[type[Kind]] = ...,
        **options: Unpack[ApplyOptions],
    ) -> list[Appliable]: ...
    async def apply(
        self,
        what: Manifest,
        *,
        kinds: Sequence[type[Kind]] = (),
        owner: Owner | None = None,
        namespace: str | None = None,
        force: bool = False,
        **options: Unpack[WriteOptions],
    ) -> Any:
        """Server-side apply of an object, of many, of a YAML text, or of a path to YAML.

        Namespaces and CRDs come first, and a CRD is waited for until it is served; the
        results are in the order of what was given. `namespace` is for objects that say
        none; `owner` becomes the controller of all; `kinds` are classes of your own that
        YAML is read as. An object that is refused, or a document that is no object, does
        not keep the others back; of a text or file that is not YAML nothing is applied.
        Raises: Conflict when another manager owns a field, unless `force`; InvalidArgument for
        what cannot be read; ApplyErrors, with all errors and what was applied, when there
        is more to say than one error. A cancelled call may have applied some.
        """
        if options:
            check_keywords("apply", options, WriteOptions)
        entries = entries_in(what, kinds=kinds)
        outcome = Outcome(len(entries))
        things = outcome.keep_good(entries, owner)
        crds: list[int] = []
        for index in in_order(things):
            if crds and not is_crd(things[index]):
                await self._wait_for_crds(crds, things, outcome)
                crds = []
            try:
                outcome.results[index] = await self._client_for(things[index], namespace).apply(
                    things[index], force=force, **options
                )
            except KubeError as error:
                outcome.errors[index] = error
                if isinstance(error, ConfigError | TransportError | Unauthorized):
                    crds = []
                    break  # the others would fare no better, nor would waiting for CRDs
            else:
                if is_crd(things[index]) and not options.get("dry_run"):
                    crds.append(index)
        await self._wait_for_crds(crds, things, outcome)
        ordered = outcome.in_full()
        return ordered[0] if isinstance(what, Kind | dict) else ordered

    # --- the steps

    @cached_property
    def _own_rest(self) -> RESTClient:
        return self._rest_options.open()

    @cached_property
    def _cache(self) -> MemoryCache:
        from kubeloop.discovery import MemoryCache

        return MemoryCache(self.discovery)

    def _client_for(self, thing: Appliable, namespace: str | None) -> ResourceClient[Any]:
        """The client that applies a thing; `namespace` is for one that says none."""
        if isinstance(thing, Kind):
            return ResourceClient(
                self._collection(type(thing), default=namespace), TypedForm(type(thing))
            )
        kind = GroupVersionKind.of(thing.get("apiVersion") or "", thing.get("kind") or "")
        return ResourceClient(self._collection(kind, default=namespace), DictForm())

    async def _wait_for_crds(
        self, indexes: Sequence[int], things: Mapping[int, Appliable], outcome: Outcome
    ) -> None:
        """Wait until every version of them is served, and discovery says so."""
        if not indexes:
            return
        from kubeloop.wire.apiextensions.v1 import CustomResourceDefinition

        definitions = self.resource(CustomResourceDefinition)
        for index in indexes:
            thing = things[index]
            crd = thing.to_dict() if isinstance(thing, Kind) else thing
            name = crd["metadata"]["name"]
            try:
                await definitions.wait_for(name, condition="Established", timeout=_CRD_TIMEOUT)
                for version, plural in served_versions(crd):
                    await self._wait_until_served(version, plural)
            except KubeError as error:
                outcome.errors[index] = error
        self.mapper.reset()

    async def _wait_until_served(self, version: GroupVersion, plural: str) -> None:
        served, clock = partial(self._serves, version, plural), self.rest.clock
        try:
            await poll(served, every=_CRD_POLL, clock=clock, within=_CRD_TIMEOUT)
        except TimeoutError as error:
            raise WaitTimeout(
                f"wait for {plural} in {version}: established, and not served within"
                f" {_CRD_TIMEOUT:g} s (look at the conditions of its CRD)",
                "established",
            ) from error

    async def _serves(self, version: GroupVersion, plural: str) -> bool:
        """Whether a resource is there, in each form of discovery that the server has."""
        try:
            alone = await self.discovery.resources(version)
        except NotFound:
            return False
        _, everything = await self.discovery.overview()
        among = alone if everything is None else everything.resources.get(version, ())
        return all(any(row.name == plural for row in rows) for rows in (alone, among))

    def _collection(
        self,
        what: AnyKind,
        kind: str = "",
        namespace: str | None = None,
        *,
        default: str | None = None,
    ) -> Collection:
        rest = self.rest
        return Collection(
            rest,
            self._find(what, kind, namespace),
            namespace=namespace,
            default_namespace=default or rest.config.namespace,
            field_manager=self._field_manager,
        )

    def _find(self, what: AnyKind, kind: str, namespace: str | None) -> ResourceInfo | Lookup:
        """The resource of a kind, or the lookup of one that is not built in."""
        if isinstance(what, type):
            return resource_of(what)
        if isinstance(what, GroupVersionResource):
            return _info_at(what, namespace)
        wanted = GroupVersionKind.of(what, kind) if isinstance(what, str) else what
        if not wanted.version or not wanted.kind:
            raise InvalidArgument(
                f"resource {wanted}: the apiVersion and the kind are needed"
            ).with_hint(python='write client.resource("example.com/v1", "Website")')
        known = resource_for(wanted.group, wanted.version, wanted.kind)
        return known or partial(self.mapper.mapping, wanted.group_kind, wanted.version)


def _info_at(resource: GroupVersionResource, namespace: str | None) -> ResourceInfo:
    """A resource by its name; nobody has to be asked where it is."""
    place = (resource.group, resource.version, resource.resource)
    for info in resources():
        if (info.group, info.version, info.plural) == place:
            return info
    return ResourceInfo(
        group=resource.group,
        version=resource.version,
        plural=resource.resource,
        kind="",
        singular="",
        namespaced=bool(namespace),
    )


class _RESTOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What a client without a given REST client makes its own from; None is the default."""

    config: ClusterConfig | None = None
    clock: Clock | None = None
    request_timeout: float | None = None
    rate_limit: float | Limiter | None = None
    response_limits: ResponseLimits | None = None
    warnings: WarningHandler | None = None

    def __post_init__(self) -> None:
        numbers = {"request_timeout": self.request_timeout, "rate_limit": self.rate_limit}
        for name, value in numbers.items():
            if isinstance(value, int | float) and not value > 0:
                raise InvalidArgument(f"client: {name}={value!r}: more than 0 is needed")

    @property
    def is_default(self) -> bool:
        return self == _RESTOptions()

    def open(self) -> RESTClient:
        """Raises: ConfigError when no configuration was given and none can be found."""
        clock = self.clock or SystemClock()
        config = self.config or ClusterConfig.load()
        if self.request_timeout is not None:
            config = msgspec.structs.replace(config, timeout=self.request_timeout)
        limiter = _limiter(self.rate_limit, clock)
        return RESTClient(
            config,
            clock=clock,
            limiter=limiter,
            response_limits=self.response_limits or ResponseLimits(),
            warnings=self.warnings,
        )


def _limiter(limit: float | Limiter | None, clock: Clock) -> Limiter | None:
    """A token bucket with a burst of two seconds, the proportion of client-go's defaults."""
    if isinstance(limit, int | float):
        return TokenBucket(limit, max(1, round(2 * limit)), clock=clock)
    return limit


@final
class DynamicClient:
    """Every kind as dicts: `client.dynamic.resource("apps/v1", "Deployment")`."""

    def __init__(self, client: APIClient) -> None:
        self._client = client

    def resource(
        self, what: AnyKind, kind: str = "", /, *, namespace: str | None = None
    ) -> ResourceClient[dict[str, Any]]:
        """The objects of a kind, named by class, apiVersion and kind, GVK or GVR."""
        return ResourceClient(self._client._collection(what, kind, namespace), DictForm())
