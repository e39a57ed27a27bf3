"""Generations: what makes a new one, and what does not."""

from __future__ import annotations

from tests.conformance.caller import JSON_PATCH, Caller
from tests.conformance.samples import deployment
from tests.conformance.widgets import WIDGETS, Defined

DEPLOYMENTS = "apps/v1/deployments"


async def test_an_update_that_leaves_defaults_unsaid_is_no_news(api: Caller) -> None:
    await api.create(api.at(DEPLOYMENTS), deployment())

    body = {**deployment(), "metadata": {"name": "web", "labels": {"app": "web"}}}
    reply = await api("PUT", api.at(DEPLOYMENTS, "web"), body)

    assert (reply.code, reply.meta["generation"]) == (200, 1)


async def test_an_update_of_an_own_kind_without_its_defaults_is_no_news(
    api: Caller, widgets: Defined
) -> None:
    created = await api.create(api.at(WIDGETS), widgets.new("a", spec={"size": 1}))

    meta = {"name": "a", "resourceVersion": created.meta["resourceVersion"]}
    body = {**widgets.new("a", spec={"size": 1}), "metadata": meta}
    reply = await api("PUT", api.at(WIDGETS, "a"), body)

    assert (reply.code, reply.meta["generation"]) == (200, 1)


async def test_an_apply_that_gives_up_defaults_is_no_news(api: Caller) -> None:
    """As when kubectl turns a client-side apply into a server-side one."""
    created = await api.create(api.at(DEPLOYMENTS), deployment(), fieldManager="tester")
    entry = {**created.meta["managedFields"][0], "operation": "Apply"}
    patch = [{"op": "replace", "path": "/metadata/managedFields", "value": [entry]}]
    await api.patch(api.at(DEPLOYMENTS, "web"), patch, JSON_PATCH)

    reply = await api.apply(api.at(DEPLOYMENTS, "web"), deployment())

    assert (reply.code, reply.meta["generation"]) == (200, 1)
    assert reply.spec == created.spec


async def test_autoscalers_count_the_changes_of_their_spec(api: Caller) -> None:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    spec = {"scaleTargetRef": target, "maxReplicas": 3}
    autoscalers = api.at("autoscaling/v2/horizontalpodautoscalers")
    created = await api.create(autoscalers, {"metadata": {"name": "web"}, "spec": spec})

    reply = await api.patch(f"{autoscalers}/web", {"spec": {"maxReplicas": 4}})

    assert (created.meta["generation"], reply.meta["generation"]) == (1, 2)
