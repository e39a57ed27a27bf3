"""The parts of objects under paths of their own: status, scale, eviction, binding, log, ….

Promises: a write to a part changes that part alone; what a part refuses, it refuses with
kube-apiserver's Status.
Elsewhere: writing itself (`verbs`), what of an object a part is (`objects`), evictions
(`evictions`), scale (`scales`), logs (`logs`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import msgspec

from ..registry import Served
from ..representations.representation import PARTIAL, TABLE, Representation
from ..request.calls import Call
from ..request.incoming import Incoming
from ..request.negotiation import Answer, body_type, decoded_body, wanted
from ..request.options import write_options
from ..request.paths import ResourcePath
from ..statuses import (
    Refusal,
    method_not_allowed,
    method_not_supported,
    not_found,
    unknown_resource,
)
from ..storage.store import Object, encoded
from .deletion import Deleter
from .logs import Following, Logs
from .objects import typed
from .patching import APPLY, patch_type
from .scales import Scales
from .writing import Verbs

__all__ = ["Subresources"]

# Parts that are the object itself, of which a write changes a part.
_VIEWS = frozenset({"status", "ephemeralcontainers", "resize", "approval", "finalize"})


@final
class Subresources:
    """Carries out requests whose path names a part of an object."""

    def __init__(
        self,
        verbs: Verbs,
        deleter: Deleter,
        logs: Logs,
        *,
        issue_token: Callable[[Call, Object], Object],
    ) -> None:
        self._verbs = verbs
        self._deleter = deleter
        self._logs = logs
        self._scales = Scales(verbs)
        self._issue_token = issue_token  # makes a token for a service account

    async def answer(
        self, request: Incoming, served: Served, path: ResourcePath
    ) -> Answer | Following:
        """Do what the request asks of a part. Raises `Refusal`."""
        part = served.part(path.subresource)
        if part is None and served.custom is not None:
            raise not_found(served.group, served.plural, path.name)
        if part is None or bool(path.namespace) != served.namespaced:
            raise unknown_resource()
        if request.verb not in part.verbs:
            if served.custom is not None:
                raise method_not_supported(served.group, served.plural, request.verb)
            raise method_not_allowed()
        if path.subresource in _VIEWS:
            return await self._view(request, served, path)
        match path.subresource:
            case "scale":
                return await self._scale(request, served, path)
            case "log":
                return self._logs.answer(request, Call(served, path.namespace, path.name))
            case "eviction" | "binding" | "token":
                return await self._create(request, served, path)
        raise _not_here(path)

    async def _view(self, request: Incoming, served: Served, path: ResourcePath) -> Answer:
        want = wanted(request.header("Accept"))
        kinds = {"Table": TABLE, "PartialObjectMetadata": PARTIAL}
        form = Representation(served, kind=kinds.get(want.target, ""))  # type: ignore[arg-type] # its own names
        if request.verb == "get":
            return Answer(200, form.encode_object(self._verbs.get(_call(request, served, path))))
        if request.verb == "patch":
            sort = patch_type(served, request.header("Content-Type"))
            options = write_options(request.query, "PatchOptions", apply=sort == APPLY)
            call = _call(request, served, path, options)
            written = await self._verbs.patch(call, request.body, sort)
        else:
            options = write_options(request.query, "UpdateOptions")
            media = body_type(request.header("Content-Type"))
            call = _call(request, served, path, options)
            written = await self._verbs.update(call, request.body, media)
        return Answer(written.code, form.encode_object(written.entry), warnings=written.warnings)

    async def _scale(self, request: Incoming, served: Served, path: ResourcePath) -> Answer:
        call = _call(request, served, path)
        if request.verb == "get":
            return _shown_scale(request, served, self._scales.get(call))
        if request.verb == "patch":
            sort = patch_type(served, request.header("Content-Type"))
            options = write_options(request.query, "PatchOptions", apply=sort == APPLY)
            call = _call(request, served, path, options)
            scale = await self._scales.patch(call, request.body, sort)
        else:
            options = write_options(request.query, "UpdateOptions")
            call = _call(request, served, path, options)
            scale = await self._scales.update(call, _body(request, served, path))
        return _shown_scale(request, served, scale)

    async def _create(self, request: Incoming, served: Served, path: ResourcePath) -> Answer:
        from .bindings import bind
        from .evictions import evict

        options = write_options(request.query, "CreateOptions")
        body = _body(request, served, path)
        call = _call(request, served, path, options)
        if path.subresource == "eviction":
            return Answer(201, encoded(await evict(self._verbs, self._deleter, call, body)))
        if path.subresource == "binding":
            return Answer(201, encoded(bind(self._verbs, call, body)))
        self._verbs.get(call)
        return Answer(201, encoded(self._issue_token(call, body)))


def _body(request: Incoming, served: Served, path: ResourcePath) -> Object:
    """The object in the body, of the kind that is spoken at the path of the part."""
    part = served.part(path.subresource)
    assert part is not None  # it was found before
    media = body_type(request.header("Content-Type"))
    return typed(part, decoded_body(request.body, media, what=part.kind))


def _shown_scale(request: Incoming, served: Served, scale: Object) -> Answer:
    if wanted(request.header("Accept")).target != TABLE:
        return Answer(200, encoded(scale))
    from ..representations.tables import table

    spoken = msgspec.structs.replace(served, group="autoscaling", kind="Scale", custom=None)
    return Answer(200, encoded(table(spoken, [scale])))


def _call(request: Incoming, served: Served, path: ResourcePath, options: Any = None) -> Call:
    call = Call(
        served,
        namespace=path.namespace,
        name=path.name,
        part=path.subresource,
        agent=request.header("User-Agent"),
        user=request.user,
    )
    return call if options is None else msgspec.structs.replace(call, options=options)


def _not_here(path: ResourcePath) -> Refusal:
    return Refusal(
        {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": f"the embedded server does not serve {path.plural}/{path.subresource}",
            "reason": "NotImplemented",
            "code": 501,
        }
    )
