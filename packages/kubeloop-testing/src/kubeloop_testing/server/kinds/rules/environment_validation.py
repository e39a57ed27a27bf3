"""Validation of environment variables and their sources.

Guarantees: the causes of `ValidateEnv` and `ValidateEnvFrom`.
See also: references to a pod's fields (`field_refs`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from kubeloop.meta import problems_of_dns_label, problems_of_dns_subdomain

from ...values import causes
from ..kind import Causes, Json
from .field_refs import check_field_ref, check_resource_ref
from .value_rules import check_config_key, check_name, enumerate_objects, has_parent_step

__all__ = ["problems_of_environment"]

_is_variable = re.compile("[ -<>-~]+").fullmatch


def problems_of_environment(container: Json, path: str) -> Causes:
    """What is wrong with the environment of a container."""
    for index, each in enumerate_objects(container.get("env")):
        where, name = f"{path}.env[{index}]", each.get("name") or ""
        if not name:
            yield causes.required(f"{where}.name")
        else:
            yield from _check_variable(f"{where}.name", name)
        source = each.get("valueFrom")
        if isinstance(source, Mapping):
            yield from _source(source, each, f"{where}.valueFrom")
    for index, each in enumerate_objects(container.get("envFrom")):
        yield from _group(each, f"{path}.envFrom[{index}]", f"{path}.envFrom")


def _check_variable(path: str, name: str) -> Causes:
    # `IsRelaxedEnvVarName`.
    if not _is_variable(name):
        rule = (
            "a valid environment variable name must consist only of printable ASCII characters "
            "other than '='"
        )
        yield causes.invalid(path, name, rule)


def _source(source: Json, variable: Json, path: str) -> Causes:
    # `validateEnvVarValueFrom`.
    present = [each for each in _SOURCES if isinstance(source.get(each), Mapping)]
    for each in present:
        yield from _SOURCES[each](source[each], f"{path}.{each}")
    if not present:
        *names, last = (f"`{each}`" for each in _SOURCES)
        rule = f"must specify one of: {', '.join(names)} or {last}"
        yield causes.invalid(path, "", rule)
    elif variable.get("value"):
        yield causes.invalid(path, "", "may not be specified when `value` is not empty")
    elif len(present) > 1:
        rule = "may not have more than one field specified at a time"
        yield causes.invalid(path, "", rule)


def _field(ref: Json, path: str) -> Causes:
    yield from check_field_ref(ref, path, in_volume=False)


def _resource(ref: Json, path: str) -> Causes:
    yield from check_resource_ref(ref, path, in_volume=False)


def _key(ref: Json, path: str) -> Causes:
    # `validateConfigMapKeySelector`.
    yield from check_name(f"{path}.name", ref.get("name") or "", problems_of_dns_subdomain)
    if not ref.get("key"):
        yield causes.required(f"{path}.key")
    else:
        yield from check_config_key(f"{path}.key", ref["key"])


def _file(ref: Json, path: str) -> Causes:
    # `validateFileKeySelector`.
    key, volume, target = ref.get("key"), ref.get("volumeName"), ref.get("path")
    if not key:
        yield causes.required(f"{path}.key")
    else:
        yield from _check_variable(f"{path}.key", key)
    if not volume:
        yield causes.required(f"{path}.volumeName")
    else:
        yield from check_name(f"{path}.volumeName", volume, problems_of_dns_label)
    if not target:
        yield causes.required(f"{path}.path")
    elif has_parent_step(target):
        yield causes.invalid(f"{path}.path", target, "must not contain '..'")


_SOURCES: Final[dict[str, Callable[[Json, str], Causes]]] = {
    "fieldRef": _field,
    "resourceFieldRef": _resource,
    "configMapKeyRef": _key,
    "secretKeyRef": _key,
    "fileKeyRef": _file,
}


def _group(each: Json, path: str, above: str) -> Causes:
    # `ValidateEnvFrom`; the number of sources is reported under the path of the list.
    if each.get("prefix"):
        yield from _check_variable(f"{path}.prefix", each["prefix"])
    kinds = ("configMapRef", "secretRef")
    present = [kind for kind in kinds if isinstance(each.get(kind), Mapping)]
    for kind in present:
        name = each[kind].get("name")
        if not name:
            yield causes.required(f"{path}.{kind}.name")
        else:
            yield from check_name(f"{path}.{kind}.name", name, problems_of_dns_subdomain)
    if not present:
        yield causes.invalid(above, "", "must specify one of: `configMapRef` or `secretRef`")
    elif len(present) > 1:
        rule = "may not have more than one field specified at a time"
        yield causes.invalid(above, "", rule)
