"""Collections that hold nothing: reviews, which only answer, and bindings.

Elsewhere: the answers themselves (`reviews`, `bindings`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

from ..registry import Registry, Served
from ..request.calls import Call
from ..request.incoming import Incoming
from ..request.negotiation import Answer, body_type, wanted
from ..request.options import write_options
from ..statuses import bad_request
from ..storage.store import Object, encoded
from ..verbs.bindings import bind
from ..verbs.objects import read_object
from ..verbs.writing import Verbs
from .authn import Authenticator
from .security import ADMIN, Security

__all__ = ["VIRTUAL", "Virtual"]

_AUTHENTICATION, _AUTHORIZATION = "authentication.k8s.io", "authorization.k8s.io"
VIRTUAL = frozenset(
    {
        ("", "bindings"),
        (_AUTHENTICATION, "selfsubjectreviews"),
        (_AUTHENTICATION, "tokenreviews"),
        (_AUTHORIZATION, "localsubjectaccessreviews"),
        (_AUTHORIZATION, "selfsubjectaccessreviews"),
        (_AUTHORIZATION, "selfsubjectrulesreviews"),
        (_AUTHORIZATION, "subjectaccessreviews"),
    }
)


@final
class Virtual:
    """Answers creations in collections that store nothing."""

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
        # Reviews tokens while requests need no credentials: no authenticator is configured then.
        self._token_reviewer = token_reviewer

    def create(self, request: Incoming, served: Served, namespace: str) -> Answer:
        """Answer a review, or bind a pod. Raises `Refusal`."""
        wanted(request.header("Accept"))
        options = write_options(request.query, "CreateOptions")
        media = body_type(request.header("Content-Type"))
        sent = read_object(served, request.body, media, validation=options.validation)
        if served.plural == "bindings":
            pods = self._registry.find("", "v1", "pods")
            assert pods is not None  # it is built in
            name = (sent.obj.get("metadata") or {}).get("name") or ""
            if not name:
                raise bad_request("metadata.name: Required value")
            call = Call(pods, namespace=namespace, name=name, options=options)
            return Answer(201, encoded(bind(self._verbs, call, sent.obj)))
        said = self._reviewed(served.plural, sent.obj, request.user or ADMIN, namespace)
        return Answer(201, encoded(said), warnings=tuple(sent.warnings))

    def _reviewed(self, plural: str, obj: Object, user: Any, namespace: str) -> Object:
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
