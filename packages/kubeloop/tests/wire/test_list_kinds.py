"""Which kind a list of objects may have."""

from __future__ import annotations

import pytest

from kubeloop.wire import is_list_kind


@pytest.mark.parametrize(
    ("found", "kind", "api_version", "fits"),
    [
        ("PodList", "Pod", "v1", True),
        ("SecretList", "Pod", "v1", False),
        ("DeploymentList", "Deployment", "apps/v1", True),
        ("PodList", "Ingress", "networking.k8s.io/v1", False),
        ("", "Pod", "v1", True),
        (None, "Pod", "v1", True),
        ("Sites", "Website", "example.com/v1", True),
        ("Anything", "", "", True),
        ("Table", "Pod", "v1", False),
        ("Table", "Website", "example.com/v1", False),
        ("Table", "", "", False),
    ],
)
def test_a_list_of_a_built_in_kind_has_its_name_and_a_crd_may_name_it_freely(
    found: str | None, kind: str, api_version: str, fits: bool
) -> None:
    assert is_list_kind(found, kind=kind, api_version=api_version) is fits
