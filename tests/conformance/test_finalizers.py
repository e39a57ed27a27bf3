"""Names of finalizers that are added to an existing object."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.raw_client import RawClient
from tests.conformance.samples import deployment


@pytest.mark.parametrize(
    ("resource", "body"),
    [
        ("configmaps", {}),
        ("apps/v1/deployments", deployment()),
        ("rbac.authorization.k8s.io/v1/roles", {"rules": []}),
    ],
)
async def test_a_finalizer_without_a_domain_is_rejected_in_an_update(
    api: RawClient, resource: str, body: dict[str, Any]
) -> None:
    await api.create(api.at(resource), {**body, "metadata": {"name": "a"}})

    reply = await api.patch(api.at(resource, "a"), {"metadata": {"finalizers": ["bare"]}})

    assert reply.code == 422
    assert reply.causes == [("metadata.finalizers[0]", "FieldValueInvalid")]


async def test_a_lease_accepts_finalizers_without_a_domain(api: RawClient) -> None:
    leases = api.at("coordination.k8s.io/v1/leases")
    created = await api.create(leases, {"metadata": {"name": "a"}, "spec": {}})

    meta = {"finalizers": ["bare"], "resourceVersion": created.meta["resourceVersion"]}
    reply = await api.patch(f"{leases}/a", {"metadata": meta})
    await api.patch(f"{leases}/a", {"metadata": {"finalizers": None}})

    assert reply.code == 200
