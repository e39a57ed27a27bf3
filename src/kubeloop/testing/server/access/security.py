"""Who may come in and what they may do, where that is switched on.

Promises: without credentials configured everybody is the cluster's administrator; with
them nobody is who does not show them; RBAC decides only when it is switched on.
Elsewhere: tokens and certificates (`authn`), roles (`rbac`), acting as others
(`impersonation`).
"""

from __future__ import annotations

import hashlib
from typing import Any, final

import msgspec

from kubeloop.selectors import parse_fields
from kubeloop.wire import InvalidArgument

from ..identity import AllowAll, Attributes, Authorizer, User, forbidden
from ..request.incoming import Incoming
from ..request.paths import ResourcePath
from .authn import Authenticator, subject_of

__all__ = ["ADMIN", "Security"]

ADMIN = User("kubernetes-admin", "", ("system:masters", "system:authenticated"))


@final
class Security:
    """The door: `identified` says who asks, `authorize` whether they may."""

    def __init__(
        self,
        *,
        authenticator: Authenticator | None = None,
        authorizer: Authorizer | None = None,
    ) -> None:
        self.authenticator = authenticator
        self.authorizer: Authorizer = authorizer or AllowAll()
        self.decides = authorizer is not None  # whether rights are looked at

    def decide_by(self, authorizer: Authorizer) -> None:
        """Look at rights from now on."""
        self.authorizer, self.decides = authorizer, True

    def identified(self, request: Incoming, peer: Any) -> Incoming:
        """The request with the user it comes from.

        Raises:
            Refusal: 401 for strangers, 403 for who may not speak as another.
        """
        user = ADMIN
        if self.authenticator is not None:
            user = self.authenticator.identify(request.headers, _subject(peer))
        if _impersonates(request.headers):
            from .impersonation import impersonated

            user = impersonated(user, request.headers, self.authorizer)
        return msgspec.structs.replace(request, user=user)

    def authorize(self, request: Incoming) -> None:
        """Raises `Refusal`, 403, for what the user of the request may not do."""
        if not self.decides:
            return
        asked = attributes_of(request.user, request)
        decision = self.authorizer.allows(asked)
        if not decision.allowed:
            raise forbidden(asked, decision.reason)


def attributes_of(user: User, request: Incoming) -> Attributes:
    """What a request asks for, as roles speak of it."""
    path = request.resource
    if path is None or not path.plural:
        return Attributes(user, request.method.lower(), path=request.path)
    return Attributes(
        user,
        request.verb or request.method.lower(),
        group=path.group,
        version=path.version,
        resource=path.plural,
        subresource=path.subresource,
        name=path.name or _selected_name(request),
        namespace=_namespace(path),
    )


def _selected_name(request: Incoming) -> str:
    """The one object that a list or a watch is about, where its selector names one."""
    text = request.query.text("fieldSelector")
    if not text or request.verb not in {"list", "watch"}:
        return ""
    try:
        return parse_fields(text).exact_value("metadata.name") or ""
    except InvalidArgument:
        return ""  # it is refused for that later


def _namespace(path: ResourcePath) -> str:
    # A namespace's own object is in itself, as roles in that namespace see it.
    if path.group == "" and path.plural == "namespaces" and path.name:
        return path.name
    return path.namespace


def _impersonates(headers: Any) -> bool:
    # Asked of every request, and nearly always in vain.
    return "impersonate-" in " ".join(headers).lower()


def _subject(peer: Any) -> Any:
    if peer is None:
        return None
    raw = peer.getpeercert(binary_form=True)
    fingerprint = hashlib.sha256(raw).hexdigest() if raw else ""
    return subject_of(peer.getpeercert(), fingerprint=fingerprint)
