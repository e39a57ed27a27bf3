"""Warnings about valid objects."""

from __future__ import annotations

from typing import Any

import pytest

from kubeloop_testing.server.kinds.rules.address_warnings import address_warnings, network_warnings
from tests.testing.server.kind_helpers import warnings_of

Json = dict[str, Any]


def pod(container: Json, **spec: Any) -> Json:
    containers = [{"name": "a", "image": "i", **container}]
    return {"metadata": {"name": "p"}, "spec": {"containers": containers, **spec}}


def test_a_variable_that_hides_another_one_is_reported() -> None:
    env = [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]

    found = warnings_of("", "Pod", pod({"env": env}), None)

    assert [each.partition(":")[0] for each in found] == ["spec.containers[0].env[1]"]


def test_a_variable_may_extend_a_former_one() -> None:
    env = [{"name": "P", "value": "1"}, {"name": "P", "value": "$(P):2"}]

    assert warnings_of("", "Pod", pod({"env": env}), None) == []


def test_updates_of_pods_have_no_warnings() -> None:
    old = pod({}, nodeSelector={"beta.kubernetes.io/os": "linux"})

    assert len(warnings_of("", "Pod", old, None)) == 1
    assert warnings_of("", "Pod", old, old) == []


def test_a_workload_whose_spec_is_unchanged_has_no_warnings() -> None:
    template = {"spec": pod({}, nodeSelector={"beta.kubernetes.io/os": "linux"})["spec"]}
    old = {"metadata": {"name": "d"}, "spec": {"template": template}}
    new = {**old, "metadata": {"name": "d", "labels": {"a": "b"}}}

    assert len(warnings_of("apps", "Deployment", old, None)) == 1
    assert warnings_of("apps", "Deployment", new, old) == []


@pytest.mark.parametrize(
    ("value", "count"), [("10.0.0.1", 0), ("2001:db8::1", 0), ("2001:DB8::1", 1), ("01.2.3.4", 1)]
)
def test_addresses_should_be_in_canonical_form(value: str, count: int) -> None:
    assert len(list(address_warnings("ip", value))) == count


@pytest.mark.parametrize(
    ("value", "count"), [("10.0.0.0/8", 0), ("10.0.0.1/8", 1), ("2001:db8:0::/64", 1)]
)
def test_networks_should_be_in_canonical_form(value: str, count: int) -> None:
    assert len(list(network_warnings("cidr", value))) == count
