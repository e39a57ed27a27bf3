"""IngressClass (networking.k8s.io): defaults, validation and columns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from kubeloop.meta import problems_of_dns_label, problems_of_dns_subdomain
from kubeloop.wire import JsonObject

from ...values import causes
from ...values.json_values import map_field, value_at, with_defaults
from ..kind import Causes, Json, Kind, Since
from ..rules.cell_text import age_of, name_of
from ..rules.defaults import in_spec
from ..rules.value_rules import check_choice, check_name, check_unchanged
from .ingress import check_typed_reference

__all__ = ["KIND"]


def _ingress_class(spec: JsonObject) -> JsonObject:
    return map_field(spec, "parameters", lambda value: with_defaults(value, {"scope": "Cluster"}))


_is_path = re.compile(r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+").fullmatch


def _validate(obj: Json, old: Json | None) -> Causes:
    # `validateIngressClassSpec`: who implements a class does not change.
    spec = obj.get("spec") or {}
    controller, where = spec.get("controller") or "", "spec.controller"
    if old is not None:
        former = (old.get("spec") or {}).get("controller") or ""
        yield from check_unchanged(where, controller, former)
    if len(controller) > 250:
        yield causes.too_long(where, 250)
    if not controller:
        yield causes.required(where)
    elif not _is_domain_path(controller):
        rule = 'must be a domain-prefixed path (such as "acme.io/foo")'
        yield causes.invalid(where, controller, rule)
    parameters = spec.get("parameters")
    if isinstance(parameters, Mapping):
        yield from _class_parameters(parameters, "spec.parameters")


def _is_domain_path(text: str) -> bool:
    domain, slash, rest = text.partition("/")
    return bool(slash and rest) and not problems_of_dns_subdomain(domain) and bool(_is_path(rest))


def _class_parameters(parameters: Json, path: str) -> Causes:
    yield from check_typed_reference(parameters, path)
    scope, namespace = parameters.get("scope"), parameters.get("namespace")
    yield from check_choice(f"{path}.scope", scope, ("Cluster", "Namespace"), required=True)
    if scope == "Namespace":
        if not namespace:
            rule = "`parameters.scope` is set to 'Namespace'"
            yield causes.required(f"{path}.namespace", rule)
        else:
            yield from check_name(f"{path}.namespace", namespace, problems_of_dns_label)
    elif scope == "Cluster" and namespace is not None:
        rule = "`parameters.scope` is set to 'Cluster'"
        yield causes.forbidden(f"{path}.namespace", rule)


def _cells(obj: Json, since: Since) -> list[Any]:
    annotations = value_at(obj, "metadata", "annotations") or {}
    default = annotations.get("ingressclass.kubernetes.io/is-default-class") == "true"
    name = f"{name_of(obj)} (default)" if default else name_of(obj)
    parameters = value_at(obj, "spec", "parameters")
    text = "<none>"
    if parameters is not None:
        group = value_at(parameters, "apiGroup")
        kind = (
            f"{value_at(parameters, 'kind')}.{group}"
            if group
            else f"{value_at(parameters, 'kind')}"
        )
        text = f"{kind}/{value_at(parameters, 'name')}"
    return [name, value_at(obj, "spec", "controller") or "", text, age_of(obj, since)]


KIND: Final = Kind(
    "networking.k8s.io",
    "IngressClass",
    generation="counted",
    defaults=(in_spec(_ingress_class),),
    validate=_validate,
    columns="Name, Controller, Parameters, Age",
    cells=_cells,
)
