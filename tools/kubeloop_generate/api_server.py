"""Reads the documents of the API from the kube-apiserver that `make assets` installs.

Guarantees: all built-in group versions are enabled, and every one of them is in each document;
the processes have ended when the documents are returned.
See also: `document` (OpenAPI), `discovery` (resources), `openapi` (data for the embedded server).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec

from kubeloop.rest import path_request
from kubeloop.runtime import Client
from kubeloop_testing import ControlPlane

from .document import BadDocument

__all__ = ["Documents", "Json", "read_documents"]

Json = Mapping[str, Any]

_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_ATTEMPTS = 100  # to see all group versions in the index of /openapi/v3
_INTERVAL = 0.2  # seconds
_TIMEOUT = 60.0  # seconds


class Documents(msgspec.Struct, frozen=True):
    """What a server says about its API."""

    version: str  # of kube-apiserver: `v1.37.1`
    openapi: Json  # the response to /openapi/v2
    discovery: tuple[Json, ...]  # the aggregated responses to /api and /apis
    openapi_v3: tuple[Json, ...] = ()  # the response for each group version


def read_documents() -> Documents:
    """Start etcd and kube-apiserver, and read the documents.

    Raises:
        ControlPlaneFailed: the programs are missing, or did not start.
    """
    return asyncio.run(_read())


async def _read() -> Documents:
    async with ControlPlane(api_server_flags=["--runtime-config=api/all=true"]) as plane:
        client = plane.client()
        discovery = [await _get(client, path, _AGGREGATED) for path in ("/api", "/apis")]
        paths = await _v3_paths(client, _group_versions(discovery))
        return Documents(
            version=(await _get(client, "/version"))["gitVersion"],
            openapi=await _get(client, "/openapi/v2"),
            discovery=tuple(discovery),
            openapi_v3=tuple([await _get(client, f"/openapi/v3/{path}") for path in paths]),
        )


async def _get(client: Client, path: str, accept: str = "application/json") -> Json:
    response = await client.rest.send(path_request("GET", path, accept=accept, timeout=_TIMEOUT))
    document: Json = msgspec.json.decode(response.body, type=dict[str, Any])
    return document


async def _v3_paths(client: Client, expected: set[str]) -> list[str]:
    """The group versions of the index, once it has the `expected` ones.

    kube-apiserver is ready before its aggregator has added every group version.
    """
    for _ in range(_ATTEMPTS):
        paths = sorted((await _get(client, "/openapi/v3"))["paths"])
        if expected <= set(paths):
            return paths
        await asyncio.sleep(_INTERVAL)
    raise BadDocument(f"/openapi/v3 lacks {', '.join(sorted(expected - set(paths)))}")


def _group_versions(discovery: list[Json]) -> set[str]:
    return {
        f"apis/{name}/{version['version']}" if name else f"api/{version['version']}"
        for document in discovery
        for group in document["items"]
        for name in [group["metadata"].get("name", "")]
        for version in group["versions"]
    }
