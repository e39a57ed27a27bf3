"""The paths of custom resources in OpenAPI version 2.

kube-apiserver gives them the operations of built-in resources with few changes; so they are
made from those of Deployments, which have all subresources that custom resources can have.

Guarantees: each operation has the extensions that kubectl reads (action and kind), and the
parameters that clients look for (`fieldValidation`, `dryRun`, …).
See also: the schemas of bodies (`openapi_schemas`), the documents (`openapi`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..registry import ServedResource
from .openapi_data import Schema, built_in_openapi
from .openapi_schemas import custom_name

__all__ = ["custom_paths"]

_MODEL: Final = "/apis/apps/v1/namespaces/{namespace}/deployments"
_MODEL_OF_ALL: Final = "/apis/apps/v1/deployments"
_MODEL_NAME: Final = "#/definitions/io.k8s.api.apps.v1.Deployment"
_MEDIA: Final = ["application/json", "application/yaml"]
_STRATEGIC: Final = "application/strategic-merge-patch+json"


def custom_paths(served: ServedResource) -> dict[str, Schema]:
    """The paths of a custom resource."""
    return dict(_paths(served))


def _paths(served: ServedResource) -> Iterator[tuple[str, Schema]]:
    root = f"/apis/{served.group}/{served.version}"
    collection = f"{root}/{served.plural}"
    if served.namespaced:
        yield collection, _item(served, _MODEL_OF_ALL)
        collection = f"{root}/namespaces/{{namespace}}/{served.plural}"
    parts = [f"/{{name}}/{part.name}" for part in served.parts]
    for suffix in ("", "/{name}", *parts):
        yield f"{collection}{suffix}", _item(served, f"{_MODEL}{suffix}")


def _item(served: ServedResource, model: str) -> Schema:
    """The item of a path, made from the item of the model."""
    found: Schema = {}
    for method, each in built_in_openapi().paths[model].items():
        if method == "parameters":
            found[method] = [e for e in each if served.namespaced or not _is_namespace(e)]
        else:
            found[method] = _operation(served, each)
    return found


def _is_namespace(parameter: Mapping[str, Any]) -> bool:
    return str(parameter.get("$ref", "")).startswith("#/parameters/namespace-")


def _operation(served: ServedResource, model: Mapping[str, Any]) -> Schema:
    own = f"#/definitions/{custom_name(served)}"
    kind = {"group": served.group, "kind": served.kind, "version": served.version}
    found = {**model, "operationId": _operation_id(served, model["operationId"])}
    found["tags"] = [_tag(served)]
    found["x-kubernetes-group-version-kind"] = kind
    found["produces"] = _MEDIA
    is_patch = model["x-kubernetes-action"] == "patch"
    found["consumes"] = [e for e in model["consumes"] if e != _STRATEGIC] if is_patch else _MEDIA
    # A patch never creates a custom object, except an apply, which is not mentioned.
    found["responses"] = {
        code: _with_schema(each, own)
        for code, each in model["responses"].items()
        if not (is_patch and code == "201")
    }
    if "parameters" in model:
        found["parameters"] = [_with_schema(each, own) for each in model["parameters"]]
    if model["x-kubernetes-action"] == "get":
        found["parameters"] = [_shared("resourceVersion")]
    if model["x-kubernetes-action"] == "deletecollection":
        found["parameters"] = _list_parameters()
    return found


def _with_schema(value: Mapping[str, Any], own: str) -> Schema:
    """A response or a parameter, with the custom kind or its list instead of the model's."""
    reference = str((value.get("schema") or {}).get("$ref", ""))
    if reference not in {_MODEL_NAME, f"{_MODEL_NAME}List"}:
        return dict(value)
    return {**value, "schema": {"$ref": reference.replace(_MODEL_NAME, own)}}


def _list_parameters() -> list[Schema]:
    found: list[Schema] = built_in_openapi().paths[_MODEL]["get"]["parameters"]
    return found


def _shared(name: str) -> Schema:
    """The reference to a parameter that many operations share."""
    found = next(e for e in built_in_openapi().parameters if e.startswith(f"{name}-"))
    return {"$ref": f"#/parameters/{found}"}


def _words(served: ServedResource) -> list[str]:
    return served.group.removesuffix(".k8s.io").replace("-", ".").split(".")


def _operation_id(served: ServedResource, model: str) -> str:
    # `createAppsV1NamespacedDeployment` becomes `createExampleComV1NamespacedWebsite`.
    group = "".join(word.capitalize() for word in _words(served))
    found = model.replace("AppsV1", f"{group}{served.version.capitalize()}")
    if not served.namespaced:
        found = found.replace("Namespaced", "")
    return found.replace("Deployment", served.kind)


def _tag(served: ServedResource) -> str:
    first, *rest = _words(served)
    return f"{first}{''.join(word.capitalize() for word in rest)}_{served.version}"
