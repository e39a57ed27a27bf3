"""Times and durations in objects."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from kubeloop.wire import Duration, MicroTime, decode, format_micro_time, format_time
from kubeloop.wire.coordination.v1 import LeaseSpec
from kubeloop.wire.core.v1 import Event
from tests.golden.case import Area, Case

_MOMENTS = [
    *("2024-01-02T03:04:05Z", "2024-01-02T03:04:05+00:00", "2024-01-02T03:04:05+05:30"),
    *("2024-01-02T03:04:05-08:00", "2024-01-02T03:04:05.1Z", "2024-01-02T03:04:05.123456Z"),
    *("2024-01-02T03:04:05.1234567Z", "2024-01-02T03:04:05.999999999Z", "2024-02-29T00:00:00Z"),
    *(
        "2023-02-29T00:00:00Z",
        "2024-13-01T00:00:00Z",
        "2024-01-32T00:00:00Z",
        "2024-01-02T24:00:00Z",
    ),
    *(
        "2024-01-02T03:60:05Z",
        "2024-01-02T03:04:60Z",
        "2024-01-02 03:04:05Z",
        "2024-01-02t03:04:05z",
    ),
    *("2024-01-02T03:04:05", "2024-01-02", "", "now", "2024-1-2T3:4:5Z", "20240102T030405Z"),
    *(
        "2024-01-02T03:04:05.Z",
        "2024-01-02T03:04:05,5Z",
        "2024-01-02T03:04:05+0530",
        "0001-01-01T00:00:00Z",
    ),
    *(
        "9999-12-31T23:59:59Z",
        "10000-01-01T00:00:00Z",
        "0000-01-01T00:00:00Z",
        "1969-12-31T23:59:59Z",
    ),
    *(
        "2024-01-02T03:04:05.000000Z",
        "2024-01-02T03:04:05.123456+02:00",
        "2024-01-02T03:04:05.12345Z",
    ),
    *(
        "2024-01-02T03:04:05.123Z",
        "2024-01-02T03:04:05+24:00",
        "2024-01-02T03:04:05+23:59",
        " 2024-01-02T03:04:05Z",
    ),
    *("2024-01-02T03:04:05.123456789Z", "2024-01-02T03:04:05Z ", "2024-01-02T3:04:05Z"),
    *(f"2024-01-02T03:04:05.{'0' * digits}Z" for digits in (1, 2, 3, 4, 5, 7, 8, 9)),
]
_DURATIONS = [
    *(
        "0",
        "1s",
        "1.5s",
        "1m",
        "1h",
        "1h30m",
        "90m",
        "1h1m1.5s",
        "100ms",
        "1us",
        "1\u00b5s",
        "1\u03bcs",
    ),
    *(
        "1ns",
        "-1s",
        "+1s",
        "-1h30m",
        "1",
        "",
        "s",
        "1x",
        "1d",
        "1w",
        ".5s",
        "5.s",
        ".s",
        "1s1s",
        "1 s",
    ),
    *("--1s", "1e3s", "9223372036854775807ns", "9223372036854775808ns", "-9223372036854775808ns"),
    *(
        "2562047h47m16.854775807s",
        "2562047h47m16.854775808s",
        "0s",
        "0.000000001s",
        "1.0000000001s",
    ),
    *(
        "0.3333333333333333333h",
        "1h 30m",
        "1H",
        "1S",
        "00001s",
        "3000000h",
        "1m1h",
        "+0",
        "-0",
        "1.5h",
    ),
]
_OTHERS = ["null", "0", "1", "1.5", "true", "[]", "{}"]


def _cases() -> Iterator[Case]:
    for text in [*map(json.dumps, _MOMENTS), *_OTHERS]:
        yield Case("time.decode", text)
        yield Case("microtime.decode", text)
    for text in [*map(json.dumps, _DURATIONS), *_OTHERS]:
        yield Case("duration.decode", text)


def _time(text: str) -> Any:
    found = decode(Event, f'{{"lastTimestamp": {text}}}'.encode()).last_timestamp
    return _timestamp(found, "" if found is None else format_time(found))


def _micro_time(text: str) -> Any:
    found = decode(LeaseSpec, f'{{"renewTime": {text}}}'.encode()).renew_time
    assert found is None or isinstance(found, MicroTime)
    return _timestamp(found, "" if found is None else format_micro_time(found))


def _timestamp(found: datetime | None, text: str) -> Any:
    return None if found is None else {"moment": format_micro_time(found), "text": text}


def _duration(text: str) -> Any:
    found = decode(Duration, text.encode())
    return {"nanoseconds": found.nanoseconds, "text": str(found)}


AREA = Area(
    _cases,
    {"time.decode": _time, "microtime.decode": _micro_time, "duration.decode": _duration},
)
