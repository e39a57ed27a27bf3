"""What the two configurations of webhooks have in common; policies share some of it.

Guarantees: the checks of kube-apiserver's `pkg/apis/admissionregistration/validation`, with its
paths, reasons and order.
See also: policies (`policies`), how webhooks are called (`admission`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from kubeloop.meta import problems_of_dns_1035_label, problems_of_dns_subdomain
from kubeloop.wire import JsonObject

from ...values import causes
from ...values.json_values import Change, map_field, map_items, with_defaults
from ..kind import Causes, Json, Since, Warnings
from ..rules.cell_text import age_of, items_at, name_of
from ..rules.defaults import service_reference
from ..rules.field_rules import (
    check_known,
    check_qualified_name,
    check_required,
    check_service_port,
)
from ..rules.value_rules import check_choice, check_name, check_selector, enumerate_objects

__all__ = [
    "COLUMNS",
    "SELECTORS",
    "check_match_conditions",
    "check_rule",
    "check_webhooks",
    "conditions_not_evaluated",
    "default_rule",
    "static_name_warnings",
    "webhook_cells",
    "webhook_defaults",
]

SELECTORS: Final = {"matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}}


def webhook_defaults(**defaults: Any) -> Change:
    all_defaults = {"failurePolicy": "Fail", "timeoutSeconds": 10, **SELECTORS, **defaults}

    def fill(webhook: JsonObject) -> JsonObject:
        webhook = map_items(with_defaults(webhook, all_defaults), "rules", default_rule)
        return map_field(webhook, "clientConfig", service_reference)

    return lambda obj: map_items(obj, "webhooks", fill)


def default_rule(rule: JsonObject) -> JsonObject:
    return with_defaults(rule, {"scope": "*"})


_OPERATIONS: Final = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
_SCOPES: Final = ("*", "Cluster", "Namespaced")
_REVIEWS: Final = ("v1", "v1beta1")
_SIDE_EFFECTS: Final = ("None", "NoneOnDryRun")
_CONDITIONS: Final = 64


def check_webhooks(obj: Json, _: Json | None) -> Causes:
    seen: set[str] = set()
    for index, each in enumerate_objects(obj.get("webhooks")):
        path, name = f"webhooks[{index}]", each.get("name") or ""
        yield from _qualified(f"{path}.name", name)
        yield from _webhook(path, each)
        yield from _review_versions(f"{path}.admissionReviewVersions", each)
        if name and name in seen:
            yield causes.duplicate(f"{path}.name", name)
        seen.add(name)


def _qualified(path: str, name: str) -> Causes:
    # `IsFullyQualifiedName`.
    if not name:
        yield causes.required(path)
        return
    problems = problems_of_dns_subdomain(name)
    yield from (causes.invalid(path, name, problem) for problem in problems)
    if not problems and len(name.split(".")) < 3:
        rule = "should be a domain with at least three segments separated by dots"
        yield causes.invalid(path, name, rule)


def _webhook(path: str, each: Json) -> Causes:
    # `validateValidatingWebhook` and `validateMutatingWebhook`.
    for index, matched in enumerate_objects(each.get("rules")):
        yield from check_rule(f"{path}.rules[{index}]", matched)
    yield from check_known(f"{path}.failurePolicy", each.get("failurePolicy"), ("Fail", "Ignore"))
    yield from check_known(f"{path}.matchPolicy", each.get("matchPolicy"), ("Equivalent", "Exact"))
    effects = each.get("sideEffects")
    if effects is None:
        rule = "must specify one of None, NoneOnDryRun"
        yield causes.required(f"{path}.sideEffects", rule)
    yield from check_known(f"{path}.sideEffects", effects, _SIDE_EFFECTS)
    seconds = each.get("timeoutSeconds")
    if isinstance(seconds, int) and not 1 <= seconds <= 30:
        rule = "the timeout value must be between 1 and 30 seconds"
        yield causes.invalid(f"{path}.timeoutSeconds", seconds, rule)
    yield from check_selector(f"{path}.namespaceSelector", each.get("namespaceSelector"))
    yield from check_selector(f"{path}.objectSelector", each.get("objectSelector"))
    where = f"{path}.reinvocationPolicy"
    yield from check_choice(where, each.get("reinvocationPolicy"), ("IfNeeded", "Never"))
    yield from _client(f"{path}.clientConfig", each.get("clientConfig") or {})
    yield from check_match_conditions(f"{path}.matchConditions", each.get("matchConditions"))


def _review_versions(path: str, hook: Json) -> Causes:
    # `validateAdmissionReviewVersions`.
    versions = hook.get("admissionReviewVersions") or []
    if not versions:
        yield causes.required(path, "must specify one of v1, v1beta1")
        return
    for index, version in enumerate(versions):
        if version in versions[:index]:
            yield causes.invalid(f"{path}[{index}]", version, "duplicate version")
        else:
            yield from check_name(f"{path}[{index}]", version, problems_of_dns_1035_label)
    if not set(versions) & set(_REVIEWS):
        yield causes.invalid(path, versions, "must include at least one of v1, v1beta1")


def _client(path: str, client: Json) -> Causes:
    url, service = client.get("url"), client.get("service")
    if (url is None) == (service is None):
        yield causes.required(path, "exactly one of url or service is required")
    elif url is not None:
        yield from _url(f"{path}.url", url)
    elif service is not None:
        yield from _service(f"{path}.service", service)


def _url(path: str, url: str) -> Causes:
    # `ValidateWebhookURL`.
    parts = urlsplit(url)
    user, at, host = parts.netloc.rpartition("@")
    if parts.scheme != "https":
        rule = "'https' is the only allowed URL scheme; desired format: https://host[/path]"
        yield causes.invalid(path, parts.scheme, rule)
    if not host:
        rule = "host must be specified; desired format: https://host[/path]"
        yield causes.invalid(path, host, rule)
    if at:
        yield causes.invalid(path, user, "user information is not permitted in the URL")
    if parts.fragment:
        yield causes.invalid(path, parts.fragment, "fragments are not permitted in the URL")
    if parts.query:
        yield causes.invalid(path, parts.query, "query parameters are not permitted in the URL")


def _service(path: str, service: Json) -> Causes:
    # `ValidateWebhookService`.
    for field in ("name", "namespace"):
        yield from check_required(f"{path}.{field}", service.get(field))
    yield from check_service_port(f"{path}.port", service.get("port", 443))
    url_path = service.get("path")
    if url_path in (None, "", "/"):
        return
    if not url_path.startswith("/"):
        yield causes.invalid(f"{path}.path", url_path, "must start with a '/'")
    for index, segment in enumerate(url_path[1:].removesuffix("/").split("/")):
        if not segment:
            yield causes.invalid(f"{path}.path", url_path, f"segment[{index}] may not be empty")
        for problem in problems_of_dns_subdomain(segment) if segment else ():
            yield causes.invalid(f"{path}.path", url_path, f"segment[{index}]: {problem}")


def check_rule(path: str, rule: Json) -> Causes:
    # `validateRuleWithOperations`.
    operations = rule.get("operations") or []
    yield from _wildcard(f"{path}.operations", operations)
    for index, each in enumerate(operations):
        if each not in _OPERATIONS:
            yield causes.not_supported(f"{path}.operations[{index}]", each, _OPERATIONS)
    yield from _wildcard(f"{path}.apiGroups", rule.get("apiGroups") or [])
    versions = rule.get("apiVersions") or []
    yield from _wildcard(f"{path}.apiVersions", versions)
    for index, each in enumerate(versions):
        yield from check_required(f"{path}.apiVersions[{index}]", each)
    yield from _resources(f"{path}.resources", rule.get("resources") or [])
    yield from check_known(f"{path}.scope", rule.get("scope"), _SCOPES)


_WILDCARDS: Final = {"apiGroups": "API groups", "apiVersions": "API versions"}


def _wildcard(path: str, values: Sequence[str]) -> Causes:
    yield from check_required(path, values)
    if len(values) > 1 and "*" in values:
        what = _WILDCARDS.get(path.rpartition(".")[2], "operations")
        rule = f"if '*' is present, must not specify other {what}"
        yield causes.invalid(path, values, rule)


def _resources(path: str, resources: Sequence[str]) -> Causes:
    # `validateResources`.
    yield from check_required(path, resources)
    whole: set[str] = set()  # resources with all subresources
    parts: set[str] = set()  # subresources of all resources
    plain = False  # whether the last resource without a subresource is not `*`
    for index, each in enumerate(resources):
        resource, slash, part = each.partition("/")
        if not each:
            yield causes.required(f"{path}[{index}]")
            continue
        if not slash:
            plain = each != "*"
            continue
        for covered, by in ((resource in whole, f"{resource}/*"), (part in parts, f"*/{part}")):
            if covered:
                rule = f"if '{by}' is present, must not specify {each}"
                yield causes.invalid(f"{path}[{index}]", each, rule)
        if part == "*":
            whole.add(resource)
        if resource == "*":
            parts.add(part)
    if len(resources) > 1 and "*/*" in resources:
        yield causes.invalid(
            path, resources, "if '*/*' is present, must not specify other resources"
        )
    if "*" in resources and plain:
        rule = "if '*' is present, must not specify other resources without subresources"
        yield causes.invalid(path, resources, rule)


def check_match_conditions(path: str, conditions: Any) -> Causes:
    # `validateMatchConditions`, except that expressions are not compiled.
    if isinstance(conditions, list) and len(conditions) > _CONDITIONS:
        yield causes.too_many(path, len(conditions), _CONDITIONS)
    seen: set[str] = set()
    for index, each in enumerate_objects(conditions):
        name, where = each.get("name") or "", f"{path}[{index}]"
        yield from check_required(f"{where}.expression", (each.get("expression") or "").strip())
        yield from check_required(f"{where}.name", name)
        if name:
            yield from check_qualified_name(f"{where}.name", name)
            if name in seen:
                yield causes.duplicate(f"{where}.name", name)
            seen.add(name)


_STATIC: Final = ".static.k8s.io"


def static_name_warnings(obj: Json, old: Json | None) -> Warnings:
    del old
    if ((obj.get("metadata") or {}).get("name") or "").endswith(_STATIC):
        yield f"metadata.name: names that end with {_STATIC} are reserved for static configurations"


def conditions_not_evaluated(obj: Json) -> Warnings:
    """The match conditions of webhooks, which are CEL."""
    for index, hook in enumerate(obj.get("webhooks") or ()):
        names = [str(condition.get("name", "")) for condition in hook.get("matchConditions") or ()]
        if names:
            yield (
                f"webhooks[{index}].matchConditions ({', '.join(names)}): this server does not "
                f'evaluate CEL, the webhook "{hook.get("name", "")}" is called regardless of them'
            )


def webhook_cells(obj: Json, since: Since) -> list[Any]:
    return [name_of(obj), len(items_at(obj, "webhooks")), age_of(obj, since)]


COLUMNS: Final = "Name, Webhooks:integer, Age"
