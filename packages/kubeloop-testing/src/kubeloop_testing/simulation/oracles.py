"""What must be true of every run, whatever happened in it.

Each oracle has a name, which reports show:

- `lease`: no write is sent after the sender's own lease has expired, by its own clock
- `own write`: no update is based on a cache that is older than the last write of the same process
- `end state`, `leaked object`: the objects at the end are those of the undisturbed run
- `orphan`, `finalizer`: no object at the end whose owner is gone, or whose deletion does not end
- `unhandled error`: no error that only a mistake in the program raises
- `failing key`: no key of the undisturbed run whose last reconcile failed
- `sealed`: no call that leads out of the simulation (`sealing`)
- `settles`, `hot loop`: the work comes to an end (`world`)
- `always`, `eventually`, `test`: what the test says (`world`)

Guarantees: names, ids and times that the server generates do not count in comparisons.
"""

from __future__ import annotations

import itertools
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final, TypeAlias, final

import msgspec

from kubeloop.kit import whole_number
from kubeloop.wire import JsonObject

from ..server.faults import SeenRequest
from ..server.service import Service
from .scenarios import Failure, RunResult

__all__ = [
    "LeaseWatch",
    "OwnWrites",
    "StoredObject",
    "compared_objects",
    "end_state",
    "explain_random",
    "judge",
    "judge_undisturbed",
    "leftovers",
]

_SLOWEST = 1.0  # virtual seconds in which a cache without faults has seen a write
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_WORD: Final = re.compile(r"[0-9A-Za-z+/=_-]{8,}")
# Other resources are derived from these, or are about nodes and not about the work.
_LEFT_OUT: Final = frozenset({"leases", "events", "endpointslices", "endpoints", "nodes"})
_VARYING: Final = frozenset(
    {
        *("uid", "resourceVersion", "creationTimestamp", "managedFields", "generation"),
        *("deletionTimestamp", "podIP", "podIPs", "hostIP", "hostIPs", "nodeName", "containerID"),
        *("clusterIP", "clusterIPs", "nodePort", "deployment.kubernetes.io/revision"),
    }
)
_MISTAKES: Final = (
    *("AttributeError", "TypeError", "KeyError", "IndexError", "NameError", "AssertionError"),
    *("UnboundLocalError", "ZeroDivisionError", "RecursionError", "NotImplementedError"),
)

StoredObject: TypeAlias = tuple[str, JsonObject]  # with its resource


class _LeaseSpec(msgspec.Struct):
    holder: str = msgspec.field(default="", name="holderIdentity")
    seconds: int = msgspec.field(default=15, name="leaseDurationSeconds")


class _Lease(msgspec.Struct):
    spec: _LeaseSpec = msgspec.field(default_factory=_LeaseSpec)


@final
class LeaseWatch:
    """Knows until when each process is the leader, by its own clock."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}
        self._works_without: set[str] = set()
        self._resumed: dict[str, float] = {}  # when a paused process runs again
        self.leaders: dict[str, None] = {}

    def forget(self, process: str) -> None:
        """The process starts again."""
        self._until.pop(process, None)

    def on_pause(self, process: str, until: float) -> None:
        """The process is paused: what it was about to send is sent late, lease or not."""
        self._resumed[process] = until

    def on_renewal(self, process: str, seen: SeenRequest, sent: float) -> None:
        """A renewal was acknowledged; the lease counts from when it was sent."""
        try:
            lease = msgspec.json.decode(seen.body, type=_Lease).spec
        except msgspec.DecodeError:
            return
        self.leaders[process] = None
        self._until[process] = sent + lease.seconds if lease.holder else sent

    def check(self, process: str, sent: float, write: str) -> Failure | None:
        """The failure of a write, if the lease of its sender has expired."""
        if "customresourcedefinitions" in write:
            return None  # installed before the election
        until = self._until.get(process)
        if until is None:
            self._works_without.add(process)
            return None
        if process in self._works_without or sent <= until:
            return None
        resumed = self._resumed.get(process)
        if resumed is not None and sent - resumed <= _SLOWEST:
            return None  # no lease can protect against that
        return Failure(
            "lease",
            f"{process} sent a write {sent - until:.1f} s after its own lease had expired: {write}",
        )


class _Versioned(msgspec.Struct):
    version: str = msgspec.field(default="", name="resourceVersion")


class _Body(msgspec.Struct):
    metadata: _Versioned = msgspec.field(default_factory=_Versioned)


@final
class OwnWrites:
    """Knows the version of each process' last acknowledged write of each object."""

    def __init__(self) -> None:
        self._versions: dict[tuple[str, ...], tuple[int, float]] = {}

    def forget(self, process: str) -> None:
        """The process starts again."""
        self._versions = {key: each for key, each in self._versions.items() if key[0] != process}

    def acknowledge(self, process: str, seen: SeenRequest, version: int, now: float) -> None:
        """The response to a write was sent."""
        if version:
            self._versions[_key(process, seen)] = (version, now)

    def check(self, process: str, seen: SeenRequest, sent: float) -> Failure | None:
        """The failure of an update, if it is based on a version before its sender's own write."""
        if seen.verb != "update":
            return None
        known = self._versions.get(_key(process, seen))
        if known is None or sent - known[1] <= _SLOWEST:
            return None
        try:
            text = msgspec.json.decode(seen.body, type=_Body).metadata.version
        except msgspec.DecodeError:
            return None
        version = whole_number(text)
        if version is None or version >= known[0]:
            return None
        return Failure(
            "own write",
            f"{process} updates {seen.resource} {seen.namespace}/{seen.name} of version {text},"
            f" {sent - known[1]:.1f} s after its own write of version {known[0]}: its cache was"
            " older than its own last write",
        )


def _key(process: str, seen: SeenRequest) -> tuple[str, ...]:
    return (process, seen.group, seen.resource, seen.namespace, seen.name)


# --- the end of a run


def end_state(stored: Sequence[StoredObject], ignore: Sequence[str] = ()) -> tuple[str, ...]:
    """The objects, without what varies between runs; the first word names the object.

    `ignore` has paths of fields, and patterns of objects: a resource and a name.
    """
    fields = [each for each in ignore if " " not in each]
    objects = [each for each in ignore if " " in each]
    names = {
        str(obj["metadata"]["name"]): f"{obj['metadata']['generateName']}*"
        for _, obj in stored
        if obj["metadata"].get("generateName")
    }
    for plural, obj in stored:
        meta = obj["metadata"]
        names[str(meta.get("uid", ""))] = f"uid of {plural}/{meta['name']}"
    names.pop("", None)
    lines = []
    for plural, obj in stored:
        meta = obj["metadata"]
        name = names.get(meta["name"], meta["name"])
        where = f"{meta['namespace']}/" if meta.get("namespace") else ""
        value = _stable(obj, names)
        observed = (obj.get("status") or {}).get("observedGeneration")
        if observed is not None:
            is_current = observed == meta.get("generation")
            value["status"]["observedGeneration"] = "current" if is_current else "old"
        if any(fnmatchcase(f"{plural} {where}{name}", each) for each in objects):
            continue
        for path in fields:
            _drop(value, path.split("."))
        text = msgspec.json.encode(value, order="sorted").decode()
        lines.append(f"{plural}:{where}{name} {text}")
    return tuple(sorted(lines))


def leftovers(stored: Sequence[StoredObject]) -> tuple[str, ...]:
    """Objects whose owners are gone or whose deletion does not end, each after its oracle."""
    uids = {str(obj["metadata"].get("uid", "")) for _, obj in stored}
    lines = []
    for plural, obj in stored:
        meta = obj["metadata"]
        name = f"{plural} {meta.get('namespace', '')}/{meta['name']}"
        owners = meta.get("ownerReferences") or ()
        if owners and not any(each.get("uid") in uids for each in owners):
            lines.append(f"orphan: the owner of {name} is gone")
        if meta.get("deletionTimestamp"):
            waits = ", ".join(meta.get("finalizers") or ()) or "its pods or contents"
            lines.append(f"finalizer: {name} is being deleted, and waits for {waits}")
    return tuple(sorted(lines))


def compared_objects(server: Service) -> list[StoredObject]:
    """The objects of a server that count at the end of a run."""
    return [
        (str(resource), obj)
        for resource in server.resources()
        if resource.resource not in _LEFT_OUT
        for obj in server.objects(resource)
    ]


def _stable(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _stable(each, names) for key, each in value.items() if key not in _VARYING}
    if isinstance(value, list):
        return [_stable(each, names) for each in value]
    if isinstance(value, str):
        if value in names:
            return names[value]
        return "a time" if _TIME.fullmatch(value) else value
    return value


def _drop(value: Any, path: Sequence[str]) -> None:
    """Remove a field; a star stands for all items, and a key may have dots itself."""
    if isinstance(value, list):
        for item in value if path[0] == "*" else ():
            _drop(item, path[1:] or ["*"])
    elif isinstance(value, dict):
        value.pop(".".join(path), None)
        for length in range(1, len(path)):
            _drop(value.get(".".join(path[:length])), path[length:])


def judge(result: RunResult, reference: RunResult) -> Failure | None:
    """The failure of a run, compared with the undisturbed one."""
    if result.failure is not None:
        return result.failure
    for text in result.leftovers:
        if text not in reference.leftovers:
            oracle, _, message = text.partition(": ")
            return Failure(oracle, message)
    mistakes = [each for each in result.errors if each not in reference.errors]
    return _first_mistake(mistakes) or _compare(
        Counter(result.end_state), Counter(reference.end_state)
    )


def judge_undisturbed(result: RunResult) -> Failure | None:
    """The failure of a run without faults, by itself."""
    if result.failure is not None:
        return result.failure
    if result.failing:
        return Failure("failing key", result.failing[0])
    mistake = _first_mistake(result.errors)
    if mistake is None:
        return None
    name = mistake.message.partition(":")[0]
    hint = f"\nIf that is right, say so: @simulate(expect_failing={name})"
    return Failure(mistake.oracle, f"a reconcile failed with {mistake.message}{hint}")


def _first_mistake(errors: Sequence[str]) -> Failure | None:
    mistakes = [each for each in errors if each.partition(":")[0] in _MISTAKES]
    return Failure("unhandled error", mistakes[0]) if mistakes else None


def _compare(found: Counter[str], expected: Counter[str]) -> Failure | None:
    extra, missing = sorted((found - expected).elements()), sorted((expected - found).elements())
    if not extra and not missing:
        return None
    counts = Counter(_name(each) for each in found.elements())
    wanted = Counter(_name(each) for each in expected.elements())
    leaked = sorted((counts - wanted).elements())
    if leaked:
        return Failure("leaked object", f"the undisturbed run does not have: {', '.join(leaked)}")
    lost = sorted((wanted - counts).elements())
    if lost:
        return Failure("end state", f"missing at the end: {', '.join(lost)}")
    name = _name(extra[0])
    other = next(each for each in missing if _name(each) == name)
    return Failure("end state", f"{name} differs: {_difference(extra[0], other)}")


def _name(line: str) -> str:
    return line.partition(" ")[0].replace(":", " ", 1)


def _difference(found: str, expected: str) -> str:
    texts = [
        f"{path} is {_short(one)}, in the undisturbed run {_short(other)}"
        for path, one, other in _differences(_value(found), _value(expected), "")
    ]
    return "; ".join(texts)[:600]


def _value(line: str) -> Any:
    return msgspec.json.decode(line.partition(" ")[2])


def _differences(one: Any, other: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted({*one, *other}):
            yield from _differences(one.get(key), other.get(key), f"{path}.{key}" if path else key)
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for mine, theirs in zip(one, other, strict=True):
            yield from _differences(mine, theirs, f"{path}.*")
    elif one != other:
        yield path, one, other


def _short(value: Any) -> str:
    return "absent" if value is None else msgspec.json.encode(value).decode()[:120]


# --- values that differ by chance


def explain_random(
    result: RunResult, reference: RunResult, undisturbed: Sequence[RunResult]
) -> Iterator[str]:
    """What differs from the undisturbed run and seems to be random, and how to say so.

    `undisturbed` are runs without faults and with other seeds: what differs between them, no
    fault has caused.
    """
    varying = {path for each in undisturbed for path, *_ in _fields_apart(each, reference)}
    for path, one, other in _fields_apart(result, reference):
        if path in varying:
            reason = "it differs between undisturbed runs as well"
        elif _looks_random(one) and _looks_random(other):
            reason = "it looks random"
        else:
            continue
        yield (
            f"{path} is {_short(one)}, and {_short(other)} in the undisturbed run: {reason}. If it"
            f' may differ, write @simulate(ignore=["{path}"])'
        )
    yield from _explain_names(result, reference, undisturbed)


def _fields_apart(result: RunResult, reference: RunResult) -> Iterator[tuple[str, Any, Any]]:
    """The fields of the same objects that differ in two runs, each path once."""
    expected = {_name(each): each for each in reference.end_state}
    paths = set()
    for line in result.end_state:
        other = expected.get(_name(line), line)
        if line != other:
            for path, mine, theirs in _differences(_value(line), _value(other), ""):
                if path not in paths:
                    paths.add(path)
                    yield path, mine, theirs


def _explain_names(
    result: RunResult, reference: RunResult, undisturbed: Sequence[RunResult]
) -> Iterator[str]:
    names = {_name(each) for each in reference.end_state}
    others = sorted({_name(each) for run in undisturbed for each in run.end_state} - names)
    for name in sorted({_name(each) for each in result.end_state} - names):
        for other in others:
            start = os.path.commonprefix([name, other])  # noqa: RUF071 - of characters
            if "/" in start and not start.endswith("/"):
                yield (
                    f"{name} has another name in each undisturbed run, such as {other}. If it may"
                    f' differ, write @simulate(ignore=["{start}*"])'
                )
                break


def _looks_random(value: Any) -> bool:
    """Whether it is one long word of letters and digits mixed, such as a token or a uuid."""
    if not isinstance(value, str) or not _WORD.fullmatch(value):
        return False
    changes = sum(a.isdigit() != b.isdigit() for a, b in itertools.pairwise(value))
    return changes >= len(value) / 6
