"""The oracle `lease`: which writes are too late."""

from __future__ import annotations

import msgspec

from kubeloop.testing.server.faults import SeenRequest
from kubeloop.testing.simulation.oracles import LeaseWatch

WRITE = "patch configmaps default/work"


def renewal(holder: str = "one", seconds: int = 15) -> SeenRequest:
    spec = {"holderIdentity": holder, "leaseDurationSeconds": seconds}
    return SeenRequest("PUT", "/", {}, {}, msgspec.json.encode({"spec": spec}))


def test_a_write_within_the_lease_is_allowed_and_one_after_it_is_not() -> None:
    leases = LeaseWatch()
    leases.on_renewal("manager", renewal(), 10.0)

    assert leases.check("manager", 25.0, WRITE) is None
    failure = leases.check("manager", 25.5, WRITE)

    assert failure is not None
    assert failure.oracle == "lease"
    assert "manager sent a write 0.5 s after its own lease had expired" in failure.message


def test_a_process_that_also_writes_without_a_lease_is_not_checked() -> None:
    leases = LeaseWatch()

    assert leases.check("manager", 1.0, WRITE) is None
    leases.on_renewal("manager", renewal(), 10.0)

    assert leases.check("manager", 100.0, WRITE) is None


def test_after_its_release_a_lease_covers_no_write() -> None:
    leases = LeaseWatch()
    leases.on_renewal("manager", renewal(), 10.0)
    leases.on_renewal("manager", renewal(holder=""), 12.0)

    assert leases.check("manager", 13.0, WRITE) is not None


def test_a_write_that_was_paused_on_its_way_is_allowed_and_later_ones_are_not() -> None:
    leases = LeaseWatch()
    leases.on_renewal("manager", renewal(), 10.0)
    leases.on_pause("manager", 60.0)

    assert leases.check("manager", 60.1, WRITE) is None
    assert leases.check("manager", 70.0, WRITE) is not None
