"""Clients of subresources: status, scale, proxy, ….

See also: `object_client` (the verbs), `scale` (scales of any resource, by its name).
"""

# ruff: noqa: ASYNC109 - `timeout` uses the client's clock, and its error names the object

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, final

from kubeloop.rest import ByteStream, Params, Response, query_options

from .collection import Collection, ObjectCollection
from .lists import ACCEPT_TABLE, IncludeObject, Table, read_table
from .object_client import ObjectClient
from .object_codecs import ObjectCodec, TypedCodec

if TYPE_CHECKING:
    from kubeloop.wire.autoscaling.v1 import Scale

__all__ = ["Proxy", "ScaleSubresource", "SubresourceClient", "proxy_name", "scale_subresource"]

T = TypeVar("T")


class SubresourceClient(ObjectClient[T]):
    """One subresource of the objects of a collection: `pods.status`, `namespaces.finalize`.

    `create` posts to the subresource of the object with the name of its argument, and returns
    the response; without a name it is an InvalidArgument.
    """

    def __repr__(self) -> str:
        collection = self._objects.collection
        return f"{type(self).__name__}({collection}, {collection.subresource})"

    async def table(self, name: str, *, include_object: IncludeObject = "Metadata") -> Table:
        """The output of `kubectl get --subresource` of one object. Safe to cancel."""
        params = query_options(include_object=include_object)
        return read_table(
            await self._objects.collection.send(
                "get", name=name, params=params, accept=ACCEPT_TABLE
            )
        )


@final
class ScaleSubresource(SubresourceClient["Scale"]):
    """The number of replicas, as the `Scale` that all kinds share: `deployments.scale`.

    For a custom kind: `client.resource(Website).subresource("scale")`.
    """

    async def set(
        self,
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
        scale = await self.patch(
            name, patch, type="merge", dry_run=dry_run, field_manager=field_manager
        )
        if not wait or dry_run:
            return scale
        from .scale import wait_scaled

        return await wait_scaled(self._objects, name, replicas, timeout=timeout)


def scale_subresource(objects: ObjectCollection[Any]) -> ScaleSubresource:
    """The scales of objects of any kind."""
    from kubeloop.wire.autoscaling.v1 import Scale

    codec: ObjectCodec[Scale] = TypedCodec(Scale)
    return ScaleSubresource(ObjectCollection(objects.collection.at_subresource("scale"), codec))


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
