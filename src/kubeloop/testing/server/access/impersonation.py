"""Acting as somebody else, by headers: whom, and whether that is allowed.

Promises: every name, group, uid and extra that is taken on was asked for with the verb
`impersonate`; without impersonation headers the user stays who they are.
Elsewhere: who the user was before (`authn`).
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

__all__ = ["impersonated"]

_EXTRA: Final = "impersonate-extra-"
_AUTHENTICATION: Final = "authentication.k8s.io"


@final
class _Role(msgspec.Struct, frozen=True):
    """One thing that is taken on."""

    kind: str  # "ServiceAccount", "User", "Group", "UserExtra" or "UID"
    name: str
    namespace: str = ""
    key: str = ""

    def __str__(self) -> str:
        """As Go prints the reference that kube-apiserver makes of it."""
        version = f"{_AUTHENTICATION}/v1" if self.kind in {"UserExtra", "UID"} else ""
        return f"{{{self.kind} {self.namespace} {self.name}  {version}  {self.key}}}"


def impersonated(user: User, headers: Headers, authorizer: Authorizer) -> User:
    """Who acts: `user`, or whom the headers name when `user` may act as them.

    Raises:
        Refusal: groups, extras or a uid without a user (400), or it is not allowed (403).
    """
    roles = tuple(_roles(headers))
    if not roles:
        return user
    if roles[0].kind not in {"ServiceAccount", "User"}:
        said = " ".join(map(str, roles))
        raise statuses.bad_request(f"requested [{said}] without impersonating a user")
    for role in roles:
        asked = _asked(user, role)
        decision = authorizer.allows(asked)
        if not decision.allowed:
            raise forbidden(asked, decision.reason)
    return _become(roles)


def _roles(headers: Headers) -> Iterator[_Role]:
    name = headers.get("Impersonate-User") or ""
    account = split_service_account(name)
    if account is not None:
        yield _Role("ServiceAccount", account[1], account[0])
    elif name:
        yield _Role("User", name)
    for group in headers.getall("Impersonate-Group", ()):
        yield _Role("Group", group)
    for header in dict.fromkeys(each.lower() for each in headers.keys()):  # noqa: SIM118 # a protocol
        if header.startswith(_EXTRA):
            key = unquote(header.removeprefix(_EXTRA))
            for value in headers.getall(header, ()):
                yield _Role("UserExtra", value, key=key)
    uid = headers.get("Impersonate-Uid") or ""
    if uid:
        yield _Role("UID", uid)


_RESOURCES: Final = {
    "ServiceAccount": ("", "v1", "serviceaccounts"),
    "User": ("", "v1", "users"),
    "Group": ("", "v1", "groups"),
    "UserExtra": (_AUTHENTICATION, "v1", "userextras"),
    "UID": (_AUTHENTICATION, "v1", "uids"),
}


def _asked(user: User, role: _Role) -> Attributes:
    group, version, resource = _RESOURCES[role.kind]
    return Attributes(
        user,
        "impersonate",
        group=group,
        version=version,
        resource=resource,
        subresource=role.key,
        name=role.name,
        namespace=role.namespace,
    )


def _become(roles: Sequence[_Role]) -> User:
    first = roles[0]
    groups = [role.name for role in roles if role.kind == "Group"]
    name = first.name
    if first.kind == "ServiceAccount":
        name = f"system:serviceaccount:{first.namespace}:{first.name}"
        groups = groups or list(service_account_groups(first.namespace))
    extra: dict[str, tuple[str, ...]] = {}
    for role in roles:
        if role.kind == "UserExtra":
            extra[role.key] = (*extra.get(role.key, ()), role.name)
    uid = next((role.name for role in roles if role.kind == "UID"), "")
    return User(name, uid, tuple(_with_group_of_all(name, groups)), extra)


def _with_group_of_all(name: str, groups: list[str]) -> list[str]:
    if name == ANONYMOUS:
        return groups if UNAUTHENTICATED in groups else [*groups, UNAUTHENTICATED]
    if AUTHENTICATED in groups or UNAUTHENTICATED in groups:
        return groups
    return [*groups, AUTHENTICATED]
