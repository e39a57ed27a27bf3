"""HTTP through the API server to what runs behind a pod, a service or a node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

from kubeloop.rest import Answer, ByteStream, Params

from .collection import Collection

__all__ = ["Proxy", "proxy_name"]


def proxy_name(name: str, *, scheme: str = "", port: str | int = "") -> str:
    """How the API spells who is meant: `https:web:443`, `web:8080` or `web`."""
    if scheme:
        return f"{scheme}:{name}:{port}"
    return f"{name}:{port}" if port else name


@final
class Proxy:
    """One pod, service or node behind the API server: `pods.proxy("web", port=8080)`."""

    def __init__(self, collection: Collection, name: str) -> None:
        self._collection = collection
        self._name = name

    async def get(self, path: str = "", *, params: Params | None = None) -> bytes:
        """The body of `path`. Raises: ApiError. Safe to cancel."""
        return (await self.request("GET", path, params=params)).body

    async def request(
        self,
        method: str,
        path: str = "",
        *,
        params: Params | None = None,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        content_type: str = "",
    ) -> Answer:
        """Any request, and the whole answer. Raises: ApiError.
        A cancelled call may have reached the other side."""
        return await self._collection.send(
            method,
            name=self._name,
            subresource="proxy",
            suffix=path,
            params=params,
            headers=headers or {},
            body=body,
            content_type=content_type,
            accept="*/*",
        )

    async def stream(self, path: str = "", *, params: Params | None = None) -> ByteStream:
        """The body of `path` piece by piece."""
        request = await self._collection.request(
            "GET",
            name=self._name,
            subresource="proxy",
            suffix=path,
            params=params,
            accept="*/*",
        )
        return self._collection.rest.stream(request)
