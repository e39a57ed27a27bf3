"""Preparation of objects for creation and update."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop_testing.server.kinds.core.allocation import Allocator, Reservation
from kubeloop_testing.server.kinds.core.service_allocation import update_service
from kubeloop_testing.server.kinds.rules.quality import quality_of_service
from kubeloop_testing.server.statuses import StatusError
from tests.testing.server.kind_helpers import default, prepare_for_create, prepare_for_update

Json = dict[str, Any]


@pytest.fixture
def allocator() -> Allocator:
    return Allocator()


def new_service(allocator: Allocator, **spec: Any) -> Json:
    """A service as it is stored."""
    obj = {"metadata": {"name": "web"}, "spec": {"ports": [{"port": 80}], **spec}}
    with allocator.reserve() as reservation:
        made = prepare_for_create("", "Service", default("", "Service", obj), reservation)
        allocator.adopt(made)
    return made


def changed_service(allocator: Allocator, old: Json, new: Json) -> Json:
    """A stored service after an update."""
    with allocator.reserve() as reservation:
        made = update_service(new, old, reservation)
        allocator.release(old)
        allocator.adopt(made)
    return made


def test_a_service_gets_its_own_address(allocator: Allocator) -> None:
    first, second = new_service(allocator)["spec"], new_service(allocator)["spec"]

    assert first["clusterIP"].startswith("10.96.")
    assert first["clusterIPs"] == [first["clusterIP"]]
    assert (first["ipFamilies"], first["ipFamilyPolicy"]) == (["IPv4"], "SingleStack")
    assert first["clusterIP"] != second["clusterIP"]


def test_a_headless_or_external_name_service_gets_no_address(
    allocator: Allocator,
) -> None:
    headless = new_service(allocator, clusterIP="None")["spec"]
    external = new_service(allocator, type="ExternalName", externalName="a.b")["spec"]

    assert headless["clusterIPs"] == ["None"]
    assert "clusterIP" not in external


def test_node_ports_are_in_the_range_and_allocated_once(allocator: Allocator) -> None:
    first = new_service(allocator, type="NodePort")["spec"]["ports"][0]["nodePort"]

    assert first in range(30000, 32768)
    with pytest.raises(StatusError) as refused:
        new_service(allocator, type="NodePort", ports=[{"port": 1, "nodePort": first}])
    assert refused.value.status["details"]["causes"] == [
        {
            "reason": "FieldValueInvalid",
            "message": f"Invalid value: {first}: provided port is already allocated",
            "field": "spec.ports[0].nodePort",
        }
    ]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"clusterIP": "192.168.0.1"}, "is not in the valid range"),
        ({"type": "NodePort", "ports": [{"port": 1, "nodePort": 80}]}, "30000-32767"),
    ],
)
def test_a_request_out_of_range_is_rejected(allocator: Allocator, spec: Json, message: str) -> None:
    with pytest.raises(StatusError, match=message):
        new_service(allocator, **spec)


def test_a_rejected_service_keeps_no_allocation(allocator: Allocator) -> None:
    with pytest.raises(StatusError):
        new_service(
            allocator,
            type="NodePort",
            clusterIP="10.96.0.9",
            ports=[{"port": 1, "nodePort": 30001}, {"port": 2, "nodePort": 1}],
        )

    again = new_service(
        allocator,
        type="NodePort",
        clusterIP="10.96.0.9",
        ports=[{"port": 1, "nodePort": 30001}],
    )
    assert again["spec"]["clusterIP"] == "10.96.0.9"


def test_what_is_released_can_be_allocated_again(allocator: Allocator) -> None:
    first = new_service(allocator, type="NodePort", clusterIP="10.96.1.1")

    allocator.release(first)

    assert new_service(allocator, clusterIP="10.96.1.1")


def test_an_update_keeps_the_address_and_ports_it_does_not_mention(allocator: Allocator) -> None:
    old = new_service(allocator, type="NodePort")
    update = {"metadata": {"name": "web"}, "spec": {"type": "NodePort", "ports": [{"port": 80}]}}

    new = changed_service(allocator, old, default("", "Service", update))

    assert new["spec"]["clusterIP"] == old["spec"]["clusterIP"]
    assert new["spec"]["ports"] == old["spec"]["ports"]


def test_a_service_that_stops_using_node_ports_releases_them(allocator: Allocator) -> None:
    old = new_service(allocator, type="NodePort")
    number = old["spec"]["ports"][0]["nodePort"]
    update = {**old, "spec": {**old["spec"], "type": "ClusterIP"}}

    new = changed_service(allocator, old, update)

    assert "nodePort" not in new["spec"]["ports"][0]
    assert not allocator.has_port(number)


def test_allocations_survive_a_restart(allocator: Allocator) -> None:
    held = new_service(allocator, type="NodePort")

    after = Allocator()
    after.adopt(held)

    assert after.has_address(held["spec"]["clusterIP"])
    assert after.has_port(held["spec"]["ports"][0]["nodePort"])


def test_what_a_running_write_has_allocated_is_not_free(allocator: Allocator) -> None:
    with allocator.reserve() as first, allocator.reserve() as second:
        address, port = first.allocate_address(), first.allocate_port()

        with pytest.raises(ValueError, match="provided IP is already allocated"):
            second.allocate_address(address)
        with pytest.raises(ValueError, match="provided port is already allocated"):
            second.allocate_port(port)
        assert second.allocate_port() != port


def test_a_write_that_stores_nothing_leaves_nothing_allocated(allocator: Allocator) -> None:
    with allocator.reserve() as reservation:
        address, port = reservation.allocate_address(), reservation.allocate_port()

    assert not allocator.has_address(address)
    assert not allocator.has_port(port)


@given(st.lists(st.integers(0, 3), max_size=40))
def test_no_address_is_allocated_twice(steps: list[int]) -> None:
    allocator = Allocator(network="10.0.0.0/27")
    held: list[str] = []
    for step in steps:
        if step == 0 and held:
            allocator.release({"spec": {"clusterIPs": [held.pop()]}})
        elif len(held) < 30:
            held.append(allocator.free_address())
            allocator.adopt({"spec": {"clusterIPs": held[-1:]}})

    assert len(set(held)) == len(held)


def test_a_pod_starts_pending_with_its_quality_of_service() -> None:
    pod = {"metadata": {}, "spec": {"containers": [{"name": "c"}]}, "status": {"phase": "Running"}}

    found = prepare_for_create("", "Pod", pod, Reservation(Allocator()))

    assert found["status"] == {"phase": "Pending", "qosClass": "BestEffort"}
    assert [each["key"] for each in found["spec"]["tolerations"]] == [
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
    ]
    assert found["spec"]["priority"] == 0


@pytest.mark.parametrize(
    ("resources", "quality"),
    [
        ({}, "BestEffort"),
        ({"requests": {"cpu": "1"}}, "Burstable"),
        ({"limits": {"cpu": "1"}, "requests": {"cpu": "1"}}, "Burstable"),
        ({"limits": {"cpu": "1", "memory": "1"}}, "Guaranteed"),
        ({"limits": {"cpu": "2", "memory": "1"}, "requests": {"cpu": "1"}}, "Burstable"),
    ],
)
def test_the_quality_of_service_follows_from_the_resources(resources: Json, quality: str) -> None:
    pod = {"spec": {"containers": [{"name": "c", "resources": resources}]}}

    assert quality_of_service(pod) == quality


def test_a_namespace_starts_active_with_a_finalizer() -> None:
    found = prepare_for_create(
        "", "Namespace", {"metadata": {"name": "shop"}}, Reservation(Allocator())
    )

    assert found["spec"]["finalizers"] == ["kubernetes"]
    assert found["status"] == {"phase": "Active"}


def test_a_job_selects_its_pods_by_its_uid() -> None:
    job = {"metadata": {"name": "j", "uid": "u1"}, "spec": {"template": {"spec": {}}}}

    spec = prepare_for_create("batch", "Job", job, Reservation(Allocator()))["spec"]

    assert spec["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": "u1"}}
    assert spec["template"]["metadata"]["labels"] == {
        "batch.kubernetes.io/controller-uid": "u1",
        "batch.kubernetes.io/job-name": "j",
        "controller-uid": "u1",
        "job-name": "j",
    }


def test_a_job_may_have_a_manual_selector() -> None:
    job = {"metadata": {"uid": "u"}, "spec": {"manualSelector": True, "template": {}}}

    assert prepare_for_create("batch", "Job", job, Reservation(Allocator()))["spec"] == job["spec"]


@pytest.mark.parametrize(
    ("group", "kind", "status"),
    [
        ("apps", "Deployment", None),
        ("apps", "ReplicaSet", None),
        ("", "PersistentVolumeClaim", {"phase": "Pending"}),
        ("", "Service", None),
    ],
)
def test_a_status_is_dropped_at_creation(group: str, kind: str, status: Json | None) -> None:
    obj = {"metadata": {"name": "x"}, "spec": {}, "status": {"replicas": 7, "phase": "Bound"}}

    assert prepare_for_create(group, kind, obj, Reservation(Allocator())).get("status") == status


def test_the_status_of_a_node_is_kept_at_creation() -> None:
    node = {"metadata": {"name": "n"}, "status": {"capacity": {"cpu": "1"}}}

    assert (
        prepare_for_create("", "Node", node, Reservation(Allocator()))["status"] == node["status"]
    )


def test_a_new_definition_has_only_its_storage_version_stored() -> None:
    crd = {"spec": {"versions": [{"name": "v1", "storage": True}]}, "status": {"conditions": [1]}}

    found = prepare_for_create(
        "apiextensions.k8s.io", "CustomResourceDefinition", crd, Reservation(Allocator())
    )

    assert found["status"]["storedVersions"] == ["v1"]
    assert not found["status"]["conditions"]


def test_an_invalid_template_generation_starts_at_one() -> None:
    number = "deprecated.daemonset.template.generation"
    wrong = {"metadata": {"annotations": {number: "many"}}, "spec": {"template": {"a": 1}}}

    made = prepare_for_create("apps", "DaemonSet", wrong, Reservation(Allocator()))
    new = {**wrong, "spec": {"template": {"a": 2}}}
    changed = prepare_for_update("apps", "DaemonSet", new, made)

    assert made["metadata"]["annotations"] == {number: "1"}
    assert changed["metadata"]["annotations"] == {number: "2"}
