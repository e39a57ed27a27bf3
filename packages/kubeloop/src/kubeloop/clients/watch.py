"""Reads the objects of a collection one by one: all of them, or their changes.

Guarantees: a watch that breaks is resumed at its last version; a page or an event that protobuf
cannot express is read again as JSON, and no object is lost or repeated by that.
See also: `paging` (pages), `formats` (JSON or protobuf), `resource` (`each` and `watch`).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from typing import Any, TypeVar, Unpack, cast

from kubeloop.errors import DecodeError, KubeError
from kubeloop.rest import Request, ResumingWatch

from .collection import Collection, ObjectCollection
from .formats import is_refusal
from .lists import EventType, WatchEvent
from .options import ListOptions, Selectors, WatchOptions
from .paging import Pager, identity_of, read_page, read_raw_page

__all__ = ["read_each", "watch_objects"]

T = TypeVar("T")


async def read_each(
    objects: ObjectCollection[T],
    options: ListOptions,
    *,
    model: type[Any] | None,
    page_size: int,
) -> AsyncGenerator[Any, None]:
    """Every object, read in pages and decoded one at a time (see `ResourceClient.each`)."""
    reader = objects.reader(model)
    pager = Pager(partial(read_raw_page, objects.collection, reader), page_size=page_size)
    async with aclosing(pager.each(options, key=identity_of)) as items:
        async for item, page in items:
            try:
                obj = reader.decode_item(item, page)
            except DecodeError as error:
                if not is_refusal(error):
                    raise
                obj = await _read_as_json(objects, model, item, error)
                if obj is None:
                    continue  # it was deleted meanwhile
            yield obj


async def _read_as_json(
    objects: ObjectCollection[T], model: type[Any] | None, item: bytes, error: DecodeError
) -> Any:
    """The current object, which is read as JSON because its protobuf has unknown fields."""
    from kubeloop.wire.protobuf_codec import identity_in

    collection = objects.collection
    collection.formats.switch_to_json(collection.resource_name, error)
    identity = identity_in(item)
    where = objects.in_namespace(identity.namespace) if identity.namespace else objects
    return await where.get_or_none(identity.name, model=model)


async def watch_objects(
    objects: ObjectCollection[T],
    *,
    model: type[Any] | None = None,
    resource_version: str | None = None,
    timeout_seconds: int | None = None,
    **selectors: Unpack[Selectors],
) -> AsyncGenerator[WatchEvent[Any], None]:
    """The changes after a version, or all objects and then changes (`ResourceClient.watch`)."""
    collection, reader = objects.collection, objects.reader(model)
    options = WatchOptions.of(timeout_seconds=timeout_seconds, **selectors)
    if resource_version is None:
        page = await read_page(collection, reader, ListOptions.of(**selectors))
        for obj in page:
            yield WatchEvent("ADDED", obj)
        resource_version = page.version
    request = await objects.raw.watch_request(options)
    formats, resource = collection.formats, collection.resource_name
    while True:
        accept = reader.protobuf[0] if formats.uses_protobuf(resource) else ""
        asked = request.replace(accept=accept) if accept else request
        async with _resuming_watch(collection, asked, resource_version) as events:
            try:
                async for event in events:
                    # ERROR events are raised, and bookmarks dropped.
                    obj = reader.decode_item(event.object, None)
                    resource_version = events.version
                    yield WatchEvent(cast("EventType", event.type), obj)
            except KubeError as error:
                if not accept or not is_refusal(error):
                    raise
                formats.switch_to_json(resource, error)  # and watch again from before the event
            else:
                return


def _resuming_watch(collection: Collection, request: Request, version: str) -> ResumingWatch:
    rest = collection.rest
    return ResumingWatch(
        lambda version: rest.watch(request.with_params({"resourceVersion": version})),
        version,
        clock=rest.clock,
    )
