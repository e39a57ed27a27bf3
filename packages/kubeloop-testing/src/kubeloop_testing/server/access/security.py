"""Authentication and authorization of requests, as far as they are enabled.

Guarantees: a server without configured credentials treats every request as the cluster's
administrator; with them, a request without valid credentials is rejected or anonymous; RBAC
decides only when it is enabled.
See also: `authn` (tokens and certificates), `rbac` (roles), `impersonation`.
"""

from __future__ import annotations

import asyncio
import hashlib
import ssl
from typing import final

import msgspec

from kubeloop.selectors import parse_fields
from kubeloop.wire import InvalidArgument

from ..identity import AllowAll, Attributes, Authorizer, User, forbidden
from ..request.requests import Request, ResourcePath
from ..statuses import forbidden as forbidden_object
from .authn import Authenticator, Headers, Subject, subject_of

__all__ = ["ADMIN", "Security"]

ADMIN = User("kubernetes-admin", "", ("system:masters", "system:authenticated"))
# What RequestInfo makes of methods that mean nothing at a path.
_VERBS = {"HEAD": "get", "POST": "create", "PUT": "update", "PATCH": "patch"}
_CONNECTS = frozenset({"attach", "exec", "portforward"})


@final
class Security:
    """The two steps of the handler chain: `authenticate`, then `authorize`."""

    def __init__(
        self,
        *,
        authenticator: Authenticator | None = None,
        authorizer: Authorizer | None = None,
    ) -> None:
        self.authenticator = authenticator
        self.authorizer: Authorizer = authorizer or AllowAll()
        self.decides = authorizer is not None  # whether `authorize` has to be called

    def authenticate(self, headers: Headers, transport: asyncio.BaseTransport | None) -> User:
        """The user of a request, from its headers and its client certificate.

        Raises:
            StatusError: 401 for invalid credentials, 403 for a forbidden impersonation.
        """
        user = ADMIN
        if self.authenticator is not None:
            user = self.authenticator.authenticate(headers, _subject(transport))
        # One search in all names at once: every request passes here, and few impersonate.
        if "impersonate-" in " ".join(headers.keys()).lower():
            from .impersonation import impersonate

            user = impersonate(user, headers, self.authorizer)
        return user

    def authorize(self, request: Request) -> None:
        """Raises `StatusError` 403 if the user of the request may not do it."""
        if not self.decides:
            return
        attributes = attributes_of(request.user or ADMIN, request)
        decision = self.authorizer.allows(attributes)
        if not decision.allowed:
            raise forbidden(attributes, decision.reason)
        if attributes.verb == "get" and attributes.subresource in _CONNECTS:
            self._authorize_connect(attributes)

    def _authorize_connect(self, attributes: Attributes) -> None:
        # A WebSocket begins with a GET; roles that were written for POST still decide
        # (AuthorizePodWebsocketUpgradeCreatePermission). The text names no verb.
        decision = self.authorizer.allows(msgspec.structs.replace(attributes, verb="create"))
        if not decision.allowed:
            raise forbidden_object("", attributes.resource, attributes.name, decision.reason)


def attributes_of(user: User, request: Request) -> Attributes:
    """The attributes of a request that an authorizer decides by."""
    path = request.resource
    if path is None or not path.plural:
        return Attributes(user, request.method.lower(), path=request.path)
    return Attributes(
        user,
        request.verb or _VERBS.get(request.method, ""),
        group=path.group,
        version=path.version,
        resource=path.plural,
        subresource=path.subresource,
        name=path.name or _selected_name(request),
        namespace=_namespace(path),
    )


def _selected_name(request: Request) -> str:
    # RBAC's resourceNames also allow a list or watch with the selector metadata.name=x.
    text = request.query.text("fieldSelector")
    if not text or request.verb not in {"list", "watch"}:
        return ""
    try:
        return parse_fields(text).exact_value("metadata.name") or ""
    except InvalidArgument:
        return ""  # the list itself is rejected later


def _namespace(path: ResourcePath) -> str:
    # RequestInfo puts a Namespace into itself, so that a Role inside can grant access to it.
    if path.group == "" and path.plural == "namespaces" and path.name:
        return path.name
    return path.namespace


def _subject(transport: asyncio.BaseTransport | None) -> Subject | None:
    tls: ssl.SSLObject | None = transport.get_extra_info("ssl_object") if transport else None
    if tls is None:
        return None
    raw = tls.getpeercert(binary_form=True)
    fingerprint = hashlib.sha256(raw).hexdigest() if raw else ""
    return subject_of(tls.getpeercert(), fingerprint=fingerprint)
