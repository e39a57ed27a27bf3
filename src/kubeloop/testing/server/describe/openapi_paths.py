"""The paths of OpenAPI: the operations of each resource, and their parameters.

Guarantees: each operation has the extensions that kubectl reads (action and kind), and the
parameters that clients look for (`fieldValidation`, `dryRun`, …).
See also: the schemas of bodies (`openapi_schemas`), the documents (`openapi`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, TypeAlias, final

import msgspec

from kubeloop.wire import Subresource, class_for

from ..registry import ServedResource
from .openapi_schemas import Dialect, custom_name, definition_name, reference

__all__ = ["paths_of"]

Schema: TypeAlias = dict[str, Any]

_JSON: Final = "application/json"
_PATCHES: Final = (
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/apply-patch+yaml",
)
_STRATEGIC: Final = "application/strategic-merge-patch+json"
_WRITES: Final = {"dryRun": "string", "fieldManager": "string", "fieldValidation": "string"}
_READS: Final = {
    "allowWatchBookmarks": "boolean",
    "continue": "string",
    "fieldSelector": "string",
    "labelSelector": "string",
    "limit": "integer",
    "resourceVersion": "string",
    "resourceVersionMatch": "string",
    "sendInitialEvents": "boolean",
    "timeoutSeconds": "integer",
    "watch": "boolean",
}
_DELETES: Final = {
    "dryRun": "string",
    "gracePeriodSeconds": "integer",
    "orphanDependents": "boolean",
    "propagationPolicy": "string",
}


@final
class _Verb(msgspec.Struct, frozen=True):
    """A verb of the API and its OpenAPI operation."""

    verb: str
    method: str
    action: str
    word: str  # the first word of its operationId
    query: dict[str, str]


_COLLECTION_VERBS: Final = (
    _Verb("list", "get", "list", "list", _READS),
    _Verb("create", "post", "post", "create", _WRITES),
    _Verb("deletecollection", "delete", "deletecollection", "delete", _DELETES | _READS),
)
_OBJECT_VERBS: Final = (
    _Verb("get", "get", "get", "read", {}),
    _Verb("update", "put", "put", "replace", _WRITES),
    _Verb("patch", "patch", "patch", "patch", _WRITES | {"force": "boolean"}),
    _Verb("delete", "delete", "delete", "delete", _DELETES),
)
_SUBRESOURCE_VERBS: Final = (*_OBJECT_VERBS, _Verb("create", "post", "post", "create", _WRITES))


def paths_of(served: ServedResource, dialect: Dialect) -> dict[str, Schema]:
    """The paths of a resource that have operations."""
    return {path: item for path, item in _paths(served, dialect) if item}


def _paths(served: ServedResource, dialect: Dialect) -> Iterator[tuple[str, Schema]]:
    prefix = f"/apis/{served.group}" if served.group else "/api"
    root = f"{prefix}/{served.version}"
    all_namespaces = f"{root}/{served.plural}"
    collection = all_namespaces
    if served.namespaced:
        yield (
            all_namespaces,
            _item(served, _COLLECTION_VERBS[:1], dialect, suffix="ForAllNamespaces"),
        )
        collection = f"{root}/namespaces/{{namespace}}/{served.plural}"
    yield collection, _item(served, _COLLECTION_VERBS, dialect)
    yield f"{collection}/{{name}}", _item(served, _OBJECT_VERBS, dialect)
    for part in served.parts:
        yield (
            f"{collection}/{{name}}/{part.name}",
            _item(served, _SUBRESOURCE_VERBS, dialect, part=part),
        )


def _item(
    served: ServedResource,
    verbs: tuple[_Verb, ...],
    dialect: Dialect,
    *,
    part: Subresource | None = None,
    suffix: str = "",
) -> Schema:
    # `parameters` of a path apply to all of its operations.
    offered = part.verbs if part else served.verbs
    item: Schema = {
        each.method: _operation(served, each, dialect, part=part, suffix=suffix)
        for each in verbs
        if each.verb in offered
    }
    if item:
        item["parameters"] = [
            _parameter(name, "string", dialect, where="path") for name in _placeholders(served)
        ]
        if not part and verbs is not _OBJECT_VERBS:
            item["parameters"] = [e for e in item["parameters"] if e["name"] != "name"]
        if suffix:
            item["parameters"] = []
    return item


def _placeholders(served: ServedResource) -> tuple[str, ...]:
    return ("name", "namespace") if served.namespaced else ("name",)


def _operation(
    served: ServedResource, verb: _Verb, dialect: Dialect, *, part: Subresource | None, suffix: str
) -> Schema:
    kind = (part.group, part.version, part.kind) if part else None
    group, version, name = kind or (served.group, served.version, served.kind)
    schema = _schema_ref(served, part, dialect, listed=verb.verb == "list")
    operation: Schema = {
        "operationId": _operation_id(served, verb, part, suffix),
        "parameters": [_parameter(key, each, dialect) for key, each in verb.query.items()],
        "responses": {"200": _response(schema, dialect), "401": {"description": "Unauthorized"}},
        "x-kubernetes-action": verb.action,
        "x-kubernetes-group-version-kind": {"group": group, "kind": name, "version": version},
    }
    if verb.method in {"post", "put", "patch"}:
        _add_body(operation, served, verb, schema, dialect)
    return operation


def _add_body(
    operation: Schema, served: ServedResource, verb: _Verb, schema: Schema, dialect: Dialect
) -> None:
    # Strategic merge patches are not supported for custom kinds.
    media = [_JSON]
    if verb.method == "patch":
        media = [*_PATCHES, *(() if served.custom else (_STRATEGIC,))]
        schema = {"type": "object"}
    if dialect == "v2":
        body = {"in": "body", "name": "body", "required": True, "schema": schema}
        operation["consumes"] = media
        operation["parameters"] = [body, *operation["parameters"]]
    else:
        content = {each: {"schema": schema} for each in media}
        operation["requestBody"] = {"content": content, "required": True}


def _response(schema: Schema, dialect: Dialect) -> Schema:
    content = {"schema": schema} if schema else {}
    if dialect == "v2":
        return {"description": "OK", **content}
    return {"description": "OK", "content": {_JSON: content}}


def _parameter(name: str, type_: str, dialect: Dialect, *, where: str = "query") -> Schema:
    parameter: Schema = {"name": name, "in": where}
    if where == "path":
        parameter["required"] = True
    if dialect == "v2":
        return {**parameter, "type": type_}
    return {**parameter, "schema": {"type": type_}}


def _schema_ref(
    served: ServedResource, part: Subresource | None, dialect: Dialect, *, listed: bool
) -> Schema:
    """A reference to the schema of an operation's body; empty if there is none."""
    own = (served.group, served.version, served.kind)
    kind = (part.group, part.version, part.kind) if part else own
    if served.custom is not None and kind == own:
        name = custom_name(served)
        return reference(f"{name}List" if listed else name, dialect)
    cls = class_for(kind[0], kind[1], served.list_kind if listed else kind[2])
    return reference(definition_name(cls), dialect) if cls is not None else {}


def _operation_id(
    served: ServedResource, verb: _Verb, part: Subresource | None, suffix: str
) -> str:
    # As in kube-apiserver: `createCoreV1NamespacedPod`, `listAppsV1DeploymentForAllNamespaces`.
    group = served.group.removesuffix(".k8s.io") or "core"
    words = [word.capitalize() for word in group.replace("-", ".").split(".")]
    scope = "Namespaced" if served.namespaced and not suffix else ""
    scope = f"Collection{scope}" if verb.verb == "deletecollection" else scope
    tail = part.name.capitalize() if part else ""
    version = served.version.capitalize()
    return f"{verb.word}{''.join(words)}{version}{scope}{served.kind}{tail}{suffix}"
