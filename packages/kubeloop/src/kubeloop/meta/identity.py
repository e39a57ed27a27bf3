"""What identifies a kind, a resource and an object: small values, hashable and ordered.

Guarantees: equal values have equal hashes; `parse` rejects invalid text and is the inverse of
`str`; no function sends a request.
See also: which kind is served as which resource (`kubeloop.discovery`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, Self, final

import msgspec

from kubeloop.wire.errors import InvalidArgument

__all__ = [
    "GroupKind",
    "GroupResource",
    "GroupVersion",
    "GroupVersionKind",
    "GroupVersionResource",
    "HasMetadata",
    "Named",
    "ObjectKey",
]


class Named(Protocol):
    """The part of an object's metadata that identifies it."""

    @property
    def name(self) -> str: ...
    @property
    def namespace(self) -> str: ...


class HasMetadata(Protocol):
    """A typed object, or a view of one."""

    @property
    def metadata(self) -> Named: ...


@final
class GroupVersion(msgspec.Struct, frozen=True, order=True, cache_hash=True):
    """An apiVersion: `apps/v1`, or `v1` for the core group, whose name is empty."""

    group: str = ""
    version: str = ""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read an apiVersion; empty text is the empty group and version.

        Raises:
            InvalidArgument: more than one slash.
        """
        group, slash, version = text.rpartition("/")
        if "/" in group:
            raise InvalidArgument(
                f"apiVersion {text!r}: more than one '/', expected 'group/version'"
            )
        return cls(group, version) if slash else cls("", text)

    def with_kind(self, kind: str) -> GroupVersionKind:
        return GroupVersionKind(self.group, self.version, kind)

    def with_resource(self, resource: str) -> GroupVersionResource:
        return GroupVersionResource(self.group, self.version, resource)

    def __str__(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version


@final
class GroupKind(msgspec.Struct, frozen=True, order=True, cache_hash=True):
    """A kind in any version, written `Deployment.apps`."""

    group: str
    kind: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `Kind.group` or `Kind`; the first dot divides."""
        kind, _, group = text.partition(".")
        return cls(group, kind)

    def with_version(self, version: str) -> GroupVersionKind:
        return GroupVersionKind(self.group, version, self.kind)

    def __str__(self) -> str:
        return f"{self.kind}.{self.group}" if self.group else self.kind


@final
class GroupVersionKind(msgspec.Struct, frozen=True, order=True, cache_hash=True):
    """A kind in one version, written `apps/v1, Kind=Deployment`."""

    group: str
    version: str
    kind: str

    @classmethod
    def of(cls, api_version: str, kind: str) -> Self:
        """The two fields that every object carries. Raises `InvalidArgument` as `parse` does."""
        parsed = GroupVersion.parse(api_version)
        return cls(parsed.group, parsed.version, kind)

    @property
    def api_version(self) -> str:
        return str(self.group_version)

    @property
    def group_version(self) -> GroupVersion:
        return GroupVersion(self.group, self.version)

    @property
    def group_kind(self) -> GroupKind:
        return GroupKind(self.group, self.kind)

    def __str__(self) -> str:
        return f"{self.api_version}, Kind={self.kind}"


@final
class GroupResource(msgspec.Struct, frozen=True, order=True, cache_hash=True):
    """A resource in any version, written `deployments.apps`."""

    group: str
    resource: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `resource.group` or `resource`; the first dot divides."""
        resource, _, group = text.partition(".")
        return cls(group, resource)

    def with_version(self, version: str) -> GroupVersionResource:
        return GroupVersionResource(self.group, version, self.resource)

    def __str__(self) -> str:
        return f"{self.resource}.{self.group}" if self.group else self.resource


@final
class GroupVersionResource(msgspec.Struct, frozen=True, order=True, cache_hash=True):
    """A resource in one version, written `apps/v1, Resource=deployments`."""

    group: str
    version: str
    resource: str

    @classmethod
    def of(cls, api_version: str, resource: str) -> Self:
        """The same from an apiVersion. Raises `InvalidArgument` as `GroupVersion.parse` does."""
        parsed = GroupVersion.parse(api_version)
        return cls(parsed.group, parsed.version, resource)

    @property
    def api_version(self) -> str:
        return str(self.group_version)

    @property
    def group_version(self) -> GroupVersion:
        return GroupVersion(self.group, self.version)

    @property
    def group_resource(self) -> GroupResource:
        return GroupResource(self.group, self.resource)

    def __str__(self) -> str:
        return f"{self.api_version}, Resource={self.resource}"


@final
class ObjectKey(msgspec.Struct, frozen=True, gc=False, order=True, cache_hash=True):
    """Namespace and name of an object: `shop/web`, or `node-7` without a namespace."""

    namespace: str
    name: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `namespace/name` or `name`.

        Raises:
            InvalidArgument: more than one slash.
        """
        namespace, _, name = text.rpartition("/")
        if "/" in namespace:
            raise InvalidArgument(
                f"object key {text!r}: more than one '/', expected 'namespace/name'"
            )
        return cls(namespace, name)

    @classmethod
    def of(cls, obj: HasMetadata | Mapping[str, object]) -> Self:
        """The key of a typed object, a view of one, or a dict.

        Raises:
            InvalidArgument: it has no metadata.
        """
        if isinstance(obj, Mapping):
            return cls._of_dict(obj)
        try:
            metadata = obj.metadata
            return cls(metadata.namespace, metadata.name)
        except AttributeError as error:
            raise _without_metadata(obj) from error

    @classmethod
    def _of_dict(cls, obj: Mapping[str, object]) -> Self:
        metadata = obj.get("metadata")
        if metadata is not None and not isinstance(metadata, Mapping):
            found = type(metadata).__name__
            raise InvalidArgument(f"object key: expected an object as metadata, found a {found}")
        if metadata is None:
            raise _without_metadata(obj)
        namespace, name = metadata.get("namespace") or "", metadata.get("name") or ""
        if not isinstance(namespace, str) or not isinstance(name, str):
            raise InvalidArgument("object key: metadata.name and metadata.namespace must be text")
        return cls(namespace, name)

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


def _without_metadata(obj: object) -> InvalidArgument:
    return InvalidArgument(f"object key of a {type(obj).__name__}: it has no metadata")
