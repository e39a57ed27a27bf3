"""A running server and a plain HTTP client."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, final

import aiohttp
import msgspec
import pytest

from kubeloop_testing.server import Service

MERGE = "application/merge-patch+json"


@final
class HTTPResponse:
    """A response: its code, its body and its headers."""

    def __init__(self, code: int, raw: bytes, headers: Any) -> None:
        self.code = code
        self.raw = raw
        self.headers = headers

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.raw)

    @property
    def warnings(self) -> list[str]:
        return list(self.headers.getall("Warning", []))

    @property
    def reason(self) -> str:
        return str(self.json.get("reason", ""))

    def __repr__(self) -> str:
        return f"HTTPResponse({self.code}, {self.raw[:300]!r})"


@final
class Api:
    """Sends HTTP requests to one server."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self.session = session

    async def __call__(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: Mapping[str, str] | None = None,
        **query: Any,
    ) -> HTTPResponse:
        raw = body if isinstance(body, bytes) or body is None else msgspec.json.encode(body)
        head = {"Content-Type": "application/json", **(headers or {})}
        params = {name.rstrip("_"): str(value) for name, value in query.items()}
        async with self.session.request(
            method, path, data=raw, headers=head, params=params
        ) as http:
            return HTTPResponse(http.status, await http.read(), http.headers)

    async def get(self, path: str, **more: Any) -> HTTPResponse:
        return await self("GET", path, **more)

    async def create(self, path: str, body: Any, **more: Any) -> HTTPResponse:
        response = await self("POST", path, body, **more)
        assert response.code == 201, response
        return response

    async def patch(
        self, path: str, body: Any, patch_type: str = MERGE, **more: Any
    ) -> HTTPResponse:
        return await self("PATCH", path, body, headers={"Content-Type": patch_type}, **more)

    async def events(self, path: str, count: int, **query: Any) -> list[dict[str, Any]]:
        """The first `count` events of a watch."""
        found: list[dict[str, Any]] = []
        async with self.watch(path, **query) as http:
            async for line in http.content:
                found.append(msgspec.json.decode(line))
                if len(found) == count:
                    break
        return found

    def watch(self, path: str, **query: Any) -> Any:
        params = {"watch": "1", **{name.rstrip("_"): str(value) for name, value in query.items()}}
        return self.session.get(path, params=params)


@pytest.fixture
async def server() -> AsyncIterator[Service]:
    async with Service() as server:
        yield server


@pytest.fixture
async def api(server: Service) -> AsyncIterator[Api]:
    async with aiohttp.ClientSession(server.url) as session:
        yield Api(session)
