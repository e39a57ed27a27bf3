"""Clients of subresources: status, scale, proxy, ….

See also: `resource` (actions such as evictions), `scale` (scales of any resource).
"""

# ruff: noqa: ASYNC109 - `timeout` uses the client's clock, and its error names the object

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Generic, TypeVar, Unpack, final

from kubeloop.rest import ByteStream, Params, Response

from .collection import Collection
from .lists import IncludeObject, Table
from .object_codecs import PatchBody, PatchType
from .options import WriteOptions

if TYPE_CHECKING:
    from kubeloop.wire.autoscaling.v1 import Scale

    from .resource import ResourceClient

__all__ = ["Proxy", "SubresourceClient", "proxy_name"]

T = TypeVar("T")


@final
class SubresourceClient(Generic[T]):
    """One subresource of the objects of a collection: `pods.status`, `deployments.scale`."""

    def __init__(self, client: ResourceClient[T]) -> None:
        self._client = client

    def __repr__(self) -> str:
        collection = self._client._collection
        return f"SubresourceClient({collection}, {collection.subresource})"

    async def get(self, name: str, *, resource_version: str = "") -> T:
        """As `ResourceClient.get`."""
        return await self._client.get(name, resource_version=resource_version)

    async def table(self, name: str, *, include_object: IncludeObject = "Metadata") -> Table:
        """The output of `kubectl get --subresource` of one object. Safe to cancel."""
        return await self._client.table(name, include_object=include_object)

    async def create(self, obj: T, **options: Unpack[WriteOptions]) -> T:
        """Post `obj` to the subresource of the object with its name; returns the response.

        Raises: InvalidArgument without a name. A cancelled call may have been executed.
        """
        return await self._client.create(obj, **options)

    async def update(
        self, obj: T, *, unconditional: bool = False, **options: Unpack[WriteOptions]
    ) -> T:
        """As `ResourceClient.update`."""
        return await self._client.update(obj, unconditional=unconditional, **options)

    async def patch(
        self,
        name: str,
        patch: PatchBody,
        *,
        type: PatchType,  # noqa: A002 - the API's word
        force: bool | None = None,
        **options: Unpack[WriteOptions],
    ) -> T:
        """As `ResourceClient.patch`."""
        return await self._client.patch(name, patch, type=type, force=force, **options)

    async def apply(self, obj: T, *, force: bool = False, **options: Unpack[WriteOptions]) -> T:
        """As `ResourceClient.apply`."""
        return await self._client.apply(obj, force=force, **options)

    def edit(
        self,
        name: str,
        *,
        strict: bool = False,
        timeout: float | None = 30.0,
        **options: Unpack[WriteOptions],
    ) -> AbstractAsyncContextManager[T]:
        """As `ResourceClient.edit`."""
        return self._client.edit(name, strict=strict, timeout=timeout, **options)

    async def modify(
        self,
        name: str,
        function: Callable[[T], T | Awaitable[T | None] | None],
        *,
        timeout: float | None = 30.0,
        **options: Unpack[WriteOptions],
    ) -> T:
        """As `ResourceClient.modify`."""
        return await self._client.modify(name, function, timeout=timeout, **options)

    async def set(
        self: SubresourceClient[Scale],
        name: str,
        replicas: int,
        *,
        dry_run: bool = False,
        field_manager: str = "",
        expected_version: str = "",
        wait: bool = False,
        timeout: float | None = 600.0,
    ) -> Scale:
        """Set the number of replicas: `deployments.scale.set("web", 3)`.

        With `wait`, return when there are as many pods, and those of a built-in kind are ready;
        or when another writer has set another number, which the returned scale has.
        Raises: Conflict when the object has another version than `expected_version`; WaitTimeout
        after `timeout` seconds of waiting. A cancelled call may have changed it.
        """
        patch: dict[str, object] = {"spec": {"replicas": replicas}}
        if expected_version:
            patch["metadata"] = {"resourceVersion": expected_version}
        scale = await self._client.patch(
            name, patch, type="merge", dry_run=dry_run, field_manager=field_manager
        )
        if not wait or dry_run:
            return scale
        from .scale import wait_scaled

        return await wait_scaled(self._client, name, replicas, timeout=timeout)


def proxy_name(name: str, *, scheme: str = "", port: str | int = "") -> str:
    """The name in the path of a proxy: `https:web:443`, `web:8080` or `web`."""
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
    ) -> Response:
        """Send any request; returns the whole response. Raises: ApiError.

        A cancelled call may have reached the pod, service or node.
        """
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
        """The body of `path` in chunks."""
        request = await self._collection.request(
            "GET",
            name=self._name,
            subresource="proxy",
            suffix=path,
            params=params,
            accept="*/*",
        )
        return self._collection.rest.stream(request)
