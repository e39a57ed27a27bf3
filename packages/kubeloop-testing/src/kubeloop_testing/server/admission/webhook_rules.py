"""Which webhooks are called for a request.

Guarantees: pure; no webhook is called for webhook configurations and admission policies, so
that a bad one can always be removed.
See also: calling them (`webhooks`), what is sent (`webhook_reviews`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, final

import msgspec

from kubeloop.selectors import selector_from_wire
from kubeloop.wire import InvalidArgument

from .. import statuses
from ..identity import Objects, User, find_object

__all__ = ["AdmissionRequest", "Target", "is_exempt", "matches_rules", "matches_selectors"]

# `IsExemptAdmissionConfigurationResource` of kube-apiserver.
_EXEMPT: Final = frozenset(
    {
        "mutatingadmissionpolicies",
        "mutatingadmissionpolicybindings",
        "mutatingwebhookconfigurations",
        "validatingadmissionpolicies",
        "validatingadmissionpolicybindings",
        "validatingwebhookconfigurations",
    }
)


@final
class Target(msgspec.Struct, frozen=True):
    """A resource in one version, and its kind."""

    group: str
    version: str
    plural: str
    kind: str

    def kind_wire(self) -> dict[str, str]:
        return {"group": self.group, "version": self.version, "kind": self.kind}

    def resource_wire(self) -> dict[str, str]:
        return {"group": self.group, "version": self.version, "resource": self.plural}


@final
class AdmissionRequest(msgspec.Struct, frozen=True):
    """A write in admission: the operation, the object and the user.

    `obj` is None for a deletion, `old` for a creation. `namespace` is empty for cluster-wide
    resources, and the name itself for a Namespace. `options` is the options object of the
    operation (`{"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"}`).
    """

    operation: str  # "CREATE", "UPDATE", "DELETE" or "CONNECT"
    target: Target
    user: User
    name: str = ""
    namespace: str = ""
    subresource: str = ""
    obj: dict[str, Any] | None = None
    old: dict[str, Any] | None = None
    dry_run: bool = False
    options: dict[str, Any] | None = None


def is_exempt(request: AdmissionRequest) -> bool:
    """Whether no webhook is ever called for this resource."""
    target = request.target
    return target.group == "admissionregistration.k8s.io" and target.plural in _EXEMPT


def matches_rules(
    rules: Iterable[Mapping[str, Any]], request: AdmissionRequest, target: Target
) -> bool:
    """Whether one of a webhook's rules covers this operation on `target`."""
    return any(_matches(rule, request, target) for rule in rules)


def _matches(rule: Mapping[str, Any], request: AdmissionRequest, target: Target) -> bool:
    return (
        _in_scope(rule.get("scope") or "*", request)
        and _covers(rule.get("operations"), request.operation)
        and _covers(rule.get("apiGroups"), target.group)
        and _covers(rule.get("apiVersions"), target.version)
        and any(
            _is_resource(each, target.plural, request.subresource)
            for each in rule.get("resources") or ()
        )
    )


def _covers(patterns: Iterable[str] | None, value: str) -> bool:
    allowed = tuple(patterns or ())
    return "*" in allowed or value in allowed


def _is_resource(pattern: str, plural: str, subresource: str) -> bool:
    # `pods` covers only the object itself, `pods/*` its subresources too.
    resource, _, part = pattern.partition("/")
    return resource in {"*", plural} and part in {"*", subresource}


def _in_scope(scope: str, request: AdmissionRequest) -> bool:
    # A Namespace object counts as cluster-scoped.
    cluster_wide = not request.namespace or _is_namespace(request.target)
    return scope in {"*", "Cluster" if cluster_wide else "Namespaced"}


def _is_namespace(target: Target) -> bool:
    return (target.group, target.plural) == ("", "namespaces")


def matches_selectors(hook: Mapping[str, Any], request: AdmissionRequest, objects: Objects) -> bool:
    """Whether a webhook's namespace and object selectors match the request.

    Raises:
        StatusError: the request's namespace does not exist (404), or a selector is invalid (500).
    """
    try:
        return _namespace_matches(hook, request, objects) and _object_matches(hook, request)
    except InvalidArgument as error:
        raise statuses.internal_error(str(error)) from error


def _namespace_matches(
    hook: Mapping[str, Any], request: AdmissionRequest, objects: Objects
) -> bool:
    if not request.namespace and not _is_namespace(request.target):
        return True  # a namespaceSelector never exempts cluster-scoped resources
    selector = selector_from_wire(hook.get("namespaceSelector") or {})
    return selector.is_everything or selector.matches(_namespace_labels(request, objects))


def _namespace_labels(request: AdmissionRequest, objects: Objects) -> Mapping[str, str]:
    """The labels of the namespace; if the request writes the namespace itself, the new ones."""
    writes = request.operation in {"CREATE", "UPDATE"} and not request.subresource
    obj = request.obj if _is_namespace(request.target) and writes else None
    if obj is None:
        obj = find_object(objects, "", "namespaces", request.namespace)
    if obj is None:
        raise statuses.not_found("", "namespaces", request.namespace)
    return _labels(obj)


def _object_matches(hook: Mapping[str, Any], request: AdmissionRequest) -> bool:
    # Old or new object: changing the labels must not bypass a webhook.
    selector = selector_from_wire(hook.get("objectSelector") or {})
    states = (request.obj, request.old)
    return selector.is_everything or any(
        selector.matches(_labels(each)) for each in states if each is not None
    )


def _labels(obj: Mapping[str, Any]) -> Mapping[str, str]:
    found: Mapping[str, str] = (obj.get("metadata") or {}).get("labels") or {}
    return found
