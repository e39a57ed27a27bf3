"""RBAC for real: what the stored roles and bindings allow.

Promises: rules are purely additive, a binding whose role is missing allows nothing;
aggregated cluster roles are put together from the roles as they are now; members of
`system:masters` may do everything; reasons read as kube-apiserver's.
Elsewhere: one rule (`rbac_rules`), the roles every server has (`bootstrap_roles`), who may
write roles (`escalation`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, final

import msgspec

from kubeloop.selectors import Selector, selector_from_wire
from kubeloop.wire import InvalidArgument

from ..identity import MASTERS, Attributes, Decision, Objects, User, service_account_name
from ..values.causes import quoted
from .rbac_rules import EVERYTHING, Rule

__all__ = ["GROUP", "Attributes", "Authorizer", "Decision", "RoleMissing", "Rule", "aggregated"]

GROUP: Final = "rbac.authorization.k8s.io"


class RoleMissing(Exception):
    """A binding names a role that is not there; the text is kube-apiserver's."""


@final
class _Binding(msgspec.Struct, frozen=True):
    """A RoleBinding or, without namespace, a ClusterRoleBinding."""

    name: str
    namespace: str
    role: tuple[str, str]  # kind and name
    subjects: tuple[tuple[str, str, str], ...]  # kind, namespace, name

    @classmethod
    def of(cls, obj: Mapping[str, Any]) -> _Binding:
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
        """The first subject that `user` is."""
        return next((each for each in self.subjects if self._is(user, each)), None)

    def _is(self, user: User, subject: tuple[str, str, str]) -> bool:
        kind, namespace, name = subject
        match kind:
            case "User":
                return user.name == name
            case "Group":
                return name in user.groups
            case "ServiceAccount":
                home = namespace or self.namespace
                return bool(home) and user.name == service_account_name(home, name)
        return False

    def described(self, subject: tuple[str, str, str]) -> str:
        """`ClusterRoleBinding "x" of ClusterRole "y" to User "z"`."""
        kind, home, name = subject
        if kind == "ServiceAccount":
            name = f"{name}/{home or self.namespace}"
        own = f"{self.name}/{self.namespace}" if self.namespace else self.name
        what = "RoleBinding" if self.namespace else "ClusterRoleBinding"
        role = f"{self.role[0]} {quoted(self.role[1])}"
        return f"{what} {quoted(own)} of {role} to {kind} {quoted(name)}"


@final
class _Policy:
    """Everything that RBAC objects say at one moment, ready to be asked."""

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
        """The bindings that concern a user, cluster-wide ones first, and how they read."""
        inside = self._inside.get(namespace, ()) if namespace else ()
        for binding in (*self._everywhere, *inside):
            subject = binding.subject_of(user)
            if subject is not None:
                yield binding, binding.described(subject)

    def rules(self, kind: str, name: str, namespace: str) -> tuple[Rule, ...]:
        """The rules of a role that a binding names.

        Raises:
            RoleMissing: there is no such role.
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
    """Answers from the stored RBAC objects.

    `version` tells when they may have changed: while it answers the same, what was read is
    used again. Without it the objects are read for every question.
    """

    def __init__(self, objects: Objects, *, version: Callable[[], object] | None = None) -> None:
        self._objects = objects
        self._version = version
        self._known: tuple[object, _Policy] | None = None

    def allows(self, attributes: Attributes, /) -> Decision:
        """Whether the user may, and by which binding or because of what they may not."""
        if MASTERS in attributes.user.groups:
            return Decision(allowed=True)
        problems: list[str] = []
        policy = self._policy()
        for binding, described in policy.bindings(attributes.user, attributes.namespace):
            try:
                rules = policy.rules(*binding.role, binding.namespace)
            except RoleMissing as problem:
                problems.append(str(problem))
                continue
            if any(rule.allows(attributes) for rule in rules):
                return Decision(True, f"RBAC: allowed by {described}")  # noqa: FBT003 # the answer
        return Decision(False, _reason(problems))  # noqa: FBT003 # the answer

    def rules_for(self, user: User, namespace: str) -> tuple[list[Rule], str]:
        """Every rule that speaks for `user` in a namespace, and what could not be read."""
        problems: list[str] = []
        rules: list[Rule] = []
        policy = self._policy()
        for binding, _ in policy.bindings(user, namespace):
            try:
                rules += policy.rules(*binding.role, binding.namespace)
            except RoleMissing as problem:
                problems.append(str(problem))
        if MASTERS in user.groups and not rules:  # a server without the bootstrap bindings
            rules += EVERYTHING
        return rules, _joined(problems)

    def rules_of(self, kind: str, name: str, namespace: str = "") -> tuple[Rule, ...]:
        """The rules of one role, aggregated ones put together.

        Raises:
            RoleMissing: there is no such role.
        """
        return self._policy().rules(kind, name, namespace)

    def _policy(self) -> _Policy:
        if self._version is None:
            return _Policy(self._objects)
        version = self._version()
        if self._known is None or self._known[0] != version:
            self._known = (version, _Policy(self._objects))
        return self._known[1]


def aggregated(role: Mapping[str, Any], roles: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rules of an aggregated ClusterRole, from `roles` as they are: what kube's
    controller writes into it. Roles without aggregation keep their own."""
    if not _selectors(role):
        return list(role.get("rules") or ())
    return [rule.wire() for rule in _rules_of(role, tuple(roles))]


def _rules_of(
    role: Mapping[str, Any],
    roles: tuple[Mapping[str, Any], ...],
    seen: frozenset[str] = frozenset(),
) -> tuple[Rule, ...]:
    selectors = _selectors(role)
    if not selectors:
        return _own_rules(role)
    seen |= {role["metadata"]["name"]}
    found: dict[Rule, None] = {}
    for each in sorted(roles, key=lambda obj: str(obj["metadata"]["name"])):
        labels = each["metadata"].get("labels") or {}
        if each["metadata"]["name"] not in seen and any(s.matches(labels) for s in selectors):
            found |= dict.fromkeys(_rules_of(each, roles, seen))
    return tuple(found)


def _own_rules(role: Mapping[str, Any]) -> tuple[Rule, ...]:
    return tuple(map(Rule.of, role.get("rules") or ()))


def _selectors(role: Mapping[str, Any]) -> list[Selector]:
    wire = (role.get("aggregationRule") or {}).get("clusterRoleSelectors") or ()
    try:
        return [selector_from_wire(each) for each in wire]
    except InvalidArgument:
        return []  # a selector that cannot be read gathers nothing


def _reason(problems: list[str]) -> str:
    return f"RBAC: {_joined(problems)}" if problems else ""


def _joined(problems: list[str]) -> str:
    """Several errors as Go prints them; equal ones are told once."""
    told = list(dict.fromkeys(problems))
    return told[0] if len(told) == 1 else (f"[{', '.join(told)}]" if told else "")
