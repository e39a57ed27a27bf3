"""Impersonation: acts as another user if the headers say so and RBAC allows it.

Guarantees: every name, group, uid and extra value is authorized with the verb `impersonate`;
without impersonation headers the user stays the same.
See also: `authn` (the user before).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, final
from urllib.parse import unquote

import msgspec

from .. import statuses
from ..identity import (
    ANONYMOUS,
    AUTHENTICATED,
    UNAUTHENTICATED,
    Attributes,
    Authorizer,
    User,
    forbidden,
    service_account_groups,
    split_service_account,
)
from .authn import Headers

__all__ = ["impersonate"]

_EXTRA: Final = "impersonate-extra-"
_AUTHENTICATION: Final = "authentication.k8s.io"


@final
class _Impersonated(msgspec.Struct, frozen=True):
    """One attribute to impersonate."""

    kind: str  # "ServiceAccount", "User", "Group", "UserExtra" or "UID"
    name: str
    namespace: str = ""
    key: str = ""

    def __str__(self) -> str:
        """As Go prints the ObjectReference that kube-apiserver builds for it."""
        version = f"{_AUTHENTICATION}/v1" if self.kind in {"UserExtra", "UID"} else ""
        return f"{{{self.kind} {self.namespace} {self.name}  {version}  {self.key}}}"


def impersonate(user: User, headers: Headers, authorizer: Authorizer) -> User:
    """The impersonated user, or `user` if the headers name none.

    Raises:
        StatusError: groups, extras or a uid without a user (400), or it is not allowed (403).
    """
    requested = tuple(_attributes_in(headers))
    if not requested:
        return user
    if requested[0].kind not in {"ServiceAccount", "User"}:
        listed = " ".join(map(str, requested))
        raise statuses.bad_request(f"requested [{listed}] without impersonating a user")
    # Each attribute is authorized separately, as in filters.WithImpersonation.
    for each in requested:
        attributes = _attributes(user, each)
        decision = authorizer.allows(attributes)
        if not decision.allowed:
            raise forbidden(attributes, decision.reason)
    return _impersonated_user(requested)


def _attributes_in(headers: Headers) -> Iterator[_Impersonated]:
    name = headers.get("Impersonate-User") or ""
    account = split_service_account(name)
    if account is not None:
        yield _Impersonated("ServiceAccount", account[1], account[0])
    elif name:
        yield _Impersonated("User", name)
    # The order of buildImpersonationRequests decides which denial a client gets.
    for group in headers.getall("Impersonate-Group", ()):
        yield _Impersonated("Group", group)
    for header in dict.fromkeys(each.lower() for each in headers.keys()):  # noqa: SIM118 # a protocol
        if header.startswith(_EXTRA):
            # Header names are case-insensitive, so other characters of the key are escaped.
            key = unquote(header.removeprefix(_EXTRA))
            for value in headers.getall(header, ()):
                yield _Impersonated("UserExtra", value, key=key)
    uid = headers.get("Impersonate-Uid") or ""
    if uid:
        yield _Impersonated("UID", uid)


_RESOURCES: Final = {
    "ServiceAccount": ("", "v1", "serviceaccounts"),
    "User": ("", "v1", "users"),
    "Group": ("", "v1", "groups"),
    "UserExtra": (_AUTHENTICATION, "v1", "userextras"),
    "UID": (_AUTHENTICATION, "v1", "uids"),
}


def _attributes(user: User, requested: _Impersonated) -> Attributes:
    group, version, resource = _RESOURCES[requested.kind]
    return Attributes(
        user,
        "impersonate",
        group=group,
        version=version,
        resource=resource,
        subresource=requested.key,
        name=requested.name,
        namespace=requested.namespace,
    )


def _impersonated_user(requested: Sequence[_Impersonated]) -> User:
    first = requested[0]
    groups = [each.name for each in requested if each.kind == "Group"]
    name = first.name
    if first.kind == "ServiceAccount":
        name = f"system:serviceaccount:{first.namespace}:{first.name}"
        # Explicit groups replace those of the account.
        groups = groups or list(service_account_groups(first.namespace))
    extra: dict[str, tuple[str, ...]] = {}
    for each in requested:
        if each.kind == "UserExtra":
            extra[each.key] = (*extra.get(each.key, ()), each.name)
    uid = next((each.name for each in requested if each.kind == "UID"), "")
    return User(name, uid, tuple(_with_authenticated_group(name, groups)), extra)


def _with_authenticated_group(name: str, groups: list[str]) -> list[str]:
    if name == ANONYMOUS:
        return groups if UNAUTHENTICATED in groups else [*groups, UNAUTHENTICATED]
    if AUTHENTICATED in groups or UNAUTHENTICATED in groups:
        return groups
    return [*groups, AUTHENTICATED]
