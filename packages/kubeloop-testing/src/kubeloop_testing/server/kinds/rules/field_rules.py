"""Checks of single fields that the smaller groups share: names, sets, conditions, CSI drivers.

Guarantees: each check yields the causes of kube-apiserver for a field path, and nothing for a
value that is valid.
See also: numbers, choices and selectors (`value_rules`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from kubeloop.meta import problems_of_dns_label, problems_of_dns_subdomain, problems_of_label_key

from ...values import causes
from ...values.json_values import json_equal
from ..kind import Causes, Json
from .value_rules import check_name, enumerate_objects

__all__ = [
    "check_conditions",
    "check_driver_name",
    "check_fixed",
    "check_known",
    "check_qualified_name",
    "check_required",
    "check_service_port",
    "check_signer_name",
    "check_unique",
]

_DRIVER_NAME_LENGTH: Final = 63
_CONDITION_REASON: Final = re.compile("[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?")
_CASELESS_SUBDOMAIN: Final = (
    "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'Example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
_SIGNER_LENGTHS: Final = (253, 571)


def check_required(path: str, value: Any, rule: str = "") -> Causes:
    """A value that is not empty."""
    if value in (None, "", [], {}):
        yield causes.required(path, rule)


def check_known(path: str, value: Any, allowed: Iterable[str]) -> Causes:
    """One of `allowed`; unlike `check_choice`, an empty text is wrong too. None is not checked."""
    if value is not None and value not in allowed:
        yield causes.not_supported(path, value, sorted(allowed))


def check_fixed(path: str, value: Any, before: Any) -> Causes:
    """A field that cannot change, by kube-apiserver's declarative validation.

    Its causes have no value, unlike those of `ValidateImmutableField` (`check_unchanged`).
    """
    if not json_equal(value, before):
        yield causes.invalid(path, None, causes.IMMUTABLE)


def check_unique(path: str, values: Iterable[Any], field: str = "") -> Causes:
    """No value occurs twice in a list; `field` is the name of the compared field."""
    seen: list[Any] = []
    for index, value in enumerate(values):
        if value in seen:
            yield causes.duplicate(f"{path}[{index}]{field}", value)
        seen.append(value)


def check_qualified_name(path: str, value: str) -> Causes:
    # `ValidateQualifiedName`.
    yield from check_name(path, value, problems_of_label_key)


def check_service_port(path: str, value: Any) -> Causes:
    """The port of a service that kube-apiserver calls."""
    if not isinstance(value, int) or not 1 <= value <= 65535:
        rule = "port is not valid: must be between 1 and 65535, inclusive"
        yield causes.invalid(path, value, rule)


def check_driver_name(path: str, value: str) -> Causes:
    # `ValidateCSIDriverName`.
    if not value:
        yield causes.required(path)
        return
    if len(value) > _DRIVER_NAME_LENGTH:
        yield causes.too_long(path, _DRIVER_NAME_LENGTH, unit="character")
    if problems_of_dns_subdomain(value.lower()):
        yield causes.invalid(path, value, _CASELESS_SUBDOMAIN)


def check_signer_name(path: str, value: str) -> Causes:
    # `ValidateSignerName`: a domain, a slash, and a path of names.
    if not value:
        yield causes.required(path)
        return
    domain, slash, rest = value.partition("/")
    if not slash or "/" in rest:
        rule = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
        yield causes.invalid(path, value, rule)
        return
    if len(domain) > _SIGNER_LENGTHS[0]:
        yield causes.too_long(path, _SIGNER_LENGTHS[0])
    labels = domain.split(".")
    yield from _first_bad_part(path, domain, labels, problems_of_dns_label)
    if len(labels) < 2:
        rule = "should be a domain with at least two segments separated by dots"
        yield causes.invalid(path, domain, rule)
    yield from _first_bad_part(path, rest, rest.split("."), problems_of_dns_subdomain)
    if len(rest) > _SIGNER_LENGTHS[1]:
        yield causes.too_long(path, _SIGNER_LENGTHS[1])


def _first_bad_part(
    path: str, value: str, parts: list[str], rule: Callable[[str], list[str]]
) -> Causes:
    bad = next((part for part in parts if rule(part)), "")
    for problem in rule(bad) if bad in parts else ():
        yield causes.invalid(path, value, f"validating label {causes.quoted(bad)}: {problem}")


def check_conditions(path: str, conditions: Any) -> Causes:
    # `ValidateConditions` of metav1.
    seen: set[str] = set()
    for index, each in enumerate_objects(conditions):
        kind = each.get("type") or ""
        if kind in seen:
            yield causes.duplicate(f"{path}[{index}].type", kind)
        seen.add(kind)
        yield from _condition(f"{path}[{index}]", each)


def _condition(path: str, condition: Json) -> Causes:
    status, kind = condition.get("status"), condition.get("type") or ""
    yield from check_qualified_name(f"{path}.type", kind)
    if not status:
        yield causes.required(f"{path}.status")
    elif status not in ("True", "False", "Unknown"):
        yield causes.not_supported(f"{path}.status", status, ("False", "True", "Unknown"))
    generation = condition.get("observedGeneration")
    if isinstance(generation, int) and generation < 0:
        rule = "must be greater than or equal to zero"
        yield causes.invalid(f"{path}.observedGeneration", generation, rule)
    if not condition.get("lastTransitionTime"):
        yield causes.required(f"{path}.lastTransitionTime")
    if len(condition.get("message") or "") > 32768:
        yield causes.too_long(f"{path}.message", 32768)
    yield from _reason(f"{path}.reason", condition.get("reason") or "")


def _reason(path: str, reason: str) -> Causes:
    if not reason:
        yield causes.required(path)
    else:
        if not _CONDITION_REASON.fullmatch(reason):
            rule = f"a condition reason must match {_CONDITION_REASON.pattern}"
            yield causes.invalid(path, reason, rule)
        if len(reason) > 1024:
            yield causes.too_long(path, 1024)
