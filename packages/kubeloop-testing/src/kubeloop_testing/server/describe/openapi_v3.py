"""From OpenAPI version 2 to version 3: schemas and paths.

Guarantees: pure; for built-in kinds the result is what kube-apiserver publishes, but for the
descriptions: a type is described by its name, a field is not.
See also: `openapi_data` (version 2), `openapi` (the documents).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from .openapi_data import Schema, built_in_openapi

__all__ = ["path_v3", "schema_v3"]

_V2: Final = "#/definitions/"
_V3: Final = "#/components/schemas/"
# Types whose values may have several JSON types, which version 2 cannot say.
_SEVERAL_TYPES: Final[Mapping[str, Schema]] = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {
        "oneOf": [{"type": "string"}, {"type": "number"}]
    },
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {
        "format": "int-or-string",
        "oneOf": [{"type": "integer"}, {"type": "string"}],
    },
}
_NOT_IN_V3: Final = frozenset({"consumes", "parameters", "produces", "responses", "schemes"})


def schema_v3(name: str) -> Schema:
    """The schema of a built-in definition."""
    data = built_in_openapi()
    if name in _SEVERAL_TYPES:
        return _SEVERAL_TYPES[name]
    schema: Schema = {"description": _description(name), **data.definitions[name]}
    defaults, undescribed = data.defaults.get(name, {}), data.undescribed.get(name, ())
    if "properties" in schema:
        schema["properties"] = {
            field: _field(field, each, defaults, stands_alone=field in undescribed)
            for field, each in schema["properties"].items()
        }
    return schema


def _description(name: str) -> str:
    """`PodSpec of core/v1`: what `kubectl explain` prints, instead of `<empty>`."""
    group, version, kind = name.split(".")[-3:]
    return f"{kind} of {group}/{version}"


def _field(
    field: str, schema: Schema, defaults: Mapping[str, Any], *, stands_alone: bool
) -> Schema:
    """The schema of a field or of its items (`field[]`).

    OpenAPI 3.0 ignores what stands beside a `$ref`, so it moves into `allOf`.
    """
    found = {key: value for key, value in schema.items() if key != "$ref"}
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            found[key] = _field(f"{field}[]", schema[key], defaults, stands_alone=True)
    if field in defaults:
        found["default"] = defaults[field]
    if "$ref" in schema:
        reference = {"$ref": schema["$ref"].replace(_V2, _V3)}
        if stands_alone and not found:
            return reference
        found["allOf"] = [reference]
    return found


def path_v3(item: Mapping[str, Any]) -> Schema:
    """The item of a path."""
    found: Schema = {key: _operation(each) for key, each in item.items() if key != "parameters"}
    if "parameters" in item:
        found["parameters"] = [_parameter(each) for each in _resolved(item["parameters"])]
    return found


def _operation(operation: Mapping[str, Any]) -> Schema:
    found = {key: value for key, value in operation.items() if key not in _NOT_IN_V3}
    parameters = _resolved(operation.get("parameters", ()))
    others = [_parameter(each) for each in parameters if each["in"] != "body"]
    if others:
        found["parameters"] = others
    for body in (each for each in parameters if each["in"] == "body"):
        request: Schema = {"content": _content(operation["consumes"], body["schema"])}
        found["requestBody"] = {**request, **({"required": True} if body.get("required") else {})}
    found["responses"] = {
        code: _response(each, operation["produces"])
        for code, each in operation["responses"].items()
    }
    return found


def _resolved(parameters: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    shared = built_in_openapi().parameters
    return [shared[e["$ref"].rpartition("/")[2]] if "$ref" in e else e for e in parameters]


def _parameter(parameter: Mapping[str, Any]) -> Schema:
    head = {key: parameter[key] for key in ("name", "in", "required") if key in parameter}
    schema = {key: value for key, value in parameter.items() if key not in head}
    return {**head, "schema": schema}


def _response(response: Mapping[str, Any], produces: Iterable[str]) -> Schema:
    found = {key: value for key, value in response.items() if key != "schema"}
    if "schema" in response:
        found["content"] = _content(produces, response["schema"])
    return found


def _content(media: Iterable[str], schema: Mapping[str, Any]) -> Schema:
    as_v3 = dict(schema)
    if "$ref" in as_v3:
        as_v3["$ref"] = as_v3["$ref"].replace(_V2, _V3)
    return {each: {"schema": as_v3} for each in media}
