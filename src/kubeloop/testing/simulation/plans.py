"""Derives from one undisturbed life the lives that are worth trying.

Guarantees: the same reference gives the same lives in the same order; each class of faults gets
its share from the beginning, and within a class, what is new comes before repetitions.
See also: `lives` (the faults), `explorer` (runs them).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from .injector import TEST
from .lives import Fault, Life, LifeResult, Write

__all__ = ["coverage", "derive"]

_CLUSTER: Final = "cluster"  # the controllers of deployments, pods and so on
_LATE = 30.0  # seconds that a watch is late
_BLACKOUT = 20.0  # seconds without a watch
_PARTITION = 40.0
_LEASE_LOST = 60.0  # longer than a lease
_SLOW = 1.0
_PAUSE = 45.0
_SHARES: Final = {"crash": 3}  # of each round; others get 1


def derive(
    reference: LifeResult, *, classes: Sequence[str], seed: int, pairs: bool
) -> Iterator[Life]:
    """The lives to try, without end: derived ones first, then random ones."""
    queues = {name: list(_single(name, reference)) for name in classes}
    singles = [each for queue in queues.values() for each in queue]
    yield from (Life(seed, each) for each in _round_robin(queues))
    if pairs:
        yield from (Life(seed, each) for each in _pairs(reference, classes))
    number = seed
    while True:
        number += 1
        chance = random.Random(f"faults {number}")
        count = min(len(singles), chance.choice((0, 1, 1, 2, 2, 3, 4)))
        yield Life(number, tuple(fault for each in chance.sample(singles, count) for fault in each))


def coverage(reference: LifeResult, tried: Sequence[Life]) -> str:
    """Which writes and crash points were tried, as text."""
    writes = _own(reference)
    done = {fault for life in tried for fault in life.faults}
    before = sum(Fault("crash-before", each.process, number=each.number) in done for each in writes)
    after = sum(Fault("crash-after", each.process, number=each.number) in done for each in writes)
    counts = Counter(fault.group for life in tried for fault in life.faults)
    kinds = ", ".join(f"{count} {name}" for name, count in counts.items())
    return (
        f"{len(writes)} writes of the processes: crashed before {before} and after {after} of"
        f" them; faults: {kinds or 'none'}"
    )


def _own(reference: LifeResult) -> list[Write]:
    """The writes of the user's processes, those that are new before repetitions."""
    own = [each for each in reference.writes if each.process not in {TEST, _CLUSTER}]
    return _new_first(own)


def _new_first(writes: Sequence[Write]) -> list[Write]:
    seen: Counter[tuple[str, str]] = Counter()
    ranked = []
    for position, write in enumerate(writes):
        kind = (write.process, write.text.rpartition(" ")[0])
        ranked.append((seen[kind], position, write))
        seen[kind] += 1
    return [each[2] for each in sorted(ranked, key=lambda each: each[:2])]


def _single(group: str, reference: LifeResult) -> Iterator[tuple[Fault, ...]]:
    """The faults of one class, each alone where one is enough."""
    own = _own(reference)
    processes = list(dict.fromkeys(each.process for each in reference.writes if each in own))
    tests = _new_first([each for each in reference.writes if each.process == TEST])
    triggers = [(each.process, each) for each in own]
    triggers += [(process, each) for each in tests for process in processes]
    match group:
        case "crash":
            for write in own:
                yield (Fault("crash-after", write.process, number=write.number),)
                yield (Fault("crash-before", write.process, number=write.number),)
            for process, write in triggers[len(own) :]:
                yield (Fault("crash-before", process, by=TEST, number=write.number),)
        case "error":
            for write in own:
                for code in _codes(write):
                    fault = Fault("error", write.process, number=write.number, code=code)
                    yield (fault,)
        case "lost":
            for write in own:
                yield (Fault("lost-response", write.process, number=write.number),)
        case "stale":
            for process, write in triggers:
                for resource in _resources(reference.watched, process):
                    yield (_at("late-watch", process, write, resource, _LATE),)
                for resource in _resources(reference.lists_at_zero, process):
                    yield (_at("stale-list", process, write, resource),)
        case "unobserved":
            for process, write in triggers:
                for resource in _resources(reference.watched, process):
                    yield (_at("unobserved", process, write, resource, _BLACKOUT),)
        case "network":
            for process, write in triggers:
                yield (_at("cut-watches", process, write),)
                yield (_at("partition", process, write, seconds=_PARTITION),)
                yield (_at("slow-network", process, write, seconds=_SLOW),)
        case "leadership":
            for process, write in triggers:
                if process in reference.leaders:
                    yield (_at("lost-lease", process, write, seconds=_LEASE_LOST),)
        case "replicas":
            yield from _with_replicas(reference, own)
        case "pause":
            for process, write in triggers:
                yield (_at("pause", process, write, seconds=_PAUSE),)
            for process in processes:
                yield (Fault("clock-skew", process, seconds=3600.0),)


def _with_replicas(reference: LifeResult, own: Sequence[Write]) -> Iterator[tuple[Fault, ...]]:
    for process in reference.leaders:
        if process == _CLUSTER:
            continue
        replica = Fault("second-replica", process)
        yield (replica,)
        for write in own:
            if write.process == process:
                yield (replica, _at("lost-lease", process, write, seconds=_LEASE_LOST))
                yield (replica, Fault("crash-after", process, number=write.number))


def _at(kind: str, process: str, write: Write, resource: str = "", seconds: float = 0.0) -> Fault:
    by = "" if write.process == process else write.process
    return Fault(kind, process, by=by, number=write.number, resource=resource, seconds=seconds)


def _codes(write: Write) -> tuple[int, ...]:
    """The errors that the server may send for a write."""
    return (409, 500, 429) if write.text.startswith(("update", "patch")) else (500, 429)


def _resources(pairs: Sequence[tuple[str, str]], process: str) -> list[str]:
    return [resource for name, resource in pairs if name == process]


def _round_robin(
    queues: dict[str, list[tuple[Fault, ...]]],
) -> Iterator[tuple[Fault, ...]]:
    left = {name: iter(queue) for name, queue in queues.items()}
    while left:
        for name, queue in list(left.items()):
            for _ in range(_SHARES.get(name, 1)):
                found = next(queue, None)
                if found is None:
                    left.pop(name, None)
                    break
                yield found


def _pairs(reference: LifeResult, classes: Sequence[str]) -> Iterator[tuple[Fault, ...]]:
    """Two crashes close to each other, and a crash within an outage."""
    own = [each for each in reference.writes if each.process not in {TEST, _CLUSTER}]
    if "crash" not in classes:
        return
    for distance in (1, 2, 3):
        for write in own:
            first = Fault("crash-after", write.process, number=write.number)
            second = Fault("crash-after", write.process, number=write.number + distance)
            yield (first, second)
            if "unobserved" in classes and distance == 1:
                for resource in _resources(reference.watched, write.process):
                    lost = _at("unobserved", write.process, write, resource, _BLACKOUT)
                    yield (lost, second)
