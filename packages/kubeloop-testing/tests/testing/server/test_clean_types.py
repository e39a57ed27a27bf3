"""The fast path of type checks, compared with the slow path."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeloop_testing.server.values.scalars import Findings
from kubeloop_testing.server.values.strict_types import is_clean
from kubeloop_testing.server.values.unknown_fields import struct_reader

GOOD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "labels": {"app": "web"}, "finalizers": ["example.com/a"]},
    "spec": {
        "containers": [
            {
                "name": "nginx",
                "image": "nginx",
                "ports": [{"containerPort": 80}],
                "resources": {"limits": {"cpu": "1500m", "memory": "64Mi"}},
                "livenessProbe": {"httpGet": {"port": "http"}},
                "readinessProbe": {"httpGet": {"port": 80}},
            }
        ],
        "terminationGracePeriodSeconds": 2**40,
        "nodeSelector": {"disk": "ssd"},
        "hostNetwork": True,
        "automountServiceAccountToken": False,
    },
    "status": {"startTime": "2030-01-02T03:04:05Z"},
}


def is_clean_slowly(go_type: str, obj: dict[str, Any]) -> bool:
    """Whether the slow path reports nothing and changes nothing."""
    found = Findings()
    typed = struct_reader(go_type)(obj, found)
    return typed is obj and not found.unknown and not found.problems


def changed(path: str, value: Any) -> dict[str, Any]:
    obj = copy.deepcopy(GOOD)
    *steps, last = path.split(".")
    parent: Any = obj
    for step in steps:
        parent = parent[int(step)] if step.isdigit() else parent.setdefault(step, {})
    parent[int(last) if last.isdigit() else last] = value
    return obj


def test_a_canonical_body_is_clean() -> None:
    assert is_clean("core/v1.Pod", GOOD)
    assert is_clean_slowly("core/v1.Pod", GOOD)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("extra", 1),
        ("spec.containers.0.imagee", "x"),
        ("spec.containers.0.image", None),
        ("spec.containers.0.image", 5),
        ("spec.containers.0", None),
        ("spec.containers", {}),
        ("spec.containers.0.ports.0.containerPort", 3.0),
        ("spec.containers.0.ports.0.containerPort", True),
        ("spec.containers.0.ports.0.containerPort", "80"),
        ("spec.containers.0.ports.0.containerPort", 2**31),
        ("spec.containers.0.readinessProbe.httpGet.port", 2**31),
        ("spec.containers.0.readinessProbe.httpGet.port", 1.5),
        ("spec.terminationGracePeriodSeconds", 2**63),
        ("spec.containers.0.resources.limits.cpu", "1000m"),
        ("spec.containers.0.resources.limits.cpu", "0.5"),
        ("spec.containers.0.resources.limits.cpu", 1),
        ("spec.containers.0.resources.limits.cpu", "1\n"),
        ("spec.containers.0.resources.limits.memory", "1024Mi"),
        ("spec.hostNetwork", "yes"),
        ("spec.hostNetwork", False),
        ("spec.nodeSelector", {}),
        ("spec.volumes", []),
        ("spec.nodeName", ""),
        ("spec.containers.0.livenessProbe.timeoutSeconds", 0),
        ("metadata.labels", {}),
        ("metadata.labels.app", None),
        ("metadata.namespace", ""),
        ("metadata.generation", 0),
        ("metadata.creationTimestamp", None),
        ("metadata.creationTimestamp", "2030-01-02T03:04:05+01:00"),
        ("metadata.creationTimestamp", "2030-02-30T03:04:05Z"),
        ("status.startTime", "2030-01-02T03:04:05.5Z"),
    ],
)
def test_a_body_that_is_not_canonical_is_not_clean(path: str, value: Any) -> None:
    obj = changed(path, value)

    assert not is_clean_slowly("core/v1.Pod", obj)
    assert not is_clean("core/v1.Pod", obj)


@given(
    st.from_regex(r"[0-9]{1,5}(\.[0-9]{1,3})?(n|u|m|k|M|G|T|Ki|Mi|Gi|e3)?", fullmatch=True)
    | st.sampled_from([f"{n * 1024}Ki" for n in range(12)] + [f"{n}000m" for n in range(12)])
)
def test_a_clean_quantity_is_canonical(text: str) -> None:
    obj = {"spec": {"containers": [{"resources": {"limits": {"cpu": text}}}]}}

    assert is_clean_slowly("core/v1.Pod", obj) or not is_clean("core/v1.Pod", obj)


@given(st.from_regex(r"[A-Za-z0-9+/=]{0,9}", fullmatch=True))
def test_clean_data_is_base64(text: str) -> None:
    obj = {"data": {"key": text}}

    assert is_clean_slowly("core/v1.Secret", obj) or not is_clean("core/v1.Secret", obj)


@given(
    st.from_regex(
        r"[0-9]{4}-[0-3][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9](\.[0-9]{6})?Z",
        fullmatch=True,
    )
)
def test_a_clean_time_is_valid(text: str) -> None:
    for go_type, obj in (
        ("coordination/v1.Lease", {"spec": {"renewTime": text}}),
        ("core/v1.Pod", {"metadata": {"creationTimestamp": text}}),
    ):
        assert is_clean_slowly(go_type, obj) or not is_clean(go_type, obj)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-2, 2) | st.sampled_from(["", "a"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["metadata", "spec", "name", "containers", "replicas", "status"]), inner
        )
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(["metadata", "spec", "status", "kind"]), JSON))
def test_nothing_is_clean_that_the_slow_path_would_change(obj: dict[str, Any]) -> None:
    for go_type in ("core/v1.Pod", "apps/v1.Deployment", "core/v1.Node"):
        assert is_clean_slowly(go_type, obj) or not is_clean(go_type, obj)
