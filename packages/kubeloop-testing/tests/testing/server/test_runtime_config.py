"""Which built-in resources a runtime configuration enables."""

from __future__ import annotations

import pytest

from kubeloop.wire import InvalidArgument
from kubeloop_testing import APIServer
from kubeloop_testing.server.registry import Registry
from kubeloop_testing.server.runtime_config import RuntimeConfig, parse_runtime_config

DEPLOYMENTS = ("apps", "v1", "deployments")
CLAIMS = ("resource.k8s.io", "v1", "resourceclaims")
BETA_CLAIMS = ("resource.k8s.io", "v1beta1", "resourceclaims")
BETA_SLICES = ("resource.k8s.io", "v1beta1", "resourceslices")
ALPHA_RULES = ("resource.k8s.io", "v1alpha3", "devicetaintrules")


@pytest.mark.parametrize(
    ("config", "enabled", "disabled"),
    [
        ("", [DEPLOYMENTS, CLAIMS], [BETA_CLAIMS, ALPHA_RULES]),
        ("api/all=true", [DEPLOYMENTS, BETA_CLAIMS, ALPHA_RULES], []),
        ("api/beta=true", [CLAIMS, BETA_CLAIMS], [ALPHA_RULES]),
        ("api/alpha=true", [CLAIMS, ALPHA_RULES], [BETA_CLAIMS]),
        ("api/all=false,api/ga=true", [DEPLOYMENTS], [BETA_CLAIMS, ALPHA_RULES]),
        ("api/all=true,api/beta=false", [ALPHA_RULES], [BETA_CLAIMS]),
        ("resource.k8s.io/v1beta1=true", [BETA_CLAIMS, BETA_SLICES], [ALPHA_RULES]),
        ("resource.k8s.io/v1beta1", [BETA_CLAIMS], []),
        ("resource.k8s.io/v1beta1/resourceclaims=1", [BETA_CLAIMS], [BETA_SLICES]),
        (
            "api/all=true,resource.k8s.io/v1beta1=false,resource.k8s.io/v1beta1/resourceslices=t",
            [BETA_SLICES, ALPHA_RULES],
            [BETA_CLAIMS],
        ),
        ("apps/v1/deployments=false", [("apps", "v1", "daemonsets")], [DEPLOYMENTS]),
        (" apps/v1 = false ,,", [CLAIMS], [DEPLOYMENTS]),
        ("/v1/pods=false", [("", "v1", "services")], [("", "v1", "pods")]),
        ("storage.k8s.io/v1beta1=true", [DEPLOYMENTS], []),
        ({"api/beta": True, "apps/v1": False}, [BETA_CLAIMS], [DEPLOYMENTS]),
    ],
)
def test_a_narrow_key_wins_over_a_wide_one(
    config: RuntimeConfig,
    enabled: list[tuple[str, str, str]],
    disabled: list[tuple[str, str, str]],
) -> None:
    registry = Registry(parse_runtime_config(config))

    assert [each for each in enabled if registry.find(*each) is None] == []
    assert [each for each in disabled if registry.find(*each) is not None] == []


@pytest.mark.parametrize(
    "config",
    [
        "api/all=false",
        "api/all=maybe",
        "api/ga=1",
        "v1=true",
        "apps=true",
        "apps/v1/deployments/scale=true",
        "nothing.example.com/v1=true",
        "apps/v7=true",
        "apps/v1=perhaps",
        "apps/v1/Deployments=true",
    ],
)
def test_an_invalid_configuration_is_rejected_before_the_server_starts(config: str) -> None:
    with pytest.raises(InvalidArgument, match="runtime_config"):
        APIServer(runtime_config=config)


def test_a_collection_is_known_in_its_storage_version_even_if_that_is_not_served() -> None:
    registry = Registry(
        parse_runtime_config("resource.k8s.io/v1=false,resource.k8s.io/v1beta1=true")
    )

    stored = {(each.group, each.plural): each.version for each in registry.storage_resources()}

    assert stored["resource.k8s.io", "resourceclaims"] == "v1"
    assert ("resource.k8s.io", "devicetaintrules") not in stored


async def test_a_version_that_is_enabled_can_be_written_and_read() -> None:
    async with APIServer(runtime_config="coordination.k8s.io/v1beta1=true") as server:
        candidates = server.client().coordination_v1beta1.lease_candidates("default")

        assert (await candidates.list()).items == []
