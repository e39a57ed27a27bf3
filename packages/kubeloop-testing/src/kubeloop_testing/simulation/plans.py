"""Derives from one undisturbed run the runs that are worth trying.

Guarantees: the same reference gives the same runs in the same order; each class of faults gets
its share from the beginning, and within a class, what is new comes before repetitions.
See also: `scenarios` (the faults), `explorer` (runs them).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, final

from .injector import TEST
from .scenarios import Fault, RunResult, Scenario, Write

__all__ = ["CrashPoints", "coverage", "crash_points", "derive"]

_CLUSTER: Final = "cluster"  # the controllers of deployments, pods and so on
_LATE = 30.0  # seconds that a watch is late
_BLACKOUT = 20.0  # seconds without a watch
_PARTITION = 40.0
_LEASE_LOST = 60.0  # longer than a lease
_SLOW = 1.0
_PAUSE = 45.0
_SKEW = 3600.0
_TIMED: Final = frozenset(
    {"crash", "late-watch", "unobserved", "cut-watches", "partition", "slow-network", "lost-lease"}
)
_SHARES: Final = {"crash": 3}  # of each round; others get 1


def derive(
    reference: RunResult, *, classes: Sequence[str], seed: int, pairs: bool
) -> Iterator[Scenario]:
    """The runs to try, without end: derived ones first, then random ones."""
    found = _Reference(reference)
    queues = {
        name: [
            each
            for each in _PLANS[name](found)
            if all(fault.group in classes for fault in each)  # a plan may combine classes
        ]
        for name in classes
    }
    singles = [each for queue in queues.values() for each in queue]
    yield from (Scenario(seed, each) for each in _round_robin(queues))
    if pairs:
        yield from (Scenario(seed, each) for each in _pairs(reference, classes))
    number = seed
    while True:
        number += 1
        chance = random.Random(f"faults {number}")
        count = min(len(singles), chance.choice((0, 1, 1, 2, 2, 3, 4)))
        faults = [fault for each in chance.sample(singles, count) for fault in each]
        yield Scenario(number, tuple(_at_any_time(each, found, chance) for each in faults))


def _at_any_time(fault: Fault, reference: _Reference, chance: random.Random) -> Fault:
    """Sometimes the same at a time between two writes: any `await` of the process."""
    kind = "crash" if fault.group == "crash" else fault.kind
    if kind not in _TIMED or chance.random() < 0.5:
        return fault
    last = max((each.at for each in reference.own), default=0.0)
    at = round(chance.uniform(0.001, last + 1.0), 4)
    return Fault(kind, fault.target, resource=fault.resource, seconds=fault.seconds, at=at)


class CrashPoints(NamedTuple):
    """A write of the undisturbed run, and where around it a crash was tried."""

    write: Write
    before: bool
    after: bool


def crash_points(reference: RunResult, tried: Sequence[Scenario]) -> tuple[CrashPoints, ...]:
    """Each write of the processes, in order, and the crashes that were tried."""
    done = {fault for scenario in tried for fault in scenario.faults}
    return tuple(
        CrashPoints(
            each,
            Fault("crash-before", each.process, number=each.number) in done,
            Fault("crash-after", each.process, number=each.number) in done,
        )
        for each in reference.writes
        if each.process not in {TEST, _CLUSTER}
    )


def coverage(reference: RunResult, tried: Sequence[Scenario]) -> str:
    """Which writes and crash points were tried, as text."""
    points = crash_points(reference, tried)
    before, after = sum(each.before for each in points), sum(each.after for each in points)
    counts = Counter(fault.group for scenario in tried for fault in scenario.faults)
    kinds = ", ".join(f"{count} {name}" for name, count in counts.items())
    return (
        f"{len(points)} writes of the processes: crashed before {before} and after {after} of"
        f" them; faults: {kinds or 'none'}"
    )


def _own(reference: RunResult) -> list[Write]:
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


@final
class _Reference:
    """The undisturbed run, as plans need it."""

    def __init__(self, result: RunResult) -> None:
        self.result = result
        self.own = _own(result)
        tests = _new_first([each for each in result.writes if each.process == TEST])
        processes = list(dict.fromkeys(each.process for each in self.own))
        self.processes = processes
        # The writes of others at which something may happen to a process.
        self.others = [(process, each) for each in tests for process in processes]
        self.triggers = [(each.process, each) for each in self.own] + self.others


def _crashes(reference: _Reference) -> Iterator[tuple[Fault, ...]]:
    for write in reference.own:
        yield (_at("crash-after", write.process, write),)
        yield (_at("crash-before", write.process, write),)
    for process, write in reference.others:
        yield (_at("crash-before", process, write),)


def _errors(reference: _Reference) -> Iterator[tuple[Fault, ...]]:
    for write in reference.own:
        # A conflict needs a version that the server compares.
        has_version = write.text.startswith(("update", "patch"))
        for code in (409, 500, 429) if has_version else (500, 429):
            yield (Fault("error", write.process, number=write.number, code=code),)


def _lost_responses(reference: _Reference) -> Iterator[tuple[Fault, ...]]:
    for write in reference.own:
        yield (_at("lost-response", write.process, write),)
        yield (_at("no-response", write.process, write),)


def _stale_states(reference: _Reference) -> Iterator[tuple[Fault, ...]]:
    for process, write in reference.triggers:
        for resource in _resources(reference.result.watched, process):
            yield (_at("late-watch", process, write, resource, _LATE),)
        for resource in _resources(reference.result.lists_at_zero, process):
            yield (_at("stale-list", process, write, resource),)


def _unobserved_states(reference: _Reference) -> Iterator[tuple[Fault, ...]]:
    for process, write in reference.triggers:
        for resource in _resources(reference.result.watched, process):
            yield (_at("unobserved", process, write, resource, _BLACKOUT),)


def _network_faults(reference: _Reference) -> Iterator[tuple[Fault, ...]]:
    for process, write in reference.triggers:
        yield (_at("cut-watches", process, write),)
        yield (_at("partition", process, write, seconds=_PARTITION),)
        yield (_at("slow-network", process, write, seconds=_SLOW),)


def _lost_leases(reference: _Reference) -> Iterator[tuple[Fault, ...]]:
    for process, write in reference.triggers:
        if process in reference.result.leaders:
            yield (_at("lost-lease", process, write, seconds=_LEASE_LOST),)


def _replicas(reference: _Reference) -> Iterator[tuple[Fault, ...]]:
    for process in reference.result.leaders:
        if process not in reference.processes:
            continue
        replica = Fault("second-replica", process)
        yield (replica,)
        for write in reference.own:
            if write.process == process:
                yield (replica, _at("lost-lease", process, write, seconds=_LEASE_LOST))
                yield (replica, _at("crash-after", process, write))


def _pauses(reference: _Reference) -> Iterator[tuple[Fault, ...]]:
    for process, write in reference.triggers:
        yield (_at("pause", process, write, seconds=_PAUSE),)
    for process in reference.processes:
        yield (Fault("clock-skew", process, seconds=_SKEW),)


_PLANS: Final = {
    "crash": _crashes,
    "error": _errors,
    "lost": _lost_responses,
    "stale": _stale_states,
    "unobserved": _unobserved_states,
    "network": _network_faults,
    "leadership": _lost_leases,
    "replicas": _replicas,
    "pause": _pauses,
}


def _at(kind: str, process: str, write: Write, resource: str = "", seconds: float = 0.0) -> Fault:
    by = "" if write.process == process else write.process
    return Fault(kind, process, by=by, number=write.number, resource=resource, seconds=seconds)


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


def _pairs(reference: RunResult, classes: Sequence[str]) -> Iterator[tuple[Fault, ...]]:
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
