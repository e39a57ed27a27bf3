"""Events: how they are made, joined, counted and limited."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from kubeloop.events import (
    AGGREGATE_PREFIX,
    CorrelatorOptions,
    EventCorrelator,
    EventNames,
    EventRecorder,
)
from kubeloop.kit import ManualClock
from kubeloop.wire import decode, format_time
from kubeloop.wire.core.v1 import Event, EventSource, ObjectReference
from kubeloop.wire.meta.v1 import ObjectMeta
from tests.golden.case import Area, Case


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


def _made(given: Any) -> Any:
    made: list[Event] = []
    clock = ManualClock()
    recorder = EventRecorder(
        made.append, component=given["Component"], clock=clock, names=EventNames(clock)
    )
    # Empty fields are left out: in Go they cannot be distinguished from missing ones.
    reference = {name: value for name, value in given["Object"].items() if value}
    about = decode(ObjectReference, json.dumps(reference).encode())
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
        CorrelatorOptions(
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
    is_combined = (event.message or "").startswith(AGGREGATE_PREFIX)
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
    correlator.update(correlated.key, event)
    return answer


def _cases() -> Iterator[Case]:
    for seed, options in itertools.product(range(4), _OPTIONS):
        steps = _event_steps(seed, options.get("maxEvents", 10))
        yield Case("events.correlate", {"options": options, "steps": steps})
    for name, namespace, sort in itertools.product(
        ("web", "web.v1", "Web_1", "", "x" * 250), ("", "shop"), ("Normal", "Warning")
    ):
        yield Case("events.make", _event(name, namespace, sort))
    for sort in ("Error", "", "normal"):
        yield Case("events.make", _event("web", "shop", sort))


def _event(name: str, namespace: str, sort: str) -> dict[str, Any]:
    about = {"kind": "Pod", "apiVersion": "v1", "name": name, "namespace": namespace, "uid": "u"}
    return {"Object": about, "Type": sort, "Reason": "R", "Message": "m %s", "Component": "c"}


AREA = Area(
    _cases,
    {
        "events.make": _made,
        "events.correlate": lambda given: asyncio.run(_correlated(given)),
    },
)
