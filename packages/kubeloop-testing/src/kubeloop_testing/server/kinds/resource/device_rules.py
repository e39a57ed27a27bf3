"""Checks of devices that claims, slices and taint rules share.

Guarantees: each check yields the causes of kube-apiserver's `pkg/apis/resource/validation` for a
field path.
See also: claims (`claims`), slices (`resource_slice`), classes (`device_class`).
"""

from __future__ import annotations

import re
from typing import Any, Final

from kubeloop.meta import problems_of_dns_label, problems_of_dns_subdomain, problems_of_label_value
from kubeloop.wire import JsonObject

from ...values import causes
from ...values.json_values import map_field, map_items, value_at, with_defaults
from ..kind import Causes, Json
from ..rules.field_rules import check_driver_name, check_known, check_qualified_name, check_required
from ..rules.value_rules import check_name, enumerate_objects

__all__ = [
    "check_attribute_name",
    "check_configuration",
    "check_device_name",
    "check_pool_name",
    "check_selectors",
    "check_size",
    "check_taint",
    "check_toleration",
    "with_taint_times",
]


def with_taint_times(obj: JsonObject) -> JsonObject:
    # `SetDefaults_DeviceTaint`.
    times = {"timeAdded": value_at(obj, "metadata", "creationTimestamp")}

    def fill(taint: JsonObject) -> JsonObject:
        return with_defaults(taint, times)

    def fill_spec(spec: JsonObject) -> JsonObject:
        spec = map_field(spec, "taint", fill)
        return map_items(spec, "devices", lambda device: map_items(device, "taints", fill))

    return map_field(obj, "spec", fill_spec)


_EFFECTS: Final = ("NoExecute", "NoSchedule", "None")
_IDENTIFIER_RULE: Final = (
    "a valid C identifier must start with alphabetic character or '_', followed by a string of "
    "alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for "
    "validation is '[A-Za-z_][A-Za-z0-9_]*')"
)
_IDENTIFIER: Final = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_IDENTIFIER_LENGTH: Final = 32
_POOL_LENGTH: Final = 253
_EXPRESSION_LENGTH: Final = 10 * 1024


def check_size(path: str, items: Any, limit: int) -> Causes:
    if isinstance(items, list) and len(items) > limit:
        yield causes.too_many(path, len(items), limit)


def check_device_name(path: str, name: str) -> Causes:
    yield from check_name(path, name, problems_of_dns_label)


def check_pool_name(path: str, name: str) -> Causes:
    # `validatePoolName`: parts between slashes.
    if not name:
        yield causes.required(path)
        return
    if len(name) > _POOL_LENGTH:
        yield causes.too_long(path, _POOL_LENGTH)
    for part in name.split("/"):
        yield from check_name(path, part, problems_of_dns_subdomain)


def _check_identifier(path: str, name: str) -> Causes:
    # `validateCIdentifier`.
    if len(name) > _IDENTIFIER_LENGTH:
        yield causes.too_long(path, _IDENTIFIER_LENGTH)
    if not _IDENTIFIER.fullmatch(name):
        yield causes.invalid(path, name, _IDENTIFIER_RULE)


def check_attribute_name(path: str, name: str, *, is_full: bool = False) -> Causes:
    """The name of an attribute, with a domain before it; `is_full` requires the domain."""
    # `validateQualifiedName` and `validateFullyQualifiedName`.
    parts = name.split("/")
    if len(parts) == 1:
        yield from _check_identifier(path, name)
    elif len(parts) == 2:
        domain, own = parts
        if domain:
            yield from check_driver_name(path, domain)
        else:
            yield causes.invalid(path, "", "the domain must not be empty")
        if own:
            yield from _check_identifier(path, own)
        else:
            yield causes.invalid(path, "", "name must not be empty")
    if is_full and len(parts) == 1:
        rule = "a fully qualified name must be a domain and a name separated by a slash"
        yield causes.invalid(path, name, rule)


def check_selectors(path: str, selectors: Any) -> Causes:
    # `validateSelector`, except that expressions are not compiled.
    yield from check_size(path, selectors, 32)
    for index, each in enumerate_objects(selectors):
        cel = each.get("cel")
        if cel is None:
            yield causes.required(f"{path}[{index}].cel")
        elif len(cel.get("expression") or "") > _EXPRESSION_LENGTH:
            yield causes.too_long(f"{path}[{index}].cel.expression", _EXPRESSION_LENGTH)


def check_configuration(path: str, config: Json) -> Causes:
    # `validateDeviceConfiguration`.
    opaque = config.get("opaque")
    if opaque is None:
        yield causes.required(f"{path}.opaque")
        return
    parameters, where = opaque.get("parameters"), f"{path}.opaque.parameters"
    if parameters is None:
        yield causes.required(where)
    elif not isinstance(parameters, dict):
        yield causes.invalid(where, "<value omitted>", "must be a valid JSON object")
    yield from check_driver_name(f"{path}.opaque.driver", opaque.get("driver") or "")


def check_taint(path: str, taint: Json, old: Json | None = None) -> Causes:
    # `validateDeviceTaint`.
    value, effect = taint.get("value") or "", taint.get("effect") or ""
    yield from check_qualified_name(f"{path}.key", taint.get("key") or "")
    yield from check_name(f"{path}.value", value, problems_of_label_value)
    if old is None or (old.get("effect") or "") != effect:
        yield from check_required(f"{path}.effect", effect)
        yield from check_known(f"{path}.effect", effect or None, _EFFECTS)


def check_toleration(path: str, toleration: Json) -> Causes:
    # `validateDeviceToleration`.
    operator, value = toleration.get("operator") or "", toleration.get("value") or ""
    if operator == "Exists" and value:
        yield causes.invalid(f"{path}.value", value, "must be empty for operator `Exists`")
    elif operator == "Equal":
        yield from check_name(f"{path}.value", value, problems_of_label_value)
    if toleration.get("key"):
        yield from check_qualified_name(f"{path}.key", toleration["key"])
    yield from check_required(f"{path}.operator", operator)
    yield from check_known(f"{path}.operator", operator or None, ("Equal", "Exists"))
    yield from check_known(f"{path}.effect", toleration.get("effect") or None, _EFFECTS)
