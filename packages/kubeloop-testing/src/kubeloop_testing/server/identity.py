"""Users, attributes of requests, and decisions: values of authentication and authorization.

Guarantees: values and pure functions only.
See also: `access.authn` (the user of a request), `access.rbac` (decisions by roles).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, Protocol, TypeAlias, final

import msgspec

from kubeloop.wire import JsonObject

from . import statuses
from .values.causes import quoted

__all__ = [
    "ANONYMOUS",
    "AUTHENTICATED",
    "MASTERS",
    "UNAUTHENTICATED",
    "AllowAll",
    "Attributes",
    "Authorizer",
    "Decision",
    "Objects",
    "User",
    "find_object",
    "forbidden",
    "go_list",
    "service_account_groups",
    "service_account_name",
    "split_service_account",
]

# Names of apiserver/pkg/authentication/user.
ANONYMOUS: Final = "system:anonymous"
AUTHENTICATED: Final = "system:authenticated"
UNAUTHENTICATED: Final = "system:unauthenticated"
MASTERS: Final = "system:masters"

_ACCOUNT: Final = "system:serviceaccount:"
_ACCOUNTS: Final = "system:serviceaccounts"

# Reads the stored objects of a collection: `objects("rbac.authorization.k8s.io", "roles")`.
Objects: TypeAlias = Callable[[str, str], Iterable[JsonObject]]


@final
class User(msgspec.Struct, frozen=True):
    """An authenticated user (`user.Info`)."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = {}

    def user_info(self) -> JsonObject:
        """The user as `UserInfo` in reviews: empty fields are left out."""
        fields = {
            "username": self.name,
            "uid": self.uid,
            "groups": list(self.groups),
            "extra": {key: list(values) for key, values in self.extra.items()},
        }
        return {key: value for key, value in fields.items() if value}


@final
class Attributes(msgspec.Struct, frozen=True):
    """What a request does: a verb on a resource or, with `path`, on a non-resource URL."""

    user: User
    verb: str
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    name: str = ""
    namespace: str = ""
    path: str = ""

    @property
    def is_resource(self) -> bool:
        return not self.path

    @property
    def full_resource(self) -> str:
        """`pods`, or `pods/log` with its subresource."""
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource


@final
class Decision(msgspec.Struct, frozen=True):
    """The decision of an authorizer, and its reason in kube-apiserver's words, if any."""

    allowed: bool
    reason: str = ""


class Authorizer(Protocol):
    """Decides whether a user may do something."""

    def allows(self, attributes: Attributes, /) -> Decision: ...


@final
class AllowAll:
    """The authorizer of a server without RBAC."""

    def allows(self, attributes: Attributes, /) -> Decision:  # noqa: ARG002 # the protocol
        return Decision(allowed=True)


def forbidden(attributes: Attributes, reason: str = "") -> statuses.StatusError:
    """The 403 for attributes that an authorizer denies."""
    why = _escaped(_denial(attributes))
    return statuses.forbidden(
        attributes.group,
        attributes.resource,
        attributes.name,
        f"{why}: {reason}" if reason else why,
    )


def _denial(denied: Attributes) -> str:
    # forbiddenMessage of apiserver/pkg/endpoints/handlers/responsewriters.
    user = f"User {quoted(denied.user.name)} cannot {denied.verb}"
    if not denied.is_resource:
        return f"{user} path {quoted(denied.path)}"
    what = f"{user} resource {quoted(denied.full_resource)} in API group {quoted(denied.group)}"
    if denied.namespace:
        return f"{what} in the namespace {quoted(denied.namespace)}"
    return f"{what} at the cluster scope"


def _escaped(text: str) -> str:
    """Text without HTML: responsewriters.Forbidden escapes it, for browsers."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def service_account_name(namespace: str, name: str) -> str:
    """The user name of a service account."""
    return f"{_ACCOUNT}{namespace}:{name}"


def service_account_groups(namespace: str) -> tuple[str, str]:
    """The groups that every service account of a namespace is in."""
    return _ACCOUNTS, f"{_ACCOUNTS}:{namespace}"


def split_service_account(user_name: str) -> tuple[str, str] | None:
    """Namespace and name of the service account with this user name; None for other users."""
    # serviceaccount.SplitUsername: exactly one colon after the prefix.
    namespace, _, name = user_name.removeprefix(_ACCOUNT).partition(":")
    if not user_name.startswith(_ACCOUNT) or not namespace or not name or ":" in name:
        return None
    return namespace, name


def find_object(
    objects: Objects, group: str, plural: str, name: str, *, namespace: str = ""
) -> JsonObject | None:
    """The stored object of this name, or None."""
    for obj in objects(group, plural):
        meta = obj["metadata"]
        if meta["name"] == name and meta.get("namespace", "") == namespace:
            return obj
    return None


def go_list(words: Iterable[str]) -> str:
    """Words as Go prints a list of quoted strings: `["a" "b"]`."""
    return f"[{' '.join(map(quoted, words))}]"
