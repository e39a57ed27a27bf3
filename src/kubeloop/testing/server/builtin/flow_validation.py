"""Validation of flowcontrol.apiserver.k8s.io: flow schemas and priority levels.

Guarantees: the checks of kube-apiserver's `pkg/apis/flowcontrol/validation`, with its paths,
reasons and order.
See also: defaults (`builtin_defaults`), shared checks (`field_rules`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from kubeloop.meta import problems_of_dns_label, problems_of_dns_subdomain

from ..values import causes
from .field_rules import Check, Raw, check_required
from .value_rules import Causes, check_name, check_range, enumerate_objects

__all__ = ["FLOWS", "FLOW_STATUSES"]

_GROUP: Final = "flowcontrol.apiserver.k8s.io"
_METHODS: Final = ("ByNamespace", "ByUser")
_VERBS: Final = (
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "proxy",
    "update",
    "watch",
)
# The field that each kind of subject has, in the order of the checks.
_SUBJECTS: Final = {"ServiceAccount": "serviceAccount", "User": "user", "Group": "group"}
_MAX_QUEUES: Final = 10_000_000
_MAX_HASH_BITS: Final = 60


# --- flow schemas


def _schema(obj: Raw, _: Raw | None) -> Causes:
    # `ValidateFlowSchemaSpec`.
    spec, name = obj.get("spec") or {}, (obj.get("metadata") or {}).get("name")
    precedence, where = spec.get("matchingPrecedence") or 0, "spec.matchingPrecedence"
    yield from _positive(where, precedence, 10_000, "must be a positive value")
    if precedence == 1 and name != "exempt":
        rule = "only the schema named 'exempt' may have matchingPrecedence 1"
        yield causes.invalid(where, precedence, rule)
    method = spec.get("distinguisherMethod")
    if method is not None and method.get("type") not in _METHODS:
        value = {"Type": method.get("type") or ""}
        yield causes.not_supported("spec.distinguisherMethod.type", value, _METHODS)
    level = (spec.get("priorityLevelConfiguration") or {}).get("name")
    where = "spec.priorityLevelConfiguration.name"
    yield from check_required(where, level, "must reference a priority level")
    if level:
        yield from check_name(where, level, problems_of_dns_subdomain)
    for index, each in enumerate_objects(spec.get("rules")):
        yield from _rule(f"spec.rules[{index}]", each)


def _rule(path: str, rule: Raw) -> Causes:
    yield from check_required(
        f"{path}.subjects", rule.get("subjects"), "subjects must contain at least one value"
    )
    for index, subject in enumerate_objects(rule.get("subjects")):
        yield from _subject(f"{path}.subjects[{index}]", subject)
    if not rule.get("resourceRules") and not rule.get("nonResourceRules"):
        why = "at least one of resourceRules and nonResourceRules has to be non-empty"
        yield causes.required(path, why)
    for index, each in enumerate_objects(rule.get("resourceRules")):
        yield from _resource_rule(f"{path}.resourceRules[{index}]", each)
    for index, each in enumerate_objects(rule.get("nonResourceRules")):
        yield from _url_rule(f"{path}.nonResourceRules[{index}]", each)


def _subject(path: str, subject: Raw) -> Causes:
    # `ValidateFlowSchemaSubject`.
    kind = subject.get("kind") or ""
    own = _SUBJECTS.get(kind)
    if own is None:
        yield causes.not_supported(f"{path}.kind", kind, sorted(_SUBJECTS))
        return
    found = subject.get(own)
    if found is None:
        yield causes.required(f"{path}.{own}", f"{own} is required when subject kind is '{kind}'")
    elif kind == "ServiceAccount":
        yield from _account(f"{path}.{own}", found)
    else:
        yield from check_required(f"{path}.{own}.name", found.get("name"))
    for other_kind, other in _SUBJECTS.items():
        if other != own and subject.get(other) is not None:
            rule = f"{other} is forbidden when subject kind is not '{other_kind}'"
            yield causes.forbidden(f"{path}.{other}", rule)


def _account(path: str, account: Raw) -> Causes:
    name, namespace = account.get("name") or "", account.get("namespace") or ""
    yield from check_required(f"{path}.name", name)
    if name not in ("", "*"):
        yield from check_name(f"{path}.name", name, problems_of_dns_subdomain)
    yield from check_required(
        f"{path}.namespace", namespace, "must specify namespace for service account"
    )
    if namespace:
        yield from check_name(f"{path}.namespace", namespace, problems_of_dns_label)


# Lists of a rule: what is missing if they are empty, and what they hold.
_LISTS: Final = {
    "verbs": ("verbs must contain at least one value", "verbs"),
    "apiGroups": ("resource rules must supply at least one api group", "api groups"),
    "resources": ("resource rules must supply at least one resource", "resources"),
    "namespaces": (
        "resource rules that are not cluster scoped must supply at least one namespace",
        "namespaces",
    ),
    "nonResourceURLs": ("nonResourceURLs must contain at least one value", "non-resource URLs"),
}


def _list(path: str, values: Sequence[str], supported: Sequence[str] = ()) -> Causes:
    """A list that is not empty, and in which `*` stands alone."""
    missing, what = _LISTS[path.rpartition(".")[2]]
    if not values:
        yield causes.required(path, missing)
    elif "*" in values:
        if len(values) > 1:
            rule = f"if '*' is present, must not specify other {what}"
            yield causes.invalid(path, values, rule)
    elif supported and not set(values) <= set(supported):
        yield causes.not_supported(path, values, supported)


def _resource_rule(path: str, rule: Raw) -> Causes:
    # `ValidateFlowSchemaResourcePolicyRule`.
    yield from _list(f"{path}.verbs", rule.get("verbs") or [], _VERBS)
    yield from _list(f"{path}.apiGroups", rule.get("apiGroups") or [])
    yield from _list(f"{path}.resources", rule.get("resources") or [])
    namespaces = rule.get("namespaces") or []
    if namespaces or not rule.get("clusterScope"):
        yield from _list(f"{path}.namespaces", namespaces)
    if "*" not in namespaces:
        for index, each in enumerate(namespaces):
            for problem in problems_of_dns_label(each):
                why = f"each member of this list must be '*' or a DNS-1123 label; {problem}"
                yield causes.invalid(f"{path}.namespaces[{index}]", each, why)


def _url_rule(path: str, rule: Raw) -> Causes:
    # `ValidateFlowSchemaNonResourcePolicyRule`.
    urls = rule.get("nonResourceURLs") or []
    yield from _list(f"{path}.verbs", rule.get("verbs") or [], _VERBS)
    yield from _list(f"{path}.nonResourceURLs", urls)
    if "*" not in urls:
        for index, url in enumerate(urls):
            problem = _url_problem(url)
            if problem:
                yield causes.invalid(f"{path}.nonResourceURLs[{index}]", url, problem)


def _url_problem(url: str) -> str:
    # `ValidateNonResourceURLPath`.
    if url == "/":
        return ""
    if not url.startswith("/"):
        return "must start with slash" if url else "must not be empty"
    if " " in url:
        return "must not contain white-space"
    if "//" in url:
        return "must not contain double slash"
    stars = url.count("*")
    return (
        ""
        if not stars or (stars == 1 and url.endswith("/*"))
        else "wildcard can only do suffix matching"
    )


# --- priority levels


def _level(obj: Raw, _: Raw | None) -> Causes:
    # `ValidatePriorityLevelConfigurationSpec`; causes of the declarative validation, about
    # missing and forbidden members, come last.
    spec, name = obj.get("spec") or {}, (obj.get("metadata") or {}).get("name")
    kind, limited, exempt = spec.get("type") or "", spec.get("limited"), spec.get("exempt")
    if (name == "exempt") != (kind == "Exempt"):
        rule = "must be 'Exempt' if and only if `name` is 'exempt'"
        yield causes.invalid("spec.type", kind, rule)
    if kind == "Exempt":
        yield from _exempt(exempt or {})
        if limited is not None:
            yield causes.forbidden("spec.limited", "")
    elif kind == "Limited":
        if limited is not None:
            yield from _limited(limited)
        else:
            yield causes.required("spec.limited", "")
        if exempt is not None:
            yield causes.forbidden("spec.exempt", "")
    elif kind:
        yield causes.not_supported("spec.type", kind, ("Exempt", "Limited"))
    else:
        yield causes.required("spec.type")


def _exempt(exempt: Raw) -> Causes:
    path = "spec.exempt"
    shares = exempt.get("nominalConcurrencyShares")
    if (shares or 0) < 0:
        rule = "must be a non-negative integer"
        yield causes.invalid(f"{path}.nominalConcurrencyShares", shares, rule)
    yield from check_range(f"{path}.lendablePercent", exempt.get("lendablePercent"), 0, 100)


def _limited(limited: Raw) -> Causes:
    path, response = "spec.limited", limited.get("limitResponse") or {}
    shares = limited.get("nominalConcurrencyShares")
    if (shares or 0) < 0:
        rule = "must be a non-negative integer"
        yield causes.invalid(f"{path}.nominalConcurrencyShares", shares, rule)
    kind, queuing = response.get("type") or "", response.get("queuing")
    where = f"{path}.limitResponse"
    if kind == "Queue" and queuing is not None:
        yield from _queuing(f"{where}.queuing", queuing)
    elif kind not in ("", "Queue", "Reject"):
        yield causes.not_supported(f"{where}.type", kind, ("Queue", "Reject"))
    yield from check_range(f"{path}.lendablePercent", limited.get("lendablePercent"), 0, 100)
    borrowed = limited.get("borrowingLimitPercent")
    if (borrowed or 0) < 0:
        rule = "if specified, must be a non-negative integer"
        yield causes.invalid(f"{path}.borrowingLimitPercent", borrowed, rule)
    if kind == "Reject" and queuing is not None:
        yield causes.forbidden(f"{where}.queuing", "")
    elif kind == "Queue" and queuing is None:
        yield causes.required(f"{where}.queuing", "")
    elif not kind:
        yield causes.required(f"{where}.type")


def _queuing(path: str, queuing: Raw) -> Causes:
    # `ValidatePriorityLevelQueuingConfiguration`.
    length, queues = queuing.get("queueLengthLimit") or 0, queuing.get("queues") or 0
    hand = queuing.get("handSize") or 0
    if length < 1:
        yield causes.invalid(f"{path}.queueLengthLimit", length, "must be positive")
    yield from _positive(f"{path}.queues", queues, _MAX_QUEUES, "must be positive")
    if hand <= 0:
        yield causes.invalid(f"{path}.handSize", hand, "must be positive")
    elif hand > queues:
        rule = f"should not be greater than queues ({queues})"
        yield causes.invalid(f"{path}.handSize", hand, rule)
    elif _entropy_bits(queues, hand) > _MAX_HASH_BITS:
        rule = (
            f"required entropy bits of deckSize {queues} and handSize {hand} should not be "
            f"greater than {_MAX_HASH_BITS}"
        )
        yield causes.invalid(f"{path}.handSize", hand, rule)


def _positive(path: str, value: int, highest: int, rule: str) -> Causes:
    if value < 1:
        yield causes.invalid(path, value, rule)
    elif value > highest:
        yield causes.invalid(path, value, f"must not be greater than {highest}")


def _entropy_bits(queues: int, hand: int) -> int:
    # `RequiredEntropyBits` of shuffle sharding.
    return math.ceil(sum(math.log2(queues - index) for index in range(hand)))


# --- statuses


def _status(obj: Raw, _: Raw | None) -> Causes:
    seen: set[Any] = set()
    for index, each in enumerate_objects((obj.get("status") or {}).get("conditions")):
        path, kind = f"status.conditions[{index}].type", each.get("type") or ""
        if kind in seen:
            yield causes.duplicate(path, kind)
        seen.add(kind)
        yield from check_required(path, kind)


FLOWS: Final[dict[tuple[str, str], Check]] = {
    (_GROUP, "FlowSchema"): _schema,
    (_GROUP, "PriorityLevelConfiguration"): _level,
}
FLOW_STATUSES: Final[dict[tuple[str, str, str], Check]] = {
    (_GROUP, "FlowSchema", "status"): _status,
    (_GROUP, "PriorityLevelConfiguration", "status"): _status,
}
