"""Writing an object's status: only when there is something new in it, and only that.

Promises: an equal status costs no request; what is sent is the difference, and only if the
object is still the one that was read.
Elsewhere: conditions (`kubeloop.meta`), changes of the rest (`kubeloop.clients`).
"""

from __future__ import annotations

from typing import Any, TypeVar

from kubeloop.clients import APIClient
from kubeloop.errors import InvalidArgument
from kubeloop.meta import ObjectKey
from kubeloop.patches import merge_patch_between
from kubeloop.wire import Kind

from .finalizer import client_of

__all__ = ["update_status"]

T = TypeVar("T")


async def update_status(client: APIClient, obj: T, *, before: T | None = None) -> T:
    """Make the server's status what `obj` says; returns the object as the server has it.

    `before` is the object as it was read; without it the server is asked. Nothing is sent
    when its status is the same, and `obj` comes back.

    Raises: Conflict when the object has changed since it was read, NotFound.
    A cancelled call may have changed it.
    """
    at = client_of(client, obj)
    name = ObjectKey.of(_any(obj)).name
    known = before if before is not None else await at.get(name)
    change = merge_patch_between(_status(known), _status(obj))
    if not change:
        return obj
    patch: dict[str, Any] = {"status": change}
    version = _version(obj)
    if version:
        patch["metadata"] = {"resourceVersion": version}
    return await at.status.patch(name, patch, type="merge")


def _status(obj: object) -> dict[str, Any]:
    if isinstance(obj, Kind):
        return dict(obj.to_dict().get("status") or {})
    if isinstance(obj, dict):
        return dict(obj.get("status") or {})
    raise InvalidArgument(f"write the status of a {type(obj).__name__}: it is no object of the API")


def _version(obj: object) -> str:
    if isinstance(obj, dict):
        return str((obj.get("metadata") or {}).get("resourceVersion") or "")
    return str(_any(obj).metadata.resource_version or "")


def _any(obj: object) -> Any:
    return obj
