"""Custom kinds: served while their definition exists, by its schema."""

from __future__ import annotations

import asyncio
from typing import Any

from kubeloop_testing.server import Service
from tests.testing.server.conftest import Api
from tests.testing.server.server_objects import DEFINITIONS, definition

WIDGETS = "/apis/example.com/v1/namespaces/default/widgets"


def _widget(name: str, **spec: Any) -> dict[str, Any]:
    return {
        "kind": "Widget",
        "apiVersion": "example.com/v1",
        "metadata": {"name": name},
        "spec": spec,
    }


async def test_a_kind_is_served_as_soon_as_its_definition_exists(api: Api) -> None:
    assert (await api.get(WIDGETS)).code == 404

    await api.create(DEFINITIONS, definition())
    reply = await api.create(WIDGETS, _widget("a"))
    found = await api.get(f"{DEFINITIONS}/widgets.example.com")

    assert reply.json["spec"] == {"replicas": 1}
    conditions = {each["type"]: each["status"] for each in found.json["status"]["conditions"]}
    assert conditions == {"NamesAccepted": "True", "Established": "True"}


async def test_items_of_custom_lists_have_their_kind(api: Api) -> None:
    await api.create(DEFINITIONS, definition())
    await api.create(WIDGETS, _widget("a"))

    reply = await api.get(WIDGETS)

    assert reply.json["kind"] == "WidgetList"
    assert reply.json["items"][0]["kind"] == "Widget"


async def test_the_schema_rejects_prunes_and_defaults(api: Api) -> None:
    await api.create(DEFINITIONS, definition())

    refused = await api("POST", WIDGETS, _widget("a", replicas=-1))
    pruned = await api.create(WIDGETS, _widget("b", shape="round"))

    assert refused.code == 422
    assert refused.json["message"].startswith('Widget.example.com "a" is invalid: [spec.replicas: ')
    assert pruned.json["spec"] == {"replicas": 1}
    assert pruned.warnings == ['299 - "unknown field \\"spec.shape\\""']


async def test_status_and_scale_are_subresources(api: Api) -> None:
    await api.create(DEFINITIONS, definition())
    created = await api.create(WIDGETS, {**_widget("a"), "status": {"replicas": 9}})
    await api.patch(f"{WIDGETS}/a/status", {"status": {"replicas": 2, "selector": "a=b"}})

    scaled = await api.patch(f"{WIDGETS}/a/scale", {"spec": {"replicas": 4}})

    assert "status" not in created.json
    assert scaled.json["spec"] == {"replicas": 4}
    assert scaled.json["status"] == {"replicas": 2, "selector": "a=b"}
    assert (await api.get(f"{WIDGETS}/a")).json["metadata"]["generation"] == 2


async def test_selectable_fields_can_be_selected(api: Api) -> None:
    """API-14: CRDs may declare selectableFields."""
    await api.create(DEFINITIONS, definition())
    await api.create(WIDGETS, _widget("a", color="red"))
    await api.create(WIDGETS, _widget("b", color="blue"))

    reply = await api.get(WIDGETS, fieldSelector="spec.color=blue")
    refused = await api.get(WIDGETS, fieldSelector="spec.replicas=1")

    assert [each["metadata"]["name"] for each in reply.json["items"]] == ["b"]
    assert refused.json["message"] == "field label not supported: spec.replicas"


async def test_custom_objects_support_no_strategic_patch_and_need_a_version(api: Api) -> None:
    """API-29: 415 for custom kinds."""
    await api.create(DEFINITIONS, definition())
    await api.create(WIDGETS, _widget("a"))

    patch = await api.patch(f"{WIDGETS}/a", {}, "application/strategic-merge-patch+json")
    update = await api("PUT", f"{WIDGETS}/a", _widget("a"))

    assert patch.code == 415
    assert update.code == 422
    assert "must be specified for an update" in update.json["message"]


async def test_deleting_a_definition_deletes_its_objects(api: Api, server: Service) -> None:
    await api.create(DEFINITIONS, definition())
    held = _widget("held")
    held["metadata"]["finalizers"] = ["example.com/keep"]
    await api.create(WIDGETS, held)

    marked = await api("DELETE", f"{DEFINITIONS}/widgets.example.com")
    await asyncio.sleep(0)
    server.core.controller_manager.work()
    ending = await api.get(f"{DEFINITIONS}/widgets.example.com")
    await api.patch(f"{WIDGETS}/held", {"metadata": {"finalizers": None}})
    await asyncio.sleep(0)
    server.core.controller_manager.work()

    assert marked.json["metadata"]["finalizers"] == ["customresourcecleanup.apiextensions.k8s.io"]
    assert "Terminating" in {each["type"] for each in ending.json["status"]["conditions"]}
    assert (await api.get(f"{DEFINITIONS}/widgets.example.com")).code == 404
    assert (await api.get(WIDGETS)).code == 404


async def test_one_object_is_served_in_two_versions(api: Api) -> None:
    two = definition()
    first = two["spec"]["versions"][0]
    two["spec"]["versions"].append({**first, "name": "v2", "storage": False})
    await api.create(DEFINITIONS, two)
    await api.create(WIDGETS, _widget("a"))

    reply = await api.get(f"{WIDGETS.replace('v1', 'v2')}/a")

    assert reply.json["apiVersion"] == "example.com/v2"
    assert reply.json["spec"] == {"replicas": 1}


async def test_an_invalid_definition_is_not_stored(api: Api) -> None:
    bad = definition()
    bad["metadata"]["name"] = "other.example.com"

    reply = await api("POST", DEFINITIONS, bad)

    assert reply.code == 422
    assert (await api.get(WIDGETS)).code == 404
