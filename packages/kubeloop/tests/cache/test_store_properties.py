"""A store against a plain dict, for any operations."""

from __future__ import annotations

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from kubeloop.cache import Entry, EntryCodec, Indexer, ThreadSafeStore
from kubeloop.cache.index import Index, by_function, by_label
from kubeloop.cache.store import IndexBuild, Replacement
from kubeloop.meta import ObjectKey
from kubeloop.selectors import parse_labels
from tests.cache.objects import entry, pod

NAMES = st.sampled_from("abcdef")
NAMESPACES = st.sampled_from(["x", "y"])
APPS = st.sampled_from(["web", "api", None])
NODES = st.sampled_from(["n1", "n2", None])
SELECTORS = [parse_labels(text) for text in ("app=web", "app!=web", "!app", "app in (web,api)")]
VERSIONS = st.integers(1, 10**6).map(str)


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    app = draw(APPS)
    return pod(
        draw(NAMES),
        namespace=draw(NAMESPACES),
        version=draw(VERSIONS),
        labels={"app": app} if app else None,
        node=draw(NODES),
    )


class StoreAgainstDict(RuleBasedStateMachine):
    """Every read of an indexed store is what a scan of a plain dict gives."""

    def __init__(self) -> None:
        super().__init__()
        self.store: Indexer[dict[str, object]] = Indexer(
            EntryCodec(dict), {"node": "spec.nodeName", "app": "metadata.labels.app"}
        )
        self.model: dict[ObjectKey, Entry] = {}
        self.version = ""

    @rule(text=texts())
    def put(self, text: bytes) -> None:
        taken = self.store.codec.parse(text)
        assert self.store.add(taken) == self.model.get(taken.key)
        self.model[taken.key] = taken
        self.version = taken.version

    @rule(name=NAMES, namespace=NAMESPACES)
    def delete(self, name: str, namespace: str) -> None:
        key = ObjectKey(namespace, name)
        assert self.store.delete(key) == self.model.pop(key, None)

    @rule(given=st.lists(texts(), max_size=8), version=VERSIONS)
    def replace(self, given: list[bytes], version: str) -> None:
        taken = [self.store.codec.parse(text) for text in given]
        assert self.store.replace(taken, version) == self.model
        self.model = {each.key: each for each in taken}
        self.version = version

    @precondition(lambda self: "late" not in self.store.index_names())
    @rule()
    def index_later(self) -> None:
        self.store.add_indexers({"late": "spec.nodeName", "f": _node_of})

    @invariant()
    def holds_the_same(self) -> None:
        keys = self.store.keys()
        assert {key: self.store.entry(key) for key in keys} == self.model
        assert len(self.store) == len(self.model)
        assert self.store.version == self.version
        assert self.store.stats().bytes == sum(len(each.content) for each in self.model.values())

    @invariant()
    def indexes_are_a_scan(self) -> None:
        by_node: dict[str, set[ObjectKey]] = {}
        for key, stored in self.model.items():
            for value in stored.indexed_values[0]:
                by_node.setdefault(value, set()).add(key)
        for name in {"node", "late", "f"} & set(self.store.index_names()):
            values = self.store.index_values(name)
            assert {
                value: set(self.store.keys_by_index(name, value)) for value in values
            } == by_node
            for value in values:
                found = self.store.entries_by_index(name, value)
                assert all(self.model[each.key] == each for each in found)

    @invariant()
    def selectors_are_a_scan(self) -> None:
        for selector in SELECTORS:
            for namespace in ("", "x"):
                expected = {
                    key
                    for key, stored in self.model.items()
                    if selector.matches(stored.labels) and namespace in ("", key.namespace)
                }
                found = self.store.entries(selector, namespace=namespace)
                assert {each.key for each in found} == expected
                assert len(found) == len(expected)


def _node_of(given: dict[str, object]) -> list[str]:
    spec = given["spec"]
    assert isinstance(spec, dict)
    return [spec["nodeName"]] if "nodeName" in spec else []


class StepsBetweenWrites(RuleBasedStateMachine):
    """Replacements and index builds in steps, with writes between: the end is as if at once."""

    def __init__(self) -> None:
        super().__init__()
        self.store = ThreadSafeStore()
        self.model: dict[ObjectKey, Entry] = {}
        self.build: IndexBuild | None = None
        self.replacement: tuple[Replacement, dict[ObjectKey, Entry]] | None = None
        self.shown = 0

    @rule(name=NAMES, app=APPS, version=VERSIONS)
    def put(self, name: str, app: str | None, version: str) -> None:
        given = entry(name, version=version, labels={"app": app} if app else None)
        self.store.add(given)
        self.model[given.key] = given

    @rule(name=NAMES)
    def delete(self, name: str) -> None:
        key = ObjectKey("shop", name)
        self.store.delete(key)
        self.model.pop(key, None)

    @precondition(lambda self: self.replacement is None)
    @rule(given=st.lists(st.tuples(NAMES, APPS), max_size=6))
    def begin_replacement(self, given: list[tuple[str, str | None]]) -> None:
        entries = [entry(name, labels={"app": app} if app else None) for name, app in given]
        after = {each.key: each for each in entries}
        self.replacement = (self.store.replacement(entries, "1"), after)

    @precondition(lambda self: self.replacement is not None)
    @rule(count=st.integers(1, 3))
    def go_on_replacing(self, count: int) -> None:
        assert self.replacement is not None
        self.replacement[0].step(count)

    @precondition(lambda self: self.replacement is not None)
    @rule()
    def end_replacement(self) -> None:
        assert self.replacement is not None
        replacement, after = self.replacement
        assert replacement.finish() == self.model
        self.model, self.replacement = after, None

    @precondition(lambda self: self.build is None)
    @rule()
    def begin_build(self) -> None:
        name = f"app{self.shown}"
        asked = Index(f"f{name}", by_function(_app_of, lambda given: given), remembers=True)
        self.build = self.store.index_build(Index(name, by_label("app")), asked)

    @precondition(lambda self: self.build is not None)
    @rule(count=st.integers(1, 3))
    def go_on_building(self, count: int) -> None:
        assert self.build is not None
        self.build.step(count)

    @precondition(lambda self: self.build is not None)
    @rule(finish=st.booleans())
    def end_build(self, finish: bool) -> None:
        assert self.build is not None
        self.build.finish() if finish else self.build.close()
        self.shown += finish
        self.build = None

    @invariant()
    def reads_are_right(self) -> None:
        assert {each.key: each for each in self.store.entries()} == self.model
        apps: dict[str, set[ObjectKey]] = {
            app: set() for each in self.model.values() for app in _app_of(each)
        }
        for key, each in self.model.items():
            for app in _app_of(each):
                apps[app].add(key)
        for number in range(self.shown):
            for name in (f"app{number}", f"fapp{number}"):
                values = self.store.index_values(name)
                found = {value: set(self.store.keys_by_index(name, value)) for value in values}
                assert found == apps


def _app_of(given: Entry) -> list[str]:
    return [given.labels["app"]] if "app" in given.labels else []


TestStoreAgainstDict = StoreAgainstDict.TestCase
TestStoreAgainstDict.settings = settings(stateful_step_count=14)
TestStepsBetweenWrites = StepsBetweenWrites.TestCase
TestStepsBetweenWrites.settings = settings(stateful_step_count=30)
