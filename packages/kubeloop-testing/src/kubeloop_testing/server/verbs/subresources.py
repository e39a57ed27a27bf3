"""Subresources: status, scale, eviction, binding, token, log, exec, attach, portforward, proxy.

Guarantees: a write to a subresource changes only its part of the object; rejections have
kube-apiserver's Status.
See also: `writing` (the writes), `objects` (which part a subresource is), `evictions`,
`scales`, `logs`, `connections`, `proxies`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import final

import msgspec

from ..registry import ServedResource
from ..representations.representation import PARTIAL, TABLE, Representation
from ..request.calls import Call, call_for
from ..request.negotiation import Response, body_type, decode_body, negotiate
from ..request.options import NO_OPTIONS, write_options
from ..request.requests import Request, ResourcePath
from ..statuses import (
    method_not_allowed,
    method_not_supported,
    not_found,
    unknown_resource,
)
from ..storage.store import Object, encoded
from .connections import PodConnection, connect
from .deletion import Deleter
from .logs import Logs, LogStream
from .objects import decode_subresource, match_path
from .patching import APPLY, patch_media_type
from .proxies import Proxied, proxied
from .scales import Scales
from .writing import Verbs

__all__ = ["Subresources"]

# Subresources whose body is the whole object.
_OBJECT_PARTS = frozenset({"status", "ephemeralcontainers", "resize", "approval", "finalize"})


@final
class Subresources:
    """Carries out requests for subresources."""

    def __init__(
        self,
        verbs: Verbs,
        deleter: Deleter,
        logs: Logs,
        *,
        issue_token: Callable[[Object, Object], Object],
    ) -> None:
        self._verbs = verbs
        self._deleter = deleter
        self._logs = logs
        self._scales = Scales(verbs)
        self._issue_token = issue_token  # carries out a TokenRequest for a service account

    async def respond(
        self, request: Request, served: ServedResource, path: ResourcePath
    ) -> Response | LogStream | PodConnection | Proxied:
        """Carry out a request for a subresource. Raises `StatusError`."""
        part = served.part(path.subresource)
        if part is None and served.custom is not None:
            raise not_found(served.group, served.plural, path.name)
        if part is None or path.watch or bool(path.namespace) != served.namespaced:
            raise unknown_resource()
        if path.subresource == "proxy":
            return self._proxy(request, served, path)
        if request.verb not in part.verbs:
            # The handlers of CRDs and of built-in kinds have different texts for 405.
            if served.custom is not None:
                raise method_not_supported(served.group, served.plural, request.verb)
            raise method_not_allowed()
        if path.subresource in _OBJECT_PARTS:
            return await self._object_part(request, served, path)
        match path.subresource:
            case "scale":
                return await self._scale(request, served, path)
            case "log":
                return self._logs.respond(request, Call(served, path.namespace, path.name))
            case "exec" | "attach" | "portforward":
                return connect(self._verbs, request, call_for(request, served, path, NO_OPTIONS))
        return await self._create(request, served, path)

    def _proxy(
        self, request: Request, served: ServedResource, path: ResourcePath
    ) -> Response | LogStream | Proxied:
        from .kubelet_paths import respond_as_kubelet

        found = proxied(self._verbs, request, served, path)
        if found.node and found.path:
            return respond_as_kubelet(self._verbs, self._logs, request, found)
        return found

    async def _object_part(
        self, request: Request, served: ServedResource, path: ResourcePath
    ) -> Response:
        media = negotiate(request.header("Accept"), custom=served.custom is not None)
        kinds = {"Table": TABLE, "PartialObjectMetadata": PARTIAL}
        form = Representation(served, kind=kinds.get(media.target, ""))  # type: ignore[arg-type] # constants
        if request.verb == "get":
            entry = self._verbs.get(call_for(request, served, path, NO_OPTIONS))
            return Response(200, form.encode_object(entry), options=media)
        if request.verb == "patch":
            patch_type = patch_media_type(served, request.header("Content-Type"))
            options = write_options(request.query, "PatchOptions", apply=patch_type == APPLY)
            call = call_for(request, served, path, options)
            result = await self._verbs.patch(call, request.body, patch_type)
        else:
            options = write_options(request.query, "UpdateOptions")
            body = body_type(request.header("Content-Type"))
            call = call_for(request, served, path, options)
            result = await self._verbs.update(call, request.body, body)
        found = form.encode_object(result.entry)
        return Response(result.code, found, warnings=result.warnings, options=media)

    async def _scale(
        self, request: Request, served: ServedResource, path: ResourcePath
    ) -> Response:
        if request.verb == "get":
            scale = self._scales.get(call_for(request, served, path, NO_OPTIONS))
        elif request.verb == "patch":
            patch_type = patch_media_type(served, request.header("Content-Type"))
            options = write_options(request.query, "PatchOptions", apply=patch_type == APPLY)
            call = call_for(request, served, path, options)
            scale = await self._scales.patch(call, request.body, patch_type)
        else:
            call = call_for(request, served, path, write_options(request.query, "UpdateOptions"))
            scale = await self._scales.update(call, _decode(request, served, "scale"))
        return _respond_scale(request, served, scale)

    async def _create(
        self, request: Request, served: ServedResource, path: ResourcePath
    ) -> Response:
        from .bindings import bind
        from .evictions import evict

        options = write_options(request.query, "CreateOptions")
        body = _decode(request, served, path.subresource)
        call = call_for(request, served, path, options)
        match_path(served, body, path.namespace)
        if path.subresource == "eviction":
            return Response(201, encoded(await evict(self._verbs, self._deleter, call, body)))
        if path.subresource == "binding":
            return Response(201, encoded(bind(self._verbs, call, body)))
        account = self._verbs.get(call).obj
        return Response(201, encoded(self._issue_token(account, body)))


def _decode(request: Request, served: ServedResource, subresource: str) -> Object:
    """The object in the body, of the kind of the subresource."""
    part = served.part(subresource)
    assert part is not None  # `respond` found it
    media = body_type(request.header("Content-Type"))
    return decode_subresource(part, decode_body(request.body, media, kind=part.kind))


def _respond_scale(request: Request, served: ServedResource, scale: Object) -> Response:
    if negotiate(request.header("Accept")).target != TABLE:
        return Response(200, encoded(scale))
    from ..representations.tables import table

    as_scale = msgspec.structs.replace(served, group="autoscaling", kind="Scale", custom=None)
    return Response(200, encoded(table(as_scale, [scale])))
