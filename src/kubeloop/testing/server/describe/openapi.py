"""OpenAPI, versions 2 and 3: the schemas of objects and the paths of the API.

Sufficient for `kubectl explain`, for `kubectl apply` (merge rules, validation by the server) and
for clients that look for query parameters; without descriptions.
Guarantees: a document is built at the first request and cached as bytes until the served
resources change; its hash depends on the served resources only.
See also: the schemas (`openapi_schemas`), the paths (`openapi_paths`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from kubeloop.wire import Model, class_for
from kubeloop.wire.meta.v1 import ListMeta, ObjectMeta

from ..registry import Registry, ServedResource
from .documents import Document, cached_documents
from .openapi_paths import paths_of
from .openapi_schemas import Dialect, custom_schemas, schemas_of

__all__ = ["v2", "v2_protobuf", "v3", "v3_index", "v3_url"]

_INFO: Final = {"title": "Kubernetes", "version": "v1.37.0"}
_FORMAT: Final = 1  # to be incremented when the documents change for the same resources


def v2(registry: Registry) -> Document:
    """The document at `/openapi/v2`: everything in one."""
    cache = cached_documents(registry)
    key = ("openapi", "v2")
    if key not in cache:
        served = registry.all()
        body = {
            "swagger": "2.0",
            "info": _INFO,
            "paths": _paths(served, "v2"),
            "definitions": _schemas(served, "v2"),
            "securityDefinitions": {
                "BearerToken": {"type": "apiKey", "name": "authorization", "in": "header"}
            },
            "security": [{"BearerToken": []}],
        }
        cache[key] = Document(msgspec.json.encode(body), etag=f'"{_hash(served)}"')
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
    """The document at `/openapi/v3`: the URLs of the documents of the group versions."""
    cache = cached_documents(registry)
    key = ("openapi", "v3")
    if key not in cache:
        paths = {}
        for group, versions in sorted(registry.groups().items()):
            for version in versions:
                path = _relative_path(group, version)
                url = _url(path, _hash(registry.in_version(group, version)))
                paths[path] = {"serverRelativeURL": url}
        cache[key] = Document(msgspec.json.encode({"paths": paths}))
    return cache[key]


def v3(registry: Registry, path: str) -> Document | None:
    """The document at a path of the index, such as `apis/apps/v1`; None if there is none."""
    match path.split("/"):
        case ["api", version]:
            group = ""
        case ["apis", group, version]:
            pass
        case _:
            return None
    if not registry.has_version(group, version):
        return None
    cache = cached_documents(registry)
    key = ("openapi", "v3", group, version)
    if key not in cache:
        served = registry.in_version(group, version)
        security = {"BearerToken": {"type": "apiKey", "name": "authorization", "in": "header"}}
        body = {
            "openapi": "3.0.0",
            "info": {**_INFO, "title": "Kubernetes"},
            "paths": _paths(served, "v3"),
            "components": {"schemas": _schemas(served, "v3"), "securitySchemes": security},
        }
        cache[key] = Document(msgspec.json.encode(body), etag=f'"{_hash(served)}"')
    return cache[key]


def v3_url(path: str, found: Document) -> str:
    """The URL of a document with its hash."""
    return _url(path, found.etag.strip('"'))


def _url(path: str, tag: str) -> str:
    return f"/openapi/v3/{path}?hash={tag}"


def _relative_path(group: str, version: str) -> str:
    return f"apis/{group}/{version}" if group else f"api/{version}"


def _paths(served: Iterable[ServedResource], dialect: Dialect) -> dict[str, Any]:
    found = [paths_of(each, dialect) for each in served]
    return dict(sorted((path, item) for paths in found for path, item in paths.items()))


def _schemas(served: Iterable[ServedResource], dialect: Dialect) -> dict[str, Any]:
    kinds = tuple(served)
    found = schemas_of(_classes(kinds), dialect)
    for each in kinds:
        if each.custom is not None:
            found |= custom_schemas(each, dialect)
    return dict(sorted(found.items()))


def _classes(served: Iterable[ServedResource]) -> Iterator[type[Model]]:
    # Subresources may have kinds of other groups, such as Scale.
    yield ObjectMeta
    yield ListMeta
    for each in served:
        names = {(each.group, each.version, each.list_kind)} if each.custom is None else set()
        names |= {(part.group, part.version, part.kind) for part in each.parts}
        names |= {(each.group, each.version, each.kind)}
        yield from (cls for name in sorted(names) if (cls := class_for(*name)) is not None)


def _hash(served: Iterable[ServedResource]) -> str:
    """A hash of the input of a document: building all documents for the index is too slow."""
    content = [_FORMAT, _INFO["version"], *map(_hashed_content, served)]
    return hashlib.sha512(msgspec.json.encode(content)).hexdigest().upper()


def _hashed_content(served: ServedResource) -> list[Any]:
    content: list[Any] = [served.group, served.version, served.plural, served.kind]
    content += [served.namespaced, served.verbs, served.parts]
    return [*content, served.custom.schema.raw] if served.custom else content
