"""The client with informers: what programs and controllers hold.

Promises: an informer costs one list and one watch, and is begun by its block, never by a
read; kinds that the server does not have yet are asked for until it has them.
Elsewhere: verbs (`kubeloop.clients`), what an informer is (`kubeloop.cache`), many informers
in one process (`manager`, `kubeloop.cache.SharedInformerFactory`).
"""

from __future__ import annotations

import functools
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
from kubeloop.clients import ALL_NAMESPACES, FieldSelection, LabelSelection, PartialObjectMetadata
from kubeloop.errors import InvalidArgument
from kubeloop.meta import GroupVersionKind, GroupVersionResource
from kubeloop.selectors import ALL_FIELDS, EVERYTHING, field_selector_text, selector_text
from kubeloop.wire import Resource, ResourceInfo

if TYPE_CHECKING:  # for those who ask for an informer, and not for every script
    from kubeloop.cache import (
        CacheMetrics,
        Indexers,
        SharedInformer,
        StorageFormat,
        Transform,
        Watchable,
        WatchErrorHandler,
        WatchListSupport,
    )

    from .sources import ClientListWatch

__all__ = ["Client", "InformerOptions"]

T = TypeVar("T")
R = TypeVar("R", bound=Resource)


class InformerOptions(TypedDict, Generic[T], total=False):
    """Keywords of `Client.informer`, for objects of type `T`."""

    namespace: str | None
    selector: LabelSelection | None
    field_selector: FieldSelection | None
    index: Indexers[T] | None
    store_as: StorageFormat
    transform: Transform[T] | None
    resync: float
    sync_timeout: float | None
    on_watch_error: WatchErrorHandler | None
    name: str
    metrics: CacheMetrics | None


class Client(clients.APIClient):
    """All of one cluster, and mirrors of it.

        async with Client() as client:                 # kubeconfig, or the pod's own account
            async with client.informer(Pod, index={"node": "spec.nodeName"}) as pods:
                for pod in pods.lister.by_index("node", "node-7"):
                    ...

    It fits `SharedInformerFactory`, which shares informers between parts of a program.
    """

    @classmethod
    def over(cls, client: clients.APIClient) -> Client:
        """A client without informers, with them; its connections stay its own."""
        return cls(rest=client.rest, field_manager=client._field_manager)

    @overload
    def informer(
        self, kind: Watchable, /, *, of: type[T], **options: Unpack[InformerOptions[T]]
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
        of: type[Any] | None = None,
        metadata_only: bool = False,
        namespace: str | None = ALL_NAMESPACES,
        selector: LabelSelection | None = None,
        field_selector: FieldSelection | None = None,
        index: Indexers[Any] | None = None,
        store_as: StorageFormat = "bytes",
        transform: Transform[Any] | None = None,
        resync: float = 0.0,
        sync_timeout: float | None = None,
        on_watch_error: WatchErrorHandler | None = None,
        name: str = "",
        metrics: CacheMetrics | None = None,
    ) -> SharedInformer[Any]:
        """A mirror of the objects of a kind, of all namespaces unless one is named.

        Objects come as the class, as dicts where the kind is only a name, or as `of`: a
        struct of yours with the fields you want. With `metadata_only` the server is asked
        for no more than metadata. A namespace of None is the configuration's.
        `on_watch_error` is called with the error of every failed round, in place of a log
        line. The rest is as for `SharedInformer`.

        Raises: InvalidArgument when a selector or an index cannot be read.
        """
        from kubeloop.cache import SharedInformer

        if metadata_only and of is not None:
            raise InvalidArgument(
                f"informer of {kind}: metadata only, and as {of.__name__} (say one of them)"
            )
        source = self.list_watch(
            kind,
            namespace=self.namespace if namespace is None else namespace,
            selector=selector_text(EVERYTHING if selector is None else selector),
            field_selector=field_selector_text(
                ALL_FIELDS if field_selector is None else field_selector
            ),
            metadata_only=metadata_only,
        )
        return SharedInformer(
            source,
            PartialObjectMetadata if metadata_only else of or _form_of(kind),
            index=index,
            store_as=store_as,
            transform=transform,
            resync=resync,
            sync_timeout=sync_timeout,
            on_watch_error=on_watch_error,
            name=name,
            metrics=metrics,
            clock=self.rest.clock,
        )

    def list_watch(
        self,
        kind: Watchable,
        *,
        namespace: str = ALL_NAMESPACES,
        selector: str = "",
        field_selector: str = "",
        metadata_only: bool = False,
    ) -> ClientListWatch:
        """The collection of a kind as a reflector asks for it; nothing is sent yet.

        Kinds without namespaces ignore the namespace.
        """
        from kubeloop.cache import Scope

        from .sources import ClientListWatch

        found = self._find(kind, "", namespace)
        known = found if isinstance(found, ResourceInfo) else None
        inside = namespace if known is None or known.namespaced else ALL_NAMESPACES
        scope = Scope(
            resource=_resource_name(kind, known),
            namespace=inside,
            selector=selector,
            field_selector=field_selector,
            # Metadata alone says that it is a PartialObjectMetadata, whatever it is of.
            kind="" if metadata_only else _kind_name(kind, known),
            api_version="" if metadata_only else _api_version(kind, known),
        )
        raw = (
            self.metadata(kind, namespace=inside).raw
            if metadata_only
            else self.resource(cast("Any", kind), namespace=inside).raw
        )
        return ClientListWatch(raw, scope, self._watch_list_support)

    @functools.cached_property
    def _watch_list_support(self) -> WatchListSupport:
        """What the informers of this client know about streams of initial states."""
        from kubeloop.cache import WatchListSupport

        return WatchListSupport()


def _form_of(kind: Watchable) -> type[Any]:
    """As what objects come when nobody says."""
    return kind if isinstance(kind, type) else dict


def _resource_name(kind: Watchable, known: ResourceInfo | None) -> str:
    """`deployments.apps`; for a kind that has still to be looked up `Website.example.com`."""
    if known is not None:
        return f"{known.plural}.{known.group}" if known.group else known.plural
    assert isinstance(kind, GroupVersionKind), "classes and resources need no looking up"
    return str(kind.group_kind)


def _kind_name(kind: Watchable, known: ResourceInfo | None) -> str:
    if known is not None:
        return known.kind
    return kind.kind if isinstance(kind, GroupVersionKind) else ""


def _api_version(kind: Watchable, known: ResourceInfo | None) -> str:
    if known is not None:
        return known.api_version
    return "" if isinstance(kind, type) else kind.api_version
