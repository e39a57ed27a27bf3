"""Resources without storage: reviews, which are only evaluated, and bindings.

See also: `reviews` (the evaluation), `verbs.bindings`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import final

from kubeloop.wire import resources

from ..identity import User
from ..registry import Registry, ServedResource
from ..request.calls import Call
from ..request.negotiation import Response, body_type, negotiate
from ..request.options import write_options
from ..request.requests import Request
from ..statuses import bad_request
from ..storage.store import Object, encoded
from ..verbs.bindings import bind
from ..verbs.objects import read_object
from ..verbs.writing import Verbs
from .authn import Authenticator
from .security import ADMIN, Security

__all__ = ["VIRTUAL", "VirtualResources"]

# What can only be created has no storage: reviews, and bindings of pods.
VIRTUAL = frozenset((info.group, info.plural) for info in resources() if info.verbs == ("create",))

# Their responses contain what was sent, with its field managers.
_TRACKED = frozenset(
    {
        "localsubjectaccessreviews",
        "selfsubjectaccessreviews",
        "subjectaccessreviews",
        "tokenreviews",
    }
)


@final
class VirtualResources:
    """Carries out creates of resources that are not stored."""

    def __init__(
        self,
        verbs: Verbs,
        registry: Registry,
        security: Security,
        *,
        token_reviewer: Callable[[], Authenticator],
    ) -> None:
        self._verbs = verbs
        self._registry = registry
        self._security = security
        # For TokenReviews on a server without credentials, which has no authenticator.
        self._token_reviewer = token_reviewer

    def create(self, request: Request, served: ServedResource, namespace: str) -> Response:
        """Evaluate a review, or bind a pod. Raises `StatusError`."""
        negotiate(request.header("Accept"))  # 406 comes before errors in the body
        options = write_options(request.query, "CreateOptions")
        media = body_type(request.header("Content-Type"))
        decoded = read_object(served, request.body, media, validation=options.validation)
        if served.plural == "bindings":
            pods = self._registry.find("", "v1", "pods")
            assert pods is not None  # it is built in
            name = (decoded.obj.get("metadata") or {}).get("name") or ""
            if not name:
                raise bad_request("metadata.name: Required value")
            call = Call(pods, namespace=namespace, name=name, options=options)
            return Response(201, encoded(bind(self._verbs, call, decoded.obj)))
        obj = decoded.obj
        if served.plural in _TRACKED:
            call = Call(
                served,
                namespace=namespace,
                options=options,
                agent=request.headers.get("User-Agent", ""),
            )
            meta = obj.get("metadata") or {}
            obj = self._verbs.track_managers(call, None, {**obj, "metadata": meta})
        review = self._evaluate(served.plural, obj, request.user or ADMIN, namespace)
        return Response(201, encoded(review), warnings=tuple(decoded.warnings))

    def _evaluate(self, plural: str, obj: Object, user: User, namespace: str) -> Object:
        from . import reviews

        authorizer = self._security.authorizer
        match plural:
            case "selfsubjectreviews":
                return reviews.self_subject_review(obj, user, now=self._verbs.now())
            case "tokenreviews":
                authenticator = self._security.authenticator or self._token_reviewer()
                return reviews.token_review(obj, authenticator)
            case "localsubjectaccessreviews":
                return reviews.local_subject_access_review(obj, namespace, authorizer)
            case "selfsubjectaccessreviews":
                return reviews.self_subject_access_review(obj, user, authorizer)
            case "selfsubjectrulesreviews":
                return reviews.self_subject_rules_review(obj, user, authorizer)
        return reviews.subject_access_review(obj, authorizer)
