"""A scripted server that records requests."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from kubeloop.errors import api_error, failure
from kubeloop.rest import Request

V2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
JSON = "application/json"


class ScriptedResponse(msgspec.Struct, frozen=True):
    body: bytes
    content_type: str = JSON


class ScriptedServer:
    """Responds by path; a number is an error status, any other path a 404."""

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {}
        self.received: list[Request] = []

    def say(self, path: str, answer: Any, content_type: str = JSON) -> None:
        self.answers[path] = (
            answer
            if isinstance(answer, int | Exception)
            else ScriptedResponse(msgspec.json.encode(answer), content_type)
        )

    async def send(self, request: Request, /) -> ScriptedResponse:
        self.received.append(request)
        answer = self.answers.get(request.path, 404)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, int):
            reason = {403: "Forbidden", 404: "NotFound", 503: "ServiceUnavailable"}[answer]
            raise api_error(request.action, failure(reason, "no"))
        assert isinstance(answer, ScriptedResponse)
        return answer

    @property
    def paths(self) -> list[str]:
        return [request.path for request in self.received]


class Slow:
    """A server whose responses take a while."""

    def __init__(self, server: ScriptedServer) -> None:
        self._server = server
        self.has_answered = asyncio.Event()
        self.may_arrive = asyncio.Event()

    async def send(self, request: Request, /) -> ScriptedResponse:
        answer = await self._server.send(request)
        self.has_answered.set()
        await self.may_arrive.wait()
        return answer


@pytest.fixture
def server() -> ScriptedServer:
    return ScriptedServer()


def resource(
    name: str,
    kind: str,
    *,
    parts: list[dict[str, Any]] | None = None,
    namespaced: bool = True,
    short: list[str] | None = None,
    categories: list[str] | None = None,
) -> dict[str, Any]:
    """A resource of aggregated discovery."""
    return {
        "resource": name,
        "responseKind": {"group": "", "version": "", "kind": kind},
        "scope": "Namespaced" if namespaced else "Cluster",
        "singularResource": kind.lower(),
        "verbs": ["get", "list"],
        "shortNames": short or [],
        "categories": categories or [],
        "subresources": parts or [],
    }


def group(name: str, **versions: Any) -> dict[str, Any]:
    """A group of aggregated discovery; a version is its resources, or `Stale`."""
    return {
        "metadata": {"name": name},
        "versions": [
            {"version": version, "freshness": "Stale", "resources": []}
            if resources == "Stale"
            else {"version": version, "freshness": "Current", "resources": resources}
            for version, resources in versions.items()
        ],
    }


def aggregated(*groups: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "APIGroupDiscoveryList", "items": list(groups)}


def legacy_groups(*groups: tuple[str, list[str]]) -> dict[str, Any]:
    return {
        "kind": "APIGroupList",
        "groups": [
            {
                "name": name,
                "versions": [
                    {"groupVersion": f"{name}/{each}", "version": each} for each in versions
                ],
                "preferredVersion": {
                    "groupVersion": f"{name}/{versions[0]}",
                    "version": versions[0],
                },
            }
            for name, versions in groups
        ],
    }


def legacy_resources(version: str, *rows: tuple[str, str]) -> dict[str, Any]:
    return {
        "kind": "APIResourceList",
        "groupVersion": version,
        "resources": [
            {
                "name": name,
                "kind": kind,
                "singularName": "",
                "namespaced": True,
                "verbs": ["get"],
            }
            for name, kind in rows
        ],
    }


@pytest.fixture
def modern(server: ScriptedServer) -> ScriptedServer:
    """A server with aggregated discovery: pods, and deployments in apps."""
    scale = {
        "subresource": "scale",
        "responseKind": {"group": "autoscaling", "version": "v1", "kind": "Scale"},
        "verbs": ["get"],
    }
    server.say("/api", aggregated(group("", v1=[resource("pods", "Pod", short=["po"])])), V2)
    server.say(
        "/apis",
        aggregated(
            group(
                "apps",
                v1=[
                    resource(
                        "deployments",
                        "Deployment",
                        parts=[scale],
                        short=["deploy"],
                        categories=["all"],
                    )
                ],
            )
        ),
        V2,
    )
    return server


@pytest.fixture
def old(server: ScriptedServer) -> ScriptedServer:
    """A server with legacy discovery only: pods, and deployments in apps/v1."""
    server.say("/api", {"kind": "APIVersions", "versions": ["v1"]})
    server.say("/apis", legacy_groups(("apps", ["v1"])))
    server.say("/api/v1", legacy_resources("v1", ("pods", "Pod")))
    server.say("/apis/apps/v1", legacy_resources("apps/v1", ("deployments", "Deployment")))
    return server
