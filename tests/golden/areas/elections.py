"""Leader election: records of leases, and which times are accepted."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

from kubeloop.election import ElectionTimes, LeaseRecord, check_lock_type, new_lease, read_record
from kubeloop.wire import MicroTime, decode, format_time, parse_time
from kubeloop.wire.coordination.v1 import Lease, LeaseSpec
from tests.golden.case import Area, Case

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


_RECORDS: list[dict[str, Any]] = [
    {
        "holderIdentity": "me",
        "leaseDurationSeconds": 15,
        "acquireTime": "2024-01-01T00:00:00Z",
        "renewTime": "2024-01-01T00:00:10Z",
        "leaderTransitions": 3,
        **more,
    }
    for more in (
        {},
        {"holderIdentity": "", "leaseDurationSeconds": 1},
        {"leaderTransitions": 0},
        {"strategy": "OldestEmulationVersion", "preferredHolder": "other"},
    )
]


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


def _cases() -> Iterator[Case]:
    for lease, deadline, retry in itertools.product(
        (-1, 0, 500, 1000, 1500, 15000),
        (-1, 0, 1, 1000, 10000, 15000),
        (-1, 0, 1, 2000, 8333, 8334),
    ):
        yield Case("election.times", {"Lease": lease, "Deadline": deadline, "Retry": retry})
    for lease in (500, 999, 1000, 1001):
        yield Case("election.times", {"Lease": lease, "Deadline": 400, "Retry": 100})
    for spec in _SPECS:
        yield Case("election.read", spec)
    for record in _RECORDS:
        yield Case("election.write", record)
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


def _spec(given: Any) -> Any:
    record = LeaseRecord(
        holder=given["holderIdentity"],
        duration=given["leaseDurationSeconds"],
        acquired=MicroTime.of(parse_time(given["acquireTime"])),
        renewed=MicroTime.of(parse_time(given["renewTime"])),
        transitions=given["leaderTransitions"],
        strategy=given.get("strategy", ""),
        preferred_holder=given.get("preferredHolder", ""),
    )
    return new_lease("lease", record, {}).spec.to_dict()


AREA = Area(
    _cases,
    {
        "election.times": _times,
        "election.read": _record,
        "election.write": _spec,
        "election.lockType": check_lock_type,
    },
)
