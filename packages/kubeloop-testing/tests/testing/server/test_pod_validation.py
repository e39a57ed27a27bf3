"""Validation of pods and of their updates."""

from __future__ import annotations

from typing import Any

import pytest

from tests.testing.server.validation_helpers import CONTAINER, fields, messages, problems

Json = dict[str, Any]


def pod(*containers: Json, **spec: Any) -> Json:
    return {"spec": {"containers": list(containers) or [CONTAINER], **spec}}


@pytest.mark.parametrize(
    ("obj", "field", "message"),
    [
        ({"spec": {}}, "spec.containers", "Required value"),
        (pod({"image": "x"}), "spec.containers[0].name", "Required value"),
        (pod({"name": "c"}), "spec.containers[0].image", "Required value"),
        (pod(CONTAINER, CONTAINER), "spec.containers[1].name", 'Duplicate value: "c"'),
        (
            pod({**CONTAINER, "imagePullPolicy": "Often"}),
            "spec.containers[0].imagePullPolicy",
            'Unsupported value: "Often": supported values: "Always", "IfNotPresent", "Never"',
        ),
        (
            pod({**CONTAINER, "ports": [{"containerPort": 70000}]}),
            "spec.containers[0].ports[0].containerPort",
            "Invalid value: 70000: must be between 1 and 65535, inclusive",
        ),
        (
            pod({**CONTAINER, "ports": [{"containerPort": 1, "protocol": "QUIC"}]}),
            "spec.containers[0].ports[0].protocol",
            'Unsupported value: "QUIC": supported values: "SCTP", "TCP", "UDP"',
        ),
        (
            pod({**CONTAINER, "env": [{"value": "x"}]}),
            "spec.containers[0].env[0].name",
            "Required value",
        ),
        (
            pod({**CONTAINER, "volumeMounts": [{"name": "v", "mountPath": "/v"}]}),
            "spec.containers[0].volumeMounts[0].name",
            'Not found: "v"',
        ),
        (
            pod({**CONTAINER, "resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "2"}}}),
            "spec.containers[0].resources.requests",
            'Invalid value: "2": must be less than or equal to cpu limit of 1',
        ),
        (
            pod({**CONTAINER, "livenessProbe": {}}),
            "spec.containers[0].livenessProbe",
            "Required value: must specify a handler type",
        ),
        (
            pod(restartPolicy="Sometimes"),
            "spec.restartPolicy",
            'Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"',
        ),
        (
            pod(volumes=[{"name": "v"}, {"name": "v"}]),
            "spec.volumes[1].name",
            'Duplicate value: "v"',
        ),
        (
            pod(activeDeadlineSeconds=0),
            "spec.activeDeadlineSeconds",
            "Invalid value: 0: must be between 1 and 2147483647, inclusive",
        ),
    ],
)
def test_an_invalid_pod_is_rejected(obj: Json, field: str, message: str) -> None:
    assert messages(problems("", "Pod", obj)) == [(field, message)]


def test_a_pods_image_may_change_and_tolerations_may_be_added() -> None:
    old = pod(CONTAINER, tolerations=[{"key": "a", "operator": "Exists"}])
    new = pod(
        {**CONTAINER, "image": "nginx:latest"},
        tolerations=[
            {"key": "a", "operator": "Exists"},
            {"key": "b", "operator": "Exists"},
        ],
        activeDeadlineSeconds=5,
    )

    assert problems("", "Pod", new, old, subresource="") == []


@pytest.mark.parametrize(
    ("new", "field"),
    [
        (pod({**CONTAINER, "command": ["x"]}), "spec"),
        (pod(nodeSelector={"a": "b"}), "spec"),
        (pod(CONTAINER, {"name": "d", "image": "x"}), "spec.containers"),
        (pod(ephemeralContainers=[{"name": "e", "image": "x"}]), "spec"),
        (pod({**CONTAINER, "resources": {"limits": {"cpu": "1"}}}), "spec"),
    ],
)
def test_the_rest_of_a_pods_spec_cannot_change(new: Json, field: str) -> None:
    found = problems("", "Pod", new, pod(), subresource="")

    assert fields(found) == [(field, "Forbidden")]
    assert found[0].message.startswith("Forbidden: pod updates may not ")


@pytest.mark.parametrize(
    ("subresource", "new"),
    [
        ("ephemeralcontainers", pod(ephemeralContainers=[{"name": "e", "image": "x"}])),
        ("binding", pod(nodeName="n1")),
    ],
)
def test_a_subresource_may_change_its_own_fields(subresource: str, new: Json) -> None:
    assert problems("", "Pod", new, pod(), subresource=subresource) == []
    assert problems("", "Pod", new, pod()) == []


def sized(cpu: str) -> Json:
    return pod({**CONTAINER, "resources": {"requests": {"cpu": cpu}}})


def test_a_resize_keeps_the_quality_of_service() -> None:
    assert problems("", "Pod", sized("2"), sized("1"), subresource="resize") == []
    assert fields(problems("", "Pod", sized("2"), pod(), subresource="resize")) == [
        ("spec", "Invalid")
    ]
