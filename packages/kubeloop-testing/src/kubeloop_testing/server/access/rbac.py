"""RBAC: decides by the stored roles and bindings.

Guarantees: rules only add permissions, and a binding to a missing role adds none; aggregated
ClusterRoles are computed from the current roles; `system:masters` may do everything; reasons
have kube-apiserver's texts.
See also: `rbac_rules` (one rule), `bootstrap_roles` (default roles), `escalation`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, final

import msgspec

from kubeloop.selectors import Selector, selector_from_wire
from kubeloop.wire import InvalidArgument, Json, JsonObject

from ..identity import MASTERS, Attributes, Decision, Objects, User, service_account_name
from ..values.causes import quoted
from .rbac_rules import EVERYTHING, Rule

__all__ = [
    "GROUP",
    "Attributes",
    "Authorizer",
    "Decision",
    "RoleMissing",
    "Rule",
    "aggregate_rules",
]

GROUP: Final = "rbac.authorization.k8s.io"


class RoleMissing(Exception):
    """A binding names a role that does not exist; the text is kube-apiserver's."""


@final
class _Binding(msgspec.Struct, frozen=True):
    """A RoleBinding or, without namespace, a ClusterRoleBinding."""

    name: str
    namespace: str
    role: tuple[str, str]  # kind and name
    subjects: tuple[tuple[str, str, str], ...]  # kind, namespace, name

    @classmethod
    def of(cls, obj: Mapping[str, Json]) -> _Binding:
        meta, role = obj["metadata"], obj.get("roleRef") or {}
        return cls(
            meta["name"],
            meta.get("namespace", ""),
            (role.get("kind", ""), role.get("name", "")),
            tuple(
                (each.get("kind", ""), each.get("namespace", ""), each.get("name", ""))
                for each in obj.get("subjects") or ()
            ),
        )

    def subject_of(self, user: User) -> tuple[str, str, str] | None:
        """The first subject that matches `user`."""
        return next((each for each in self.subjects if self._is(user, each)), None)

    def _is(self, user: User, subject: tuple[str, str, str]) -> bool:
        kind, namespace, name = subject
        match kind:
            case "User":
                return user.name == name
            case "Group":
                return name in user.groups
            case "ServiceAccount":
                # A cluster-wide binding has no namespace to fall back to: it matches no account.
                own = namespace or self.namespace
                return bool(own) and user.name == service_account_name(own, name)
        return False

    def description(self, subject: tuple[str, str, str]) -> str:
        """`ClusterRoleBinding "x" of ClusterRole "y" to User "z"`."""
        kind, namespace, name = subject
        if kind == "ServiceAccount":
            name = f"{name}/{namespace or self.namespace}"
        own = f"{self.name}/{self.namespace}" if self.namespace else self.name
        what = "RoleBinding" if self.namespace else "ClusterRoleBinding"
        role = f"{self.role[0]} {quoted(self.role[1])}"
        return f"{what} {quoted(own)} of {role} to {kind} {quoted(name)}"


@final
class _Policy:
    """All RBAC objects at one version, indexed for decisions."""

    def __init__(self, objects: Objects) -> None:
        clusterroles = tuple(objects(GROUP, "clusterroles"))
        self._clusterroles = {
            obj["metadata"]["name"]: _rules_of(obj, clusterroles) for obj in clusterroles
        }
        self._roles = {
            (obj["metadata"].get("namespace", ""), obj["metadata"]["name"]): _own_rules(obj)
            for obj in objects(GROUP, "roles")
        }
        self._everywhere = [_Binding.of(obj) for obj in objects(GROUP, "clusterrolebindings")]
        self._inside: dict[str, list[_Binding]] = {}
        for binding in map(_Binding.of, objects(GROUP, "rolebindings")):
            self._inside.setdefault(binding.namespace, []).append(binding)

    def bindings(self, user: User, namespace: str) -> Iterator[tuple[_Binding, str]]:
        """The bindings of a user, cluster-wide ones first, each with its description."""
        # VisitRulesFor: cluster-wide bindings first; the first match is the reason in reviews.
        inside = self._inside.get(namespace, ()) if namespace else ()
        for binding in (*self._everywhere, *inside):
            subject = binding.subject_of(user)
            if subject is not None:
                yield binding, binding.description(subject)

    def rules(self, kind: str, name: str, namespace: str) -> tuple[Rule, ...]:
        """The rules of a role that a binding names.

        Raises:
            RoleMissing: the role does not exist.
        """
        found: tuple[Rule, ...] | None = None
        if kind == "ClusterRole":
            found = self._clusterroles.get(name)
        elif kind == "Role":
            found = self._roles.get((namespace, name))
        else:
            raise RoleMissing(f"unsupported role reference kind: {quoted(kind)}")
        if found is None:
            raise RoleMissing(f"{kind.lower()}.{GROUP} {quoted(name)} not found")
        return found


@final
class Authorizer:
    """Decides by the stored RBAC objects.

    `version` returns a value that changes with them: while it is the same, the index is used
    again. Without it the index is built for every decision.
    """

    def __init__(self, objects: Objects, *, version: Callable[[], object] | None = None) -> None:
        self._objects = objects
        self._version = version
        self._cached: tuple[object, _Policy] | None = None

    def allows(self, attributes: Attributes, /) -> Decision:
        """Whether the user may do it, and by which binding, or what is wrong with the bindings."""
        # kube-apiserver has a separate authorizer for this group, before RBAC.
        if MASTERS in attributes.user.groups:
            return Decision(allowed=True)
        problems: list[str] = []
        policy = self._policy()
        for binding, description in policy.bindings(attributes.user, attributes.namespace):
            try:
                rules = policy.rules(*binding.role, binding.namespace)
            except RoleMissing as problem:
                # Other bindings may still allow it; the error is the reason of a denial.
                problems.append(str(problem))
                continue
            if any(rule.allows(attributes) for rule in rules):
                return Decision(allowed=True, reason=f"RBAC: allowed by {description}")
        return Decision(allowed=False, reason=_reason(problems))

    def rules_for(self, user: User, namespace: str) -> tuple[list[Rule], str]:
        """All rules of `user` in a namespace, and the errors of their bindings."""
        problems: list[str] = []
        rules: list[Rule] = []
        policy = self._policy()
        for binding, _ in policy.bindings(user, namespace):
            try:
                rules += policy.rules(*binding.role, binding.namespace)
            except RoleMissing as problem:
                problems.append(str(problem))
        if MASTERS in user.groups and not rules:  # the bootstrap bindings were deleted
            rules += EVERYTHING
        return rules, _joined(problems)

    def rules_of(self, kind: str, name: str, namespace: str = "") -> tuple[Rule, ...]:
        """The rules of one role; those of an aggregated ClusterRole are computed.

        Raises:
            RoleMissing: the role does not exist.
        """
        return self._policy().rules(kind, name, namespace)

    def _policy(self) -> _Policy:
        if self._version is None:
            return _Policy(self._objects)
        version = self._version()
        if self._cached is None or self._cached[0] != version:
            self._cached = (version, _Policy(self._objects))
        return self._cached[1]


def aggregate_rules(
    role: Mapping[str, Json], roles: Iterable[Mapping[str, Json]]
) -> list[JsonObject]:
    """The rules that the clusterrole-aggregation controller writes into a ClusterRole.

    A role without an aggregation rule keeps its rules.
    """
    if not _selectors(role):
        return list(role.get("rules") or ())
    return [rule.wire() for rule in _rules_of(role, tuple(roles))]


def _rules_of(
    role: Mapping[str, Json],
    roles: tuple[Mapping[str, Json], ...],
    seen: frozenset[str] = frozenset(),
) -> tuple[Rule, ...]:
    selectors = _selectors(role)
    if not selectors:
        return _own_rules(role)
    seen |= {role["metadata"]["name"]}  # roles can aggregate each other
    found: dict[Rule, None] = {}
    for each in sorted(roles, key=lambda obj: str(obj["metadata"]["name"])):
        labels = each["metadata"].get("labels") or {}
        if each["metadata"]["name"] not in seen and any(s.matches(labels) for s in selectors):
            found |= dict.fromkeys(_rules_of(each, roles, seen))
    return tuple(found)


def _own_rules(role: Mapping[str, Json]) -> tuple[Rule, ...]:
    return tuple(map(Rule.of, role.get("rules") or ()))


def _selectors(role: Mapping[str, Json]) -> list[Selector]:
    wire = (role.get("aggregationRule") or {}).get("clusterRoleSelectors") or ()
    try:
        return [selector_from_wire(each) for each in wire]
    except InvalidArgument:
        return []  # an invalid selector selects no role


def _reason(problems: list[str]) -> str:
    return f"RBAC: {_joined(problems)}" if problems else ""


def _joined(problems: list[str]) -> str:
    """Several errors as Go's aggregate error prints them, without duplicates."""
    found = list(dict.fromkeys(problems))
    return found[0] if len(found) == 1 else (f"[{', '.join(found)}]" if found else "")
