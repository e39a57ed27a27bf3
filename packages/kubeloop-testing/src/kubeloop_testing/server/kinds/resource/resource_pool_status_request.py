"""ResourcePoolStatusRequest (resource.k8s.io): flags of its strategy."""

from __future__ import annotations

from typing import Final

from ..kind import METADATA, Kind

__all__ = ["KIND"]


KIND: Final = Kind(
    "resource.k8s.io",
    "ResourcePoolStatusRequest",
    requires_version=True,
    returns_deleted=True,
    kept_by_status=METADATA,
)
