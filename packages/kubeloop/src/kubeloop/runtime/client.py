"""The client with informers, which programs and controllers use.

Guarantees: an informer costs one list and one watch, and starts with its block, never with a
read; an informer of a kind that the server does not serve yet waits until it does.
See also: `kubeloop.clients` (verbs), `kubeloop.cache` (informers, and
`SharedInformerFactory` for many of them), `manager` (controllers).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    Literal,
    TypedDict,
    TypeVar,
    Unpack,
    cast,
    overload,
)

from kubeloop import clients
from kubeloop.clients import ALL_NAMESPACES, FieldSelection, LabelSelection
from kubeloop.errors import DecodeError, InvalidArgument, KubeError
from kubeloop.meta import GroupVersionKind, GroupVersionResource
from kubeloop.wire import Resource, ResourceInfo

if TYPE_CHECKING:  # imported with the first informer: not every script needs the cache
    from kubeloop.cache import (
        CacheMetrics,
        Indexers,
        Scope,
        SharedInformer,
        StorageFormat,
        Transform,
        Watchable,
        WatchErrorHandler,
        WatchListSupport,
    )
    from kubeloop.clients import PartialObjectMetadata, RawCollection, ReadFormat

    from .list_watch import ClientListWatch, ProtobufSource

__all__ = ["Client", "InformerOptions"]

MODELS_MINOR = 37  # of the version of Kubernetes that our models are generated from

T = TypeVar("T")
R = TypeVar("R", bound=Resource)


class CacheOptions(TypedDict, Generic[T], total=False):
    """The options of `cache.InformerOptions` that a client does not set itself.

    Repeated here, because a client does not load the cache before it needs it.
    """

    index: Indexers[T] | None
    store_as: StorageFormat
    transform: Transform[T] | None
    drop: Sequence[str]
    resync: float
    sync_timeout: float | None
    on_watch_error: WatchErrorHandler | None
    name: str
    metrics: CacheMetrics | None


class InformerOptions(CacheOptions[T], Generic[T], total=False):
    """Options of `Client.informer`: which objects, and those of the informer."""

    namespace: str | None
    selector: LabelSelection | None
    field_selector: FieldSelection | None
    format: ReadFormat | None


class Client(clients.APIClient):
    """The client of one cluster, with informers.

        async with Client() as client:                 # kubeconfig, or in-cluster configuration
            async with client.informer(Pod, index={"node": "spec.nodeName"}) as pods:
                for pod in pods.lister.by_index("node", "node-7"):
                    ...

    It fits `SharedInformerFactory`, which shares informers between parts of a program.
    """

    @classmethod
    def over(cls, client: clients.APIClient, *, field_manager: str = "") -> Client:
        """A client with informers that uses the connections of another, which owns them.

        It has the options of the other one; `field_manager` replaces one of them.
        """
        options = client.options
        return cls(
            rest=client.rest,
            field_manager=field_manager or options.field_manager,
            tune_gc=options.tune_gc,
            format=options.format,
        )

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
        format: ReadFormat | None = None,  # noqa: A002 - what it is
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
        from kubeloop.cache import SharedInformer
        from kubeloop.clients import PartialObjectMetadata
        from kubeloop.selectors import ALL_FIELDS, EVERYTHING, field_selector_text, selector_text

        if metadata_only and model is not None:
            raise InvalidArgument(
                f"informer of {kind}: metadata_only and model={model.__name__} (give one of them)"
            )
        source = self.list_watch(
            kind,
            namespace=self.namespace if namespace is None else namespace,
            selector=selector_text(EVERYTHING if selector is None else selector),
            field_selector=field_selector_text(
                ALL_FIELDS if field_selector is None else field_selector
            ),
            metadata_only=metadata_only,
            format=format,
        )
        if metadata_only:
            model = PartialObjectMetadata
        elif model is None:
            model = kind if isinstance(kind, type) else dict
        return SharedInformer(source, model, clock=self.rest.clock, **options)

    def list_watch(
        self,
        kind: Watchable,
        *,
        namespace: str = ALL_NAMESPACES,
        selector: str = "",
        field_selector: str = "",
        metadata_only: bool = False,
        format: ReadFormat | None = None,  # noqa: A002 - what it is
    ) -> ClientListWatch:
        """The list-watch of a kind, for a reflector; sends nothing yet.

        Cluster-wide kinds ignore the namespace (client-go: `NewListWatchFromClient`). `format` is
        "json" or "protobuf", the client's by default; only built-in kinds and metadata have
        protobuf, and only with the extra `kubeloop[protobuf]`. Without either, metadata is
        protobuf if it can be, and everything else JSON.
        """
        from kubeloop.cache import Scope

        from .list_watch import ClientListWatch

        if format not in {None, "json", "protobuf"}:
            raise InvalidArgument(f"format={format!r}: expected 'json' or 'protobuf'")
        found = self._find(kind, "", namespace)
        info = found if isinstance(found, ResourceInfo) else None
        if info is not None and not info.namespaced:
            namespace = ALL_NAMESPACES
        scope = Scope(
            resource=_resource_name(kind, info),
            namespace=namespace,
            selector=selector,
            field_selector=field_selector,
            # Metadata alone has the kind PartialObjectMetadata, whatever it is of.
            kind="" if metadata_only else _kind_name(kind, info),
            api_version="" if metadata_only else _api_version(kind, info),
        )
        raw = (
            self.metadata(kind, namespace=namespace).raw
            if metadata_only
            else self.resource(cast("Any", kind), namespace=namespace).raw
        )
        protobuf = None
        preference = format or self.options.format
        # Metadata is cheaper as protobuf for everyone. Whole objects are too, until they are
        # decoded: that takes six times as long (docs/explanation/performance.md).
        if preference == "protobuf" or (preference is None and metadata_only and _has_upb()):
            protobuf = self._protobuf_source(raw, scope, metadata_only=metadata_only)
        return ClientListWatch(raw, scope, self._watch_list_support, protobuf=protobuf)

    def _protobuf_source(
        self, raw: RawCollection, scope: Scope, *, metadata_only: bool
    ) -> ProtobufSource | None:
        """None if the objects have no protobuf, or it cannot be read here."""
        from kubeloop.wire.protobuf_descriptors import is_available
        from kubeloop.wire.protobuf_messages import message_of

        from .list_watch import ProtobufSource

        if not is_available():
            return None
        if metadata_only:
            accept = clients.METADATA_AS_PROTOBUF
            message = "meta_v1.PartialObjectMetadata"
        else:
            accept = (clients.ACCEPT_PROTOBUF, clients.ACCEPT_PROTOBUF)
            try:
                message = message_of(scope.api_version, scope.kind)
            except DecodeError:
                return None
        one, many = accept
        # To check metadata costs less than to ask for the version of the server.
        is_newer = None if metadata_only else self._is_server_newer
        on_json = functools.partial(self._formats.note_json, scope.resource)
        return ProtobufSource(raw.accepting(many, one), message, is_newer, on_json)

    async def _is_server_newer(self) -> bool:
        """Whether the server may have fields that our models do not know.

        Asked once for all informers. A server that does not tell its version may have any.
        """
        if self._newer is None:
            try:
                found = await self.version()
                minor = int(found.minor.rstrip("+"))
            except (KubeError, ValueError):
                return True
            self._newer = (found.major, minor) > ("1", MODELS_MINOR)
        return self._newer

    _newer: bool | None = None

    @functools.cached_property
    def _watch_list_support(self) -> WatchListSupport:
        """Shared by the informers of this client: whether the server has streaming lists."""
        from kubeloop.cache import WatchListSupport

        return WatchListSupport()


def _has_upb() -> bool:
    from kubeloop.wire.projection_protobuf import has_upb

    return has_upb()


def _resource_name(kind: Watchable, info: ResourceInfo | None) -> str:
    """`deployments.apps`; `Website.example.com` for a kind that discovery has to find."""
    if info is not None:
        return f"{info.plural}.{info.group}" if info.group else info.plural
    assert isinstance(kind, GroupVersionKind), "classes and resources need no discovery"
    return str(kind.group_kind)


def _kind_name(kind: Watchable, info: ResourceInfo | None) -> str:
    if info is not None:
        return info.kind
    return kind.kind if isinstance(kind, GroupVersionKind) else ""


def _api_version(kind: Watchable, info: ResourceInfo | None) -> str:
    if info is not None:
        return info.api_version
    return "" if isinstance(kind, type) else kind.api_version
