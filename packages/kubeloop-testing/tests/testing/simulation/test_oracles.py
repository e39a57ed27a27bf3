"""The oracles that need no simulated run: what each of them reports, and what it allows."""

from __future__ import annotations

import msgspec

from kubeloop_testing.server.faults import SeenRequest
from kubeloop_testing.simulation.oracles import LeaseWatch, OwnWrites, judge, leftovers
from kubeloop_testing.simulation.scenarios import Failure, RunResult

WRITE = "patch configmaps default/work"


def renewal(holder: str = "one", seconds: int = 15) -> SeenRequest:
    spec = {"holderIdentity": holder, "leaseDurationSeconds": seconds}
    return SeenRequest("PUT", "/", {}, {}, msgspec.json.encode({"spec": spec}))


# --- lease


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


# --- own write


def update(version: int) -> SeenRequest:
    body = msgspec.json.encode({"metadata": {"resourceVersion": str(version)}})
    path = "/api/v1/namespaces/default/configmaps/work"
    return SeenRequest(
        "PUT", path, {}, {}, body, "update", "", "v1", "configmaps", "", "default", "work"
    )


def test_an_update_from_before_the_own_last_write_is_reported_once_a_cache_had_time() -> None:
    own = OwnWrites()
    own.acknowledge("manager", update(7), 8, now=10.0)

    assert own.check("manager", update(7), sent=10.5) is None
    assert own.check("manager", update(8), sent=30.0) is None
    assert own.check("other", update(7), sent=30.0) is None
    failure = own.check("manager", update(7), sent=30.0)

    assert failure is not None
    assert failure.oracle == "own write"
    assert "of version 7, 20.0 s after its own write of version 8" in failure.message


def test_a_process_that_starts_again_knows_none_of_its_writes() -> None:
    own = OwnWrites()
    own.acknowledge("manager", update(7), 8, now=10.0)
    own.forget("manager")

    assert own.check("manager", update(7), sent=30.0) is None


# --- the end of a run


def test_an_object_whose_owner_is_gone_and_one_that_waits_for_a_finalizer_are_leftovers() -> None:
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "gone", "uid": "1"}
    meta = {"name": "child", "namespace": "default", "uid": "2", "ownerReferences": [owner]}
    waiting = {
        "name": "waiting",
        "namespace": "default",
        "uid": "3",
        "deletionTimestamp": "2030-01-01T00:00:00Z",
        "finalizers": ["example.com/work"],
    }

    lines = leftovers([("configmaps", {"metadata": meta}), ("secrets", {"metadata": waiting})])

    assert lines == (
        "finalizer: secrets default/waiting is being deleted, and waits for example.com/work",
        "orphan: the owner of configmaps default/child is gone",
    )


def test_leftovers_and_mistakes_count_unless_the_undisturbed_run_has_them_too() -> None:
    orphan = "orphan: the owner of configmaps default/child is gone"
    found = RunResult(leftovers=(orphan,), errors=("KeyError: 'a'",))

    assert judge(found, found) is None
    assert judge(found, RunResult()) == Failure("orphan", orphan.partition(": ")[2])
    mistake = RunResult(errors=("KeyError: 'a'", "Conflict: changed"))
    assert judge(mistake, RunResult()) == Failure("unhandled error", "KeyError: 'a'")


def test_the_end_state_must_have_the_same_objects_with_the_same_fields() -> None:
    one = 'configmaps:default/a {"data":{"x":"1"}}'
    other = 'configmaps:default/a {"data":{"x":"2"}}'
    more = 'configmaps:default/b {"data":{}}'

    differs = judge(RunResult(end_state=(other,)), RunResult(end_state=(one,)))
    leaked = judge(RunResult(end_state=(one, more)), RunResult(end_state=(one,)))
    missing = judge(RunResult(end_state=(one,)), RunResult(end_state=(one, more)))

    assert differs == Failure(
        "end state",
        'configmaps default/a differs: data.x is "2", in the undisturbed run "1"',
    )
    assert leaked is not None
    assert leaked.oracle == "leaked object"
    assert missing == Failure("end state", "missing at the end: configmaps default/b")
