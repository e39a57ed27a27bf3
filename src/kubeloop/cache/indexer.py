"""A store of objects: takes them, gives them, finds them by label, namespace and index.

Promises: what a read hands out is the caller's own (unless objects are kept as such, which
are to be read only); labels and indexes by field path are matched without decoding, so only
what is found is decoded. Reads may come from any thread; writes belong to one.
Elsewhere: holding (`store`), taking and giving (`keeper`), asking politely (`lister`).
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Generic, Literal, Protocol, TypeVar, final

from kubeloop.kit import Yielder
from kubeloop.machinery import EVERYTHING, KubeError, ObjectKey, Selector, as_selector

from .content import Held
from .entry import Entry
from .errors import PartlyApplied
from .index import Index, Indexers, IndexFunc, by_function, by_label, label_of_path
from .keeper import Keeper
from .key_functions import KeyFunc
from .store import StoreStats, ThreadSafeStore

__all__ = ["Indexer", "Store", "let_go"]

T = TypeVar("T")

# How many entries are worked on before a look at the time (an index function may take a
# millisecond for each), and after how many such steps the event loop goes on in any case.
STEP = 10
STEPS = 10


class Store(Protocol[T]):
    """Holds objects by key; without indexes. An `Indexer` fits: it takes a key function."""

    def add(self, given: T) -> object: ...
    def update(self, given: T) -> object: ...
    def delete(self, given: T) -> object: ...
    def get(self, key: ObjectKey) -> T | None: ...
    def list(self) -> builtins.list[T]: ...
    def keys(self) -> builtins.list[ObjectKey]: ...
    def replace(self, given: Iterable[T], version: str) -> object: ...
    def resync(self) -> None: ...


@final
class Indexer(Generic[T]):
    """Objects of one kind by key, with indexes by field path or by function.

        pods = Indexer(Keeper(Pod), {"node": "spec.nodeName", "phase": lambda p: [p.status.phase]})
        pods.add(pod)
        pods.by_index("node", "node-7")

    Writes take an object or an `Entry`. The index `namespace` is built in; an index by a
    label's path also serves selectors that ask for one value of that label. `transform`
    changes each object before it is held; one that fails leaves the store as it was.

    `key` files objects under another key than namespace and name (client-go: `KeyFunc`):

        by_uid = Indexer(Keeper(Pod), key=lambda pod: pod.metadata.uid)
        by_uid.get(ObjectKey("", "5a0f…"))

    It is called before `transform`. An `Entry` has its key already; `indexer.keeper` makes
    entries with the same keys. The index `namespace` and the argument `namespace` go by the
    key's namespace.
    """

    def __init__(
        self,
        keeper: Keeper[T],
        indexers: Indexers[T] | None = None,
        *,
        transform: Callable[[T], T | None] | None = None,
        key: KeyFunc[T] | None = None,
    ) -> None:
        self.keeper = keeper if key is None else keeper.keyed_by(key)
        self._transform = transform
        self._store = ThreadSafeStore()
        self._exact: Mapping[str, str] = {}  # which index holds the values of which label
        self.add_indexers(indexers or {})

    # --- reading objects, from any thread

    def get(self, key: ObjectKey) -> T | None:
        """The object of that key. Raises `DecodeError` if it does not read as its type."""
        entry = self._store.get(key)
        return self.keeper.give(entry) if entry is not None else None

    def list(
        self, selector: Selector | str | Mapping[str, str] = EVERYTHING, *, namespace: str = ""
    ) -> builtins.list[T]:
        """The objects whose labels match, in no order; no namespace means all.

        Raises:
            InvalidValue: the selector does not parse.
            DecodeError: an object does not read as its type; its key is named.
        """
        return self._given(self.entries(selector, namespace=namespace))

    def by_index(self, name: str, value: str) -> builtins.list[T]:
        """The objects that have a value. Raises `UnknownIndex`, and `DecodeError` as `list`."""
        return self._given(self._store.by_index(name, value))

    def index(self, name: str, given: T | Entry) -> builtins.list[T]:
        """The objects that share a value with this one, each once. Raises as `by_index`."""
        entry = given if isinstance(given, Entry) else self.keeper.keep(given)
        return self._given(self._store.like(name, entry))

    # --- reading entries, from any thread: nothing is decoded

    def __len__(self) -> int:
        return len(self._store)

    def __contains__(self, key: ObjectKey) -> bool:
        return key in self._store

    @property
    def version(self) -> str:
        """The resource version of the last change; empty before the first."""
        return self._store.version

    @property
    def replacements(self) -> int:
        """How often the whole content was replaced by a list."""
        return self._store.replacements

    @property
    def rewinds(self) -> int:
        """How many of those lists were older than the content: the server was restored."""
        return self._store.rewinds

    def entry(self, key: ObjectKey) -> Entry | None:
        return self._store.get(key)

    def entries(
        self, selector: Selector | str | Mapping[str, str] = EVERYTHING, *, namespace: str = ""
    ) -> builtins.list[Entry]:
        """As `list`, undecoded."""
        return self._store.entries(as_selector(selector), namespace=namespace, exact=self._exact)

    def entries_by_index(self, name: str, value: str) -> builtins.list[Entry]:
        """As `by_index`, undecoded."""
        return self._store.by_index(name, value)

    def keys(self) -> builtins.list[ObjectKey]:
        return self._store.keys()

    def keys_by_index(self, name: str, value: str) -> builtins.list[ObjectKey]:
        """The keys of those who have a value, sorted. Raises `UnknownIndex`."""
        return self._store.keys_by_index(name, value)

    def values_of(self, name: str, entry: Entry) -> tuple[str, ...]:
        """The values of an entry, held or not, in an index. Raises `UnknownIndex`."""
        return self._store.values_of(name, entry)

    def index_values(self, name: str) -> builtins.list[str]:
        """Every value in an index; none in one that does not exist."""
        return self._store.index_values(name)

    def index_names(self) -> tuple[str, ...]:
        return self._store.index_names()

    def stats(self) -> StoreStats:
        return self._store.stats()

    # --- writing, on one thread

    def add(self, given: T | Entry) -> Entry | None:
        """Hold an object in the place of what had its key; returns that.

        Raises:
            UnkeyedObject: it has no name, or the key function failed.
            TransformFailed: the transform raised, or returned nothing.
        """
        return self._store.add(self._taken(given))

    update = add

    def delete(self, given: T | Entry | ObjectKey) -> Entry | None:
        """Hold it no longer; returns what was held. What is not there is no error."""
        if isinstance(given, ObjectKey):
            return self._store.delete(given)
        entry = given if isinstance(given, Entry) else self.keeper.keep(given)
        return self._store.delete(entry.key, version=entry.version)

    def replace(self, given: Iterable[T | Entry], version: str) -> Held:
        """Hold exactly these; returns what was held. Raises as `add`, and holds the old then."""
        return self._store.replace([self._taken(each) for each in given], version)

    async def replace_in_steps(self, given: Sequence[T | Entry], version: str) -> Held:
        """As `replace`, and the event loop goes on meanwhile.

        Nobody else may write until it returns. Safe to cancel: the old content stays.
        """
        replacement = self._store.replacement(map(self._taken, given), version)
        await _in_steps(replacement.step)
        return replacement.finish()

    def transaction(
        self, changes: Sequence[tuple[Literal["add", "update", "delete"], T | Entry]]
    ) -> None:
        """Make all changes in one go.

        Raises:
            PartlyApplied: some objects have no key; all other changes were made.
        """
        failures: dict[int, Exception] = {}
        for place, (verb, given) in enumerate(changes):
            try:
                self.delete(given) if verb == "delete" else self.add(given)
            except KubeError as error:
                failures[place] = error
        if failures:
            applied = [place for place in range(len(changes)) if place not in failures]
            raise PartlyApplied(applied=applied, total=len(changes), failures=failures)

    def bookmark(self, version: str) -> None:
        """Nothing has changed up to `version`."""
        self._store.bookmark(version)

    def resync(self) -> None:
        """Nothing to do: only queues tell things again."""

    # --- indexes

    def add_indexers(self, indexers: Indexers[T]) -> None:
        """Index what is held and what comes.

        Raises:
            IndexConflict: one of the names is taken; none is added.
            InvalidValue: a path does not parse, or the kind has no such field; none is added.
        """
        build = self._store.index_build(*self._indexes(indexers))
        build.finish()
        self._learn_labels(indexers)

    async def add_indexers_in_steps(self, indexers: Indexers[T]) -> None:
        """As `add_indexers`, and the event loop goes on meanwhile, as do reads and writes.

        Safe to cancel: none is added.
        """
        build = self._store.index_build(*self._indexes(indexers))
        try:
            await _in_steps(build.step)
        except BaseException:
            build.close()
            raise
        build.finish()
        self._learn_labels(indexers)

    def _taken(self, given: T | Entry) -> Entry:
        entry = given if isinstance(given, Entry) else self.keeper.keep(given)
        if self._transform is None:
            return entry
        return self.keeper.transformed(entry, self._transform)

    def _given(self, entries: builtins.list[Entry]) -> builtins.list[T]:
        give = self.keeper.give
        return [give(entry) for entry in entries]

    def _indexes(self, indexers: Indexers[T]) -> builtins.list[Index]:
        self._store.check_new(*indexers)
        paths = [by for by in indexers.values() if isinstance(by, str)]
        self.keeper.add_paths(*(path for path in paths if label_of_path(path) is None))
        return [self._made(name, by) for name, by in indexers.items()]

    def _made(self, name: str, by: str | IndexFunc[T]) -> Index:
        if not isinstance(by, str):
            return Index(name, by_function(by, self.keeper.give), remembers=True)
        label = label_of_path(by)
        return Index(name, by_label(label) if label else self.keeper.values_at(by))

    def _learn_labels(self, indexers: Indexers[T]) -> None:
        labels = {label_of_path(by): name for name, by in indexers.items() if isinstance(by, str)}
        found = {label: name for label, name in labels.items() if label is not None}
        self._exact = {**found, **self._exact}


async def let_go(entries: builtins.list[Entry]) -> None:
    """Empty a list whose entries nobody else holds, and let the event loop go on meanwhile.

    Freeing 100,000 objects at once would hold it for 30 ms. For what `replace_in_steps`
    returned: `gone = list(held.values()); del held; await let_go(gone)`.
    Safe to cancel: the rest is freed with the list.
    """

    def step(count: int) -> bool:
        del entries[-count:]
        return bool(entries)

    await _in_steps(step)


async def _in_steps(step: Callable[[int], bool]) -> None:
    yielder = Yielder()
    taken = 0
    while step(STEP):
        taken += 1
        if taken % STEPS == 0 or yielder.is_due():
            await yielder.yield_to_loop()
