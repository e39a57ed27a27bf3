"""From a request as a value to an answer as a value: who asks, for what, may they, do it.

Promises: no HTTP library is known here; every refusal leaves as a `Refusal`, and a watch
leaves as a `Stream` for somebody else to send.
Elsewhere: sockets and headers (`http`), paths (`paths`), documents about the API
(`catalogue`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, final

import msgspec

from ..access.virtual import VIRTUAL, Virtual
from ..registry import Registry, Served
from ..representations.representation import PARTIAL, TABLE, Representation
from ..request.calls import Call, Written
from ..request.incoming import Incoming
from ..request.negotiation import NOWHERE, Answer, Wanted, body_type, decoded_body, wanted
from ..request.options import (
    ListOptions,
    Query,
    delete_options,
    list_options,
    version_number,
    write_options,
)
from ..request.paths import ResourcePath
from ..statuses import (
    Refusal,
    bad_request,
    method_not_allowed,
    unknown_resource,
)
from ..storage.selection import Selection, selection
from ..storage.store import Object, encoded
from ..verbs.deletion import Deleted, Deleter
from ..verbs.lists import list_page
from ..verbs.logs import Following
from ..verbs.patching import APPLY, patch_type
from ..verbs.subresources import Subresources
from ..verbs.writing import Verbs
from ..watching import Hub, Watcher, WatchStart, error_event

__all__ = ["Dispatcher", "Outcome", "Stream"]


@final
class Stream(msgspec.Struct, frozen=True):
    """A watch that was granted; whoever sends it closes the watcher."""

    watcher: Watcher
    timeout: int  # seconds; 0 where the client left it to the server
    wanted: Wanted
    warnings: tuple[str, ...] = ()


Outcome: TypeAlias = Answer | Stream | Following


@final
class Dispatcher:
    """Carries out requests about resources."""

    def __init__(
        self,
        registry: Registry,
        verbs: Verbs,
        deleter: Deleter,
        *,
        hub: Hub,
        parts: Subresources,
        virtual: Virtual,
    ) -> None:
        self._registry = registry
        self._virtual = virtual
        self._verbs = verbs
        self._deleter = deleter
        self._hub = hub
        self._parts = parts

    async def answer(self, request: Incoming) -> Outcome:
        """Do what the request asks. Raises `Refusal`.

        Safe to cancel: a write is made whole or not at all.
        """
        path = request.resource
        assert path is not None  # others are documents
        if self._registry.find(path.group, path.version, path.plural) is None:
            return self._unknown(path)
        served = self.served(path)
        verb = request.verb
        if served.custom is not None and _is_misplaced(served, path, verb):
            return NOWHERE
        self._check_scope(served, path, verb)
        if not verb:
            raise _meaningless(request, served, path)
        if path.subresource:
            return await self._parts.answer(request, served, path)
        if verb not in served.verbs:
            raise unknown_resource() if _is_unrouted(served, path) else method_not_allowed()
        warnings = _deprecation(served)
        try:
            outcome = await self._done(request, served, path)
        except Refusal as refusal:
            refusal.warnings = warnings
            raise
        if not warnings:
            return outcome
        return msgspec.structs.replace(outcome, warnings=(*warnings, *outcome.warnings))

    async def _done(self, request: Incoming, served: Served, path: ResourcePath) -> Answer | Stream:
        match request.verb:
            case "get":
                return self._get(request, served, path)
            case "list":
                return self._list(request, served, path)
            case "watch":
                return self._watch(request, served, path)
            case "create":
                return await self._create(request, served, path)
            case "update":
                return await self._update(request, served, path)
            case "patch":
                return await self._patch(request, served, path)
            case "delete":
                return await self._delete(request, served, path)
        return await self._delete_all(request, served, path)

    def has_version(self, group: str, version: str) -> bool:
        """Whether a group version is served at all."""
        return self._registry.has_version(group, version)

    def served(self, path: ResourcePath) -> Served:
        """The resource that a path names. Raises `Refusal` 404."""
        found = self._registry.find(path.group, path.version, path.plural)
        if found is None:
            raise unknown_resource()
        return found

    def _unknown(self, path: ResourcePath) -> Answer:
        """The answer about a resource that nobody serves; definitions' groups speak no Status."""
        if self._registry.is_built_in(path.group):
            raise unknown_resource()
        return NOWHERE

    def _check_scope(self, served: Served, path: ResourcePath, verb: str) -> None:
        if path.namespace and not served.namespaced:
            raise unknown_resource()
        if served.namespaced and not path.namespace:
            if path.name:
                raise unknown_resource()
            if verb in {"create", "deletecollection"}:
                raise method_not_allowed()

    # --- reading

    def _get(self, request: Incoming, served: Served, path: ResourcePath) -> Answer:
        want = wanted(request.header("Accept"))
        call = Call(served, namespace=path.namespace, name=path.name)
        entry = self._verbs.get(call, request.query.text("resourceVersion"))
        return Answer(200, _form(served, want, request.query).encode_object(entry))

    def _list(self, request: Incoming, served: Served, path: ResourcePath) -> Answer:
        want = wanted(request.header("Accept"))
        options = list_options(request.query)
        if options.watch:
            return bad_list()
        select = _selected(served, path, options)
        page = list_page(self._verbs.store, served.storage, select, options)
        return Answer(
            200, _form(served, want, request.query).encode_list(page.entries, page.metadata)
        )

    def _watch(self, request: Incoming, served: Served, path: ResourcePath) -> Answer | Stream:
        want = wanted(request.header("Accept"))
        options = list_options(request.query, watch=True)
        select = _selected(served, path, options)
        start = _start(options)
        try:
            watcher = self._hub.open(select, _form(served, want, request.query), start)
        except Refusal as refusal:
            # A version that cannot be watched from is told within the stream.
            return Answer(200, error_event(refusal))
        return Stream(watcher, options.timeout, want)

    # --- writing

    async def _create(self, request: Incoming, served: Served, path: ResourcePath) -> Answer:
        if served.storage in VIRTUAL:
            return self._virtual.create(request, served, path.namespace)
        want = wanted(request.header("Accept"))
        media = body_type(request.header("Content-Type"))
        options = write_options(request.query, "CreateOptions")
        call = _call(request, served, path, options)
        return _answer(await self._verbs.create(call, request.body, media), request, served, want)

    async def _update(self, request: Incoming, served: Served, path: ResourcePath) -> Answer:
        want = wanted(request.header("Accept"))
        options = write_options(request.query, "UpdateOptions")
        media = body_type(request.header("Content-Type"))
        call = _call(request, served, path, options)
        return _answer(await self._verbs.update(call, request.body, media), request, served, want)

    async def _patch(self, request: Incoming, served: Served, path: ResourcePath) -> Answer:
        sort = patch_type(served, request.header("Content-Type"))
        want = wanted(request.header("Accept"))
        options = write_options(request.query, "PatchOptions", apply=sort == APPLY)
        call = _call(request, served, path, options)
        return _answer(await self._verbs.patch(call, request.body, sort), request, served, want)

    async def _delete(self, request: Incoming, served: Served, path: ResourcePath) -> Answer:
        want = wanted(request.header("Accept"))
        options = delete_options(request.query, _options_body(request))
        call = _call(request, served, path, write_options(Query(), "DeleteOptions"))
        done = await self._deleter.delete(call, options)
        return _deleted(done, _form(served, want, request.query))

    async def _delete_all(self, request: Incoming, served: Served, path: ResourcePath) -> Answer:
        want = wanted(request.header("Accept"))
        listed = list_options(request.query)
        select = _selected(served, path, listed)
        options = delete_options(request.query, _options_body(request))
        call = _call(request, served, path, write_options(Query(), "DeleteOptions"))
        gone = await self._deleter.delete_all(call, select, options)
        metadata: Object = {"resourceVersion": str(self._verbs.store.version)}
        return Answer(200, _form(served, want, request.query).encode_list(gone, metadata))


def _is_misplaced(served: Served, path: ResourcePath, verb: str) -> bool:
    """Whether a path has a namespace too many or too few."""
    if not served.namespaced or path.namespace:
        return bool(path.namespace) and not served.namespaced
    return bool(path.name) or verb in {"create", "deletecollection"}


def _meaningless(request: Incoming, served: Served, path: ResourcePath) -> Refusal:
    """The refusal of a method that means nothing at a path."""
    if served.custom is not None and not path.name and request.method in {"PUT", "PATCH"}:
        return bad_request("name must be provided")
    return method_not_allowed()


def _is_unrouted(served: Served, path: ResourcePath) -> bool:
    """Whether no verb of the kind has paths of this sort."""
    return bool(path.name) and not {"get", "update", "patch", "delete"} & set(served.verbs)


def bad_list() -> Answer:
    raise bad_request("a watch was asked for where none is possible")


def _call(request: Incoming, served: Served, path: ResourcePath, options: Any) -> Call:
    return Call(
        served,
        namespace=path.namespace,
        name=path.name,
        part=path.subresource,
        options=options,
        agent=request.header("User-Agent"),
        user=request.user,
    )


def _form(served: Served, want: Wanted, query: Query) -> Representation:
    match want.target:
        case "Table":
            return Representation(served, kind=TABLE, include=_include(query))
        case "PartialObjectMetadata" | "PartialObjectMetadataList":
            return Representation(served, kind=PARTIAL)
    return Representation(served)


def _include(query: Query) -> str:
    include = query.text("includeObject") or "Metadata"
    if include not in {"None", "Metadata", "Object"}:
        raise bad_request(
            f'unrecognized includeObject value: "{include}", must be one of None, Metadata, Object'
        )
    return include


def _deprecation(served: Served) -> tuple[str, ...]:
    """What a client is warned of that uses a version on its way out."""
    custom = served.custom
    if custom is None:
        return _DEPRECATED.get(served.storage, ())
    return (custom.deprecation_warning,) if custom.deprecated else ()


_DEPRECATED = {
    ("", "componentstatuses"): ("v1 ComponentStatus is deprecated in v1.19+",),
    ("", "endpoints"): (
        "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
    ),
}


def _answer(written: Written, request: Incoming, served: Served, want: Wanted) -> Answer:
    form = _form(served, want, request.query)
    return Answer(written.code, form.encode_object(written.entry), warnings=written.warnings)


def _deleted(done: Deleted, form: Representation) -> Answer:
    body = form.encode_object(done.entry) if done.entry is not None else encoded(done.status)
    return Answer(done.code, body, warnings=done.warnings)


def _options_body(request: Incoming) -> Mapping[str, Any] | None:
    if not request.body:
        return None
    media = body_type(request.header("Content-Type"))
    return decoded_body(request.body, media, what="DeleteOptions")


def _selected(served: Served, path: ResourcePath, options: ListOptions) -> Selection:
    return selection(
        served,
        namespace=path.namespace,
        label_selector=options.label_selector,
        field_selector=options.field_selector,
        name=path.name,
    )


def _start(options: ListOptions) -> WatchStart:
    version = version_number(options.version)
    if options.send_initial_events is not None:
        return WatchStart(
            version=version or None,
            initial_events=options.send_initial_events,
            end_of_initial_events=options.send_initial_events,
            bookmarks=options.bookmarks,
        )
    # Without a version, what exists is told first.
    return WatchStart(
        version=version or None, initial_events=not version, bookmarks=options.bookmarks
    )
