"""A reconcile context from plain objects, for unit tests of a reconcile function.

Guarantees: what the function reads and writes is a real API: defaults, validation, versions and
conflicts are those of the embedded server, or of the client that is passed.
See also: `kubeloop.runtime.Context`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

from kubeloop.crd import crd_of
from kubeloop.errors import AlreadyExists, InvalidArgument
from kubeloop.kit import Clock
from kubeloop.meta import GroupVersionKind, ObjectKey
from kubeloop.runtime import Client, Context, open_context
from kubeloop.wire import Resource, resource_for, resource_of
from kubeloop.wire.core.v1 import Namespace
from kubeloop.wire.meta.v1 import ObjectMeta

from .api_server import APIServer

if TYPE_CHECKING:
    from kubeloop.cache import Watchable
    from kubeloop.events import Recorder

__all__ = ["reconcile_context"]


@asynccontextmanager
async def reconcile_context(
    *objects: Resource | Mapping[str, Any],
    kinds: Iterable[Watchable] = (),
    client: Client | None = None,
    key: ObjectKey | None = None,
    recorder: Recorder | None = None,
    attempt: int = 0,
    clock: Clock | None = None,
) -> AsyncIterator[Context]:
    """A `Context` on a server that has `objects`; call your function with it.

        async with reconcile_context(site, kinds=[Deployment]) as ctx:
            await reconcile(ctx.key, ctx)
            assert await ctx.client.resource(Deployment, namespace="shop").exists("web")

    The objects are created, with their status, and cached with the other `kinds` that the
    function reads. CRDs of your classes and missing namespaces are created, too. `ctx.key` is that
    of the first object unless `key` is given. Without a `client`, an embedded server runs for the
    block. Pass a `FakeRecorder` to see the events, and a `ManualClock` to set the time. Before a
    second call, `await ctx.fresh(kind, key)` waits until the caches have the writes of the first.
    """
    if key is None and not objects:
        raise InvalidArgument("reconcile_context: without objects, give the key")
    read = dict.fromkeys([*(_kind_of(each) for each in objects), *kinds])
    async with AsyncExitStack() as stack:
        if client is None:
            server = await stack.enter_async_context(APIServer())
            client = await stack.enter_async_context(server.client())
        await _install(client, read)
        created = [await _create(client, each) for each in objects]
        yield await stack.enter_async_context(
            open_context(
                client,
                *read,
                key=key or ObjectKey.of(created[0]),
                recorder=recorder,
                attempt=attempt,
                clock=clock,
            )
        )


def _kind_of(obj: Resource | Mapping[str, Any]) -> Watchable:
    if isinstance(obj, Resource):
        return type(obj)
    return GroupVersionKind.of(str(obj.get("apiVersion") or ""), str(obj.get("kind") or ""))


async def _install(client: Client, kinds: Iterable[Watchable]) -> None:
    """Apply the CRDs of classes that are not built in."""
    for kind in kinds:
        if isinstance(kind, type):
            info = resource_of(kind)
            if resource_for(info.group, info.version, info.kind) is None:
                await client.apply(crd_of(kind), force=True)


async def _create(client: Client, obj: Resource | Mapping[str, Any]) -> dict[str, Any]:
    data = obj.to_dict() if isinstance(obj, Resource) else dict(obj)
    at = client.dynamic.resource(str(data.get("apiVersion") or ""), str(data.get("kind") or ""))
    if (await at.info()).namespaced:
        await _ensure_namespace(client, (data.get("metadata") or {}).get("namespace"))
    created = await at.create({key: value for key, value in data.items() if key != "status"})
    if not data.get("status"):
        return created
    metadata = created["metadata"]
    at = at.in_namespace(metadata.get("namespace"))
    return await at.status.patch(metadata["name"], {"status": data["status"]}, type="merge")


async def _ensure_namespace(client: Client, name: str | None) -> None:
    if name:
        try:
            await client.core_v1.namespaces().create(Namespace(metadata=ObjectMeta(name=name)))
        except AlreadyExists:
            return
