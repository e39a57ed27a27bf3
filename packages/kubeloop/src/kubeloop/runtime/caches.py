"""The caches of one manager: which there are, and how they are read.

Guarantees: a kind is cached because it was declared, never because it was read; it is cached
once, however many controllers use it. Caches of several namespaces are read as one: a read that
names a namespace or a key reads one of them, any other reads all of them and finds each object
once.
See also: `kubeloop.cache` (informers and listers), `context` (reads the caches).
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar, Unpack, final, overload

import msgspec

from kubeloop.cache import (
    CacheMetrics,
    CacheReport,
    Entry,
    EntryCodec,
    Indexer,
    Lister,
    Scope,
    SelectorLike,
    SharedInformer,
    Watchable,
    WatchErrorHandler,
    cache_report,
)
from kubeloop.clients import PartialObjectMetadata
from kubeloop.errors import InvalidArgument, KubeError
from kubeloop.meta import (
    GroupResource,
    GroupVersionKind,
    GroupVersionResource,
    ObjectKey,
    check_dns_label,
)
from kubeloop.selectors import EVERYTHING
from kubeloop.wire import resource_of

from .client import InformerOptions
from .kinds import KindName, canonical_kind, check_kind
from .writes import Write

__all__ = [
    "CacheDeclaration",
    "CacheDeclarations",
    "Caches",
    "InformerClient",
    "Namespaces",
    "NotCached",
    "check_namespaces",
]

T = TypeVar("T")
Namespaces: TypeAlias = str | Sequence[str]
"""One namespace, several, or all: the empty text."""


@final
class NotCached(KubeError):
    """A kind was read that no cache of the manager holds."""


class CacheDeclaration(msgspec.Struct, frozen=True, kw_only=True):
    """Which objects to cache, and as what."""

    kind: Watchable
    model: type[Any]
    metadata_only: bool = False
    namespace: Namespaces | None = None  # None: the manager's
    resync: float = 0.0  # the shortest period that a handler may use
    # Options without an `on_watch_error` get the manager's.
    options: InformerOptions[Any] = msgspec.field(default_factory=InformerOptions)


class InformerClient(Protocol):
    """Creates informers; `kubeloop.Client` fits."""

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


@final
class CacheDeclarations:
    """What to cache, collected before anything runs."""

    def __init__(self) -> None:
        self._all: dict[tuple[KindName, type[Any], bool], CacheDeclaration] = {}

    def add(self, declaration: CacheDeclaration) -> None:
        """Raises: InvalidArgument when it is declared already."""
        key = (check_kind(declaration.kind), declaration.model, declaration.metadata_only)
        if key in self._all:
            raise InvalidArgument(
                f"cache {key[0]}: declared already (declare a kind once, and before the"
                " controllers that use it)"
            )
        self._all[key] = declaration

    def ensure(self, kind: Watchable, *, resync: float = 0.0) -> None:
        """Cache a kind as it was declared, otherwise with the defaults."""
        name = check_kind(kind)
        declared = [key for key in self._all if key[0] == name]
        if not declared:
            model = kind if isinstance(kind, type) else dict
            self.add(CacheDeclaration(kind=kind, model=model, resync=resync))
        for key in declared if resync else ():
            shortest = min(resync, self._all[key].resync or resync)
            self._all[key] = msgspec.structs.replace(self._all[key], resync=shortest)

    def __iter__(self) -> Iterator[CacheDeclaration]:
        return iter(self._all.values())


class _KindCache(msgspec.Struct, frozen=True):
    """A declaration, and what was created for it."""

    declaration: CacheDeclaration
    informers: tuple[SharedInformer[Any], ...]  # one for each namespace
    lister: Lister[Any]


@final
class Caches:
    """The informers of a manager by kind; `client` creates them."""

    def __init__(
        self,
        client: InformerClient,
        declarations: Iterable[CacheDeclaration],
        *,
        namespace: Namespaces = "",
        metrics: CacheMetrics | None = None,
        on_watch_error: WatchErrorHandler | None = None,
    ) -> None:
        defaults: InformerOptions[Any] = {"metrics": metrics, "on_watch_error": on_watch_error}
        self._all = [
            _create_cache(client, declaration, namespace, defaults) for declaration in declarations
        ]

    def __iter__(self) -> Iterator[SharedInformer[Any]]:
        return iter([informer for cache in self._all for informer in cache.informers])

    def informers(self, kind: Watchable) -> tuple[SharedInformer[Any], ...]:
        """The informers of a kind, one for each namespace, of any model. Raises: NotCached."""
        name = canonical_kind(kind)
        for cache in self._all:
            if canonical_kind(cache.declaration.kind) == name:
                return cache.informers
        raise self._not_cached(kind)

    @overload
    def lister(self, kind: type[T], /) -> Lister[T]: ...
    @overload
    def lister(
        self, kind: GroupVersionKind | GroupVersionResource, /
    ) -> Lister[dict[str, Any]]: ...
    def lister(self, kind: type[Any] | GroupVersionKind | GroupVersionResource, /) -> Lister[Any]:
        """Reads objects of a class, or of a kind as dicts. Raises: NotCached."""
        for cache in self._all:
            declaration = cache.declaration
            if declaration.metadata_only:
                continue
            if declaration.model is dict:  # of any kind
                is_same = canonical_kind(declaration.kind) == canonical_kind(kind)
            else:
                is_same = declaration.model is kind
            if is_same:
                return cache.lister
        raise self._not_cached(kind)

    def of_write(self, write: Write) -> Iterator[SharedInformer[Any]]:
        """The informers that may hold what was written, or may have held it."""
        for cache in self._all:
            if _may_be_kind_of(cache.declaration.kind, write):
                yield from (each for each in cache.informers if _is_in_scope(write, each.scope))

    def report(self) -> CacheReport:
        """What all caches hold."""
        return cache_report(self)

    def _not_cached(self, kind: Watchable | type[Any]) -> NotCached:
        name = kind.__name__ if isinstance(kind, type) else str(kind)
        cached = ", ".join(each.declaration.model.__name__ for each in self._all) or "nothing"
        return NotCached(
            f"read {name} from the cache: it holds {cached} (name the kind in `owns` or `watches`,"
            " or declare it with manager.cache(); for rare reads use the client)"
        )


def _create_cache(
    client: InformerClient,
    declaration: CacheDeclaration,
    namespace: Namespaces,
    defaults: InformerOptions[Any],
) -> _KindCache:
    informers = tuple(
        _create_informer(client, declaration, each, defaults)
        for each in _namespaces(declaration, namespace)
    )
    return _KindCache(declaration, informers, _lister_of(informers))


def _create_informer(
    client: InformerClient,
    declaration: CacheDeclaration,
    namespace: str,
    defaults: InformerOptions[Any],
) -> SharedInformer[Any]:
    options: InformerOptions[Any] = {
        **defaults,
        **declaration.options,
        "namespace": namespace,
        "resync": declaration.resync,
    }
    if declaration.metadata_only:
        return client.informer(declaration.kind, metadata_only=True, **options)
    return client.informer(declaration.kind, model=declaration.model, **options)


def _namespaces(declaration: CacheDeclaration, default: Namespaces) -> tuple[str, ...]:
    """The namespaces that need an informer each; the empty text is all of them."""
    given = default if declaration.namespace is None else declaration.namespace
    namespaces = (given,) if isinstance(given, str) else tuple(dict.fromkeys(given))
    kind = declaration.kind
    if len(namespaces) > 1 and isinstance(kind, type) and not resource_of(kind).namespaced:
        return ("",)
    return namespaces


def check_namespaces(given: Namespaces) -> Namespaces:
    """One name or several. Raises: InvalidArgument for none, and for invalid names."""
    names = (given,) if isinstance(given, str) else tuple(given)
    is_text = all(isinstance(name, str) for name in names)
    if not names or not is_text or (len(names) > 1 and "" in names):
        raise InvalidArgument(
            f"namespaces {given!r}: name one or several, or leave them out for all"
        )
    for name in filter(None, names):
        check_dns_label(name)
    return given if isinstance(given, str) else names


# --- own writes


def _is_in_scope(write: Write, scope: Scope) -> bool:
    # A cluster-wide object is held by every cache of its kind, whatever namespace that has.
    return not write.key.namespace or scope.namespace in {"", write.key.namespace}


def _may_be_kind_of(kind: Watchable, write: Write) -> bool:
    """Whether a write may be to a kind; either of them may be named by its resource only."""
    name = canonical_kind(kind)
    if isinstance(name, GroupVersionKind) and write.kind.kind:
        return name.group_kind == write.kind
    if write.resource is None:  # by a path: the uid distinguishes what is gone from other objects
        return write.gone
    if isinstance(name, GroupVersionResource):
        return write.resource == name.group_resource
    if isinstance(kind, type):
        info = resource_of(kind)
        return write.resource == GroupResource(info.group, info.plural)
    # Only discovery knows the plural of this kind, but again there is the uid.
    return write.gone and write.resource.group == kind.group


# --- several namespaces as one


def _lister_of(informers: tuple[SharedInformer[T], ...]) -> Lister[T]:
    """Reads all of them; each holds another namespace."""
    if len(informers) == 1:
        return informers[0].lister
    return Lister(_MergedIndexer({each.scope.namespace: each.indexer for each in informers}))


@final
class _MergedIndexer(Generic[T]):
    """Indexers by their namespace, as a lister reads one. Copies nothing."""

    def __init__(self, indexers: Mapping[str, Indexer[T]]) -> None:
        self._indexers = indexers
        self.codec = _MergedCodec(self)

    def of(self, namespace: str) -> Indexer[T] | None:
        """The indexer of a namespace. Each of them holds the objects without a namespace."""
        if namespace:
            return self._indexers.get(namespace)
        return next(iter(self._indexers.values()))

    def get(self, key: ObjectKey) -> T | None:
        indexer = self.of(key.namespace)
        return None if indexer is None else indexer.get(key)

    def list(self, selector: SelectorLike = EVERYTHING, *, namespace: str = "") -> builtins.list[T]:
        return [self.codec.decode(entry) for entry in self.entries(selector, namespace=namespace)]

    def entries(
        self, selector: SelectorLike = EVERYTHING, *, namespace: str = ""
    ) -> builtins.list[Entry]:
        indexers = self._indexers.values() if not namespace else filter(None, [self.of(namespace)])
        return _unique(each.entries(selector, namespace=namespace) for each in indexers)

    def entries_by_index(self, name: str, value: str) -> builtins.list[Entry]:
        return _unique(each.entries_by_index(name, value) for each in self._indexers.values())

    def index_values(self, name: str) -> builtins.list[str]:
        return sorted(set().union(*(each.index_values(name) for each in self._indexers.values())))

    def __contains__(self, key: ObjectKey) -> bool:
        indexer = self.of(key.namespace)
        return indexer is not None and key in indexer

    def __len__(self) -> int:
        return len(self.entries())


@final
class _MergedCodec(Generic[T]):
    """Decodes each entry with the codec of the indexer that holds it."""

    def __init__(self, merged: _MergedIndexer[T]) -> None:
        self._merged = merged

    def decode(self, entry: Entry) -> T:
        return self._of(entry).decode(entry)

    def raw(self, entry: Entry) -> bytes:
        return self._of(entry).raw(entry)

    def _of(self, entry: Entry) -> EntryCodec[T]:
        indexer = self._merged.of(entry.key.namespace)
        assert indexer is not None, "an entry comes from one of them"
        return indexer.codec


def _unique(found: Iterable[builtins.list[Entry]]) -> builtins.list[Entry]:
    return list({entry.key: entry for entries in found for entry in entries}.values())
