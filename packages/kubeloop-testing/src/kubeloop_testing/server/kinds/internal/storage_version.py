"""StorageVersion (internal.apiserver.k8s.io): flags of its strategy."""

from __future__ import annotations

from typing import Final

from ..kind import METADATA, Kind

__all__ = ["KIND"]


KIND: Final = Kind(
    "internal.apiserver.k8s.io",
    "StorageVersion",
    requires_version=True,
    kept_by_status=METADATA,
)
