"""The client of one cluster: every kind, by class, by name or by the methods of a clientset.

Guarantees: no connection is opened and no file read before the first request; all resource
clients share one transport; kinds that are built in or have a class need no discovery.
See also: `resource` (verbs), `_generated.clientset` (methods of the groups), `kubeloop.runtime`
(informers).
"""

# ruff: noqa: ASYNC109 - `timeout` uses the client's clock, and its error names the object

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar, Unpack, cast, final, overload

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
from kubeloop.kit import Clock, Limiter, SystemClock, TokenBucket, poll, strict_keywords
from kubeloop.meta import GroupVersion, GroupVersionKind, GroupVersionResource, Owner
from kubeloop.rest import (
    Headers,
    RequestHook,
    RequestSender,
    ResponseLimits,
    RESTClient,
    RESTStats,
    WarningHandler,
    header_pairs,
    is_for_json,
)
from kubeloop.wire import Kind, ResourceInfo, resource_for, resource_of, resources
from kubeloop.wire.model import KindMeta

from ._generated.clientset import Clientset
from .cluster import AnyKind
from .collection import ALL_NAMESPACES, Collection, Lookup, ObjectCollection
from .formats import ReadFormat, ReadFormats
from .kinds import (
    CertificateSigningRequestClient,
    DaemonSetClient,
    NamespaceClient,
    NodeClient,
    PodClient,
    ScalableClient,
    ServiceAccountClient,
    ServiceClient,
    WorkloadClient,
    client_class,
)
from .object_codecs import DictCodec, TypedCodec
from .options import ApplyOptions, ClientOptions, WriteOptions, event_selector
from .resource import ResourceClient

if TYPE_CHECKING:  # imported by the methods that need them
    from kubeloop.discovery import DeferredMapper, DiscoveryClient, MemoryCache, VersionInfo
    from kubeloop.wire.apps.v1 import DaemonSet, Deployment, ReplicaSet, StatefulSet
    from kubeloop.wire.batch.v1 import Job
    from kubeloop.wire.certificates.v1 import CertificateSigningRequest
    from kubeloop.wire.core.v1 import (
        Event,
        Namespace,
        Node,
        Pod,
        ReplicationController,
        Service,
        ServiceAccount,
    )

    from .access import Access, AccessRules
    from .apply_set import AppliedSet
    from .manifests import AnyObject, ApplyOutcome, Manifest
    from .metadata import MetadataClient
    from .ownership import ObjectTree
    from .pod_run import RunResult
    from .scale import ScaleClient

__all__ = ["APIClient", "DynamicClient"]

K = TypeVar("K", bound=Kind)
W = TypeVar("W", "Deployment", "StatefulSet")
S = TypeVar("S", "ReplicaSet", "ReplicationController")

_CRD_TIMEOUT = 60.0
_CRD_POLL = 0.1
_MAX_PREPARED = 1024  # resource clients: a program may use any number of namespaces


class _Prepared(NamedTuple):
    """The objects of a class in a namespace, and their client."""

    objects: ObjectCollection[Any]
    client: ResourceClient[Any]


class APIClient(Clientset):
    """A client of one cluster.

        async with Client() as client:                 # kubeconfig, or in-cluster
            pods = client.resource(Pod, namespace="shop")
            deployments = client.apps_v1.deployments("shop")

    A namespace of None is that of the configuration, `ALL` is all namespaces. `field_manager` is
    the default owner of written fields. `request_timeout` bounds each call with its retries, in
    seconds; `rate_limit` is the number of requests per second (with a burst of twice as many), or
    a limiter; `response_limits` are the response size limits; `warnings` is called with warnings
    of the server; `headers` are sent with every request, and `hooks` are called for each (see
    `RequestHook`). With `tune_gc` the garbage collector of the process is paused while a list is
    decoded: lists of thousands of objects decode in half the time. With `format="protobuf"`
    built-in kinds and metadata are read as protobuf, which costs the server less and the client
    more than JSON; it needs the extra `kubeloop[protobuf]`.
    For other settings pass a `rest`.
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
        headers: Headers = (),
        hooks: Iterable[RequestHook] = (),
        clock: Clock | None = None,
        tune_gc: bool = False,
        format: ReadFormat | None = None,  # noqa: A002 - what it is
    ) -> None:
        self._rest_options = _RESTOptions(
            config=config,
            clock=clock,
            request_timeout=request_timeout,
            rate_limit=rate_limit,
            response_limits=response_limits,
            warnings=warnings,
            headers=header_pairs(headers),
            hooks=tuple(hooks),
        )
        if rest is not None and not self._rest_options.is_default:
            raise InvalidArgument(
                "client: pass `rest` or the options of a REST client, not both"
                " (RESTClient has limits, timeouts and warning handlers)"
            )
        if rest is not None and not is_for_json(rest.codec):
            raise InvalidArgument(
                f"client: the REST client has a codec that writes {rest.codec.content_type} and"
                f" accepts {rest.codec.accept}, but clients, lists and informers read and write"
                ' JSON (leave out `codec`; for reads as protobuf: Client(format="protobuf"))'
            )
        self._external_rest = rest
        self.options = ClientOptions(field_manager=field_manager, tune_gc=tune_gc, format=format)
        self._formats = ReadFormats(format)
        # Prepared once, because programs write `client.core_v1.pods("shop").get(…)` for each call.
        self._prepared: dict[tuple[type[Kind], str | None], _Prepared] = {}

    # --- lifecycle

    async def __aenter__(self) -> Self:
        if self._external_rest is None:
            await self._owned_rest.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close every connection, unless `rest` was passed. Safe to repeat."""
        if self._external_rest is None:
            await self._owned_rest.aclose()

    def stats(self) -> RESTStats:
        """Numbers of the REST client, and the resources that protobuf does not serve."""
        stats = self.rest.stats()
        json_only = self._formats.json_only
        return msgspec.structs.replace(stats, json_only=json_only) if json_only else stats

    @cached_property
    def rest(self) -> RequestSender:
        """Sends any request: a `RESTClient`, unless another sender was passed.

        Raises: ConfigError when no configuration was passed and none is found.
        """
        return self._owned_rest if self._external_rest is None else self._external_rest

    @property
    def config(self) -> ClusterConfig:
        return self.rest.config

    @property
    def namespace(self) -> str:
        """The namespace of the configuration."""
        return self.config.namespace

    def __repr__(self) -> str:
        return f"Client({self.rest!r})"

    # --- resource clients

    @overload
    def resource(self, kind: type[Pod], /, *, namespace: str | None = ...) -> PodClient: ...
    @overload
    def resource(self, kind: type[Node], /, *, namespace: str | None = ...) -> NodeClient: ...
    @overload
    def resource(self, kind: type[W], /, *, namespace: str | None = ...) -> WorkloadClient[W]: ...
    @overload
    def resource(
        self, kind: type[DaemonSet], /, *, namespace: str | None = ...
    ) -> DaemonSetClient: ...
    @overload
    def resource(self, kind: type[S], /, *, namespace: str | None = ...) -> ScalableClient[S]: ...
    @overload
    def resource(self, kind: type[Service], /, *, namespace: str | None = ...) -> ServiceClient: ...
    @overload
    def resource(
        self, kind: type[ServiceAccount], /, *, namespace: str | None = ...
    ) -> ServiceAccountClient: ...
    @overload
    def resource(
        self, kind: type[Namespace], /, *, namespace: str | None = ...
    ) -> NamespaceClient: ...
    @overload
    def resource(
        self, kind: type[CertificateSigningRequest], /, *, namespace: str | None = ...
    ) -> CertificateSigningRequestClient: ...
    @overload
    def resource(self, kind: type[K], /, *, namespace: str | None = ...) -> ResourceClient[K]: ...
    @overload
    def resource(
        self, kind: KindMeta, /, *, namespace: str | None = ...
    ) -> ResourceClient[Any]: ...
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
        """A client of one kind: typed for a class, with dicts for a name.

        A class whose kind has verbs of its own has a client with these, such as a `PodClient`.
        A kind that is not built in is looked up by discovery, at the first request.
        """
        if not isinstance(what, type):
            return self.dynamic.resource(what, kind, namespace=namespace)
        what = cast("type[Kind]", what)
        known = self._prepared.get((what, namespace)) or self._prepare(what, namespace)
        return known.client

    def metadata(
        self, what: AnyKind, kind: str = "", /, *, namespace: str | None = None
    ) -> MetadataClient:
        """A client of the metadata of one kind; arguments as for `resource`."""
        from .metadata import MetadataClient

        return MetadataClient(self._collection(what, kind, namespace))

    @cached_property
    def dynamic(self) -> DynamicClient:
        """Clients that use dicts for every kind."""
        return DynamicClient(self._collection)

    @cached_property
    def scales(self) -> ScaleClient:
        """The scale subresource of any resource."""
        from .scale import ScaleClient

        return ScaleClient(self.rest, self.mapper, self._cache)

    # --- discovery

    @cached_property
    def discovery(self) -> DiscoveryClient:
        """Discovery without a cache."""
        from kubeloop.discovery import TIMEOUT, DiscoveryClient

        return DiscoveryClient(self.rest, timeout=self.config.timeout or TIMEOUT)

    @cached_property
    def mapper(self) -> DeferredMapper:
        """From kinds to resources, cached; an unknown kind leads to a new request."""
        from kubeloop.discovery import DeferredMapper

        return DeferredMapper(self._cache, trust_fresh=False)

    async def version(self) -> VersionInfo:
        """The server's version. Safe to cancel."""
        return await self.discovery.version()

    # --- apply

    @overload
    async def apply(self, what: K, **options: Unpack[ApplyOptions]) -> K: ...
    @overload
    async def apply(
        self, what: dict[str, Any], **options: Unpack[ApplyOptions]
    ) -> dict[str, Any]: ...
    @overload
    async def apply(
        self,
        what: Iterable[AnyObject] | str | bytes | Path,
        *,
        kinds: Sequence[type[Kind]] = ...,
        **options: Unpack[ApplyOptions],
    ) -> list[AnyObject]: ...
    @strict_keywords
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
        """Server-side apply of one object, several objects, YAML, or the path of YAML.

        Returns the object for one object, else a list in the order of the manifest. Namespaces
        and CRDs are applied first, and the call waits until a CRD is served. `namespace` is for
        objects that have none; `owner` becomes the controller of all; `kinds` are your classes
        for the objects of the YAML. If an object is rejected, the others are applied; if a text
        or file is not YAML, nothing of it is.
        Raises: Conflict when another manager owns a field, unless `force`; InvalidArgument for a
        manifest that cannot be read; ApplyErrors, with all errors and the applied objects, if
        several objects were given. A cancelled call may have applied some.
        """
        from .manifests import ApplyOutcome, apply_order, check_identity, is_crd, manifest_entries

        if isinstance(what, Kind | dict) and not is_crd(what):
            check_identity(what)
            objects = self._objects_for(what, namespace)
            return await objects.apply(what, options, force=force, owner=owner)
        entries = manifest_entries(what, kinds=kinds)
        outcome = ApplyOutcome(len(entries))
        valid = outcome.select_valid(entries)
        crds: list[int] = []
        for index in apply_order(valid):
            if crds and not is_crd(valid[index]):
                await self._wait_for_crds(crds, valid, outcome)
                crds = []
            try:
                objects = self._objects_for(valid[index], namespace)
                outcome.results[index] = await objects.apply(
                    valid[index], options, force=force, owner=owner
                )
            except KubeError as error:
                outcome.errors[index] = error
                if isinstance(error, ConfigError | TransportError | Unauthorized):
                    crds = []
                    break  # the other objects would fail as well, and so would the wait for CRDs
            else:
                if is_crd(valid[index]) and not options.get("dry_run"):
                    crds.append(index)
        await self._wait_for_crds(crds, valid, outcome)
        ordered = outcome.results_or_raise()
        return ordered[0] if isinstance(what, Kind | dict) else ordered

    @strict_keywords
    async def apply_set(
        self,
        name: str,
        what: Manifest,
        /,
        *,
        kinds: Sequence[type[Kind]] = (),
        namespace: str | None = None,
        force: bool = False,
        **options: Unpack[WriteOptions],
    ) -> AppliedSet:
        """Apply a manifest, and delete what an earlier one had and this one has not.

            result = await client.apply_set("shop", Path("manifests"))

        The objects get a label, and a Secret of this name keeps their kinds and namespaces, as
        with `kubectl apply --prune --applyset`; `configmaps/shop` uses a ConfigMap. `what`,
        `kinds` and `namespace` are as for `apply`. Nothing is deleted unless everything was
        applied. With `force`, fields of other managers and members of other sets are taken over.
        Raises: as `apply`; InvalidArgument for a set of another tool and for members of another
        set; PruneFailed when something cannot be deleted. After a cancelled or failed call, the
        next one completes it.
        """
        from .apply_set import AppliedSet, ApplySet, manifest_objects

        objects = manifest_objects(what, kinds=kinds)
        dry_run = options.get("dry_run", False)
        opened = await ApplySet.open(self, name, namespace=namespace, force=force, dry_run=dry_run)
        members = await opened.prepare(objects)
        applied = await self.apply(members, namespace=namespace, force=force, **options)
        return AppliedSet(tuple(applied), await opened.prune(applied))

    # --- access, runs, relations

    async def can_i(
        self,
        verb: str,
        what: type[Kind] | str,
        /,
        *,
        name: str = "",
        subresource: str = "",
        namespace: str | None = None,
    ) -> Access:
        """Whether this client may do something: `if await client.can_i("delete", Pod): ...`.

        `what` is a class, a resource such as `deployments.apps`, or a path such as `/metrics`.
        Safe to cancel.
        """
        from kubeloop.wire.authorization.v1 import SelfSubjectAccessReview

        from .access import can_i

        return await can_i(
            self,
            self.resource(SelfSubjectAccessReview),
            verb,
            what,
            name=name,
            subresource=subresource,
            namespace=namespace,
        )

    async def what_can_i(self, *, namespace: str | None = None) -> AccessRules:
        """Everything that this client may do in a namespace. Safe to cancel."""
        from kubeloop.wire.authorization.v1 import SelfSubjectRulesReview

        from .access import what_can_i

        return await what_can_i(
            self.resource(SelfSubjectRulesReview),
            namespace=self.namespace if namespace is None else namespace,
        )

    async def run(
        self,
        what: Pod | Job | str,
        command: Sequence[str] = (),
        /,
        *,
        namespace: str | None = None,
        timeout: float | None = 600.0,
        keep: bool = False,
    ) -> RunResult:
        """Run an image, a pod or a job to its end; returns exit code and logs.

        The object is deleted afterwards, also after an error, unless `keep`. A name is generated
        if there is none; a pod without a restart policy is not restarted.
        Raises: WaitTimeout, which says what the pod waits for; RunInterrupted when it was
        deleted. If the call is cancelled, the object is deleted first.
        """
        from kubeloop.wire.core.v1 import Pod

        from .pod_run import run_pod

        pods = self._objects(Pod, namespace)
        return await run_pod(pods, what, command, timeout=timeout, keep=keep)

    async def owners(self, obj: AnyObject, /) -> ObjectTree:
        """The object with its owners, their owners, and so on. Safe to cancel.

        Raises: InvalidArgument for an object without a uid.
        """
        from .ownership import owners_of

        return await owners_of(self, obj)

    async def children(self, obj: AnyObject, /) -> ObjectTree:
        """The object with what it owns, what that owns, and so on. Safe to cancel.

        Lists the metadata of all kinds, except events and v1 Endpoints, in the namespace of the
        object, or in the cluster if it has none. `unread` names those that cannot be listed.
        Raises: InvalidArgument without a uid.
        """
        from .ownership import children_of

        return await children_of(self, obj)

    async def events_of(self, obj: AnyObject, /) -> list[Event]:
        """The events about an object, oldest first. Safe to cancel."""
        from kubeloop.wire.core.v1 import Event

        metadata = (obj if isinstance(obj, dict) else obj.to_dict()).get("metadata") or {}
        # Those of a cluster-scoped object are in any namespace, usually in default.
        events = self.resource(Event, namespace=metadata.get("namespace") or ALL_NAMESPACES)
        found = await events.list_all(field_selector=event_selector(obj))
        return sorted(found, key=_event_time)

    # --- internal

    @cached_property
    def _owned_rest(self) -> RESTClient:
        return self._rest_options.open()

    @cached_property
    def _cache(self) -> MemoryCache:
        from kubeloop.discovery import MemoryCache

        return MemoryCache(self.discovery)

    def _objects(self, kind: type[K], namespace: str | None) -> ObjectCollection[K]:
        known = self._prepared.get((kind, namespace)) or self._prepare(kind, namespace)
        return known.objects

    def _prepare(self, kind: type[Kind], namespace: str | None) -> _Prepared:
        objects: ObjectCollection[Any] = ObjectCollection(
            self._collection(kind, "", namespace), TypedCodec(kind)
        )
        if len(self._prepared) >= _MAX_PREPARED:
            self._prepared.clear()
        known = self._prepared[kind, namespace] = _Prepared(objects, client_class(kind)(objects))
        return known

    def _objects_for(self, obj: AnyObject, namespace: str | None) -> ObjectCollection[Any]:
        """The collection of an object; `namespace` is for one that has none."""
        if isinstance(obj, Kind):
            kind = type(obj)
            if not namespace:
                return self._objects(kind, None)
            return ObjectCollection(self._collection(kind, default=namespace), TypedCodec(kind))
        named = GroupVersionKind.of(obj.get("apiVersion") or "", obj.get("kind") or "")
        return ObjectCollection(self._collection(named, default=namespace), DictCodec())

    async def _wait_for_crds(
        self, indexes: Sequence[int], objects: Mapping[int, AnyObject], outcome: ApplyOutcome
    ) -> None:
        """Wait until every version of the CRDs is served, and discovery has it."""
        if not indexes:
            return
        from kubeloop.wire.apiextensions.v1 import CustomResourceDefinition

        from .manifests import served_versions

        definitions = self.resource(CustomResourceDefinition)
        for index in indexes:
            obj = objects[index]
            crd = obj.to_dict() if isinstance(obj, Kind) else obj
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
            from .wait import WaitTimeout

            raise WaitTimeout(
                f"wait for {plural} in {version}: established, but not served within"
                f" {_CRD_TIMEOUT:g} s (check the conditions of the CRD)",
                "established",
            ) from error

    async def _serves(self, version: GroupVersion, plural: str) -> bool:
        """Whether discovery has a resource, aggregated and for its group version."""
        try:
            single = await self.discovery.resources(version)
        except NotFound:
            return False
        _, everything = await self.discovery.groups_and_maybe_resources()
        aggregated = single if everything is None else everything.resources.get(version, ())
        return all(any(row.name == plural for row in rows) for rows in (single, aggregated))

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
            options=self.options,
            formats=self._formats,
        )

    def _find(self, what: AnyKind, kind: str, namespace: str | None) -> ResourceInfo | Lookup:
        """The resource of a kind, or a lookup if it is not built in."""
        if isinstance(what, type):
            return resource_of(what)
        if isinstance(what, GroupVersionResource):
            return _info_at(what, namespace)
        requested = GroupVersionKind.of(what, kind) if isinstance(what, str) else what
        if not requested.version or not requested.kind:
            raise InvalidArgument(
                f"resource {requested}: apiVersion and kind are required"
            ).with_hint(python='write client.resource("example.com/v1", "Website")')
        known = resource_for(requested.group, requested.version, requested.kind)
        return known or partial(self.mapper.mapping, requested.group_kind, requested.version)


def _event_time(event: Event) -> str:
    """When an event was last seen, as text that can be compared."""
    series = event.series.last_observed_time if event.series is not None else None
    times = (series, event.last_timestamp, event.event_time, event.metadata.creation_timestamp)
    return next((each.isoformat() for each in times if each is not None), "")


def _info_at(resource: GroupVersionResource, namespace: str | None) -> ResourceInfo:
    """A resource by its name, which needs no discovery."""
    names = (resource.group, resource.version, resource.resource)
    for info in resources():
        if (info.group, info.version, info.plural) == names:
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
    """The options of the REST client that a client opens itself; None is the default."""

    config: ClusterConfig | None = None
    clock: Clock | None = None
    request_timeout: float | None = None
    rate_limit: float | Limiter | None = None
    response_limits: ResponseLimits | None = None
    warnings: WarningHandler | None = None
    headers: tuple[tuple[str, str], ...] = ()
    hooks: tuple[RequestHook, ...] = ()

    def __post_init__(self) -> None:
        numbers = {"request_timeout": self.request_timeout, "rate_limit": self.rate_limit}
        for name, value in numbers.items():
            if isinstance(value, int | float) and not value > 0:
                raise InvalidArgument(f"client: {name}={value!r}: it must be more than 0")

    @property
    def is_default(self) -> bool:
        return self == _RESTOptions()

    def open(self) -> RESTClient:
        """Raises: ConfigError when no configuration was passed and none is found."""
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
            headers=self.headers,
            hooks=self.hooks,
        )


def _limiter(limit: float | Limiter | None, clock: Clock) -> Limiter | None:
    """A token bucket with a burst of two seconds, as in client-go's defaults."""
    if isinstance(limit, int | float):
        return TokenBucket(limit, max(1, round(2 * limit)), clock=clock)
    return limit


@final
class DynamicClient:
    """Clients with dicts for any kind: `client.dynamic.resource("apps/v1", "Deployment")`."""

    def __init__(self, collection: Callable[[AnyKind, str, str | None], Collection]) -> None:
        self._collection = collection

    def resource(
        self, what: AnyKind, kind: str = "", /, *, namespace: str | None = None
    ) -> ResourceClient[dict[str, Any]]:
        """A client of one kind, by class, by apiVersion and kind, by GVK or by GVR."""
        collection = self._collection(what, kind, namespace)
        return ResourceClient(ObjectCollection(collection, DictCodec()))
