"""FlowSchema (flowcontrol.apiserver.k8s.io): defaults, validation and columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from kubeloop.meta import problems_of_dns_label, problems_of_dns_subdomain
from kubeloop.wire import JsonObject

from ...values import causes
from ...values.json_values import value_at
from ..kind import ALL_METADATA, Causes, Json, Kind, Since
from ..rules.cell_text import age_of, condition_of, name_of, or_else
from ..rules.defaults import in_spec
from ..rules.field_rules import check_required
from ..rules.value_rules import check_name, enumerate_objects

__all__ = ["KIND", "check_positive", "check_status"]


def _flow_schema(spec: JsonObject) -> JsonObject:
    return spec if spec.get("matchingPrecedence") else {**spec, "matchingPrecedence": 1000}


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


def _validate(obj: Json, _: Json | None) -> Causes:
    # `ValidateFlowSchemaSpec`.
    spec, name = obj.get("spec") or {}, (obj.get("metadata") or {}).get("name")
    precedence, where = spec.get("matchingPrecedence") or 0, "spec.matchingPrecedence"
    yield from check_positive(where, precedence, 10_000, "must be a positive value")
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


def _rule(path: str, rule: Json) -> Causes:
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


def _subject(path: str, subject: Json) -> Causes:
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


def _account(path: str, account: Json) -> Causes:
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


def _resource_rule(path: str, rule: Json) -> Causes:
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


def _url_rule(path: str, rule: Json) -> Causes:
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


def check_positive(path: str, value: int, highest: int, rule: str) -> Causes:
    if value < 1:
        yield causes.invalid(path, value, rule)
    elif value > highest:
        yield causes.invalid(path, value, f"must not be greater than {highest}")


def check_status(obj: Json, _: Json | None) -> Causes:
    seen: set[Any] = set()
    for index, each in enumerate_objects((obj.get("status") or {}).get("conditions")):
        path, kind = f"status.conditions[{index}].type", each.get("type") or ""
        if kind in seen:
            yield causes.duplicate(path, kind)
        seen.add(kind)
        yield from check_required(path, kind)


def _cells(obj: Json, since: Since) -> list[Any]:
    dangling = condition_of(obj, "Dangling")
    return [
        name_of(obj),
        value_at(obj, "spec", "priorityLevelConfiguration", "name") or "",
        value_at(obj, "spec", "matchingPrecedence") or 0,
        or_else(value_at(obj, "spec", "distinguisherMethod", "type"), "<none>"),
        age_of(obj, since),
        str(dangling.get("status")) if dangling else "?",
    ]


def _precedence(flow_schema: Mapping[str, Any]) -> tuple[int, str]:
    # `printFlowSchemaList` lists the schemas in the order in which requests are matched.
    found = value_at(flow_schema, "spec", "matchingPrecedence")
    return found if isinstance(found, int) else 0, flow_schema["metadata"]["name"]


KIND: Final = Kind(
    "flowcontrol.apiserver.k8s.io",
    "FlowSchema",
    generation="counted",
    kept_by_status=ALL_METADATA,
    defaults=(in_spec(_flow_schema),),
    validate=_validate,
    validate_parts={"status": check_status},
    columns="Name, PriorityLevel, MatchingPrecedence, DistinguisherMethod, Age, MissingPL",
    cells=_cells,
    row_order=_precedence,
)
