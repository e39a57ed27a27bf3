"""The default roles and bindings of a server with RBAC.

Guarantees: the user-facing roles (`cluster-admin`, `admin`, `edit`, `view` and the roles they
aggregate) and the roles of all clients (discovery, self reviews) equal those of
`bootstrappolicy` in Kubernetes. Roles of Kubernetes' controllers are left out, because
they do not run here.
See also: `rbac` (evaluation).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from kubeloop.wire import JsonObject

from ..identity import AUTHENTICATED, MASTERS, UNAUTHENTICATED
from .rbac import GROUP, aggregate_rules
from .rbac_rules import Rule

__all__ = ["bootstrap_bindings", "bootstrap_roles"]

_READ: Final = ("get", "list", "watch")
_WRITE: Final = ("create", "delete", "deletecollection", "patch", "update")
_ALL: Final = tuple(sorted((*_READ, *_WRITE)))
_AGGREGATE: Final = "rbac.authorization.k8s.io/aggregate-to-"


def _rule(verbs: tuple[str, ...], groups: str, resources: str) -> Rule:
    """A rule from space-separated names; `core` is the core group."""
    names = tuple("" if each == "core" else each for each in groups.split())
    return Rule(verbs, names, tuple(resources.split()))


# Not in `view`: secrets, because reading the tokens in them would escalate privileges.
_VIEW: Final = (
    _rule(
        _READ,
        "core",
        "configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods "
        "replicationcontrollers replicationcontrollers/scale serviceaccounts services "
        "services/status",
    ),
    _rule(
        _READ,
        "core",
        "bindings limitranges namespaces/status pods/log pods/status "
        "replicationcontrollers/status resourcequotas resourcequotas/status",
    ),
    _rule(_READ, "core", "namespaces"),
    _rule(_READ, "core events.k8s.io", "events"),
    _rule(_READ, "discovery.k8s.io", "endpointslices"),
    _rule(
        _READ,
        "apps",
        "controllerrevisions daemonsets daemonsets/status deployments deployments/scale "
        "deployments/status replicasets replicasets/scale replicasets/status statefulsets "
        "statefulsets/scale statefulsets/status",
    ),
    _rule(_READ, "autoscaling", "horizontalpodautoscalers horizontalpodautoscalers/status"),
    _rule(_READ, "batch", "cronjobs cronjobs/status jobs jobs/status"),
    _rule(
        _READ,
        "extensions",
        "daemonsets daemonsets/status deployments deployments/scale deployments/status "
        "ingresses ingresses/status networkpolicies replicasets replicasets/scale "
        "replicasets/status replicationcontrollers/scale",
    ),
    _rule(_READ, "policy", "poddisruptionbudgets poddisruptionbudgets/status"),
    _rule(_READ, "networking.k8s.io", "ingresses ingresses/status networkpolicies"),
    _rule(_READ, "resource.k8s.io", "resourceclaims resourceclaims/status resourceclaimtemplates"),
)

_EDIT: Final = (
    _rule(
        _READ,
        "core",
        "pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy",
    ),
    _rule(("impersonate",), "core", "serviceaccounts"),
    _rule(_WRITE, "core", "pods pods/attach pods/exec pods/portforward pods/proxy"),
    _rule(("create",), "core", "pods/eviction"),
    _rule(
        _WRITE,
        "core",
        "configmaps persistentvolumeclaims replicationcontrollers "
        "replicationcontrollers/scale secrets serviceaccounts services services/proxy",
    ),
    _rule(("create",), "core", "serviceaccounts/token"),
    _rule(_WRITE, "core events.k8s.io", "events"),
    _rule(
        _WRITE,
        "apps",
        "daemonsets deployments deployments/rollback deployments/scale replicasets "
        "replicasets/scale statefulsets statefulsets/scale",
    ),
    _rule(_WRITE, "autoscaling", "horizontalpodautoscalers"),
    _rule(_WRITE, "batch", "cronjobs jobs"),
    _rule(
        _WRITE,
        "extensions",
        "daemonsets deployments deployments/rollback deployments/scale ingresses "
        "networkpolicies replicasets replicasets/scale replicationcontrollers/scale",
    ),
    _rule(_WRITE, "policy", "poddisruptionbudgets"),
    _rule(_WRITE, "networking.k8s.io", "ingresses networkpolicies"),
    _rule(_ALL, "coordination.k8s.io", "leases"),
    _rule(_WRITE, "resource.k8s.io", "resourceclaims resourceclaimtemplates"),
)

# Not in `edit`: roles and bindings of the namespace.
_ADMIN: Final = (
    _rule(("create",), "authorization.k8s.io", "localsubjectaccessreviews"),
    _rule(_ALL, GROUP, "rolebindings roles"),
)

_HEALTH: Final = ("/healthz", "/livez", "/readyz", "/version", "/version/")
_ISSUER: Final = (
    "/.well-known/openid-configuration",
    "/.well-known/openid-configuration/",
    "/openid/v1/jwks",
    "/openid/v1/jwks/",
)
_DISCOVERY: Final = ("/api", "/api/*", "/apis", "/apis/*", "/openapi", "/openapi/*")

_ROLES: Final[Mapping[str, tuple[Rule, ...]]] = {
    "cluster-admin": (Rule(("*",), ("*",), ("*",)), Rule(("*",), urls=("*",))),
    "system:aggregate-to-admin": _ADMIN,
    "system:aggregate-to-edit": _EDIT,
    "system:aggregate-to-view": _VIEW,
    "system:auth-delegator": (
        _rule(("create",), "authentication.k8s.io", "tokenreviews"),
        _rule(("create",), "authorization.k8s.io", "subjectaccessreviews"),
    ),
    "system:basic-user": (
        _rule(
            ("create",),
            "authorization.k8s.io",
            "selfsubjectaccessreviews selfsubjectrulesreviews",
        ),
        _rule(("create",), "authentication.k8s.io", "selfsubjectreviews"),
    ),
    "system:discovery": (Rule(("get",), urls=tuple(sorted((*_DISCOVERY, *_HEALTH)))),),
    "system:public-info-viewer": (Rule(("get",), urls=_HEALTH),),
    "system:service-account-issuer-discovery": (Rule(("get",), urls=_ISSUER),),
}
_AGGREGATED: Final = ("admin", "edit", "view")
# The role that aggregates each of these.
_AGGREGATED_INTO: Final = {
    "system:aggregate-to-admin": "admin",
    "system:aggregate-to-edit": "edit",
    "system:aggregate-to-view": "view",
    "edit": "admin",
    "view": "edit",
}
# Bound to groups that kube-apiserver itself adds to users.
_BINDINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "cluster-admin": (MASTERS,),
    "system:basic-user": (AUTHENTICATED,),
    "system:discovery": (AUTHENTICATED,),
    "system:public-info-viewer": (AUTHENTICATED, UNAUTHENTICATED),
    "system:service-account-issuer-discovery": ("system:serviceaccounts",),
}


def bootstrap_roles() -> list[JsonObject]:
    """The ClusterRoles to create; aggregated ones have their rules."""
    plain = [_role(name, rules) for name, rules in _ROLES.items()]
    aggregates = [_aggregate(name) for name in _AGGREGATED]
    roles = [*plain, *aggregates]
    return [*plain, *({**each, "rules": aggregate_rules(each, roles)} for each in aggregates)]


def bootstrap_bindings() -> list[JsonObject]:
    """The ClusterRoleBindings to create."""
    return list(_bindings())


def _bindings() -> Iterator[JsonObject]:
    for name, groups in _BINDINGS.items():
        yield {
            "apiVersion": f"{GROUP}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": _metadata(name),
            "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": name},
            "subjects": [{"apiGroup": GROUP, "kind": "Group", "name": each} for each in groups],
        }


def _role(name: str, rules: tuple[Rule, ...]) -> JsonObject:
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "ClusterRole",
        "metadata": _metadata(name),
        "rules": [rule.wire() for rule in rules],
    }


def _aggregate(name: str) -> JsonObject:
    selector = {"matchLabels": {f"{_AGGREGATE}{name}": "true"}}
    return {
        "aggregationRule": {"clusterRoleSelectors": [selector]},
        "apiVersion": f"{GROUP}/v1",
        "kind": "ClusterRole",
        "metadata": _metadata(name),
    }


def _metadata(name: str) -> JsonObject:
    labels = {"kubernetes.io/bootstrapping": "rbac-defaults"}
    if name in _AGGREGATED_INTO:
        labels[f"{_AGGREGATE}{_AGGREGATED_INTO[name]}"] = "true"
    return {
        "name": name,
        "labels": labels,
        # With it kube-apiserver restores missing rules at its start.
        "annotations": {"rbac.authorization.kubernetes.io/autoupdate": "true"},
    }
