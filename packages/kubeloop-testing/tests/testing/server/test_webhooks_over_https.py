"""Admission webhooks, called over HTTPS while objects are written."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
from aiohttp import web

from kubeloop_testing.server.access.certs import Authority, server_context
from tests.support.https import serve_app
from tests.testing.server.conftest import Api
from tests.testing.server.server_objects import CONFIG_MAPS, config_map

HOOKS = "/apis/admissionregistration.k8s.io/v1"


def _respond(review: dict[str, Any], **response: Any) -> web.Response:
    body = {
        "kind": "AdmissionReview",
        "apiVersion": "admission.k8s.io/v1",
        "response": {"uid": review["request"]["uid"], "allowed": True, **response},
    }
    return web.json_response(body)


async def _label(request: web.Request) -> web.Response:
    patch = [{"op": "add", "path": "/metadata/labels", "value": {"by": "webhook"}}]
    encoded = base64.b64encode(msgspec.json.encode(patch)).decode()
    review = await request.json()
    return _respond(review, patchType="JSONPatch", patch=encoded, warnings=["labelled"])


async def _judge(request: web.Request) -> web.Response:
    review = await request.json()
    data = (review["request"].get("object") or {}).get("data") or {}
    if "bad" not in data:
        return _respond(review)
    status = {"code": 403, "message": "no bad data here"}
    return _respond(review, allowed=False, status=status)


@pytest.fixture
async def hooks() -> AsyncIterator[dict[str, Any]]:
    """The client configuration of a running webhook server, without the path."""
    authority = Authority()
    app = web.Application()
    app.router.add_post("/label", _label)
    app.router.add_post("/judge", _judge)
    async with serve_app(app, server_context(authority.server("127.0.0.1"))) as port:
        yield {
            "url": f"https://127.0.0.1:{port}",
            "caBundle": base64.b64encode(authority.pem).decode(),
        }


def _configuration(name: str, client: dict[str, Any], path: str) -> dict[str, Any]:
    rule = {
        "operations": ["CREATE", "UPDATE"],
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "resources": ["configmaps"],
    }
    hook = {
        "name": f"{name}.example.com",
        "clientConfig": {**client, "url": f"{client['url']}{path}"},
        "rules": [rule],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    return {"metadata": {"name": name}, "webhooks": [hook]}


async def test_a_mutating_webhook_changes_what_is_stored(api: Api, hooks: dict[str, Any]) -> None:
    await api.create(
        f"{HOOKS}/mutatingwebhookconfigurations", _configuration("label", hooks, "/label")
    )

    response = await api.create(CONFIG_MAPS, config_map("a"))

    assert response.json["metadata"]["labels"] == {"by": "webhook"}
    assert response.warnings == ['299 - "labelled"']
    assert (await api.get(f"{CONFIG_MAPS}/a")).json == response.json


async def test_a_validating_webhook_refuses_and_nothing_is_stored(
    api: Api, hooks: dict[str, Any]
) -> None:
    await api.create(
        f"{HOOKS}/validatingwebhookconfigurations", _configuration("judge", hooks, "/judge")
    )
    good = await api.create(CONFIG_MAPS, config_map("good"))

    refused = await api("POST", CONFIG_MAPS, config_map("a", bad="x"))
    changed = await api.patch(f"{CONFIG_MAPS}/good", {"data": {"bad": "x"}})

    assert refused.code == changed.code == 403
    assert refused.json["message"] == (
        'admission webhook "judge.example.com" denied the request: no bad data here'
    )
    assert (await api.get(f"{CONFIG_MAPS}/good")).json == good.json
    assert (await api.get(f"{CONFIG_MAPS}/a")).code == 404


async def test_a_ca_bundle_may_be_the_certificate_of_the_webhook_itself(api: Api) -> None:
    pair = Authority().server("127.0.0.1")
    app = web.Application()
    app.router.add_post("/label", _label)
    async with serve_app(app, server_context(pair)) as port:
        bundle = base64.b64encode(pair.certificate).decode()
        client = {"url": f"https://127.0.0.1:{port}", "caBundle": bundle}
        await api.create(
            f"{HOOKS}/mutatingwebhookconfigurations", _configuration("label", client, "/label")
        )

        response = await api.create(CONFIG_MAPS, config_map("a"))

    assert response.json["metadata"]["labels"] == {"by": "webhook"}


async def test_a_webhook_that_is_not_there_fails_the_write_or_is_ignored(api: Api) -> None:
    nowhere = {"url": "https://127.0.0.1:1"}
    configuration = _configuration("gone", nowhere, "/x")
    await api.create(f"{HOOKS}/validatingwebhookconfigurations", configuration)

    failed = await api("POST", CONFIG_MAPS, config_map("a"))
    ignoring = {"webhooks": [{**configuration["webhooks"][0], "failurePolicy": "Ignore"}]}
    await api.patch(f"{HOOKS}/validatingwebhookconfigurations/gone", ignoring)
    ignored = await api("POST", CONFIG_MAPS, config_map("a"))

    assert failed.code == 500
    assert "failed calling webhook" in failed.json["message"]
    assert ignored.code == 201
