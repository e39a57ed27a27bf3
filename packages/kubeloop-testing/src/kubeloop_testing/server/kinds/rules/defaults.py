"""Parts of the defaults of several kinds, as the `SetDefaults_*` functions of Kubernetes.

Guarantees: pure and idempotent. Zero values are none: Go writes them later (`zero_values`).
See also: pods (`pod_defaults`).
"""

from __future__ import annotations

from typing import Any, Final

from kubeloop.wire import JsonObject

from ...values.json_values import Change, map_field, value_at, with_defaults
from .pod_defaults import default_template

__all__ = [
    "claim_defaults",
    "in_spec",
    "labels_of_template",
    "pointer_defaults",
    "rolling_defaults",
    "service_reference",
    "spec_defaults",
    "status_defaults",
    "template_defaults",
]


def in_spec(change: Change) -> Change:
    return lambda obj: map_field(obj, "spec", change, make=True)


def spec_defaults(**defaults: Any) -> Change:
    return in_spec(lambda spec: with_defaults(spec, defaults))


def status_defaults(**defaults: Any) -> Change:
    return lambda obj: map_field(
        obj, "status", lambda value: with_defaults(value, defaults), make=True
    )


def pointer_defaults(**defaults: Any) -> Change:
    """Defaults of pointers in Go: an empty text stays as it is, and validation rejects it."""

    def fill(obj: JsonObject) -> JsonObject:
        missing = {key: value for key, value in defaults.items() if obj.get(key) is None}
        return {**obj, **missing} if missing else obj

    return fill


def template_defaults(spec: JsonObject) -> JsonObject:
    return map_field(spec, "template", default_template, make=True)


def rolling_defaults(key: str, **defaults: Any) -> Change:
    """The strategy `RollingUpdate` by default, with the defaults of its parameters."""

    def fill(strategy: JsonObject) -> JsonObject:
        strategy = with_defaults(strategy, {"type": "RollingUpdate"})
        if strategy["type"] != "RollingUpdate":
            return strategy
        return map_field(strategy, "rollingUpdate", fill_parameters, make=True)

    def fill_parameters(parameters: JsonObject) -> JsonObject:
        # An empty string is a value of an `IntOrString`, and not a valid one.
        missing = {key: defaults[key] for key in defaults if parameters.get(key) is None}
        return {**parameters, **missing} if missing else parameters

    return in_spec(lambda spec: map_field(spec, key, fill, make=True))


def labels_of_template(obj: JsonObject) -> JsonObject:
    # `SetDefaults_ReplicationController` and `SetDefaults_Job`.
    labels = value_at(obj, "spec", "template", "metadata", "labels")
    if not labels or value_at(obj, "metadata", "labels"):
        return obj
    return map_field(obj, "metadata", lambda meta: {**meta, "labels": labels}, make=True)


def claim_defaults(obj: JsonObject) -> JsonObject:
    # `SetDefaults_PersistentVolumeClaim`.
    obj = map_field(obj, "spec", lambda spec: with_defaults(spec, _FILES), make=True)
    return status_defaults(phase="Pending")(obj)


_FILES: Final = {"volumeMode": "Filesystem"}


def service_reference(config: JsonObject) -> JsonObject:
    return map_field(config, "service", lambda service: with_defaults(service, {"port": 443}))
