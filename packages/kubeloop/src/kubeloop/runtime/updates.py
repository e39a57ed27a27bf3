"""Updates that most controllers need: the finalizer and the status of an object.

Guarantees: the finalizer is on the object before work begins that the cleanup has to undo, is
never added to an object that is being deleted, and is removed only after the cleanup has
succeeded; an equal status costs no request, and a different one is sent as a patch with the
resource version that was read.
See also: `kubeloop.meta` (finalizers and conditions), `kubeloop.clients` (other changes).
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, TypeVar

from kubeloop.clients import APIClient, ResourceClient
from kubeloop.errors import InvalidArgument, NotFound
from kubeloop.meta import (
    GroupVersionKind,
    ObjectKey,
    add_finalizer,
    has_finalizer,
    remove_finalizer,
)
from kubeloop.patches import merge_patch_between
from kubeloop.wire import Kind

__all__ = ["Cleanup", "ensure_finalizer", "update_status"]

T = TypeVar("T")

Cleanup: TypeAlias = Callable[[T], Awaitable[object] | object]
"""Called with an object that is being deleted, plain or async; must be idempotent."""


async def ensure_finalizer(client: APIClient, obj: T, name: str, cleanup: Cleanup[T]) -> T | None:
    """Let `cleanup` run before `obj` is removed; returns the object, None if it is deleted.

    Adds the finalizer `name` to an object that has none. If the object is being deleted, calls
    `cleanup` and then removes the finalizer. If `cleanup` raises, the object stays until the
    next call; so it must be idempotent. A cancelled call may have changed the object.
    """
    resource = _client_of(client, obj)
    if not _is_deleted(obj):
        if has_finalizer(_any(obj), name):
            return obj
        return await _add_finalizer(resource, obj, name)
    if has_finalizer(_any(obj), name):
        done = cleanup(obj)
        if inspect.isawaitable(done):
            await done
        await _remove_finalizer(resource, obj, name)
    return None


async def _add_finalizer(resource: ResourceClient[T], obj: T, name: str) -> T | None:
    def add(current: T) -> None:
        if not _is_deleted(current) and _uid(current) == _uid(obj):
            add_finalizer(_any(current), name)

    try:
        changed = await resource.modify(ObjectKey.of(_any(obj)).name, add)
    except NotFound:  # the cache was behind
        return None
    return changed if has_finalizer(_any(changed), name) else None


async def _remove_finalizer(resource: ResourceClient[T], obj: T, name: str) -> None:
    def remove(current: T) -> None:
        if _uid(current) == _uid(obj):  # not from a re-created object
            remove_finalizer(_any(current), name)

    with contextlib.suppress(NotFound):  # an earlier call has removed it
        await resource.modify(ObjectKey.of(_any(obj)).name, remove)


async def update_status(client: APIClient, obj: T, *, before: T | None = None) -> T:
    """Write the status of `obj`, if it differs; returns the object as the server has it.

    `before` is the object as it was read; without it the object is read from the server.
    Returns `obj` if nothing is sent.

    Raises: Conflict when the object has changed since it was read, NotFound.
    A cancelled call may have changed it.
    """
    resource = _client_of(client, obj)
    name = ObjectKey.of(_any(obj)).name
    if before is None:
        before = await resource.get(name)
    change = merge_patch_between(_status(before), _status(obj))
    if not change:
        return obj
    patch: dict[str, Any] = {"status": change}
    version = str(_metadata(obj, "resourceVersion", "resource_version") or "")
    if version:
        patch["metadata"] = {"resourceVersion": version}
    return await resource.status.patch(name, patch, type="merge")


def _client_of(client: APIClient, obj: T) -> ResourceClient[T]:
    """The client of an object's kind and namespace, for objects of its type."""
    namespace = ObjectKey.of(_any(obj)).namespace or None
    kind: Any = type(obj)
    if isinstance(obj, dict):
        kind = GroupVersionKind.of(obj.get("apiVersion") or "", obj.get("kind") or "")
    resource: ResourceClient[T] = client.resource(kind, namespace=namespace)
    return resource


def _status(obj: object) -> dict[str, Any]:
    if isinstance(obj, Kind):
        return dict(obj.to_dict().get("status") or {})
    if isinstance(obj, dict):
        return dict(obj.get("status") or {})
    raise InvalidArgument(f"update the status of a {type(obj).__name__}: not an object of the API")


def _is_deleted(obj: object) -> bool:
    return bool(_metadata(obj, "deletionTimestamp", "deletion_timestamp"))


def _uid(obj: object) -> str:
    return str(_metadata(obj, "uid", "uid") or "")


def _metadata(obj: object, field: str, attribute: str) -> object:
    if isinstance(obj, dict):
        return (obj.get("metadata") or {}).get(field)
    return getattr(_any(obj).metadata, attribute)


def _any(obj: object) -> Any:
    # T has no bound: models and dicts have no common base that mypy could check.
    return obj
