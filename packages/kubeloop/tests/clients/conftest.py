"""An embedded server, and a REST client that records requests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast

import msgspec
import pytest

from kubeloop.clients import APIClient
from kubeloop.config import ClusterConfig
from kubeloop.kit import Clock, SystemClock
from kubeloop.rest import MAX_RETRIES, JsonCodec, Request, Response, RESTClient
from kubeloop.wire.core.v1 import Container, Pod, PodSpec
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop_testing.server.service import Service
from tests.support.clocks import FastClock


class Recorder:
    """Replaces a REST client: records requests, returns scripted responses."""

    def __init__(self, *answers: Any, clock: Clock | None = None) -> None:
        self.answers = list(answers)
        self.requests: list[Request] = []
        self.clock: Clock = clock or SystemClock()
        self.config = ClusterConfig(server="http://h", namespace="home")
        self.codec = JsonCodec()
        self.max_retries = MAX_RETRIES

    async def send(self, request: Request) -> Response:
        self.requests.append(request)
        answer = self.answers.pop(0) if self.answers else {"kind": "Thing", "metadata": {}}
        if isinstance(answer, Exception):
            raise answer
        headers = {"Content-Type": "application/json"}
        return Response(request, 200, headers, msgspec.json.encode(answer), JsonCodec())

    @property
    def last(self) -> Request:
        return self.requests[-1]

    @property
    def line(self) -> str:
        """The last request as one line."""
        return f"{self.last.method} {self.last.url('')}"

    @property
    def body(self) -> Any:
        return msgspec.json.decode(self.last.body or b"null")

    @property
    def client(self) -> APIClient:
        return APIClient(rest=cast("RESTClient", self))


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
async def server() -> AsyncIterator[Service]:
    async with Service() as running:
        yield running


@pytest.fixture
async def client(server: Service) -> AsyncIterator[APIClient]:
    async with APIClient(ClusterConfig(server=server.url, namespace="default")) as connected:
        yield connected


@pytest.fixture
async def hasty(server: Service) -> AsyncIterator[APIClient]:
    """A client that does not wait a second before a retry."""
    config = ClusterConfig(server=server.url, namespace="default")
    async with APIClient(config, clock=FastClock()) as connected:
        yield connected


async def until_watched(server: Service) -> None:
    """Wait until a watch is open."""
    while not any(seen.verb == "watch" for seen in server.faults.requests):
        await asyncio.sleep(0)


def a_pod(name: str = "web", **labels: str) -> Pod:
    return Pod(
        metadata=ObjectMeta(name=name, labels=labels),
        spec=PodSpec(containers=[Container(name="main", image="app:1")]),
    )


CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "websites.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "websites", "singular": "website", "kind": "Website"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "x-kubernetes-preserve-unknown-fields": True,
                            },
                            "status": {
                                "type": "object",
                                "x-kubernetes-preserve-unknown-fields": True,
                            },
                        },
                    }
                },
                "subresources": {
                    "status": {},
                    "scale": {
                        "specReplicasPath": ".spec.replicas",
                        "statusReplicasPath": ".status.replicas",
                    },
                },
            }
        ],
    },
}
