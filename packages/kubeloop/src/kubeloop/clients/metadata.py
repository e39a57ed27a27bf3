"""The metadata of objects of any kind.

Guarantees: only metadata is requested; if it sends whole objects, their
metadata is decoded.
See also: `resource` (whole objects).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, Unpack, final

import msgspec

from kubeloop.errors import DecodeError
from kubeloop.rest import Response
from kubeloop.wire import Model, Raw, RawList, Resource, ResourceInfo, complete, decode
from kubeloop.wire.meta.v1 import ObjectMeta
from kubeloop.wire.protobuf_messages import PROTOBUF

from .collection import Collection, ObjectCollection, RawCollection
from .lists import ObjectList, WatchEvent
from .object_codecs import NO_PROTOBUF, PatchBody, PatchType, decode_protobuf, is_protobuf
from .options import DeleteOptions, ListArguments, Propagation, Selectors, WriteOptions
from .resource import ResourceClient

__all__ = ["METADATA_AS_PROTOBUF", "MetadataClient", "PartialObjectMetadata"]

_GROUP = "g=meta.k8s.io;v=v1,application/json"
_ONE = f"application/json;as=PartialObjectMetadata;{_GROUP}"
_MANY = f"application/json;as=PartialObjectMetadataList;{_GROUP}"
# The `Accept` headers of one object and of a list.
METADATA_AS_PROTOBUF = (
    f"{PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1,{_ONE}",
    f"{PROTOBUF};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,{_MANY}",
)


class PartialObjectMetadata(Resource, group="meta.k8s.io", version="v1"):
    """The metadata of an object of any kind."""


class _View(msgspec.Struct):
    """Any object. Not a model, which would keep the fields that it does not know."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)


class _MessageView(Model):
    """The same of a protobuf message, whose fields have to be known."""

    metadata: ObjectMeta


@final
class MetadataCodec:
    """Decodes the metadata of any object."""

    accept_one, accept_many = _ONE, _MANY
    facts = rules = resource = None
    object_type = PartialObjectMetadata

    @property
    def protobuf(self) -> tuple[str, str]:
        from kubeloop.wire.protobuf_descriptors import is_available

        return METADATA_AS_PROTOBUF if is_available() else NO_PROTOBUF

    def decode(self, response: Response) -> PartialObjectMetadata:
        return _to_partial(response.decode(_View), response.request.action)

    def decode_item(self, item: Raw | bytes, of: RawList | None) -> PartialObjectMetadata:
        if is_protobuf(item, of):
            return _to_partial(decode_protobuf(_MessageView, item, of), "decode metadata")
        return _to_partial(decode(_View, item), "decode metadata")

    def to_dict(self, obj: PartialObjectMetadata) -> dict[str, Any]:
        return obj.to_dict()

    to_data = to_dict

    def refresh(self, obj: PartialObjectMetadata, by: PartialObjectMetadata) -> None:
        obj.metadata = by.metadata


def _to_partial(view: _View | _MessageView, action: str) -> PartialObjectMetadata:
    metadata = view.metadata
    named = metadata.name or metadata.generate_name
    if not (metadata.uid and metadata.creation_timestamp and named):
        raise DecodeError(f"{action}: not an object: it has no uid, creation time or name")
    found = PartialObjectMetadata(metadata=metadata)
    complete(found)
    return found


@final
class MetadataClient:
    """get, list, watch, patch and delete for metadata-only objects."""

    def __init__(self, collection: Collection) -> None:
        self._objects = ObjectCollection(collection, MetadataCodec())
        self._client = ResourceClient(self._objects)

    def in_namespace(self, namespace: str | None) -> MetadataClient:
        """A client of the same kind in another namespace."""
        return MetadataClient(self._objects.collection.in_namespace(namespace))

    @property
    def raw(self) -> RawCollection:
        """Lists and watches without decoding, for caches."""
        return self._objects.raw

    async def info(self) -> ResourceInfo:
        """As `ResourceClient.info`."""
        return await self._client.info()

    async def get(self, name: str, *, resource_version: str = "") -> PartialObjectMetadata:
        """As `ResourceClient.get`."""
        return await self._client.get(name, resource_version=resource_version)

    async def list(self, **options: Unpack[ListArguments]) -> ObjectList[PartialObjectMetadata]:
        """As `ResourceClient.list`."""
        return await self._client.list(**options)

    def each(self, **selectors: Unpack[Selectors]) -> AsyncGenerator[PartialObjectMetadata, None]:
        """As `ResourceClient.each`."""
        return self._client.each(**selectors)

    def watch(
        self, *, resource_version: str | None = None, **selectors: Unpack[Selectors]
    ) -> AsyncGenerator[WatchEvent[PartialObjectMetadata], None]:
        """As `ResourceClient.watch`."""
        return self._client.watch(resource_version=resource_version, **selectors)

    async def patch(
        self,
        name: str,
        patch: PatchBody,
        *,
        type: PatchType,  # noqa: A002 - the API's word
        **options: Unpack[WriteOptions],
    ) -> PartialObjectMetadata:
        """As `ResourceClient.patch`."""
        return await self._client.patch(name, patch, type=type, **options)

    async def delete(self, name: str, **options: Unpack[DeleteOptions]) -> None:
        """As `ResourceClient.delete`."""
        await self._client.delete(name, **options)

    async def delete_collection(
        self, *, propagation: Propagation | None = None, **selectors: Unpack[Selectors]
    ) -> None:
        """As `ResourceClient.delete_collection`."""
        await self._client.delete_collection(propagation=propagation, **selectors)

    def __repr__(self) -> str:
        return f"MetadataClient({self._objects})"
