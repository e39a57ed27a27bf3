"""Conversion between the versions of a kind."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop_testing.server.kinds.strategies import convert

Json = dict[str, Any]


def autoscaler(*metrics: Json, **more: Any) -> Json:
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web"},
        "spec": {"maxReplicas": 3, "minReplicas": 1, "metrics": list(metrics), **more},
        "status": {"currentReplicas": 2, "desiredReplicas": 2},
    }


def cpu(percent: int) -> Json:
    target = {"type": "Utilization", "averageUtilization": percent}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


PODS: Json = {
    "type": "Pods",
    "pods": {
        "metric": {"name": "hits", "selector": {"matchLabels": {"a": "b"}}},
        "target": {"type": "AverageValue", "averageValue": "100"},
    },
}
OBJECT: Json = {
    "type": "Object",
    "object": {
        "describedObject": {"kind": "Ingress", "name": "main"},
        "metric": {"name": "rate"},
        "target": {"type": "Value", "value": "2k"},
    },
}
EXTERNAL: Json = {
    "type": "External",
    "external": {
        "metric": {"name": "queue"},
        "target": {"type": "AverageValue", "averageValue": "3"},
    },
}


def test_v1_has_the_cpu_target_and_keeps_the_rest_in_annotations() -> None:
    first = convert(autoscaler(cpu(70), PODS), "autoscaling", "HorizontalPodAutoscaler", "v1")

    assert first["apiVersion"] == "autoscaling/v1"
    assert first["spec"] == {
        "maxReplicas": 3,
        "minReplicas": 1,
        "targetCPUUtilizationPercentage": 70,
    }
    assert first["metadata"]["annotations"] == {
        "autoscaling.alpha.kubernetes.io/metrics": (
            '[{"type":"Pods","pods":{"metricName":"hits","targetAverageValue":"100",'
            '"selector":{"matchLabels":{"a":"b"}}}}]'
        )
    }


def test_an_autoscaler_without_metrics_gets_a_cpu_target() -> None:
    first = {"apiVersion": "autoscaling/v1", "spec": {"maxReplicas": 3}}

    second = convert(first, "autoscaling", "HorizontalPodAutoscaler", "v2")

    assert second["spec"]["metrics"] == [cpu(80)]


def test_annotations_that_are_not_json_are_ignored() -> None:
    notes = {"autoscaling.alpha.kubernetes.io/metrics": "{", "mine": "kept"}
    first = {"apiVersion": "autoscaling/v1", "metadata": {"annotations": notes}, "spec": {}}

    second = convert(first, "autoscaling", "HorizontalPodAutoscaler", "v2")

    assert second["metadata"] == {"annotations": {"mine": "kept"}}


@given(
    st.lists(st.sampled_from([PODS, OBJECT, EXTERNAL]), max_size=3),
    st.integers(1, 100),
    st.booleans(),
)
def test_a_round_trip_returns_the_same_autoscaler(
    others: list[Json], percent: int, up: bool
) -> None:
    behavior = {"behavior": {"scaleUp": {"selectPolicy": "Max"}}} if up else {}
    second = autoscaler(*others, cpu(percent), **behavior)

    first = convert(second, "autoscaling", "HorizontalPodAutoscaler", "v1")

    assert convert(first, "autoscaling", "HorizontalPodAutoscaler", "v2") == second


def test_the_fields_of_events_have_other_names_in_events_k8s_io() -> None:
    core = {
        "apiVersion": "v1",
        "kind": "Event",
        "involvedObject": {"name": "web"},
        "message": "started",
        "count": 2,
    }

    own = convert(core, "events.k8s.io", "Event", "v1")

    assert own == {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "regarding": {"name": "web"},
        "note": "started",
        "deprecatedCount": 2,
    }
    assert convert(own, "", "Event", "v1") == core


def test_a_device_request_is_flat_only_in_v1beta1() -> None:
    deep = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "g"}}]}},
    }

    flat = convert(deep, "resource.k8s.io", "ResourceClaim", "v1beta1")

    assert flat["spec"]["devices"]["requests"] == [{"name": "gpu", "deviceClassName": "g"}]
    assert convert(flat, "resource.k8s.io", "ResourceClaim", "v1") == deep


@pytest.mark.parametrize("kind", ["Lease", "Website"])
def test_other_kinds_change_their_api_version_only(kind: str) -> None:
    obj = {"apiVersion": "example.com/v1", "kind": kind, "spec": {"a": 1}}

    assert convert(obj, "example.com", kind, "v2") == {**obj, "apiVersion": "example.com/v2"}
    assert convert(obj, "example.com", kind, "v1") is obj
