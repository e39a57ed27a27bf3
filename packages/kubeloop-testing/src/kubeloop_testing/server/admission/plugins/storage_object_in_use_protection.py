"""The admission plugin StorageObjectInUseProtection: a finalizer for claims, volumes and classes.

See also: who removes the finalizers (`controllers.protection`).
"""

from __future__ import annotations

from typing import Final

from ...controllers.protection import PROTECTION
from ...request.calls import Call
from ...storage.store import Object
from ..plugin import Cluster, Plugin

__all__ = ["STORAGE_OBJECT_IN_USE_PROTECTION"]


def _mutate(_: Cluster, call: Call, obj: Object) -> Object:
    meta, finalizer = obj["metadata"], PROTECTION[call.served.storage]
    finalizers = meta.get("finalizers") or []
    if finalizer in finalizers:
        return obj
    return {**obj, "metadata": {**meta, "finalizers": [*finalizers, finalizer]}}


STORAGE_OBJECT_IN_USE_PROTECTION: Final = Plugin(
    "StorageObjectInUseProtection", mutate=dict.fromkeys(PROTECTION, _mutate)
)
