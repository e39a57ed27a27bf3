# Generated from the async classes by tools/generate_blocking.py. Do not edit.

"""The blocking forms of the async classes: each method runs the async one and waits for it."""

# ruff: noqa: A002

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Unpack, cast, overload

from kubeloop import clients
from kubeloop.blocking._generated.clients import (
    CertificateSigningRequestClient,
    DaemonSetClient,
    DeferredMapper,
    DiscoveryClient,
    DynamicClient,
    MetadataClient,
    NamespaceClient,
    NodeClient,
    PodClient,
    ResourceClient,
    RESTClient,
    ScalableClient,
    ScaleClient,
    ServiceAccountClient,
    ServiceClient,
    WorkloadClient,
    resource_form,
)
from kubeloop.blocking._generated.clientset import Clientset
from kubeloop.blocking.informer import SharedInformer
from kubeloop.blocking.reference import LoopReference
from kubeloop.clients import ALL_NAMESPACES
from kubeloop.wire import Kind, Resource

if TYPE_CHECKING:
    from kubeloop import cache, runtime
    from kubeloop.cache import Watchable
    from kubeloop.clients import (
        Access,
        AccessRules,
        AnyKind,
        AnyObject,
        AppliedSet,
        ApplyOptions,
        FieldSelection,
        LabelSelection,
        Manifest,
        ObjectTree,
        PartialObjectMetadata,
        ReadFormat,
        RunResult,
        WriteOptions,
    )
    from kubeloop.config import ClusterConfig
    from kubeloop.discovery import VersionInfo
    from kubeloop.meta import GroupVersionKind, GroupVersionResource, Owner
    from kubeloop.rest import RESTStats
    from kubeloop.runtime import CacheOptions, InformerOptions
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
    from kubeloop.wire.model import KindMeta

__all__ = ["ClientVerbs"]

K = TypeVar("K", bound=Kind)
R = TypeVar("R", bound=Resource)
S = TypeVar("S", "ReplicaSet", "ReplicationController")
T = TypeVar("T")
W = TypeVar("W", "Deployment", "StatefulSet")


class ClientVerbs(Clientset):
    """The blocking form of the methods of `kubeloop.Client`."""

    _reference: LoopReference[runtime.Client]

    def stats(self) -> RESTStats:
        """Numbers of the REST client, and the resources that protobuf does not serve."""
        return self._reference.read(lambda wrapped: wrapped.stats())

    @property
    def rest(self) -> RESTClient:
        """Sends any request: a `RESTClient`, unless another sender was passed.

        Raises: ConfigError when no configuration was passed and none is found.
        """
        return RESTClient(self._reference.then(lambda wrapped: wrapped.rest))

    @property
    def config(self) -> ClusterConfig:
        return self._reference.read(lambda wrapped: wrapped.config)

    @property
    def namespace(self) -> str:
        """The namespace of the configuration."""
        return self._reference.read(lambda wrapped: wrapped.namespace)

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
        form: type[ResourceClient[Any]] = resource_form(what)
        return form(
            self._reference.then(
                lambda wrapped: cast(
                    "Callable[..., clients.ResourceClient[Any]]", wrapped.resource
                )(what, kind, namespace=namespace)
            )
        )

    def metadata(
        self, what: AnyKind, kind: str = "", /, *, namespace: str | None = None
    ) -> MetadataClient:
        """A client of the metadata of one kind; arguments as for `resource`."""
        return MetadataClient(
            self._reference.then(lambda wrapped: wrapped.metadata(what, kind, namespace=namespace))
        )

    @property
    def dynamic(self) -> DynamicClient:
        """Clients that use dicts for every kind."""
        return DynamicClient(self._reference.then(lambda wrapped: wrapped.dynamic))

    @property
    def scales(self) -> ScaleClient:
        """The scale subresource of any resource."""
        return ScaleClient(self._reference.then(lambda wrapped: wrapped.scales))

    @property
    def discovery(self) -> DiscoveryClient:
        """Discovery without a cache."""
        return DiscoveryClient(self._reference.then(lambda wrapped: wrapped.discovery))

    @property
    def mapper(self) -> DeferredMapper:
        """From kinds to resources, cached; an unknown kind leads to a new request."""
        return DeferredMapper(self._reference.then(lambda wrapped: wrapped.mapper))

    def version(self) -> VersionInfo:
        """The server's version. Safe to interrupt."""
        return self._reference.call(lambda wrapped: wrapped.version())

    @overload
    def apply(self, what: K, **options: Unpack[ApplyOptions]) -> K: ...

    @overload
    def apply(self, what: dict[str, Any], **options: Unpack[ApplyOptions]) -> dict[str, Any]: ...

    @overload
    def apply(
        self,
        what: Iterable[AnyObject] | str | bytes | Path,
        *,
        kinds: Sequence[type[Kind]] = ...,
        **options: Unpack[ApplyOptions],
    ) -> list[AnyObject]: ...

    def apply(
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
        several objects were given. An interrupted call may have applied some.
        """
        return self._reference.call(
            lambda wrapped: cast("Callable[..., Awaitable[Any]]", wrapped.apply)(
                what, kinds=kinds, owner=owner, namespace=namespace, force=force, **options
            )
        )

    def apply_set(
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

            result = client.apply_set("shop", Path("manifests"))

        The objects get a label, and a Secret of this name keeps their kinds and namespaces, as
        with `kubectl apply --prune --applyset`; `configmaps/shop` uses a ConfigMap. `what`,
        `kinds` and `namespace` are as for `apply`. Nothing is deleted unless everything was
        applied. With `force`, fields of other managers and members of other sets are taken over.
        Raises: as `apply`; InvalidArgument for a set of another tool and for members of another
        set; PruneFailed when something cannot be deleted. After a cancelled or failed call, the
        next one completes it.
        """
        return self._reference.call(
            lambda wrapped: wrapped.apply_set(
                name, what, kinds=kinds, namespace=namespace, force=force, **options
            )
        )

    def can_i(
        self,
        verb: str,
        what: type[Kind] | str,
        /,
        *,
        name: str = "",
        subresource: str = "",
        namespace: str | None = None,
    ) -> Access:
        """Whether this client may do something: `if client.can_i("delete", Pod): ...`.

        `what` is a class, a resource such as `deployments.apps`, or a path such as `/metrics`.
        Safe to interrupt.
        """
        return self._reference.call(
            lambda wrapped: wrapped.can_i(
                verb, what, name=name, subresource=subresource, namespace=namespace
            )
        )

    def what_can_i(self, *, namespace: str | None = None) -> AccessRules:
        """Everything that this client may do in a namespace. Safe to interrupt."""
        return self._reference.call(lambda wrapped: wrapped.what_can_i(namespace=namespace))

    def run(
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
        return self._reference.call(
            lambda wrapped: wrapped.run(
                what, command, namespace=namespace, timeout=timeout, keep=keep
            )
        )

    def owners(self, obj: AnyObject, /) -> ObjectTree:
        """The object with its owners, their owners, and so on. Safe to interrupt.

        Raises: InvalidArgument for an object without a uid.
        """
        return self._reference.call(lambda wrapped: wrapped.owners(obj))

    def children(self, obj: AnyObject, /) -> ObjectTree:
        """The object with what it owns, what that owns, and so on. Safe to interrupt.

        Lists the metadata of all kinds, except events and v1 Endpoints, in the namespace of the
        object, or in the cluster if it has none. `unread` names those that cannot be listed.
        Raises: InvalidArgument without a uid.
        """
        return self._reference.call(lambda wrapped: wrapped.children(obj))

    def events_of(self, obj: AnyObject, /) -> list[Event]:
        """The events about an object, oldest first. Safe to interrupt."""
        return self._reference.call(lambda wrapped: wrapped.events_of(obj))

    @overload
    def informer(
        self, kind: Watchable, /, *, model: type[T], **options: Unpack[InformerOptions[T]]
    ) -> SharedInformer[T]: ...

    @overload
    def informer(
        self,
        kind: Watchable,
        /,
        *,
        metadata_only: Literal[True],
        **options: Unpack[InformerOptions[PartialObjectMetadata]],
    ) -> SharedInformer[PartialObjectMetadata]: ...

    @overload
    def informer(
        self, kind: type[R], /, **options: Unpack[InformerOptions[R]]
    ) -> SharedInformer[R]: ...

    @overload
    def informer(
        self,
        kind: GroupVersionKind | GroupVersionResource,
        /,
        **options: Unpack[InformerOptions[dict[str, Any]]],
    ) -> SharedInformer[dict[str, Any]]: ...

    def informer(
        self,
        kind: Watchable,
        /,
        *,
        model: type[Any] | None = None,
        metadata_only: bool = False,
        namespace: str | None = ALL_NAMESPACES,
        selector: LabelSelection | None = None,
        field_selector: FieldSelection | None = None,
        format: ReadFormat | None = None,
        **options: Unpack[CacheOptions[Any]],
    ) -> SharedInformer[Any]:
        """An informer of the objects of a kind, in all namespaces unless one is named.

        Objects are of the class `kind`, dicts if it is not a class, or of the class `model`: a
        struct with only the fields you need. With `metadata_only` the server sends only
        metadata. A namespace of None is the configuration's. `on_watch_error` is called with
        the error of every failed attempt, in place of a log line. `drop` names the fields that
        are not cached, `metadata.managedFields` by default. `format` is how a built-in kind is
        read and cached, in place of the client's: "protobuf" costs the server and the cache
        less, and decoding more. The other options are those of `SharedInformer`.

        Raises: InvalidArgument when a selector or an index does not parse.
        """
        return SharedInformer(
            self._reference.then(
                lambda wrapped: cast("Callable[..., cache.SharedInformer[Any]]", wrapped.informer)(
                    kind,
                    model=model,
                    metadata_only=metadata_only,
                    namespace=namespace,
                    selector=selector,
                    field_selector=field_selector,
                    format=format,
                    **options,
                )
            )
        )
