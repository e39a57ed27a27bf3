"""What functions of a whole cluster need of its client.

See also: `client` (which has it), `access`, `apply_set`, `ownership` (which need it).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from kubeloop.meta import GroupVersionKind, GroupVersionResource
from kubeloop.wire import Kind
from kubeloop.wire.model import KindMeta

if TYPE_CHECKING:
    from kubeloop.discovery import DeferredMapper, DiscoveryClient

    from .metadata import MetadataClient

__all__ = ["AnyKind", "Cluster"]

AnyKind = type[Kind] | KindMeta | str | GroupVersionResource | GroupVersionKind


class Cluster(Protocol):
    """The discovery of a cluster, and the metadata of its objects."""

    @property
    def namespace(self) -> str:
        """The namespace of the configuration."""
        ...

    @property
    def mapper(self) -> DeferredMapper: ...

    @property
    def discovery(self) -> DiscoveryClient: ...

    def metadata(
        self, what: AnyKind, kind: str = "", /, *, namespace: str | None = None
    ) -> MetadataClient: ...
