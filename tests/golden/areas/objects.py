"""References, owners, conditions, events, election records, headers and YAML documents."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
from collections.abc import Callable, Coroutine, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from kubeloop.config import Impersonation, ProxyRules, impersonation_headers
from kubeloop.election import (
    ElectionTimes,
    LeaseRecord,
    check_lock_type,
    read_record,
)
from kubeloop.events import (
    COMBINED_PREFIX,
    Correlation,
    EventCorrelator,
    EventNames,
    EventRecorder,
    object_reference,
)
from kubeloop.kit import ManualClock
from kubeloop.machinery import (
    GroupVersionKind,
    controller_of,
    controller_ref,
    find_condition,
    is_condition_false,
    is_condition_true,
    is_controlled_by,
    remove_condition,
    set_condition,
)
from kubeloop.rest import parse_warnings
from kubeloop.wire import decode, format_time
from kubeloop.wire.coordination.v1 import Lease, LeaseSpec
from kubeloop.wire.core.v1 import ConfigMap, Event, EventSource, ObjectReference
from kubeloop.wire.meta.v1 import Condition, ObjectMeta
from kubeloop.wire.yaml import load_documents
from tests.golden.case import Area, Case

_METADATA: list[dict[str, Any]] = [
    {},
    {"name": "web"},
    {"name": "web", "namespace": "shop"},
    {"name": "web", "namespace": "shop", "uid": "u1", "resourceVersion": "5"},
]
_OWNED: list[dict[str, Any]] = [
    {},
    {"ownerReferences": []},
    {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "1"}]},
    {
        "ownerReferences": [
            {"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "1", "controller": False},
            {"apiVersion": "v1", "kind": "Pod", "name": "b", "uid": "2", "controller": True},
            {"apiVersion": "v1", "kind": "Pod", "name": "c", "uid": "3", "controller": True},
        ]
    },
]
_EARLIER, _LATER = "2024-01-01T00:00:00Z", "2024-01-02T00:00:00Z"


def _condition(name: str, status: str, **more: Any) -> dict[str, Any]:
    base = {"type": name, "status": status, "reason": "R", "message": "m"}
    return {**base, "lastTransitionTime": _EARLIER, **more}


_CONDITIONS: list[list[dict[str, Any]]] = [
    [],
    [_condition("Ready", "True")],
    [_condition("Ready", "False"), _condition("Synced", "Unknown")],
    [_condition("Ready", "True"), _condition("Ready", "False")],
    [_condition("ready", "True", observedGeneration=3)],
]
_NEW = [
    _condition("Ready", "True", lastTransitionTime=_LATER),
    _condition("Ready", "False", lastTransitionTime=_LATER),
    _condition("Ready", "True", lastTransitionTime=_LATER, reason="Other"),
    _condition("Ready", "True", lastTransitionTime=_LATER, message="other"),
    _condition("Ready", "True", lastTransitionTime=_LATER, observedGeneration=2),
    _condition("Ready", "", lastTransitionTime=_LATER),
    _condition("Other", "Unknown", lastTransitionTime=_LATER),
]


def _event_steps(seed: int, most: int) -> list[dict[str, Any]]:
    """Few messages, or another one each time: of others client-go forgets one at random."""
    source = random.Random(seed)
    few = [f"m{index}" for index in range(source.choice([1, most - 1]))] if seed % 3 else []
    return [
        {
            "advance": source.choice([0, 0, 1000, 10_000, 301_000, 601_000]),
            "name": f"e{index}",
            "object": source.choice(["web", "web", "web", "api"]),
            "type": source.choice(["Normal", "Normal", "Warning"]),
            "reason": source.choice(["R", "R", "S"]),
            "message": source.choice(few) if few else f"m{index}",
            "source": "s",
            "version": str(index),
        }
        for index in range(36)
    ]


_OPTIONS: list[dict[str, Any]] = [
    {},
    {"burst": 3},
    {"burst": 1, "qps": 1.0},
    {"maxEvents": 3},
    {"maxEvents": 2, "interval": 5},
    {"lruSize": 2},
    {"burst": 100, "maxEvents": 4, "interval": 400},
]
_SPECS: list[dict[str, Any]] = [
    {},
    {"holderIdentity": "me"},
    {"holderIdentity": "", "leaseDurationSeconds": 1, "leaseTransitions": 0},
    {
        "holderIdentity": "me",
        "leaseDurationSeconds": 15,
        "acquireTime": "2024-01-01T00:00:00.000000Z",
        "renewTime": "2024-01-01T00:00:10.500000Z",
        "leaseTransitions": 3,
    },
    {
        "holderIdentity": "me",
        "leaseDurationSeconds": 15,
        "acquireTime": "2024-01-01T00:00:00.000000Z",
        "renewTime": "2024-01-01T00:00:10.000000Z",
        "leaseTransitions": 3,
        "strategy": "OldestEmulationVersion",
        "preferredHolder": "other",
    },
]
_WARNINGS = [
    [],
    [""],
    ['299 - "text"'],
    ['299 - "a", 299 - "b"'],
    ['299 - "a"', '299 - "b"'],
    ['299 agent "quo\\"ted"'],
    ['299 - "text" "Fri, 31 Dec 1999 23:59:59 GMT"'],
    ['299 - "a" "bad date"'],
    ['199 - "other code"'],
    ["299 - text"],
    ['299 "text"'],
    ['299 - "unclosed'],
    ['2999 - "long code"'],
    ['99 - "short code"'],
    ['29x - "x"'],
    ['299 - ""'],
    ['299 - "a" extra'],
    ['299 - "a",'],
    [', 299 - "a"'],
    ['299 - "a"; 299 - "b"'],
    ['299 - "a" , 299 - "b"'],
    ['299  - "two spaces"'],
    [' 299 - "led by a space" '],
    ['299 - "back\\\\slash"'],
    ['299 - "new\\nline"'],
    ['299 - "=?UTF-8?Q?p=C3=B6st?="'],
    ['299 - "é"'],
    ['299 - "a"299 - "b"'],
    ['299 ag"ent "x"'],
]
_NO_PROXY = [
    *(
        "",
        "*",
        "example.com",
        ".example.com",
        "*.example.com",
        "EXAMPLE.com",
        "ample.com",
        "10.0.0.0/8",
    ),
    *(
        "10.1.2.3",
        "10.1.2.3:6443",
        "example.com:443",
        "example.com:80",
        " example.com , other",
        "::1",
    ),
    *(
        "[::1]",
        "[::1]:443",
        "fd00::/8",
        "example.com.",
        "sub.example.com",
        "10.0.0.0/33",
        ",",
        "com",
    ),
    *("*example.com", "example.*", "0.0.0.0/0", "localhost", "1.2.3.4/"),
]
_TARGETS = [
    *(
        "https://example.com",
        "http://example.com",
        "https://sub.example.com:6443",
        "https://10.1.2.3:6443",
    ),
    *(
        "http://10.1.2.3",
        "https://localhost:6443",
        "https://127.0.0.1",
        "https://[::1]:443",
        "http://[fd00::1]",
    ),
    *("https://notexample.com", "https://EXAMPLE.com", "https://example.com.", "https://127.1.2.3"),
]
_PROXIES = [
    "",
    "http://proxy:3128",
    "proxy:3128",
    "https://proxy",
    "socks5://proxy",
    "://",
    "ftp://proxy",
]
_YAML = [
    *(
        "",
        "---",
        "a: 1",
        "a: 1\n---\nb: 2",
        "---\na: 1\n---\n---\nb: 2\n",
        "a: 1\n...\n",
        "# comment",
    ),
    *(
        "a: yes",
        "a: 'yes'",
        "a: on",
        "a: y",
        "a: ~",
        "a: null",
        "a:",
        "a: 010",
        "a: 0o10",
        "a: 0x10",
    ),
    *(
        "a: 1e3",
        "a: 1.0",
        "a: .5",
        "a: 1_000",
        "a: 2024-01-02",
        "a: 2024-01-02T03:04:05Z",
        "a: 12:30:45",
    ),
    *(
        "a: |\n  b\n  c\n",
        "a: >\n  b\n  c\n",
        "a: &x 1\nb: *x\n",
        "a: &x {c: 1}\nb: {<<: *x, d: 2}",
        "[1, 2]",
    ),
    *(
        "- a\n- b",
        "text",
        "1",
        "{}",
        '{"a": 1}',
        '{"a": 1, }',
        "{a: 1}",
        "a: 1\na: 2",
        "a: [",
        "\ta: 1",
    ),
    *(
        "a: {b: 1, b: 2}",
        "1: a",
        "true: a",
        "null: a",
        "1.5: a",
        "[1]: a",
        "a: !!str 1",
        "a: !custom 1",
    ),
    *(
        'a: "\\u00e9"',
        "a: é",
        "a: .inf",
        "a: .nan",
        "a: -.inf",
        "%YAML 1.1\n---\na: 1",
        "a: 1 # c",
        "a: b: c",
    ),
    *(
        "a: 'it''s'",
        "a: !!binary aGk=",
        "? a\n: b",
        "a: 9223372036854775808",
        "a: 0.1",
        "a: -0",
        "a: +1",
        "a: 1.",
    ),
    *(
        "---\n---",
        "a: 1\n--- \nb: 2",
        "a: 1\n---b: 2",
        "a: 0b11",
        "a: No",
        "a: OFF",
        "a: N",
        "a: NULL",
        "a: TRUE",
    ),
]


def _cases() -> Iterator[Case]:
    for version, kind, metadata in itertools.product(
        ("v1", "apps/v1", "a/b/c", ""), ("Pod", "Widget", ""), _METADATA
    ):
        if metadata != _METADATA[-1] and not (version and kind):
            continue  # one shows it
        yield Case("reference.of", {"apiVersion": version, "kind": kind, "metadata": metadata})
    for metadata in _METADATA[1:]:
        owner = {"Owner": metadata, "Group": "apps", "Version": "v1", "Kind": "Deployment"}
        yield Case("owner.reference", owner)
    for metadata in _OWNED:
        yield Case("owner.controller", metadata)
        for uid in ("1", "2", "3", ""):
            yield Case("owner.controlledBy", {"Object": metadata, "UID": uid})
    for conditions in _CONDITIONS:
        for new in _NEW:
            yield Case("conditions.set", {"Conditions": conditions, "New": new})
        for name in ("Ready", "ready", "Gone", ""):
            yield Case("conditions.remove", {"Conditions": conditions, "Type": name})
            yield Case("conditions.is", {"Conditions": conditions, "Type": name})
    for seed, options in itertools.product(range(4), _OPTIONS):
        steps = _event_steps(seed, options.get("maxEvents", 10))
        yield Case("events.correlate", {"options": options, "steps": steps})
    for name, namespace, sort in itertools.product(
        ("web", "web.v1", "Web_1", "", "x" * 250), ("", "shop"), ("Normal", "Warning")
    ):
        about = {
            "kind": "Pod",
            "apiVersion": "v1",
            "name": name,
            "namespace": namespace,
            "uid": "u",
        }
        event = {"Object": about, "Type": sort, "Reason": "R", "Message": "m %s", "Component": "c"}
        yield Case("events.make", event)
    for sort in ("Error", "", "normal"):
        yield Case("events.make", {**event, "Type": sort})
    for lease, deadline, retry in itertools.product(
        (-1, 0, 500, 1000, 1500, 15000),
        (-1, 0, 1, 1000, 10000, 15000),
        (-1, 0, 1, 2000, 8333, 8334),
    ):
        given = {"Lease": lease, "Deadline": deadline, "Retry": retry}
        yield Case("election.times", given)
    for spec in _SPECS:
        yield Case("election.read", spec)
    for name in (
        "leases",
        "endpoints",
        "configmaps",
        "endpointsleases",
        "configmapsleases",
        "",
        "x",
    ):
        yield Case("election.lockType", name)
    for user, uid, groups, extra in itertools.product(
        ("", "me", "a b"),
        ("", "u"),
        ([], ["g"], ["g", "h"]),
        ({}, {"k": ["1", "2"]}, {"A/b%": ["1"]}),
    ):
        given = {"User": user, "UID": uid, "Groups": groups, "Extra": extra}
        yield Case("impersonation.headers", given)
    for values in _WARNINGS:
        yield Case("warnings.parse", values)
    for excluded, url in itertools.product(_NO_PROXY, _TARGETS):
        rules = {"HTTP": "http://plain:1", "HTTPS": "http://secure:2", "None": excluded}
        yield Case("proxy.for", {**rules, "URL": url})
    for proxy in _PROXIES:
        given = {"HTTP": proxy, "HTTPS": proxy, "None": "", "URL": "https://example.com"}
        yield Case("proxy.for", given)
    for text in _YAML:
        yield Case("yaml.decode", text)


def _reference(given: Any) -> Any:
    return object_reference(given).to_dict()


def _owner_reference(given: Any) -> Any:
    owner = ConfigMap(metadata=decode(ObjectMeta, json.dumps(given["Owner"]).encode()))
    kind = GroupVersionKind(given["Group"], given["Version"], given["Kind"])
    return controller_ref(owner, gvk=kind).to_dict()


def _owned(metadata: Any) -> ConfigMap:
    return ConfigMap(metadata=decode(ObjectMeta, json.dumps(metadata).encode()))


def _controller(metadata: Any) -> Any:
    found = controller_of(_owned(metadata))
    return None if found is None else found.to_dict()


def _controlled(given: Any) -> bool:
    owner = ConfigMap(metadata=ObjectMeta(uid=given["UID"]))
    return is_controlled_by(_owned(given["Object"]), owner)


def _read_conditions(given: Any) -> list[Condition]:
    return [Condition.from_dict(each) for each in given["Conditions"]]


def _written(conditions: list[Condition]) -> Any:
    return [{**each.to_dict(), **_generation(each)} for each in conditions]


def _generation(condition: Condition) -> dict[str, int]:
    return (
        {"observedGeneration": condition.observed_generation}
        if condition.observed_generation
        else {}
    )


def _set(given: Any) -> Any:
    conditions = _read_conditions(given)
    new = Condition.from_dict(given["New"])
    changed = set_condition(conditions, new, now=datetime(2024, 1, 3, tzinfo=UTC))
    return {"changed": changed, "conditions": _written(conditions)}


def _remove(given: Any) -> Any:
    conditions = _read_conditions(given)
    removed = remove_condition(conditions, given["Type"])
    return {"removed": removed, "conditions": _written(conditions)}


def _is(given: Any) -> list[bool]:
    conditions = _read_conditions(given)
    name = given["Type"]
    return [
        is_condition_true(conditions, name),
        is_condition_false(conditions, name),
        find_condition(conditions, name) is not None,
    ]


def _made(given: Any) -> Any:
    made: list[Event] = []
    clock = ManualClock()
    recorder = EventRecorder(
        made.append, component=given["Component"], clock=clock, names=EventNames(clock)
    )
    # What is empty is not written: in Go it cannot be told from what is missing.
    told = {name: value for name, value in given["Object"].items() if value}
    about = decode(ObjectReference, json.dumps(told).encode())
    recorder.event(about, given["Type"], given["Reason"], given["Message"])
    if not made:
        return None
    event = made[0]
    named = event.metadata.name.startswith(f"{about.name or ''}.")
    assert event.source is not None
    return {
        "name": (about.name or "") if named else "random",
        "namespace": event.metadata.namespace,
        "about": event.involved_object.to_dict(),
        "reason": event.reason,
        "message": event.message,
        "type": event.type,
        "count": event.count,
        "source": event.source.to_dict(),
        "component": event.reporting_component,
    }


async def _correlated(given: Any) -> list[Any]:
    options = given["options"]
    clock = ManualClock(wall=datetime.fromtimestamp(1_700_000_000, UTC))
    correlator = EventCorrelator(
        Correlation(
            lru_size=options.get("lruSize", 0),
            burst=options.get("burst", 0),
            rate=options.get("qps", 0),
            max_events=options.get("maxEvents", 0),
            interval=options.get("interval", 0),
        ),
        clock=clock,
    )
    found: list[Any] = []
    for step in given["steps"]:
        await clock.advance(step["advance"] / 1000)
        found.append(_event_step(correlator, clock.time(), step))
    return found


def _event_step(correlator: EventCorrelator, now: datetime, step: Any) -> Any:
    correlated = correlator.correlate(
        Event(
            metadata=ObjectMeta(name=step["name"], namespace="shop"),
            involved_object=ObjectReference(
                api_version="v1",
                kind="Pod",
                name=step["object"],
                namespace="shop",
                uid=f"uid-{step['object']}",
            ),
            type=step["type"],
            reason=step["reason"],
            message=step["message"],
            source=EventSource(component=step["source"]),
            count=1,
            first_timestamp=now,
            last_timestamp=now,
        )
    )
    if correlated is None:
        return None
    event = correlated.event
    assert event.first_timestamp is not None
    assert event.last_timestamp is not None
    is_combined = (event.message or "").startswith(COMBINED_PREFIX)
    answer = {
        "name": "combined" if is_combined else event.metadata.name,
        "count": event.count,
        "message": event.message,
        "version": event.metadata.resource_version,
        "first": format_time(event.first_timestamp),
        "last": format_time(event.last_timestamp),
        "patch": None if correlated.patch is None else json.loads(correlated.patch),
    }
    event.metadata.resource_version = step["version"]
    correlator.learn(correlated.key, event)
    return answer


def _times(given: Any) -> None:
    ElectionTimes(
        lease_duration=given["Lease"] / 1000,
        renew_deadline=given["Deadline"] / 1000,
        retry_period=given["Retry"] / 1000,
    )


def _read_spec(given: Any) -> LeaseRecord:
    return read_record(Lease(spec=decode(LeaseSpec, json.dumps(given).encode())))


def _record(given: Any) -> Any:
    record = _read_spec(given)
    return {
        "holderIdentity": record.holder,
        "leaseDurationSeconds": record.duration,
        "acquireTime": format_time(record.acquired) if record.acquired else None,
        "renewTime": format_time(record.renewed) if record.renewed else None,
        "leaderTransitions": record.transitions,
        "strategy": record.strategy,
        "preferredHolder": record.preferred_holder,
    }


def _headers(given: Any) -> Mapping[str, list[str]]:
    who = Impersonation(
        user=given["User"],
        uid=given["UID"],
        groups=tuple(given["Groups"]),
        extra={key: tuple(values) for key, values in given["Extra"].items()},
    )
    found: dict[str, list[str]] = {}
    for name, value in impersonation_headers(who):
        found.setdefault("-".join(part.capitalize() for part in name.split("-")), []).append(value)
    return found


def _proxy(given: Any) -> str | None:
    environ = {
        "HTTP_PROXY": given["HTTP"],
        "HTTPS_PROXY": given["HTTPS"],
        "NO_PROXY": given["None"],
    }
    return ProxyRules.from_environ(environ).for_url(given["URL"])


def _on_loop(answer: Callable[[Any], Coroutine[Any, Any, Any]]) -> Callable[[Any], Any]:
    return lambda given: asyncio.run(answer(given))


AREA = Area(
    _cases,
    {
        "reference.of": _reference,
        "owner.reference": _owner_reference,
        "owner.controller": _controller,
        "owner.controlledBy": _controlled,
        "conditions.set": _set,
        "conditions.remove": _remove,
        "conditions.is": _is,
        "events.make": _made,
        "events.correlate": _on_loop(_correlated),
        "election.times": _times,
        "election.read": _record,
        "election.lockType": check_lock_type,
        "impersonation.headers": _headers,
        "warnings.parse": lambda given: [
            [each.code, each.agent, each.text] for each in parse_warnings(given)
        ],
        "proxy.for": _proxy,
        "yaml.decode": load_documents,
    },
)
