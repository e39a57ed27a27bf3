"""OpenAPI, versions 2 and 3: the schemas of objects and the paths of the API.

As kube-apiserver publishes it, for the resources that are served, but without its descriptions.

Guarantees: a document is built at the first request and cached as bytes until the served
resources change; its hash depends on the served resources only.
See also: built-in kinds (`openapi_data`, `openapi_v3`), custom kinds (`openapi_schemas`,
`openapi_paths`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final

import msgspec

from ..registry import Registry, ServedResource
from ..request.requests import parse_resource_path
from ..values.go_types import kubernetes_minor
from .documents import Document, cached_documents
from .openapi_data import Schema, built_in_openapi, document_key
from .openapi_paths import custom_paths
from .openapi_schemas import Dialect, custom_schemas
from .openapi_v3 import path_v3, schema_v3

__all__ = ["v2", "v2_protobuf", "v3", "v3_index", "v3_url"]

_CUSTOM_INFO: Final = {"title": "Kubernetes CRD Swagger", "version": "v0.1.0"}
_SECURITY: Final = {"BearerToken": {"type": "apiKey", "name": "authorization", "in": "header"}}
_FORMAT: Final = 2  # to be incremented when the documents change for the same resources


def _info() -> dict[str, str]:
    return {"title": "Kubernetes", "version": f"1.{kubernetes_minor()}"}


def v2(registry: Registry) -> Document:
    """The document at `/openapi/v2`: everything in one."""
    cache = cached_documents(registry)
    key = ("openapi", "v2")
    if key not in cache:
        custom = [each for each in registry.all() if each.custom is not None]
        paths = dict(_built_in_paths(registry))
        for each in custom:
            paths |= custom_paths(each)
        body = {
            "swagger": "2.0",
            "info": _info(),
            "paths": _described(paths),
            "definitions": _schemas(paths, custom, "v2"),
            "parameters": built_in_openapi().parameters,
            "securityDefinitions": _SECURITY,
            "security": [{"BearerToken": []}],
        }
        tag = _hash("v2", registry.all())
        cache[key] = Document(msgspec.json.encode(body), etag=f'"{tag}"')
    return cache[key]


def v2_protobuf(registry: Registry) -> Document:
    """The document at `/openapi/v2` as protobuf, which kubectl requests."""
    from .openapi_protobuf import MEDIA, as_protobuf

    cache = cached_documents(registry)
    key = ("openapi", "v2", "protobuf")
    if key not in cache:
        plain = v2(registry)
        body = as_protobuf(msgspec.json.decode(plain.body))
        # HTTP caches identify a document by its URL: JSON and protobuf need different tags.
        cache[key] = Document(body, etag=f'{plain.etag[:-1]}-protobuf"', media=MEDIA)
    return cache[key]


def v3_index(registry: Registry) -> Document:
    """The document at `/openapi/v3`: the URLs of the other documents."""
    cache = cached_documents(registry)
    key = ("openapi", "v3")
    if key not in cache:
        keys = {document_key(path) for path, _ in _built_in_paths(registry)}
        keys |= {_key_of(each) for each in registry.all() if each.custom is not None}
        paths = {
            each: {"serverRelativeURL": _url(each, _hash(each, _in_document(registry, each)))}
            for each in sorted(keys)
        }
        cache[key] = Document(msgspec.json.encode({"paths": paths}))
    return cache[key]


def v3(registry: Registry, path: str) -> Document | None:
    """The document at a path of the index, such as `apis/apps/v1`; None if there is none."""
    cache = cached_documents(registry)
    key = ("openapi", "v3", path)
    if key not in cache:
        served = _in_document(registry, path)
        custom = [each for each in served if each.custom is not None]
        paths = {
            each: item for each, item in _built_in_paths(registry) if document_key(each) == path
        }
        is_custom = not paths
        for each in custom:
            paths |= custom_paths(each)
        if not paths:
            return None
        components: Schema = {"schemas": _schemas(paths, custom, "v3", own=path)}
        if not is_custom:
            components["securitySchemes"] = _SECURITY
        body = {
            "openapi": "3.0.0",
            "info": _CUSTOM_INFO if is_custom else _info(),
            "paths": {each: path_v3(item) for each, item in _described(paths).items()},
            "components": components,
        }
        cache[key] = Document(msgspec.json.encode(body), etag=f'"{_hash(path, served)}"')
    return cache[key]


def v3_url(path: str, found: Document) -> str:
    """The URL of a document with its hash."""
    return _url(path, found.etag.strip('"'))


def _url(path: str, tag: str) -> str:
    return f"/openapi/v3/{path}?hash={tag}"


def _key_of(served: ServedResource) -> str:
    return f"apis/{served.group}/{served.version}" if served.group else f"api/{served.version}"


def _in_document(registry: Registry, key: str) -> list[ServedResource]:
    return [each for each in registry.all() if _key_of(each) == key]


# --- paths


def _built_in_paths(registry: Registry) -> Iterator[tuple[str, Schema]]:
    """The paths of what is served."""
    for path, item in built_in_openapi().paths.items():
        if _is_served(registry, path):
            yield path, item


def _is_served(registry: Registry, path: str) -> bool:
    match path.strip("/").split("/"):
        case ["apis", group]:
            return registry.is_built_in(group)
        case ["api" | "apis", _, *_]:
            found = parse_resource_path(path)
            if found is None:
                return False
            if not found.plural:
                return registry.has_version(found.group, found.version)
            return registry.find(found.group, found.version, found.plural) is not None
    return True


def _described(paths: Mapping[str, Schema]) -> dict[str, Schema]:
    """Paths in their order, with the descriptions that every response must have."""
    return {path: _with_descriptions(item) for path, item in sorted(paths.items())}


def _with_descriptions(item: Schema) -> Schema:
    return {
        method: each if method == "parameters" else {**each, "responses": _responses(each)}
        for method, each in item.items()
    }


def _responses(operation: Schema) -> Schema:
    found = operation["responses"].items()
    return {code: {"description": HTTPStatus(int(code)).phrase, **each} for code, each in found}


# --- schemas


def _schemas(
    paths: Mapping[str, Schema], custom: Iterable[ServedResource], dialect: Dialect, own: str = ""
) -> dict[str, Schema]:
    """The schemas that paths refer to, and those that these refer to, by name."""
    data = built_in_openapi()
    definitions, found = data.definitions, dict[str, Schema]()
    for each in custom:
        found |= custom_schemas(each, dialect)
    waiting = {*_references(paths), *_references(found)}
    while waiting:
        name = waiting.pop()
        if name in data.parameters:
            waiting |= set(_references(data.parameters[name]))
        elif name not in found and name in definitions:
            schema = definitions[name] if dialect == "v2" else _of_document(schema_v3(name), own)
            found[name] = schema
            waiting |= set(_references(definitions[name]))
    return dict(sorted(found.items()))


def _references(value: Any) -> Iterator[str]:
    """The names of the schemas and shared parameters that a value refers to."""
    if isinstance(value, list):
        for each in value:
            yield from _references(each)
    elif isinstance(value, Mapping):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"].rpartition("/")[2]
        for each in value.values():
            yield from _references(each)


def _of_document(schema: Schema, key: str) -> Schema:
    """A schema of version 3; a kind of many group versions is only of the document's own."""
    kinds = schema.get("x-kubernetes-group-version-kind", ())
    if len(kinds) < 2:
        return schema
    group, _, version = key.partition("/")[2].rpartition("/")
    own = [e for e in kinds if not e["group"] or (e["group"], e["version"]) == (group, version)]
    return {**schema, "x-kubernetes-group-version-kind": own}


def _hash(key: str, served: Iterable[ServedResource]) -> str:
    """A hash of the input of a document: building all documents for the index is too slow."""
    content = [_FORMAT, _info()["version"], key, *map(_hashed_content, served)]
    return hashlib.sha512(msgspec.json.encode(content)).hexdigest().upper()


def _hashed_content(served: ServedResource) -> list[Any]:
    content: list[Any] = [served.group, served.version, served.plural, served.kind]
    content += [served.namespaced, served.verbs, served.parts]
    return [*content, served.custom.schema.raw] if served.custom else content
