"""OpenAPI v3: the index and its documents."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kubeloop.discovery import DocumentCache, OpenApiV3
from kubeloop.errors import InvalidArgument
from kubeloop.meta import GroupVersion

from .conftest import ScriptedServer, Slow


@pytest.fixture
def described(server: ScriptedServer) -> ScriptedServer:
    url = "/openapi/v3/apis/apps/v1?hash=ABC"
    server.say("/openapi/v3", {"paths": {"apis/apps/v1": {"serverRelativeURL": url}}})
    server.say("/openapi/v3/apis/apps/v1", {"openapi": "3.0.0"})
    return server


async def test_the_index_names_documents_and_their_hashes(described: ScriptedServer) -> None:
    """DSC-15: server version: GET `/version`, JSON. OpenAPI v2."""
    openapi = OpenApiV3(described)

    paths = await openapi.paths()
    await openapi.paths()

    assert paths["apis/apps/v1"].hash == "ABC"
    assert described.paths == ["/openapi/v3"]


async def test_an_index_that_was_on_its_way_when_it_was_invalidated_is_not_kept(
    described: ScriptedServer,
) -> None:
    server = Slow(described)
    openapi = OpenApiV3(server)
    loading = asyncio.create_task(openapi.paths())
    await server.has_answered.wait()

    openapi.invalidate()
    server.may_arrive.set()
    await loading

    await openapi.paths()
    assert described.paths == ["/openapi/v3"] * 2


async def test_a_document_is_asked_for_under_its_hash(described: ScriptedServer) -> None:
    """DSC-15: server version: GET `/version`, JSON. OpenAPI v2."""
    document = await OpenApiV3(described).document(GroupVersion("apps", "v1"))

    assert document == {"openapi": "3.0.0"}
    assert described.received[-1].url("http://h") == "http://h/openapi/v3/apis/apps/v1?hash=ABC"


async def test_a_document_under_a_hash_is_kept(described: ScriptedServer, tmp_path: Path) -> None:
    """DSC-28: Stack: disk cache on top of memory cache on top of the live client."""
    for _ in range(2):
        await OpenApiV3(described, cache=DocumentCache(tmp_path)).document("apis/apps/v1")

    assert described.paths.count("/openapi/v3/apis/apps/v1") == 1


async def test_a_missing_document_is_an_error(described: ScriptedServer) -> None:
    with pytest.raises(InvalidArgument, match="api/v1"):
        await OpenApiV3(described).document(GroupVersion("", "v1"))
