"""Work that has to be done before an object may go.

Promises: the finalizer is there before the work begins that it cleans up after, and is not
put on an object that is going already; it is removed when the cleanup has succeeded and not
before, whatever else changed meanwhile; an object that is gone is as good as cleaned up.
Elsewhere: the list itself (`kubeloop.meta`).
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, TypeVar

from kubeloop.clients import APIClient, ResourceClient
from kubeloop.errors import NotFound
from kubeloop.meta import (
    GroupVersionKind,
    ObjectKey,
    add_finalizer,
    has_finalizer,
    remove_finalizer,
)

__all__ = ["Cleanup", "finalized"]

T = TypeVar("T")

Cleanup: TypeAlias = Callable[[T], Awaitable[object] | object]


async def finalized(client: APIClient, obj: T, name: str, cleanup: Cleanup[T]) -> T | None:
    """Have `cleanup` run before `obj` goes: the object to work on, None when it goes.

    An object that stays gets the finalizer `name`, if it has it not. One that is being
    deleted is cleaned up, plain or async, and let go. What `cleanup` raises leaves here, and
    the object waits for the next try; so it must be able to run twice.
    A cancelled call may have changed the object.
    """
    at = client_of(client, obj)
    if not _is_going(obj):
        if has_finalizer(_any(obj), name):
            return obj
        return await _added(at, obj, name)
    if has_finalizer(_any(obj), name):
        done = cleanup(obj)
        if inspect.isawaitable(done):
            await done
        await _let_go(at, obj, name)
    return None


async def _added(at: ResourceClient[T], obj: T, name: str) -> T | None:
    try:
        now = await at.modify(ObjectKey.of(_any(obj)).name, lambda there: _add(there, obj, name))
    except NotFound:  # the cache was behind
        return None
    return now if has_finalizer(_any(now), name) else None


def _add(there: T, seen: T, name: str) -> None:
    if not _is_going(there) and _uid(there) == _uid(seen):
        add_finalizer(_any(there), name)


async def _let_go(at: ResourceClient[T], obj: T, name: str) -> None:
    def remove(there: T) -> None:
        if _uid(there) == _uid(obj):  # not from another of the same name
            remove_finalizer(_any(there), name)

    with contextlib.suppress(NotFound):  # it went with an earlier try
        await at.modify(ObjectKey.of(_any(obj)).name, remove)


def client_of(client: APIClient, obj: T) -> ResourceClient[T]:
    """The client of an object's kind and namespace, in the form that the object has."""
    namespace = ObjectKey.of(_any(obj)).namespace or None
    if isinstance(obj, dict):
        kind = GroupVersionKind.of(obj.get("apiVersion") or "", obj.get("kind") or "")
        found: ResourceClient[Any] = client.resource(kind, namespace=namespace)
        return found
    return client.resource(type(_any(obj)), namespace=namespace)


def _is_going(obj: object) -> bool:
    return bool(_metadata(obj, "deletionTimestamp", "deletion_timestamp"))


def _uid(obj: object) -> str:
    return str(_metadata(obj, "uid", "uid") or "")


def _metadata(obj: object, wire: str, attribute: str) -> object:
    if isinstance(obj, dict):
        return (obj.get("metadata") or {}).get(wire)
    return getattr(_any(obj).metadata, attribute)


def _any(obj: object) -> Any:
    return obj
