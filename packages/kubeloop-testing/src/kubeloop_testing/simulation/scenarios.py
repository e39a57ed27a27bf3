"""What happens in a run, as data: a seed and a list of faults, and the result.

Guarantees: a run has a text form, from which it is created again; every kind of fault names
the rule of the API, or of any distributed system, that allows it.
See also: `injector` (makes faults happen), `explorer` (decides which runs to try).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Final, NamedTuple, final

import msgspec

from kubeloop.errors import InvalidArgument

__all__ = [
    "CLASSES",
    "DEFAULT_CLASSES",
    "KINDS",
    "ExpectedFailure",
    "Failure",
    "Fault",
    "FaultKind",
    "RunResult",
    "Scenario",
    "TimelineEntry",
    "Write",
]


class FaultKind(NamedTuple):
    """One way in which a run is disturbed."""

    group: str  # the class, for `simulate(faults=…)`
    text: str
    rule: str  # what allows it


KINDS: Final = {
    "crash-before": FaultKind(
        "crash",
        "{target} crashes before {write}",
        "a process may end at any moment, for example when its node fails",
    ),
    "crash-after": FaultKind(
        "crash",
        "{target} crashes after {write}, before it gets the response",
        "a process may end at any moment, for example when its node fails",
    ),
    "crash": FaultKind(
        "crash",
        "{target} crashes",
        "a process may end at any moment, for example when its node fails",
    ),
    "error": FaultKind(
        "error",
        "{target} gets {code} for {write}, which is not done",
        "the server may reject a request: 409 after a concurrent write, 429 when it is busy,"
        " 500 when etcd does not respond",
    ),
    "lost-response": FaultKind(
        "lost",
        "{write} is done, and its response is lost",
        "a connection may break between a write and its response",
    ),
    "no-response": FaultKind(
        "lost",
        "{write} is done, and no response arrives: {target} has to give up by itself",
        "a connection may be interrupted without an error",
    ),
    "late-watch": FaultKind(
        "stale",
        "watch events of {resource} reach {target} {seconds:g} s late, from {write} on",
        "a watch is eventually consistent: events come in order, at any later time",
    ),
    "stale-list": FaultKind(
        "stale",
        "{target} crashes at {write}, and its next lists of {resource} at version 0 are of"
        " the state before it",
        "a list with resourceVersion=0 may be answered from any cached version",
    ),
    "unobserved": FaultKind(
        "unobserved",
        "{target} loses its watch of {resource} at {write}; after {seconds:g} s the versions in"
        " between are compacted",
        "the server keeps a limited history: a client that reconnects too late gets 410 and"
        " lists again, and never sees the states in between",
    ),
    "cut-watches": FaultKind(
        "network",
        "all watches of {target} break at {write}",
        "the server or a proxy may end a connection at any time",
    ),
    "partition": FaultKind(
        "network",
        "{target} cannot reach the server for {seconds:g} s, from {write} on",
        "a network may lose packets for any time",
    ),
    "slow-network": FaultKind(
        "network",
        "the connections of {target} have a latency of {seconds:g} s, from {write} on",
        "a network may be slow",
    ),
    "lost-lease": FaultKind(
        "leadership",
        "renewals of the lease of {target} fail for {seconds:g} s, from {write} on",
        "the server may reject renewals, and another replica may then become the leader",
    ),
    "second-replica": FaultKind(
        "replicas",
        "{target} runs with two replicas",
        "a rolling update or a scale-up starts another replica",
    ),
    "pause": FaultKind(
        "pause",
        "{target} is paused for {seconds:g} s at {write}",
        "a machine may be suspended; leases cannot protect against that",
    ),
    "clock-skew": FaultKind(
        "pause",
        "the wall clock of {target} is ahead by {seconds:g} s",
        "clocks of machines differ",
    ),
}

CLASSES: Final = tuple(dict.fromkeys(kind.group for kind in KINDS.values()))
DEFAULT_CLASSES: Final = tuple(each for each in CLASSES if each != "pause")


@final
class Fault(msgspec.Struct, frozen=True, omit_defaults=True):
    """One fault: what happens to the process `target`, at a write or at a time.

    The write is the `number`th one of the process `by`; "test" is the test itself. Without a
    number, it happens at the virtual time `at`.
    """

    kind: str
    target: str
    by: str = ""  # empty: the target itself
    number: int = 0
    resource: str = ""
    seconds: float = 0.0
    code: int = 0
    at: float = 0.0  # virtual seconds

    @property
    def trigger(self) -> tuple[str, int]:
        return (self.by or self.target, self.number)

    @property
    def group(self) -> str:
        return KINDS[self.kind].group

    def describe(self, write: str = "") -> str:
        """What happens, in words; `write` describes the write."""
        by, number = self.trigger
        when = f"write {number} of {by}{f' ({write})' if write else ''}"
        return KINDS[self.kind].text.format(
            target=self.target,
            write=when if number else f"{self.at:.3f} s",
            code=self.code,
            seconds=self.seconds,
            resource=self.resource or "everything",
        )

    def __str__(self) -> str:
        text = f"{self.kind}@{self.target}"
        if self.number:
            text += f"#{self.number}"
        values = [("by", self.by), ("resource", self.resource)]
        values += [("seconds", repr(self.seconds).removesuffix(".0") if self.seconds else "")]
        values += [("code", str(self.code) if self.code else "")]
        values += [("at", repr(self.at) if self.at else "")]
        options = ",".join(f"{name}={value}" for name, value in values if value)
        return f"{text}:{options}" if options else text

    @classmethod
    def parse(cls, text: str) -> Fault:
        """The fault of a text. Raises: InvalidArgument."""
        head, _, options = text.partition(":")
        kind, _, where = head.partition("@")
        target, _, number = where.partition("#")
        if kind not in KINDS:
            raise InvalidArgument(f"fault {text!r}: unknown kind (use {', '.join(KINDS)})")
        values = dict(each.partition("=")[::2] for each in options.split(",") if each)
        unknown = values.keys() - {"by", "resource", "seconds", "code", "at"}
        if unknown or not target:
            what = f"unknown option {min(unknown)}" if unknown else "it names no process"
            raise InvalidArgument(f"fault {text!r}: {what} (write KIND@PROCESS#WRITE:OPTION=VALUE)")
        try:
            return cls(
                kind,
                target,
                by=values.get("by", ""),
                number=int(number or 0),
                resource=values.get("resource", ""),
                seconds=float(values.get("seconds", 0)),
                code=int(values.get("code", 0)),
                at=float(values.get("at", 0)),
            )
        except ValueError as error:
            raise InvalidArgument(f"fault {text!r}: {error}") from error


@final
class Scenario(msgspec.Struct, frozen=True):
    """One run of a simulated test: the seed of everything random, and the faults."""

    seed: int = 0
    faults: tuple[Fault, ...] = ()

    def __str__(self) -> str:
        return " ".join([f"seed={self.seed}", *map(str, self.faults)])

    @classmethod
    def parse(cls, text: str) -> Scenario:
        """The scenario of a text. Raises: InvalidArgument."""
        first, *rest = text.split() or [""]
        name, _, seed = first.partition("=")
        if name != "seed" or not re.fullmatch("[0-9]{1,100}", seed):
            raise InvalidArgument(f"scenario {text!r}: it starts with seed=NUMBER")
        return cls(int(seed), tuple(map(Fault.parse, rest)))


@final
class Write(msgspec.Struct, frozen=True):
    """One write of a run, as the server received it."""

    process: str
    number: int  # of the writes of this process
    at: float  # virtual seconds
    text: str  # such as "create deployments default/shop"
    code: int = 0  # of the response; 0: there was none


@final
class TimelineEntry(msgspec.Struct, frozen=True):
    """One line of the story of a run."""

    at: float  # virtual seconds
    process: str
    kind: str  # process, fault, write, event, reconcile, log, check
    text: str


@final
class Failure(msgspec.Struct, frozen=True):
    """What was wrong in a run, and which oracle found it."""

    oracle: str
    message: str


@final
class ExpectedFailure(msgspec.Struct, frozen=True):
    """What a test says may fail: keys, errors, or both."""

    key: str = "*"  # a pattern of a key, of its controller and the key, or of a process
    error: str = ""  # the class with its module; empty: any

    @classmethod
    def of(cls, error: type[BaseException], key: str = "*") -> ExpectedFailure:
        return cls(key, _class_name(error))

    def covers(self, names: Iterable[str], error: BaseException | None) -> bool:
        """Whether it is about an error of one of these names."""
        if not any(fnmatchcase(name, self.key) for name in names):
            return False
        return not self.error or any(
            self.error == _class_name(each) for each in type(error).__mro__
        )


def _class_name(kind: type) -> str:
    # By name: a process imports its module again, and so has other classes than the test.
    return f"{kind.__module__.partition(' (copy ')[0]}.{kind.__qualname__}"


@final
class RunResult(msgspec.Struct, frozen=True):
    """The result of a run."""

    failure: Failure | None = None
    writes: tuple[Write, ...] = ()
    watched: tuple[tuple[str, str], ...] = ()  # process and resource
    lists_at_zero: tuple[tuple[str, str], ...] = ()  # the same, for lists at version 0
    leaders: tuple[str, ...] = ()  # processes that held a lease
    end_state: tuple[str, ...] = ()  # the objects, without names, times and ids that vary
    leftovers: tuple[str, ...] = ()  # orphans, and objects whose deletion does not end
    errors: tuple[str, ...] = ()  # that were raised and not expected, with their places
    failing: tuple[str, ...] = ()  # keys whose last reconcile failed, and was not expected to
    digest: str = ""  # of all bytes on the network
    virtual: float = 0.0  # seconds
    cpu: float = 0.0  # seconds
    fired: int = 0  # faults that happened
    timeline: tuple[TimelineEntry, ...] = ()
