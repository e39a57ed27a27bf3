"""The caches of one manager: which there are, and reading them.

Promises: a kind is mirrored because somebody declared it, never because somebody read it;
each is mirrored once, however many controllers use it.
Elsewhere: mirroring (`kubeloop.cache`), who reads (`context`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, Protocol, TypeAlias, TypeVar, Unpack, final, overload

import msgspec

from kubeloop.cache import (
    CacheMetrics,
    CacheReport,
    Indexers,
    Lister,
    Scope,
    SharedInformer,
    StorageFormat,
    Transform,
    Watchable,
    WatchErrorHandler,
    cache_report,
)
from kubeloop.clients import FieldSelection, LabelSelection, PartialObjectMetadata
from kubeloop.errors import InvalidArgument, KubeError
from kubeloop.meta import (
    GroupKind,
    GroupResource,
    GroupVersionKind,
    GroupVersionResource,
    check_dns_label,
)
from kubeloop.wire import resource_of

from .client import InformerOptions
from .merged import lister_of
from .writes import Write

__all__ = ["Cached", "Caches", "Declarations", "MakesInformers", "NotCached"]

T = TypeVar("T")
Namespaces: TypeAlias = str | Sequence[str]
"""One namespace, several, or all: the empty text."""


@final
class NotCached(KubeError):
    """A kind was read from a manager's caches that none of them mirrors."""


class Cached(msgspec.Struct, frozen=True, kw_only=True):
    """A declaration: which objects are mirrored, and how."""

    kind: Watchable
    of: type[Any]
    metadata_only: bool = False
    namespace: Namespaces | None = None  # None: the manager's
    selector: LabelSelection | None = None
    field_selector: FieldSelection | None = None
    index: Indexers[Any] | None = None
    store_as: StorageFormat = "bytes"
    transform: Transform[Any] | None = None
    on_watch_error: WatchErrorHandler | None = None  # None: the manager's
    resync: float = 0.0  # the shortest period that a handler may ask for


class MakesInformers(Protocol):
    """What caches ask of a client; `kubeloop.runtime.Client` fits."""

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


@final
class Declarations:
    """What is to be mirrored, collected before anything runs."""

    def __init__(self) -> None:
        self._all: dict[tuple[Watchable, type[Any], bool], Cached] = {}

    def add(self, wanted: Cached) -> None:
        """Raises: InvalidArgument when it is declared already."""
        where = (checked_kind(wanted.kind), wanted.of, wanted.metadata_only)
        if where in self._all:
            raise InvalidArgument(
                f"cache {where[0]}: declared already (declare a kind once, and before the"
                " controllers that use it)"
            )
        self._all[where] = wanted

    def want(self, kind: Watchable, *, resync: float = 0.0) -> None:
        """Mirror a kind, as it was declared or else with the defaults."""
        known = [where for where in self._all if where[0] == checked_kind(kind)]
        if not known:
            of = kind if isinstance(kind, type) else dict
            self.add(Cached(kind=kind, of=of, resync=resync))
        for where in known if resync else ():
            shortest = min(resync, self._all[where].resync or resync)
            self._all[where] = msgspec.structs.replace(self._all[where], resync=shortest)

    def __iter__(self) -> Iterator[Cached]:
        return iter(self._all.values())


@final
class Caches:
    """Informers by what they mirror, made from declarations; `client` makes each of them."""

    def __init__(
        self,
        client: MakesInformers,
        wanted: Iterable[Cached],
        *,
        namespace: Namespaces = "",
        metrics: CacheMetrics | None = None,
        on_watch_error: WatchErrorHandler | None = None,
    ) -> None:
        self._all = [
            _mirrored(client, _with_handler(cached, on_watch_error), namespace, metrics)
            for cached in wanted
        ]

    def __iter__(self) -> Iterator[SharedInformer[Any]]:
        return iter([informer for mirrored in self._all for informer in mirrored.informers])

    def informers(self, kind: Watchable) -> tuple[SharedInformer[Any], ...]:
        """The mirrors of a kind, one a namespace, in whatever form. Raises: NotCached."""
        for mirrored in self._all:
            if named(mirrored.cached.kind) == named(kind):
                return mirrored.informers
        raise self._missing(kind)

    @overload
    def lister(self, kind: type[T], /) -> Lister[T]: ...
    @overload
    def lister(
        self, kind: GroupVersionKind | GroupVersionResource, /
    ) -> Lister[dict[str, Any]]: ...
    def lister(self, kind: Any, /) -> Lister[Any]:
        """Reads objects of a class, of a view, or of a kind as dicts. Raises: NotCached."""
        for mirrored in self._all:
            cached = mirrored.cached
            is_form = cached.of is kind and kind is not dict  # which says nothing of the kind
            same = is_form or (cached.of is dict and named(cached.kind) == named(kind))
            if same and not cached.metadata_only:
                return mirrored.lister
        raise self._missing(kind)

    def of_write(self, write: Write) -> Iterator[SharedInformer[Any]]:
        """The caches that may hold what was written, or may have held it."""
        for mirrored in self._all:
            if _is_about(mirrored.cached.kind, write):
                yield from (each for each in mirrored.informers if _is_inside(write, each.scope))

    def report(self) -> CacheReport:
        """What all caches hold."""
        return cache_report(self)

    def _missing(self, kind: Any) -> NotCached:
        name = kind.__name__ if isinstance(kind, type) else str(kind)
        held = ", ".join(each.cached.of.__name__ for each in self._all) or "nothing"
        return NotCached(
            f"read {name} from the cache: it holds {held} (name it in `owns` or `watches`, or"
            " declare it with manager.cache(); what is read seldom can be asked of the client)"
        )


class _Mirrored(msgspec.Struct, frozen=True):
    """A declaration, and what was made of it."""

    cached: Cached
    informers: tuple[SharedInformer[Any], ...]  # one a namespace
    lister: Lister[Any]


def _with_handler(cached: Cached, handler: WatchErrorHandler | None) -> Cached:
    return msgspec.structs.replace(cached, on_watch_error=cached.on_watch_error or handler)


def _mirrored(
    client: MakesInformers,
    cached: Cached,
    namespace: Namespaces,
    metrics: CacheMetrics | None,
) -> _Mirrored:
    places = _places(cached, namespace)
    informers = tuple(_made(client, cached, place, metrics) for place in places)
    return _Mirrored(cached, informers, lister_of(informers))


def _places(cached: Cached, otherwise: Namespaces) -> tuple[str, ...]:
    """The namespaces of which there is to be a mirror each; empty is all of them."""
    said = otherwise if cached.namespace is None else cached.namespace
    places = (said,) if isinstance(said, str) else tuple(dict.fromkeys(said))
    if (
        len(places) > 1
        and isinstance(cached.kind, type)
        and not resource_of(cached.kind).namespaced
    ):
        return ("",)
    return places


def checked_namespaces(said: Namespaces) -> Namespaces:
    """One name, or several. Raises: InvalidArgument for none, and for names that none can have."""
    places = (said,) if isinstance(said, str) else tuple(said)
    is_text = all(isinstance(place, str) for place in places)
    if not places or not is_text or (len(places) > 1 and "" in places):
        raise InvalidArgument(
            f"namespaces {said!r}: name one or several, or leave them out for all"
        )
    for place in filter(None, places):
        check_dns_label(place)
    return said if isinstance(said, str) else places


def _made(
    client: MakesInformers, cached: Cached, namespace: str, metrics: CacheMetrics | None
) -> SharedInformer[Any]:
    options: InformerOptions[Any] = {
        "namespace": namespace,
        "selector": cached.selector,
        "field_selector": cached.field_selector,
        "index": cached.index,
        "store_as": cached.store_as,
        "transform": cached.transform,
        "resync": cached.resync,
        "on_watch_error": cached.on_watch_error,
        "metrics": metrics,
    }
    if cached.metadata_only:
        return client.informer(cached.kind, metadata_only=True, **options)
    return client.informer(cached.kind, of=cached.of, **options)


def _is_inside(write: Write, scope: Scope) -> bool:
    # A kind without namespaces is held by every cache of it, whatever namespace that has.
    return not write.key.namespace or scope.namespace in {"", write.key.namespace}


def _is_about(kind: Watchable, write: Write) -> bool:
    """Whether a write is to a kind, which either of them may name by its resource only."""
    found = named(kind)
    if isinstance(found, GroupVersionKind) and write.kind.kind:
        return found.group_kind == write.kind
    if write.resource is None:  # by a path: the uid tells what is gone from objects of others
        return write.gone
    if isinstance(found, GroupVersionResource):
        return write.resource == found.group_resource
    if isinstance(kind, type):
        info = resource_of(kind)
        return write.resource == GroupResource(info.group, info.plural)
    # Only the server knows the plural of this kind, but again there is the uid.
    return write.gone and write.resource.group == kind.group


def named(kind: Any) -> Any:
    """What two ways of naming a kind have in common: the class's GVK, or the name itself."""
    if not isinstance(kind, type):
        return kind
    try:
        info = resource_of(kind)
    except (InvalidArgument, AttributeError):
        return kind  # a view of the user's
    return GroupVersionKind(info.group, info.version, info.kind)


def checked_kind(kind: Any) -> GroupVersionKind | GroupVersionResource:
    """What a kind is called. Raises: InvalidArgument when it is none."""
    found = named(kind)
    if isinstance(found, GroupVersionKind | GroupVersionResource):
        return found
    raise InvalidArgument(
        f"watch {kind!r}: it is no kind of the API (give its class, a GroupVersionKind, or a"
        " GroupVersionResource)"
    )


def name_of(kind: Watchable) -> str:
    """What a controller of a kind is called. Raises: InvalidArgument when it is none."""
    found = checked_kind(kind)
    return (found.kind if isinstance(found, GroupVersionKind) else found.resource).lower()


def group_kind(kind: Watchable) -> GroupKind | None:
    """Group and kind; None where only the resource is known."""
    found = named(kind)
    return found.group_kind if isinstance(found, GroupVersionKind) else None
