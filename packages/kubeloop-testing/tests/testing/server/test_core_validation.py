"""Validation of services, config maps, secrets, claims and events."""

from __future__ import annotations

from typing import Any

import pytest

from tests.testing.server.validation_helpers import IMMUTABLE, fields, messages, problems

Json = dict[str, Any]


def service(**spec: Any) -> Json:
    return {"spec": {"ports": [{"port": 80}], **spec}}


@pytest.mark.parametrize(
    ("obj", "field", "message"),
    [
        (service(ports=[]), "spec.ports", "Required value"),
        (
            service(ports=[{"port": 0, "targetPort": 80}]),
            "spec.ports[0].port",
            "Invalid value: 0: must be between 1 and 65535, inclusive",
        ),
        (
            service(ports=[{"port": 1}, {"port": 2, "name": "b"}]),
            "spec.ports[0].name",
            "Required value",
        ),
        (
            service(ports=[{"port": 1, "name": "b"}, {"port": 2, "name": "b"}]),
            "spec.ports[1].name",
            'Duplicate value: "b"',
        ),
        (
            service(ports=[{"port": 1, "name": "a"}, {"port": 1, "name": "b"}]),
            "spec.ports[1]",
            'Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":1,"TargetPort":0,"NodePort":0}',
        ),
        (
            service(type="Portal"),
            "spec.type",
            (
                'Unsupported value: "Portal": supported values: "ClusterIP", "ExternalName", '
                '"LoadBalancer", "NodePort"'
            ),
        ),
        (service(type="ExternalName"), "spec.externalName", "Required value"),
        (
            service(clusterIP="10.0.0", clusterIPs=["10.0.0"]),
            "spec.clusterIPs[0]",
            (
                'Invalid value: "10.0.0": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'
            ),
        ),
        (
            service(sessionAffinity="Always"),
            "spec.sessionAffinity",
            'Unsupported value: "Always": supported values: "ClientIP", "None"',
        ),
        (
            service(ports=[{"port": 1, "nodePort": 30000}]),
            "spec.ports[0].nodePort",
            "Forbidden: may not be used when `type` is 'ClusterIP'",
        ),
    ],
)
def test_an_invalid_service_is_rejected(obj: Json, field: str, message: str) -> None:
    assert messages(problems("", "Service", obj)) == [(field, message)]


def test_a_services_address_cannot_change() -> None:
    old = service(clusterIP="10.96.0.2", clusterIPs=["10.96.0.2"])
    new = service(clusterIP="10.96.0.3", clusterIPs=["10.96.0.3"])

    assert messages(problems("", "Service", new, old)) == [
        ("spec.clusterIPs[0]", 'Invalid value: ["10.96.0.3"]: may not change once set')
    ]


def test_a_headless_service_needs_no_ports() -> None:
    assert problems("", "Service", service(clusterIP="None", clusterIPs=["None"], ports=[])) == []


def test_keys_of_config_maps_are_file_names() -> None:
    found = problems("", "ConfigMap", {"data": {"a b": "", "..": "", "ok.txt": ""}})

    assert [each.field for each in found] == ["data[a b]", "data[..]"]


def test_a_config_map_has_at_most_a_mebibyte() -> None:
    assert problems("", "ConfigMap", {"data": {"a": "x" * 1024 * 1024}}) == []
    assert messages(problems("", "ConfigMap", {"data": {"a": "x" * (1024 * 1024 + 1)}})) == [
        ("[]", "Too long: may not be more than 1048576 bytes")
    ]


@pytest.mark.parametrize(("kind", "value"), [("ConfigMap", "x"), ("Secret", "eA==")])
def test_an_immutable_object_cannot_change(kind: str, value: str) -> None:
    old = {"immutable": True, "data": {"a": value}}

    found = problems("", kind, {"data": {"a": value + value}}, old)

    assert messages(found) == [
        ("immutable", "Forbidden: field is immutable when `immutable` is set"),
        ("data", "Forbidden: field is immutable when `immutable` is set"),
    ]
    assert (
        problems(
            "",
            kind,
            {**old, "metadata": {"name": "web", "labels": {"a": "b"}}},
            {**old, "metadata": {"name": "web"}},
        )
        == []
    )


def test_a_secrets_type_cannot_change_and_requires_keys() -> None:
    changed = problems("", "Secret", {"type": "mine"}, {"type": "yours"})
    tls = problems("", "Secret", {"type": "kubernetes.io/tls", "data": {"tls.crt": ""}})

    assert messages(changed) == [("type", f'Invalid value: "mine": {IMMUTABLE}')]
    assert messages(tls) == [("data[tls.key]", "Required value")]


def claim(**spec: Any) -> Json:
    return {
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
            **spec,
        }
    }


def test_a_claim_requires_storage_and_access_modes() -> None:
    found = problems("", "PersistentVolumeClaim", {"spec": {}})

    assert messages(found) == [
        ("spec.accessModes", "Required value: at least 1 access mode is required"),
        ("spec.resources[storage]", "Required value"),
    ]


def test_a_claims_spec_is_immutable_except_that_a_bound_one_may_grow() -> None:
    more = claim(resources={"requests": {"storage": "2Gi"}})
    bound = {"status": {"phase": "Bound"}}

    found = problems("", "PersistentVolumeClaim", more, claim())

    assert fields(found) == [("spec", "Forbidden")]
    assert problems("", "PersistentVolumeClaim", {**more, **bound}, {**claim(), **bound}) == []


def test_an_event_is_in_the_namespace_of_its_object() -> None:
    here = {"involvedObject": {"namespace": "shop"}}
    there = {"involvedObject": {"namespace": "other"}}

    assert problems("", "Event", here) == []
    assert fields(problems("", "Event", there)) == [("involvedObject.namespace", "Invalid")]
