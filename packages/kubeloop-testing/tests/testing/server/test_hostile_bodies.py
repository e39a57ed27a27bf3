"""Any body on any path gets a response: an object, or a Status with the reason."""

from __future__ import annotations

import json
from typing import Any

import aiohttp
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from kubeloop.kit import run
from kubeloop_testing import APIServer
from tests.support.mutations import CRD, POD, TEXT, mutated

WEBSITE: dict[str, Any] = {
    "apiVersion": "example.com/v1",
    "kind": "Website",
    "metadata": {"name": "web", "labels": {"a": "b"}, "finalizers": ["a/b"]},
    "spec": {"n": 3, "l": ["a"], "m": {"a": "ab"}, "i": "x", "t": "2026-01-01T00:00:00Z"},
}
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
OBJECTS = {
    "/api/v1/namespaces/default/pods": POD,
    "/apis/example.com/v1/namespaces/default/websites": WEBSITE,
    CRDS: CRD,
}
JSON_PATCH = [{"op": "add", "path": "/metadata/labels/x", "value": "1"}]
# Method, suffix of the collection's path, content type.
REQUESTS = [
    ("POST", "", "application/json"),
    ("POST", "?dryRun=All&fieldValidation=Strict", "application/yaml"),
    ("PUT", "/{name}", "application/json"),
    ("PUT", "/{name}/status", "application/json"),
    ("PATCH", "/{name}", "application/merge-patch+json"),
    ("PATCH", "/{name}", "application/strategic-merge-patch+json"),
    ("PATCH", "/{name}?fieldManager=x&force=true", "application/apply-patch+yaml"),
]

Request = tuple[str, str, str, bytes]


@st.composite
def requests(draw: st.DrawFn) -> Request:
    path, obj = draw(st.sampled_from(sorted(OBJECTS.items(), key=lambda item: item[0])))
    method, suffix, kind = draw(st.sampled_from(REQUESTS))
    body = draw(mutated(obj).map(lambda tree: json.dumps(tree).encode()) | TEXT.map(str.encode))
    return method, path + suffix.format(name=obj["metadata"]["name"]), kind, body


async def responses(sent: list[Request]) -> list[tuple[Request, int, bytes]]:
    async with APIServer() as server, aiohttp.ClientSession(server.url) as session:
        found = []
        for path, obj in [(CRDS, CRD), *OBJECTS.items()]:
            async with session.post(path, json=obj):
                pass
        for request in sent:
            method, path, kind, body = request
            headers = {"Content-Type": kind}
            async with session.request(method, path, data=body, headers=headers) as response:
                found.append((request, response.status, await response.read()))
        return found


@pytest.mark.timeout(60)
# One server per example, so few and long examples; shrinking would start many servers.
@settings(
    max_examples=4, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
)
@given(st.lists(requests(), min_size=60, max_size=60))
def test_no_body_makes_the_server_fail(sent: list[Request]) -> None:
    for request, code, body in run(responses(sent)):
        assert b"the server failed" not in body, request
        assert code < 400 or json.loads(body)["kind"] == "Status", request


@pytest.mark.parametrize("metadata", [[], ["web"], [{"name": "web"}], 5, "web", {"name": ["web"]}])
@pytest.mark.parametrize("request_", REQUESTS)
async def test_a_custom_resource_whose_metadata_is_none_is_refused(
    metadata: object, request_: tuple[str, str, str]
) -> None:
    path, (method, suffix, kind) = "/apis/example.com/v1/namespaces/default/websites", request_
    body = json.dumps({**WEBSITE, "metadata": metadata}).encode()

    async with APIServer() as server, aiohttp.ClientSession(server.url) as session:
        async with session.post(CRDS, json=CRD):
            pass
        async with session.post(path, json=WEBSITE):
            pass
        sent = session.request(
            method, path + suffix.format(name="web"), data=body, headers={"Content-Type": kind}
        )
        async with sent as response:
            status = await response.json()
        async with session.get(path) as listed:
            items = (await listed.json())["items"]

    assert (status["kind"], status["code"]) == ("Status", response.status)
    assert response.status in (400, 422, 415, 500), status
    assert status["message"]
    assert "the server failed" not in status["message"]
    assert [item["metadata"]["labels"] for item in items] == [{"a": "b"}]


@pytest.mark.parametrize("metadata", [["web"], 5, {"name": ["web"]}, None])
async def test_a_custom_resource_of_another_kind_is_refused_whatever_its_metadata_is(
    metadata: object,
) -> None:
    broken = {**WEBSITE, "kind": "Other", "metadata": metadata}

    async with APIServer() as server, aiohttp.ClientSession(server.url) as session:
        async with session.post(CRDS, json=CRD):
            pass
        path = "/apis/example.com/v1/namespaces/default/websites"
        async with session.post(path, json=broken) as response:
            status = await response.json()

    assert (response.status, status["reason"]) == (422, "Invalid")
    assert "must be Website" in status["message"]


@pytest.mark.parametrize("field", ["apiVersion", "kind"])
async def test_an_applied_object_that_does_not_say_its_kind_in_text_is_refused(field: str) -> None:
    body = json.dumps({**POD, field: 5}).encode()

    async with APIServer() as server, aiohttp.ClientSession(server.url) as session:
        path = "/api/v1/namespaces/default/pods/web?fieldManager=x"
        headers = {"Content-Type": "application/apply-patch+yaml"}
        async with session.patch(path, data=body, headers=headers) as response:
            status = await response.json()

    assert response.status == 400
    assert status["message"].startswith("invalid object type: ")
