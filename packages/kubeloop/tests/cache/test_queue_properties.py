"""Both queues against a naive model, and a store at the end."""

from __future__ import annotations

from collections.abc import Sequence

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from kubeloop.cache import Batch, Delta, DeltaFIFO, DeltaType, Entry, EntryCodec, Indexer, RealFIFO
from kubeloop.cache.delta_queue import QueueBase
from kubeloop.meta import ObjectKey
from tests.cache.objects import entry

NAMES = st.sampled_from("abc")
PER_KEY = (DeltaType.ADDED, DeltaType.UPDATED, DeltaType.REPLACED, DeltaType.SYNC)


class Pipeline(RuleBasedStateMachine):
    """A server, a reflector that may miss events, a queue, and a consumer with a store.

    When all deltas are processed, the store equals the server, whatever was missed before a
    list, and whatever arrives while a batch is in flight. A reader of the deltas sees the start
    of each object before its end, each once. Where the queue knows the store, an object of a
    name starts after the one before it has ended.
    """

    distinguishes_uids = True

    def __init__(self) -> None:
        super().__init__()
        self.store: Indexer[dict[str, object]] = Indexer(EntryCodec(dict))
        self.queue = self.make_queue()
        self.server: dict[ObjectKey, Entry] = {}
        self.version = 0
        self.alive: dict[ObjectKey, str] = {}  # the uid of each key, by the deltas so far
        self.created = 0
        self.in_flight: Batch | None = None

    def make_queue(self) -> DeltaFIFO | RealFIFO:
        raise NotImplementedError

    def teardown(self) -> None:
        if self.in_flight is not None:
            self.finish(fails=False)
        self.process_all()

    @rule(name=NAMES)
    def write(self, name: str) -> None:
        made, known = self.write_on_server(name)
        self.queue.update(made) if known else self.queue.add(made)

    @rule(name=NAMES)
    def delete(self, name: str) -> None:
        gone = self.server.pop(ObjectKey("shop", name), None)
        if gone is not None:
            self.version += 1
            self.queue.delete(entry(name, version=str(self.version), uid=gone.uid))

    @rule(name=NAMES)
    def miss_a_delete(self, name: str) -> None:
        self.server.pop(ObjectKey("shop", name), None)
        made, _ = self.write_on_server(name)
        self.queue.update(made)

    @rule(written=st.sets(NAMES), deleted=st.sets(NAMES), recreated=st.sets(NAMES))
    def miss_events_and_list_again(
        self, written: set[str], deleted: set[str], recreated: set[str]
    ) -> None:
        for name in deleted | recreated:
            self.server.pop(ObjectKey("shop", name), None)
        for name in sorted((written - deleted) | recreated):
            self.write_on_server(name)
        self.version += 1
        self.queue.replace(list(self.server.values()), str(self.version))

    def write_on_server(self, name: str) -> tuple[Entry, bool]:
        self.version += 1
        before = self.server.get(ObjectKey("shop", name))
        self.created += before is None
        uid = before.uid if before is not None else f"u{self.created}"
        made = entry(name, version=str(self.version), uid=uid)
        known = before is not None
        self.server[made.key] = made
        return made, known

    @rule()
    def resync(self) -> None:
        self.queue.resync()

    @precondition(lambda self: self.in_flight is None)
    @rule(at_most=st.integers(1, 5))
    def take(self, at_most: int) -> None:
        self.in_flight = self.queue.take_nowait(at_most=at_most)

    @precondition(lambda self: self.in_flight is not None)
    @rule(fails=st.booleans())
    def finish(self, fails: bool) -> None:
        assert self.in_flight is not None
        batch, self.in_flight = self.in_flight, None
        if fails:
            self.queue.put_back(batch)
        else:
            self.apply(batch.deltas)
            self.queue.done(batch)

    @precondition(lambda self: self.in_flight is None)
    @rule()
    def process_all(self) -> None:
        while self.queue.pop_nowait(lambda deltas, _: self.apply(deltas), at_most=3):
            pass
        assert self.stored_entries() == self.server

    @invariant()
    def the_deltas_add_up_to_the_store(self) -> None:
        assert self.alive == {key: each.uid for key, each in self.stored_entries().items()}

    def stored_entries(self) -> dict[ObjectKey, Entry]:
        return {each.key: each for each in self.store.entries()}

    def apply(self, deltas: Sequence[Delta]) -> None:
        for delta in deltas:
            match delta.type:
                case DeltaType.REPLACED_ALL:
                    self.store.replace(delta.entries, delta.version)
                    self.alive = {each.key: each.uid for each in delta.entries}
                case DeltaType.DELETED:
                    assert delta.entry is not None
                    assert self.alive.pop(delta.key, delta.entry.uid) == delta.entry.uid
                    self.store.delete(delta.key)
                case kind if kind in PER_KEY:
                    assert delta.entry is not None
                    if self.distinguishes_uids:
                        assert self.alive.get(delta.key, delta.entry.uid) == delta.entry.uid
                    self.store.add(delta.entry)
                    self.alive[delta.key] = delta.entry.uid


class PipelineByKey(Pipeline):
    def make_queue(self) -> DeltaFIFO:
        return DeltaFIFO(self.store)


class PipelineInOrder(Pipeline):
    def make_queue(self) -> RealFIFO:
        return RealFIFO(self.store)


class AtomicPipeline(Pipeline):
    distinguishes_uids = False  # it knows no store to compare with

    def make_queue(self) -> RealFIFO:
        return RealFIFO()


class QueueAgainstModel(RuleBasedStateMachine):
    """A queue returns what a list that is searched from the front would return."""

    def __init__(self) -> None:
        super().__init__()
        self.queue: QueueBase = self.make_queue()
        self.model: list[Delta] = []
        self.version = 0

    def make_queue(self) -> DeltaFIFO | RealFIFO:
        raise NotImplementedError

    def expected(self, at_most: int) -> list[Delta]:
        raise NotImplementedError

    def fresh(self, name: str) -> Entry:
        self.version += 1
        return entry(name, version=str(self.version))

    @rule(name=NAMES, new=st.booleans())
    def put(self, name: str, new: bool) -> None:
        given = self.fresh(name)
        assert isinstance(self.queue, DeltaFIFO | RealFIFO)
        self.queue.add(given) if new else self.queue.update(given)
        kind = DeltaType.ADDED if new else DeltaType.UPDATED
        self.model.append(Delta(kind, given.key, given))

    @rule(at_most=st.integers(1, 5))
    def take(self, at_most: int) -> None:
        expected = self.expected(at_most)
        batch = self.queue.pop_nowait(lambda *_: None, at_most=at_most)
        assert (list(batch.deltas) if batch else []) == expected
        self.model = [each for each in self.model if each not in expected]

    @invariant()
    def nothing_is_lost(self) -> None:
        stats = self.queue.stats()  # type: ignore[attr-defined] # both queues have them
        assert stats.deltas == len(self.model)
        assert stats.keys == len({each.key for each in self.model})
        assert stats.added == stats.taken + stats.deltas


class ByKeyAgainstModel(QueueAgainstModel):
    def make_queue(self) -> DeltaFIFO:
        return DeltaFIFO()

    def expected(self, at_most: int) -> list[Delta]:
        return [each for each in self.model if each.key == self.model[0].key]


class InOrderAgainstModel(QueueAgainstModel):
    def make_queue(self) -> RealFIFO:
        return RealFIFO()

    def expected(self, at_most: int) -> list[Delta]:
        found: list[Delta] = []
        for each in self.model[:at_most]:
            if each.key in {other.key for other in found}:
                break
            found.append(each)
        return found


TestPipelineByKey = PipelineByKey.TestCase
TestPipelineInOrder = PipelineInOrder.TestCase
TestAtomicPipeline = AtomicPipeline.TestCase
TestByKeyAgainstModel = ByKeyAgainstModel.TestCase
TestInOrderAgainstModel = InOrderAgainstModel.TestCase
for _case in (
    TestPipelineByKey,
    TestPipelineInOrder,
    TestAtomicPipeline,
    TestByKeyAgainstModel,
    TestInOrderAgainstModel,
):
    _case.settings = settings(stateful_step_count=30)
del _case  # else it is collected once more
