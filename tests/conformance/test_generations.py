"""Generations: which writes increment them."""

from __future__ import annotations

from tests.conformance.raw_client import JSON_PATCH, RawClient
from tests.conformance.samples import deployment
from tests.conformance.widgets import WIDGETS, CustomKind

DEPLOYMENTS = "apps/v1/deployments"


async def test_an_update_without_defaults_changes_nothing(api: RawClient) -> None:
    await api.create(api.at(DEPLOYMENTS), deployment())

    body = {**deployment(), "metadata": {"name": "web", "labels": {"app": "web"}}}
    reply = await api("PUT", api.at(DEPLOYMENTS, "web"), body)

    assert (reply.code, reply.meta["generation"]) == (200, 1)


async def test_an_update_of_a_custom_kind_without_its_defaults_changes_nothing(
    api: RawClient, widgets: CustomKind
) -> None:
    created = await api.create(api.at(WIDGETS), widgets.new("a", spec={"size": 1}))

    meta = {"name": "a", "resourceVersion": created.meta["resourceVersion"]}
    body = {**widgets.new("a", spec={"size": 1}), "metadata": meta}
    reply = await api("PUT", api.at(WIDGETS, "a"), body)

    assert (reply.code, reply.meta["generation"]) == (200, 1)


async def test_an_apply_that_drops_defaults_changes_nothing(api: RawClient) -> None:
    """As when kubectl migrates from client-side to server-side apply."""
    created = await api.create(api.at(DEPLOYMENTS), deployment(), fieldManager="tester")
    entry = {**created.meta["managedFields"][0], "operation": "Apply"}
    patch = [{"op": "replace", "path": "/metadata/managedFields", "value": [entry]}]
    await api.patch(api.at(DEPLOYMENTS, "web"), patch, JSON_PATCH)

    reply = await api.apply(api.at(DEPLOYMENTS, "web"), deployment())

    assert (reply.code, reply.meta["generation"]) == (200, 1)
    assert reply.spec == created.spec


async def test_the_generation_of_an_autoscaler_counts_changes_of_its_spec(api: RawClient) -> None:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    spec = {"scaleTargetRef": target, "maxReplicas": 3}
    autoscalers = api.at("autoscaling/v2/horizontalpodautoscalers")
    created = await api.create(autoscalers, {"metadata": {"name": "web"}, "spec": spec})

    reply = await api.patch(f"{autoscalers}/web", {"spec": {"maxReplicas": 4}})

    assert (created.meta["generation"], reply.meta["generation"]) == (1, 2)
