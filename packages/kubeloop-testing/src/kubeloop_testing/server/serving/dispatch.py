"""Carries out a request: finds its resource, checks its scope, calls its verb.

Guarantees: independent of any HTTP library; every rejection is raised as a `StatusError`; a
watch is returned as a `WatchStream`, which the caller sends and closes.
See also: `http` (connections and headers), `describe.document_handler` (non-resource paths),
`verbs` (the verbs themselves).
"""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Final, TypeAlias, final

import msgspec

from kubeloop.wire import Json

from ..access.virtual import VIRTUAL, VirtualResources
from ..describe.document_handler import DocumentHandler
from ..registry import Registry, ServedResource
from ..representations.representation import PARTIAL, TABLE, ListPart, Representation
from ..request.calls import Call, WriteResult, call_for
from ..request.negotiation import (
    JSON,
    PAGE_NOT_FOUND,
    PROTOBUF,
    MediaTypeOptions,
    Response,
    Target,
    body_type,
    check_route,
    decode_body,
    negotiate,
    negotiate_watch,
)
from ..request.options import (
    NO_OPTIONS,
    ListOptions,
    Query,
    check_timeout,
    delete_options,
    list_options,
    version_number,
    write_options,
)
from ..request.requests import Request, ResourcePath
from ..statuses import (
    StatusError,
    bad_request,
    method_not_allowed,
    no_route_consumes,
    not_representable,
    unknown_resource,
)
from ..storage.selection import Selection, selection
from ..storage.store import encoded
from ..verbs.connections import PodConnection
from ..verbs.deletion import Deleter, DeleteResult
from ..verbs.lists import list_page
from ..verbs.logs import LogStream
from ..verbs.patching import APPLY, JSON_PATCH, MERGE, STRATEGIC, patch_media_type
from ..verbs.proxies import Proxied
from ..verbs.subresources import Subresources
from ..verbs.writing import Verbs
from ..watching import Hub, Watcher, WatchStart, error_event

__all__ = ["Dispatcher", "ListStream", "Outcome", "WatchStream"]


@final
class WatchStream(msgspec.Struct, frozen=True):
    """A watch that was accepted; the caller closes the watcher."""

    watcher: Watcher
    timeout: int  # seconds; 0 where the server chooses, negative for a watch that ends at once
    options: MediaTypeOptions
    warnings: tuple[str, ...] = ()


_UNLIMITED: Final = 2**62  # objects
_PATCH_TYPES: Final = frozenset({APPLY, JSON_PATCH, MERGE, STRATEGIC})


@final
class ListStream(msgspec.Struct, frozen=True):
    """A list that is sent in parts, because its body has many megabytes."""

    parts: Iterator[ListPart]
    warnings: tuple[str, ...] = ()


Outcome: TypeAlias = Response | WatchStream | LogStream | ListStream | PodConnection | Proxied
_Verb: TypeAlias = Callable[
    [Request, ServedResource, ResourcePath], Awaitable[Response | WatchStream | ListStream]
]


@final
class Dispatcher:
    """Carries out requests for resources and for documents about the API."""

    def __init__(
        self,
        registry: Registry,
        verbs: Verbs,
        deleter: Deleter,
        *,
        hub: Hub,
        subresources: Subresources,
        virtual: VirtualResources,
        documents: DocumentHandler,
    ) -> None:
        self._registry = registry
        self._virtual = virtual
        self._verbs = verbs
        self._deleter = deleter
        self._hub = hub
        self._subresources = subresources
        self._documents = documents
        self._by_verb: Mapping[str, _Verb] = {
            "get": self._get,
            "list": self._list,
            "watch": self._watch,
            "create": self._create,
            "update": self._update,
            "patch": self._patch,
            "delete": self._delete,
            "deletecollection": self._delete_collection,
        }

    async def dispatch(self, request: Request) -> Outcome:
        """Carry out the request. Raises `StatusError`.

        Cancelled, a write is either stored completely or not at all.
        """
        path = request.resource
        if "timeout" in request.query and request.verb != "watch":
            check_timeout(request.query)
        if path is None:
            return self._documents.respond(request)
        served = self._registry.find(path.group, path.version, path.plural)
        if served is None:
            return self._respond_unserved(request, path)
        verb = request.verb
        if bool(path.namespace) != served.namespaced:
            if served.custom is not None and _is_wrong_scope(served, path, verb):
                return PAGE_NOT_FOUND
            _check_scope(served, path, verb)
        # From here on kube-apiserver has a route for the path, and the method decides.
        if not verb and path.subresource != "proxy":
            raise _unsupported_method(request, served, path)
        if path.subresource and not served.warnings:
            return await self._subresources.respond(request, served, path)
        if not path.subresource and verb not in served.verbs:
            raise unknown_resource() if _has_no_objects(served, path) else method_not_allowed()
        if served.custom is None:
            _check_route(request)
        if not served.warnings:
            return await self._by_verb[verb](request, served, path)
        return await self._respond_with_warnings(request, served, path)

    async def _respond_with_warnings(
        self, request: Request, served: ServedResource, path: ResourcePath
    ) -> Outcome:
        """The response of a deprecated version; an error has the warnings, too."""
        outcome: Outcome
        try:
            if path.subresource:
                outcome = await self._subresources.respond(request, served, path)
            else:
                outcome = await self._by_verb[request.verb](request, served, path)
        except StatusError as error:
            error.warnings = (*served.warnings, *error.warnings)
            raise
        if not isinstance(outcome, Response | WatchStream | ListStream):
            return outcome
        return msgspec.structs.replace(outcome, warnings=(*served.warnings, *outcome.warnings))

    def _respond_unserved(self, request: Request, path: ResourcePath) -> Response:
        # Within a served group version kube-apiserver responds itself: with a Status for built-in
        # groups, with plain text for groups of CRDs. All other paths are documents or nothing.
        if not (path.plural and self._registry.has_version(path.group, path.version)):
            return self._documents.respond(request)
        if self._registry.is_built_in(path.group):
            raise unknown_resource()
        return PAGE_NOT_FOUND

    # --- reading

    async def _get(self, request: Request, served: ServedResource, path: ResourcePath) -> Response:
        media = _media(request, served)
        call = Call(served, namespace=path.namespace, name=path.name)
        entry = self._verbs.get(call, request.query.text("resourceVersion"))
        form = _object_form(served, media, request.query)
        if form.is_protobuf:
            return Response(200, form.encode_envelope(entry), media=PROTOBUF, is_final=True)
        return Response(200, form.encode_object(entry), options=media)

    async def _list(
        self, request: Request, served: ServedResource, path: ResourcePath
    ) -> Response | ListStream:
        media = _media(request, served)
        options = list_options(request.query)
        select = _selection(served, path, options)
        page = list_page(self._verbs.store, served.storage, select, options)
        form = _list_form(served, media, request.query)
        if form.has_large_list(page.entries) and _is_compact(request, media):
            return ListStream(form.list_parts(page.entries, page.metadata))
        if form.is_protobuf:
            messages = form.encode_message_list(page.entries, page.metadata)
            return Response(200, messages, media=PROTOBUF, is_final=True)
        return Response(200, form.encode_list(page.entries, page.metadata), options=media)

    async def _watch(
        self, request: Request, served: ServedResource, path: ResourcePath
    ) -> Response | WatchStream:
        media = negotiate_watch(request.header("Accept"), custom=served.custom is not None)
        options = list_options(request.query, watch=True)
        select = _selection(served, path, options)
        start = _watch_start(options)
        try:
            watcher = self._hub.open(select, _form(served, media, request.query), start)
        except StatusError as error:
            # kube-apiserver responds 200 and sends an expired version as an ERROR event.
            if media.media == PROTOBUF:
                body, stream = error_event(error, is_protobuf=True), f"{PROTOBUF};stream=watch"
                return Response(200, body, media=stream, is_final=True)
            return Response(200, error_event(error))
        return WatchStream(watcher, options.timeout, media)

    # --- writing

    async def _create(
        self, request: Request, served: ServedResource, path: ResourcePath
    ) -> Response:
        if served.storage in VIRTUAL:
            return self._virtual.create(request, served, path.namespace)
        headers = request.headers
        media = _media(request, served)
        body = body_type(headers.get("Content-Type", ""))
        call = call_for(request, served, path, write_options(request.query, "CreateOptions"))
        result = await self._verbs.create(call, request.body, body)
        return _respond(result, request, served, media)

    async def _update(
        self, request: Request, served: ServedResource, path: ResourcePath
    ) -> Response:
        media = _media(request, served)
        options = write_options(request.query, "UpdateOptions")
        body = body_type(request.header("Content-Type"))
        call = call_for(request, served, path, options)
        result = await self._verbs.update(call, request.body, body)
        return _respond(result, request, served, media)

    async def _patch(
        self, request: Request, served: ServedResource, path: ResourcePath
    ) -> Response:
        patch_type = patch_media_type(served, request.header("Content-Type"))
        media = _media(request, served)
        options = write_options(request.query, "PatchOptions", apply=patch_type == APPLY)
        call = call_for(request, served, path, options)
        result = await self._verbs.patch(call, request.body, patch_type)
        return _respond(result, request, served, media)

    async def _delete(
        self, request: Request, served: ServedResource, path: ResourcePath
    ) -> Response:
        media = _media(request, served)
        options = delete_options(request.query, _options_body(request))
        call = call_for(request, served, path, NO_OPTIONS)
        result = await self._deleter.delete(call, options)
        return _respond_deleted(result, _form(served, media, request.query), media)

    async def _delete_collection(
        self, request: Request, served: ServedResource, path: ResourcePath
    ) -> Response:
        media = _media(request, served)
        listed = list_options(request.query)
        select = _selection(served, path, listed)
        options = delete_options(request.query, _options_body(request))
        call = call_for(request, served, path, NO_OPTIONS)
        # Without a limit kube-apiserver lists all pages, each with a limit of its own.
        listed = msgspec.structs.replace(listed, limit=listed.limit or _UNLIMITED)
        page = list_page(self._verbs.store, served.storage, select, listed)
        await self._deleter.delete_all(call, page.entries, options)
        body = _list_form(served, media, request.query).encode_list(page.entries, page.metadata)
        return Response(200, body, options=media)


def _media(request: Request, served: ServedResource) -> MediaTypeOptions:
    return negotiate(request.headers.get("Accept", ""), custom=served.custom is not None)


def _is_wrong_scope(served: ServedResource, path: ResourcePath, verb: str) -> bool:
    """Whether a path of a custom resource has a namespace too many or too few."""
    if path.namespace:
        return not served.namespaced
    return bool(path.name) or verb in {"create", "deletecollection"}


def _check_scope(served: ServedResource, path: ResourcePath, verb: str) -> None:
    """Reject a path with a namespace too many or too few; listing all namespaces is fine."""
    if path.namespace or path.name:
        raise unknown_resource()
    if served.namespaced and verb in {"create", "deletecollection"}:
        raise method_not_allowed()


def _unsupported_method(
    request: Request, served: ServedResource, path: ResourcePath
) -> StatusError:
    if served.custom is not None and not path.name and request.method in {"PUT", "PATCH"}:
        return bad_request("name must be provided")
    return method_not_allowed()


def _has_no_objects(served: ServedResource, path: ResourcePath) -> bool:
    """Whether the path names an object of a resource that has none, such as a review."""
    return bool(path.name) and not {"get", "update", "patch", "delete"} & set(served.verbs)


def _check_route(request: Request) -> None:
    """The media types of a built-in resource's route, which come before its handler's."""
    if request.method == "PATCH":
        media = request.header("Content-Type").partition(";")[0].strip(" ")
        if media not in _PATCH_TYPES:
            raise no_route_consumes()
    check_route(request.headers.get("Accept", ""), listed=request.verb in {"list", "watch"})


def _object_form(served: ServedResource, options: MediaTypeOptions, query: Query) -> Representation:
    if options.target == "PartialObjectMetadataList":
        raise not_representable(
            "you requested PartialObjectMetadataList, but the requested object is not a list "
            f"({_internal_type(served, served.kind)})"
        )
    return _form(served, options, query)


def _internal_type(served: ServedResource, kind: str) -> str:
    """The Go type of an object within kube-apiserver."""
    if served.custom is not None:
        return f"*unstructured.Unstructured{'List' if kind == served.list_kind else ''}"
    return f"*{served.group.partition('.')[0] or 'core'}.{kind}"


def _list_form(served: ServedResource, options: MediaTypeOptions, query: Query) -> Representation:
    if options.target == "PartialObjectMetadata":
        raise not_representable(
            "you requested PartialObjectMetadata, but the requested object is a list "
            f"({_internal_type(served, served.list_kind)})"
        )
    return _form(served, options, query)


def _form(served: ServedResource, options: MediaTypeOptions, query: Query) -> Representation:
    include = _include_object(query) if options.target == "Table" else "Metadata"
    is_protobuf = options.media == PROTOBUF
    return _cached_form(served, options.target, include, options.version, is_protobuf=is_protobuf)


# Shared: equal representations of one event are encoded once for all watches.
@functools.lru_cache(maxsize=512)
def _cached_form(
    served: ServedResource, target: Target, include: str, version: str, *, is_protobuf: bool
) -> Representation:
    match target:
        case "Table":
            return Representation(served, kind=TABLE, include=include, version=version)
        case "PartialObjectMetadata" | "PartialObjectMetadataList":
            return Representation(served, kind=PARTIAL, version=version, is_protobuf=is_protobuf)
    return Representation(served, is_protobuf=is_protobuf)


def _is_compact(request: Request, media: MediaTypeOptions) -> bool:
    """Whether the response is JSON in one line: neither indented nor for a browser or curl."""
    agent = request.headers.get("User-Agent", "")
    is_plain = request.method == "GET" and media.media == JSON and "pretty" not in request.query
    return is_plain and not agent.startswith(("curl", "Wget", "Mozilla/5.0"))


def _include_object(query: Query) -> str:
    include = query.text("includeObject") or "Metadata"
    if include not in {"None", "Metadata", "Object"}:
        raise bad_request(
            f'unrecognized includeObject value: "{include}", must be one of None, Metadata, Object'
        )
    return include


def _respond(
    result: WriteResult, request: Request, served: ServedResource, options: MediaTypeOptions
) -> Response:
    form = _object_form(served, options, request.query)
    body = form.encode_object(result.entry)
    return Response(result.code, body, warnings=result.warnings, options=options)


def _respond_deleted(
    result: DeleteResult, form: Representation, options: MediaTypeOptions
) -> Response:
    body = form.encode_object(result.entry) if result.entry is not None else encoded(result.status)
    return Response(result.code, body, warnings=result.warnings, options=options)


def _options_body(request: Request) -> Mapping[str, Json] | None:
    if not request.body:
        return None
    media = body_type(request.header("Content-Type"))
    return decode_body(request.body, media)


def _selection(served: ServedResource, path: ResourcePath, options: ListOptions) -> Selection:
    return selection(
        served,
        namespace=path.namespace,
        label_selector=options.label_selector,
        field_selector=options.field_selector,
        name=path.name,
    )


def _watch_start(options: ListOptions) -> WatchStart:
    version = version_number(options.version)
    if options.send_initial_events is not None:
        return WatchStart(
            version=version or None,
            initial_events=options.send_initial_events,
            end_of_initial_events=options.send_initial_events,
            bookmarks=options.bookmarks,
        )
    # Without a version a watch starts with synthetic ADDED events ("Get State and Start at Any").
    return WatchStart(
        version=version or None, initial_events=not version, bookmarks=options.bookmarks
    )
