"""Privilege escalation: a user can grant only permissions that they have.

Guarantees: the verbs `escalate` (on roles) and `bind` (on the role of a binding) lift the
restriction, and so does `system:masters`, as in `pkg/registry/rbac/.../policybased`.
See also: `rbac` (the permissions of a user).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from kubeloop.wire import Json, JsonObject

from .. import statuses
from ..identity import MASTERS, Attributes, User, go_list
from ..values.causes import quoted
from .rbac import GROUP, Authorizer, RoleMissing
from .rbac_rules import EVERYTHING, Rule, compact, uncovered

__all__ = ["check_write"]

_AGGREGATION: Final = "must have cluster-admin privileges to use the aggregationRule"
_GC_FIELDS: Final = frozenset({"ownerReferences", "finalizers", "managedFields"})


def check_write(
    authorizer: Authorizer,
    user: User,
    plural: str,
    *,
    new: Mapping[str, Json],
    old: Mapping[str, Json] | None = None,
) -> None:
    """Check a create (without `old`) or an update of an object of the RBAC group.

    Raises:
        StatusError: it grants permissions that `user` does not have (403), or the role of a
            binding is missing (404).
    """
    # EscalationAllowed: system:masters need no permission to grant permissions. An update by the
    # garbage collector grants nothing, and its user may have fewer permissions than the role.
    if MASTERS in user.groups or (old is not None and _is_gc_update(new, old)):
        return
    if plural in {"roles", "clusterroles"}:
        _check_role(authorizer, user, plural, new, old or {})
    elif plural in {"rolebindings", "clusterrolebindings"}:
        _check_binding(authorizer, user, plural, new)


def _check_role(
    authorizer: Authorizer,
    user: User,
    plural: str,
    new: Mapping[str, Json],
    old: Mapping[str, Json],
) -> None:
    meta = new["metadata"]
    namespace, name = meta.get("namespace", ""), meta.get("name", "")
    attributes = Attributes(
        user, "escalate", group=GROUP, version="*", resource=plural, name=name, namespace=namespace
    )
    if authorizer.allows(attributes).allowed:  # RoleEscalationAuthorized
        return
    rules = [Rule.of(each) for each in new.get("rules") or ()]
    owned = authorizer.rules_for(user, namespace)
    _check_covered(user, owned, rules, plural=plural, name=name)
    # The controller will fill an aggregated role with rules that are not checked here, so that only
    # a user with all permissions may write one.
    if (_aggregates(new) or _aggregates(old)) and uncovered(owned[0], EVERYTHING):
        raise statuses.forbidden(GROUP, plural, name, _AGGREGATION)


def _check_binding(
    authorizer: Authorizer, user: User, plural: str, new: Mapping[str, Json]
) -> None:
    meta, role = new["metadata"], new.get("roleRef") or {}
    namespace, name = meta.get("namespace", ""), meta.get("name", "")
    kind, bound = role.get("kind", ""), role.get("name", "")
    roles = {"ClusterRole": "clusterroles", "Role": "roles"}.get(kind, "")
    attributes = Attributes(
        user, "bind", group=GROUP, version="*", resource=roles, name=bound, namespace=namespace
    )
    if roles and authorizer.allows(attributes).allowed:  # BindingAuthorized
        return
    try:
        rules = authorizer.rules_of(kind, bound, namespace)
    except RoleMissing as error:
        if roles:
            raise statuses.not_found(GROUP, roles, bound) from None
        raise statuses.bad_request(str(error)) from None
    owned = authorizer.rules_for(user, namespace)
    _check_covered(user, owned, rules, plural=plural, name=name)


def _check_covered(
    user: User,
    owned: tuple[list[Rule], str],
    rules: Sequence[Rule],
    *,
    plural: str,
    name: str,
) -> None:
    # ConfirmNoEscalation.
    held, problem = owned
    missing = uncovered(held, rules)
    if not missing:
        return
    listed = "\n".join(sorted({str(rule) for rule in compact(missing)}))
    why = (
        f"user {quoted(user.name)} (groups={go_list(user.groups)}) is attempting to grant RBAC "
        f"permissions not currently held:\n{listed}"
    )
    if problem:
        why += f"; resolution errors: [{problem}]"
    raise statuses.forbidden(GROUP, plural, name, why)


def _aggregates(role: Mapping[str, Json]) -> bool:
    return bool((role.get("aggregationRule") or {}).get("clusterRoleSelectors"))


def _is_gc_update(new: Mapping[str, Json], old: Mapping[str, Json]) -> bool:
    """Whether an update changes only fields of garbage collection (`IsOnlyMutatingGCFields`)."""
    return _without_gc_fields(new) == _without_gc_fields(old)


def _without_gc_fields(obj: Mapping[str, Json]) -> JsonObject:
    meta = {k: v for k, v in obj["metadata"].items() if k not in _GC_FIELDS}
    return {**obj, "metadata": meta}
