"""Rules for the names and amounts of resources: cpu, memory, huge pages, extended resources.

Guarantees: the causes of kube-apiserver's `validateResourceRequirements` and of the functions
about resource names in `pkg/apis/core/helper`.
See also: containers (`container_validation`), limits and quotas (`core.limit_range`,
`core.resource_quota`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection
from typing import Any, Final, TypeAlias

from kubeloop.meta import problems_of_dns_label, problems_of_label_key
from kubeloop.wire import Quantity

from ...values import causes
from ..kind import Causes, Json
from .value_rules import check_name, enumerate_objects, parse_quantity

__all__ = [
    "HUGE_PAGES",
    "STANDARD_RESOURCES",
    "check_amount",
    "check_container_resource",
    "check_resource_name",
    "check_resources",
    "is_native",
]

_NameCheck: TypeAlias = Callable[[str, str], Causes]
HUGE_PAGES: Final = "hugepages-"
_CONTAINER_RESOURCES: Final = frozenset({"cpu", "memory", "ephemeral-storage"})
_COUNTS: Final = frozenset(
    {
        "configmaps",
        "persistentvolumeclaims",
        "pods",
        "replicationcontrollers",
        "resourcequotas",
        "secrets",
        "services",
        "services.loadbalancers",
        "services.nodeports",
    }
)
# `standardResources` of pkg/apis/core/helper.
STANDARD_RESOURCES: Final = frozenset(
    {
        *_CONTAINER_RESOURCES,
        *_COUNTS,
        "limits.cpu",
        "limits.ephemeral-storage",
        "limits.memory",
        "requests.cpu",
        "requests.ephemeral-storage",
        "requests.memory",
        "requests.storage",
        "storage",
    }
)
_ZERO: Final = Quantity("0")


def is_native(name: str) -> bool:
    """Whether Kubernetes itself defines the resource."""
    return "/" not in name or "kubernetes.io/" in name


@functools.lru_cache(1024)
def _is_extended(name: str) -> bool:
    """Whether it is a resource of a vendor, such as `example.com/gpu`."""
    if is_native(name) or name.startswith("requests."):
        return False
    return not problems_of_label_key(f"requests.{name}")


def check_resource_name(path: str, name: str) -> Causes:
    """A standard resource, or a qualified name with a domain."""
    found = problems_of_label_key(name)
    yield from (causes.invalid(path, name, problem) for problem in found)
    is_huge = name.startswith((HUGE_PAGES, f"requests.{HUGE_PAGES}"))
    if not found and "/" not in name and name not in STANDARD_RESOURCES and not is_huge:
        yield causes.invalid(path, name, "must be a standard resource type or fully qualified")


def check_container_resource(path: str, name: str) -> Causes:
    """A resource that a container can request."""
    # `ValidateContainerResourceName`.
    if name in _CONTAINER_RESOURCES:
        return
    yield from check_resource_name(path, name)
    if "/" not in name:
        if not name.startswith(HUGE_PAGES):
            yield causes.invalid(path, name, "must be a standard resource for containers")
    elif not is_native(name) and not _is_extended(name):
        yield causes.invalid(path, name, "must be the name of an extended resource")


def _check_pod_resource(path: str, name: str) -> Causes:
    # `validatePodResourceName`: the resources that a pod can share among its containers.
    found = list(check_resource_name(path, name))
    yield from found
    if not found and name not in {"cpu", "memory"} and not name.startswith(HUGE_PAGES):
        yield causes.not_supported(path, name, ("cpu", "hugepages-", "memory"))


def check_amount(path: str, name: str, value: Any) -> Causes:
    """A quantity that is not negative, and whole for resources that are counted."""
    # `ValidateResourceQuantityValue`.
    amount = parse_quantity(value)
    if amount is None:
        yield causes.invalid(path, value, "must be a quantity")
        return
    if amount < _ZERO:
        yield causes.invalid(path, amount.canonical(), "must be greater than or equal to 0")
    if (name in _COUNTS or _is_extended(name)) and amount.milli_value() % 1000:
        yield causes.invalid(path, amount.canonical(), "must be an integer")


def check_resources(
    resources: Json, path: str, claims: Collection[str], *, of_pod: bool = False
) -> Causes:
    """The requests, limits and claims of a container or of a pod."""
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    check: _NameCheck = _check_pod_resource if of_pod else check_container_resource
    for group, amounts in (("limits", limits), ("requests", requests)):
        for name, value in amounts.items():
            where = f"{path}.{group}[{name}]"
            yield from check(where, name)
            yield from check_amount(where, name, value)
            if group == "requests":
                yield from _request_and_limit(name, value, limits.get(name), path)
            if name.startswith(HUGE_PAGES):
                yield from _huge_pages(where, name, value)
    names = {*limits, *requests}
    if not names & {"cpu", "memory"} and any(each.startswith(HUGE_PAGES) for each in names):
        yield causes.forbidden(path, "HugePages require cpu or memory")
    yield from _claims(resources, f"{path}.claims", claims)


def _request_and_limit(name: str, value: Any, limit: Any, path: str) -> Causes:
    can_overcommit = is_native(name) and not name.startswith(HUGE_PAGES)
    if limit is None:
        if not can_overcommit:
            rule = "Limit must be set for non overcommitable resources"
            yield causes.required(f"{path}.limits", rule)
        return
    one, two = parse_quantity(value), parse_quantity(limit)
    if one is None or two is None:
        return
    if one != two and not can_overcommit:
        rule = f"must be equal to {name} limit of {two.canonical()}"
        yield causes.invalid(f"{path}.requests", one.canonical(), rule)
    elif one > two:
        rule = f"must be less than or equal to {name} limit of {two.canonical()}"
        yield causes.invalid(f"{path}.requests", one.canonical(), rule)


def _huge_pages(path: str, name: str, value: Any) -> Causes:
    # Pages are allocated as a whole.
    amount, page = parse_quantity(value), parse_quantity(name.removeprefix(HUGE_PAGES))
    if amount is None:
        return
    if page is None or page <= _ZERO or amount <= _ZERO or amount.value() % page.value():
        shown = amount.canonical()
        yield causes.invalid(path, shown, f"{shown} is not positive integer multiple of {name}")


def _claims(resources: Json, path: str, claims: Collection[str]) -> Causes:
    # `validateResourceClaimNames`.
    seen: set[str] = set()
    for index, each in enumerate_objects(resources.get("claims")):
        where, name, request = f"{path}[{index}]", each.get("name") or "", each.get("request")
        if not name:
            yield causes.required(where)
            continue
        if name in seen:
            yield causes.duplicate(where, name)
        else:
            if request:
                yield from check_name(f"{where}.request", request, problems_of_dns_label)
            key = f"{name}/{request}" if request else name
            if key in seen:
                yield causes.duplicate(where, key)
            elif not request:
                same = [other for other in seen if other.startswith(f"{name}/")]
                yield from (causes.duplicate(where, name) for _ in same)
            seen.add(key)
        if name not in claims:
            known = ", ".join(sorted(filter(None, claims)))
            rule = "must be one of the names in pod.spec.resourceClaims"
            rule += f": {known}" if known else " which is empty"
            yield causes.not_found(where, name, rule)
